"""Sums of cotangents, each kept in one array: a loop or a branch inside of a step adds its terms to the sum so far,
instead of to zeros that the step then adds to the sum as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

from numbagraph.ir.graph import Graph, guard_values, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together, opened, opened_guards, without_unused
from numbagraph.ir.values import Input, Node, Value, toposort
from numbagraph.ops.control.dependence import independent
from numbagraph.ops.control.operands import region_guards, stand_ins, strong_type, with_lengths_known
from numbagraph.ops.control.rows import added, added_by_rows, is_op, spots_of, terms_of
from numbagraph.ops.creation import is_zeros
from numbagraph.ops.indexing.slicing import assembled, take_slice, taken_apart
from numbagraph.transforms.interpret import call_of

CALLS = frozenset({"scan", "switch", "while_pullback"})
"""The names of the ops that may add to a sum, each in steps or in one of several ways."""


def accumulated(values: Sequence[Value], beside: Sequence[Value] = ()) -> list[Value]:
    """Return the values with their sums written as assignments to elements of the array that is added to, where
    possible; and the values ``beside`` them, which are results of the same loops and branches."""
    values = [*with_elements_added(values), *beside]
    done: set[object] = set()
    while True:
        call = next((each for each in calls_of(values) if call_of(each) not in done), None)
        if call is None:
            return list(values)
        done.add(call_of(call))
        values, following = continued(values, call)
        done.update(call_of(each) for each in following if isinstance(each, Node))


def with_elements_added(values: Sequence[Value]) -> list[Value]:
    """Return the values, in which a term that is zero but for some elements is added to these elements alone."""
    mapped: dict[Value, Value] = {}
    for root, terms in sums_in(values).items():
        found = added_by_rows(substitute(terms, mapped))
        if found is not None:
            mapped[root] = found
    return substitute(values, mapped) if mapped else list(values)


def sums_in(values: Sequence[Value]) -> dict[Value, list[Value]]:
    """Sums of arrays that are no part of other sums, each with its terms, in dependency order."""
    order = toposort(values)
    uses = uses_of(order, values)
    found = [value for value in order if is_sum(value)]
    parts: set[Value] = {each for value in found for each in value.inputs if is_sum(each) and uses[each] == 1}
    return {value: list(terms_in(value, parts)) for value in found if value not in parts}


def uses_of(order: Iterable[Value], values: Iterable[Value]) -> Counter[Value]:
    return Counter([*values, *(each for value in order if isinstance(value, Node) for each in value.inputs)])


def is_sum(value: Value) -> TypeGuard[Node]:
    return value.dtype.kind in "fc" and is_op(value, "add") and not value.type.weak


def terms_in(value: Node, parts: set[Value]) -> Iterable[Value]:
    for each in value.inputs:
        yield from terms_in(each, parts) if isinstance(each, Node) and each in parts else (each,)


def calls_of(values: Sequence[Value]) -> list[Node]:
    """Return one result of each loop and branch, in dependency order."""
    found: dict[object, Node] = {}
    for each in toposort(values):
        if isinstance(each, Node) and each.op.name in CALLS:
            found.setdefault(call_of(each), each)
    return list(found.values())


def continued(values: Sequence[Value], call: Node) -> tuple[Sequence[Value], list[Value]]:
    """Return the values, in which the sums that a loop or a branch adds to become operands of it; and the new results
    of that loop or branch."""
    key, order = call_of(call), toposort(values)
    uses, results = uses_of(order, values), results_of(order, key)
    starts: dict[int, Value] = {}
    rests: dict[Value, tuple[Value, list[Value]]] = {}
    for root, terms in sums_in(values).items():
        own = [each for each in terms if isinstance(each, Node) and each in results.values()]
        if len(own) != 1 or uses[own[0]] != 1 or not begins_with_zeros(own[0]):
            continue
        (term,) = own
        reaching = {each for each in terms if each is not term and reaches(each, key)}
        before = [each for each in terms if each is not term and each not in reaching]
        if before:
            starts[term.attrs["result"]] = added(before)
            rests[root] = term, [each for each in terms if each in reaching]
    if not starts:
        return values, []
    fresh = started(call, sorted(results), starts)
    mapped: dict[Value, Value] = {value: fresh[number] for number, value in results.items()}
    for root, (term, others) in rests.items():
        mapped[root] = added([*substitute(others, mapped), mapped[term]])
    return substitute(values, mapped), list(fresh.values())


def results_of(order: Iterable[Value], key: object) -> dict[int, Value]:
    """The results of a call, by number."""
    nodes = (each for each in order if isinstance(each, Node) and each.op.name in CALLS)
    return {each.attrs["result"]: each for each in nodes if call_of(each) == key}


def reaches(value: Value, key: object) -> bool:
    return bool(results_of(toposort([value]), key))


def start_of(node: Node, result: int) -> int | None:
    """Return the number of the operand that a result of a loop is equal to if the loop takes no step; None if there is
    none."""
    attrs = node.attrs
    if node.op.name == "while_pullback":
        return attrs["carries"] + attrs["captures"] + result
    return result + (node.op.name == "scan") if result < attrs["carries"] else None


def begins_with_zeros(node: Node) -> bool:
    """Whether a loop adds to an operand that is zero, and uses it for nothing else; or each branch adds to zeros."""
    result = node.attrs["result"]
    if node.op.name == "switch":
        return all(map(is_small, (each.outputs[result] for each in node.attrs["branches"])))
    place = start_of(node, result)
    return place is not None and is_zeros(node.inputs[place]) and only_adds(step_of(node), result)


def is_small(value: Value) -> bool:
    """Whether a value is zero but for some elements, or is the sum of a loop or a branch that starts from zeros."""
    if isinstance(value, Node) and value.op.name in CALLS:
        return begins_with_zeros(value)
    return is_zeros(value) or all(spots_of(each) is not None for each in terms_of(value))


def step_of(node: Node) -> Graph:
    """Return the region of a loop, whose first inputs and outputs are the carries."""
    return node.attrs["pullback" if node.op.name == "while_pullback" else "body"]


def only_adds(region: Graph, number: int) -> bool:
    """Whether a region uses an input only to add to it, and the output of the number ``number`` is that sum."""
    point = region.inputs[number]
    others = [each for place, each in enumerate(region.outputs) if place != number]
    return independent([*others, *guard_values(region.guards)], point) and is_added_to(region.outputs[number], point)


def is_added_to(value: Value, point: Value) -> bool:
    """Whether a value is the sum of another one and of terms that do not depend on that one."""
    if value is point or not isinstance(value, Node):
        return value is point
    if is_op(value, "put_at"):
        base, now, *positions = value.inputs
        if not is_op(now, "add") or not is_op(now.inputs[0], "gather"):
            return False
        before, content = now.inputs
        assert isinstance(before, Node)
        is_same = before.inputs == (base, *positions) and before.attrs["axis"] == value.attrs["axis"]
        return is_same and independent([content, *positions], point) and is_added_to(base, point)
    if is_op(value, "add_at"):
        base, *rest = value.inputs
        return independent(rest, point) and is_added_to(base, point)
    if is_op(value, "set_slice"):
        return is_slice_added_to(value, point)
    if is_op(value, "add"):
        first, second = value.inputs
        pairs = ((first, second), (second, first))
        return any(is_added_to(one, point) and independent([other], point) for one, other in pairs)
    if value.op.name not in CALLS:
        return False
    place = adds_to(value)
    if place is None:
        return False
    others = [each for number, each in enumerate(value.inputs) if number != place]
    return is_added_to(value.inputs[place], point) and independent(others, point)


def is_slice_added_to(value: Node, point: Value) -> bool:
    """Whether the last of some assignments to slices adds to what was there, and so do those before it."""
    base, pieces = taken_apart(value)
    now, cuts = pieces[-1]
    before = assembled(base, pieces[:-1])
    if not is_op(now, "add") or now.inputs[0] is not take_slice(before, cuts):
        return False
    return independent([now.inputs[1]], point) and is_added_to(before, point)


def adds_to(node: Node) -> int | None:
    """Return the operand that a result of a loop or a branch is a sum with, or None."""
    if node.op.name != "switch":
        place = start_of(node, node.attrs["result"])
        return place if place is not None and only_adds(step_of(node), node.attrs["result"]) else None
    branches, result = node.attrs["branches"], node.attrs["result"]
    for number in range(len(branches[0].inputs)):
        if all(is_added_to(each.outputs[result], each.inputs[number]) for each in branches) and all(
            independent([value for place, value in enumerate(each.outputs) if place != result], each.inputs[number])
            for each in branches
        ):
            return 1 + number
    return None


def started(call: Node, numbers: Sequence[int], starts: Mapping[int, Value]) -> dict[int, Value]:
    """Return the results of a loop or a branch, some of which start from the given values rather than from zeros."""
    inputs, attrs = list(call.inputs), call.attrs
    if call.op.name == "switch":
        return branch_from(call, numbers, starts)
    for number, start in starts.items():
        place = start_of(call, number)
        assert place is not None
        inputs[place] = start
    return {number: call.op.bind(*inputs, **(attrs | {"result": number})) for number in numbers}


def branch_from(call: Node, numbers: Sequence[int], starts: Mapping[int, Value]) -> dict[int, Value]:
    index, *operands = call.inputs
    points = stand_ins([each.type for each in operands], "point")
    sums = {number: Input(strong_type(start), "sum") for number, start in starts.items()}
    given, drafts = with_lengths_known(points, operands, [*sums.values()]), []
    for branch in call.attrs["branches"]:
        outputs = opened(branch, given)
        with region_guards() as guards:
            parts = [sum_of(sums[each], outputs[each]) if each in sums else outputs[each] for each in numbers]
            parts = accumulated(parts)
        drafts.append(Draft(branch.name, parts, [*opened_guards(branch, given), *guards]))
    results = chosen(index, [*points, *sums.values()], drafts, [*operands, *starts.values()])
    return dict(zip(numbers, results, strict=True))


def sum_of(start: Value, value: Value) -> Value:
    return start if is_zeros(value) else added([start, value])


def chosen(
    index: Value, parameters: Sequence[Input], drafts: Sequence[Draft], operands: Sequence[Value]
) -> list[Value]:
    """Return the results of one of several regions, chosen by its number."""
    closed, captures = close_together(parameters, drafts)
    regions, kept = without_unused(closed)
    passed, count = [*operands, *captures], len(drafts[0].outputs)
    bound = [passed[number] for number in kept]
    return [registry["switch"].bind(index, *bound, branches=regions, result=number) for number in range(count)]
