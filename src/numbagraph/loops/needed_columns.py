"""Rows of which only a part is read: the nest that computes them begins where its reader begins.

Of the matrix of all pairs' distances what is above the diagonal is stored. The sums that a distance is made of have a
nest of their own, which would compute both halves.
"""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.intrinsics.emitters.ir import Buffer, Load, LoopIndex
from numbagraph.loops.ir import Kernel, Reduction, Step, Store, targets
from numbagraph.loops.packing import substituted


def with_needed_columns(steps: Sequence[Step]) -> None:
    """Let the loops over columns begin later where the only nest that reads the results does."""
    for number in range(len(steps) - 1, -1, -1):
        reader = steps[number]
        if isinstance(reader, Kernel) and reader.begins:
            for step in steps[:number]:
                if isinstance(step, Kernel) and is_read_alone_by(step, reader, steps):
                    own = [each for each in step.outputs[0].indices if isinstance(each, LoopIndex)]
                    places = dict(zip(reader.loops, own, strict=True))
                    step.begins = {places[each]: substituted(begin, places) for each, begin in reader.begins.items()}


def is_read_alone_by(step: Kernel, reader: Kernel, steps: Sequence[Step]) -> bool:
    """Whether nothing but a nest reads what another one computes, and does so at its own indices; and whether this one
    may leave out elements."""
    reordered = step.alternative is not None or (step.packed is not None and step.packed.interchanged is not None)
    if reordered or step.unrolled or step.checks() or step.results():
        return False
    if not step.outputs or not all(isinstance(each, (Store, Reduction)) for each in step.outputs):
        return False  # a running sum goes on from one column to the next
    rows = [loop for loop in step.loops if loop in step.outputs[0].indices]
    if len(rows) < 2 or any(output.indices != tuple(rows) for output in step.outputs):
        return False
    written = [buffer for output in step.outputs for buffer in targets(output)]
    return all(is_part_of(each, step, reader, steps) for each in written)


def is_part_of(buffer: Buffer, step: Kernel, reader: Kernel, steps: Sequence[Step]) -> bool:
    """Whether memory is written by one step alone, and read by another alone, element by element."""
    users = [each for each in steps if buffer.owner in each.owners()]
    loads = [each for each in reader.scalars() if isinstance(each, Load) and each.buffer is buffer]
    return (
        buffer.temporary
        and all(each is step or each is reader for each in users)
        and buffer not in step.reads()
        and bool(loads)
        and all(each.indices == reader.loops for each in loads)
    )
