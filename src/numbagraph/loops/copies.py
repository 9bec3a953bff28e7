"""Copies that need not be made: an array that is used for the last time where it is copied lives in the copy's memory.

An assignment to a part of an array is a copy of the array and a store into it. Where the array is not needed any more,
it is updated where it lies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from numbagraph.intrinsics.ir import Buffer, Load
from numbagraph.ir.structs import Struct
from numbagraph.loops.buffers import in_place
from numbagraph.loops.ir import Kernel, Step, Store


def without_copies(
    steps: Sequence[Step], given: Collection[Buffer] = ()
) -> tuple[list[Step], list[tuple[Buffer, Buffer]]]:
    """The steps without such copies, and the arguments that live in the memory of a result from now on. ``given`` are
    those that may live in the memory of the result of the same number."""
    uses = uses_of(steps)
    removed: set[int] = set()
    arguments = []
    for number, step in enumerate(steps):
        pair = copied(step)
        if pair is None:
            continue
        source, target = pair
        own = source.temporary or (source in given and target.result == source.leaf)
        if own and source.shares is None and may_be_one(number, source, target, uses, steps):
            removed.add(number)
            uses[target.owner] = uses[source].followed_by(uses[target.owner], number)
            source.shares = target
            if source.leaf is not None:
                arguments.append((source, target))
    return [step for number, step in enumerate(steps) if number not in removed], arguments


class Uses(Struct):
    """The steps that read and that write a memory, by number, in order; of those that have been looked at, the last."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]

    def followed_by(self, other: Uses, number: int) -> Uses:
        """Those of both, were they one memory, after the step that copies: that one is left out."""
        reads = [each for each in (*self.reads, *other.reads) if each > number]
        writes = [each for each in (*self.writes, *other.writes) if each > number]
        return Uses((-1, *sorted(reads)), (-1, *sorted(writes)))


def uses_of(steps: Sequence[Step]) -> dict[Buffer, Uses]:
    reads: dict[Buffer, list[int]] = defaultdict(list)
    writes: dict[Buffer, list[int]] = defaultdict(list)
    for number, step in enumerate(steps):
        for buffer in step.reads():
            reads[buffer.owner].append(number)
        for buffer in step.writes():
            writes[buffer.owner].append(number)
    return {each: Uses(tuple(reads[each]), tuple(writes[each])) for each in {**reads, **writes}}


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


def may_be_one(here: int, source: Buffer, target: Buffer, uses: Mapping[Buffer, Uses], steps: Sequence[Step]) -> bool:
    """Whether two arrays can be one memory from a copy on: nobody reads the first once the second has changed, and
    nobody used the second before it became a copy."""
    old, new = uses[source], uses[target.owner]
    if min((*new.reads, *new.writes)) < here or max(old.writes, default=-1) > here:
        return False
    changes = [number for number in new.writes if number > here]
    later = [number for number in old.reads if number > here]
    if not changes or not later or max(later) < changes[0]:
        return True
    return max(later) == changes[0] and reads_before(steps[changes[0]], source, target)


def reads_before(step: Step, source: Buffer, target: Buffer) -> bool:
    """Whether a step reads one array only before it overwrites that element of the other."""
    if isinstance(step, Kernel) and not step.loops and len(step.outputs) == 1:
        return True
    return in_place(step, source, target)
