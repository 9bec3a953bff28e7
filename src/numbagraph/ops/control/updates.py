"""Assignments to elements of arrays in a step of a loop, and how to undo them from the overwritten elements and the
positions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, opened
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Constant, Dim, Input, Node, Value, constant, extent_values, toposort
from numbagraph.ops.control.accumulation import chosen
from numbagraph.ops.control.operands import stand_ins, with_lengths_known, zeros
from numbagraph.ops.control.partial_updates import is_in_part
from numbagraph.ops.control.rows import is_op
from numbagraph.ops.indexing.slicing import put_slice, take_slice, taken_apart


class Step(Struct):
    """A step of a loop and of its pullback, in terms of stand-ins."""

    points: Sequence[Input]
    """Stand-ins for the operands."""
    outputs: Sequence[Value]
    carries: int
    varying: int
    """The number of operands that differ between steps: carries, and elements of sequences."""
    back: Sequence[Value]
    """The results of the pullback."""
    given: Collection[Value]
    """The inputs of the pullback beside the points."""
    in_part: Collection[Input] = ()
    """The points for arrays that a loop around this one cannot restore: the elements that are needed of them are
    stored."""


class Update(Struct):
    """A change to elements of an array, which gives an array of the same shape."""

    overwritten: tuple[Value, ...]
    """The elements that were overwritten."""
    positions: tuple[Value, ...]

    def undone(self, array: Value, mapped: Mapping[Value, Value]) -> Value:
        """Return the array before the update, given the one after it; ``mapped`` gives other values for the overwritten
        elements and the positions."""
        return self.put_back(
            array, *([mapped.get(each, each) for each in found] for found in (self.overwritten, self.positions))
        )

    def put_back(self, array: Value, before: Sequence[Value], positions: Sequence[Value]) -> Value:
        raise NotImplementedError


class Assignment(Update):
    """An assignment to an element, or to a slice."""

    node: Node

    def put_back(self, array: Value, before: Sequence[Value], positions: Sequence[Value]) -> Value:
        if not is_op(self.node, "set_slice"):
            return registry["put_at"].bind(array, *before, *positions, **self.node.attrs)
        for (_, cuts), each in zip(taken_apart(self.node)[1], before, strict=True):
            array = put_slice(array, each, cuts)
        return array


class Choice(Update):
    """Assignments to elements and rows in branches. The first position is the number of the branch; the overwritten
    elements and the other positions are those of the branch that was taken."""

    ways: tuple[tuple[Update, ...], ...]

    def put_back(self, array: Value, before: Sequence[Value], positions: Sequence[Value]) -> Value:
        index, *places = positions
        point, *others = stand_ins([each.type for each in (array, *before, *places)], "point")
        slots = others[: len(before)], others[len(before) :]
        drafts = []
        for updates in self.ways:
            mapped = dict(placed([each for one in updates for each in one.overwritten], slots[0]))
            mapped |= placed([each for one in updates for each in one.positions], slots[1])
            found = reduce(lambda after, update: update.undone(after, mapped), updates, point)
            drafts.append(Draft("undone", [found]))
        return chosen(index, [point, *others], drafts, [array, *before, *places])[0]


def placed(values: Sequence[Value], slots: Sequence[Value]) -> dict[Value, Value]:
    """Return the slot of each value that is no constant: the first free slot of its kind."""
    free, found = list(slots), dict[Value, Value]()
    for each in values:
        if each not in found and not isinstance(each, Constant):
            found[each] = next(slot for slot in free if kind_of(slot) == kind_of(each))
            free.remove(found[each])
    return found


def can_be_stored(value: Value, step: Step) -> bool:
    """Whether a value may be stored for each step: it has the same lengths in all steps, and takes less memory than the
    carries."""
    lengths = toposort(extent_values(value.type))
    if not set(step.points[: step.varying]).isdisjoint(lengths):
        return False
    if not value.ndim:
        return True
    rank = max(each.ndim for each in (*step.points[: step.carries], *step.in_part))
    if not isinstance(value, Node) or value.op.name != "scan":
        return value.ndim < rank
    carries, outputs = value.attrs["carries"], len(value.attrs["body"].outputs)
    is_stacked = carries <= value.attrs["result"] < outputs
    return is_stacked or value.ndim < rank + (value.attrs["result"] >= outputs)


def not_restored(points: Sequence[Input], outputs: Sequence[Value], carries: int) -> set[Input]:
    """Return the carried arrays that a step updates in parts by inner loops: the elements which these overwrite are not
    known on the way back."""
    step = Step(points, outputs, carries, carries, (), ())
    pairs = list(zip(points[:carries], outputs, strict=False))
    with shapes.collect_guards():  # the step requires the same
        return {
            point for point, output in pairs if is_in_part(output, point) and updates_of(output, point, step) is None
        }


def updates_of(output: Value, point: Value, step: Step) -> list[Update] | None:
    """Return the updates that lead from the input of a step to its output, if there is nothing else in between, and
    their overwritten elements can be stored. The last update comes first."""
    arrays = {each for each in step.points[: step.carries] if each.ndim}

    def is_lasting(update: Assignment) -> bool:
        starts = update.node.inputs[1 + len(update.overwritten) :] if is_op(update.node, "set_slice") else ()
        stored = (*update.overwritten, *update.positions)
        return arrays.isdisjoint(toposort(starts)) and all(can_be_stored(each, step) for each in stored)

    found, root = updates_from(output, is_lasting)
    return found if root is point else None


def updates_from(value: Value, accepts: Callable[[Assignment], bool]) -> tuple[list[Update], Value]:
    """Return the updates that make a value, as far as they are known and ``accepts`` holds for their assignments, and
    the array that they start from."""
    found: list[Update] = []
    while isinstance(value, Node):
        if value.op.name == "switch":
            one, base = choice_of(value)
        else:
            one, base = assignment_of(value)
            if one is not None and not accepts(one):
                one = None
        if one is None:
            break
        found.append(one)
        value = base
    return found, value


def assignment_of(node: Node) -> tuple[Assignment | None, Value]:
    """Return the assignment that a node is, or None, and the array that is assigned to."""
    if is_op(node, "put_at") or is_op(node, "add_at"):
        base, _, *positions = node.inputs
        checked, axis = node.attrs["checked"], node.attrs["axis"]
        before = registry["gather"].bind(base, *positions, axis=axis, checked=checked)
        return Assignment((before,), tuple(positions), node), base
    if is_op(node, "set_slice"):
        base, pieces = taken_apart(node)
        return Assignment(tuple(take_slice(base, cuts) for _, cuts in pieces), (), node), base
    return None, node


def choice_of(node: Node) -> tuple[Choice | None, Value]:
    """Return the updates of branches, each of which updates elements of one array or leaves it as it is, or None; and
    the array."""
    index, *operands = node.inputs
    points = stand_ins([each.type for each in operands], "point")
    given = with_lengths_known(points, operands)
    result, branches = node.attrs["result"], node.attrs["branches"]
    found = [updates_from(opened(each, given)[result], is_at_position) for each in branches]
    roots = {root for _, root in found}
    root = roots.pop()
    place = next((number for number, each in enumerate(points) if each is root), None)
    axes = {axis for updates, _ in found for axis in axes_of_rows(updates)}
    if roots or place is None or not any(updates for updates, _ in found) or len(axes) > 1:
        return None, node
    ways = tuple(tuple(updates) for updates, _ in found)

    def taken(kind: Callable[[Update], Sequence[Value]]) -> tuple[Value, ...]:
        return in_slots([[each for one in updates for each in kind(one)] for updates in ways], node, points)

    overwritten, positions = taken(lambda each: each.overwritten), taken(lambda each: each.positions)
    return Choice(overwritten, (index, *positions), ways), operands[place]


def is_at_position(update: Assignment) -> bool:
    """Whether an assignment is to one element or row, at a position that is checked unless it is a constant. (Where all
    branches are computed for a batch, a branch that was not taken gets positions of another one.)"""
    if not is_op(update.node, "put_at") or any(each.ndim for each in update.positions):
        return False
    if any(isinstance(each, Dim) for each in toposort(update.positions)):
        return False  # a length may be known nowhere else on the way back
    flags = zip(update.positions, update.node.attrs["checked"], strict=True)
    return all(checked or isinstance(each, Constant) for each, checked in flags)


def axes_of_rows(updates: Sequence[Update]) -> set[int]:
    """Return the first axes of the positions of assignments to rows. Where it is one, rows of one rank are alike."""
    found: set[int] = set()
    for each in updates:
        if isinstance(each, Choice):
            found |= {axis for way in each.ways for axis in axes_of_rows(way)}
        elif isinstance(each, Assignment) and each.overwritten[0].ndim:
            found.add(each.node.attrs["axis"])
    return found


def kind_of(value: Value) -> tuple[np.dtype, int]:
    """Return what values of one slot have in common."""
    return value.dtype, value.ndim


def in_slots(values: Sequence[Sequence[Value]], node: Node, points: Sequence[Input]) -> tuple[Value, ...]:
    """Return the values of all branches as results of these branches, so that one result stands for one value of
    each."""
    lists = [list(dict.fromkeys(each for each in found if not isinstance(each, Constant))) for found in values]
    like = {kind_of(each): each for found in lists for each in found}
    slots: list[list[Value]] = [[] for _ in lists]
    for kind, one in like.items():
        own = [[each for each in found if kind_of(each) == kind] for found in lists]
        most = max(map(len, own))
        unused = zeros(one) if one.ndim else constant(0, dtype=one.dtype)
        for slot, each in zip(slots, own, strict=True):
            slot += [*each, *[unused] * (most - len(each))]
    index, *operands = node.inputs
    drafts = [Draft(each.name, slot) for each, slot in zip(node.attrs["branches"], slots, strict=True)]
    return tuple(chosen(index, points, drafts, operands))
