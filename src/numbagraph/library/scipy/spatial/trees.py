"""Nearest points: `scipy.spatial.KDTree` and `cKDTree`, of points that are known or traced.

A search among few points looks at all of them. Others are SciPy's own, whose indices have no derivative. Distances are
computed from the points that were found, so they have derivatives by all points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from numbagraph.api.callbacks import pure_callback
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir.op import load, registry
from numbagraph.library.scipy.arguments import array, double, known, known_number, lifted, refuse, require
from numbagraph.runtime.arguments import Abstract
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import Tracer, apply

MOST_COMPARED = 1000
"""For how many points, times the number of neighbours, all are looked at. SciPy's search of 1,000 takes 0.7 µs of a
point, and so does this."""


class Tree(OnlyTraced):
    """The tree that `scipy.spatial.KDTree` makes of traced points."""

    __slots__ = ("boxsize", "data", "m", "n")
    advice = "return distances and indices, tree.query(x)"

    def __init__(self, data: Any, *_: Any, boxsize: Any = None, **__: Any) -> None:
        points = array(data)
        if points.dtype.kind == "c":
            raise TypeError("KDTree does not work with complex data")
        if points.ndim != 2:
            raise ValueError("data must be of shape (n, m), where there are n points of dimension m")
        self.data, self.boxsize = points.astype(np.float64), boxsize
        self.n, self.m = known(points, "the points of a tree")
        require(np.all(np.isfinite(self.data)), "data must be finite, check for nan or inf values")

    def query(self, x: Any, *args: Any, **options: Any) -> Any:
        return query(self, x, *args, **options)

    def query_ball_point(self, x: Any, r: Any, *args: Any, **options: Any) -> Any:
        return query_ball_point(self, x, r, *args, **options)

    def count_neighbors(self, other: Any, r: Any, *args: Any, **options: Any) -> Any:
        return count_neighbors(self, other, r, *args, **options)

    def query_pairs(self, *_: Any, **__: Any) -> Any:
        refuse("scipy.spatial.KDTree.query_pairs of traced points", LISTS)


LISTS = "the data decide how many there are: np.nonzero(scipy.spatial.distance.cdist(x, y) <= r) gives them in order"


def still(x: Any) -> Any:
    return apply(registry["stop_gradient"], x) if isinstance(x, Tracer) else x


def rows_of(x: Any, width: int) -> Any:
    """Points as rows, one after another."""
    at = array(x)
    if at.dtype.kind == "c":
        raise TypeError("KDTree does not work with complex data")
    at = at.astype(np.float64)
    if not at.ndim or known_number(at.shape[-1], "a search") != width:
        raise ValueError(f"x must consist of vectors of length {width} but has shape {at.shape}")
    require(np.all(np.isfinite(at)), "'x' must be finite, check for nan or inf values")
    return at


def away(tree: Any, difference: Any) -> Any:
    """Differences of points, in a box whose sides are one the shortest ones."""
    if tree.boxsize is None:
        return difference
    box = np.broadcast_to(np.asarray(tree.boxsize, np.float64), (tree.m,))
    sides = np.where(box > 0, box, 1.0)
    return np.where(box > 0, difference - sides * np.round(difference / sides), difference)


def power_sum(difference: Any, p: float) -> Any:
    """A power of the lengths of vectors, which has their order."""
    if p == 2:
        return np.sum(difference * difference, axis=-1)
    if p == 1:
        return np.sum(np.abs(difference), axis=-1)
    return np.max(np.abs(difference), axis=-1) if np.isinf(p) else np.sum(np.abs(difference) ** p, axis=-1)


def length(difference: Any, p: float) -> Any:
    """The lengths of vectors. The derivative of one without length is zero."""
    if p == 2:
        return np.linalg.norm(difference, axis=-1)
    powers = power_sum(difference, p)
    if p == 1 or np.isinf(p):
        return powers
    some = powers > 0
    return np.where(some, np.where(some, powers, 1.0) ** (1.0 / p), 0.0)


def order_of(p: Any) -> float:
    if is_traced(p):
        refuse("scipy.spatial.KDTree with a traced p", "name it in static_argnames")
    if p < 1:
        raise ValueError("Only p-norms with 1<=p<=infinity permitted")
    return float(p)


def query(
    tree: Any, x: Any, k: Any = 1, eps: Any = 0, p: Any = 2, distance_upper_bound: Any = np.inf, workers: int = 1
) -> tuple[Any, Any]:
    """`scipy.spatial.KDTree.query`. Of several points at a distance, the first may be another than SciPy's."""
    del workers
    if k is None:
        raise ValueError("k must be an integer or a sequence of integers")
    order, at = order_of(p), rows_of(x, tree.m)
    ranks = [int(each) for each in k] if np.ndim(k) else list(range(1, int(k) + 1))
    if not ranks or min(ranks) < 1:
        raise ValueError("k must be a positive integer or a sequence of positive integers")
    places = nearest(tree, at, max(ranks), order, float(eps))
    points = lifted(tree.data)
    none = still(at[..., :1]) * 0.0
    distances, indices = [], []
    for rank in ranks:
        if rank > tree.n:
            distances.append(none + np.inf)
            indices.append(none.astype(np.int64) + tree.n)
            continue
        place = places[..., rank - 1]
        gap = length(away(tree, at - points[place]), order)
        inside = gap < distance_upper_bound
        distances.append(np.expand_dims(np.where(inside, gap, np.inf), -1))
        indices.append(np.expand_dims(np.where(inside, place, tree.n), -1))
    if not np.ndim(k) and len(ranks) == 1:
        return distances[0][..., 0], indices[0][..., 0]
    return np.concatenate(distances, axis=-1), np.concatenate(indices, axis=-1)


def nearest(tree: Any, at: Any, count: int, order: float, eps: float = 0.0) -> Any:
    """The indices of the nearest points, in order."""
    points, at = still(tree.data), still(at)
    count = min(count, tree.n)
    if tree.n * count <= MOST_COMPARED:
        return compared(tree, points, at, count, order)
    like = Abstract((*at.shape[:-1], count), np.int64)
    if isinstance(points, Tracer):
        box = None if tree.boxsize is None else tuple(np.broadcast_to(tree.boxsize, (tree.m,)).tolist())
        return pure_callback(search_in(count, order, eps, box), like, points, at)
    own = tree if not isinstance(tree, Tree) else load("scipy.spatial:cKDTree")(points, boxsize=tree.boxsize)
    return pure_callback(search(own, count, order, eps), like, at, vmap_method="expand_dims")


def compared(tree: Any, points: Any, at: Any, count: int, order: float) -> Any:
    """Look at all points, and again for each further neighbour."""
    powers = power_sum(away(tree, np.expand_dims(at, -2) - points), order)
    found = []
    for number in range(count):
        place = np.argmin(powers, axis=-1)
        found.append(place)
        if number + 1 < count:
            powers = np.where(np.arange(tree.n) == np.expand_dims(place, -1), np.inf, powers)
    return np.stack(found, axis=-1)


Search = Callable[..., Any]


@lru_cache(64)
def search(tree: Any, count: int, order: float, eps: float) -> Search:
    """A search in a tree, as one object: a callback is known by its identity."""

    def call(x: Any) -> Any:
        return np.reshape(tree.query(x, count, eps, order)[1], (*x.shape[:-1], count)).astype(np.int64)

    call.__name__ = "scipy.spatial.KDTree.query"
    return call


@lru_cache(64)
def search_in(count: int, order: float, eps: float, box: Any) -> Search:
    """A search among points, for which a tree is made."""

    def call(points: Any, x: Any) -> Any:
        tree = load("scipy.spatial:cKDTree")(points, boxsize=box)
        return np.reshape(tree.query(x, count, eps, order)[1], (*x.shape[:-1], count)).astype(np.int64)

    call.__name__ = "scipy.spatial.KDTree.query"
    return call


def query_ball_point(
    tree: Any,
    x: Any,
    r: Any,
    p: Any = 2.0,
    eps: Any = 0,
    workers: int = 1,
    return_sorted: Any = None,
    return_length: bool = False,
) -> Any:
    """`scipy.spatial.KDTree.query_ball_point` with ``return_length=True``."""
    del workers, return_sorted
    if not return_length:
        refuse("scipy.spatial.KDTree.query_ball_point without return_length=True", LISTS)
    order, at = order_of(p), still(rows_of(x, tree.m))
    radius = np.broadcast_to(double(r), at.shape[:-1])
    points = still(tree.data)
    if tree.n <= MOST_COMPARED or isinstance(points, Tracer):
        bound = np.expand_dims(bound_of(radius, order), -1)
        powers = power_sum(away(tree, np.expand_dims(at, -2) - points), order)
        return np.sum(powers <= bound, axis=-1)
    like = Abstract(at.shape[:-1], np.int64)
    return pure_callback(ball(tree, order, float(eps)), like, at, radius, vmap_method="broadcast_all")


def bound_of(radius: Any, order: float) -> Any:
    """The power of a radius with which those of lengths are compared."""
    return radius if order == 1 or np.isinf(order) else radius**order


@lru_cache(64)
def ball(tree: Any, order: float, eps: float) -> Search:
    def call(x: Any, r: Any) -> Any:
        return np.asarray(tree.query_ball_point(x, r, order, eps, return_length=True), np.int64)

    call.__name__ = "scipy.spatial.KDTree.query_ball_point"
    return call


def count_neighbors(tree: Any, other: Any, r: Any, p: Any = 2.0, weights: Any = None, cumulative: bool = True) -> Any:
    """`scipy.spatial.KDTree.count_neighbors`."""
    if weights is not None or not cumulative:
        refuse("scipy.spatial.KDTree.count_neighbors with weights or cumulative=False", "np.diff of what it counts")
    order, radii = order_of(p), double(r)
    if radii.ndim > 1:
        raise ValueError("r must be either a single value or a one-dimensional array of values")
    one, two = still(tree.data), still(other.data)
    if not is_traced((one, two)) and math.prod((tree.n, other.n)) > MOST_COMPARED:
        return pure_callback(pairs(tree, other, order), Abstract(radii.shape, np.int64), radii)
    powers = np.ravel(power_sum(away(tree, np.expand_dims(one, 1) - two), order))
    return np.sum(lifted(powers) <= np.expand_dims(bound_of(radii, order), -1), axis=-1)


@lru_cache(64)
def pairs(tree: Any, other: Any, order: float) -> Search:
    def call(r: Any) -> Any:
        return np.asarray(tree.count_neighbors(other, r, order), np.int64)

    call.__name__ = "scipy.spatial.KDTree.count_neighbors"
    return call


NAMES = ("KDTree", "cKDTree")
FUNCTIONS = dict.fromkeys(NAMES, Tree)
METHODS = {
    name: {"query": query, "query_ball_point": query_ball_point, "count_neighbors": count_neighbors} for name in NAMES
}
