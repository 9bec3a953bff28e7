"""Norms of vectors, and those of matrices that are sums or extrema; traces."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64, real_dtype
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import absolute, sqrt
from numbagraph.ops.comparison import equal, logical_or, not_equal
from numbagraph.ops.diagonals import diagonal
from numbagraph.ops.reduction import max, min, sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_dims, move, squeeze
from numbagraph.ops.statistics.moments import flat_at_zero, squared_size


def trace_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    matrix, stack = draw(rng, dtype, (3, 4)), draw(rng, dtype, (2, 3, 4))
    return [(matrix,), (matrix, 1), (stack, 0, 1, 2), (stack, -1, 2, 0)]


@decomposition(np.trace, samples=trace_samples, ulp=4)
def trace(a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None) -> Value:
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)


def norm_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    vector, matrix = draw(rng, dtype, (4,)), draw(rng, dtype, (3, 4))
    vectors = [(vector, order) for order in (None, 2, 1, 0, 3, 0.5, np.inf, -np.inf)]
    matrices = [(matrix, order) for order in (None, "fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf)]
    return [*vectors, *matrices, (matrix, None, 0), (matrix, 1, -1, True), (matrix, "fro", (0, 1), True)]


@decomposition(np.linalg.norm, samples=norm_samples, ulp=8, scalar=True)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Value:
    value = as_value(x)
    value = convert(value, FLOAT64) if value.dtype.kind in "biu" else value
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else range(value.ndim) if axis is None else (axis,)
    counted = tuple(shapes.normalise_axis(each, value.ndim) for each in axes)
    if ord is None and (axis is None or len(counted) < 3):
        return euclidean(value, counted, keepdims)
    if len(counted) == 1:
        return vector_norm(value, ord, counted, keepdims)
    if len(counted) == 2 and len(set(counted)) == 2:
        return matrix_norm(value, ord, counted, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def euclidean(value: Value, axes: tuple[int, ...], keepdims: bool) -> Value:
    return flat_at_zero(sqrt, sum(squared_size(value), axes, keepdims=keepdims))


def vector_norm(value: Value, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Value:
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order {ord!r} for vectors")
    if isinstance(ord, Value):
        return norm_of_order(value, ord, axes, keepdims)
    if ord == 2:
        return euclidean(value, axes, keepdims)
    if ord == 0:
        return sum(convert(not_equal(value, 0), real_dtype(value.dtype)), axes, keepdims=keepdims)
    if abs(ord) == np.inf:
        return extremum(absolute(value), ord, axes, keepdims)
    size = absolute(value)
    if ord == 1:
        return sum(size, axes, keepdims=keepdims)
    return flat_at_zero(lambda total: total ** (1 / ord), sum(size**ord, axes, keepdims=keepdims))


def norm_of_order(value: Value, ord: Value, axes: tuple[int, ...], keepdims: bool) -> Value:
    """Return the norm of an order that is known only at run time; for 0 and the infinities, the formula has other
    limits."""
    if ord.ndim:
        raise TypeError(f"the order of a norm is one number, not {ord.type}")
    order = convert(ord, real_dtype(value.dtype)) if ord.type.weak else ord
    count, largest, smallest = (equal(order, each) for each in (0, np.inf, -np.inf))
    inner, size = where(logical_or(logical_or(count, largest), smallest), 2, order), absolute(value)
    powers = flat_at_zero(lambda total: total ** (1 / inner), sum(size**inner, axes, keepdims=keepdims))
    found = where(count, vector_norm(value, 0, axes, keepdims), powers)
    found = where(largest, max(size, axes, keepdims=keepdims, initial=0), found)
    return where(smallest, min(size, axes, keepdims=keepdims, initial=np.inf), found)


def singular_norm(value: Value, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Value:
    """Return the largest singular value, the smallest, or the sum of all."""
    values = registry["svdvals"](move(value, [axis + value.ndim for axis in axes], [value.ndim - 2, value.ndim - 1]))
    found = sum(values, -1) if ord == "nuc" else max(values, -1, initial=0) if ord > 0 else min(values, -1)
    return expand_dims.bind(found, axes=tuple(sorted(axes))) if keepdims else found


def extremum(sizes: Value, ord: float, axes: tuple[int, ...], keepdims: bool) -> Value:
    """Return the largest size, which is 0 where there is none; or the smallest."""
    return max(sizes, axes, keepdims=keepdims, initial=0) if ord > 0 else min(sizes, axes, keepdims=keepdims)


def matrix_norm(value: Value, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Value:
    if isinstance(ord, Value):
        raise TypeError(
            "the order of a matrix norm must be known when the function is traced: name it in static_argnames"
        )
    if ord in ("fro", "f"):
        return euclidean(value, axes, keepdims)
    if ord in (2, -2, "nuc"):
        return singular_norm(value, ord, axes, keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError("Invalid norm order for matrices.")
    summed, other = axes if abs(ord) == 1 else axes[::-1]
    sums = sum(absolute(value), summed, keepdims=True)
    result = extremum(sums, ord, (other,), keepdims=True)
    return result if keepdims else squeeze.bind(result, axes=tuple(sorted(axes)))
