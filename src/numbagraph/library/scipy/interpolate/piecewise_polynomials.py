"""Piecewise polynomials of `scipy.interpolate` at traced points."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, double, lifted
from numbagraph.tracing.tracer import Tracer


def of_rows(values: Any, at: Any, axis: int) -> Any:
    """Move the dimensions of the points, which are the first ones of the results, to the place of the axis."""
    count = at.ndim
    order = [*range(count, count + axis), *range(count), *range(count + axis, values.ndim)]
    return np.transpose(values, order) if axis else values


def spread(at: Any, trailing: int) -> Any:
    """Return points with more dimensions, for those of the interpolated values."""
    return at.reshape((*at.shape, *(1,) * trailing)) if trailing else at


def wrapped(at: Any, first: Any, last: Any) -> Any:
    return first + np.mod(at - first, last - first)


def piecewise(spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.PPoly` and its kin, by Horner's scheme."""
    if nu < 0:
        raise ValueError("Order of derivative cannot be negative")
    how = spline.extrapolate if extrapolate is None else extrapolate
    knots, c = array(spline.x), array(spline.c)
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
    rises = isinstance(knots, Tracer) or knots[-1] > knots[0]  # traced ones are those of a spline
    place = np.searchsorted(inner, at, side="right") if rises else descending(inner, at)
    rows = [lifted(row) for row in c]
    trailing = c.ndim - 2
    distance = spread(at - lifted(knots)[place], trailing)
    found: Any = rows[0][place] + 0.0 * distance if len(rows) == 1 else rows[0][place]
    for row in rows[1:]:
        found = found * distance + row[place]
    outside = np.isnan(at)
    if not how:
        low, high = (knots[0], knots[-1]) if rises else (knots[-1], knots[0])
        outside = outside | (at < low) | (at > high)
    return of_rows(np.where(spread(outside, trailing), np.nan, found), at, spline.axis)


def descending(inner: Any, at: Any) -> Any:
    return np.searchsorted(-inner, -at, side="right")
