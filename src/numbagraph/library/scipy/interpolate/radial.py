"""`scipy.interpolate.RBFInterpolator`: a sum of radial functions and a polynomial."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import array, double, inexact, known, refuse
from numbagraph.library.scipy.distance import cdist
from numbagraph.tracing.errors import OnlyTraced


def without_zero(r: Any) -> Any:
    return np.where(r == 0, 1.0, r)


KERNELS: dict[str, Any] = {
    "linear": lambda r: -r,
    "thin_plate_spline": lambda r: np.where(r == 0, 0.0, r**2 * np.log(without_zero(r))),
    "cubic": lambda r: r**3,
    "quintic": lambda r: -(r**5),
    "multiquadric": lambda r: -np.sqrt(r**2 + 1),
    "inverse_multiquadric": lambda r: 1 / np.sqrt(r**2 + 1),
    "inverse_quadratic": lambda r: 1 / (r**2 + 1),
    "gaussian": lambda r: np.exp(-(r**2)),
}
"""The radial functions, by SciPy's names."""

SCALED = ("linear", "thin_plate_spline", "cubic", "quintic")
"""The radial functions for which another unit of length is another scale."""

LEAST_DEGREES = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}
"""The least degrees of the polynomials with which the functions are positive definite."""


class Radial(OnlyTraced):
    """The interpolant that `scipy.interpolate.RBFInterpolator` makes of traced points, heights or options."""

    __slots__ = ("_coeffs", "_scale", "_shift", "d_shape", "epsilon", "kernel", "neighbors", "powers", "y")
    advice = "return its values at points"

    def __call__(self, x: Any) -> Any:
        return radial(self, x)


def made(
    y: Any,
    d: Any,
    neighbors: Any = None,
    smoothing: Any = 0.0,
    kernel: str = "thin_plate_spline",
    epsilon: Any = None,
    degree: Any = None,
) -> Radial:
    """`scipy.interpolate.RBFInterpolator`, of traced points, heights or options."""
    if neighbors is not None:
        refuse("scipy.interpolate.RBFInterpolator with neighbors=", "leave neighbors= out")
    points, heights = double(y), array(d)
    if points.ndim != 2:
        raise ValueError("`y` must be a 2-dimensional array.")
    count, width = known(points, "the points of an interpolant")
    shape = known(heights, "the heights of an interpolant")
    if shape[0] != count:
        raise ValueError(f"Expected the first axis of `d` to have length {count}.")
    smooth = double(smoothing)
    if smooth.ndim and known(smooth, "the smoothing of an interpolant") != (count,):
        raise ValueError(f"Expected `smoothing` to be a scalar or have shape ({count},).")
    found = Radial()
    found.kernel = kernel.lower()
    if found.kernel not in KERNELS:
        raise ValueError(f"`kernel` must be one of {set(KERNELS)}.")
    if epsilon is None and found.kernel not in SCALED:
        raise ValueError(f"`epsilon` must be specified if `kernel` is not one of {set(SCALED)}.")
    found.epsilon = 1.0 if epsilon is None else epsilon if is_traced(epsilon) else float(epsilon)
    found.powers = powers_of(width, degree_of(found.kernel, degree))
    if len(found.powers) > count:
        raise ValueError(
            f"At least {len(found.powers)} data points are required when `degree` is {degree_of(found.kernel, degree)} "
            f"and the number of dimensions is {width}."
        )
    found.neighbors, found.y, found.d_shape = None, points, shape[1:]
    rows = heights.astype(np.complex128 if heights.dtype.kind == "c" else np.float64)
    solve(found, rows.reshape((count, math.prod(shape[1:]))), smooth)
    return found


def degree_of(kernel: str, degree: Any) -> int:
    least = LEAST_DEGREES.get(kernel, -1)
    if degree is None:
        return max(least, 0)
    if int(degree) < -1:
        raise ValueError("`degree` must be at least -1.")
    if -1 < int(degree) < least:
        warnings.warn(
            f"`degree` should not be below {least} except -1 when `kernel` is '{kernel}'.The interpolant may not be "
            "uniquely solvable, and the smoothing parameter may have an unintuitive effect.",
            UserWarning,
            stacklevel=2,
        )
    return int(degree)


def powers_of(width: int, degree: int) -> np.ndarray:
    """The powers of the coordinates in each monomial of a polynomial."""
    found = [
        np.bincount(np.asarray(each, np.int64), minlength=width)
        for total in range(degree + 1)
        for each in itertools.combinations_with_replacement(range(width), total)
    ]
    return np.reshape(found, (-1, width)).astype(np.int64)


def monomials(powers: np.ndarray, at: Any) -> Any:
    """The monomials of points, by columns."""
    columns = []
    for each in powers:
        term: Any = np.ones_like(at[:, 0])
        for axis, power in enumerate(each):
            if power:
                term = term * at[:, axis] ** int(power)
        columns.append(term)
    return np.stack(columns, axis=-1) if columns else np.zeros((at.shape[0], 0))


def solve(found: Radial, rows: Any, smooth: Any) -> None:
    """Find the coefficients, which make the sum pass through the heights, or near them."""
    points = found.y
    count, extra = known(points, "the points of an interpolant")[0], len(found.powers)
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    found._shift, half = (high + low) / 2, (high - low) / 2
    found._scale = np.where(half == 0, 1.0, half)
    scaled = points * found.epsilon
    inner = KERNELS[found.kernel](cdist(scaled, scaled)) + np.eye(count) * smooth
    beside = monomials(found.powers, (points - found._shift) / found._scale)
    matrix = np.concatenate([
        np.concatenate([inner, beside], axis=1),
        np.concatenate([beside.T, np.zeros((extra, extra))], axis=1),
    ])  # fmt: skip
    zeros = np.zeros((extra, known(rows, "the heights of an interpolant")[1]))
    found._coeffs = np.linalg.solve(matrix, np.concatenate([rows, zeros]))


def radial(interpolant: Any, x: Any) -> Any:
    """`RBFInterpolator.__call__`, of all points."""
    if interpolant.neighbors is not None:
        refuse("scipy.interpolate.RBFInterpolator with neighbors=", "leave neighbors= out")
    at, points = double(x), array(interpolant.y)
    count, width = known(points, "the points of an interpolant")
    if at.ndim != 2:
        raise ValueError("`x` must be a 2-dimensional array.")
    if known(at, "RBFInterpolator")[1] != width:
        raise ValueError(f"Expected the second axis of `x` to have length {width}.")
    coefficients = array(interpolant._coeffs)
    distances = cdist(at * interpolant.epsilon, points * interpolant.epsilon)
    found = KERNELS[interpolant.kernel](distances) @ coefficients[:count]
    if len(interpolant.powers):
        scaled = (at - interpolant._shift) / interpolant._scale
        found = found + monomials(interpolant.powers, scaled) @ coefficients[count:]
    if has_pairs(interpolant, coefficients):
        found = found.reshape((at.shape[0], -1, 2))
        found = found[..., 0] + 1j * found[..., 1]
    return inexact(found).reshape((at.shape[0], *interpolant.d_shape))


def has_pairs(interpolant: Any, coefficients: Any) -> bool:
    """Whether real coefficients are those of complex heights, two for each."""
    width = known(coefficients, "the coefficients of an interpolant")[1]
    return coefficients.dtype.kind == "f" and width == 2 * math.prod(interpolant.d_shape) and width > 0


FUNCTIONS = {"RBFInterpolator": made}
OBJECTS = {"RBFInterpolator": radial}
