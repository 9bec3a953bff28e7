"""`scipy.interpolate`: splines and interpolants that were made outside, evaluated at traced points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.frontend.scipy_functions import nodes
from numbagraph.frontend.scipy_functions.common import array, double, known, lifted, refuse, require
from numbagraph.frontend.tracing import Tracer
from numbagraph.ir.op import load


def of_rows(values: Any, at: Any, axis: int) -> Any:
    """Results whose first dimensions are those of the points, with these at the place of the axis."""
    count = at.ndim
    order = [*range(count, count + axis), *range(count), *range(count + axis, values.ndim)]
    return np.transpose(values, order) if axis else values


def spread(at: Any, trailing: int) -> Any:
    """Points, with dimensions for what is interpolated."""
    return at.reshape((*at.shape, *(1,) * trailing)) if trailing else at


def wrapped(at: Any, first: Any, last: Any) -> Any:
    return first + np.mod(at - first, last - first)


def piecewise(spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.PPoly` and its kin, by Horner's scheme."""
    if nu < 0:
        return piecewise(spline.antiderivative(-nu), x, 0, extrapolate)
    how = spline.extrapolate if extrapolate is None else extrapolate
    knots, c = np.asarray(spline.x), np.asarray(spline.c)
    at = double(x)
    if how == "periodic":
        at, how = wrapped(at, knots[0], knots[-1]), False
    order = c.shape[0]
    if nu >= order:
        c = np.zeros_like(c[:1])
    else:
        factors = [np.prod(np.arange(power - nu + 1, power + 1, dtype=float)) for power in range(order - 1, nu - 1, -1)]
        c = c[: order - nu] * np.reshape(factors, (-1, *(1,) * (c.ndim - 1))) if nu else c
    inner = knots[1:-1]
    place = np.searchsorted(inner, at, side="right") if knots[-1] > knots[0] else descending(inner, at)
    rows = [lifted(row) for row in c]
    trailing = c.ndim - 2
    distance = spread(at - lifted(knots)[place], trailing)
    found: Any = rows[0][place] + 0.0 * distance if len(rows) == 1 else rows[0][place]
    for row in rows[1:]:
        found = found * distance + row[place]
    outside = np.isnan(at)
    if not how:
        low, high = min(knots[0], knots[-1]), max(knots[0], knots[-1])
        outside = outside | (at < low) | (at > high)
    return of_rows(np.where(spread(outside, trailing), np.nan, found), at, spline.axis)


def descending(inner: Any, at: Any) -> Any:
    return np.searchsorted(-inner, -at, side="right")


def b_spline(spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.BSpline`, by the algorithm of de Boor."""
    how = spline.extrapolate if extrapolate is None else extrapolate
    if nu < 0:
        refuse("scipy.interpolate.BSpline with a negative nu", "spline.antiderivative() outside")
    if nu > spline.k:
        refuse("a derivative of scipy.interpolate.BSpline beyond its degree", "it is zero")
    at, t, k = double(x), np.asarray(spline.t), spline.k
    count = len(t) - k - 1
    first, last = t[k], t[count]
    if how == "periodic":
        at, how = wrapped(at, first, last), False
    trailing = np.ndim(spline.c) - 1
    slope = spline.derivative(nu) if nu else spline
    found = de_boor(np.asarray(slope.t), np.asarray(slope.c), slope.k, at)
    outside = np.isnan(at)
    if not how:
        outside = outside | (at < first) | (at > last)
    return of_rows(np.where(spread(outside, trailing), np.nan, found), at, spline.axis)


def de_boor(t: Any, c: Any, k: int, at: Any) -> Any:
    """The value of a spline. [de Boor, A Practical Guide to Splines, chapter X]"""
    count = len(t) - k - 1
    place = k + np.searchsorted(t[k + 1 : count], at, side="right")
    c, t = lifted(c), lifted(t)
    parts = [c[place + (number - k)] for number in range(k + 1)]
    knots = {number: t[place + number] for number in range(1 - k, k + 1)}
    trailing = c.ndim - 1
    for level in range(1, k + 1):
        for number in range(k, level - 1, -1):
            left, right = knots[number - k], knots[number + 1 - level]
            alpha = spread((at - left) / (right - left), trailing)
            parts[number] = (1.0 - alpha) * parts[number - 1] + alpha * parts[number]
    return parts[k] + 0.0 * spread(at, trailing) if not k else parts[k]


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """`scipy.interpolate.splev`."""
    spline = tck if hasattr(tck, "t") else load("scipy.interpolate:BSpline")(*tck)
    if isinstance(spline.c, (Tracer, list)):
        refuse("scipy.interpolate.splev of a curve", "call it for each of its coordinates")
    at = array(x)
    if not 0 <= der <= spline.k:
        raise ValueError(f"0<=der={der}<=k={spline.k} must hold")
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    low, high = spline.t[spline.k], spline.t[-spline.k - 1]
    outside = (at < low) | (at > high)
    if ext == 2:
        require(~np.any(outside), "Out of bounds")
    found = b_spline(spline, np.clip(at, low, high) if ext == 3 and not der else at, der, True)
    return np.where(outside, 0.0, found) if ext == 1 else found


def univariate(spline: Any, x: Any, nu: int = 0, ext: Any = None) -> Any:
    """`scipy.interpolate.UnivariateSpline` and its kin."""
    names: dict[Any, Any] = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}
    how = spline.ext if ext is None else ext
    return splev(x, spline._eval_args, nu, names.get(how, how))


def interp1d(interpolant: Any, x: Any) -> Any:
    """`scipy.interpolate.interp1d`."""
    at = double(x)
    kind = interpolant._kind
    points, y, axis = np.asarray(interpolant.x), np.asarray(interpolant.y), interpolant.axis % np.ndim(interpolant.y)
    rows = np.moveaxis(y, axis, 0)
    rows = rows if rows.dtype.kind in "fc" else rows.astype(np.float64)
    trailing, rows = rows.ndim - 1, lifted(rows)
    if kind == "linear":
        found = on_lines(points, rows, at, trailing)
    elif kind in ("nearest", "nearest-up", "previous", "next"):
        found = at_steps(points, rows, at, kind)
    else:
        refuse("scipy.interpolate.interp1d with a spline", "scipy.interpolate.make_interp_spline(x, y, k) is it")
    below, above = (at < points[0]), (at > points[-1])
    if interpolant.bounds_error:
        require(~np.any(below), "A value in x_new is below the interpolation range.")
        require(~np.any(above), "A value in x_new is above the interpolation range.")
    fill = interpolant.fill_value
    if not (isinstance(fill, str) and fill == "extrapolate"):
        low, high = fill if isinstance(fill, tuple) and len(fill) == 2 else (fill, fill)
        found = np.where(spread(below, trailing), low, np.where(spread(above, trailing), high, found))
    return of_rows(found, at, axis)


def on_lines(points: Any, rows: Any, at: Any, trailing: int) -> Any:
    high = np.clip(np.searchsorted(points, at), 1, len(points) - 1)
    points = lifted(points)
    low = high - 1
    slope = (rows[high] - rows[low]) / spread(points[high] - points[low], trailing)
    return slope * spread(at - points[low], trailing) + rows[low]


def at_steps(points: Any, rows: Any, at: Any, kind: str) -> Any:
    last = len(points) - 1
    if kind in ("nearest", "nearest-up"):
        middle = points / 2.0
        middle = middle[1:] + middle[:-1]
        place = np.searchsorted(middle, at, side="left" if kind == "nearest" else "right")
    elif kind == "next":
        place = np.searchsorted(points, at, side="left")
    else:
        place = np.searchsorted(points, at, side="right") - 1
    return rows[np.clip(place, 0, last)]


def grid(interpolant: Any, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
    """`scipy.interpolate.RegularGridInterpolator`."""
    if nu is not None:
        refuse("scipy.interpolate.RegularGridInterpolator with nu=", "numbagraph.grad gives derivatives")
    how = interpolant.method if method is None else method
    return on_grid(
        interpolant.grid, np.asarray(interpolant.values), xi, how, interpolant.bounds_error, interpolant.fill_value
    )


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan
) -> Any:
    """`scipy.interpolate.interpn`."""
    axes = [np.asarray(each, float) if not isinstance(each, Tracer) else each for each in points]
    if any(isinstance(each, Tracer) for each in axes):
        refuse("scipy.interpolate.interpn with traced points", "pass them as constants; values and xi may be traced")
    rows = array(values)
    return on_grid(axes, rows if rows.dtype.kind in "fc" else rows.astype(float), xi, method, bounds_error, fill_value)


def on_grid(axes: Sequence[Any], values: Any, xi: Any, method: str, bounded: bool, fill: Any) -> Any:
    if method not in ("linear", "nearest"):
        refuse(f"scipy.interpolate.RegularGridInterpolator with method={method!r}", "method='linear' or 'nearest'")
    at = points_of(xi, len(axes))
    columns = [at[..., number] for number in range(len(axes))]
    unknown = np.isnan(columns[0])
    outside = (columns[0] < axes[0][0]) | (columns[0] > axes[0][-1])
    for axis, column in zip(axes[1:], columns[1:], strict=True):
        unknown = unknown | np.isnan(column)
        outside = outside | (column < axis[0]) | (column > axis[-1])
    if bounded:
        require(~np.any(outside), "One of the requested xi is out of bounds")
    trailing, values = values.ndim - len(axes), lifted(values)
    lows, parts = [], []
    for axis, column in zip(axes, columns, strict=True):
        low = np.clip(np.searchsorted(axis, column, side="right") - 1, 0, max(len(axis) - 2, 0))
        lows.append(low)
        if len(axis) > 1:
            line = lifted(axis)
            parts.append((column - line[low]) / (line[low + 1] - line[low]))
        else:
            parts.append(0.0 * column)
    if method == "nearest":
        found = values[tuple(np.where(part <= 0.5, low, low + 1) for low, part in zip(lows, parts, strict=True))]
    else:
        found = between(values, axes, lows, parts, trailing)
    if not bounded and fill is not None:
        found = np.where(spread(outside, trailing), fill, found)
    return np.where(spread(unknown, trailing), np.nan, found)


def between(values: Any, axes: Sequence[Any], lows: Sequence[Any], parts: Sequence[Any], trailing: int) -> Any:
    """The mean of the corners of a cell, with weights."""
    found: Any = None
    for corner in itertools.product((0, 1), repeat=len(axes)):
        weight: Any = 1.0
        for step, part in zip(corner, parts, strict=True):
            weight = weight * (part if step else 1.0 - part)
        places = tuple(
            np.minimum(low + step, len(axis) - 1) for low, step, axis in zip(lows, corner, axes, strict=True)
        )
        term = values[places] * spread(weight, trailing)
        found = term if found is None else found + term
    return found


def points_of(xi: Any, count: int) -> Any:
    """Points as an array whose last dimension has their coordinates."""
    if isinstance(xi, tuple):
        xi = np.stack(np.broadcast_arrays(*(double(each) for each in xi)), axis=-1)
    at = double(xi)
    if at.ndim == 1 and count == 1:
        return at[:, None]
    if at.ndim == 1:
        at = at[None]
    if known(at, "points of a grid")[-1] != count:
        raise ValueError(
            f"The requested sample points xi have dimension {known(at, 'points of a grid')[-1]}, but this "
            f"RegularGridInterpolator has dimension {count}"
        )
    return at


FUNCTIONS = {"splev": splev, "interpn": interpn}

OBJECTS = {
    **dict.fromkeys(
        ("PPoly", "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "CubicHermiteSpline"), piecewise
    ),
    "BSpline": b_spline,
    "interp1d": interp1d,
    "RegularGridInterpolator": grid,
    **dict.fromkeys(("UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline"), univariate),
    **nodes.OBJECTS,
}
