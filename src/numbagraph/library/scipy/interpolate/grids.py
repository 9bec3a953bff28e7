"""`scipy.interpolate.RegularGridInterpolator`, of values that are known or traced."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, double, known, known_number, lifted, refuse, require
from numbagraph.library.scipy.interpolate import tensor_splines
from numbagraph.library.scipy.interpolate.piecewise_polynomials import spread
from numbagraph.library.scipy.interpolate.splines import pchip
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import Tracer

DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}
"""The degrees of the methods that are products of splines. (Those that end with ``_legacy`` give the same.)"""
METHODS_OF_GRIDS = ("linear", "nearest", "pchip", *DEGREES, *(f"{name}_legacy" for name in DEGREES))


class Grid(OnlyTraced):
    """The interpolant that `scipy.interpolate.RegularGridInterpolator` makes of traced points or values."""

    __slots__ = ("_spline", "bounds_error", "fill_value", "grid", "method", "values")
    advice = "return its values at points"

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        return on_grid(self, xi, method, nu=nu)


def made(
    points: Any,
    values: Any,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Any = np.nan,
    *,
    solver: Any = None,
    solver_args: Any = None,
) -> Grid:
    """`scipy.interpolate.RegularGridInterpolator`, of traced points or values. The coefficients of splines follow from
    one system of equations for each axis; SciPy's ``solver`` comes as near to them as it is told."""
    if method not in METHODS_OF_GRIDS:
        raise ValueError(f"Method '{method}' is not defined")
    if solver is not None or solver_args:
        refuse("scipy.interpolate.RegularGridInterpolator of traced values with solver=", "leave it out")
    grid, rows = Grid(), array(values)
    rows = rows if rows.dtype.kind in "fc" else rows.astype(np.float64)
    axes: list[Any] = []
    if len(points) > rows.ndim:
        raise ValueError(f"There are {len(points)} point arrays, but values has {rows.ndim} dimensions")
    for number, each in enumerate(points):
        axis, length = double(each), known(rows, "the values on a grid")[number]
        if axis.ndim != 1:
            raise ValueError(f"The points in dimension {number} must be 1-dimensional")
        if known(axis, "the points of a grid")[0] != length:
            raise ValueError(f"There are {axis.shape[0]} points and {length} values in dimension {number}")
        axis, rows = ascending(axis, rows, number)
        axes.append(axis)
    if method == "pchip" and rows.dtype.kind == "c":
        raise ValueError("`PchipInterpolator` only works with real values.")
    grid.grid, grid.values, grid.method = tuple(axes), rows, method
    grid.bounds_error, grid.fill_value = bounds_error, fill_value
    grid._spline = spline_of(grid, method)
    return grid


def ascending(axis: Any, values: Any, number: int) -> tuple[Any, Any]:
    """Points of an axis, and the values, in the order in which the points rise."""
    falls = np.all(axis[1:] < axis[:-1])
    require(
        np.all(axis[1:] > axis[:-1]) | falls,
        f"The points in dimension {number} must be strictly ascending or descending",
    )
    if known(axis, "the points of a grid")[0] < 2:
        return axis, values
    if not isinstance(axis, Tracer):
        return (axis[::-1], np.flip(values, number)) if falls else (axis, values)
    return np.where(falls, axis[::-1], axis), np.where(falls, np.flip(values, number), values)


def spline_of(grid: Any, method: str) -> Any:
    """The product of splines of a method, None for others."""
    name = method.removesuffix("_legacy")
    if name == "pchip" or name in DEGREES:
        degree = DEGREES.get(name, 3)
        for number, axis in enumerate(grid.grid):
            length = known(array(axis), "the points of a grid")[0]
            if length <= degree:
                raise ValueError(
                    f"There are {length} points in dimension {number}, but method {method} requires at least "
                    f" {degree + 1} points per dimension."
                )
    if name not in DEGREES:
        return None
    return tensor_splines.interpolating(grid.grid, array(grid.values), (DEGREES[name],) * len(grid.grid))


def on_grid(interpolant: Any, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
    """`RegularGridInterpolator.__call__`."""
    how = interpolant.method if method is None else method
    if how not in METHODS_OF_GRIDS:
        raise ValueError(f"Method '{how}' is not defined")
    if nu is not None and how not in DEGREES:
        raise ValueError(f"Can only compute derivatives for methods {set(DEGREES)}, got method ={how!r}.")
    axes, values = interpolant.grid, array(interpolant.values)
    at = points_of(xi, len(axes))
    columns = [at[..., number] for number in range(len(axes))]
    inside: list[Any] = [(column >= axis[0]) & (column <= axis[-1]) for axis, column in zip(axes, columns, strict=True)]
    if interpolant.bounds_error:
        for number, each in enumerate(inside):
            require(np.all(each), f"One of the requested xi is out of bounds in dimension {number}")
    found = values_at(interpolant, how, axes, values, columns, nu)
    trailing = values.ndim - len(axes)
    unknown = np.any(np.isnan(at), axis=-1)
    if not interpolant.bounds_error and interpolant.fill_value is not None:
        found = np.where(spread(all_of(inside), trailing), found, interpolant.fill_value)
    return np.where(spread(unknown, trailing), np.nan, found)


def all_of(conditions: Sequence[Any]) -> Any:
    found = conditions[0]
    for each in conditions[1:]:
        found = found & each
    return found


def values_at(interpolant: Any, how: str, axes: Any, values: Any, columns: list[Any], nu: Any) -> Any:
    if how in ("linear", "nearest"):
        return in_cells(axes, values, columns, how)
    if how == "pchip":
        return by_pchip(axes, values, columns)
    own = interpolant.method == how and interpolant._spline is not None
    spline: Any = interpolant._spline if own else spline_of(interpolant, how)
    return tensor_splines.at_points(
        spline.t, array(spline.c), spline.k, columns, (0,) * len(axes) if nu is None else tuple(nu)
    )


def in_cells(axes: Sequence[Any], values: Any, columns: Sequence[Any], how: str) -> Any:
    lows, parts = [], []
    for axis, column in zip(axes, columns, strict=True):
        count = known(axis, "the points of a grid")[0]
        low = np.clip(np.searchsorted(axis, column, side="right") - 1, 0, max(count - 2, 0))
        lows.append(low)
        if count > 1:
            line = lifted(axis)
            parts.append((column - line[low]) / (line[low + 1] - line[low]))
        else:
            parts.append(0.0 * column)
    trailing, values = values.ndim - len(axes), lifted(values)
    if how == "nearest":
        return values[tuple(np.where(part <= 0.5, low, low + 1) for low, part in zip(lows, parts, strict=True))]
    return between(values, axes, lows, parts, trailing)


def between(values: Any, axes: Sequence[Any], lows: Sequence[Any], parts: Sequence[Any], trailing: int) -> Any:
    """Return the mean of the corners of a cell, with weights."""
    found: Any = None
    for corner in itertools.product((0, 1), repeat=len(axes)):
        weight: Any = 1.0
        for step, part in zip(corner, parts, strict=True):
            weight = weight * (part if step else 1.0 - part)
        places = tuple(
            np.minimum(low + step, known(axis, "the points of a grid")[0] - 1)
            for low, step, axis in zip(lows, corner, axes, strict=True)
        )
        term = values[places] * spread(weight, trailing)
        found = term if found is None else found + term
    return found


def by_pchip(axes: Sequence[Any], values: Any, columns: Sequence[Any]) -> Any:
    """Interpolate along the last axis, which leaves a smaller grid for each point, then along the others."""
    shape, count = columns[0].shape, len(axes)
    flat = [np.ravel(each) for each in columns]
    rows = np.moveaxis(pchip(axes[-1], values, count - 1)(flat[-1]), count - 1, 0)
    for number in range(count - 2, -1, -1):
        cubics = pchip(axes[number], rows, number + 1)
        line = lifted(axes[number])
        place = np.searchsorted(axes[number][1:-1], flat[number], side="right")
        point, distance = np.arange(rows.shape[0]), spread(flat[number] - line[place], rows.ndim - 2)
        found: Any = 0.0
        for power in cubics.c:
            found = found * distance + lifted(power)[place, point]
        rows = found
    return rows.reshape((*shape, *rows.shape[1:]))


def points_of(xi: Any, count: int) -> Any:
    """Return points as an array whose last dimension has their coordinates."""
    if isinstance(xi, tuple) and len(xi) == 1:
        xi = xi[0]
    if isinstance(xi, tuple):
        xi = np.stack(np.broadcast_arrays(*(double(each) for each in xi)), axis=-1)
    at = double(xi)
    if at.ndim == 1 and count == 1:
        return at[:, None]
    if at.ndim == 1:
        at = at[None]
    length = known_number(at.shape[-1], "points of a grid")
    if length != count:
        raise ValueError(
            f"The requested sample points xi have dimension {length} but this RegularGridInterpolator has dimension "
            f"{count}"
        )
    return at


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan
) -> Any:
    """`scipy.interpolate.interpn`."""
    if method == "splinef2d":
        return by_surface(points, values, xi, bounds_error, fill_value)
    if method not in METHODS_OF_GRIDS:
        raise ValueError(
            "interpn only understands the methods 'linear', 'nearest', 'slinear', 'cubic', 'quintic', 'pchip', and "
            f"'splinef2d'. You provided {method}."
        )
    return made(points, values, method, bounds_error, fill_value)(xi)


def by_surface(points: Any, values: Any, xi: Any, bounds_error: bool, fill_value: Any) -> Any:
    rows = array(values)
    if rows.ndim > 2:
        raise ValueError("The method splinef2d can only be used for 2-dimensional input data")
    if not bounds_error and fill_value is None:
        raise ValueError("The method splinef2d does not support extrapolation.")
    spline, at = tensor_splines.rectangle(points[0], points[1], rows), points_of(xi, 2)
    inside = [(at[..., n] >= points[n][0]) & (at[..., n] <= points[n][-1]) for n in range(2)]
    if bounds_error:
        for number, each in enumerate(inside):
            require(np.all(each), f"One of the requested xi is out of bounds in dimension {number}")
    return np.where(all_of(inside), spline.ev(at[..., 0], at[..., 1]), fill_value)


FUNCTIONS = {"RegularGridInterpolator": made, "interpn": interpn}
OBJECTS = {"RegularGridInterpolator": on_grid}
