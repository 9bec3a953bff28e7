"""`scipy.integrate.quad` with the weights ``cos`` and ``sin``, and derivatives by their frequency, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.differentiation import stop_gradient
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy import leibniz
from numbagraph.library.scipy.solvers.integrals import cycles, quadpack
from numbagraph.library.scipy.solvers.integrals.adaptive import Quadrature
from numbagraph.library.scipy.solvers.integrals.cycles import Cycles, over_cycles
from numbagraph.library.scipy.solvers.integrals.oscillation import Wave, over_waves

Function = Callable[..., Any]


def over_interval(
    f: Function, a: Any, b: Any, wave: Wave, is_empty: Any, options: quadpack.Options
) -> tuple[Any, Quadrature]:
    """Integrate between finite bounds."""
    quadpack.check(options)
    upper = np.where(is_empty, a + 1.0, b)[()]  # what is found there is not taken

    def integrate(f: Function, each: Function, a: Any, b: Any, wave: Wave, epsabs: Any, epsrel: Any) -> Any:
        positive = wave._replace(frequency=np.abs(wave.frequency))
        found = over_waves(f, each, a, b, positive, epsabs, epsrel, options.limit)
        return wave.sign() * found.value, found

    def trusted(value: Any, found: Quadrature) -> Any:
        is_found = (found.status == 0) | (found.status == quadpack.ROUNDOFF) | (found.status == quadpack.NO_LIMIT)
        return np.where(is_found, value, np.nan)

    return with_derivatives(f, a, upper, wave, (options.epsabs, options.epsrel), integrate, trusted)


def to_infinity(f: Function, a: Any, wave: Wave, most: int, options: quadpack.Options) -> tuple[Any, Cycles]:
    """Integrate from a bound to infinity, in at most ``most`` cycles."""
    quadpack.check(options)
    if options.epsabs <= 0:
        raise ValueError("Sine or cosine weighted integrals with infinite domain must have 'epsabs'>0.")
    if most < 3:
        raise ValueError("Cycle limit limlst must be >=3.")

    def integrate(f: Function, each: Function, a: Any, b: Any, wave: Wave, epsabs: Any) -> tuple[Any, Cycles]:
        del b
        positive, sign = wave._replace(frequency=np.abs(wave.frequency)), wave.sign()
        value, found = over_cycles(f, each, a, positive, epsabs, options.limit, most)
        return sign * value, found._replace(values=sign * found.values)

    def trusted(value: Any, found: Cycles) -> Any:
        by_cycle = found.statuses
        are_found = np.all((by_cycle == 0) | (by_cycle == quadpack.ROUNDOFF) | (by_cycle == quadpack.NO_LIMIT))
        return np.where(are_found & (found.status != cycles.MANY), value, np.nan)

    return with_derivatives(f, a, np.inf, wave, (options.epsabs,), integrate, trusted)


def with_derivatives(
    f: Function, a: Any, b: Any, wave: Wave, tolerances: tuple[Any, ...], integrate: Function, trusted: Function
) -> tuple[Any, Any]:
    """Return the integral, and what the quadrature found.

    The weight of a frequency that changes is one of the present frequency, times the cosine of the change, with the
    other weight times its sine: the change goes into the integrand, of which there are derivatives."""
    fixed = wave._replace(frequency=stop_gradient(wave.frequency))

    def quadrature_of(is_sine: bool) -> Function:
        def quadrature(slope: Function, a: Any, b: Any, *settings: Any) -> Any:
            *tolerances, frequency = settings
            wave = Wave(frequency, is_sine)
            region = leibniz.traced(slope, wave.at)
            found = trusted(*integrate(slope, leibniz.for_each(region), a, b, wave, *tolerances))
            value = np.where(np.equal(a, b), 0.0, found)
            return leibniz.integral(region, a, b, value, quadrature, *settings)

        return quadrature

    def integral(f: Function, wave: Wave, value: Any) -> Any:
        region = leibniz.traced(f, wave.at)
        return leibniz.integral(region, a, b, value, quadrature_of(wave.is_sine), *tolerances, wave.frequency)

    value, found = integrate(f, leibniz.for_each(leibniz.traced(f)), a, b, fixed, *tolerances)
    if not is_traced(wave.frequency):
        return integral(f, fixed, value), found
    change = wave.frequency - fixed.frequency
    other = fixed._replace(is_sine=not wave.is_sine)
    sign = 1.0 if wave.is_sine else -1.0
    same = integral(lambda x: f(x) * np.cos(change * x), fixed, value)
    return same + integral(lambda x: sign * f(x) * np.sin(change * x), other, 0.0), found
