"""Interpolants of `scipy.interpolate` of points without an order: linear and smooth ones on triangles, and the value
of the nearest point."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import array, double, known, known_number, lifted, refuse
from numbagraph.library.scipy.interpolate.cubic_triangles import cubic_values, slopes_of, transition
from numbagraph.library.scipy.interpolate.interp1d import interpolated
from numbagraph.library.scipy.interpolate.piecewise_polynomials import spread
from numbagraph.library.scipy.spatial.trees import Tree, query
from numbagraph.library.scipy.spatial.triangulations import barycentric, corners_in, corners_of
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import Tracer


class Scattered(OnlyTraced):
    """The interpolant that a class of `scipy.interpolate` makes of traced points or values."""

    __slots__ = ("call", "fill_value", "grad", "offset", "points", "scale", "tree", "tri", "values", "values_shape")
    advice = "return its values at points"

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.call(self, *args, **options)


def coordinates(points: Any, count: int | None = None) -> Any:
    """Points as an array whose last dimension has their coordinates."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*(double(each) for each in points)), axis=-1)
    at = double(points)
    if at.ndim == 1:
        return at[:, None] if count is None else np.reshape(at, (-1, count))
    return at


def made(points: Any, values: Any, fill_value: Any, rescale: bool, call: Any, width: int | None = None) -> Scattered:
    found = Scattered()
    found.call, found.fill_value = call, fill_value
    place = coordinates(points) if not hasattr(points, "simplices") else double(points.points)
    rows = array(values)
    count, found_width = known(place, "the points of an interpolant")
    if place.ndim != 2:
        raise ValueError("invalid shape for input data points")
    shape = known(rows, "the values of an interpolant")
    if count != shape[0]:
        raise ValueError("different number of values and points")
    if width is not None and found_width != width:
        raise ValueError(f"this mode of interpolation available only for {width}-D data")
    if found_width < 2:
        raise ValueError("input data must be at least 2-D")
    found.values = rows.astype(np.complex128 if rows.dtype.kind == "c" else np.float64).reshape((count, -1))
    found.values_shape, found.tri = shape[1:], points if hasattr(points, "simplices") else None
    found.offset, found.scale = scaling(place, rescale and found.tri is None)
    found.points = place if found.scale is None else (place - found.offset) / found.scale
    return found


def scaling(points: Any, rescale: bool) -> tuple[Any, Any]:
    """The mean and extent of points, which become zero and one."""
    if not rescale:
        return None, None
    extent = np.max(points, axis=0) - np.min(points, axis=0)
    return np.mean(points, axis=0), np.where(extent > 0, extent, 1.0)


def triangulation_of(interpolant: Any) -> Any:
    """The triangulation of an interpolant; None where it depends on traced points."""
    if interpolant.tri is None and not isinstance(interpolant.points, Tracer):
        interpolant.tri = load("scipy.spatial:Delaunay")(interpolant.points)
    return interpolant.tri


def scaled(interpolant: Any, args: tuple[Any, ...]) -> Any:
    width = known(array(interpolant.points), "the points of an interpolant")[1]
    at = coordinates(args, width)
    if known_number(at.shape[-1], "points of an interpolant") != width:
        raise ValueError("number of dimensions in xi does not match x")
    return at if interpolant.scale is None else (at - interpolant.offset) / interpolant.scale


def filled(interpolant: Any, found: Any, inside: Any) -> Any:
    """Values of one point after another, with those outside, in the shape of the interpolant's values."""
    found = np.where(spread(inside, 1), found, interpolant.fill_value)
    return found.reshape((*inside.shape, *interpolant.values_shape))


def linear(interpolant: Any, *args: Any) -> Any:
    """`scipy.interpolate.LinearNDInterpolator.__call__`."""
    at, points = scaled(interpolant, args), array(interpolant.points)
    triangulation = triangulation_of(interpolant)
    if triangulation is None:
        corners, inside = corners_of(points, at)
    else:
        _, corners, inside = corners_in(triangulation, at)
    weights = barycentric(points, corners, at)
    found = np.sum(spread(weights, 1) * lifted(array(interpolant.values))[corners], axis=-2)
    return filled(interpolant, found, inside)


def linear_of(points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False) -> Scattered:
    """`scipy.interpolate.LinearNDInterpolator`, of traced points or values."""
    return made(points, values, fill_value, rescale, linear)


def cubic(interpolant: Any, *args: Any) -> Any:
    """`scipy.interpolate.CloughTocher2DInterpolator.__call__`."""
    at, triangulation = scaled(interpolant, args), triangulation_of(interpolant)
    simplex, corners, inside = corners_in(triangulation, at)
    weights = barycentric(interpolant.points, corners, at)
    values, slopes = array(interpolant.values), array(interpolant.grad)
    beside = lifted(transition(triangulation))[simplex]
    found = cubic_values(lifted(interpolant.points)[corners], lifted(values)[corners], lifted(slopes)[corners],
                         weights, beside)  # fmt: skip
    return filled(interpolant, found, inside)


def cubic_of(
    points: Any, values: Any, fill_value: Any = np.nan, tol: float = 1e-6, maxiter: int = 400, rescale: bool = False
) -> Scattered:
    """`scipy.interpolate.CloughTocher2DInterpolator` of traced values. Slopes follow from one system of equations,
    to which SciPy comes as near as ``tol``."""
    del tol, maxiter
    if is_traced(points):
        refuse(
            "scipy.interpolate.CloughTocher2DInterpolator of traced points",
            "scipy.interpolate.LinearNDInterpolator or RBFInterpolator",
        )
    found = made(points, values, fill_value, rescale, cubic, 2)
    found.grad = slopes_of(triangulation_of(found), found.values)
    return found


def nearest(interpolant: Any, *args: Any, **options: Any) -> Any:
    """`scipy.interpolate.NearestNDInterpolator.__call__`."""
    at, values = nearest_scaled(interpolant, args), array(interpolant.values)
    distance, place = query(interpolant.tree, at, **options)
    rows = lifted(values if values.dtype.kind == "c" else values.astype(np.float64))
    inside = np.isfinite(distance)
    found = rows[np.where(inside, place, 0)]
    return np.where(spread(inside, values.ndim - 1), found, np.nan)


def nearest_scaled(interpolant: Any, args: tuple[Any, ...]) -> Any:
    at = coordinates(args, interpolant.tree.m)
    if known_number(at.shape[-1], "points of an interpolant") != interpolant.tree.m:
        raise ValueError("number of dimensions in xi does not match x")
    return at if interpolant.scale is None else (at - interpolant.offset) / interpolant.scale


def nearest_of(x: Any, y: Any, rescale: bool = False, tree_options: Any = None) -> Scattered:
    """`scipy.interpolate.NearestNDInterpolator`, of traced points or values."""
    del tree_options
    found, points = Scattered(), coordinates(x)
    found.call, found.values = nearest, array(y)
    if known(points, "the points of an interpolant")[0] != known(found.values, "the values of an interpolant")[0]:
        raise ValueError("different number of values and points")
    found.offset, found.scale = scaling(points, rescale)
    found.points = points if found.scale is None else (points - found.offset) / found.scale
    found.tree = Tree(found.points)
    return found


def griddata(
    points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = np.nan, rescale: bool = False
) -> Any:
    """`scipy.interpolate.griddata`."""
    place = coordinates(points)
    width = known(place, "the points of an interpolant")[-1] if place.ndim > 1 else 1
    if width == 1 and method in ("nearest", "linear", "cubic"):
        return on_line(np.ravel(place), array(values), xi, method, fill_value)
    if method == "nearest":
        return nearest_of(place, values, rescale)(xi)
    if method == "linear":
        return linear_of(place, values, fill_value, rescale)(xi)
    if method == "cubic" and width == 2:
        return cubic_of(place, values, fill_value, rescale=rescale)(xi)
    raise ValueError(f"Unknown interpolation method {method!r} for {width} dimensional data")


def on_line(points: Any, values: Any, xi: Any, method: str, fill_value: Any) -> Any:
    if isinstance(xi, tuple):
        if len(xi) != 1:
            raise ValueError("invalid number of dimensions in xi")
        (xi,) = xi
    fill = "extrapolate" if method == "nearest" else fill_value
    return interpolated(points, values, method, axis=0, bounds_error=False, fill_value=fill)(xi)


FUNCTIONS = {
    "CloughTocher2DInterpolator": cubic_of,
    "LinearNDInterpolator": linear_of,
    "NearestNDInterpolator": nearest_of,
    "griddata": griddata,
}
OBJECTS = {
    "CloughTocher2DInterpolator": cubic,
    "LinearNDInterpolator": linear,
    "NearestNDInterpolator": nearest,
}
