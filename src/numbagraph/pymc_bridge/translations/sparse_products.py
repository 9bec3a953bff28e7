"""Translation of products with sparse matrices, and of their derivatives by the elements of a pattern."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.ops.indexing.gathering import gather_value, scatter
from numbagraph.ops.shape import expand_at
from numbagraph.ops.sparse import compressed, formats, pairs
from numbagraph.pymc_bridge.compatibility import sparse as ops
from numbagraph.pymc_bridge.importer import Importer, describe, imports
from numbagraph.pymc_bridge.translations.sparse import dense, form_of, from_dense, of_form
from numbagraph.pymc_bridge.translations.sparse_matrix import KnownPattern, SparseMatrix, is_sparse


def product_along(matrix: SparseMatrix, y: Value, axis: int, of: str) -> Value:
    """The products of a matrix and the vectors along an axis of an array, which is counted from the right."""
    count, length = matrix.shape
    shapes.require_same(y.shape[axis], length, f"the lengths in a product must be the same, in {of}")
    if not isinstance(matrix.pattern, KnownPattern):
        turned = registry["matrix_transpose"]
        whole = formats.product(matrix.data, matrix.pattern.form, y if axis == -y.ndim else turned(y))
        return whole if axis == -y.ndim else turned(whole)
    weights = expand_at(matrix.data, range(1, -axis))
    terms = registry["multiply"](weights, gather_value(y, [matrix.pattern.columns], axis, checked=False))
    after = y.shape[axis + 1 :] if axis < -1 else ()
    return scatter(terms, [matrix.pattern.rows], (*y.shape[:axis], count, *after), axis, (False,))


def product(x: Any, y: Any, of: str) -> Value:
    if isinstance(x, SparseMatrix):
        y = dense(y)
        return product_along(x, y, max(-2, -y.ndim), of)
    return product_along(y.T, x, -1, of)


def sparse_product(importer: Importer, x: SparseMatrix, y: SparseMatrix) -> SparseMatrix:
    """The product of two sparse matrices, which is one in the format of the first."""
    name = x.pattern.format
    other, others = formats.compressed(y.data, form_of(importer, y), name)
    own = x.data, form_of(importer, x)
    if name == "csr":
        return of_form(*pairs.product(*own, other, others))
    return of_form(*pairs.product(other, others.T, own[0], own[1].T)).T


@imports(ops.Dot, ops.StructuredDot)
def dot(importer: Importer, node: Apply, x: Any, y: Any) -> Any:
    if not is_sparse(node.outputs[0]):
        return product(x, y, describe(node.outputs[0]))
    known = [importer.data_of(each) for each in (x, y)]
    if all(each is not None for each in known):
        return importer.computed_now(node)
    return sparse_product(importer, x, y)


@imports(ops.TrueDot)
def true_dot(importer: Importer, node: Apply, x: SparseMatrix, y: Any) -> SparseMatrix:
    if isinstance(y, SparseMatrix):
        return sparse_product(importer, x, y)
    whole = Apply(ops.SparseFromDense(x.pattern.format), [], [])
    return from_dense(importer, whole, product(x, y, describe(node.outputs[0])))


@imports(ops.Usmm)
def product_and_sum(importer: Importer, node: Apply, factor: Value, x: Any, y: Any, term: Value) -> Value:
    scaled = registry["multiply"](factor, product(x, y, describe(node.outputs[0])))
    return registry["add"](scaled, term)


@imports(ops.SamplingDot)
def sampled_product(importer: Importer, node: Apply, x: Value, y: Value, chosen: SparseMatrix) -> SparseMatrix:
    form = form_of(importer, chosen)
    left, right = (x, y) if form.name == "csr" else (y, x)
    return chosen.of(registry["multiply"](chosen.data, elements_of_product(importer, left, right, form.pattern)))


def elements_of_product(importer: Importer, x: Any, y: Any, pattern: tuple[Value, Value, Value]) -> Value:
    """The elements of ``x @ y.T`` that a pattern, compressed by rows, has."""
    if isinstance(x, SparseMatrix) and isinstance(y, SparseMatrix):
        left, own = formats.compressed(x.data, form_of(importer, x), "csr")
        right, its = formats.compressed(y.data, form_of(importer, y), "csc")
        left, right = formats.alike(left, right)
        return pairs.product_at(left, *own.pattern, right, *its.T.pattern, *pattern[:2])
    return compressed.sampled_product(*formats.alike(dense(x), dense(y)), *pattern)


@imports(ops.StructuredDotGradCSR, ops.StructuredDotGradCSC)
def derivative_by_elements(importer: Importer, node: Apply, indices: Value, starts: Value, y: Any, g: Any) -> Value:
    """The cotangents of a matrix's elements, of those of its product with ``y``."""
    left, right = (g, y) if isinstance(node.op, ops.StructuredDotGradCSR) else (y, g)
    pattern = indices, starts, pairs.lengths_of(left.shape[0], right.shape[0])
    return elements_of_product(importer, left, right, pattern)
