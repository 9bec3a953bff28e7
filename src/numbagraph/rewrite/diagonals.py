"""Results that are zero beside a diagonal: zeros and an assignment, instead of a choice for each element.

Inside of an expression the choice is fused, and costs no memory. A result has memory anyway, and setting it to zero
takes less than comparing the row with the column of each element.
"""

from __future__ import annotations

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.values import Constant, Node, Value, at_source
from numbagraph.ops.creation import filled
from numbagraph.ops.diagonals import diagonal_places
from numbagraph.ops.indexing.gathering import put_at
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.rewrite.facts import is_op
from numbagraph.rewrite.matrix_facts import diagonal_of, is_whole


def assigned_diagonals(graph: Graph) -> Graph:
    """The graph with such an assignment for each result that is a matrix of its diagonal."""
    return graph.transformed(with_assigned_diagonals)


def with_assigned_diagonals(roots: list[Value]) -> list[Value]:
    """Values, with such an assignment for each root that is a matrix of its diagonal."""
    replaced: dict[Value, Value] = {
        each: assigned(each) for each in roots if isinstance(each, Node) and is_matrix_of_diagonal(each)
    }
    return substitute(roots, replaced) if replaced else roots


def is_matrix_of_diagonal(node: Node) -> bool:
    """Whether a node is ``numpy.diag`` of a vector, on any diagonal."""
    if node.op.name != "where" or node.ndim != 2 or not shapes.same(*node.shape):
        return False
    condition, inside, outside = node.inputs
    if not (is_op(condition, "equal") and diagonal_of(condition) is not None and is_positive_zero(outside)):
        return False
    is_column = is_op(inside, "expand_dims") and inside.attrs["axes"] == (-1,) and inside.ndim == 2
    return is_column and is_whole(condition, node) and shapes.same(inside.shape[0], node.shape[0])


def is_positive_zero(value: Value) -> bool:
    return isinstance(value, Constant) and value.data.size == 1 and not any(value.data.tobytes())


def assigned(node: Node) -> Value:
    condition, inside, zero = node.inputs
    assert isinstance(inside, Node)
    offset = diagonal_of(condition) or 0
    with at_source(node.source):
        places = diagonal_places(node.shape, offset)
        elements = narrow(inside.inputs[0], -1, max(-offset, 0), places[0].shape[0])
        return put_at.bind(filled(zero, node.shape), elements, *places, axis=-2, checked=(False, False))
