"""Arguments that say in a loop which elements are read or written, copied into memory of the program's own.

They are checked once, before the loop (`numbagraph.loops.versions`). What another thread writes to an argument after
that must lead nowhere else.
"""

from __future__ import annotations

import numpy as np

from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Input, Node, Value, constant
from numbagraph.loops.distinct_arrays import with_other_operands
from numbagraph.transforms.interpret import call_of

INNERMOST = 3
"""The number of loops in each other through which uses of an argument are followed."""


def with_own_positions(graph: Graph) -> Graph:
    """The graph, in which loops take copies of the arguments that are positions in their steps."""
    arguments = {each for each in graph.inputs if each.ndim and np.can_cast(each.dtype, INT64, "safe")}
    loops = [each for each in graph.order if isinstance(each, Node) and each.op.name == "scan"]
    if not arguments or not any(not arguments.isdisjoint(each.inputs) for each in loops):
        return graph

    def places(node: Node) -> list[int]:
        found = captured_positions(node) if node.op.name == "scan" else ()
        return [place for place in found if node.inputs[place] in arguments]

    return graph.transformed(lambda roots: with_other_operands(roots, places, lambda value, _: own(value)))


def own(positions: Value) -> Value:
    """A copy that no pass takes for one which need not be made."""
    return registry["add"](positions, constant(0, dtype=positions.dtype))


def is_own(value: Value) -> bool:
    if not isinstance(value, Node) or value.op.name != "add" or not isinstance(value.inputs[0], Input):
        return False
    zero = value.inputs[1]
    return isinstance(zero, Constant) and not zero.ndim and zero.data[()] == 0


def captured_positions(loop: Node) -> list[int]:
    """The operands of a loop that its steps take whole, and as positions."""
    first, body = loop.attrs["carries"] + loop.attrs["sequences"], loop.attrs["body"]
    found = positions_in(body, INNERMOST)
    return [1 + place for place, each in enumerate(body.inputs) if place >= first and each in found]


def positions_in(region: Graph, depth: int) -> set[Value]:
    """The arrays that are positions in a region, or in loops and branches inside of it."""
    found: set[Value] = set()
    calls: dict[object, Node] = {}
    for each in region.order:
        if isinstance(each, Node) and "checked" in each.attrs:
            found.update(each.inputs[number] for number, _ in each.op.bounds(each))
        elif isinstance(each, Node) and each.op.name in ("scan", "switch"):
            calls.setdefault(call_of(each), each)
    for each in calls.values() if depth else ():
        inner = each.attrs["branches"] if each.op.name == "switch" else (each.attrs["body"],)
        for body in inner:
            inside = positions_in(body, depth - 1)
            found.update(outer for outer, point in zip(each.inputs[1:], body.inputs, strict=True) if point in inside)
    return found
