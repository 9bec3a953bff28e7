"""Products with the orthogonal factor of a matrix, where that factor is computed anyway, or shared by many products."""

from __future__ import annotations

from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.values import Node, Value, at_source, toposort
from numbagraph.ops.linalg.reflections import by_factor, product_of_q, product_with_q


def products_by_q(graph: Graph) -> Graph:
    """The graph with the factor and a product in place of reflections: a derivative needs the factor, and reflections
    would be computed for each element of a batch again."""
    return graph.transformed(with_products_by_q)


def with_products_by_q(roots: list[Value]) -> list[Value]:
    """Values, with the factor and a product in place of reflections."""
    nodes = [each for each in toposort(roots) if isinstance(each, Node)]
    factored = {each.inputs[0] for each in nodes if each.op.name == "qr" and each.attrs == reduced(0)}
    replaced: dict[Value, Value] = {
        each: factor_or_product(each)
        for each in nodes
        if each.op in (product_of_q, product_with_q)
        if each.inputs[0] in factored or each.inputs[0].ndim < each.inputs[1].ndim
    }
    return substitute(roots, replaced) if replaced else roots


def reduced(result: int) -> dict[str, object]:
    return {"complete": False, "result": result}


def factor_or_product(node: Node) -> Value:
    matrix, other = node.inputs
    with at_source(node.source):
        if node.attrs["result"] == 0:
            return by_factor(matrix, other, left=node.op is product_of_q, conjugate=node.attrs["conjugate"])
        upper = registry["qr"].bind(matrix, **reduced(1))
        return registry["broadcast_to"](upper, node.shape)
