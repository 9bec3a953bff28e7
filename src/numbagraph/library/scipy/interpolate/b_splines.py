"""B-splines of `scipy.interpolate`: their values, derivatives, integrals and basis functions.

Knots, coefficients and points may each be known while tracing or traced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import array, double, known, lifted, refuse, require
from numbagraph.library.scipy.interpolate.piecewise_polynomials import of_rows, spread, wrapped
from numbagraph.tracing.errors import OnlyTraced


class Spline(OnlyTraced):
    """A spline, as `scipy.interpolate.BSpline` has one, of traced knots or coefficients."""

    __slots__ = ("axis", "c", "extrapolate", "k", "t")
    advice = "return its values at points, or its coefficients, spline.c"

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        self.t, self.c, self.k, self.extrapolate, self.axis = t, c, k, extrapolate, axis

    @property
    def tck(self) -> tuple[Any, Any, int]:
        return self.t, self.c, self.k

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        return b_spline(self, x, nu, extrapolate)

    def derivative(self, nu: int = 1) -> Spline:
        return derivative(self, nu)

    def antiderivative(self, nu: int = 1) -> Spline:
        return antiderivative(self, nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        return integrate(self, a, b, extrapolate)


def made(t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> Spline:
    """`scipy.interpolate.BSpline`, of traced knots or coefficients."""
    knots, coefficients = double(t), array(c)
    coefficients = coefficients.astype(np.complex128 if coefficients.dtype.kind == "c" else np.float64)
    axis = int(axis) % coefficients.ndim
    coefficients = np.moveaxis(coefficients, axis, 0)
    if k < 0:
        raise ValueError("Spline order cannot be negative.")
    if knots.ndim != 1:
        raise ValueError("Knot vector must be one-dimensional.")
    count = known(knots, "the knots of a spline")[0] - k - 1
    if count < k + 1:
        raise ValueError(f"Need at least {2 * k + 2} knots for degree {k}")
    require(np.all(np.diff(knots) >= 0), "Knots must be in a non-decreasing order.")
    require(knots[k] < knots[count], "Need at least two internal knots.")
    require(np.all(np.isfinite(knots)), "Knots should not have nans or infs.")
    if known(coefficients, "the coefficients of a spline")[0] < count:
        raise ValueError("Knots, coefficients and degree are inconsistent.")
    return Spline(knots, coefficients, k, extrapolate, axis)


def spline_of(tck: Any) -> Any:
    """Return the spline of knots, coefficients and a degree, as FITPACK's functions have it."""
    if hasattr(tck, "t"):
        return tck
    t, c, k = tck
    if isinstance(c, (list, tuple)):
        refuse("scipy.interpolate.splev of a curve", "call it for each of its coordinates")
    knots = array(t)
    count = known(knots, "the knots of a spline")[0] - k - 1
    return Spline(knots, array(c)[:count], k)


def b_spline(spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """Evaluate a spline, by the algorithm of de Boor."""
    how = spline.extrapolate if extrapolate is None else extrapolate
    if nu < 0:
        refuse("scipy.interpolate.BSpline with a negative nu", "spline.antiderivative()")
    at, t, c, k = double(x), array(spline.t), array(spline.c), spline.k
    first, last = t[k], t[known(t, "the knots of a spline")[0] - k - 1]
    if how == "periodic":
        at, how = wrapped(at, first, last), False
    trailing = c.ndim - 1
    found = de_boor(*slope_of(t, c, k, nu), at)
    outside = np.isnan(at)
    if not how:
        outside = outside | (at < first) | (at > last)
    return of_rows(np.where(spread(outside, trailing), np.nan, found), at, spline.axis)


def slope_of(t: Any, c: Any, k: int, nu: int) -> tuple[Any, Any, int]:
    """The knots, coefficients and degree of a derivative. [de Boor, chapter X]"""
    if nu > k:
        return t, np.zeros_like(c), k
    for _ in range(nu):
        count = known(t, "the knots of a spline")[0] - k - 1
        widths = t[k + 1 : k + count] - t[1:count]
        share = np.where(widths > 0, k / np.where(widths > 0, widths, 1.0), 0.0)
        t, c, k = t[1:-1], np.diff(c[:count], axis=0) * spread(share, c.ndim - 1), k - 1
    return t, c, k


def interval_of(t: Any, k: int, at: Any) -> Any:
    """The last knot that is not beyond a point, of those at which an interval begins."""
    return k + np.searchsorted(t[k + 1 : known(t, "the knots of a spline")[0] - k - 1], at, side="right")


def de_boor(t: Any, c: Any, k: int, at: Any) -> Any:
    """The value of a spline. [de Boor, A Practical Guide to Splines, chapter X]"""
    place = interval_of(t, k, at)
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


def basis(t: Any, k: int, at: Any, place: Any, nu: int = 0) -> list[Any]:
    """The values (or derivatives) of the k + 1 basis functions that do not vanish between a knot and the next one."""
    line = lifted(t) if is_traced((place, t)) else t
    low = k - nu
    knots = {number: line[place + number] for number in range(-k, k + 2)} if k else {}
    found = [np.ones_like(at)]
    for degree in range(1, low + 1):
        carried: Any = 0.0
        following = []
        for number, each in enumerate(found):
            left, right = knots[1 - degree + number], knots[number + 1]
            share = each / (right - left)
            following.append(carried + (right - at) * share)
            carried = (at - left) * share
        found = [*following, carried]
    for degree in range(low + 1, k + 1):
        shares = [degree * each / (knots[n + 1] - knots[n + 1 - degree]) for n, each in enumerate(found)]
        zero = np.zeros_like(at)
        found = [before - after for before, after in zip([zero, *shares], [*shares, zero], strict=True)]
    return found


# ---- derivatives and integrals as splines ----


def padded(c: Any, count: int) -> Any:
    """Return coefficients with zeros up to the number of knots, as FITPACK has them."""
    shape = known(c, "the coefficients of a spline")
    return np.concatenate([c, np.zeros((count - shape[0], *shape[1:]), c.dtype)])


def derivative(spline: Any, nu: int = 1) -> Spline:
    """`BSpline.derivative`."""
    if nu < 0:
        return antiderivative(spline, -nu)
    if nu > spline.k:
        raise ValueError(f"Order of derivative (n = {nu}) must be <= order of spline (k = {spline.k})")
    t, c, k = slope_of(array(spline.t), array(spline.c), spline.k, nu)
    return Spline(t, padded(c, known(t, "the knots of a spline")[0]), k, spline.extrapolate, spline.axis)


def antiderivative(spline: Any, nu: int = 1) -> Spline:
    """`BSpline.antiderivative`."""
    if nu < 0:
        return derivative(spline, -nu)
    t, c, k = array(spline.t), array(spline.c), spline.k
    for _ in range(nu):
        count = known(t, "the knots of a spline")[0] - k - 1
        areas = np.cumsum(c[:count] * spread(t[k + 1 :] - t[: -k - 1], c.ndim - 1), axis=0) / (k + 1)
        c = np.concatenate([np.zeros_like(areas[:1]), areas, *[areas[-1:]] * (k + 2)])
        t, k = np.concatenate([t[:1], t, t[-1:]]), k + 1
    how = False if isinstance(spline.extrapolate, str) else spline.extrapolate
    return Spline(t, c, k, how, spline.axis)


def integrate(spline: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    """`BSpline.integrate`."""
    how = spline.extrapolate if extrapolate is None else extrapolate
    if isinstance(how, str):
        refuse("the integral of a periodic spline", "spline.integrate(a, b, extrapolate=False) within one period")
    ends = double(a), double(b)
    t, k = array(spline.t), spline.k
    if not how:
        last = t[known(t, "the knots of a spline")[0] - k - 1]
        ends = np.clip(ends[0], t[k], last), np.clip(ends[1], t[k], last)
    whole = antiderivative(Spline(t, spline.c, k))
    first, last = (b_spline(whole, each) for each in ends)
    return last - first


def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any:
    """`scipy.interpolate.splint`."""
    if full_output:
        refuse("scipy.interpolate.splint with full_output", "leave it out")
    return integrate(spline_of(tck), a, b, False)


def splder(tck: Any, n: int = 1) -> Any:
    """`scipy.interpolate.splder`."""
    found = derivative(spline_of(tck), n)
    return found if hasattr(tck, "t") else (found.t, padded(found.c, known(found.t, "splder")[0]), found.k)


def splantider(tck: Any, n: int = 1) -> Any:
    """`scipy.interpolate.splantider`."""
    found = antiderivative(spline_of(tck), n)
    return found if hasattr(tck, "t") else (found.t, found.c, found.k)


FUNCTIONS = {"BSpline": made, "splantider": splantider, "splder": splder, "splint": splint}
OBJECTS = {"BSpline": b_spline}
METHODS = {"BSpline": {"integrate": integrate}}
