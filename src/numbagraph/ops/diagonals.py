"""Diagonals of matrices, and matrices of diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import give_batch
from numbagraph.blockwise.kinds import decomposition, draw, view
from numbagraph.blockwise.lengths import as_extent, less
from numbagraph.blockwise.lowering import Index, Pull, extent_scalar
from numbagraph.blockwise.promotion import as_strong, as_value
from numbagraph.intrinsics.emitters import integers
from numbagraph.intrinsics.emitters.ir import index_operation, literal
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import ArrayType, Extent, Node, Op, Value
from numbagraph.ops.comparison import equal
from numbagraph.ops.creation import iota, number_as, tri, zeros
from numbagraph.ops.indexing.gathering import gather_value, scatter
from numbagraph.ops.shape import expand_dims, move


def main_diagonal_type(value: Value) -> ArrayType:
    return value.type.with_shape((*value.shape[:-2], shapes.minimum(*value.shape[-2:])))


def diagonal_matrix(value: Value, shape: Sequence[Extent]) -> Value:
    """Return the matrices of a shape that have these diagonals, and are zero elsewhere."""
    rows, columns = shape
    if not shapes.same(rows, columns):
        return scatter(value, diagonal_places(shape, 0), shape, -2, (False, False))
    on_diagonal = equal(expand_dims.bind(iota(rows), axes=(-1,)), iota(columns))
    return registry["where"](on_diagonal, expand_dims.bind(value, axes=(-1,)), number_as(0, value.dtype))


main_diagonal = view(
    None,
    name="main_diagonal",
    source_index=lambda node, index: (*index, index[-1]),
    infer=main_diagonal_type,
    frontend=lambda op, a: op.bind(as_value(a)),
    evaluate=lambda a: a.diagonal(0, -2, -1),
    vjp=lambda g, y, x: (diagonal_matrix(g, x.shape[-2:]),),
    samples=lambda rng, dtype: [(draw(rng, dtype, shape),) for shape in ((3, 3), (2, 4), (4, 2), (5, 3, 3), (0, 0))],
)


def beside_diagonal(value: Value, offset: Any) -> Value:
    """Return the matrix with a vector on a diagonal beside the main one. (A scatter adds to zeros, so that -0 would
    become 0.)"""
    right = known_offset(offset)
    blank = zeros((abs(right),), value.dtype)
    rows = registry["concatenate"]([value, blank] if right > 0 else [blank, value])
    numbers = iota(rows.shape[0])
    on_diagonal = equal(expand_dims.bind(numbers, axes=(-1,)) + right, numbers)
    return registry["where"](on_diagonal, expand_dims.bind(rows, axes=(-1,)), number_as(0, value.dtype))


def known_offset(offset: Any) -> int:
    offset = as_extent(offset, "the offset of a diagonal")
    if not isinstance(offset, int):
        raise TypeError("the offset of a diagonal must be known when the function is traced: use static_argnames")
    return offset


def diagonal_places(shape: Sequence[Extent], offset: Any) -> tuple[Value, Value]:
    """Return the row and the column of each element of a diagonal of the last two dimensions."""
    offset = known_offset(offset)
    rows, columns = shape[-2:]
    down, right = max(-offset, 0), max(offset, 0)
    length = shapes.minimum(less(rows, down), less(columns, right))
    numbers = iota(length)
    return numbers + down if down else numbers, numbers + right if right else numbers


@decomposition(
    np.diagonal,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3, 4)),),
        (draw(rng, dtype, (3, 4)), 1),
        (draw(rng, dtype, (3, 4)), -2),
        (draw(rng, dtype, (3, 4, 2)), 0, 0, 2),
    ],
    view_of=True,
)
def diagonal(a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> Value:
    value = as_value(a)
    axes = [shapes.normalise_axis(axis, value.ndim) + value.ndim for axis in (axis1, axis2)]
    if axes[0] == axes[1]:
        raise ValueError("axis1 and axis2 cannot be the same")
    value = move(value, axes, [value.ndim - 2, value.ndim - 1])
    if as_extent(offset, "the offset of a diagonal") == 0:
        return main_diagonal.bind(value)
    return gather_value(value, diagonal_places(value.shape, offset), -2, checked=False)


@decomposition(
    np.diag,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3, 4)),),
        (draw(rng, dtype, (3, 4)), 1),
        (draw(rng, dtype, (3,)),),
        (draw(rng, dtype, (3,)), -1),
    ],
    view_of=lambda v, k=0: v if np.ndim(v) == 2 else None,
)
def diag(v: Any, k: Any = 0) -> Value:
    value = as_value(v)
    if value.ndim == 2:
        return diagonal(value, k)
    if value.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    if as_extent(k) == 0:
        return diagonal_matrix(value, (value.shape[0], value.shape[0]))
    return beside_diagonal(value, k)


def above_diagonal_type(value: Value) -> ArrayType:
    *outer, rows, columns = value.shape
    count = shapes.require_same(rows, columns, "The matrix must be square")
    pairs = shapes.floor_divide(shapes.multiply(count, shapes.subtract(count, 1)), 2)
    return value.type.with_shape((*outer, pairs))


def above_diagonal_pieces(node: Node) -> list[tuple[Value, lowering.IndexMap]]:
    (value,) = node.inputs
    if shapes.resolve(value.shape[-1]) == 1:
        return []  # there would be no loop to be left out
    count = extent_scalar(value.shape[-1])

    def index_map(index: Index, pull: Pull) -> Index:
        *outer, row, column = index
        rest = lowering.subtract(lowering.multiply(count, literal(2)), lowering.add(row, literal(3)))
        before = index_operation("divide", integers.divide, lowering.multiply(row, rest), literal(2))
        return (*outer, lowering.add(before, lowering.subtract(column, literal(1))))

    return [(value, index_map)]


def above_diagonal_vjp(g: Value, y: Value, x: Value) -> tuple[Value]:
    """Return the cotangent of the matrices. Each element not above the diagonal reads a zero that stands behind the
    cotangents."""
    columns, count = iota(x.shape[-1]), shapes.as_value(x.shape[-1])
    rows = expand_dims.bind(columns, axes=(-1,))
    numbers = rows * (2 * count - 3 - rows) // 2 + columns - 1
    places = registry["where"](registry["less"](rows, columns), numbers, shapes.as_value(g.shape[-1]))
    rest = zeros((*g.shape[:-1], 1), dtype=g.dtype)
    return (gather_value(registry["concatenate"]([g, rest], axis=-1), (places,), -1, checked=False),)


above_diagonal = registry.register(
    Op(
        name="above_diagonal",
        kind="indexing",
        reference=lambda a: a[(..., *np.triu_indices(a.shape[-1], 1))],
        infer=above_diagonal_type,
        frontend=lambda op, a: op.bind(as_value(a)),
        lower=lowering.Assemble(above_diagonal_pieces, begin=lambda index: lowering.add(index[-2], literal(1))),
        vjp=above_diagonal_vjp,
        batch=lambda op, inputs, batched: op.bind(*give_batch(inputs, batched)),
        jnp=lambda a: a[(..., *np.triu_indices(a.shape[-1], 1))],
        samples=lambda rng, dtype: [
            (draw(rng, dtype, shape),) for shape in ((5, 5), (2, 1, 1), (3, 2, 2), (0, 0), (2, 9, 9))
        ],
        zero_dim="array",
    )
)
"""The elements above the diagonal of square matrices, row after row: SciPy's condensed form of distances."""


def declare_triangle(reference: Any, lower: bool) -> Op:
    """Declare an operation on the last two dimensions; a vector stands for each row of a square matrix, since it
    broadcasts."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        return [*[(draw(rng, dtype, (3, 4)), k) for k in (0, 1, -1)], (draw(rng, dtype, (3,)),)]

    def triangle(m: Any, k: Any = 0) -> Value:
        value = as_strong(m)
        if not value.ndim:
            raise TypeError(f"{reference.__name__} takes an array of at least one dimension")
        mask = tri(value.shape[-min(value.ndim, 2)], value.shape[-1], k=k if lower else as_extent(k) - 1, dtype=bool)
        zero = number_as(0, value.dtype)
        return registry["where"](mask, value, zero) if lower else registry["where"](mask, zero, value)

    return decomposition(reference, samples=samples)(triangle)


tril = declare_triangle(np.tril, lower=True)
triu = declare_triangle(np.triu, lower=False)
