"""Records of a loop for its pullback, which replace whole arrays: numbers that each step has computed from elements of
its carries, or the elements that it has overwritten, from which an array is restored on the way back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import reduce

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.graph import substitute
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Input, Node, Value, constant, toposort
from numbagraph.ops.control.rows import is_op
from numbagraph.ops.control.updates import Step, Update, can_be_stored, updates_of

FEW = 16
"""The number of elements up to which an array is stored as a whole before each step, rather than numbers computed from
it."""


class Undone(Struct):
    """The way to restore a carry before a step: from the carry ``source`` after it, which is the same one or one that
    it changes places with, by undoing ``updates``."""

    source: int
    updates: tuple[Update, ...]


class Records(Struct):
    """The values that a loop stores for its pullback, and the carries that the pullback restores."""

    stored: tuple[Value, ...] = ()
    """Values of each step."""
    restored: Mapping[int, Undone] = field(default_factory=dict)
    """Carries that are restored on the way back."""

    @property
    def size(self) -> int:
        return sum(each.dtype.itemsize for each in self.stored)


class GoneBack(Struct, eq=False):
    """The carries before a step of a loop, as its pullback sees them: computed from the carries after the step, and
    from stored values."""

    strides: Mapping[int, int]
    """For carried integers, by number: the amount that each step adds."""
    after: Mapping[int, Input]
    """By number, the stand-ins for the restored carries, and for these integers, after the step."""
    before: Mapping[int, Value]
    """By number, the values of the restored carries, and of these integers, before the step."""
    mapped: Mapping[Value, Value]

    def seen_by(self, values: Sequence[Value]) -> list[Value]:
        """Return values of the step in terms of the carries after it and of stored values."""
        return substitute(values, self.mapped)


def gone_back(step: Step, records: Records, logs: Sequence[Input]) -> GoneBack:
    """Return the carries before a step; ``logs`` are stand-ins for the values that are stored for it."""
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
    """Return the constant that each step adds to a carried integer, if it does nothing else to it; else None."""
    before, after = step.points[number], step.outputs[number]
    if before.dtype != INT64 or before.ndim or not is_op(after, "add") or after.inputs[0] is not before:
        return None
    other = after.inputs[1]
    if not isinstance(other, Constant) or other.dtype != INT64 or after.type is not before.type:
        return None
    return int(other.data) if before in toposort(step.back) else None


def records_of(step: Step) -> Records:
    """Return the values to be stored for the pullback of a step: as little as it needs (`least_records`), and what
    products are computed for that it would otherwise compute again."""
    records = least_records(step)
    products = costly_values(step, records)
    return replace(records, stored=(*records.stored, *products)) if products else records


def costly_values(step: Step, records: Records) -> list[Value]:
    """Return the values that a pullback uses and that products are computed for: to multiply by a matrix again takes
    longer than to read its product. None where they are larger than the carries, which are stored as well, or where
    products would be computed again even so."""
    carried = [each for number, each in enumerate(step.points[: step.carries]) if number not in records.restored]
    room = Counter(map(size_of, (each for each in carried if each.ndim)))
    order = toposort(step.back)
    primal, backward = dependent(order, step.points[: step.varying]), dependent(order, step.given)
    used = frontier(order, step.back, primal - backward, backward)
    products = {each for each in order if isinstance(each, Node) and each.op.kind == "product"}
    costly = dependent_but(order, products, records.stored)
    found = []
    for value in used:
        size = size_of(value)
        if value in costly and room[size]:
            room[size] -= 1
            found.append(value)
    again = dependent_but(order, products, [*records.stored, *found])
    return [] if any(each in again and each not in found for each in used) else found


def size_of(value: Value) -> tuple[np.dtype, shapes.Shape]:
    """Return what decides how much memory a value takes; lengths that are known to be equal are one."""
    return value.dtype, tuple(map(shapes.resolve, value.shape))


def dependent_but(order: Sequence[Value], roots: Iterable[Value], known: Collection[Value]) -> set[Value]:
    """Return the values that depend on ``roots`` otherwise than through ``known`` ones."""
    found = set(roots).difference(known)
    for value in order:
        if isinstance(value, Node) and value not in known and not found.isdisjoint(value.inputs):
            found.add(value)
    return found


def least_records(step: Step) -> Records:
    """Return the values to be stored for the pullback of a step, as far as it needs values that depend on carried
    arrays. An array that can neither be restored nor be replaced by such values is left out: it is stored as a
    whole."""
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
    """Return the way to restore an array before a step from some array after it; None if there is no way."""
    own = numbers[point]
    for number in (own, *(each for each in numbers.values() if each != own)):
        found = updates_of(step.outputs[number], point, step)
        if found is not None:
            return Undone(number, tuple(found))
    return None


def with_sources(states: Collection[Input], ways: Mapping[Input, Undone], step: Step) -> set[Input]:
    """Return some arrays, and those from which they are restored, step after step."""
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
    """Return the values that are stored for a pullback, and the arrays that it needs. A value that is computed from
    ``kept`` arrays is not stored."""
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
    """Return the known values that unknown ones are computed from directly."""
    users = [
        *results,
        *(each for value in order if value in backward and isinstance(value, Node) for each in value.inputs),
    ]
    return [each for each in dict.fromkeys(users) if each in known]


def dependent(order: Sequence[Value], roots: Iterable[Value]) -> set[Value]:
    """Return the values that depend on ``roots``, these included."""
    found = set(roots)
    for value in order:
        if isinstance(value, Node) and not found.isdisjoint(value.inputs):
            found.add(value)
    return found


def with_updates(step: Step, arrays: set[Input], stored: Sequence[Value], restored: Mapping[int, Undone]) -> Records:
    """Return the records, with the carries to be restored and the overwritten elements and positions by which this is
    done."""
    updates = [each for way in restored.values() for each in way.updates]
    order = toposort([position for each in updates for position in each.positions])
    primal = dependent(order, arrays)
    positions = (position for each in updates for position in each.positions if position in primal)
    found = dict.fromkeys([*stored, *(value for each in updates for value in each.overwritten), *positions])
    return Records(tuple(found), restored)
