"""Splines of `scipy.interpolate` that pass through heights or near them: their coefficients are linear in the
heights."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir.op import load, registry
from numbagraph.library.scipy.arguments import array, axis_of, double, known, refuse, require
from numbagraph.library.scipy.interpolate.b_splines import Spline, basis, interval_of, padded
from numbagraph.library.scipy.interpolate.piecewise_polynomials import spread
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import apply

POINTS = "the points of a spline"


def finite(values: Any, check: bool) -> Any:
    found = array(values)
    found = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
    if check:
        require(np.all(np.isfinite(found)), "Array must not contain infs or nans.")
    return found


def ends_repeated(x: Any, inner: Any, first: int, last: int) -> Any:
    return np.concatenate([np.repeat(x[:1], first), inner, np.repeat(x[-1:], last)])


def not_a_knot(x: Any, k: int) -> Any:
    """The knots of a spline of as many coefficients as points. [de Boor, chapter XIII, equation 12]"""
    half = (k + 1) // 2
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    return ends_repeated(x, inner[half : known(inner, POINTS)[0] - half], k + 1, k + 1)


Conditions = list[tuple[int, Any]]


def conditions_of(given: Any, shape: tuple[int, ...], k: int, end: Any) -> Conditions:
    """The orders and values of the derivatives at an end."""
    if isinstance(given, str):
        if given not in ("clamped", "natural"):
            raise ValueError(f"Unknown boundary condition : {given}")
        given = [(1 if given == "clamped" else 2, np.zeros(shape))]
    try:
        found = [(operator.index(order), array(value)) for order, value in (() if given is None else given)]
    except TypeError as error:
        raise ValueError(
            "Derivatives, `bc_type`, should be specified as a pair of iterables of pairs of (order, value)."
        ) from error
    if not all(0 <= order <= k for order, _ in found):
        raise ValueError(f"Bad boundary conditions at {end}.")
    return found


def checked_points(x: Any, y: Any, axis: int, check_finite: bool) -> tuple[Any, Any, int]:
    points, heights = finite(x, check_finite), finite(y, check_finite)
    axis = axis_of(axis, heights.ndim)
    heights = np.moveaxis(heights, axis, 0)
    if points.ndim != 1:
        raise ValueError("Expect x to be a 1D strictly increasing sequence.")
    if known(points, POINTS)[0] != known(heights, "the heights of a spline")[0]:
        raise ValueError(f"Shapes of x {points.shape} and y {heights.shape} are incompatible")
    return points, heights, axis


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> Spline:
    """`scipy.interpolate.make_interp_spline`."""
    left, right = (None, None) if bc_type in (None, "not-a-knot") else bc_type_pair(bc_type)
    points, heights, axis = checked_points(x, y, axis, check_finite)
    require(np.all(points[1:] != points[:-1]), "Expect x to not have duplicates")
    require(np.all(points[1:] > points[:-1]), "Expect x to be a 1D strictly increasing sequence.")
    k = operator.index(k)
    if k < 0:
        raise ValueError("Expect non-negative k.")
    if k == 0:
        if any(each is not None for each in (t, left, right)):
            raise ValueError("Too much info for k=0: t and bc_type can only be None.")
        return Spline(np.concatenate([points, points[-1:]]), heights, k, True, axis)
    if k == 1 and t is None:
        if left is not None or right is not None:
            raise ValueError("Too much info for k=1: bc_type can only be None.")
        return Spline(ends_repeated(points, points, 1, 1), heights, k, True, axis)
    if t is None:
        t = not_a_knot(points, k) if left is right is None else ends_repeated(points, points, k, k)
    knots = finite(t, check_finite)
    return Spline(knots, coefficients(points, heights, knots, k, left, right), k, True, axis)


def bc_type_pair(bc_type: Any) -> tuple[Any, Any]:
    if bc_type == "periodic":
        refuse(
            "scipy.interpolate.make_interp_spline with bc_type='periodic'",
            "scipy.interpolate.CubicSpline(x, y, bc_type='periodic')",
        )
    if isinstance(bc_type, str):
        return bc_type, bc_type
    try:
        left, right = bc_type
    except TypeError as error:
        raise ValueError(f"Unknown boundary condition: {bc_type}") from error
    return left, right


def coefficients(points: Any, heights: Any, knots: Any, k: int, left: Any = None, right: Any = None) -> Any:
    """The coefficients of the spline with these knots through these heights, with given derivatives at the ends."""
    shape = known(heights, "the heights of a spline")
    count, total = shape[0], known(knots, "the knots of a spline")[0]
    if knots.ndim != 1:
        raise ValueError("Expect t to be a 1-D sorted array_like.")
    require(np.all(knots[1:] >= knots[:-1]), "Expect t to be a 1-D sorted array_like.")
    if total < count + k + 1:
        raise ValueError(f"Got {total} knots, need at least {count + k + 1}.")
    require((points[0] >= knots[k]) & (points[-1] <= knots[total - k - 1]), f"Out of bounds w/ x = {points}.")
    first, last = conditions_of(left, shape[1:], k, points[0]), conditions_of(right, shape[1:], k, points[-1])
    unknown = total - k - 1
    if unknown - count != len(first) + len(last):
        raise ValueError(
            "The number of derivatives at boundaries does not match: "
            f"expected {unknown - count}, got {len(first)}+{len(last)}"
        )
    rows = [*(of_points(knots, k, points[:1], order) for order, _ in first), of_points(knots, k, points)]
    rows += [of_points(knots, k, points[-1:], order) for order, _ in last]
    places = np.concatenate([place for place, _ in rows])
    values = [np.concatenate(each) for each in zip(*(found for _, found in rows), strict=True)]
    sides = [[np.reshape(value, (1, *shape[1:])) for _, value in each] for each in (first, last)]
    right_side = np.concatenate([*sides[0], heights, *sides[1]]).reshape(unknown, -1)
    matrix = bands(places, values, k, unknown)
    solve = solver("solve_banded", matrix, right_side)
    found = solve((k, k), matrix, right_side)
    return found.reshape((unknown, *shape[1:]))


def solver(name: str, *operands: Any) -> Any:
    """SciPy's solver of banded systems, or its op where an operand is traced."""
    if not is_traced(operands):
        return load(f"scipy.linalg:{name}")
    return lambda *args, **options: apply(registry[name], *args, **options)


def of_points(knots: Any, k: int, at: Any, nu: int = 0) -> tuple[Any, list[Any]]:
    """The intervals of points, and the values of the basis functions there."""
    place = interval_of(knots, k, at)
    return place, basis(knots, k, at, place, nu)


def bands(places: Any, values: list[Any], k: int, count: int) -> Any:
    """The diagonals of the matrix whose row ``i`` has values in the columns up to ``places[i]``."""
    number, rows = np.arange(count), []
    for offset in range(k, -k - 1, -1):
        diagonal: Any = 0.0
        for step, value in enumerate(values):
            diagonal = diagonal + np.where(places - k + step == number + offset, value, 0.0)
        zeros = np.zeros(abs(offset))
        parts = [zeros, diagonal[: count - offset]] if offset >= 0 else [diagonal[-offset:], zeros]
        rows.append(np.concatenate(parts))
    return np.stack(rows)


# ---- least squares ----


def make_lsq_spline(
    x: Any,
    y: Any,
    t: Any,
    k: int = 3,
    w: Any = None,
    axis: int = 0,
    check_finite: bool = True,
    *,
    method: str = "qr",
) -> Spline:
    """`scipy.interpolate.make_lsq_spline`."""
    points, heights, axis = checked_points(x, y, axis, check_finite)
    knots, k = finite(t, check_finite), operator.index(k)
    if method not in ("qr", "norm-eq"):
        raise ValueError(f"Unknown method ={method!r}.")
    (count,) = known(points, POINTS)
    if count < k + 1:
        raise ValueError("Need more x points.")
    if k < 0:
        raise ValueError("Expect non-negative k.")
    if knots.ndim != 1:
        raise ValueError("Expect t to be a 1D strictly increasing sequence.")
    require(np.all(np.diff(knots) >= 0), "Expect t to be a 1D strictly increasing sequence.")
    if k > 0:
        total = known(knots, "the knots of a spline")[0]
        inside = (points >= knots[k]) & (points <= knots[total - k - 1])
        require(np.all(inside), f"Out of bounds w/ x = {points}.")
    weights = None if w is None else finite(w, check_finite)
    if weights is not None and known(weights, "the weights of a spline") != (count,):
        raise ValueError(f"Shapes of x {points.shape} and w {weights.shape} are incompatible")
    require(np.all(np.diff(points) >= 0), "Expect x to be a 1D non-decreasing sequence.")
    return Spline(knots, fitted(points, heights, knots, k, weights), k, True, axis)


def fitted(points: Any, heights: Any, knots: Any, k: int, weights: Any) -> Any:
    """The coefficients of the spline with these knots that is nearest to these heights."""
    count = known(knots, "the knots of a spline")[0] - k - 1
    place, values = of_points(knots, k, points)
    columns, matrix = np.arange(count), np.zeros((1, count))
    for step, value in enumerate(values):
        matrix = matrix + np.where(np.expand_dims(place - k + step, -1) == columns, np.expand_dims(value, -1), 0.0)
    shape = known(heights, "the heights of a spline")
    rows = heights.reshape((shape[0], -1))
    if weights is not None:
        matrix, rows = matrix * np.expand_dims(weights, -1), rows * np.expand_dims(weights, -1)
    q, r = np.linalg.qr(matrix)
    if not is_traced(r):  # the coefficients are one product
        found = np.linalg.solve(r, q.T) @ rows
    else:
        found = apply(registry["solve_triangular"], r, q.T @ rows)
    return found.reshape((count, *shape[1:]))


# ---- smoothing ----


def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0) -> Spline:
    """`scipy.interpolate.make_smoothing_spline`. [Reinsch, Smoothing by Spline Functions, 1967]"""
    points, heights = double(x), double(y)
    axis = axis_of(axis, heights.ndim)
    heights = np.moveaxis(heights, axis, 0)
    (count,), shape = known(points, POINTS), known(heights, "the heights of a spline")
    require(np.all(points[1:] > points[:-1]), "``x`` should be an ascending array")
    if shape[0] != count:
        raise ValueError(f"``x`` should be 1D and x.shape = {(count,)} == y.shape = {shape}")
    weights = np.ones(count) if w is None else double(w)
    require(np.all(weights > 0), "Invalid vector of weights")
    if count <= 4:
        raise ValueError("``x`` and ``y`` length must be at least 5")
    rows = heights.reshape((count, -1))
    if lam is None:
        lam = parameters_of(points, rows, weights)
    else:
        lam = double(lam)
        require(np.all(lam >= 0), "Regularization parameter should be non-negative")
    smooth = smoothed(points, rows, weights, lam).reshape(shape)
    knots = ends_repeated(points, points, 3, 3)
    return Spline(knots, coefficients(points, smooth, knots, 3, "natural", "natural"), 3, True, axis)


def second_differences(points: Any) -> tuple[Any, Any]:
    """The weights of three heights in a second difference, by columns, and the bands of the products of the hats whose
    multiples the second derivatives are."""
    widths = np.diff(points)
    weights = np.stack([1 / widths[:-1], -1 / widths[:-1] - 1 / widths[1:], 1 / widths[1:]])
    beside = np.concatenate([widths[1:-1] / 6, np.zeros(1)])
    return weights, np.stack([(widths[:-1] + widths[1:]) / 3, beside])


def smoothed(points: Any, rows: Any, weights: Any, lam: Any) -> Any:
    """The heights of a smoothing spline at its points."""
    q, hats = second_differences(points)
    inner, (count,) = q / stacked(weights), known(points, POINTS)
    products = [np.sum(q * inner, axis=0)]
    products.append(np.concatenate([q[1, :-1] * inner[0, 1:] + q[2, :-1] * inner[1, 1:], np.zeros(1)]))
    products.append(np.concatenate([q[2, :-2] * inner[0, 2:], np.zeros(2)]))
    penalty, base = np.stack(products), np.concatenate([hats, np.zeros((1, count - 2))])
    right: Any = sum(spread(q[n], 1) * rows[n : count - 2 + n] for n in range(3))
    solve = solver("solveh_banded", base, penalty, right, lam)
    if np.ndim(lam):
        columns = known(rows, "the heights of a spline")[1]
        bend = np.stack([solve(base + lam[n] * penalty, right[:, n], lower=True) for n in range(columns)], axis=1)
    else:
        bend = solve(base + lam * penalty, right, lower=True)
    zeros = np.zeros((2, 1))
    spread_out: Any = 0.0
    for n in range(3):
        part = spread(q[n], 1) * bend
        edges = [np.broadcast_to(zeros[:each], (each, known(part, "a spline")[1])) for each in (n, 2 - n)]
        spread_out = spread_out + np.concatenate([edges[0], part, edges[1]])
    return rows - lam * spread_out / spread(weights, 1)


def stacked(weights: Any) -> Any:
    """The weights of the three heights of each second difference."""
    count = known(weights, "the weights of a spline")[0]
    return np.stack([weights[n : count - 2 + n] for n in range(3)])


def parameters_of(points: Any, rows: Any, weights: Any) -> Any:
    """The parameters of smoothing, one for each column, that generalised cross-validation finds."""
    if is_traced((points, weights)):
        refuse(
            "scipy.interpolate.make_smoothing_spline of traced points or weights with lam=None", "give lam= a number"
        )
    (count,) = known(points, POINTS)
    factors, directions = modes(points, weights)
    minimize = converted(load("numbagraph.library.scipy.solvers.minima.one_variable:minimize_scalar"))
    found = []
    for number in range(rows.shape[1]):
        parts = directions.T @ (np.sqrt(weights) * rows[:, number])

        def score(lam: Any, parts: Any = parts) -> Any:
            share = lam * factors / (1 + lam * factors)
            return np.sum(weights_of_parts(share * parts)) / count / (np.sum(share) / count) ** 2

        def weights_of_parts(parts: Any) -> Any:
            away = (directions @ parts) / np.sqrt(weights)
            return away * away

        found.append(minimize(score, bounds=(0, count), method="bounded").x)
    return np.stack(found)


def modes(points: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """How rough the vectors are, in which a smoothing spline takes heights apart: it divides each by one and a
    multiple of this."""
    q, hats = second_differences(points)
    count = len(points)
    dense = np.zeros((count, count - 2))
    for n in range(3):
        dense[np.arange(count - 2) + n, np.arange(count - 2)] = q[n]
    products = np.diag(hats[0]) + np.diag(hats[1][:-1], 1) + np.diag(hats[1][:-1], -1)
    scaled = dense / np.sqrt(weights)[:, None]
    left, sizes, _ = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(products), scaled.T).T, full_matrices=False)
    return sizes**2, left


# ---- FITPACK's names ----


def splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: int = 3,
    task: int = 0,
    s: Any = None,
    t: Any = None,
    full_output: Any = 0,
    per: Any = 0,
    quiet: Any = 1,
) -> tuple[Any, Any, int]:
    """`scipy.interpolate.splrep` with known knots: those of ``t``, or for ``s=0`` those at the points."""
    del quiet
    if full_output or per or task == 1:
        refuse("scipy.interpolate.splrep with full_output, per or task=1", "leave them out")
    points, heights = double(x), double(y)
    smoothing = (0.0 if w is None else 1.0) if s is None else s
    if t is None and (is_traced(smoothing) or smoothing != 0):
        refuse("scipy.interpolate.splrep with s > 0", SMOOTH)
    knots, c = interpolating(points, heights, k, (xb, xe)) if t is None else near(points, heights, t, w, k, (xb, xe))
    return knots, padded(c, known(knots, "the knots of a spline")[0]), k


SMOOTH = (
    "how many knots it has is for the data to decide: make_smoothing_spline(x, y, lam=...), or the knots in t= "
    "(make_lsq_spline, LSQUnivariateSpline)"
)


def interpolating(points: Any, heights: Any, k: int, box: Any) -> tuple[Any, Any]:
    """The knots and coefficients of FITPACK's spline without smoothing."""
    count = known(points, POINTS)[0]
    if not 1 <= k <= 5:
        raise ValueError("k should be 1 <= k <= 5")
    if count <= k:
        raise TypeError(f"m > k must hold: {count} points, degree {k}")
    knots = not_a_knot(points, k)
    return boxed(knots, points, heights, box, k)


def near(points: Any, heights: Any, t: Any, w: Any, k: int, box: Any) -> tuple[Any, Any]:
    low, high = ends_of(points, box)
    knots = np.concatenate([np.repeat(low, k + 1), double(t), np.repeat(high, k + 1)])
    require(np.all(np.diff(knots[k : known(knots, POINTS)[0] - k]) > 0), "Interior knots t must satisfy "
            "Schoenberg-Whitney conditions")  # fmt: skip
    return knots, fitted(points, heights, knots, k, None if w is None else double(w))


def ends_of(points: Any, box: Any) -> tuple[Any, Any]:
    low, high = box
    return (
        points[:1] if low is None else np.reshape(double(low), (1,)),
        points[-1:] if high is None else np.reshape(double(high), (1,)),
    )


def boxed(knots: Any, points: Any, heights: Any, box: Any, k: int) -> tuple[Any, Any]:
    if any(each is not None for each in box):
        low, high = ends_of(points, box)
        total = known(knots, "the knots of a spline")[0]
        knots = np.concatenate([np.repeat(low, k + 1), knots[k + 1 : total - k - 1], np.repeat(high, k + 1)])
    return knots, coefficients(points, heights, knots, k)


FUNCTIONS = {
    "make_interp_spline": make_interp_spline,
    "make_lsq_spline": make_lsq_spline,
    "make_smoothing_spline": make_smoothing_spline,
    "splrep": splrep,
}
