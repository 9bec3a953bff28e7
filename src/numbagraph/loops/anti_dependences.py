"""Anti-dependences: what reads an array runs before the step that updates the array where it lies.

An assignment to a part of an array is a copy and a store. The copy is left out where nothing reads the old array
afterwards (`numbagraph.loops.copies`), so the order of the steps decides whether a loop that fills a table by rows
copies the whole table in each step.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from numbagraph.blockwise import lowering
from numbagraph.intrinsics.emitters.ir import Buffer
from numbagraph.ir.values import Input, Node, Value
from numbagraph.loops.copies import copied
from numbagraph.loops.ir import Step


def updated_array(value: Value) -> Value | None:
    """The array of which a value is a copy, but for a part that is assigned to; None for any other value."""
    if not isinstance(value, Node) or not isinstance(value.op.lower, lowering.Assemble) or not value.inputs:
        return None
    base = value.inputs[0]
    is_alike = base.ndim and base.dtype == value.dtype and base.shape == value.shape
    return base if is_alike and isinstance(base, (Input, Node)) else None


def is_part(value: Node, base: Value) -> bool:
    """Whether a value is a row, a column or another part with fewer dimensions of an array."""
    is_read = isinstance(value.op.lower, (lowering.View, lowering.Gather)) and value.inputs[0] is base
    return is_read and 0 < value.ndim < base.ndim


def before_updates(
    actions: Sequence[Sequence[Step]], needed: Mapping[int, set[int]], given: Mapping[int, int]
) -> Mapping[int, set[int]]:
    """The actions that each action needs, and for what may update an array where it lies, those that read the array."""
    bases = dict(updates_of(actions, given))
    if not bases:
        return needed
    readers: dict[Buffer, set[int]] = {each: set() for each in bases.values()}
    for number, action in enumerate(actions):
        for step in action:
            for buffer in step.reads():
                if buffer in readers:
                    readers[buffer].add(number)
    others = {number: readers[base] - {number} for number, base in bases.items()}
    others = {number: found for number, found in others.items() if not found <= needed[number]}
    if not others:
        return needed
    position = {number: place for place, number in enumerate(with_updates_last(needed, others))}
    earlier = {
        number: {each for each in found if position[each] < position[number]} for number, found in others.items()
    }
    return {number: found | earlier.get(number, set()) for number, found in needed.items()}


def updates_of(actions: Sequence[Sequence[Step]], given: Mapping[int, int]) -> Iterator[tuple[int, Buffer]]:
    """The actions that copy an array which may live in the memory of the copy, by number, and that array."""
    for number, action in enumerate(actions):
        pair = copied(action[0]) if len(action) > 1 else None
        if pair is not None and (pair[0].temporary or pair[0].leaf in given):
            yield number, pair[0]


def with_updates_last(needed: Mapping[int, set[int]], others: Mapping[int, set[int]]) -> Iterator[int]:
    """All actions in an order in which each follows what it needs, and updates wait as long as something else can run.
    ``others`` are the updates, with what should run before each."""
    followers: dict[int, list[int]] = defaultdict(list)
    for number, found in needed.items():
        for each in found:
            followers[each].append(number)
    missing = {number: len(found) for number, found in needed.items()}
    ready = deque(number for number, count in missing.items() if not count)
    held: list[int] = []
    done: set[int] = set()
    while ready or held:
        if ready and ready[0] in others:
            held.append(ready.popleft())
            continue
        number = ready.popleft() if ready else held.pop(next_of(held, others, done))
        done.add(number)
        yield number
        for each in followers[number]:
            missing[each] -= 1
            if not missing[each]:
                ready.append(each)


def next_of(held: Sequence[int], others: Mapping[int, set[int]], done: set[int]) -> int:
    """The place of the first update that nothing has to run before any more; else of the first."""
    return next((place for place, number in enumerate(held) if others[number] <= done), 0)
