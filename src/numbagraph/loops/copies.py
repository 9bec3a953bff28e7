"""Copies that need not be made: an array that is used for the last time where it is copied lives in the copy's memory.

An assignment to a part of an array is a copy of the array and a store into it. Where the array is not needed any more,
it is updated where it lies.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from numbagraph.intrinsics.ir import Buffer, Load
from numbagraph.loops.buffers import in_place
from numbagraph.loops.ir import Kernel, Step, Store


def without_copies(
    steps: Sequence[Step], given: Collection[Buffer] = ()
) -> tuple[list[Step], list[tuple[Buffer, Buffer]]]:
    """The steps without such copies, and the arguments that live in the memory of a result from now on. ``given`` are
    those that may live in the memory of the result of the same number."""
    remaining = list(steps)
    arguments = []
    for step in steps:
        pair = copied(step)
        if pair is None:
            continue
        source, target = pair
        own = source.temporary or (source in given and target.result == source.leaf)
        if own and source.shares is None and may_be_one(step, source, target, remaining):
            remaining.remove(step)
            source.shares = target
            if source.leaf is not None:
                arguments.append((source, target))
    return remaining, arguments


def copied(step: Step) -> tuple[Buffer, Buffer] | None:
    """What a step copies, and where to, if it does nothing else."""
    if not isinstance(step, Kernel) or len(step.outputs) != 1 or not isinstance(step.outputs[0], Store):
        return None
    store = step.outputs[0]
    value = store.value
    if not isinstance(value, Load) or value.indices != store.indices or value.flat != store.flat:
        return None
    source, target = value.buffer, store.buffer
    alike = source.dtype == target.dtype and source.extents == target.extents
    return (source, target) if alike and source.contiguous and target.leaf is None else None


def may_be_one(copy: Step, source: Buffer, target: Buffer, steps: Sequence[Step]) -> bool:
    """Whether two arrays can be one memory: nobody reads the first once the second has changed, and nobody used the
    second before it became a copy."""
    here = steps.index(copy)
    if any(target.owner in step.owners() for step in steps[:here]):
        return False
    changed = False
    for step in steps[here + 1 :]:
        reads = source.owner in {buffer.owner for buffer in step.reads()}
        writes = target.owner in {buffer.owner for buffer in step.writes()}
        if source.owner in {buffer.owner for buffer in step.writes()} or (changed and reads):
            return False
        if writes and reads and not reads_before(step, source, target):
            return False
        changed = changed or writes
    return True


def reads_before(step: Step, source: Buffer, target: Buffer) -> bool:
    """Whether a step reads one array only before it overwrites that element of the other."""
    if isinstance(step, Kernel) and not step.loops and len(step.outputs) == 1:
        return True
    return in_place(step, source, target)
