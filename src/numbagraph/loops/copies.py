"""Copies that need not be made: an array that is used for the last time where it is copied lives in the copy's memory.

An assignment to a part of an array is a copy of the array and a store into it. Where the array is not needed any more,
it is updated where it lies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from numbagraph.intrinsics.emitters.ir import Apply, Buffer, Literal, Load, LoopIndex, Register, Scalar, walk
from numbagraph.ir.structs import Struct, replace
from numbagraph.loops.control_steps import Branch, Loop, Operand, ReverseLoop, buffers_of
from numbagraph.loops.ir import Kernel, Step, Store


def without_copies(steps: Sequence[Step], given: Mapping[int, int]) -> tuple[list[Step], list[tuple[Buffer, Buffer]]]:
    """The steps without such copies, and the arguments that live in the memory of a result from now on. ``given``
    says which arguments may live in the memory of which result."""
    steps = [part for step in steps for part in alone(step, given)]
    uses, removed = uses_of(steps), set[int]()
    arguments = []
    shared = set[Buffer]()
    for number in range(len(steps) - 1, -1, -1):  # the last first: what is copied twice ends where it is copied to
        step = steps[number]
        pair = copied(step) or reshaped(step)
        for source, target in updated(step) if pair is None else [pair]:
            if not (source.temporary or may_live_in(source, target, given)) or source.shares is not None:
                continue
            if pair is None and (source in shared or not ends_as(number, source, target, uses, step)):
                continue
            if pair is not None and not may_be_one(number, source, target, uses, steps):
                continue
            if pair is not None:
                removed.add(number)
            uses[target.owner] = uses[source].together(uses[target.owner], number if pair is not None else NONE)
            source.shares = target
            shared.add(target.owner)
            if source.leaf is not None:
                arguments.append((source, target.owner))
        if pair is not None and number not in removed and may_be_view(number, *pair, uses, shared):
            source, target = pair
            removed.add(number)
            uses[source] = uses[source].with_view(uses[target], number)
            target.shares = source
            shared |= {source, target}
    return [step for number, step in enumerate(steps) if number not in removed], arguments


def may_live_in(source: Buffer, target: Buffer, given: Mapping[int, int]) -> bool:
    """Whether an argument may live in the memory of a result."""
    return source.leaf is not None and source.leaf in given and given[source.leaf] == target.owner.result


NONE = -1
FIRST = 3
"""The number of uses that are remembered of a memory that several arrays share: a copy, and the uses after it."""


class Uses(Struct):
    """The steps that read and that write a memory, by number, in order."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]

    def together(self, other: Uses, copy: int) -> Uses:
        """The first uses of two memories that become one, without the copy from one to the other."""
        reads, writes = (
            tuple(sorted({*one[:FIRST], *two[:FIRST]} - {copy})[:FIRST])
            for one, two in ((self.reads, other.reads), (self.writes, other.writes))
        )
        return Uses(reads, writes)

    def with_view(self, view: Uses, copy: int) -> Uses:
        """The uses of a memory together with those of a read-only view of it, without the copy that made the view."""
        return Uses(tuple(sorted({*self.reads, *view.reads} - {copy})), self.writes)


def uses_of(steps: Sequence[Step]) -> dict[Buffer, Uses]:
    reads: dict[Buffer, list[int]] = defaultdict(list)
    writes: dict[Buffer, list[int]] = defaultdict(list)
    for number, step in enumerate(steps):
        for buffer in step.reads():
            reads[buffer].append(number)
        for buffer in step.writes():
            writes[buffer].append(number)
    return {each: Uses(tuple(reads[each]), tuple(writes[each])) for each in {**reads, **writes}}


def copied(step: Step) -> tuple[Buffer, Buffer] | None:
    """The source and the target of a step that only copies a whole array; None for any other step."""
    if not isinstance(step, Kernel) or len(step.outputs) != 1 or not isinstance(step.outputs[0], Store):
        return None
    store = step.outputs[0]
    value = store.value
    if not isinstance(value, Load) or value.indices != store.indices or value.flat != store.flat:
        return None
    return (value.buffer, store.buffer) if alike(value.buffer, store.buffer) else None


def reshaped(step: Step) -> tuple[Buffer, Buffer] | None:
    """The source and the target of a step that only gives an array another shape, in the same memory; None for any
    other step."""
    if not isinstance(step, Kernel) or step.reshapes is None:
        return None
    (output,) = step.outputs
    assert output.buffer is not None
    return step.reshapes, output.buffer


def alone(step: Step, given: Mapping[int, int]) -> list[Step]:
    """A step without copies of arguments that may live in the memory of what they are copied to, and these copies."""
    if not isinstance(step, Kernel) or len(step.outputs) < 2:
        return [step]
    single = [Kernel(step.name, step.loops, [each]) for each in step.outputs]
    own = [each for each in single if (pair := copied(each)) and may_live_in(*pair, given)]
    rest = [each.outputs[0] for each in single if each not in own]
    return [*([replace(step, outputs=rest, alternative=None)] if rest else []), *own] if own else [step]


def alike(source: Buffer, target: Buffer) -> bool:
    """Whether an array may live where another one does."""
    same = source.dtype == target.dtype and source.extents == target.extents
    return same and source.contiguous and target.leaf is None


def updated(step: Step) -> list[tuple[Buffer, Buffer]]:
    """The arrays that a loop or a branch updates where they lie: before it, where it copies them from, and after."""
    pairs: list[tuple[Operand, Buffer]] = []
    if isinstance(step, Branch):
        pairs = [(step.operands[number], step.outputs[place]) for number, place in step.in_place]
    if isinstance(step, (Loop, ReverseLoop)):
        given = set(buffers_of(step.operands()))
        carried = step.carried if isinstance(step, Loop) else [*step.forward.carried, *step.back.carried]
        own = [each for each in carried if each.takes is not None and each.before is None]
        pairs = [(each.initial, each.last) for each in own if each.initial in given]
    return [(first, last) for first, last in pairs if isinstance(first, Buffer) and alike(first, last)]


def ends_as(here: int, source: Buffer, target: Buffer, uses: Mapping[Buffer, Uses], step: Step) -> bool:
    """Whether the initial array of a loop or a branch is used by nothing else from that step on, and its result by
    nothing before. The step must take the array as a single operand."""
    old, new = uses[source], uses[target.owner]
    if min((*new.reads, *new.writes)) < here or max((*old.reads, *old.writes)) > here:
        return False
    operands: list[Operand] = []
    if isinstance(step, Branch):
        operands = step.operands
    elif isinstance(step, (Loop, ReverseLoop)):
        operands = step.operands()
    times = sum(isinstance(each, Buffer) and each.owner is source.owner for each in operands)
    return here not in old.writes and times == 1


def may_be_one(here: int, source: Buffer, target: Buffer, uses: Mapping[Buffer, Uses], steps: Sequence[Step]) -> bool:
    """Whether two arrays can share one memory: the first is not read once the second has changed, and the second is not
    used before it becomes a copy of the first."""
    old, new = uses[source], uses[target.owner]
    if min((*new.reads, *new.writes)) < here or max(old.writes, default=-1) > here:
        return False
    change = next((number for number in new.writes if number > here), len(steps))
    last = max((number for number in old.reads if number > here), default=-1)
    if last == change and source.extents == target.extents:
        return reads_before(steps[change], source, target)
    return last < change


def may_be_view(here: int, source: Buffer, target: Buffer, uses: Mapping[Buffer, Uses], shared: set[Buffer]) -> bool:
    """Whether a copy can be a view: the copy is never changed, and its source is not changed as long as the copy is
    read."""
    if (
        not target.temporary
        or source.literal is not None
        or {source, target} & shared
        or source.shares
        or target.shares
    ):
        return False
    old, new = uses[source], uses[target]
    change = next((number for number in old.writes if number > here), None)
    return new.writes == (here,) and (change is None or max(new.reads, default=here) < change)


def reads_before(step: Step, source: Buffer, target: Buffer) -> bool:
    """Whether a step reads an element of one array only before it overwrites that of the other.

    Each loop moves along a dimension of what is stored, and what is read stands at the same place along it: so no
    iteration reads what another one stores. (Positions that are read from an array may be equal.)
    """
    store = step.outputs[0] if isinstance(step, Kernel) and len(step.outputs) == 1 else None
    if not isinstance(step, Kernel) or not isinstance(store, Store) or store.buffer is not target:
        return False
    moved = {axis: loop for axis, index in enumerate(store.indices) if (loop := moved_along(index)) is not None}
    if len(moved) != len(step.loops) or set(moved.values()) != set(step.loops):
        return False
    loads = (each for each in step.scalars() if isinstance(each, Load) and each.buffer.owner is source)
    return all(
        load.buffer.extents == source.extents
        and load.flat == store.flat
        and all(load.indices[axis] == store.indices[axis] for axis in moved)
        for load in loads
    )


AFFINE = {"add", "subtract", "multiply"}


def moved_along(index: Scalar) -> LoopIndex | None:
    """The loop of which every iteration has another index, if there is one."""
    parts = list(walk([index]))
    loops = [each for each in parts if isinstance(each, LoopIndex)]
    regular = all(isinstance(each, (LoopIndex, Literal, Register)) or is_affine(each) for each in parts)
    return loops[0] if len(loops) == 1 and regular else None


def is_affine(scalar: Scalar) -> bool:
    return isinstance(scalar, Apply) and scalar.name in AFFINE
