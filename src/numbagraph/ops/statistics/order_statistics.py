"""Selection: elements by their place in sorted order, and arrays that are parted at such places, without sorting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import core_op, draw
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.intrinsics.emitters import partitions
from numbagraph.ir import shapes
from numbagraph.ir.op import load
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Op, Value
from numbagraph.ops.indexing.gathering_rows import scatter_along
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.selection import DISCRETE
from numbagraph.ops.statistics.sorting import comparable


def scratch_of(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> list[tuple[np.dtype, Any]]:
    """Return the scratch memory: that of a `Selection`, and a key and a position for each place."""
    n, m = (lengths["n"],), (lengths["m"],)
    return [(dtype, n), (INT64, n), (dtype, n), (INT64, n), (dtype, n), (dtype, m), (INT64, m)]


def select_array(xp: Any, a: Any, places: Any) -> tuple[Any, Any]:
    batch, n = np.broadcast_shapes(a.shape[:-1], places.shape[:-1]), a.shape[-1]
    if not n:
        return xp.zeros((*batch, places.shape[-1]), a.dtype), xp.zeros((*batch, places.shape[-1]), np.int64)
    a = xp.broadcast_to(a, (*batch, n))
    places = xp.clip(xp.broadcast_to(places, (*batch, places.shape[-1])), 0, n - 1)
    positions = xp.take_along_axis(xp.argsort(a, axis=-1, stable=True), places, axis=-1)
    return xp.take_along_axis(a, positions, axis=-1), positions.astype(int)


def select_vjp(given: Mapping[int, Value], y: Value, a: Value, places: Value) -> tuple[Value | None, ...]:
    """Return the cotangent of the elements, scattered to where these are. An additional element takes the cotangents
    for an empty vector."""
    g, positions, extent = given[0], select.bind(a, places, result=1), a.shape[-1]
    spread = scatter_along(g, positions, (*g.shape[:-1], shapes.add(extent, 1)), g.ndim - 1)
    return narrow(spread, -1, 0, extent), None


def places_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return samples of sorted places: the same for all rows, or its own for each. Arrays of integers have equal
    elements."""
    if dtype.kind in "bc":
        return []
    few, rows = rng.permutation(40).astype(dtype), draw(rng, dtype, (3, 9))
    places = [np.array(each) for each in ([3], [0, 7, 8, 39], [1, 8], [[2], [4], [8]])]
    return [(few, places[0]), (few, places[1]), (rows, places[2]), (rows, places[3])]


def keys_and_places(op: Op, a: Any, places: Any, **attrs: Any) -> Value:
    return op.bind(comparable(as_value(a), op.name), convert(as_value(places), INT64), **attrs)


select = core_op(
    None,
    "(n),(m)->(m),(m)",
    name="order_statistics",
    evaluate=lambda a, places: select_array(np, a, places),
    library=partitions.select,
    threaded=False,
    frontend=lambda op, a, places: tuple(keys_and_places(op, a, places, result=result) for result in (0, 1)),
    vjp=select_vjp,
    jnp=lambda a, places: select_array(load("jax:numpy"), a, places),
    dtypes=lambda dtype, *_: (dtype, INT64),
    scratch=scratch_of,
    samples=places_samples,
)
"""The elements at some places of a sorted vector, and their positions; equal elements keep their order."""


def parted(xp: Any, a: Any, places: Any) -> Any:
    """Return the positions of the elements, parted at sorted places."""
    batch, n = np.broadcast_shapes(a.shape[:-1], places.shape[:-1]), a.shape[-1]
    a, places = (xp.broadcast_to(each, (*batch, each.shape[-1])) for each in (a, places))
    ranks = xp.argsort(xp.argsort(a, axis=-1, stable=True), axis=-1)[..., None]
    places = xp.clip(places, 0, max(n - 1, 0))[..., None, :]
    part = 2 * xp.sum(ranks > places, axis=-1) + xp.any(ranks == places, axis=-1)
    return xp.argsort(part, axis=-1, stable=True).astype(int)


def part_vjp(g: Value, y: Value, a: Value, places: Value) -> tuple[Value | None, ...]:
    return scatter_along(g, argpart.bind(a, places), g.shape, g.ndim - 1), None


def parted_array(xp: Any, a: Any, places: Any) -> Any:
    positions = parted(xp, a, places)
    return xp.take_along_axis(xp.broadcast_to(a, positions.shape), positions, axis=-1)


argpart = core_op(
    None,
    "(n),(m)->(n)",
    name="parted_positions",
    evaluate=lambda a, places: parted(np, a, places),
    library=partitions.argpart,
    threaded=False,
    frontend=keys_and_places,
    vjp=DISCRETE,
    jnp=lambda a, places: parted(load("jax:numpy"), a, places),
    dtypes=lambda dtype, *_: (INT64,),
    scratch=scratch_of,
    samples=places_samples,
)
"""The positions of the elements that `part` gives."""

part = core_op(
    None,
    "(n),(m)->(n)",
    name="parted",
    evaluate=lambda a, places: parted_array(np, a, places),
    library=partitions.part,
    threaded=False,
    frontend=keys_and_places,
    vjp=part_vjp,
    jnp=lambda a, places: parted_array(load("jax:numpy"), a, places),
    scratch=scratch_of,
    samples=places_samples,
)
"""The elements before, at, and behind some places of a sorted vector, which are in order; each part keeps its order."""


def elements_at(rows: Value, places: Value) -> Value:
    """Return the elements of rows at places of their sorted order: its own places for each row, or the same for all."""
    return select.bind(comparable(rows, "order statistics"), places, result=0)
