"""Loop fission: what the steps of a loop stack is computed behind the loop, for all steps in vectors, where the steps
that follow do not need it.

A recurrence is computed one number after the other, whatever its steps compute beside it; a logarithm in each of them
takes six times as long as one in a vector.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from numbagraph.ir.graph import Graph, guard_values, substitute
from numbagraph.ir.regions import close, opened, opened_guards
from numbagraph.ir.structs import replace
from numbagraph.ir.values import BatchElement, Input, Node, Value, at_source, toposort
from numbagraph.ops.control.common import may_fail, stand_ins
from numbagraph.ops.control.narrowed import as_loop
from numbagraph.ops.control.scan import reading_less
from numbagraph.transforms.batching import batch
from numbagraph.transforms.interpret import call_of

WORTH = 15.0
"""The cost of what is computed behind the loop, in additions: that of an exponential."""


def divided_loops(graph: Graph) -> Graph:
    """The graph with such loops, and vectors behind them."""
    return graph.transformed(divided_values)


def divided_values(values: Sequence[Value]) -> list[Value]:
    """The same of values."""
    values, seen = list(values), set[object]()
    while True:
        order = toposort(values)
        calls: dict[object, list[Node]] = {}
        for each in order:
            if isinstance(each, Node) and each.op.name == "scan":
                calls.setdefault(call_of(each), []).append(each)
        left = transformed_again(order) if calls else set()
        found: dict[Value, Value] = {}
        for call, nodes in calls.items():
            if call not in seen and left.isdisjoint(nodes):
                seen.add(call)
                found = divided(nodes)
                if found:
                    break
        if not found:
            return values
        values = substitute(values, found)


def transformed_again(order: Sequence[Value]) -> set[Value]:
    """What will be a batch, in which the steps of a loop are computed in vectors already, or what is differentiated
    twice, which would store more numbers for each step than it saves."""
    found: set[Value] = set()
    aliased: set[Value] = set()
    for value in order:
        if isinstance(value, BatchElement):
            found.add(value)
        elif isinstance(value, Node):
            inside = not aliased.isdisjoint(value.inputs)
            if not found.isdisjoint(value.inputs) or (inside and value.op.name == "alias"):
                found.add(value)
            if inside or value.op.name == "alias":
                aliased.add(value)
    return found


def divided(nodes: Sequence[Node]) -> dict[Value, Value]:
    """What takes the place of the results of a loop; nothing, if the loop stays as it is."""
    loop = as_loop(nodes[0])
    asked = sorted({each.attrs["result"] for each in nodes})
    stacked = [each for each in asked if loop.carries <= each < loop.outputs]
    if not any(is_number(loop.body.outputs[each]) for each in stacked):
        return {}
    points = stand_ins(loop.in_step(), "point")
    outputs, guards = opened(loop.body, points), opened_guards(loop.body, points)
    needed = set(toposort([*outputs[: loop.carries], *guard_values(guards)]))
    ends: dict[int, list[Value]] = {}
    for each in stacked:
        found = ends_of(outputs[each], needed, points[loop.carries + loop.sequences :])
        if found is not None:
            ends[each] = found
    if not ends:
        return {}
    stays = [each for each in stacked if each not in ends]
    more = [each for each in dict.fromkeys(value for found in ends.values() for value in found) if each not in points]
    kept = [*outputs[: loop.carries], *(outputs[each] for each in stays), *more]
    closed = close(points, kept, name=loop.body.name, guards=guards)
    rest = reading_less(replace(loop, operands=(*loop.operands, *closed.captures), body=closed.region))
    places = {number: number for number in range(loop.carries)}
    places |= {number: loop.carries + place for place, number in enumerate(stays)}
    places |= {loop.outputs + number: rest.outputs + number for number in range(loop.carries)}
    rows = {value: rest.result(loop.carries + len(stays) + place) for place, value in enumerate(more)}
    rows |= {points[number]: rest.before(number) for number in range(loop.carries)}
    rows |= dict(zip(points[loop.carries :], loop.xs, strict=False))
    fixed: dict[Value, Value] = dict(zip(points[loop.carries + loop.sequences :], loop.captures, strict=True))
    with at_source(nodes[0].source):
        behind = {number: in_vectors(outputs[number], found, rows, fixed) for number, found in ends.items()}
    return {
        node: behind[number] if number in behind else rest.result(places[number])
        for node in nodes
        for number in [node.attrs["result"]]
    }


def in_vectors(value: Value, ends: Sequence[Value], rows: Mapping[Value, Value], fixed: Mapping[Value, Value]) -> Value:
    """A value of each step, computed from what others are in all steps, and from captures."""
    stacks = {each: rows[each] for each in ends}
    ((found, _),) = batch([value], stacks, next(iter(stacks.values())).shape[0])
    return substitute([found], dict(fixed))[0]


def is_number(value: Value) -> bool:
    return not value.ndim and not value.type.weak and value.dtype.kind == "f"


def ends_of(output: Value, needed: Collection[Value], constant: Collection[Value]) -> list[Value] | None:
    """The values of a step that an output is computed from behind the loop, if that is worth it: what is ``needed`` by
    the next steps, or cannot be computed there."""
    found: dict[Value, None] = {}
    moved: dict[Value, None] = {}
    stack = [output]
    while stack:
        value = stack.pop()
        if value in moved or value in found:
            continue
        if isinstance(value, Node) and value not in needed and may_move(value):
            moved[value] = None
            stack += value.inputs
        elif isinstance(value, (Node, Input)) and value not in constant:
            found[value] = None
    cost = sum(each.op.cost for each in moved if isinstance(each, Node))
    return list(found) if found and cost >= WORTH and all(map(is_number, [output, *found])) else None


def may_move(node: Node) -> bool:
    is_computed = not node.ndim and not node.type.weak and node.dtype.kind in "fb"
    return node.op.kind == "elementwise" and is_computed and not may_fail(node)
