"""FITPACK's splines of one variable: `splev`, and objects like `scipy.interpolate.UnivariateSpline`."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import array, double, known, refuse, require
from numbagraph.library.scipy.interpolate.b_splines import (
    Spline,
    antiderivative,
    b_spline,
    derivative,
    integrate,
    spline_of,
)  # fmt: skip
from numbagraph.library.scipy.interpolate.spline_fits import SMOOTH, interpolating, near
from numbagraph.tracing.errors import OnlyTraced

MODES: dict[Any, int] = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}
"""What is beyond the knots, by FITPACK's numbers."""


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """`scipy.interpolate.splev`."""
    spline = spline_of(tck)
    at = array(x)
    if not 0 <= der <= spline.k:
        raise ValueError(f"0<=der={der}<=k={spline.k} must hold")
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    low, high = spline.t[spline.k], spline.t[known(spline.t, "the knots of a spline")[0] - spline.k - 1]
    outside = (at < low) | (at > high)
    if ext == 2:
        require(~np.any(outside), "Out of bounds")
    found = b_spline(spline, np.clip(at, low, high) if ext == 3 and not der else at, der, True)
    return np.where(outside, 0.0, found) if ext == 1 else found


def spline_in(univariate: Any) -> Any:
    return univariate.spline if isinstance(univariate, Univariate) else spline_of(univariate._eval_args)


def call(univariate: Any, x: Any, nu: int = 0, ext: Any = None) -> Any:
    """`UnivariateSpline.__call__`."""
    how = univariate.ext if ext is None else ext
    if how not in MODES and how not in MODES.values():
        raise ValueError(f"Unknown extrapolation mode {how}.")
    mode: Any = MODES.get(how, how)
    return splev(x, spline_in(univariate), nu, mode)


def integral(univariate: Any, a: Any, b: Any) -> Any:
    """`UnivariateSpline.integral`."""
    return integrate(spline_in(univariate), a, b, False)


def derivatives(univariate: Any, x: Any) -> Any:
    """`UnivariateSpline.derivatives`."""
    spline = spline_in(univariate)
    return np.stack([b_spline(spline, double(x), nu) for nu in range(spline.k + 1)])


class Univariate(OnlyTraced):
    """A spline, as `scipy.interpolate.UnivariateSpline` has one, of traced points or heights."""

    __slots__ = ("ext", "spline")
    advice = "return its values at points, or its coefficients, spline.get_coeffs()"

    def __init__(self, spline: Spline, ext: Any) -> None:
        self.spline, self.ext = spline, ext
        if ext not in MODES and ext not in MODES.values():
            raise ValueError(f"Unknown extrapolation mode {ext}.")

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        return call(self, x, nu, ext)

    def get_knots(self) -> Any:
        return self.spline.t[self.spline.k : known(self.spline.t, "the knots of a spline")[0] - self.spline.k]

    def get_coeffs(self) -> Any:
        return self.spline.c

    def integral(self, a: Any, b: Any) -> Any:
        return integral(self, a, b)

    def derivatives(self, x: Any) -> Any:
        return derivatives(self, x)

    def derivative(self, n: int = 1) -> Univariate:
        return Univariate(without_zeros(derivative(self.spline, n)), 1 if self.ext in (1, 3, "const") else self.ext)

    def antiderivative(self, n: int = 1) -> Univariate:
        return Univariate(without_zeros(antiderivative(self.spline, n)), self.ext)

    def roots(self) -> Any:
        refuse("roots of a scipy.interpolate.UnivariateSpline", "scipy.optimize.brentq, between two points")


def without_zeros(spline: Spline) -> Spline:
    count = known(spline.t, "the knots of a spline")[0] - spline.k - 1
    return Spline(spline.t, spline.c[:count], spline.k)


def points_and_heights(x: Any, y: Any) -> tuple[Any, Any]:
    points, heights = double(x), double(y)
    if points.ndim != 1 or heights.ndim != 1 or known(points, "a spline") != known(heights, "a spline"):
        raise ValueError("x and y should have a same length")
    return points, heights


def rising(points: Any, strictly: bool) -> None:
    steps = np.diff(points)
    if strictly:
        require(np.all(steps > 0), "x must be strictly increasing")
    else:
        require(np.all(steps >= 0), "x must be increasing if s > 0")


def made(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, s: Any = None, ext: Any = 0,
    check_finite: bool = False,
) -> Univariate:  # fmt: skip
    """`scipy.interpolate.UnivariateSpline` with ``s=0``."""
    if s is None or is_traced(s) or s != 0:
        refuse("scipy.interpolate.UnivariateSpline of traced heights with s > 0", SMOOTH)
    return interpolated(x, y, w, bbox, k, ext, check_finite)


def interpolated(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0, check_finite: bool = False
) -> Univariate:
    """`scipy.interpolate.InterpolatedUnivariateSpline`."""
    del w, check_finite
    points, heights = points_and_heights(x, y)
    rising(points, False)
    rising(points, True)
    return Univariate(Spline(*interpolating(points, heights, k, tuple(bbox)), k), ext)


def least_squares(
    x: Any, y: Any, t: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0,
    check_finite: bool = False,
) -> Univariate:  # fmt: skip
    """`scipy.interpolate.LSQUnivariateSpline`."""
    del check_finite
    points, heights = points_and_heights(x, y)
    rising(points, False)
    return Univariate(Spline(*near(points, heights, t, w, k, tuple(bbox)), k), ext)


NAMES = ("UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline")

FUNCTIONS = {
    "splev": splev,
    "UnivariateSpline": made,
    "InterpolatedUnivariateSpline": interpolated,
    "LSQUnivariateSpline": least_squares,
}
OBJECTS = dict.fromkeys(NAMES, call)
METHODS = {"UnivariateSpline": {"integral": integral, "derivatives": derivatives}}
