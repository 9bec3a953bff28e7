"""Triangulations of `scipy.spatial`: where points are in one, and their barycentric coordinates.

SciPy's own routine finds the simplex. The coordinates are computed from the corners, so they have derivatives by the
points and by the corners.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from numbagraph.api.callbacks import pure_callback
from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import double, known, known_number, lifted
from numbagraph.library.scipy.spatial.trees import still
from numbagraph.runtime.arguments import Abstract


@lru_cache(64)
def search(triangulation: Any, bruteforce: bool, tol: float | None) -> Callable[..., Any]:
    """A search in a triangulation, as one object: a callback is known by its identity."""

    def call(xi: Any) -> Any:
        return triangulation.find_simplex(xi, bruteforce, tol)

    call.__name__ = "scipy.spatial.Delaunay.find_simplex"
    return call


def find_simplex(triangulation: Any, xi: Any, bruteforce: bool = False, tol: float | None = None) -> Any:
    """`scipy.spatial.Delaunay.find_simplex`."""
    at, width = still(double(xi)), triangulation.ndim
    if known_number(at.shape[-1], "points of a triangulation") != width:
        raise ValueError("wrong dimensionality in xi")
    like = Abstract(at.shape[:-1], np.int32)
    return pure_callback(search(triangulation, bool(bruteforce), tol), like, at, vmap_method="expand_dims")


def corners_in(triangulation: Any, at: Any) -> tuple[Any, Any, Any]:
    """The simplices of points (that of those outside is the first), the corners of each, and which are inside."""
    found = find_simplex(triangulation, at)
    simplex = np.maximum(found, 0)
    return simplex, lifted(triangulation.simplices.astype(np.int64))[simplex], found >= 0


def corners_of(points: Any, at: Any) -> tuple[Any, Any]:
    """The corners of the simplices of points in the triangulation of others, and which are inside."""
    width = known(points, "the points of a triangulation")[1]
    like = Abstract((*at.shape[:-1], width + 1), np.int64), Abstract(at.shape[:-1], np.bool_)
    found: tuple[Any, Any] = pure_callback(triangulated, like, still(points), still(at))
    return found


def triangulated(points: Any, at: Any) -> tuple[Any, Any]:
    made = load("scipy.spatial:Delaunay")(points)
    found = made.find_simplex(at)
    return made.simplices[np.maximum(found, 0)].astype(np.int64), np.asarray(found >= 0)


def barycentric(points: Any, corners: Any, at: Any) -> Any:
    """The weights of the corners of simplices whose mean is a point."""
    given = lifted(points)[corners]
    sides = given[..., :-1, :] - given[..., -1:, :]
    first = np.linalg.solve(np.swapaxes(sides, -1, -2), np.expand_dims(at - given[..., -1, :], -1))[..., 0]
    return np.concatenate([first, 1.0 - np.sum(first, axis=-1, keepdims=True)], axis=-1)


METHODS = {"Delaunay": {"find_simplex": find_simplex}}
