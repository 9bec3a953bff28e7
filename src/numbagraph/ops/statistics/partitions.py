"""Partly sorted arrays, and orders by several keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import core_op, decomposition, draw
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.intrinsics.emitters import sorting
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import COMPLEX64, COMPLEX128, INT64
from numbagraph.ir.values import Op, Value
from numbagraph.ops.comparison import equal
from numbagraph.ops.creation import along, iota, number_as
from numbagraph.ops.indexing.gathering_rows import gather_along
from numbagraph.ops.joining import as_sequence
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.reduction import all
from numbagraph.ops.selection import DISCRETE, cast, where
from numbagraph.ops.shape import broadcast_value, move, ravel
from numbagraph.ops.statistics.order_statistics import argpart, part, parted
from numbagraph.ops.statistics.sorting import argsort, sort, with_axis


def in_parts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap NumPy's function so that each part keeps its order, which NumPy leaves open."""

    def reference(a: np.ndarray, kth: Any, axis: Any = -1) -> np.ndarray:
        function(a, kth, axis)  # which refuses what is out of bounds
        array = np.ravel(a) if axis is None else a
        rows = np.moveaxis(array, -1 if axis is None else axis, -1)
        places = np.unique(np.ravel(kth) % rows.shape[-1])
        order = parted(np, rows, places)
        found = np.take_along_axis(rows, order, -1) if function is np.partition else order
        return np.moveaxis(found, -1, -1 if axis is None else axis)

    reference.__name__ = function.__name__
    return reference


def partition_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "c":
        return []
    numbers = rng.permutation(2 if dtype.kind == "b" else 12).astype(dtype)
    return [(numbers, 1), (numbers[:12].reshape(2, -1), [0, -1], 0), (numbers, -1, None)]


def places_in(value: Value, kth: Any, axis: int) -> Value:
    """Return the places of sorted elements at which an array is parted, in order."""
    positions, length = as_value(kth), shapes.as_value(value.shape[axis])
    if positions.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    inside = (positions >= -length) & (positions < length) | equal(length, 0)
    shapes.require(all(inside) if inside.ndim else inside, f"kth(={kth}) out of bounds", ValueError)
    places = ravel(where(positions < 0, positions + length, positions))
    return sort(places) if positions.ndim else places


def parting(op: Op, a: Any, kth: Any, axis: Any) -> Value:
    value, axis = with_axis(a, axis)
    last = value.ndim - 1
    places = places_in(value, kth, axis)
    return move(op(move(value, [axis], [last]), places), [last], [axis])


@decomposition(in_parts(np.partition), name="partition", implements=(np.partition,), samples=partition_samples)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: None = None) -> Value:
    value = as_value(a)
    return convert(parting(part, value, kth, axis), value.dtype)


@decomposition(in_parts(np.argpartition), name="argpartition", implements=(np.argpartition,), samples=partition_samples)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: None = None) -> Value:
    return parting(argpart, a, kth, axis)


def lexsort_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "c":
        return []
    keys = [rng.integers(0, 2 if dtype.kind == "b" else 4, (3, 9)).astype(dtype) for _ in range(3)]
    pair = (keys[0], keys[1])
    return [(pair,), (tuple(keys),), (pair, 0), ((keys[0],),)]


@decomposition(np.lexsort, samples=lexsort_samples, scalar=True)
def lexsort(keys: Any, axis: int = -1) -> Value:
    values = as_sequence(keys)
    if not values:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if len({each.ndim for each in values}) > 1:
        raise ValueError("all keys need to be the same shape")
    if not values[0].ndim:
        return registry["asarray"](number_as(0, INT64))
    place = shapes.normalise_axis(axis, values[0].ndim) + values[0].ndim
    for key in values:
        for one, other in zip(key.shape, values[0].shape, strict=True):
            shapes.require_same(one, other, "all keys need to be the same shape", ValueError)
    order = broadcast_value(along(iota(values[0].shape[place]), place, values[0].ndim), values[0].shape)
    for key in values:
        step = argsort(gather_along(key, order, place, checked=False), place, kind="stable")
        order = gather_along(order, step, place, checked=False)
    return order


def ordered_array(a: np.ndarray, **_: Any) -> np.ndarray:
    return np.lexsort(np.moveaxis(a, -1, 0)[::-1]) if a.shape[-1] else np.arange(a.shape[-2])


def ordered_jnp(a: Any, **_: Any) -> Any:
    jnp = load("jax:numpy")
    if not a.shape[-1]:
        return jnp.arange(a.shape[-2], dtype=int)
    return jnp.lexsort(jnp.moveaxis(a, -1, 0)[::-1]).astype(int)


def row_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind in "bc":
        return []
    rows = rng.integers(0, 3, (20, 3)).astype(dtype)
    return [(rows,), (rows[:, :1],), (rows[:, :0],), (rows[:1],)]


order_of_rows = core_op(
    None,
    "(n,m)->(n)",
    name="order_of_rows",
    evaluate=reference("(n,m)->(n)")(ordered_array),
    library=sorting.order_of_rows,
    threaded=False,
    frontend=lambda op, a: op.bind(as_value(a), on_error="raise"),
    vjp=DISCRETE,
    jnp=ordered_jnp,
    dtypes=lambda dtype, *_: (INT64,),
    scratch=lambda dtype, lengths, **_: [(each, (lengths["n"],)) for each in (dtype, INT64, INT64)],
    samples=row_samples,
)
"""The positions of the rows of a matrix in lexicographic order; equal rows keep their order."""


@decomposition(np.sort_complex, samples=lambda rng, dtype: [(draw(rng, dtype, (7,)),)])
def sort_complex(a: Any) -> Value:
    value = as_strong(a)
    shapes.normalise_axis(-1, value.ndim)
    if value.dtype.kind == "c":
        return sort(value)
    return cast(sort(value), COMPLEX64 if value.dtype.char in "bBhH" else COMPLEX128)
