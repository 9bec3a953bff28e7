"""Positions of elements: by number in memory and by dimension; positions of diagonals and triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.lengths import as_length, as_shape, both
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Extent, Value, constant
from numbagraph.ops.comparison import greater_equal, less, logical_and, maximum, minimum
from numbagraph.ops.creation import iota, tri
from numbagraph.ops.indexing.data_dependent_lengths import nonzero


def integers(given: Any, what: str) -> Value:
    value = as_value(given)
    if value.dtype.kind not in "iu":
        raise TypeError(f"{what} must be integers, not {value.dtype}")
    return convert(value, INT64)


def require(condition: Value, text: str) -> None:
    shapes.require(registry["all"](condition) if condition.ndim else condition, text, ValueError)


def in_order(shape: Any, order: str) -> list[Extent]:
    """Return lengths, with the one whose positions change fastest last."""
    lengths = list(as_shape(shape))
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    return lengths if order == "C" else lengths[::-1]


def unravel_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype != np.int64:
        return []
    return [(rng.integers(0, 42, (3, 2)), (7, 6)), (rng.integers(0, 42, 5), (7, 6), "F"), (rng.integers(0, 5, 4), 5)]


@decomposition(np.unravel_index, samples=unravel_samples)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Value, ...]:
    rest, lengths = integers(indices, "indices"), in_order(shape, order)
    count = shapes.as_value(shapes.product(lengths))
    text = f"index is out of bounds for array with size {shapes.resolve(shapes.product(lengths))}"
    require(logical_and(greater_equal(rest, 0), less(rest, count)), text)
    found = []
    for length in reversed(lengths):
        extent = shapes.as_value(shapes.maximum(length, 1))
        found.append(registry["remainder"](rest, extent))
        rest = registry["floor_divide"](rest, extent)
    return tuple(found if order == "F" else found[::-1])


def ravel_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype != np.int64:
        return []
    rows, columns = rng.integers(0, 7, 5), rng.integers(0, 6, 5)
    outside = rng.integers(-9, 19, 5)
    calls: list[tuple[Any, ...]] = [((rows, columns), (7, 6)), ((rows, columns), (7, 6), "raise", "F")]
    return [*calls, ((outside, columns), (7, 6), "clip"), ((rows, outside), (7, 6), ("raise", "wrap"))]


@decomposition(np.ravel_multi_index, samples=ravel_samples)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Value:
    parts = list(multi_index) if isinstance(multi_index, (tuple, list)) else rows_of(multi_index, dims)
    positions, lengths = [integers(each, "indices") for each in parts], in_order(dims, "C")
    modes = list(mode) if isinstance(mode, (tuple, list)) else [mode] * len(lengths)
    if len(positions) != len(lengths):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(lengths)}")
    inside = [brought_inside(*each) for each in zip(positions, lengths, modes, strict=True)]
    pairs = list(zip(inside, lengths, strict=True))
    total: Any = 0
    for position, length in pairs if order == "C" else reversed(pairs):
        total = total * shapes.as_value(length) + position
    in_order(dims, order)
    return as_strong(total)


def rows_of(array: Any, dims: Any) -> Sequence[Value]:
    return [as_value(array)[number] for number in range(len(dims))]


def brought_inside(position: Value, length: Extent, mode: str) -> Value:
    extent = shapes.as_value(length)
    if mode in ("clip", "wrap"):
        text = "cannot unravel if shape has zero entries (is empty)."
        nothing = shapes.compare("equal", shapes.product(position.shape), 0)
        shapes.require(both(shapes.compare("greater", length, 0), nothing, "logical_or"), text, ValueError)
    if mode == "clip":
        return minimum(maximum(position, 0), extent - 1)
    if mode == "wrap":
        return registry["remainder"](position, extent)
    if mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    require(logical_and(greater_equal(position, 0), less(position, extent)), "invalid entry in coordinates array")
    return position


def square(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, dtype, (3, 3)),)]


def wide(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, dtype, (3, 4)),), (draw(rng, dtype, (3, 4)), 1), (draw(rng, dtype, (4, 3)), -1)]


@decomposition(np.diag_indices_from, samples=square)
def diag_indices_from(arr: Any) -> tuple[Value, ...]:
    value = as_value(arr)
    if value.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for length in value.shape[1:]:
        shapes.require_same(value.shape[0], length, "All dimensions of input must be of equal length", ValueError)
    return tuple(iota(value.shape[0]) for _ in range(value.ndim))


@decomposition(np.diag_indices, samples=lambda rng, dtype: [(3,), (4, 3)])
def diag_indices(n: Any, ndim: int = 2) -> tuple[Value, ...]:
    return tuple(iota(as_length(n)) for _ in range(ndim))


@decomposition(np.tril_indices, samples=lambda rng, dtype: [(3,), (4, 1), (3, -1, 5)])
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    return known_places(np.tril_indices, n, k, m) or nonzero(tri(n, m, k=k, dtype=bool))


@decomposition(np.triu_indices, samples=lambda rng, dtype: [(3,), (4, 1), (3, -1, 5)])
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    outside = tri(n, m, k=as_value(k) - 1, dtype=bool)
    return known_places(np.triu_indices, n, k, m) or nonzero(registry["logical_not"](outside))


def known_places(function: Any, n: Any, k: Any, m: Any) -> tuple[Value, ...] | None:
    """Return the places of a triangle, as constants, if its lengths are all Python ints; else None."""
    if not all(isinstance(each, int) for each in (n, k, n if m is None else m)):
        return None
    return tuple(map(constant, function(n, k, m)))


@decomposition(np.tril_indices_from, samples=wide)
def tril_indices_from(arr: Any, k: Any = 0) -> Any:
    rows, columns = matrix_shape(arr)
    return tril_indices(rows, k, columns)


@decomposition(np.triu_indices_from, samples=wide)
def triu_indices_from(arr: Any, k: Any = 0) -> Any:
    rows, columns = matrix_shape(arr)
    return triu_indices(rows, k, columns)


def matrix_shape(arr: Any) -> shapes.Shape:
    value = as_value(arr)
    if value.ndim != 2:
        raise ValueError("input array must be 2-d")
    return value.shape
