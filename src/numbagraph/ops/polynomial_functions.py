"""Polynomials: NumPy's functions of coefficients, the highest first, and the evaluation of series, the lowest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.lengths import as_length
from numbagraph.blockwise.promotion import as_strong, as_value, common_rule, convert, promote
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Op, Value
from numbagraph.ops.convolution import convolve
from numbagraph.ops.creation import iota, number_as, zeros_like
from numbagraph.ops.indexing.slicing import flip, narrow
from numbagraph.ops.linalg.least_squares import lstsq
from numbagraph.ops.reduction import sum
from numbagraph.ops.shape import at_least, expand_at


def coefficients(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    short, long = draw(rng, dtype, (2,)), draw(rng, dtype, (4,))
    return [(short, long), (long, short), (long, long[::-1].copy())] if dtype.kind != "b" else []


def vector(given: Any) -> Value:
    value = at_least(as_strong(given), 1)
    if value.ndim > 1:
        raise ValueError("a polynomial has one dimension: its coefficients, the highest first")
    return value


def polynomial_sum(name: str) -> Callable[..., Value]:
    """Return a function that combines two polynomials by whole parts of one or the other, so that neither is copied
    behind zeros."""
    op = registry[name]

    def function(a1: Any, a2: Any) -> Value:
        left, right = promote(common_rule(), (vector(a1), vector(a2)))
        shared = shapes.minimum(left.shape[0], right.shape[0])
        before = [shapes.subtract(each.shape[0], shared) for each in (left, right)]
        zero = number_as(0, left.dtype)
        parts = [op(narrow(left, -1, 0, before[0]), zero), op(zero, narrow(right, -1, 0, before[1]))]
        highest = [part for part, length in zip(parts, before, strict=True) if shapes.resolve(length) != 0]
        lower = op(*(narrow(each, -1, start, shared) for each, start in zip((left, right), before, strict=True)))
        return registry["concatenate"]([*highest, lower]) if highest else lower

    return function


polyadd = decomposition(np.polyadd, samples=coefficients)(polynomial_sum("add"))
polysub = decomposition(np.polysub, samples=coefficients)(polynomial_sum("subtract"))


def untrimmed(a1: Any, a2: Any) -> Any:
    """Return `numpy.polymul` with leading zeros left in place: their number depends on the elements."""
    return np.convolve(a1, a2)


@decomposition(untrimmed, name="polymul", implements=(np.polymul,), samples=coefficients, ulp=16)
def polymul(a1: Any, a2: Any) -> Value:
    return convolve(vector(a1), vector(a2))


def value_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    coefficients = draw(rng, dtype, (4,))
    return [(coefficients, draw(rng, dtype, (3, 2))), ([1, 2, 3], draw(rng, dtype, (5,)))]


@decomposition(np.polyval, samples=value_samples, ulp=64)
def polyval(p: Any, x: Any) -> Value:
    value, at = as_strong(p), as_strong(x)
    return power_series(at, flip(value, 0))


def power_series(x: Value, series: Value) -> Value:
    """Return the sum of powers, the lowest first, by Horner's scheme."""
    length = shapes.resolve(series.shape[0])
    if not isinstance(length, int):
        raise TypeError("polyval: the number of coefficients must be known here: call NumPy's own function")
    result = zeros_like(x)
    for number in reversed(range(length)):
        result = result * x + series[number]
    return result


@decomposition(
    np.polyder,
    samples=lambda rng, dtype: derivative_samples(rng, dtype),
    view_of=lambda p, m=1: None if m else p,
)
def polyder(p: Any, m: int = 1) -> Value:
    value = as_strong(p)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(m):
        degree = shapes.as_value(value.shape[0]) - 1
        value = value[:-1] * (degree - iota(shapes.maximum(shapes.subtract(value.shape[0], 1), 0)))
    return value


def derivative_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (5,))
    return [(array,), (array, 2), (array, 0), (array[:1],)] if dtype.kind != "b" else []


@decomposition(np.polyint, samples=derivative_samples, view_of=lambda p, m=1, k=None: None if m else p)
def polyint(p: Any, m: int = 1, k: Any = None) -> Value:
    value = as_strong(p)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = [0.0] * m if k is None else [k] * m if np.ndim(k) == 0 else list(k)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for number in range(m):
        divisor = shapes.as_value(value.shape[0]) - iota(value.shape[0])
        parts = promote(common_rule(), (value / divisor, as_value(constants[number])))
        value = registry["concatenate"]([parts[0], expand_at(parts[1], (0,))])
    return value


def vander_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (4,))
    return [(array, 3), (array, 3, True), (array, 1), (array, 0), (array,)] if dtype.kind != "b" else []


@decomposition(np.vander, samples=vander_samples, ulp=8)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Value:
    value = as_strong(x)
    if value.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = value.shape[0] if N is None else as_length(N)
    dtype = np.result_type(value.dtype, int)
    steps = iota(count)
    exponents = steps if increasing else shapes.as_value(count) - 1 - steps
    columns = expand_at(convert(value, dtype), (1,))
    if isinstance(count, int) and count <= 16:
        return powers(columns, count, increasing)
    return columns**exponents


def powers(columns: Value, count: int, increasing: bool) -> Value:
    """Return the powers side by side, each the one before times the numbers."""
    found = [registry["ones_like"](columns)]
    for _ in range(count - 1):
        found.append(found[-1] * columns)
    if not count:
        return registry["concatenate"](found, 1)[:, :0]
    return registry["concatenate"](found if increasing else found[::-1], 1)


def fit_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype != np.float64:
        return []
    x, y = np.linspace(-1.0, 2.0, 7), rng.normal(size=(7, 2))
    weights = rng.uniform(0.5, 2.0, 7)
    return [(x, y[:, 0].copy(), 2), (x, y, 1), (x, y[:, 1].copy(), 0), (x, y, 2, Keywords(w=weights))]


@decomposition(np.polyfit, samples=fit_samples, ulp=4096)
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Value:
    if full or cov:
        raise NotImplementedError("polyfit with full=True or cov=True: use np.linalg.lstsq of np.vander(x, deg + 1)")
    at, values = as_strong(x) + 0.0, as_strong(y) + 0.0
    shapes.require(shapes.compare("greater_equal", deg, 0), "expected deg >= 0", ValueError)
    if at.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if values.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    shapes.require_same(at.shape[0], values.shape[0], "expected x and y to have same length", TypeError)
    some = shapes.compare("greater", at.shape[0], 0)
    shapes.require(some, "expected non-empty vector for x", TypeError)
    columns = vander(at, deg + 1)
    if w is not None:
        weights = as_strong(w) + 0.0
        shapes.require_same(weights.shape[0], values.shape[0], "expected w and y to have the same length", TypeError)
        columns, values = columns * weights[:, None], values * (weights if values.ndim == 1 else weights[:, None])
    scale = registry["sqrt"](sum(columns * columns, 0))
    found = lstsq(columns / scale, values, rcond)[0]
    return found / (scale if found.ndim == 1 else expand_at(scale, (1,)))


# ---- sums of series, the lowest coefficient first ----


def series_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "fc" or dtype.itemsize < 8:
        return []
    points, numbers = draw(rng, dtype, (3, 2), (-1.0, 1.0)), [0.5, -1.0, 2.0, 0.25]
    return [(points, numbers[:count]) for count in (1, 2, 4)]


Term = Callable[[Value, Value, int], Value]


def declare_series(module: str, name: str, less: Term, more: Term) -> Op:
    """Declare the sum of a series of polynomials by Clenshaw's recurrence, from the last coefficient to the first. Of
    the two sums that it carries, ``less`` is what the second one takes from the next coefficient, and ``more`` what it
    adds to the first one; their last argument is the degree. NumPy rounds at the same places, in the same dtypes."""

    @decomposition(f"numpy.polynomial.{module}:{name}", samples=series_samples, ulp=256)
    def function(x: Any, c: Any, tensor: bool = True) -> Value:
        at, series = as_strong(x), as_strong(c)
        series = series if series.dtype.kind in "fc" else convert(series, FLOAT64)
        if tensor and series.ndim > 1:
            series = expand_at(series, range(series.ndim, series.ndim + at.ndim))
        length = shapes.resolve(series.shape[0])
        if not isinstance(length, int):
            raise TypeError(f"{name}: the number of coefficients must be known when the function is traced")
        first, second = (series[0], as_value(0)) if length == 1 else (series[length - 2], series[length - 1])
        for degree in reversed(range(2, length)):
            first, second = series[degree - 2] - less(second, at, degree), first + more(second, at, degree)
        return first + more(second, at, 1)

    return function


chebval = declare_series("chebyshev", "chebval", lambda q, x, n: q, lambda q, x, n: q * (2 * x) if n > 1 else q * x)
legval = declare_series(
    "legendre", "legval", lambda q, x, n: q * ((n - 1) / n), lambda q, x, n: q * x * ((2 * n - 1) / n)
)
hermval = declare_series("hermite", "hermval", lambda q, x, n: q * (2 * (n - 1)), lambda q, x, n: q * (x * 2))
hermeval = declare_series("hermite_e", "hermeval", lambda q, x, n: q * (n - 1), lambda q, x, n: q * x)
lagval = declare_series(
    "laguerre", "lagval", lambda q, x, n: (q * (n - 1)) / n, lambda q, x, n: (q * ((2 * n - 1) - x)) / n
)


@decomposition("numpy.polynomial.polynomial:polyval", name="polynomial_value", samples=series_samples, ulp=64)
def polynomial_value(x: Any, c: Any, tensor: bool = True) -> Value:
    at, series = as_strong(x), as_strong(c)
    series = series if series.dtype.kind in "fc" else convert(series, FLOAT64)
    if tensor and series.ndim > 1:
        series = expand_at(series, range(series.ndim, series.ndim + at.ndim))
    return power_series(at, series)
