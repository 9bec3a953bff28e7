"""Cubic interpolants of `scipy.interpolate` that are made of traced points or heights.

Each is the derivatives of its polynomials at the knots, which are those of Hermite's form; of `CubicSpline` these solve
a tridiagonal system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.ir.op import load, registry
from numbagraph.library.scipy.arguments import array, axis_of, known, refuse, require
from numbagraph.library.scipy.interpolate.piecewise_polynomials import piecewise, spread
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import apply


class Piecewise(OnlyTraced):
    """A piecewise polynomial, as `scipy.interpolate.PPoly` has one."""

    __slots__ = ("axis", "c", "extrapolate", "kind", "x")
    advice = "return its values at points, or its coefficients, spline.c"

    def __init__(self, kind: str, c: Any, x: Any, axis: int, extrapolate: Any) -> None:
        self.kind, self.c, self.x, self.axis, self.extrapolate = kind, c, x, axis, extrapolate

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        return piecewise(self, x, nu, extrapolate)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(load("scipy.interpolate:PPoly"), name):
            raise AttributeError(name)
        refuse(f"{name} of a scipy.interpolate.{self.kind}", "its values, derivatives and integrals are compiled")

    def of(self, c: Any, extrapolate: Any) -> Piecewise:
        return Piecewise("PPoly", c, self.x, self.axis, extrapolate)

    def derivative(self, nu: int = 1) -> Piecewise:
        if nu < 0:
            return self.antiderivative(-nu)
        c = self.c
        for _ in range(nu):
            powers = np.arange(len(c) - 1, 0, -1.0)
            c = c[:-1] * powers.reshape(-1, *(1,) * (c.ndim - 1)) if len(powers) else np.zeros_like(c)
        return self.of(c, self.extrapolate)

    def antiderivative(self, nu: int = 1) -> Piecewise:
        if nu <= 0:
            return self.derivative(-nu)
        c = self.c
        for _ in range(nu):
            powers = np.arange(len(c), 0, -1.0)
            c = c / powers.reshape(-1, *(1,) * (c.ndim - 1))
            widths = spread(np.diff(self.x), c.ndim - 2)
            pieces: Any = c[0] * 0.0
            for row in c:
                pieces = (pieces + row) * widths
            constants = np.cumsum(pieces, axis=0) - pieces
            c = np.concatenate([c, constants[None]])
        return self.of(c, False if self.extrapolate == "periodic" else self.extrapolate)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        how = self.extrapolate if extrapolate is None else extrapolate
        if how == "periodic":
            refuse("the integral of a periodic spline", "spline.integrate(a, b, extrapolate=False) within one period")
        whole = self.antiderivative()
        ends = (whole.c, whole.x, 0, how)
        first, last = (Piecewise("PPoly", *ends)(each) for each in (a, b))
        return last - first


# ---- points and heights ----


def prepared(x: Any, y: Any, axis: int) -> tuple[Any, Any, int]:
    """Return knots, heights along the first axis, and the axis that the heights had."""
    knots, heights = array(x), array(y)
    if knots.dtype.kind == "c":
        raise ValueError("`x` must contain real values.")
    knots = knots.astype(np.float64)
    heights = heights.astype(np.complex128 if heights.dtype.kind == "c" else np.float64)
    axis = axis % heights.ndim
    if knots.ndim != 1:
        raise ValueError("`x` must be 1-dimensional.")
    (count,) = known(knots, "the points of an interpolant")
    if count < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if count != known(heights, "the heights of an interpolant")[axis]:
        raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
    require(np.all(np.isfinite(knots)), "`x` must contain only finite values.")
    require(np.all(np.isfinite(heights)), "`y` must contain only finite values.")
    require(np.all(np.diff(knots) > 0), "`x` must be strictly increasing sequence.")
    return knots, np.moveaxis(heights, axis, 0), axis


def real(heights: Any, kind: str) -> Any:
    if heights.dtype.kind == "c":
        raise ValueError(f"`{kind}` only works with real values for `y`.")
    return heights


def hermite(kind: str, x: Any, y: Any, slopes: Any, axis: int, extrapolate: Any) -> Piecewise:
    """Return the cubic polynomials with these heights and derivatives at the knots."""
    widths = spread(np.diff(x), y.ndim - 1)
    rise = np.diff(y, axis=0) / widths
    bend = (slopes[:-1] + slopes[1:] - 2 * rise) / widths
    c = np.stack([bend / widths, (rise - slopes[:-1]) / widths - bend, slopes[:-1], y[:-1]])
    return Piecewise(kind, c, x, axis, extrapolate)


def cubic_hermite_spline(x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> Piecewise:
    """`scipy.interpolate.CubicHermiteSpline`."""
    knots, heights, axis = prepared(x, y, axis)
    slopes = array(dydx)
    if known(slopes, "the derivatives of an interpolant") != known(array(y), "the heights of an interpolant"):
        raise ValueError("The shapes of `y` and `dydx` must be identical.")
    slopes = slopes.astype(np.complex128 if slopes.dtype.kind == "c" else np.float64)
    require(np.all(np.isfinite(slopes)), "`dydx` must contain only finite values.")
    slopes = np.moveaxis(slopes, axis, 0)
    return hermite("CubicHermiteSpline", knots, heights, slopes, axis, True if extrapolate is None else extrapolate)


# ---- smooth second derivatives ----

Row = tuple[Any, Any, Any]
"""A row of a tridiagonal system: the element on the diagonal, the one beside it, and the right-hand side."""


def cubic_spline(x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Piecewise:
    """`scipy.interpolate.CubicSpline`."""
    knots, heights, axis = prepared(x, y, axis)
    conditions = conditions_of(bc_type, heights, axis)
    if any(not isinstance(each, str) and each[1].dtype.kind == "c" for each in conditions):
        heights = heights.astype(np.complex128)
    periodic = conditions[0] == "periodic"
    if extrapolate is None:
        extrapolate = "periodic" if periodic else True
    widths = np.diff(knots)
    rise = np.diff(heights, axis=0) / spread(widths, heights.ndim - 1)
    count = len(rise) + 1
    if count == 2:
        conditions = [(1, rise[0]) if isinstance(each, str) else each for each in conditions]
    if periodic and count > 2:
        slopes = periodic_slopes(widths, rise)
    else:
        parabola = count == 3 and conditions == ["not-a-knot"] * 2
        last = knots[::-1], widths[::-1], rise[::-1], heights[::-1]
        ends = [
            (1.0, 1.0, 2 * parts[2][0]) if parabola else end_row(each, *parts, sign)
            for each, parts, sign in zip(conditions, ((knots, widths, rise, heights), last), (1, -1), strict=True)
        ]
        slopes = smooth_slopes(widths, rise, *ends)
    return hermite("CubicSpline", knots, heights, slopes, axis, extrapolate)


def conditions_of(bc_type: Any, heights: Any, axis: int) -> list[Any]:
    """The conditions at both ends: a name, or the order of a derivative and its value."""
    if isinstance(bc_type, str):
        if bc_type == "periodic":
            require(
                np.allclose(heights[0], heights[-1], rtol=1e-15, atol=1e-15),
                f"The first and last `y` point along axis {axis} must be identical (within machine precision) when "
                "bc_type='periodic'.",
            )
        bc_type = (bc_type, bc_type)
    elif len(bc_type) != 2:
        raise ValueError("`bc_type` must contain 2 elements to specify start and end conditions.")
    elif any(isinstance(each, str) and each == "periodic" for each in bc_type):
        raise ValueError(
            "'periodic' `bc_type` is defined for both curve ends and cannot be used with other boundary conditions."
        )
    return [condition_of(each, known(heights, "the heights of an interpolant")[1:]) for each in bc_type]


def condition_of(condition: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(condition, str):
        if condition in ("not-a-knot", "periodic"):
            return condition
        if condition not in ("clamped", "natural"):
            raise ValueError(f"bc_type={condition} is not allowed.")
        return (1 if condition == "clamped" else 2), np.zeros(shape)
    if not isinstance(condition, (tuple, list)) or len(condition) != 2:
        raise ValueError("A specified derivative value must be given in the form (order, value).")
    order, value = condition[0], array(condition[1])
    if order not in (1, 2):
        raise ValueError("The specified derivative order must be 1 or 2.")
    if known(value, "a derivative at an end") != shape:
        raise ValueError(f"`deriv_value` shape {value.shape} is not the expected one {shape}.")
    return order, value


def end_row(condition: Any, x: Any, widths: Any, rise: Any, y: Any, sign: int) -> Row:
    """The first row of a system; for the last one, all arrays are reversed, and the sign is -1."""
    if condition == "not-a-knot":
        span = sign * (x[2] - x[0])
        right = ((widths[0] + 2 * span) * widths[1] * rise[0] + widths[0] ** 2 * rise[1]) / span
        return widths[1], span, right
    order, value = condition
    if order == 1:
        return 1.0, 0.0, value
    return 2 * widths[0], widths[0], -0.5 * sign * value * widths[0] ** 2 + 3 * sign * (y[1] - y[0])


def smooth_slopes(widths: Any, rise: Any, first: Row, last: Row) -> Any:
    """The derivatives at the knots of a spline whose second derivative is continuous."""
    before, after = widths[:-1], widths[1:]
    wide = [spread(each, rise.ndim - 1) for each in (before, after)]
    inner = 3 * (wide[1] * rise[:-1] + wide[0] * rise[1:])
    right = np.concatenate([as_row(first[2], rise), inner, as_row(last[2], rise)])
    zero = np.zeros(1)
    lower = np.concatenate([zero, after, as_row(last[1], widths)])
    upper = np.concatenate([as_row(first[1], widths), before, zero])
    diagonal = np.concatenate([as_row(first[0], widths), 2 * (before + after), as_row(last[0], widths)])
    return tridiagonal(lower, diagonal, upper, right)


def as_row(number: Any, like: Any) -> Any:
    return np.reshape(array(number), (1, *known(like, "the heights of an interpolant")[1:]))


def tridiagonal(lower: Any, diagonal: Any, upper: Any, right: Any) -> Any:
    columns = right.reshape(len(right), -1) if right.ndim != 2 else right
    found = apply(registry["solve_tridiagonal"], lower, diagonal, upper, columns)
    return found.reshape(known(right, "the heights of an interpolant"))


def periodic_slopes(widths: Any, rise: Any) -> Any:
    """The derivatives at the knots of a periodic spline: without its last unknown, the system is tridiagonal."""
    wide = spread(widths, rise.ndim - 1)
    if len(rise) == 2:
        slope = np.sum(rise / wide, axis=0) / np.sum(1.0 / wide, axis=0)
        return np.broadcast_to(slope, (3, *slope.shape))
    before = np.roll(widths, 1)
    diagonal = 2 * (before + widths)
    right = 3 * (wide * np.roll(rise, 1, axis=0) + np.roll(wide, 1, axis=0) * rise)
    bands = widths[:-1], diagonal[:-1], before[:-1]
    inner = np.zeros(len(rise) - 3)
    border = np.concatenate([-widths[:1], inner, -before[-2:-1]])
    own = tridiagonal(*bands, right[:-1])
    other = tridiagonal(*bands, border[:, None])[:, 0]
    below = right[-1] - before[-1] * own[0] - widths[-1] * own[-1]
    last = below / (diagonal[-1] + before[-1] * other[0] + widths[-1] * other[-1])
    found = own + last * spread(other, rise.ndim - 1)
    return np.concatenate([found, last[None], found[:1]])


# ---- slopes of neighbours ----


def pchip(x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> Piecewise:
    """`scipy.interpolate.PchipInterpolator`."""
    knots, heights, axis = prepared(x, y, axis)
    real(heights, "PchipInterpolator")
    widths = spread(np.diff(knots), heights.ndim - 1)
    rise = np.diff(heights, axis=0) / widths
    if len(rise) == 1:
        slopes = np.concatenate([rise, rise])
    else:
        flat = (np.sign(rise[1:]) != np.sign(rise[:-1])) | (rise[1:] == 0) | (rise[:-1] == 0)
        first, second = 2 * widths[1:] + widths[:-1], widths[1:] + 2 * widths[:-1]
        before, after = (np.where(flat, 1.0, each) for each in (rise[:-1], rise[1:]))
        mean = (first / before + second / after) / (first + second)
        inner = np.where(flat, 0.0, 1.0 / mean)
        ends = [at_end(w[0], w[1], r[0], r[1])[None] for w, r in ((widths, rise), (widths[::-1], rise[::-1]))]
        slopes = np.concatenate([ends[0], inner, ends[1]])
    how = True if extrapolate is None else extrapolate
    return hermite("PchipInterpolator", knots, heights, slopes, axis, how)


def at_end(own: Any, other: Any, rise: Any, following: Any) -> Any:
    """The derivative at an end of three points, which keeps their shape."""
    found = ((2 * own + other) * rise - own * following) / (own + other)
    turns = np.sign(found) != np.sign(rise)
    steep = (np.sign(rise) != np.sign(following)) & (np.abs(found) > 3.0 * np.abs(rise))
    return np.where(turns, 0.0, np.where(steep, 3.0 * rise, found))


def akima(x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None) -> Piecewise:
    """`scipy.interpolate.Akima1DInterpolator`."""
    if method not in ("akima", "makima"):
        raise NotImplementedError(f"`method`={method} is unsupported.")
    knots, heights, axis = prepared(x, y, axis)
    real(heights, "Akima1DInterpolator")
    rise = np.diff(heights, axis=0) / spread(np.diff(knots), heights.ndim - 1)
    slopes = np.concatenate([rise, rise]) if len(rise) == 1 else akima_slopes(rise, method)
    how = False if extrapolate is None else extrapolate
    return hermite("Akima1DInterpolator", knots, heights, slopes, axis, how)


def akima_slopes(rise: Any, method: str) -> Any:
    """The means of the slopes on both sides, each with a weight that is large where the slopes beyond it change
    little."""
    beyond = []
    for one, two in ((rise[0], rise[1]), (rise[-1], rise[-2])):
        near = 2.0 * one - two
        beyond += [near, 2.0 * near - one]
    m = np.concatenate([beyond[1][None], beyond[0][None], rise, beyond[2][None], beyond[3][None]])
    change = np.abs(np.diff(m, axis=0))
    if method == "makima":
        change = change + 0.5 * np.abs(m[1:] + m[:-1])
    after, before = change[2:], change[:-2]
    total = after + before
    is_defined = total > 1e-9 * np.max(total)
    share = before / np.where(is_defined, total, 1.0)
    weighted = m[1:-2] + share * (m[2:-1] - m[1:-2])
    return np.where(is_defined, weighted, 0.5 * (m[3:] + m[:-3]))


# ---- coefficients ----


def of_coefficients(c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> Piecewise:
    """`scipy.interpolate.PPoly`, of traced coefficients or knots."""
    coefficients, knots = array(c), array(x).astype(np.float64)
    coefficients = coefficients.astype(np.complex128 if coefficients.dtype.kind == "c" else np.float64)
    if coefficients.ndim < 2:
        raise ValueError("Coefficients array must be at least 2-dimensional.")
    axis = axis_of(axis, coefficients.ndim - 1)
    coefficients = np.moveaxis(np.moveaxis(coefficients, axis + 1, 0), axis + 1, 0) if axis else coefficients
    if knots.ndim != 1:
        raise ValueError("x must be 1-dimensional")
    (count,) = known(knots, "the knots of an interpolant")
    if count < 2:
        raise ValueError("at least 2 breakpoints are needed")
    if known(coefficients, "the coefficients of an interpolant")[1] != count - 1:
        raise ValueError("number of coefficients != len(x)-1")
    require(np.all(np.diff(knots) > 0), "`x` must be strictly increasing in a traced function.")
    return Piecewise("PPoly", coefficients, knots, axis, True if extrapolate is None else extrapolate)


def integral(spline: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.PPoly.integrate`."""
    return Piecewise("PPoly", array(spline.c), array(spline.x), spline.axis, spline.extrapolate).integrate(
        a, b, extrapolate
    )


def bernstein(spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.BPoly`, by powers."""
    return piecewise(load("scipy.interpolate:PPoly").from_bernstein_basis(spline), x, nu, extrapolate)


def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """`scipy.interpolate.pchip_interpolate`."""
    made = pchip(xi, yi, axis)
    return [made(x, each) for each in der] if np.ndim(der) else made(x, der)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "CubicSpline": cubic_spline,
    "CubicHermiteSpline": cubic_hermite_spline,
    "PchipInterpolator": pchip,
    "Akima1DInterpolator": akima,
    "PPoly": of_coefficients,
    "pchip_interpolate": pchip_interpolate,
}

OBJECTS = {
    "BPoly": bernstein,
    **dict.fromkeys(
        ("PPoly", "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "CubicHermiteSpline"), piecewise
    ),
}
METHODS = {"PPoly": {"integrate": integral}}
