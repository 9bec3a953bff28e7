"""Decompositions of which the values alone are used: without vectors LAPACK takes a part of the time.

Derivatives need the vectors, in the order of the values; by the time that this pass runs, those uses are in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.values import Node, Value, at_source, toposort
from numbagraph.transforms.interpret import call_of

VALUES: dict[str, tuple[int, str]] = {"eig": (0, "eig_values"), "eigh": (0, "eigvalsh"), "svd": (1, "svdvals")}
"""The number of the result that holds the values, and the op that computes them alone."""
OF_VECTORS = ("result", "full_matrices")
"""The attributes that the ops of values alone do not have."""


def values_alone(graph: Graph) -> Graph:
    """The graph with such decompositions in place of whole ones."""
    return graph.transformed(with_values_alone)


def with_values_alone(roots: list[Value]) -> list[Value]:
    """Values, with decompositions of values alone in place of whole ones."""
    calls: dict[object, list[Node]] = {}
    for each in toposort(roots):
        if isinstance(each, Node) and each.op.name in VALUES:
            calls.setdefault(call_of(each), []).append(each)
    replaced: dict[Value, Value] = {nodes[0]: alone(nodes[0]) for nodes in calls.values() if gives_values(nodes)}
    return substitute(roots, replaced) if replaced else roots


def gives_values(nodes: Sequence[Node]) -> bool:
    return all(each.attrs["result"] == VALUES[each.op.name][0] for each in nodes)


def alone(node: Node) -> Value:
    name = VALUES[node.op.name][1]
    attrs = {key: each for key, each in node.attrs.items() if key not in OF_VECTORS}
    with at_source(node.source):
        return registry[name].bind(*node.inputs, **attrs)
