"""`scipy.integrate.quad`, with and without weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import IntegrationWarning

from numbagraph.library.scipy.arguments import known_number
from numbagraph.library.scipy.solvers.integrals import waves, weighted
from numbagraph.library.scipy.solvers.integrals.cycles import Cycles
from numbagraph.library.scipy.solvers.integrals.messages import messages, messages_of_cycles
from numbagraph.library.scipy.solvers.integrals.oscillation import Wave
from numbagraph.library.scipy.solvers.integrals.quadpack import (
    Options,
    calls_of,
    is_known,
    sorted_bounds,
    with_derivatives,
)
from numbagraph.library.scipy.solvers.integrals.subintervals import Subintervals

Function = Callable[..., Any]


def quad(
    func: Function,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
    limit: Any = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: Any = 50,
    limlst: Any = 50,
    complex_func: bool = False,
) -> Any:
    """`scipy.integrate.quad`."""
    del wopts  # moments, which are found again
    args = args if isinstance(args, tuple) else (args,)
    points = None if points is None else np.asarray(points, dtype=np.float64)
    options = Options(epsabs, epsrel, known_number(limit, "the limit of quad"), points)
    if weight in ("cos", "sin"):
        most = known_number(limlst, "the limit of cycles of quad")
        if maxp1 < 1:
            raise ValueError("Chebyshev moment limit maxp1 must be >=1.")

        def integrate(f: Function) -> Any:
            return wave_integral(f, a, b, Wave(np.float64(wvar), weight == "sin"), full_output, most, options)
    elif weight is not None:

        def integrate(f: Function) -> Any:
            return weighted_integral(f, a, b, weight, wvar, full_output, options)
    else:

        def integrate(f: Function) -> Any:
            return integrated(f, a, b, full_output, options)

    if complex_func:
        real = integrate(lambda x: np.real(func(x, *args)))
        imaginary = integrate(lambda x: np.imag(func(x, *args)))
        found = real[0] + 1j * imaginary[0], real[1] + 1j * imaginary[1]
        return (*found, {"real": real[2:], "imag": imaginary[2:]}) if full_output else found
    return integrate(lambda x: func(x, *args))


def integrated(func: Function, a: Any, b: Any, full_output: Any, options: Options) -> Any:
    """Integrate a real function."""
    limit, points = options.limit, options.points

    def integrand(x: Any) -> Any:
        return np.float64(func(x))

    lower, upper, value, found = with_derivatives(integrand, a, b, options)
    is_empty = np.equal(a, b)
    error, status = np.where(is_empty, 0.0, found.error)[()], np.where(is_empty, 0, found.status)
    if full_output:
        calls = calls_of(lower, upper, points, found.last)
        return value, error, info_of(found.parts, found.last, is_empty, calls, status)
    warn_of(status, messages(limit))
    return value, error


def weighted_integral(
    func: Function, a: Any, b: Any, weight: str, wvar: Any, full_output: Any, options: Options
) -> Any:
    """Integrate a real function with a weight."""
    value, is_empty, found = weighted.integrated(func, a, b, weight, wvar, options)
    error, status = np.where(is_empty, 0.0, found.error)[()], np.where(is_empty, 0, found.status)
    if full_output:
        return value, error, info_of(found.parts, found.last, is_empty, found.calls, status)
    warn_of(status, messages(options.limit))
    return value, error


def wave_integral(func: Function, a: Any, b: Any, wave: Wave, full_output: Any, most: int, options: Options) -> Any:
    """Integrate a real function with the weight of a wave."""
    weighted.check_points(options.points)
    lower, upper, is_flipped = sorted_bounds(np.float64(a), np.float64(b))
    is_below, is_above = is_known(lower, -np.inf), is_known(upper, np.inf)
    if is_below and is_above:
        raise ValueError("Cannot integrate with this weight from -Inf to +Inf.")

    def integrand(x: Any) -> Any:
        return np.float64(func(x))

    def mirrored(x: Any) -> Any:
        return -integrand(-x) if wave.is_sine else integrand(-x)

    is_infinite = is_below or is_above
    if is_infinite:
        start = -upper if is_below else lower
        value, found = waves.to_infinity(mirrored if is_below else integrand, start, wave, most, options)
        info, error, status = info_of_cycles(found), found.error, found.status
    else:
        if np.isinf(lower) or np.isinf(upper):
            raise ValueError("an infinite bound of quad must be known while the function is traced: write np.inf there")
        is_empty = np.equal(lower, upper)
        value, found = waves.over_interval(integrand, lower, upper, wave, is_empty, options)
        value = np.where(is_empty, 0.0, value)
        error, status = np.where(is_empty, 0.0, found.error)[()], np.where(is_empty, 0, found.status)
        last = np.where(found.last == 1, 0, found.last)  # SciPy counts the first interval with the second one
        info = info_of(found.parts, last, is_empty, found.inner.number, status)
        info["nnlog"] = found.parts.levels.astype(np.int32)
    value = np.where(is_flipped, -value, value)[()]
    if full_output:
        return value, error, info
    warn_of(status, messages_of_cycles(options.limit) if is_infinite else messages(options.limit))
    return value, error


def info_of_cycles(found: Cycles) -> dict[str, Any]:
    return {
        "neval": found.calls[()],
        "lst": found.last[()],
        "rslst": found.values,
        "erlst": found.errors,
        "ierlst": found.statuses.astype(np.int32),
        "ier": found.status[()],
    }


def info_of(parts: Subintervals, last: Any, is_empty: Any, calls: Any, status: Any) -> dict[str, Any]:
    """Return SciPy's dict of details. The text of a warning is in it, since a tuple's length cannot follow from it."""
    return {
        "neval": np.where(is_empty, 0, calls)[()],
        "last": np.where(is_empty, 0, last)[()],
        "iord": parts.order.astype(np.int32),
        "alist": np.where(is_empty, np.nan, parts.lefts),
        "blist": np.where(is_empty, np.nan, parts.rights),
        "rlist": np.where(is_empty, 0.0, parts.values),
        "elist": np.where(is_empty, 0.0, parts.errors),
        "ier": status[()],
    }


def warn_of(status: Any, texts: list[str]) -> None:
    if status != 0:
        for number, message in enumerate(texts, start=1):
            if status == number:
                warnings.warn(message, IntegrationWarning, stacklevel=2)
