"""Branches by one condition become one: what a branch computes is there for its derivative, too."""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.ir.graph import Graph, Guard, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together, opened, opened_guards
from numbagraph.ir.values import Node, Value, at_source, toposort
from numbagraph.ops.control.operands import stand_ins
from numbagraph.transforms.interpret import call_of


def joined_branches(graph: Graph) -> Graph:
    """The graph with such branches as one."""
    return graph.transformed(joined_values)


def joined_values(roots: list[Value]) -> list[Value]:
    """Values, with branches by one condition joined into one."""
    while (found := pair_in(toposort(roots))) is not None:
        roots = substitute(roots, joined(*found))
    return roots


def pair_in(order: Sequence[Value]) -> tuple[list[Node], list[Node]] | None:
    """The results of two branches by one condition, of which none needs the other and no more than one requires
    anything: what is checked first stays so."""
    calls: dict[object, list[Node]] = {}
    for each in order:
        if isinstance(each, Node) and each.op.name == "switch" and len(each.attrs["branches"]) > 1:
            calls.setdefault(call_of(each), []).append(each)
    found = list(calls.values())
    for place, first in enumerate(found):
        for second in found[place + 1 :]:
            if is_alike(first[0], second[0]) and not depends(first, second) and not depends(second, first):
                return first, second
    return None


def is_alike(first: Node, second: Node) -> bool:
    regions = first.attrs["branches"], second.attrs["branches"]
    free = sum(not any(each.guards for each in own) for own in regions)
    return first.inputs[0] is second.inputs[0] and len(regions[0]) == len(regions[1]) and free > 0


def depends(call: Sequence[Node], other: Sequence[Node]) -> bool:
    return not set(other).isdisjoint(toposort(call[0].inputs))


def joined(*calls: Sequence[Node]) -> dict[Value, Value]:
    """Replacements for the results of two branches: the results of one branch that computes all of them."""
    operands = list(dict.fromkeys(each for call in calls for each in call[0].inputs[1:]))
    points = dict(zip(operands, stand_ins([each.type for each in operands], "point"), strict=True))
    drafts = []
    for number, region in enumerate(calls[0][0].attrs["branches"]):
        outputs: list[Value] = []
        guards: list[Guard] = []
        for call in calls:
            own, given = call[0].attrs["branches"][number], [points[each] for each in call[0].inputs[1:]]
            found = opened(own, given)
            outputs += [found[each.attrs["result"]] for each in call]
            guards += opened_guards(own, given)
        drafts.append(Draft(region.name, outputs, guards))
    regions, captures = close_together([*points.values()], drafts)
    index, bind = calls[0][0].inputs[0], registry["switch"].bind
    nodes = [each for call in calls for each in call]
    with at_source(nodes[0].source):
        return {
            node: bind(index, *operands, *captures, branches=regions, result=number)
            for number, node in enumerate(nodes)
        }
