"""Two loops as one: where all rows that a nest reads and writes follow each other in memory, the innermost loop goes on
from one row to the next. Rows may be short, of three channels of a picture, say, and no vector fits into them."""

from __future__ import annotations

from collections.abc import Iterable

from numbagraph.blockwise.lowering import parts
from numbagraph.emit.scalars import is_stretch
from numbagraph.intrinsics.emitters.ir import Apply, Buffer, Literal, Load, LoopIndex, Scalar, walk
from numbagraph.loops.ir import Kernel, Store
from numbagraph.loops.masked_tails import depending_on


def has_joined_rows(kernel: Kernel) -> bool:
    """Whether the two innermost loops may run as one: as row 0, whose positions go on behind its end.

    Positions along dimensions whose lengths may turn out to be 1 have to be what they are where they are not.
    """
    if len(kernel.loops) < 2 or kernel.unrolled or kernel.begins:
        return False
    if not all(isinstance(each, Store) for each in kernel.outputs):
        return False
    row, column = kernel.loops[-2:]
    moving = depending_on(row, kernel) | depending_on(column, kernel)
    accesses = [each for each in (*kernel.scalars(), *kernel.outputs) if isinstance(each, (Load, Store))]
    places = {each for access in accesses for each in walk(access.indices) if each in moving}
    if any(not goes_on(access, row, column, moving) for access in accesses if not moving.isdisjoint(access.indices)):
        return False
    others = (each for each in kernel.scalars() if each not in places and not isinstance(each, Load))
    used = {operand for each in others for operand in each.operands}
    return used.isdisjoint(places) and places.isdisjoint(output.value for output in kernel.outputs)


def goes_on(access: Load | Store, row: LoopIndex, column: LoopIndex, moving: set[Scalar]) -> bool:
    """Whether what is read or written in a row lies before what is in the next one, and nothing lies between."""
    if access.flat or not access.buffer.contiguous or len(access.indices) < 2:
        return False
    *outer, place, last = access.indices
    if last is not column or not has_rows_of(access.buffer, column) or not moving.isdisjoint(outer):
        return False
    terms = parts(place).terms
    moved = [each for each in terms if each in moving]
    return len(moved) == 1 and terms[moved[0]] == 1 and is_position(moved[0], row, moving)


def has_rows_of(buffer: Buffer, column: LoopIndex) -> bool:
    length, extent = buffer.extents[-1], column.extent
    if isinstance(length, Literal) and isinstance(extent, Literal):
        return length.value == extent.value
    return length is extent


def is_position(scalar: Scalar, row: LoopIndex, moving: set[Scalar]) -> bool:
    if isinstance(scalar, Apply) and is_stretch(scalar):
        return scalar.arguments[0] is row and scalar.arguments[1] not in moving
    return scalar is row


def innermost_loops(kernel: Kernel) -> Iterable[LoopIndex]:
    """The loops that run as the innermost one."""
    return kernel.loops[-2:] if has_joined_rows(kernel) else kernel.loops[-1:]
