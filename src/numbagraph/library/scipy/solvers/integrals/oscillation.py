"""Integrals of functions with a weight that oscillates: the cosine or the sine of a multiple of the variable.

Intervals on which the weight is smooth have a rule of Gauss and Kronrod, and others one of Clenshaw and Curtis, with
the moments of Chebyshev's polynomials (Piessens, de Doncker-Kapenga, Überhuber and Kahaner, QUADPACK, 1983: qc25f and
QAWO).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import fori_loop
from numbagraph.library.scipy.arguments import lifted
from numbagraph.library.scipy.solvers.integrals.adaptive import SHORT, Calls, Quadrature, Settings, over_interval
from numbagraph.library.scipy.solvers.integrals.clenshaw_curtis import COARSE, DEGREE, FEW, FINE, sampled
from numbagraph.library.scipy.solvers.integrals.extrapolation import HUGE
from numbagraph.library.scipy.solvers.integrals.kronrod import (
    GAUSS_7,
    NODES_15,
    WEIGHTS_15,
    Estimate,
    every_other,
    rule_of,
    summed,
)

Function = Callable[..., Any]

RULE = rule_of(NODES_15, WEIGHTS_15, every_other(GAUSS_7, 8), np.array([1, 3, 5, 0, 2, 4, 6]))

SLOW = 24.0
"""The largest phase of moments that are sums. The recursion upwards loses digits below."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(44)
POLYNOMIALS = WEIGHTS * np.polynomial.chebyshev.chebvander(NODES, DEGREE).T
EVEN, ODD = POLYNOMIALS[::2], POLYNOMIALS[1::2]


class Wave(NamedTuple):
    """The cosine or the sine of a multiple of the variable."""

    frequency: Any
    is_sine: bool

    def at(self, x: Any) -> Any:
        return np.sin(self.frequency * x) if self.is_sine else np.cos(self.frequency * x)

    def sign(self) -> Any:
        """Return the factor from the weight of the same frequency without its sign."""
        return np.where(self.frequency < 0.0, -1.0, 1.0)[()] if self.is_sine else 1.0


def over_waves(
    f: Function, each: Function, a: Any, b: Any, wave: Wave, epsabs: Any, epsrel: Any, limit: int
) -> Quadrature:
    """Integrate with a weight of positive frequency over an interval: QAWO."""

    def rule(f: Function, a: Any, b: Any) -> tuple[Estimate, tuple[Any, ...]]:
        return wave_part(f, each, a, b, wave)

    settings = Settings(rule, epsabs, epsrel, limit, False, Calls(np.int64(0)), wave.frequency)
    return over_interval(f, a, b, settings)


def wave_part(f: Function, each: Function, a: Any, b: Any, wave: Wave) -> tuple[Estimate, tuple[Any, ...]]:
    """Integrate over an interval by a rule. Return the number of evaluations, too."""
    centre, half = 0.5 * (b + a), 0.5 * (b - a)
    phase = wave.frequency * half
    is_smooth = phase <= SHORT
    points, values = sampled(f, each, a, b, is_smooth)
    smooth = summed((values * wave.at(points))[:FEW], a, b, RULE)
    even, odd = moments(np.where(is_smooth, SHORT, phase))
    evens, odds = lifted(FINE[::2]) @ values, lifted(FINE[1::2]) @ values
    cosine, sine = np.sum(evens * even), np.sum(odds * odd)
    few = DEGREE // 4
    cosine_error = np.abs(cosine - np.sum((lifted(COARSE[::2]) @ values) * even[: few + 1]))
    sine_error = np.abs(sine - np.sum((lifted(COARSE[1::2]) @ values) * odd[:few]))
    along, across = half * np.cos(centre * wave.frequency), half * np.sin(centre * wave.frequency)
    if wave.is_sine:
        value = along * sine + across * cosine
        error = np.abs(along * sine_error) + np.abs(across * cosine_error)
    else:
        value = along * cosine - across * sine
        error = np.abs(along * cosine_error) + np.abs(across * sine_error)
    magnitude = np.abs(half) * (np.sum(np.abs(evens)) + np.sum(np.abs(odds)))
    rough = Estimate(value, error, magnitude, np.float64(HUGE))
    found = Estimate(*(np.where(is_smooth, one, other) for one, other in zip(smooth, rough, strict=True)))
    return found, (np.where(is_smooth, np.int64(FEW), np.int64(DEGREE + 1)),)


def moments(phase: Any) -> tuple[Any, Any]:
    """Return the integrals from -1 to 1 of the even Chebyshev polynomials with cos(phase x), and of the odd ones with
    sin(phase x)."""
    slow = np.minimum(phase, SLOW)
    angles = slow * lifted(NODES)
    raised = moments_by_recursion(np.maximum(phase, SLOW))
    is_slow = phase <= SLOW
    even = np.where(is_slow, lifted(EVEN) @ np.cos(angles), raised[::2])
    return even, np.where(is_slow, lifted(ODD) @ np.sin(angles), raised[1::2])


def moments_by_recursion(phase: Any) -> Any:
    """Return the moments of all polynomials, those of high frequency, by the recursion upwards."""
    sine, cosine, square = np.sin(phase), np.cos(phase), phase * phase
    zeroth = 2.0 * sine / phase  # those of the powers of x first
    first = (zeroth - 2.0 * cosine) / phase
    second = 2.0 * (sine - first) / phase
    third = (3.0 * second - 2.0 * cosine) / phase
    fourth = (2.0 * sine - 4.0 * third) / phase
    found = np.zeros(DEGREE + 1)
    found[0], found[1], found[2] = zeroth, first, 2.0 * second - zeroth
    found[3], found[4] = 4.0 * third - 3.0 * first, 8.0 * (fourth - second) + zeroth

    def following(i: Any, found: Any) -> Any:
        found = found.copy()
        n = np.float64(i - 2)
        is_even = i % 2 == 0
        rapid, slope = np.where(is_even, 24.0 * sine, -24.0 * cosine), np.where(is_even, cosine, sine)
        below = (n * n - 4.0) * (2.0 * (square + 2.0 - 2.0 * n * n) * found[i - 2] - 8.0 * slope)
        last = square * (n + 1.0) * (n + 2.0) * found[i - 4]
        found[i] = (below + phase * rapid - last) / (square * (n - 1.0) * (n - 2.0))
        return found

    return fori_loop(5, DEGREE + 1, following, found)
