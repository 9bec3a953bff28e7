"""Operands of nests that reduce short rows, packed so that vectors run across the rows.

The distances of all pairs of points, ``((x[:, None] - y) ** 2).sum(-1)``, read the coordinates of a point of ``y`` one
after the other, and the next point is not the next number: no vector runs across the points. All of ``y`` is read again
for each point of ``x``; so a copy in which the next row reads what follows in memory is made before the nest, if there
are enough of both and if rows are short. Packing is what libraries of matrix products do (Goto and van de Geijn,
"Anatomy of high-performance matrix multiplication", 2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numbagraph.blockwise.lowering import multiply
from numbagraph.intrinsics.emitters import integers
from numbagraph.intrinsics.emitters.ir import (
    Apply,
    Buffer,
    Literal,
    Load,
    LoopIndex,
    Scalar,
    index_operation,
    literal,
    walk,
)
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import ArrayType
from numbagraph.loops.buffered import extent_of
from numbagraph.loops.ir import Kernel, Output, Packed, Reduction, Step, Store
from numbagraph.loops.nests import element_count
from numbagraph.loops.outer_vectorisation import is_unchecked, moves_along, reduces_rows, rows_of_strip

FEWEST_ROWS = 16
"""The least number of rows that are worth a copy, if a strip of vectors (`rows_of_strip`) has no more."""

LONGEST_ROW = 256
"""The number of elements of a row up to which vectors run across the rows."""

LONGEST_BETWEEN = 32
"""The number of elements of a row up to which vectors run across the rows of nests that reduce along a loop outside the
innermost. Vectors along longer rows are as fast."""

FEWEST_TIMES = 2
"""The least number of times that a packed operand must be read."""

COLUMNS_A_TIME = 4
"""The number of elements of a row that are allowed for each time that it is read again: copies of longer rows take
longer than they gain."""

MOST = 4
"""The largest number of operands of a nest that are packed: each takes memory, and code to copy it."""


def with_packed_operands(steps: Sequence[Step], *, parallel: bool) -> list[Step]:
    """The steps, with copies of operands in front of the nests that read them."""
    found: list[Step] = []
    for step in steps:
        packing = packing_of(step, parallel) if isinstance(step, Kernel) else None
        if packing is None:
            found.append(step)
            continue
        for copy in packing.before:
            found.insert(place_for(copy, found), copy)
        found += [packing.nest, *packing.after]
    return found


class Packing(Struct):
    """A nest that reads packed copies, with the nests that make the copies and those that unpack its results."""

    before: list[Kernel]
    nest: Kernel
    after: list[Kernel]


def packing_of(kernel: Kernel, parallel: bool) -> Packing | None:
    """The packing of a nest's operands; None if it cannot be worth it."""
    if len(kernel.loops) < 3 or kernel.unrolled or kernel.alternative is not None:
        return None
    of_rows = reduces_rows(kernel)
    if not of_rows and not reduces_between(kernel, parallel):
        return None
    *outer, rows, columns = kernel.loops
    moved = [each for each in kernel.scalars() if isinstance(each, Load) and rows in walk(each.indices)]
    apart = [each for each in moved if not moves_along(rows, each)]
    used = set(walk(apart))
    again = [each for each in outer if each not in used]
    if columns not in used or not again or len(apart) > MOST:
        return None
    dims = [packed_loops(kernel, walk([load])) for load in apart]
    if any(extent_of(each.extent) is None for loops in dims for each in loops):
        return None
    longest = LONGEST_ROW if of_rows else LONGEST_BETWEEN
    fewest = max(FEWEST_ROWS, rows_of_strip(kernel)) if of_rows else FEWEST_ROWS
    readings = element_count(each.extent for each in again)
    times = is_worth_it(rows.extent, fewest, columns.extent, longest, readings)
    once = LoopIndex("once", times)
    loads = {load: Load(buffer_for(load.buffer, own, times), own) for load, own in zip(apart, dims, strict=True)}
    before = [
        Kernel("pack", (once, *own), [Store(loads[load].buffer, own, load)])
        for load, own in zip(apart, dims, strict=True)
    ]
    if of_rows:
        return Packing(before, replace(kernel, packed=Packed(times, loads)), [])
    results = {each: packed_result(kernel, each, times) for each in kernel.outputs if rows not in reduced_by(each)}
    nest = replace(kernel, packed=Packed(times, loads, interchanged(kernel, loads, results)))
    before += [fill(once, each) for each in results.values()]
    return Packing(before, nest, [unpack(kernel, once, *pair) for pair in results.items()])


def packed_loops(kernel: Kernel, used: Iterable[Scalar]) -> tuple[LoopIndex, ...]:
    """The loops over a packed operand, in an order in which the next row follows in memory."""
    *outer, rows, columns = kernel.loops
    found = set(used)
    return tuple(each for each in (*outer, columns, rows) if each is rows or each in found)


def reduces_between(kernel: Kernel, parallel: bool) -> bool:
    """Whether a nest reduces along the last loop but one, or along those outside, and checks nothing: it adds up in
    memory. Threads add to memory of their own."""
    return is_unchecked(kernel) and all(
        isinstance(each, Reduction)
        and each.register is None
        and not each.reducer.positional
        and (each.reduced == {kernel.loops[-2]} or (keeps_rows(each, kernel) and not parallel))
        for each in kernel.outputs
    )


def keeps_rows(output: Reduction, kernel: Kernel) -> bool:
    """Whether each result is that of a place in the two innermost loops."""
    kept = [each for each in output.indices if isinstance(each, LoopIndex)]
    return output.reduced.isdisjoint(kernel.loops[-2:]) and {*kernel.loops[-2:]} <= {*kept}


def reduced_by(output: Output) -> frozenset[LoopIndex]:
    return output.reduced if isinstance(output, Reduction) else frozenset()


def interchanged(kernel: Kernel, loads: Mapping[Load, Load], results: Mapping[Output, Output]) -> Kernel:
    """The nest that reads packed copies and whose innermost loop is that over rows."""
    *outer, rows, columns = kernel.loops
    outputs = [replace(results.get(each, each), value=substituted(each.value, loads)) for each in kernel.outputs]
    return Kernel(kernel.name, (*outer, columns, rows), outputs)


def packed_result(kernel: Kernel, output: Output, times: Scalar) -> Output:
    """The output of a nest that adds up rows, with a packed buffer in place of its own."""
    own = packed_loops(kernel, output.indices)
    assert output.buffer is not None
    return replace(output, buffer=buffer_for(output.buffer, own, times), indices=own)


def fill(once: LoopIndex, output: Output) -> Kernel:
    """The nest that fills a packed result with the identity of its reducer."""
    assert isinstance(output, Reduction)
    assert output.buffer is not None
    loops = [each for each in output.indices if isinstance(each, LoopIndex)]
    identity = Literal(output.reducer.identity_of(output.buffer.dtype), output.buffer.dtype)
    return Kernel("fill", (once, *loops), [Store(output.buffer, output.indices, identity)])


def unpack(kernel: Kernel, once: LoopIndex, output: Output, packed: Output) -> Kernel:
    assert output.buffer is not None
    assert packed.buffer is not None
    loops = [each for each in kernel.loops if each in output.indices]
    element = Load(packed.buffer, packed.indices)
    return Kernel("unpack", (once, *loops), [Store(output.buffer, output.indices, element)])


def substituted(root: Scalar, known: Mapping[Any, Scalar]) -> Scalar:
    """A scalar with some of those below it replaced."""
    found: dict[Scalar, Scalar] = {**known}
    for each in walk([root]):
        if each in found:
            continue
        if isinstance(each, Apply):
            arguments = tuple(found[argument] for argument in each.arguments)
            found[each] = each if arguments == each.arguments else Apply(each.name, each.emit, arguments, each.dtype)
        else:
            found[each] = each
    return found[root]


def is_worth_it(rows: Scalar, fewest: int, columns: Scalar, longest: int, times: Scalar) -> Scalar:
    """The number of times that operands are packed: 1 or 0, as run-time lengths decide."""
    most = multiply(times, literal(COLUMNS_A_TIME))
    conditions = (
        (rows, literal(fewest)), (literal(longest), columns), (times, literal(FEWEST_TIMES)), (most, columns)
    )  # fmt: skip
    found: Scalar = literal(1)
    for length, least in conditions:
        found = index_operation("if_at_least", integers.if_at_least, found, length, least)
    return found


def buffer_for(buffer: Buffer, loops: Sequence[LoopIndex], times: Scalar) -> Buffer:
    """Memory for as many elements of a buffer as loops run over, and for none where nothing is packed: where an element
    is does not depend on the first length."""
    shape = tuple(extent for each in loops if (extent := extent_of(each.extent)) is not None)
    first, *others = (each.extent for each in loops)
    return Buffer(f"{buffer.name}_packed", ArrayType(buffer.dtype, shape), (multiply(times, first), *others))


def place_for(step: Step, steps: Sequence[Step]) -> int:
    """The earliest position at which a step may stand. Steps that it does not separate can run together."""
    read, used = {each.owner for each in step.reads()}, step.registers()
    for number in range(len(steps), 0, -1):
        before = steps[number - 1]
        if not used.isdisjoint(before.results()) or any(each.owner in read for each in before.writes()):
            return number
    return 0
