"""`scipy.interpolate`: interpolants at traced points, or of traced heights."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import array, axis_of, double, known, lifted, refuse, require
from numbagraph.library.scipy.interpolate import nodes, splines
from numbagraph.library.scipy.interpolate.piecewise_polynomials import of_rows, piecewise, spread, wrapped
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import Tracer


def b_spline(spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.BSpline`, by the algorithm of de Boor."""
    how = spline.extrapolate if extrapolate is None else extrapolate
    if nu < 0:
        refuse("scipy.interpolate.BSpline with a negative nu", "spline.antiderivative() outside")
    at, t, k = double(x), np.asarray(spline.t), spline.k
    count = len(t) - k - 1
    first, last = t[k], t[count]
    if how == "periodic":
        at, how = wrapped(at, first, last), False
    trailing = np.ndim(spline.c) - 1
    found = de_boor(*slope_of(t, np.asarray(spline.c), k, nu), at)
    outside = np.isnan(at)
    if not how:
        outside = outside | (at < first) | (at > last)
    return of_rows(np.where(spread(outside, trailing), np.nan, found), at, spline.axis)


def slope_of(t: np.ndarray, c: np.ndarray, k: int, nu: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The knots, coefficients and degree of a derivative. [de Boor, chapter X]"""
    if nu > k:
        return t, np.zeros_like(c), k
    for _ in range(nu):
        count = len(t) - k - 1
        widths = t[k + 1 : k + count] - t[1:count]
        share = np.where(widths > 0, k / np.where(widths > 0, widths, 1.0), 0.0)
        t, c, k = t[1:-1], np.diff(c[:count], axis=0) * share.reshape(-1, *(1,) * (c.ndim - 1)), k - 1
    return t, c, k


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
            alpha = spread((at - left) / np.where(right > left, right - left, 1.0), trailing)
            parts[number] = (1.0 - alpha) * parts[number - 1] + alpha * parts[number]
    if not k:
        return parts[k] + 0.0 * spread(at, trailing)
    return np.where(spread(knots[1] > knots[0], trailing), parts[k], 0.0)  # no spline is there where an end is repeated


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
    points, y = array(interpolant.x), array(interpolant.y)
    axis = interpolant.axis % y.ndim
    rows = np.moveaxis(y, axis, 0)
    rows = rows if rows.dtype.kind in "fc" else rows.astype(np.float64)
    trailing, rows = rows.ndim - 1, lifted(rows)
    fill = interpolant.fill_value
    goes_on = isinstance(fill, str) and fill == "extrapolate"
    if kind == "linear" and len(points) == 1 and not (trailing or goes_on or rows.dtype.kind == "c"):
        found = np.broadcast_to(rows[0], at.shape)  # as np.interp has it, by which SciPy computes it
    elif kind == "linear":
        found = on_lines(points, rows, at, trailing)
    elif kind in ("nearest", "nearest-up", "previous", "next"):
        found = at_steps(points, rows, at, kind)
    elif kind == "zero":
        found = np.where(np.isnan(spread(at, trailing)), np.nan, at_steps(points, rows, at, "previous"))
    elif kind == "cubic":
        unknown = np.any(np.isnan(rows))  # of which a spline has none of its values
        found = np.where(unknown, np.nan, splines.cubic_spline(points, np.where(unknown, 1.0, rows))(at))
    else:
        found = np.reshape(b_spline(interpolant._spline, at), (*at.shape, *rows.shape[1:]))
        found = found * np.nan if interpolant._call.__name__ == "_call_nan_spline" else found
    below, above = (at < points[0]), (at > points[-1])
    if interpolant.bounds_error:
        require(~np.any(below), "A value in x_new is below the interpolation range.")
        require(~np.any(above), "A value in x_new is above the interpolation range.")
    if not goes_on:
        low, high = fill if isinstance(fill, tuple) and len(fill) == 2 else (fill, fill)
        found = np.where(spread(below, trailing), low, np.where(spread(above, trailing), high, found))
    return of_rows(found, at, axis)


class Interpolated(OnlyTraced):
    """The interpolant that `scipy.interpolate.interp1d` makes of traced points or heights."""

    __slots__ = ("_kind", "axis", "bounds_error", "fill_value", "x", "y")
    advice = "return its values at points"

    def __call__(self, x: Any) -> Any:
        return interp1d(self, x)


NAMES = {0: "zero", "slinear": "linear", 1: "linear", 3: "cubic"}
"""The kinds of interpolation that are splines by another name."""


def interpolated(
    x: Any,
    y: Any,
    kind: Any = "linear",
    axis: int = -1,
    copy: bool = True,
    bounds_error: bool | None = None,
    fill_value: Any = np.nan,
    assume_sorted: bool = False,
) -> Interpolated:
    """`scipy.interpolate.interp1d`."""
    del copy
    made = Interpolated()
    made._kind = NAMES.get(kind, kind)
    if made._kind in ("quadratic", 2):
        refuse(
            "scipy.interpolate.interp1d of traced heights with kind='quadratic'", "kind='cubic', or CubicSpline(x, y)"
        )
    if made._kind not in ("linear", "nearest", "nearest-up", "previous", "next", "zero", "cubic"):
        raise NotImplementedError(f"{kind} is unsupported: Use fitpack routines for other types.")
    points, heights = array(x), array(y)
    if points.ndim != 1 or not heights.ndim:
        raise ValueError("the x array must have exactly one dimension, and the y array at least one.")
    made.axis = axis_of(axis, heights.ndim)
    count = known(points, "the points of an interpolant")[0]
    if count != known(heights, "the heights of an interpolant")[made.axis]:
        raise ValueError("x and y arrays must be equal in length along interpolation axis.")
    if count < (4 if made._kind == "cubic" else 1):
        raise ValueError(f"x and y arrays must have at least {4 if made._kind == 'cubic' else 1} entries")
    order = slice(None) if assume_sorted else np.argsort(points, kind="stable")
    made.x, made.y = points[order], heights if assume_sorted else np.take(heights, order, axis=made.axis)
    goes_on = isinstance(fill_value, str) and fill_value == "extrapolate"
    if goes_on and bounds_error:
        raise ValueError("Cannot extrapolate and raise at the same time.")
    made.bounds_error = not goes_on if bounds_error is None else bounds_error
    made.fill_value = fill_value
    if goes_on and made._kind in ("previous", "next"):
        ends = [np.take(made.y, place, axis=made.axis) for place in (0, -1)]
        made.fill_value = (np.nan, ends[1]) if made._kind == "previous" else (ends[0], np.nan)
    return made


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
    """Return the mean of the corners of a cell, with weights."""
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
    """Return points as an array whose last dimension has their coordinates."""
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


FUNCTIONS = {"splev": splev, "interpn": interpn, "interp1d": interpolated, **splines.FUNCTIONS}

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
