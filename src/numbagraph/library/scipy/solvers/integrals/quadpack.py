"""Integrals by QUADPACK's algorithms without weights, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy import leibniz
from numbagraph.library.scipy.solvers.integrals.adaptive import Inner, Quadrature, Settings, over_interval, over_pieces
from numbagraph.library.scipy.solvers.integrals.kronrod import EPS, KRONROD_15, KRONROD_21, Rule, estimated

Function = Callable[..., Any]

ROUNDOFF, NO_LIMIT = 2, 4
"""Statuses with which the value is the best one that can be had."""


class Options(NamedTuple):
    epsabs: Any
    epsrel: Any
    limit: int
    points: Any


class Found(NamedTuple):
    """An integral, whose integrand may be one itself."""

    value: Any
    error: Any
    """The largest estimate of the errors of this one and those inside of it."""
    calls: Any
    """The number of evaluations of the innermost function."""
    statuses: Any
    """A bit for each status of this one and those inside of it, by its number."""


def check(options: Options) -> None:
    """Refuse a limit and tolerances with which QUADPACK does not start."""
    if options.limit < 1:
        raise ValueError("Invalid 'limit' argument. There must be at least one subinterval")
    if options.epsabs <= 0 and options.epsrel < max(50.0 * EPS, 5e-29):
        raise ValueError("If 'epsabs'<=0, 'epsrel' must be greater than both 5e-29 and 50*(machine epsilon).")


def integral_of(integrand: Function, a: Any, b: Any, options: Options, is_nested: bool) -> Found:
    """Integrate a real function, or one that gives an integral (``is_nested``), with the details of it."""
    lower, upper, value, found = with_derivatives(integrand, a, b, options, is_nested)
    is_empty = np.equal(a, b)
    error = np.fmax(found.error, found.inner.error) if found.inner else found.error
    calls = found.inner.calls if found.inner else calls_of(lower, upper, options.points, found.last)
    statuses = np.int64(1) << found.status
    statuses = statuses | found.inner.statuses if found.inner else statuses
    return Found(value, *(np.where(is_empty, 0, each)[()] for each in (error, calls, statuses)))


def with_derivatives(
    integrand: Function, a: Any, b: Any, options: Options, is_nested: bool = False
) -> tuple[Any, Any, Any, Quadrature]:
    """Return the bounds in order, the integral, and the details of the quadrature."""
    epsabs, epsrel, limit, points = options
    check(options)
    a, b = np.float64(a), np.float64(b)
    lower, upper, is_flipped = sorted_bounds(a, b)
    settings = (epsabs, epsrel) if points is None else (epsabs, epsrel, points)

    def number(x: Any) -> Any:
        value = integrand(x)
        return value.value if is_nested else value

    region = leibniz.traced(number)
    found = adaptive(integrand, leibniz.for_each(region), lower, upper, limit, *settings, is_nested=is_nested)
    value = np.where(np.equal(a, b), 0.0, found.value)
    value = leibniz.integral(region, lower, upper, value, quadrature_of(limit), *settings)
    return lower, upper, np.where(is_flipped, -value, value)[()], found


def quadrature_of(limit: int) -> Function:
    """Return the quadrature of derivatives: NaN where it did not converge."""

    def quadrature(slope: Function, lower: Any, upper: Any, *settings: Any) -> Any:
        region = leibniz.traced(slope)
        found = adaptive(slope, leibniz.for_each(region), lower, upper, limit, *settings)
        is_found = (found.status == 0) | (found.status == ROUNDOFF) | (found.status == NO_LIMIT)
        value = np.where(np.equal(lower, upper), 0.0, np.where(is_found, found.value, np.nan))
        return leibniz.integral(region, lower, upper, value, quadrature, *settings)

    return quadrature


def is_known(x: Any, infinity: float) -> bool:
    """Whether a bound is known to be infinite."""
    return not is_traced(x) and bool(x == infinity)


def sorted_bounds(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Return the lower and the upper bound, and whether they were exchanged. What is known stays so."""
    if is_known(b, np.inf) or is_known(a, -np.inf):
        return a, b, False
    if is_known(a, np.inf) or is_known(b, -np.inf):
        return b, a, True
    if not is_traced((a, b)):
        return (b, a, True) if b < a else (a, b, False)
    is_flipped = b < a
    return np.where(is_flipped, b, a)[()], np.where(is_flipped, a, b)[()], is_flipped


def adaptive(
    f: Function,
    each: Function,
    lower: Any,
    upper: Any,
    limit: int,
    epsabs: Any,
    epsrel: Any,
    points: Any = None,
    is_nested: bool = False,
) -> Quadrature:
    """Integrate by the algorithm of QUADPACK that serves the bounds."""
    is_below, is_above = is_known(lower, -np.inf), is_known(upper, np.inf)
    inner = Inner(np.float64(0.0), np.int64(0), np.int64(0)) if is_nested else ()

    def settings(rule: Rule, in_pieces: bool = False) -> Settings:
        def apply(f: Function, a: Any, b: Any) -> Any:
            return estimated(f, a, b, rule, each)

        return Settings(apply, epsabs, epsrel, limit, in_pieces, inner)

    if not is_below and not is_above:
        if np.isinf(lower) or np.isinf(upper):
            raise ValueError("an infinite bound of quad must be known while the function is traced: write np.inf there")
        if points is None:
            return over_interval(f, lower, upper, settings(KRONROD_21))
        edges, pieces = edges_of(points, lower, upper)
        return over_pieces(f, edges, pieces, settings(KRONROD_21, True))
    if points is not None:
        raise ValueError("Infinity inputs cannot be used with break points.")

    def mapped(t: Any) -> Any:
        """Return the integrand on the unit interval, to which the infinite one is mapped."""
        distance = np.divide(1.0 - t, t)
        if is_below and is_above:
            one, other = f(distance), f(-distance)
            value = both(one, other) if isinstance(one, tuple) else one + other
        else:
            value = f(upper - distance) if is_below else f(lower + distance)
        if isinstance(value, tuple):
            return (np.divide(np.divide(value[0], t), t), *value[1:])
        return np.divide(np.divide(value, t), t)

    return over_interval(mapped, 0.0, 1.0, settings(KRONROD_15))


def both(one: Any, other: Any) -> Any:
    """Return the sum of two integrals."""
    return one[0] + other[0], np.fmax(one[1], other[1]), one[2] + other[2], one[3] | other[3]


def edges_of(points: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Return the bounds and the points between them in order, and the number of pieces."""
    count = len(points)
    ordered = np.sort(points)
    edges, pieces = np.zeros(count + 2), 0
    edges[0] = lower
    for i in range(count):
        point = ordered[i]
        is_new = (point > edges[pieces]) & (point < upper)
        pieces += is_new
        edges[pieces] = np.where(is_new, point, edges[pieces])
    edges[pieces + 1] = upper
    return edges, pieces + 1


def calls_of(lower: Any, upper: Any, points: Any, last: Any) -> Any:
    """Return the number of evaluations."""
    is_below, is_above = is_known(lower, -np.inf), is_known(upper, np.inf)
    if is_below or is_above:
        return (30 * last - 15) * (2 if is_below and is_above else 1)
    if points is None:
        return 42 * last - 21
    return 42 * last - 21 * edges_of(points, lower, upper)[1]
