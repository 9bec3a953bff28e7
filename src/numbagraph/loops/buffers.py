"""The memory plan: what temporaries share with each other, with results, and results with donated arguments.

A buffer takes over another's memory when that one is dead by then, or dies in the very nest that writes the new one
and is read there at no other index than the one that is being written.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from heapq import heappop, heappush

import numpy as np

from numbagraph.intrinsics.emitters.ir import Buffer, Load, Scalar, walk
from numbagraph.ir.shapes import resolve
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Node, Value
from numbagraph.loops.control_steps import Loop
from numbagraph.loops.ir import (
    Call,
    Kernel,
    Program,
    Reduction,
    Scan,
    Scatter,
    Step,
    Store,
    targets,
)
from numbagraph.loops.masked_tails import waits_in_place
from numbagraph.loops.parallel import adds_to_shared
from numbagraph.loops.tiling import conflict, tiled_steps

Likeness = tuple[np.dtype, tuple[Scalar, ...]]
"""The element type and the extents of a buffer."""


class LiveRanges(Struct, frozen=False):
    """The first and the last step at which each buffer is used."""

    steps: Sequence[Step]
    first: dict[Buffer, int] = field(default_factory=dict)
    last: dict[Buffer, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, step in enumerate(self.steps):
            for each in step.buffers():
                for buffer in each.allocation():
                    self.first.setdefault(buffer, number)
                    self.last[buffer] = number

    def over_before(self, old: Buffer, new: Buffer) -> bool:
        """Whether ``new`` may take the memory of ``old``."""
        end, begin = self.last[old], self.first[new]
        return end < begin or (end == begin and in_place(self.steps[begin], old, new))

    def over_well_before(self, old: Buffer, new: Buffer) -> bool:
        """Whether it is faster, too, if ``new`` takes that memory."""
        return self.over_before(old, new) and (
            self.last[old] < self.first[new] or not waits_in_place(self.steps[self.first[new]])
        )

    def fits(self, old: Buffer, new: Buffer) -> bool:
        """Whether ``new`` has the size of ``old``; and its shape, too, if no call computes one from the other, since
        rows that are not the same are not computed together."""
        if alike(old, new):
            return True
        called = self.last[old] == self.first[new] and isinstance(self.steps[self.first[new]], Call)
        return called and old.dtype == new.dtype and factors(old) == factors(new)


def in_place(step: Step, old: Buffer, new: Buffer) -> bool:
    """Whether a step reads ``old`` only where it is about to store ``new``, so that both can be one memory.

    A call may fail when it has overwritten what it was given, so that must not be an argument, unless it fails first.
    """
    if isinstance(step, Call):
        if not step.in_place or not (old.temporary or step.fails_first):
            return False
        first, *others = (each.owner for each in step.inputs)
        return [first, step.outputs[0].owner] == [old.owner, new.owner] and old.owner not in others
    if not isinstance(step, Kernel) or old.extents != new.extents:
        return False
    stores = [output for output in step.outputs if output.buffer is new]
    if len(stores) != 1 or not isinstance(stores[0], Store):
        return False
    store = stores[0]
    loads = [scalar for scalar in step.scalars() if is_load(scalar, old)]
    same_element = all(
        load.buffer.extents == old.extents and load.indices == store.indices and load.flat == store.flat
        for load in loads
        if isinstance(load, Load)
    )
    late = any(is_load(scalar, old) for scalar in walk(read_late(step)))
    return same_element and not late and not any(old in targets(output) for output in step.outputs)


def is_load(scalar: Scalar, buffer: Buffer) -> bool:
    """Whether a scalar is read from the memory of a buffer, of which another one may be a view."""
    return isinstance(scalar, Load) and scalar.buffer.owner is buffer.owner


def read_late(kernel: Kernel) -> Iterator[Scalar]:
    """Yield the scalars that a nest may still read after it has stored elements: the indices of scatters, the factors
    of scans, and the operand in which the position of an extremum is looked up by a second pass."""
    for output in kernel.outputs:
        if isinstance(output, Scatter):
            yield from output.indices
        elif isinstance(output, Scan) and output.factor is not None:
            yield output.factor
        elif isinstance(output, Reduction) and output.reducer.positional:
            yield output.value


def alike(left: Buffer, right: Buffer) -> bool:
    """Whether two buffers have the same element type and, as far as is known, the same extents."""
    return likeness(left) == likeness(right)


def likeness(buffer: Buffer) -> Likeness:
    """What two buffers have in common that are alike."""
    return buffer.dtype, buffer.extents


def factors(buffer: Buffer) -> tuple[int, Counter[Value]]:
    """The known length, and all others, whose product the number of elements is."""
    known, others, waiting = 1, Counter[Value](), list(buffer.type.shape)
    while waiting:
        extent = resolve(waiting.pop())
        if isinstance(extent, int):
            known *= extent
        elif isinstance(extent, Node) and extent.op.name == "multiply" and extent.dtype == INT64:
            waiting += extent.inputs
        else:
            others[extent] += 1
    return known, others


def plan_memory(steps: Sequence[Step], taken: Collection[Buffer] = ()) -> list[list[Buffer]]:
    """Slots of the arena, each a list of buffers that live there one after the other.

    A temporary that fits into the memory of a result until the result is written lives there, and needs no slot, unless
    the memory is ``taken``: an argument lives in it from the start.
    """
    ranges = LiveRanges(steps)
    results = [buffer for buffer in ranges.first if buffer.result is not None and buffer not in taken]
    aliases: dict[Buffer, list[Buffer]] = {result: [] for result in results}
    slots = Slots(ranges)
    for buffer in ranges.first:
        if not buffer.temporary or buffer.shares is not None:
            continue
        shared = next((each for each in results if _may_stay(buffer, each, aliases[each], ranges)), None)
        if shared is not None:
            buffer.shares = shared
            aliases[shared].append(buffer)
        else:
            slots.place(buffer)
    return slots.slots


class Slots:
    """The slots of the arena, while buffers are placed in the order of their first steps."""

    def __init__(self, ranges: LiveRanges) -> None:
        self.ranges = ranges
        self.slots: list[list[Buffer]] = []
        self._step = 0
        self._until: dict[int, list[int]] = defaultdict(list)
        """The numbers of slots by the last step that uses them, from the present step on."""
        self._free: dict[Likeness, list[int]] = defaultdict(list)
        """The numbers of slots that no step uses any more, by what fits: heaps."""

    def place(self, buffer: Buffer) -> None:
        """Put a buffer into the first slot that it may have, or into a new one."""
        self._go_on(self.ranges.first[buffer])
        number = self._slot_for(buffer)
        if number == len(self.slots):
            self.slots.append([buffer])
        else:
            buffer.shares = self.slots[number][0]
            self.slots[number].append(buffer)
        self._until[self.ranges.last[buffer]].append(number)

    def _go_on(self, step: int) -> None:
        """Free what the steps before this one have used last."""
        for over in range(self._step, step):
            for number in self._until.pop(over, ()):
                heappush(self._free[likeness(self.slots[number][-1])], number)
        self._step = step

    def _slot_for(self, buffer: Buffer) -> int:
        free, ending, ranges = self._free[likeness(buffer)], self._until[self._step], self.ranges
        for number in sorted(ending):
            if free and free[0] < number:
                break
            old = self.slots[number][-1]
            if ranges.fits(old, buffer) and ranges.over_well_before(old, buffer):
                ending.remove(number)
                return number
        return heappop(free) if free else len(self.slots)


def _may_stay(alias: Buffer, result: Buffer, others: list[Buffer], ranges: LiveRanges) -> bool:
    if not ranges.fits(alias, result) or not ranges.over_well_before(alias, result):
        return False
    return not others or ranges.over_well_before(others[-1], alias)


def reuse_donated(program: Program, argument: int, result: Buffer) -> str | None:
    """Let a result live in the memory of an argument that its caller donates. Return the reason if that is not
    possible.

    A failed call is run again by NumPy's interpreter, which needs the arguments as they were.
    """
    block = program.body
    leaf = program.leaves.get(argument)
    if leaf is None:
        return "it is a number"
    if not leaf.contiguous:
        return "it is not contiguous"
    if not alike(leaf, result):
        return f"{result.name} differs in dtype or shape"
    if sum(writes_to(step, result) for step in block.steps) != 1:
        return f"{result.name} holds other values first"
    ranges = LiveRanges(block.steps)
    if leaf in ranges.last and not ranges.over_before(leaf, result):
        return f"it is read after {result.name} is written"
    leaf.shares, before = result, block.steps
    program.donations.append((leaf, result))
    for steps in (before, postponed(before, result)):
        block.steps = steps
        if not fails_late(program):
            return None
    leaf.shares, block.steps = None, before
    program.donations.pop()
    return f"a check may fail after {result.name} is written"


def writes_to(step: Step, result: Buffer) -> bool:
    """Whether a step writes a result, or what else is in its memory."""
    return any(each.owner is result for each in step.writes())


def postponed(steps: list[Step], result: Buffer) -> list[Step]:
    """The steps with the one that writes a result behind all others, if none of these needs to follow it."""
    number = next(number for number, step in enumerate(steps) if writes_to(step, result))
    writer, later = steps[number], steps[number + 1 :]
    values = set(writer.results())
    if any(conflict(writer, each) or not values.isdisjoint(each.registers()) for each in later):
        return steps
    return [*steps[:number], *later, writer]


def fails_late(program: Program) -> bool:
    """Whether anything may fail once memory of an argument has been overwritten. Steps that run together count as one,
    and so do the iterations of a nest."""
    donated, is_overwritten = {result.owner for _, result in program.donations}, False
    for step in tiled_steps(program.body.steps):
        if is_overwritten and any(map(may_fail_first, step.members())):
            return True
        is_overwritten = is_overwritten or any(buffer.owner in donated for buffer in step.writes())
        alone = len(step.members()) == 1  # others have written when it is called
        if is_overwritten and any(may_fail(each) and not (alone and calls_first(each)) for each in step.members()):
            return True
    return False


def may_fail_first(step: Step) -> bool:
    """Whether a step may fail as long as it has written nothing."""
    return (isinstance(step, Loop) and step.safe is not None) or calls_first(step)


def calls_first(step: Step) -> bool:
    """Whether a step is a call that fails before it writes anything, if it does. One of several threads may fail when
    another one has written."""
    return isinstance(step, Call) and step.fails_first and not (step.is_split and step.has_batch)


def may_fail(step: Step) -> bool:
    """Whether a program may end at a step: an index is out of bounds, a system has no solution, a length is too long
    for BLAS, or there is no memory for what several threads add up."""
    takes_memory = isinstance(step, Kernel) and step.split and any(adds_to_shared(each, step) for each in step.outputs)
    return isinstance(step, Call) or bool(takes_memory) or step.checks()
