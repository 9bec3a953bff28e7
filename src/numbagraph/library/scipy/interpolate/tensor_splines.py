"""Products of B-splines of `scipy.interpolate`: `NdBSpline`, and FITPACK's splines of two variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, double, known, lifted, refuse, require
from numbagraph.library.scipy.interpolate.b_splines import Spline, integrate, interval_of
from numbagraph.library.scipy.interpolate.b_splines import basis as basis_of
from numbagraph.library.scipy.interpolate.piecewise_polynomials import spread
from numbagraph.library.scipy.interpolate.spline_fits import coefficients, ends_of, not_a_knot
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import Tracer


def at_points(t: Sequence[Any], c: Any, k: Sequence[int], columns: Sequence[Any], nu: Sequence[int]) -> Any:
    """The values of a product of splines at points whose coordinates are given one by one."""
    count, trailing = len(t), c.ndim - len(t)
    places: list[Any] = []
    weight: Any = 1.0
    for axis, (knots, degree, at, order) in enumerate(zip(t, k, columns, nu, strict=True)):
        place = interval_of(knots, degree, at)
        shape = (1,) * axis + (degree + 1,) + (1,) * (count - axis - 1)
        places.append(spread(place - degree, count) + np.reshape(np.arange(degree + 1), shape))
        if order > degree:
            return np.zeros((*at.shape, *known(c, "the coefficients of a spline")[count:]), c.dtype)
        values = np.stack(basis_of(knots, degree, at, place, order), axis=-1)
        weight = weight * np.reshape(values, (*at.shape, *shape))
    terms = lifted(c)[tuple(places)] * spread(weight, trailing)
    first = columns[0].ndim
    return np.sum(terms, axis=tuple(range(first, first + count)))


def product(spline: Any, xi: Any, *, nu: Any = None, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.NdBSpline.__call__`."""
    how = spline.extrapolate if extrapolate is None else extrapolate
    at, count = double(xi), len(spline.t)
    if known(at, "points of a spline")[-1] != count:
        raise ValueError(f"Shapes: xi.shape={at.shape} and ndim={count}")
    orders = [0] * count if nu is None else [int(each) for each in nu]
    if len(orders) != count:
        raise ValueError(f"invalid number of derivative orders nu = {np.asarray(nu)!r} for ndim = {count}.")
    if any(each < 0 for each in orders):
        raise ValueError(f"derivatives must be positive, got nu = {np.asarray(nu)!r}")
    columns = [at[..., number] for number in range(count)]
    outside = np.any(np.isnan(at), axis=-1)
    if not how:
        for knots, degree, column in zip(spline.t, spline.k, columns, strict=True):
            last = known(knots, "the knots of a spline")[0] - degree - 1
            outside = outside | (column < knots[degree]) | (column > knots[last])
    found = at_points(spline.t, array(spline.c), spline.k, columns, orders)
    return np.where(spread(outside, found.ndim - outside.ndim), np.nan, found)


class Product(OnlyTraced):
    """A product of splines, as `scipy.interpolate.NdBSpline` has one, of traced coefficients."""

    __slots__ = ("c", "extrapolate", "k", "t")
    advice = "return its values at points, or its coefficients, spline.c"

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: bool = True) -> None:
        self.t, self.c, self.k, self.extrapolate = t, c, k, extrapolate

    def __call__(self, xi: Any, *, nu: Any = None, extrapolate: Any = None) -> Any:
        return product(self, xi, nu=nu, extrapolate=extrapolate)


def made(t: Any, c: Any, k: Any, *, extrapolate: Any = None) -> Product:
    """`scipy.interpolate.NdBSpline`, of traced coefficients."""
    knots, values = tuple(double(each) for each in t), array(c)
    degrees = tuple(k) if isinstance(k, (tuple, list, np.ndarray)) else (k,) * len(knots)
    if len(degrees) != len(knots):
        raise ValueError(f"len(t) = {len(knots)} != len(k) = {len(degrees)}.")
    shape = known(values, "the coefficients of a spline")
    if len(shape) < len(knots):
        raise ValueError(f"Coefficients must be at least {len(knots)}-dimensional.")
    for axis, (line, degree) in enumerate(zip(knots, degrees, strict=True)):
        total = known(line, "the knots of a spline")[0]
        if shape[axis] != total - degree - 1:
            raise ValueError(
                f"Knots, coefficients and degree in dimension {axis} are inconsistent: got {shape[axis]} coefficients "
                f"for {total} knots, need at least {total - degree - 1} for k={k}."
            )
    values = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    return Product(knots, values, degrees, True if extrapolate is None else bool(extrapolate))


def interpolating(axes: Sequence[Any], values: Any, k: Sequence[int]) -> Product:
    """The product of splines that passes through values on a grid."""
    knots = [not_a_knot(axis, degree) for axis, degree in zip(axes, k, strict=True)]
    c = values
    for number, (axis, line, degree) in enumerate(zip(axes, knots, k, strict=True)):
        c = np.moveaxis(coefficients(axis, np.moveaxis(c, number, 0), line, degree), 0, number)
    return Product(knots, c, tuple(k))


# ---- FITPACK's splines of two variables ----


class Surface(OnlyTraced):
    """A spline, as `scipy.interpolate.RectBivariateSpline` has one, of traced points or heights."""

    __slots__ = ("degrees", "tck")
    advice = "return its values at points, or its coefficients, spline.get_coeffs()"

    def __init__(self, tx: Any, ty: Any, c: Any, degrees: tuple[int, int]) -> None:
        self.tck, self.degrees = (tx, ty, c), degrees

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        return surface(self, x, y, dx, dy, grid)

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        return surface(self, xi, yi, dx, dy, False)

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        return volume(self, xa, xb, ya, yb)

    def get_knots(self) -> tuple[Any, Any]:
        return self.tck[:2]

    def get_coeffs(self) -> Any:
        return self.tck[2]


def parts_of(spline: Any) -> tuple[list[Any], Any, tuple[int, int]]:
    """The knots, the coefficients as a matrix, and the degrees of a spline of two variables."""
    knots, degrees = [array(each) for each in spline.tck[:2]], tuple(spline.degrees)
    shape = [known(t, "a spline")[0] - k - 1 for t, k in zip(knots, degrees, strict=True)]
    return knots, np.reshape(array(spline.tck[2]), shape), degrees


def surface(spline: Any, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
    """`scipy.interpolate.RectBivariateSpline.__call__` and those of its kin."""
    knots, c, degrees = parts_of(spline)
    if (dx or dy) and not (0 <= dx < degrees[0] and 0 <= dy < degrees[1]):
        raise ValueError(f"Error code returned by {'parder' if grid else 'pardeu'}: 10")
    at = [double(x), double(y)]
    ends = [(t[k], t[known(t, "a spline")[0] - k - 1]) for t, k in zip(knots, degrees, strict=True)]
    if not grid:
        columns = [np.clip(each, *end) for each, end in zip(np.broadcast_arrays(*at), ends, strict=True)]
        return at_points(knots, c, degrees, columns, (dx, dy))
    for name, line in zip("xy", at, strict=True):
        if line.ndim:
            require(np.all(np.diff(np.ravel(line)) >= 0), f"{name} must be strictly increasing when `grid` is True")
    found = c
    for axis, order in enumerate((dx, dy)):
        line = np.clip(np.ravel(at[axis]), *ends[axis])
        place = interval_of(knots[axis], degrees[axis], line)
        weights = basis_of(knots[axis], degrees[axis], line, place, order)
        rows = lifted(np.moveaxis(found, axis, 0))
        sums: Any = sum(spread(each, 1) * rows[place - degrees[axis] + n] for n, each in enumerate(weights))
        found = np.moveaxis(sums, 0, axis)
    return found


def at_pairs(spline: Any, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
    return surface(spline, xi, yi, dx, dy, False)


def volume(spline: Any, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
    """`BivariateSpline.integral`."""
    knots, c, degrees = parts_of(spline)
    over_x = integrate(Spline(knots[0], c, degrees[0]), xa, xb, False)
    return integrate(Spline(knots[1], over_x, degrees[1]), ya, yb, False)


def rectangle(
    x: Any, y: Any, z: Any, bbox: Any = (None,) * 4, kx: int = 3, ky: int = 3, s: Any = 0, maxit: int = 20
) -> Surface:
    """`scipy.interpolate.RectBivariateSpline` with ``s=0``."""
    del maxit
    if isinstance(s, Tracer) or s != 0:
        refuse("scipy.interpolate.RectBivariateSpline of traced heights with s > 0", "make it outside, or with s=0")
    axes, values = [np.ravel(double(x)), np.ravel(double(y))], double(z)
    shape = known(values, "the heights of a spline")
    for name, axis, length in zip("xy", axes, shape, strict=True):
        require(np.all(np.diff(axis) > 0), f"{name} must be strictly increasing")
        if known(axis, "a spline")[0] != length:
            raise ValueError(f"{name} dimension of z must have same number of elements as {name}")
    knots: list[Any] = []
    for axis, k, box in zip(axes, (kx, ky), (bbox[:2], bbox[2:]), strict=True):
        low, high = ends_of(axis, box)
        line = not_a_knot(axis, k)
        inner = line[k + 1 : known(line, "a spline")[0] - k - 1]
        knots.append(np.concatenate([np.repeat(low, k + 1), inner, np.repeat(high, k + 1)]))
    c = coefficients(axes[0], values, knots[0], kx)
    c = coefficients(axes[1], c.T, knots[1], ky).T
    return Surface(knots[0], knots[1], np.reshape(c, math.prod(shape)), (kx, ky))


NAMES = ("RectBivariateSpline", "SmoothBivariateSpline", "LSQBivariateSpline")
FUNCTIONS = {"NdBSpline": made, "RectBivariateSpline": rectangle}
OBJECTS = {"NdBSpline": product, **dict.fromkeys(NAMES, surface)}
METHODS = {"BivariateSpline": {"ev": at_pairs, "integral": volume}}
