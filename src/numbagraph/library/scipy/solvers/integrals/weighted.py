"""`scipy.integrate.quad` with a weight, by QUADPACK's algorithms for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import IntegrationWarning

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy import leibniz
from numbagraph.library.scipy.solvers.integrals import quadpack
from numbagraph.library.scipy.solvers.integrals.bisection import Options, Sums, bisected
from numbagraph.library.scipy.solvers.integrals.clenshaw_curtis import algebraic_part, cauchy_part, ends_of

Function = Callable[..., Any]

LOGARITHMS = {"alg": (False, False), "alg-loga": (True, False), "alg-logb": (False, True), "alg-log": (True, True)}
"""Whether the weight has a logarithm of the distance from the lower and from the upper bound."""
POINTS = "Break points cannot be specified when using weighted integrand.\nContinuing, ignoring specified points."


def integrated(func: Function, a: Any, b: Any, weight: str, wvar: Any, options: quadpack.Options) -> Any:
    """Return the integral, whether the interval is empty, and what the quadrature found."""
    if weight not in ("cauchy", *LOGARITHMS):
        raise ValueError(f"{weight} not a recognized weighting function.")
    check_points(options.points)
    a, b = np.float64(a), np.float64(b)
    if np.isinf(a) or np.isinf(b):
        raise ValueError("Cannot integrate with this weight over an infinite interval.")
    quadpack.check(options)
    is_empty, is_flipped = np.equal(a, b), b < a
    lower, upper = np.where(is_flipped, b, a)[()], np.where(is_flipped, a, b)[()]
    upper = np.where(is_empty, lower + 1.0, upper)[()]  # what is found there is not taken

    def integrand(x: Any) -> Any:
        return np.float64(func(x))

    if weight == "cauchy":
        value, found = principal_value(integrand, lower, upper, np.float64(wvar), is_empty, options)
    else:
        powers = np.float64(wvar[0]), np.float64(wvar[1])
        value, found = algebraic(integrand, lower, upper, powers, LOGARITHMS[weight], options)
    value = np.where(is_empty, 0.0, np.where(is_flipped, -value, value))[()]
    return value, is_empty, found


def check_points(points: Any) -> None:
    """Warn of points that are not used."""
    if points is not None:
        warnings.warn(POINTS, IntegrationWarning, stacklevel=2)


def principal_value(f: Function, a: Any, b: Any, c: Any, is_empty: Any, options: quadpack.Options) -> tuple[Any, Sums]:
    """Integrate ``f(x) / (x - c)``. Derivatives are those of the integral of ``f(y + c) / y``."""
    if ((c == a) | (c == b)) & ~is_empty:
        raise ValueError("Parameter 'wvar' must not equal integration limits 'a' or 'b'.")
    tolerances = options.epsabs, options.epsrel
    region = leibniz.traced(lambda y: f(y + c), lambda y: np.divide(1.0, y))
    found = around(f, leibniz.for_each(region), a, b, c, options.limit, *tolerances)

    def quadrature(slope: Function, a: Any, b: Any, *tolerances: Any) -> Any:
        region = leibniz.traced(slope, lambda y: np.divide(1.0, y))
        found = around(slope, leibniz.for_each(region), a, b, np.float64(0.0), options.limit, *tolerances)
        return leibniz.integral(region, a, b, trusted(found), quadrature, *tolerances)

    return leibniz.integral(region, a - c, b - c, found.area, quadrature, *tolerances), found


def trusted(found: Sums) -> Any:
    """Return an integral, and NaN where the quadrature did not converge."""
    return np.where((found.status == 0) | (found.status == quadpack.ROUNDOFF), found.area, np.nan)


def around(f: Function, each: Function, a: Any, b: Any, c: Any, limit: int, epsabs: Any, epsrel: Any) -> Sums:
    """Integrate around a pole: QAWC."""

    def middle(low: Any, high: Any) -> Any:
        half = 0.5 * (low + high)
        above = np.where((c > half) & (c < high), 0.5 * (low + c), half)
        return np.where((c <= half) & (c > low), 0.5 * (c + high), above)

    def part(low: Any, high: Any) -> Any:
        return cauchy_part(f, each, low, high, c)

    return bisected(a, b, Options(part, middle, True, True, epsabs, epsrel, limit))


def algebraic(
    f: Function, a: Any, b: Any, powers: tuple[Any, Any], logs: tuple[bool, bool], options: quadpack.Options
) -> tuple[Any, Sums]:
    """Integrate a function with powers and logarithms of the distances from the bounds.

    Derivatives are those of an integral from 0 to 1: with the weight, if its powers are known and it has no logarithms,
    and otherwise of the product."""
    if np.minimum(*powers) <= -1.0:
        raise ValueError("wvar parameters (alpha, beta) must both be >= -1.")
    if options.limit < 2:
        raise ValueError("Invalid 'limit' argument. There must be at least two subintervals for this weight")
    tolerances = options.epsabs, options.epsrel
    width = b - a
    plain = leibniz.traced(lambda u: f(a + width * u))
    found = between(f, leibniz.for_each(plain), a, b, powers, logs, options.limit, *tolerances)
    if any(logs) or is_traced(powers):

        def product(u: Any) -> Any:
            low, high = width * u, width * (1.0 - u)
            value = width * f(a + low) * low ** powers[0] * high ** powers[1]
            value = value * np.log(low) if logs[0] else value
            return value * np.log(high) if logs[1] else value

        region, scale, quadrature = leibniz.traced(product), 1.0, quadpack.quadrature_of(options.limit)
    else:
        region, scale = plain, width ** (1.0 + powers[0] + powers[1])
        quadrature = algebraic_quadrature(powers, options.limit)
    zero, one = np.float64(0.0), np.float64(1.0)
    return scale * leibniz.integral(region, zero, one, found.area / scale, quadrature, *tolerances), found


def algebraic_quadrature(powers: tuple[Any, Any], limit: int) -> Function:
    """Return the quadrature of derivatives with powers as a weight."""

    def quadrature(slope: Function, a: Any, b: Any, *tolerances: Any) -> Any:
        region = leibniz.traced(slope)
        found = between(slope, leibniz.for_each(region), a, b, powers, (False, False), limit, *tolerances)
        return leibniz.integral(region, a, b, trusted(found), quadrature, *tolerances)

    return quadrature


def between(
    f: Function, each: Function, a: Any, b: Any, powers: Any, logs: Any, limit: int, epsabs: Any, epsrel: Any
) -> Sums:
    """Integrate between singular bounds: QAWS."""
    a, b = np.float64(a), np.float64(b)
    ends = ends_of(a, b, powers, logs)

    def part(low: Any, high: Any) -> Any:
        return algebraic_part(f, each, low, high, ends)

    return bisected(a, b, Options(part, lambda low, high: 0.5 * (low + high), False, False, epsabs, epsrel, limit))
