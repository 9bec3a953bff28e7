"""`scipy.interpolate.interp1d`: steps, lines and splines between points of one variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, axis_of, double, known, lifted, require
from numbagraph.library.scipy.interpolate import splines
from numbagraph.library.scipy.interpolate.b_splines import b_spline
from numbagraph.library.scipy.interpolate.piecewise_polynomials import of_rows, spread
from numbagraph.library.scipy.interpolate.spline_fits import make_interp_spline
from numbagraph.tracing.errors import OnlyTraced


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
    elif kind == "quadratic" and not hasattr(interpolant, "_spline"):
        unknown = np.any(np.isnan(rows))
        found = np.where(unknown, np.nan, make_interp_spline(points, np.where(unknown, 1.0, rows), 2)(at))
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


NAMES = {0: "zero", "slinear": "linear", 1: "linear", 2: "quadratic", 3: "cubic"}
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
    if made._kind not in ("linear", "nearest", "nearest-up", "previous", "next", "zero", "quadratic", "cubic"):
        raise NotImplementedError(f"{kind} is unsupported: Use fitpack routines for other types.")
    points, heights = array(x), array(y)
    if points.ndim != 1 or not heights.ndim:
        raise ValueError("the x array must have exactly one dimension, and the y array at least one.")
    made.axis = axis_of(axis, heights.ndim)
    count = known(points, "the points of an interpolant")[0]
    if count != known(heights, "the heights of an interpolant")[made.axis]:
        raise ValueError("x and y arrays must be equal in length along interpolation axis.")
    least = {"quadratic": 3, "cubic": 4}.get(made._kind, 1)
    if count < least:
        raise ValueError(f"x and y arrays must have at least {least} entries")
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


FUNCTIONS = {"interp1d": interpolated}
OBJECTS = {"interp1d": interp1d}
