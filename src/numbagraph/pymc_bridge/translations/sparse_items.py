"""Translation of parts of sparse matrices: rows, elements and slices, with PyTensor's own derivatives of them, and
matrices put side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply

from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.creation import iota
from numbagraph.ops.indexing.gathering import gather_value, scatter
from numbagraph.ops.indexing.masks import selected
from numbagraph.ops.indexing.subscripts import index, set_index
from numbagraph.ops.sparse import columns, formats, pairs
from numbagraph.ops.sparse.formats import Form
from numbagraph.pymc_bridge.compatibility import sparse as ops
from numbagraph.pymc_bridge.importer import Importer, describe, imports
from numbagraph.pymc_bridge.translations.indexing import part
from numbagraph.pymc_bridge.translations.sparse import INDEX, form_of, lengths_of, of_form
from numbagraph.pymc_bridge.translations.sparse_matrix import SparseMatrix
from numbagraph.pymc_bridge.translations.structure import length_of


def positions(numbers: Value, extent: Extent) -> Value:
    """Positions along an axis of some length, counted from its begin, which are required to be inside."""
    return index(iota(extent), (numbers,))


def chosen(data: Value, form: Form, wanted: Value, axis: int) -> tuple[Value, Form]:
    """Rows or columns at some positions."""
    choose = pairs.chosen_rows if form.name == ("csr", "csc")[axis] else columns.chosen_columns
    return choose(data, form, wanted)


@imports(ops.GetItemList)
def rows_of(importer: Importer, node: Apply, x: SparseMatrix, numbers: Value) -> SparseMatrix:
    return of_form(*chosen(x.data, form_of(importer, x), positions(numbers, x.shape[0]), 0))


@imports(ops.GetItemListGrad)
def rows_put(importer: Importer, node: Apply, x: SparseMatrix, numbers: Value, given: SparseMatrix) -> SparseMatrix:
    """A matrix with some rows. Of several for one place the last one counts, as in PyTensor."""
    count, extent = shapes.as_value(numbers.shape[0]), x.shape[0]
    shapes.require_same(given.shape[0], numbers.shape[0], f"{describe(node.outputs[0])}: one row for each place")
    shapes.require_same(given.shape[1], x.shape[1], f"{describe(node.outputs[0])}: rows of the matrix's length")
    nothing = registry["full"]((extent,), convert(count, INT64))
    source = set_index(nothing, (positions(numbers, extent),), iota(numbers.shape[0]))
    name = x.pattern.format
    data, form = formats.compressed(given.data, form_of(importer, given), name)
    return of_form(*chosen(data, with_empty_row(form), source, 0))


def with_empty_row(form: Form) -> Form:
    """A pattern with one more row, which has no elements."""
    rows, count = form.shape
    starts = form.second if form.name == "csc" else registry["concatenate"]([form.second, form.second[-1:]])
    return Form(form.name, form.first, starts, lengths_of(form.name, (shapes.add(rows, 1), count)))


def in_order(x: SparseMatrix, first: Value, second: Value) -> tuple[Value, Value, Extent]:
    """Places in the order of a compressed matrix's axes: the number of its row, if it is compressed by rows, and that
    of its column, and the length of the first axis."""
    places = [positions(each, extent) for each, extent in zip((first, second), x.shape, strict=True)]
    if x.pattern.format == "csr":
        return places[0], places[1], x.shape[0]
    return places[1], places[0], x.shape[1]


def starts_of(rows: Value, extent: Extent) -> Value:
    """The beginnings of rows, of the row of each element, which ascend."""
    return convert(registry["searchsorted"](rows, iota(shapes.add(extent, 1))), INDEX)


@imports(ops.GetItem2Lists)
def elements_of(importer: Importer, node: Apply, x: SparseMatrix, first: Value, second: Value) -> Value:
    require_pairs(node, first, second)
    form = form_of(importer, x)
    major, minor, extent = in_order(x, first, second)
    order = registry["argsort"](major, kind="stable")
    rows, others = (gather_value(each, [order], -1, checked=False) for each in (major, minor))
    wanted = Form(form.name, convert(others, INDEX), starts_of(rows, extent), form.lengths)
    found = formats.looked_up(x.data, form, wanted)
    return scatter(found, [order], order.shape, -1, (False,))


def require_pairs(node: Apply, first: Value, *others: Value) -> None:
    for each in others:
        shapes.require_same(each.shape[0], first.shape[0], f"{describe(node.outputs[0])}: places of as many rows")


@imports(ops.GetItem2ListsGrad)
def elements_put(
    importer: Importer, node: Apply, x: SparseMatrix, first: Value, second: Value, given: Value
) -> SparseMatrix:
    """A matrix of some elements. Of several for one place the last one counts, as in PyTensor."""
    require_pairs(node, first, second, given)
    form = form_of(importer, x)
    major, minor, extent = in_order(x, first, second)
    key = major * shapes.as_value(form.lengths.shape[2]) + minor
    order = registry["argsort"](key, kind="stable")
    ordered = gather_value(key, [order], -1, checked=False)
    following = registry["concatenate"]([ordered[1:], np.full(1, -1)])[: shapes.as_value(ordered.shape[0])]
    is_last = registry["not_equal"](ordered, following)
    own = [selected(gather_value(each, [order], -1, checked=False), is_last, 0) for each in (major, minor, given)]
    rows, others, data = own
    return of_form(data, Form(form.name, convert(others, INDEX), starts_of(rows, extent), form.lengths))


@imports(ops.GetItemScalar)
def element(importer: Importer, node: Apply, x: SparseMatrix, row: Value, column: Value) -> Value:
    places = []
    for number, extent, name in zip((row, column), x.shape, ("row", "column"), strict=True):
        length, number = shapes.as_value(extent), convert(number, INT64)
        inside = registry["logical_and"](registry["greater_equal"](number, -length), registry["less"](number, length))
        shapes.require(inside, f"{name} index out of bounds", IndexError)
        places.append(registry["where"](registry["less"](number, 0), number + length, number))
    return pairs.element(x.data, form_of(importer, x), *places)


@imports(ops.GetItem2d)
def slices_of(importer: Importer, node: Apply, x: SparseMatrix, *ends: Any) -> SparseMatrix:
    data, form = x.data, form_of(importer, x)
    for axis, (key, extent) in enumerate(zip((slice(*ends[:3]), slice(*ends[3:])), x.shape, strict=True)):
        if key != slice(None):
            data, form = chosen(data, form, sliced(key, extent), axis)
    return of_form(data, form)


def sliced(key: slice, extent: Extent) -> Value:
    """The positions that a slice has, whose step may be known only when the graph runs."""
    known = part(slice(key.start, key.stop))
    step = part(key.step)
    if not isinstance(step, Value):
        return index(iota(extent), (slice(known.start, known.stop, step),))
    step, length = convert(step, INT64), shapes.as_value(extent)
    shapes.require(registry["not_equal"](step, 0), "slice step cannot be zero", ValueError)
    backwards = registry["less"](step, 0)
    least = registry["where"](backwards, -1, 0)
    most = registry["where"](backwards, length - 1, length)

    def end(given: Any, default: Value) -> Value:
        if given is None:
            return default
        number = convert(shapes.as_value(given), INT64)
        number = registry["where"](registry["less"](number, 0), number + length, number)
        return registry["minimum"](registry["maximum"](number, least), most)

    start = end(known.start, registry["where"](backwards, most, least))
    stop = end(known.stop, registry["where"](backwards, least, most))
    past = stop - start + step - registry["sign"](step)
    count = registry["maximum"](registry["floor_divide"](past, step), 0)
    return start + step * iota(length_of(count))


@imports(ops.Diag)
def diagonal(importer: Importer, node: Apply, x: SparseMatrix) -> Value:
    rows, columns = map(shapes.as_value, x.shape)
    is_square = registry["equal"](rows, columns)
    importer.require(is_square, "Diag only apply on square matrix", ValueError, node.outputs[0])
    return formats.diagonal(x.data, form_of(importer, x), 0)


@imports(ops.HStack, ops.VStack)
def stack(importer: Importer, node: Apply, *blocks: SparseMatrix) -> SparseMatrix:
    axis = 1 if isinstance(node.op, ops.HStack) else 0
    own = blocks[0].shape[1 - axis]
    coordinates: list[Sequence[Value]] = []
    end: Extent = 0
    for each in blocks:
        other = each.shape[1 - axis]
        shapes.require_same(other, own, f"{node.op}: Mismatching dimensions along axis {1 - axis}", ValueError)
        places = form_of(importer, each).coordinates
        begin = convert(shapes.as_value(end), INDEX)
        coordinates.append([each + begin if number == axis else each for number, each in enumerate(places)])
        end = shapes.add(end, each.shape[axis])
    rows, below = ([convert(each, INDEX) for each in some] for some in zip(*coordinates, strict=True))
    joined = [joined_vectors(each) for each in (rows, below)]
    data = joined_vectors([each.data for each in blocks])
    lengths = pairs.lengths_of(own, end) if axis else pairs.lengths_of(end, own)
    form = Form("coo", joined[0], joined[1], lengths)
    return of_form(*formats.compressed(data, form, node.op.format))


def joined_vectors(vectors: Sequence[Value]) -> Value:
    return vectors[0] if len(vectors) == 1 else registry["concatenate"](vectors, 0)
