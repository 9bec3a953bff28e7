"""Operands of nests that reduce short rows, packed so that vectors run across the rows.

The distances of all pairs of points, ``((x[:, None] - y) ** 2).sum(-1)``, read the coordinates of a point of ``y`` one
after the other, and the next point is not the next number: no vector runs across the points. All of ``y`` is read again
for each point of ``x``; so a copy in which the next row reads what follows in memory is made before the nest, if there
are enough of both and if rows are short. Packing is what libraries of matrix products do (Goto and van de Geijn,
"Anatomy of high-performance matrix multiplication", 2008).
"""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.blockwise.lowering import multiply
from numbagraph.intrinsics import integers
from numbagraph.intrinsics.ir import Buffer, Load, LoopIndex, Scalar, index_operation, literal, walk
from numbagraph.ir.structs import replace
from numbagraph.ir.values import ArrayType
from numbagraph.loops.across import moves_along, reduces_rows
from numbagraph.loops.buffered import extent_of
from numbagraph.loops.ir import Kernel, Packed, Step, Store
from numbagraph.loops.nests import element_count

FEWEST_ROWS = 64
"""Rows of a strip of vectors (`numbagraph.emit.strips`), at most."""

LONGEST_ROW = 256
"""Elements of a row up to which vectors run across the rows."""

FEWEST_TIMES = 2
"""How often what is packed is read, at least."""

COLUMNS_A_TIME = 4
"""Elements of a row for each time that it is read again: copies of long rows take longer than they gain by that."""

MOST = 4
"""Operands of a nest that are packed: each takes memory, and code to copy it."""


def with_packed_operands(steps: Sequence[Step]) -> list[Step]:
    """The steps, with copies of operands in front of the nests that read them."""
    found: list[Step] = []
    for step in steps:
        packed = packed_operands(step) if isinstance(step, Kernel) else None
        if packed is None:
            found.append(step)
            continue
        for copy in copies(packed):
            found.insert(place_for(copy, found), copy)
        found.append(replace(step, packed=packed))
    return found


def packed_operands(kernel: Kernel) -> Packed | None:
    """What is read of packed copies, if that may be worth it."""
    if len(kernel.loops) < 3 or kernel.unrolled or kernel.alternative is not None or not reduces_rows(kernel):
        return None
    *outer, rows, columns = kernel.loops
    moved = [each for each in kernel.scalars() if isinstance(each, Load) and rows in walk(each.indices)]
    apart = [each for each in moved if not moves_along(rows, each)]
    used = set(walk(apart))
    again = [each for each in outer if each not in used]
    if columns not in used or not again or len(apart) > MOST:
        return None
    dims = [[each for each in (*outer, columns, rows) if each is rows or each in walk([load])] for load in apart]
    if any(extent_of(each.extent) is None for loops in dims for each in loops):
        return None
    times = is_worth_it(rows.extent, columns.extent, element_count(each.extent for each in again))
    return Packed(times, {load: Load(buffer_for(load, own), tuple(own)) for load, own in zip(apart, dims, strict=True)})


def is_worth_it(rows: Scalar, columns: Scalar, times: Scalar) -> Scalar:
    """How often operands are packed: once or never."""
    most = multiply(times, literal(COLUMNS_A_TIME))
    conditions = (
        (rows, literal(FEWEST_ROWS)), (literal(LONGEST_ROW), columns), (times, literal(FEWEST_TIMES)), (most, columns)
    )  # fmt: skip
    found: Scalar = literal(1)
    for length, least in conditions:
        found = index_operation("if_at_least", integers.if_at_least, found, length, least)
    return found


def buffer_for(load: Load, loops: Sequence[LoopIndex]) -> Buffer:
    shape = tuple(extent for each in loops if (extent := extent_of(each.extent)) is not None)
    return Buffer(f"{load.buffer.name}_packed", ArrayType(load.dtype, shape), tuple(each.extent for each in loops))


def copies(packed: Packed) -> list[Kernel]:
    """The nests that pack operands, each in a loop around it that says how often."""
    once = LoopIndex("once", packed.times)
    found = []
    for load, place in packed.loads.items():
        loops = [each for each in place.indices if isinstance(each, LoopIndex)]
        found.append(Kernel("pack", (once, *loops), [Store(place.buffer, place.indices, load)]))
    return found


def place_for(step: Step, steps: Sequence[Step]) -> int:
    """How early a step may stand: steps that it does not stand between can run together."""
    read, used = {each.owner for each in step.reads()}, step.registers()
    for number in range(len(steps), 0, -1):
        before = steps[number - 1]
        if not used.isdisjoint(before.results()) or any(each.owner in read for each in before.writes()):
            return number
    return 0
