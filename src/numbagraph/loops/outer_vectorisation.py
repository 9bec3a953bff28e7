"""Whether rows are reduced in vectors across them (`numbagraph.emit.outer_vectorisation`)."""

from __future__ import annotations

from numbagraph.intrinsics.emitters.ir import Apply, CheckedIndex, Load, LoopIndex, Scalar, walk
from numbagraph.intrinsics.emitters.lanes import lanes_of
from numbagraph.loops.ir import Kernel, Reduction

ADDING = ("add", "subtract")

VECTORS = 4
"""The number of vectors of accumulators of a strip, which hide the latency of the operation that accumulates."""


def rows_of_strip(kernel: Kernel) -> int:
    """The rows that are reduced side by side: vectors of the widest numbers that the nest reads or adds up."""
    read = [each for each in kernel.scalars() if isinstance(each, Load)]
    return VECTORS * min(lanes_of(each.dtype) for each in (*read, *(output.value for output in kernel.outputs)))


def runs_across(kernel: Kernel) -> bool:
    """Whether the innermost loop reduces rows, and what the next rows read follows in memory."""
    if len(kernel.loops) < 2 or kernel.unrolled or not reduces_rows(kernel):
        return False
    *_, rows, columns = kernel.loops
    moved = [each for each in kernel.scalars() if isinstance(each, Load) and rows in walk(each.indices)]
    return any(columns in walk(each.indices) for each in moved) and all(moves_along(rows, each) for each in moved)


def reduces_rows(kernel: Kernel) -> bool:
    """Whether a nest reduces along its innermost loop alone, and checks nothing."""
    columns = kernel.loops[-1]
    of_rows = all(isinstance(each, Reduction) and is_of_rows(each, columns) for each in kernel.outputs)
    return of_rows and is_unchecked(kernel)


def is_unchecked(kernel: Kernel) -> bool:
    return not any(isinstance(each, CheckedIndex) for each in kernel.scalars())


def is_of_rows(output: Reduction, columns: LoopIndex) -> bool:
    return set(output.reduced) == {columns} and output.register is None and not output.reducer.positional


def moves_along(loop: LoopIndex, load: Load) -> bool:
    """Whether the next iteration of a loop reads what follows in memory."""
    index = load.indices[0] if load.flat else load.buffer.along_memory(load.indices)
    others = [each for each in load.indices if each is not index]
    return index is not None and loop not in walk(others) and is_plus(loop, index)


def is_plus(loop: LoopIndex, index: Scalar) -> bool:
    """Whether an index is a loop's own and what does not depend on that."""
    if index is loop:
        return True
    if not isinstance(index, Apply) or index.name not in ADDING:
        return False
    first, second = index.arguments
    if loop in walk([second]):
        return index.name == "add" and loop not in walk([first]) and is_plus(loop, second)
    return is_plus(loop, first)
