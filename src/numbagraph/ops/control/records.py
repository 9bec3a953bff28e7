"""What a loop writes down for its pullback in place of whole arrays: numbers that each step has computed from elements
of what it carries, or the elements that it has overwritten, from which an array is restored on the way back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import reduce

from numbagraph.ir import shapes
from numbagraph.ir.graph import substitute
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Input, Node, Value, constant, toposort
from numbagraph.ops.control.rows import is_op
from numbagraph.ops.control.updates import Step, Update, can_be_stored, updates_of

FEW = 16
"""Elements of an array that is as well stored before each step as numbers that are computed from it."""


class Undone(Struct):
    """How a carry before a step follows from one after it, by number: the same, or one that it changes places with."""

    source: int
    updates: tuple[Update, ...]


class Records(Struct):
    """What a loop gives for its pullback."""

    stored: tuple[Value, ...] = ()
    """Values of each step."""
    restored: Mapping[int, Undone] = field(default_factory=dict)
    """Carries that are restored on the way back."""

    @property
    def size(self) -> int:
        return sum(each.dtype.itemsize for each in self.stored)


class GoneBack(Struct, eq=False):
    """What a step of a loop was given, as its pullback sees it: computed from what the next step is given, and from
    what is stored."""

    strides: Mapping[int, int]
    """Carried integers, by number, and what each step adds to them."""
    after: Mapping[int, Input]
    """What stands for the carries that are restored, and for these integers, after the step."""
    before: Mapping[int, Value]
    """The same before it."""
    mapped: Mapping[Value, Value]

    def seen_by(self, values: Sequence[Value]) -> list[Value]:
        """Values of the step in terms of these."""
        return substitute(values, self.mapped)


def gone_back(step: Step, records: Records, logs: Sequence[Input]) -> GoneBack:
    """The carries before a step, where ``logs`` stand for what is stored of it."""
    mapped: dict[Value, Value] = dict(zip(records.stored, logs, strict=True))
    strides = {number: stride for number in range(step.carries) if (stride := stride_of(step, number))}
    after = {number: Input(step.points[number].type, "after") for number in (*records.restored, *strides)}
    before: dict[int, Value] = {}
    for number, way in records.restored.items():
        before[number] = reduce(lambda array, update: update.undone(array, mapped), way.updates, after[way.source])
    for number, stride in strides.items():
        less = constant(-stride, dtype=INT64, weak=after[number].type.weak)
        before[number] = registry["add"].bind(after[number], less)
    return GoneBack(strides, after, before, mapped | {step.points[number]: each for number, each in before.items()})


def stride_of(step: Step, number: int) -> int | None:
    """What each step adds to a carried integer, if it does nothing else to it."""
    before, after = step.points[number], step.outputs[number]
    if before.dtype != INT64 or before.ndim or not is_op(after, "add") or after.inputs[0] is not before:
        return None
    other = after.inputs[1]
    if not isinstance(other, Constant) or other.dtype != INT64 or after.type is not before.type:
        return None
    return int(other.data) if before in toposort(step.back) else None


def records_of(step: Step) -> Records:
    """The values that the pullback of a step needs, as far as they depend on arrays that the loop carries. Those arrays
    for which there is no other way are not among them: they are stored as a whole."""
    arrays = {each for each in step.points[: step.carries] if each.ndim and not is_short(each)}
    captured = {each for each in step.in_part if each not in step.points[: step.carries]}
    while arrays or captured:
        numbers = {point: number for number, point in enumerate(step.points) if point in arrays}
        ways = {point: way for point in numbers if (way := undone(point, numbers, step)) is not None}
        stored, states = needed(step, arrays | captured, set())
        states = with_sources(states - captured, ways, step)
        whole = states - ways.keys()
        if not whole:
            found = with_updates(step, arrays, stored, {numbers[each]: ways[each] for each in ways if each in states})
            if not ways.keys().isdisjoint(step.in_part):
                return found
            others, more = needed(step, arrays | captured, ways)
            more = with_sources(more - captured, ways, step)
            if more <= ways.keys():
                other = with_updates(step, arrays, others, {numbers[each]: ways[each] for each in ways if each in more})
                return other if 3 * other.size < found.size else found
            return found
        arrays -= whole
    return Records()


def undone(point: Input, numbers: Mapping[Input, int], step: Step) -> Undone | None:
    """How an array before a step follows from some array after it; None, if it does not."""
    own = numbers[point]
    for number in (own, *(each for each in numbers.values() if each != own)):
        found = updates_of(step.outputs[number], point, step)
        if found is not None:
            return Undone(number, tuple(found))
    return None


def with_sources(states: Collection[Input], ways: Mapping[Input, Undone], step: Step) -> set[Input]:
    """Some arrays, and those from which they are restored, step after step."""
    found, pending = set(states), list(states)
    while pending:
        way = ways.get(pending.pop())
        if way is not None and (source := step.points[way.source]) not in found:
            found.add(source)
            pending.append(source)
    return found


def is_short(value: Value) -> bool:
    extents = [shapes.resolve(each) for each in value.shape]
    size = 1
    for each in extents:
        if not isinstance(each, int):
            return False
        size *= each
    return size <= FEW


def needed(step: Step, arrays: set[Input], kept: Collection[Value]) -> tuple[list[Value], set[Input]]:
    """The values that are stored for a pullback, and the arrays that it needs. Nothing is stored that is computed from
    arrays that are ``kept``."""
    order = toposort(step.back)
    primal, backward = dependent(order, arrays), dependent(order, step.given)
    recomputed = dependent(order, kept)
    stored: dict[Value, None] = {}
    states: dict[Input, None] = {}
    pending = list(reversed(frontier(order, step.back, primal - backward, backward)))
    while pending:
        value = pending.pop()
        if isinstance(value, Input):
            states[value] = None
        elif value not in recomputed and can_be_stored(value, step):
            stored[value] = None
        elif isinstance(value, Node):
            pending += [each for each in value.inputs if each in primal and each not in stored and each not in states]
    return list(stored), set(states)


def frontier(order: Sequence[Value], results: Sequence[Value], known: set[Value], backward: set[Value]) -> list[Value]:
    """Values that are known that others, which are not, are computed from."""
    users = [
        *results,
        *(each for value in order if value in backward and isinstance(value, Node) for each in value.inputs),
    ]
    return [each for each in dict.fromkeys(users) if each in known]


def dependent(order: Sequence[Value], roots: Iterable[Value]) -> set[Value]:
    """The values that depend on some others, these included."""
    found = set(roots)
    for value in order:
        if isinstance(value, Node) and not found.isdisjoint(value.inputs):
            found.add(value)
    return found


def with_updates(step: Step, arrays: set[Input], stored: Sequence[Value], restored: Mapping[int, Undone]) -> Records:
    """The same records, with what restores some carries."""
    updates = [each for way in restored.values() for each in way.updates]
    order = toposort([position for each in updates for position in each.positions])
    primal = dependent(order, arrays)
    positions = (position for each in updates for position in each.positions if position in primal)
    found = dict.fromkeys([*stored, *(value for each in updates for value in each.overwritten), *positions])
    return Records(tuple(found), restored)
