"""Translation of sparse matrices, whose patterns are known: products are gathers and scatters, which fuse.

It is imported with the first op of these: few models have one, and PyTensor's modules take time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from scipy.sparse import csc_matrix, csr_matrix

from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Value
from numbagraph.ops.indexing.gathering import gather_value, scatter
from numbagraph.ops.shape import expand_at
from numbagraph.pymc_bridge.compatibility import sparse as ops
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, describe, imports
from numbagraph.pymc_bridge.translations.sparse_matrix import SparseMatrix


def product_along(matrix: SparseMatrix, y: Value, axis: int, of: str) -> Value:
    """The products of a matrix and the vectors along an axis of an array, which is counted from the right."""
    count, length = matrix.shape
    shapes.require_same(y.shape[axis], length, f"the lengths in a product must be the same, in {of}")
    weights = expand_at(matrix.data, range(1, -axis))
    terms = registry["multiply"](weights, gather_value(y, [matrix.columns], axis, checked=False))
    after = y.shape[axis + 1 :] if axis < -1 else ()
    return scatter(terms, [matrix.rows], (*y.shape[:axis], count, *after), axis, (False,))


def dense(x: Any) -> Value:
    """The dense array of all elements."""
    if isinstance(x, SparseMatrix):
        return scatter(x.data, [x.rows, x.columns], x.shape, -2, (False, False))
    return x


def product(x: Any, y: Any, of: str) -> Value:
    if isinstance(x, SparseMatrix):
        y = dense(y)
        return product_along(x, y, max(-2, -y.ndim), of)
    return product_along(y.T, x, -1, of)


@imports(ops.Dot, ops.StructuredDot)
def dot(importer: Importer, node: Apply, x: Any, y: Any) -> Any:
    if hasattr(node.outputs[0].type, "format"):
        return importer.computed_now(node)
    return product(x, y, describe(node.outputs[0]))


@imports(ops.Usmm)
def product_and_sum(importer: Importer, node: Apply, factor: Value, x: Any, y: Any, term: Value) -> Value:
    scaled = registry["multiply"](factor, product(x, y, describe(node.outputs[0])))
    return registry["add"](scaled, term)


@imports(ops.DenseFromSparse)
def to_dense(importer: Importer, node: Apply, x: SparseMatrix) -> Value:
    return dense(x)


@imports(ops.Transpose)
def transpose(importer: Importer, node: Apply, x: SparseMatrix) -> SparseMatrix:
    return x.T


@imports(ops.Cast)
def cast(importer: Importer, node: Apply, x: SparseMatrix) -> SparseMatrix:
    return x.of(convert(x.data, canonical_dtype(node.op.out_type)))


@imports(ops.SpSum)
def sum_of(importer: Importer, node: Apply, x: SparseMatrix) -> Value:
    if node.op.axis is None:
        return registry["sum"](x.data)
    kept = 1 - node.op.axis
    return scatter(x.data, [(x.rows, x.columns)[kept]], (x.shape[kept],), -1, (False,))


@imports(ops.AddSD, ops.AddSparseDense)
def add_dense(importer: Importer, node: Apply, x: SparseMatrix, y: Value) -> Value:
    return registry["add"](dense(x), y)


@imports(ops.SparseDenseMultiply, ops.MultiplySparseDense)
def multiply_dense(importer: Importer, node: Apply, x: SparseMatrix, y: Value) -> SparseMatrix:
    if y.ndim:
        for axis, (length, extent) in enumerate(zip(x.shape, y.shape, strict=True)):
            shapes.require_same(extent, length, f"the factors of {describe(node.outputs[0])} differ along axis {axis}")
        y = gather_value(y, [x.rows, x.columns], -2, checked=False)
    return x.of(registry["multiply"](x.data, y))


@imports(ops.SparseDenseVectorMultiply, ops.MultiplySparseDenseVector, ops.ColScaleCSC)
def scale_columns(importer: Importer, node: Apply, x: SparseMatrix, factors: Value) -> SparseMatrix:
    shapes.require_same(factors.shape[0], x.shape[1], f"one factor a column is needed in {describe(node.outputs[0])}")
    return x.of(registry["multiply"](x.data, gather_value(factors, [x.columns], -1, checked=False)))


@imports(ops.RowScaleCSC)
def scale_rows(importer: Importer, node: Apply, x: SparseMatrix, factors: Value) -> SparseMatrix:
    return scale_columns(importer, node, x.T, factors).T


@imports(ops.CSMProperties)
def parts(importer: Importer, node: Apply, x: SparseMatrix) -> list[Value]:
    pattern = (x.pattern.indices, x.pattern.indptr, np.array(x.shape))
    return [x.data, *[importer.capture(each.astype(np.int32), "pattern") for each in pattern]]


@imports(ops.CSM)
def of_parts(importer: Importer, node: Apply, data: Value, *given: Value) -> SparseMatrix:
    whole = describe(node.outputs[0])
    pattern = pattern_of(importer, node, given)
    if pattern is None:
        raise UnsupportedOp(f"the indices of the elements of {whole}, a sparse matrix, are no constants")
    shapes.require_same(
        data.shape[0], pattern.rows.shape[0], f"one number for each element of the pattern is needed in {whole}"
    )
    return pattern.of(data)


def pattern_of(importer: Importer, node: Apply, given: Sequence[Value]) -> SparseMatrix | None:
    """A matrix with the pattern of a `CSM`'s operands: that of another matrix, mostly; None if it is not known."""
    source = node.inputs[1].owner
    if source is not None and isinstance(source.op, ops.CSMProperties) and node.inputs[1:] == source.outputs[1:]:
        other = importer.values[source.inputs[0]]
        if other.pattern.format == node.op.format:
            return other
    known = [importer.data_of(each) for each in given]
    if any(each is None for each in known):
        return None
    indices, indptr, shape = known
    kind = {"csr": csr_matrix, "csc": csc_matrix}[node.op.format]
    return importer.known(kind((np.zeros(indices.size), indices, indptr), shape=tuple(shape)), "pattern")
