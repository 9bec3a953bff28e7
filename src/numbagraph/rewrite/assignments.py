"""Assignments one after the other: each is made to what those before it gave, where that is needed anyway.

While a function is traced, assignments that follow each other become one operation on the array that they began with.
Where something reads what the first of them gave, that has memory; so the rest are made to it, and not all to the array
from the beginning: the array is updated where it lies.
"""

from __future__ import annotations

from collections.abc import Collection

from numbagraph.ir.graph import Graph, guard_values
from numbagraph.ir.values import Node, Value, at_source
from numbagraph.ops.indexing.slicing import assembled, set_slice, taken_apart


def assignments_in_turn(graph: Graph) -> Graph:
    """The graph with assembled arrays as updates of those among them that are made of their first pieces."""
    roots = [*graph.outputs, *guard_values(graph.guards)]
    order = graph.with_outputs(roots).order
    assemblies = {each for each in order if isinstance(each, Node) and each.op is set_slice}
    bases = {node: base for node in assemblies if (base := begun(node, assemblies)) is not None}
    if not bases:
        return graph
    mapped: dict[Value, Value] = {}

    def renewed(value: Value) -> Value:
        """Rebuild a value whose inputs have been rebuilt, and so have those of the shorter assembly that it begins
        with: these are among its own inputs."""
        if value not in mapped:
            mapped[value] = value
            if isinstance(value, Node):
                with at_source(value.source):
                    mapped[value] = rebuilt(value)
        return mapped[value]

    def rebuilt(node: Node) -> Value:
        base = bases.get(node)
        if base is None:
            inputs = tuple(map(renewed, node.inputs))
            return node if inputs == node.inputs else node.op.bind(*inputs, **node.attrs)
        count = len(base.attrs["places"])
        pieces = taken_apart(node)[1][count:]
        return assembled(renewed(base), [(renewed(piece), cuts) for piece, cuts in pieces])

    for value in order:
        renewed(value)
    return graph.transformed(lambda results: [mapped[each] for each in results])


def begun(node: Node, assemblies: Collection[Value]) -> Node | None:
    """The longest other assembly of a graph whose pieces are the first pieces of this one."""
    base, pieces = taken_apart(node)
    for count in range(len(pieces) - 1, 0, -1):
        found = assembled(base, pieces[:count])
        if found in assemblies and isinstance(found, Node):
            return found
    return None
