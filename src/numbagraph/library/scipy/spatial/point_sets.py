"""`scipy.spatial`: functions of sets of points, and the table of its functions, objects and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import double, known, require
from numbagraph.library.scipy.distance import cdist
from numbagraph.library.scipy.spatial import trees, triangulations


def distance_matrix(x: Any, y: Any, p: Any = 2, threshold: int = 1000000) -> Any:
    """`scipy.spatial.distance_matrix`."""
    del threshold
    one, other = double(x), double(y)
    if known(one, "distance_matrix")[1] != known(other, "distance_matrix")[1]:
        raise ValueError(
            f"x contains {one.shape[1]}-dimensional vectors but y contains {other.shape[1]}-dimensional vectors"
        )
    return cdist(one, other, "minkowski", p=p)


def minkowski_distance(x: Any, y: Any, p: float = 2.0) -> Any:
    """`scipy.spatial.minkowski_distance`."""
    return trees.length(double(x) - double(y), p)


def minkowski_distance_p(x: Any, y: Any, p: float = 2.0) -> Any:
    """`scipy.spatial.minkowski_distance_p`."""
    return trees.power_sum(double(x) - double(y), p)


def procrustes(data1: Any, data2: Any) -> tuple[Any, Any, Any]:
    """`scipy.spatial.procrustes`."""
    one, other = double(data1), double(data2)
    if one.ndim != 2 or other.ndim != 2:
        raise ValueError("Input matrices must be two-dimensional")
    shapes = known(one, "procrustes"), known(other, "procrustes")
    if shapes[0] != shapes[1]:
        raise ValueError("Input matrices must be of same shape")
    if not np.prod(shapes[0]):
        raise ValueError("Input matrices must be >0 rows and >0 cols")
    one, other = one - np.mean(one, axis=0), other - np.mean(other, axis=0)
    sizes = np.sqrt(np.sum(one * one)), np.sqrt(np.sum(other * other))
    require((sizes[0] != 0) & (sizes[1] != 0), "Input matrices must contain >1 unique points")
    one, other = one / sizes[0], other / sizes[1]
    u, values, vt = np.linalg.svd((other.T @ one).T, full_matrices=False)
    other = (other @ (u @ vt).T) * np.sum(values)
    return one, other, np.sum(np.square(one - other))


def geometric_slerp(start: Any, end: Any, t: Any, tol: float = 1e-7) -> Any:
    """`scipy.spatial.geometric_slerp`, without its warning of opposite points, to which no path is the shortest."""
    del tol
    first, last, at = double(start), double(end), double(t)
    if at.ndim > 1:
        raise ValueError("The interpolation parameter value must be one dimensional.")
    if first.ndim != 1 or last.ndim != 1:
        raise ValueError("Start and end coordinates must be one-dimensional")
    width = known(first, "geometric_slerp")[0]
    if width != known(last, "geometric_slerp")[0]:
        raise ValueError("The dimensions of start and end must match (have same size)")
    if width < 2:
        raise ValueError("The start and end coordinates must both be in at least two-dimensional space")
    for each in (first, last):
        unit = np.abs(np.linalg.norm(each) - 1.0) <= 1e-9
        require(unit, "start and end are not on a unit n-sphere", ValueError)
    dot = np.sum(first * last)
    rest = last - dot * first
    size = np.sqrt(np.sum(rest * rest))
    other = rest / np.where(size > 0, size, 1.0)
    angle = np.arctan2(size, dot)
    parts = np.expand_dims(at, -1) * angle
    return np.cos(parts) * first + np.sin(parts) * other


FUNCTIONS: dict[str, Any] = {
    "distance_matrix": distance_matrix,
    "geometric_slerp": geometric_slerp,
    "minkowski_distance": minkowski_distance,
    "minkowski_distance_p": minkowski_distance_p,
    "procrustes": procrustes,
    **trees.FUNCTIONS,
}
OBJECTS: dict[str, Any] = {}
METHODS: dict[str, dict[str, Any]] = {**trees.METHODS, **triangulations.METHODS}
