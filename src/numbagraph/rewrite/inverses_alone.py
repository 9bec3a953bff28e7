"""Inverses whose factors nothing else uses: they need not be computed from factors that a solution or a determinant
would share.

Derivatives solve with the factors; by the time that this pass runs, those uses are in the graph.
"""

from __future__ import annotations

from collections import defaultdict

from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.values import Node, Value, at_source, toposort
from numbagraph.rewrite.matrix_facts import is_unit
from numbagraph.transforms.interpret import call_of


def inverses_alone(graph: Graph) -> Graph:
    """The graph with the op of an inverse in place of its factors and a solution."""
    return graph.transformed(with_inverses_alone)


def with_inverses_alone(roots: list[Value]) -> list[Value]:
    """Values, with the op of an inverse in place of its factors and a solution."""
    users: dict[object, set[Value | None]] = defaultdict(set)
    """The users of the factors of a matrix; None stands for a result."""
    solutions: list[Node] = []
    for each in toposort(roots):
        if isinstance(each, Node):
            for source in each.inputs:
                if isinstance(source, Node) and source.op.name == "square_lu":
                    users[call_of(source)].add(each)
            if each.op.name == "solve_factored":
                solutions.append(each)
    for each in roots:
        if isinstance(each, Node) and each.op.name == "square_lu":
            users[call_of(each)].add(None)
    replaced: dict[Value, Value] = {each: inverse_of(each) for each in solutions if is_inverse_alone(each, users)}
    return substitute(roots, replaced) if replaced else roots


def is_inverse_alone(node: Node, users: dict[object, set[Value | None]]) -> bool:
    matrix, factors, pivots, right = node.inputs
    if node.attrs["trans"] or not is_unit(right) or right.ndim > matrix.ndim:
        return False
    if not all(isinstance(each, Node) and each.inputs == (matrix,) for each in (factors, pivots)):
        return False
    return all(isinstance(each, Node) and users[call_of(each)] == {node} for each in (factors, pivots))


def inverse_of(node: Node) -> Value:
    with at_source(node.source):
        return registry["inverse"].bind(node.inputs[0], on_error=node.attrs["on_error"])
