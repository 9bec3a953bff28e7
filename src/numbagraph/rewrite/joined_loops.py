"""Loops with the same carries become one: a loop, and the same loop that stacks more of each step for a derivative.

Both compute the same carries, so one loop can stack the results of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numbagraph.ir.graph import Graph, guard_values, substitute
from numbagraph.ir.regions import close, interned, opened, opened_guards
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import ArrayType, Input, Node, Value, at_source, toposort


class Call(Struct):
    """The used results of a scan, by number."""

    results: dict[int, Node]

    @property
    def node(self) -> Node:
        return next(iter(self.results.values()))

    @property
    def varying(self) -> int:
        """The number of operands behind the length that are carries or sequences."""
        return self.node.attrs["carries"] + self.node.attrs["sequences"]

    @property
    def captures(self) -> tuple[Value, ...]:
        return self.node.inputs[1 + self.varying :]


def joined_loops(graph: Graph) -> Graph:
    """The graph with such loops as one, and inside of its regions."""
    return graph.transformed(joined_values)


def joined_values(roots: list[Value]) -> list[Value]:
    """Values, with such loops joined, also inside of regions."""
    while True:
        found = next(filter(None, map(joined, pairs(roots))), None)
        if found is None:
            return with_joined_regions(roots)
        roots = substitute(roots, found)


def with_joined_regions(roots: list[Value]) -> list[Value]:
    """Values, with such loops joined inside of their regions."""
    mapped: dict[Value, Value] = {}
    regions: dict[Graph, Graph] = {}

    def inside(item: Any) -> Any:
        if type(item) is tuple:
            return tuple(map(inside, item))
        if not isinstance(item, Graph):
            return item
        if item not in regions:
            found = joined_loops(item)
            regions[item] = item if found is item else interned(found)
        return regions[item]

    for value in toposort(roots):
        if not isinstance(value, Node):
            continue
        inputs = tuple(mapped.get(each, each) for each in value.inputs)
        attrs = {name: inside(item) for name, item in value.attributes} if value.op.kind == "control" else value.attrs
        if inputs != value.inputs or attrs != value.attrs:
            with at_source(value.source):
                mapped[value] = value.op.bind(*inputs, **attrs)
    return [mapped.get(each, each) for each in roots]


def pairs(roots: Sequence[Value]) -> list[tuple[Call, Call]]:
    """Pairs of scans with the same number of steps, initial values and sequences."""
    calls: dict[object, Call] = {}
    for each in toposort(roots):
        if isinstance(each, Node) and each.op.name == "scan":
            key = each.inputs, tuple(item for item in each.attributes if item[0] != "result")
            calls.setdefault(key, Call({})).results[each.attrs["result"]] = each
    alike: dict[object, list[Call]] = {}
    for call in calls.values():
        attrs = [call.node.attrs[name] for name in ("carries", "sequences", "reverse", "unroll")]
        alike.setdefault((call.node.inputs[: 1 + call.varying], *attrs), []).append(call)
    return [
        (first, second) for each in alike.values() for place, first in enumerate(each) for second in each[place + 1 :]
    ]


def joined(pair: tuple[Call, Call]) -> dict[Value, Value] | None:
    """Replacements for the results of two loops with the same carries; None if the carries differ."""
    first = pair[0].node
    if any(depends(call, other) for call, other in (pair, pair[::-1])):
        return None
    carries, count = first.attrs["carries"], pair[0].varying
    operands = first.inputs[1 : 1 + count]
    types = [each.type for each in operands[:carries]]
    types += [ArrayType(each.dtype, each.shape[1:]) for each in operands[carries:]]
    points = [Input(each, "point") for each in types]
    captures = {each: Input(each.type, "capture") for call in pair for each in call.captures}
    outputs, guards = [], []
    for call in pair:
        own = [*points, *(captures[each] for each in call.captures)]
        outputs.append(opened(call.node.attrs["body"], own))
        guards.append(opened_guards(call.node.attrs["body"], own))
    if outputs[0][:carries] != outputs[1][:carries] or guard_values(guards[0]) != guard_values(guards[1]):
        return None
    stacked = list(dict.fromkeys([*outputs[0][carries:], *outputs[1][carries:]]))
    name = first.attrs["body"].name
    whole = close([*points, *captures.values()], [*outputs[0][:carries], *stacked], name=name, guards=guards[0])
    mapped: dict[Value, Value] = {}
    for call, own in zip(pair, outputs, strict=True):
        places = [*range(carries), *(carries + stacked.index(each) for each in own[carries:])]
        places += range(carries + len(stacked), 2 * carries + len(stacked))
        for number, node in call.results.items():
            attrs = {**first.attrs, "body": whole.region, "result": places[number]}
            mapped[node] = first.op.bind(first.inputs[0], *operands, *captures, *whole.captures, **attrs)
    return mapped


def depends(call: Call, other: Call) -> bool:
    """Whether a loop captures a value that is computed from results of another one."""
    return not set(other.results.values()).isdisjoint(toposort(call.captures))
