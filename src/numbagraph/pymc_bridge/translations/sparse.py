"""Translation of sparse matrices: their parts, and operations on each element. Where a pattern is known, products are
gathers and scatters, which fuse; else they are calls.

This module and those of products and items are imported with the first op of these: few models have one, and PyTensor's
modules take time.
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
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.indexing.gathering import gather, scatter
from numbagraph.ops.indexing.masks import selected
from numbagraph.ops.sparse import formats, pairs
from numbagraph.ops.sparse.formats import Form
from numbagraph.pymc_bridge.compatibility import sparse as ops
from numbagraph.pymc_bridge.importer import Importer, describe, imports
from numbagraph.pymc_bridge.translations.sparse_matrix import GivenPattern, KnownPattern, SparseMatrix
from numbagraph.pymc_bridge.translations.structure import elements_of, length, length_of, vector_of

INDEX = np.dtype(np.int32)
"""The dtype of PyTensor's indices."""


def form_of(importer: Importer, x: SparseMatrix) -> Form:
    """The pattern of a matrix as arrays."""
    if isinstance(x.pattern, GivenPattern):
        return x.pattern.form
    matrix = x.pattern.matrix
    indices, starts = (importer.capture(each.astype(INDEX), "pattern") for each in (matrix.indices, matrix.indptr))
    return Form(matrix.format, indices, starts, lengths_of(matrix.format, matrix.shape))


def lengths_of(name: str, shape: Sequence[Extent]) -> Value:
    """The array that has the lengths of a matrix in a compressed format."""
    return pairs.lengths_of(*(shape if name == "csr" else reversed(shape)))


def of_form(data: Value, form: Form) -> SparseMatrix:
    return SparseMatrix(GivenPattern(form), data)


def dense(x: Any) -> Value:
    """The dense array of all elements."""
    if isinstance(x, SparseMatrix):
        places, checks = x.pattern.places
        return scatter(x.data, places, x.shape, -2, checks)
    return x


def without_zeros(data: Value, form: Form) -> SparseMatrix:
    """A matrix without the elements that are zero, as SciPy makes its sums and products."""
    kept = registry["not_equal"](data, 0)
    before = registry["concatenate"]([np.zeros(1, INDEX), convert(registry["cumsum"](convert(kept, INDEX)), INDEX)])
    starts = gather.bind(before, form.second, axis=-1, checked=(True,))
    indices = selected(form.first, kept, 0)
    return of_form(selected(data, kept, 0), Form(form.name, indices, starts, form.lengths))


@imports(ops.DenseFromSparse)
def to_dense(importer: Importer, node: Apply, x: SparseMatrix) -> Value:
    return dense(x)


@imports(ops.SparseFromDense)
def from_dense(importer: Importer, node: Apply, x: Value) -> SparseMatrix:
    name = node.op.format
    rows = x if name == "csr" else registry["matrix_transpose"](x)
    kept = registry["not_equal"](rows, 0)
    ends = registry["cumsum"](registry["sum"](convert(kept, INDEX), 1, dtype=INDEX), dtype=INDEX)
    starts = registry["concatenate"]([np.zeros(1, INDEX), ends])
    indices = convert(registry["nonzero"](kept)[1], INDEX)
    return of_form(selected(rows, kept, 0), Form(name, indices, starts, lengths_of(name, x.shape)))


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
    places, checked = x.pattern.along(kept)
    return scatter(x.data, [places], (x.shape[kept],), -1, (checked,))


def require_same_shape(node: Apply, x: Any, y: Any) -> None:
    for axis, (own, its) in enumerate(zip(x.shape, y.shape, strict=True)):
        shapes.require_same(own, its, f"the operands of {describe(node.outputs[0])} differ along axis {axis}")


@imports(ops.AddSD, ops.AddSparseDense)
def add_dense(importer: Importer, node: Apply, x: SparseMatrix, y: Value) -> Value:
    return registry["add"](dense(x), y)


@imports(ops.AddSS, ops.AddSparseSparse)
def add(importer: Importer, node: Apply, x: SparseMatrix, y: SparseMatrix) -> SparseMatrix:
    if isinstance(x.pattern, KnownPattern) and x.pattern is y.pattern:
        return x.of(registry["add"](x.data, y.data))
    require_same_shape(node, x, y)
    form = form_of(importer, x)
    other, others = formats.compressed(y.data, form_of(importer, y), form.name)
    return without_zeros(*pairs.total(x.data, form, other, others))


@imports(ops.AddSSData, ops.AddSparseSparseData)
def add_elements(importer: Importer, node: Apply, x: SparseMatrix, y: SparseMatrix) -> SparseMatrix:
    require_same_shape(node, x, y)
    text = f"the operands of {describe(node.outputs[0])} must have as many elements"
    shapes.require_same(x.data.shape[0], y.data.shape[0], text)
    return x.of(registry["add"](x.data, y.data))


@imports(ops.MultiplySparseSparse, ops.SparseSparseMultiply)
def multiply(importer: Importer, node: Apply, x: SparseMatrix, y: SparseMatrix) -> SparseMatrix:
    require_same_shape(node, x, y)
    form = form_of(importer, x)
    other, others = formats.compressed(y.data, form_of(importer, y), form.name)
    return without_zeros(registry["multiply"](x.data, formats.looked_up(other, others, form)), form)


@imports(ops.SparseDenseMultiply, ops.MultiplySparseDense)
def multiply_dense(importer: Importer, node: Apply, x: SparseMatrix, y: Value) -> SparseMatrix:
    if y.ndim:
        for axis, (length, extent) in enumerate(zip(x.shape, y.shape, strict=True)):
            shapes.require_same(extent, length, f"the factors of {describe(node.outputs[0])} differ along axis {axis}")
        places, checks = x.pattern.places
        y = gather.bind(y, *places, axis=-2, checked=checks)
    return x.of(registry["multiply"](x.data, y))


def of_columns(node: Apply, x: SparseMatrix, numbers: Value) -> Value:
    """For each element the number of its column."""
    shapes.require_same(numbers.shape[0], x.shape[1], f"one factor a column is needed in {describe(node.outputs[0])}")
    places, checked = x.pattern.along(1)
    return gather.bind(numbers, places, axis=-1, checked=(checked,))


@imports(ops.SparseDenseVectorMultiply, ops.MultiplySparseDenseVector, ops.ColScaleCSC)
def scale_columns(importer: Importer, node: Apply, x: SparseMatrix, factors: Value) -> SparseMatrix:
    return x.of(registry["multiply"](x.data, of_columns(node, x, factors)))


@imports(ops.RowScaleCSC)
def scale_rows(importer: Importer, node: Apply, x: SparseMatrix, factors: Value) -> SparseMatrix:
    return scale_columns(importer, node, x.T, factors).T


@imports(ops.StructuredAddSV, ops.StructuredAddSparseDenseVector)
def add_to_columns(importer: Importer, node: Apply, x: SparseMatrix, terms: Value) -> SparseMatrix:
    total = registry["add"](x.data, of_columns(node, x, terms))
    return without_zeros(registry["where"](registry["equal"](x.data, 0), x.data, total), form_of(importer, x))


@imports(ops.CSMProperties)
def parts(importer: Importer, node: Apply, x: SparseMatrix) -> list[Value]:
    form = form_of(importer, x)
    shape = vector_of([convert(length(each), INDEX) for each in x.shape])
    return [x.data, form.first, form.second, shape]


@imports(ops.CSM)
def of_parts(importer: Importer, node: Apply, data: Value, *given: Value) -> SparseMatrix:
    pattern = pattern_of(importer, node, given)
    count = pattern.rows.shape[0] if isinstance(pattern, KnownPattern) else pattern.form.first.shape[0]
    whole = describe(node.outputs[0])
    shapes.require_same(data.shape[0], count, f"one number for each element of the pattern is needed in {whole}")
    return SparseMatrix(pattern, data)


def pattern_of(importer: Importer, node: Apply, given: Sequence[Value]) -> KnownPattern | GivenPattern:
    """A matrix with the pattern of a `CSM`'s operands: that of another matrix, mostly."""
    source = node.inputs[1].owner
    if source is not None and isinstance(source.op, ops.CSMProperties) and node.inputs[1:] == source.outputs[1:]:
        other = importer.values.get(source.inputs[0])
        if other is not None and other.pattern.format == node.op.format:
            return other.pattern
    known = [importer.data_of(each) for each in given]
    name = node.op.format
    if any(each is None for each in known):
        indices, starts, shape = given
        lengths = lengths_of(name, [length_of(each) for each in elements_of(shape, 2)])
        return GivenPattern(Form(name, convert(indices, INDEX), convert(starts, INDEX), lengths))
    indices, indptr, shape = known
    kind = {"csr": csr_matrix, "csc": csc_matrix}[name]
    return importer.known(kind((np.zeros(indices.size), indices, indptr), shape=tuple(shape)), "pattern").pattern


@imports(ops.CSMGrad)
def of_elements(importer: Importer, node: Apply, data: Value, *rest: Value) -> Value:
    """The elements of a matrix at the places of another one's."""
    indices, starts, shape, found, its_indices, its_starts, _ = rest
    rows, columns = (length_of(each) for each in elements_of(shape, 2))
    count = shapes.subtract(starts.shape[0], 1)
    # as PyTensor decides on the format, of which the parts do not tell
    is_csr = registry["equal"](shapes.as_value(count), shapes.as_value(rows))
    other = registry["where"](is_csr, shapes.as_value(columns), shapes.as_value(rows))
    lengths = pairs.lengths_of(count, length_of(other))
    form, others = (Form("csr", *each, lengths) for each in ((indices, starts), (its_indices, its_starts)))
    return formats.looked_up(found, others, form)


@imports(ops.EnsureSortedIndices)
def sort(importer: Importer, node: Apply, x: SparseMatrix) -> SparseMatrix:
    form = form_of(importer, x)
    turned = formats.compressed(x.data, form, formats.FLIPPED[form.name])
    return of_form(*formats.compressed(*turned, form.name))


@imports(ops.Remove0)
def remove_zeros(importer: Importer, node: Apply, x: SparseMatrix) -> SparseMatrix:
    return without_zeros(x.data, form_of(importer, x))
