"""Operations on sparse arrays of a format, written in ops on their elements and on the positions of these.

Positions are those of `scipy.sparse`: of a COO array the rows and the columns; of a compressed one the indices and the
beginnings. An array of shape (0, rows, columns) has its lengths, which are reversed if it is compressed by columns.
Nothing is read at a position that is out of bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.lengths import both
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.indexing.gathering import gather_value, scatter
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_at, squeeze_at, transpose
from numbagraph.ops.sparse import compressed as sparse

FLIPPED = {"csr": "csc", "csc": "csr"}


class Form(Struct, eq=False):
    """The format, the positions of the elements and the shape of a sparse array."""

    name: str
    """The name of the format."""
    first: Value
    second: Value
    lengths: Value

    @property
    def shape(self) -> tuple[Extent, Extent]:
        rows, columns = self.lengths.shape[1:]
        return (columns, rows) if self.name == "csc" else (rows, columns)

    @property
    def T(self) -> Form:
        if self.name in FLIPPED:
            return Form(FLIPPED[self.name], self.first, self.second, self.lengths)
        return Form(self.name, self.second, self.first, transpose(self.lengths, (0, 2, 1)))

    def along(self, axis: int) -> tuple[Value, bool]:
        """The position of each element along an axis, and whether its bounds must be checked."""
        if self.name == "coo":
            return not_negative((self.first, self.second)[axis]), True
        if axis == (self.name == "csc"):
            return sparse.rows(self.first, self.second, self.lengths), False
        return not_negative(self.first), True

    @property
    def coordinates(self) -> list[Value]:
        """The row and the column of each element."""
        if self.name == "coo":
            return [self.first, self.second]
        pair = [sparse.rows(self.first, self.second, self.lengths), self.first]
        return pair if self.name == "csr" else pair[::-1]

    @property
    def places(self) -> tuple[list[Value], tuple[bool, bool]]:
        """The row and the column of each element, and whether the bounds of each must be checked. The rows of a
        compressed array exist only if its columns are inside, so they need no checks."""
        if self.name == "coo":
            return [not_negative(self.first), not_negative(self.second)], (True, True)
        return self.coordinates, (False, False)

    @property
    def pattern(self) -> tuple[Value, Value, Value]:
        return self.first, self.second, self.lengths


def not_negative(positions: Value) -> Value:
    """Return positions, with the negative ones out of bounds rather than counted from the end."""
    return where(positions < 0, np.iinfo(np.int64).max, convert(positions, np.dtype(np.int64)))


def alike(left: Value, right: Value) -> list[Value]:
    dtype = np.result_type(left.dtype, right.dtype)
    return [convert(each, dtype) for each in (left, right)]


def product(data: Value, form: Form, x: Value) -> Value:
    """Return the product with a vector or a matrix."""
    columns = form.shape[1]
    inner = f"(n,k={shapes.resolve(columns)}),(k={shapes.resolve(x.shape[0])},m?)->(n,m?)"
    shapes.require_same(x.shape[0], columns, f"matmul: dimension mismatch with signature {inner}")
    data, x = alike(data, x)
    if form.name == "coo":
        (rows, checks), (places, checked) = form.along(0), form.along(1)
        terms = expand_at(data, (1,) * (x.ndim - 1)) * gather_value(x, [places], -x.ndim, checked=checked)
        return scatter(terms, [rows], (form.shape[0], *x.shape[1:]), -x.ndim, (checks,))
    op = sparse.product if form.name == "csr" else sparse.transposed_product
    return op(data, *form.pattern, x)


def dense(data: Value, form: Form) -> Value:
    places, checks = form.places
    return scatter(data, places, form.shape, -2, checks)


def factors(data: Value, form: Form, y: Value) -> Value:
    """Return the elements of a dense array by which the elements of a sparse one are multiplied: its rows or columns
    may be repeated."""
    y = expand_at(y, (0,)) if y.ndim == 1 else y
    axes = [axis for axis in range(2) if shapes.resolve(y.shape[axis]) != 1]
    rest = squeeze_at(y, [axis for axis in range(2) if axis not in axes])
    if not axes:
        return rest
    text = f"inconsistent shapes {shapes.shape_text(form.shape)} and {shapes.shape_text(y.shape)}"
    pairs = zip(*form.places, strict=True) if len(axes) == 2 else map(form.along, axes)
    places, checks = zip(*pairs, strict=True)
    places = [spread(place, y.shape[axis], form.shape[axis], text) for axis, place in zip(axes, places, strict=True)]
    return registry["gather"].bind(rest, *places, axis=-len(axes), checked=checks)


def spread(place: Value, extent: Extent, length: Extent, text: str) -> Value:
    """Return positions along an axis of an array whose length may turn out to be 1; then all are 0."""
    if shapes.not_one(extent) or shapes.same(extent, length):
        shapes.require_same(extent, length, text)
        return place
    single, fits = shapes.compare("equal", extent, 1), shapes.compare("equal", extent, length)
    shapes.require(both(single, fits, "logical_or"), text)
    return where(single, 0, place)


def total(data: Value, form: Form, axis: int, dtype: np.dtype) -> Value:
    """Return the sums along an axis."""
    ones = filled(number_as(1, dtype), (form.shape[axis],))
    return product(convert(data, dtype), form if axis == 1 else form.T, ones)


def diagonal(data: Value, form: Form, k: int) -> Value:
    """Return the elements of a diagonal."""
    rows, columns = form.shape
    length = shapes.minimum(shapes.add(rows, min(k, 0)), shapes.subtract(columns, max(k, 0)))
    length = shapes.maximum(length, 0)
    (row, column), _ = form.places
    row, column = (convert(each, np.dtype(np.int64)) for each in (row, column))
    inside = registry["equal"](row + k, column)
    behind = shapes.as_value(length)  # for all others
    place = where(inside, column if k < 0 else row, behind)
    return scatter(data, [place], (shapes.add(length, 1),), -1, (True,))[:behind]


def transposition(form: Form) -> tuple[Value, Form]:
    """Return the numbers of the elements in the order of the other compressed format, and their positions in it."""
    found: Any = sparse.transposition(*form.pattern)
    order, indices, starts = found
    lengths = transpose(form.lengths, (0, 2, 1))
    return order, Form(FLIPPED[form.name], indices, starts, lengths)


def compressed(data: Value, form: Form, name: str) -> tuple[Value, Form]:
    """Return an array in a compressed format; elements at one place stay apart."""
    if form.name == name:
        return data, form
    if form.name in FLIPPED:
        order, found = transposition(form)
        return gather_value(data, [order], -1, checked=False), found
    form = form if name == "csr" else form.T
    _, minor, lengths = form.pattern
    order, starts = by_rows(form)
    data, minor = (gather_value(each, [order], -1, checked=False) for each in (data, minor))
    return data, Form(name, minor, starts, lengths)


def one_row(form: Form, axis: int) -> Form:
    """Return a matrix of one row, whose columns are the positions of a COO array's elements along an axis."""
    places = (form.first, form.second)[axis]
    row = filled(number_as(0, form.lengths.dtype), (0, 1, form.shape[axis]))
    count = shapes.as_value(places.shape[0])
    ends = registry["stack"]([convert(each, places.dtype) for each in (number_as(0, count.dtype), count)])
    return Form("csr", places, ends, row)


def by_rows(form: Form) -> tuple[Value, Value]:
    """Return the numbers of a COO array's elements row by row, and the beginnings of rows."""
    found: Any = sparse.transposition(*one_row(form, 0).pattern)
    order, _, starts = found
    return order, starts


def distinct(data: Value, form: Form) -> Value:
    """Return the elements; raise if two of them are at one place."""
    if form.name != "coo":
        return sparse.distinct(data, *form.pattern)
    order, starts = by_rows(form)
    ordered, columns = (gather_value(each, [order], -1, checked=False) for each in (data, form.second))
    checked = sparse.distinct(ordered, columns, starts, form.lengths)
    return scatter(checked, [order], data.shape, -1, (False,))


def looked_up(data: Value, form: Form, others: Form) -> Value:
    """Return the elements of an array at the places of another one's, or zero; both are compressed in one way."""
    for axis, (own, its) in enumerate(zip(form.shape, others.shape, strict=True)):
        shapes.require_same(own, its, f"inconsistent shapes: axis {axis} of two sparse arrays")
    return sparse.looked_up(data, form.first, form.second, others.first, others.second, others.lengths)


def solve_triangular(data: Value, form: Form, b: Value, *, lower: bool, unit_diagonal: bool) -> Value:
    """Return the solution of a triangular system."""
    rows, columns = form.shape
    shapes.require_same(rows, columns, f"A must be a square matrix but its shape is {shapes.shape_text(form.shape)}.")
    shapes.require_same(b.shape[0], rows, "the right-hand side of spsolve_triangular must have as many rows as A")
    dtype = np.promote_types(np.promote_types(data.dtype, np.float32), b.dtype)
    data, right = convert(data, dtype), convert(b, dtype)
    right = expand_at(right, (1,)) if b.ndim == 1 else right
    trans = form.name == "csc"
    found = sparse.solve_triangular(
        data, *form.pattern, right, lower=lower != trans, trans=trans, unit_diagonal=unit_diagonal
    )
    return squeeze_at(found, (1,)) if b.ndim == 1 else found
