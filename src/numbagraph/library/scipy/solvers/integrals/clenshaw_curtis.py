"""Rules of Clenshaw and Curtis for integrands with a weight: Cauchy's 1 / (x - c), and powers and logarithms of the
distances from the bounds. Intervals on which the weight is smooth have a rule of Gauss and Kronrod.

Piessens, de Doncker-Kapenga, Überhuber and Kahaner, QUADPACK (Springer, 1983), qc25c, qc25s and qmomo.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import fori_loop
from numbagraph.library.scipy.arguments import lifted
from numbagraph.library.scipy.solvers.integrals.kronrod import KRONROD_15, points_of, summed

Function = Callable[..., Any]

DEGREE = 24
NODES = np.cos(np.arange(DEGREE + 1) * np.pi / DEGREE)
FEW = 2 * len(KRONROD_15.nodes) + 1
"""The number of points on an interval on which the weight is smooth."""


class Part(NamedTuple):
    """What a rule says of an integral over an interval."""

    value: Any
    error: Any
    is_counted: Any
    """Whether its error says something about convergence."""
    calls: Any


def coefficients(degree: int) -> Any:
    """Return the matrix from values at the nodes to the coefficients of an expansion in Chebyshev's polynomials."""
    found = np.zeros((degree + 1, DEGREE + 1))
    every = DEGREE // degree
    k, j = np.arange(degree + 1)[:, np.newaxis], np.arange(degree + 1)
    found[:, ::every] = np.cos(k * j * np.pi / degree) * 2 / degree
    found[:, [0, -1]] /= 2
    found[[0, -1]] /= 2
    return found


FINE, COARSE = coefficients(DEGREE), coefficients(DEGREE // 2)


def sampled(f: Function, each: Function, a: Any, b: Any, is_smooth: Any) -> tuple[Any, Any]:
    """Return the points of a rule and a function there: those of Gauss and Kronrod are followed by places that count
    for nothing."""
    centre, half = 0.5 * (a + b), 0.5 * (b - a)
    few = np.concatenate([points_of(a, b, KRONROD_15), np.stack([centre] * (DEGREE + 1 - FEW))])
    points = np.where(is_smooth, few, centre + half * lifted(NODES))
    return points, each(f)(points)


def smooth_part(values: Any, a: Any, b: Any) -> Part:
    """Integrate by the rule of Gauss and Kronrod, given the values with the weight."""
    found = summed(values[:FEW], a, b, KRONROD_15)
    return Part(found.value, found.error, found.variation != found.error, FEW)


def chosen(is_smooth: Any, smooth: Part, value: Any, error: Any) -> Part:
    return Part(
        np.where(is_smooth, smooth.value, value), np.where(is_smooth, smooth.error, error),
        is_smooth & smooth.is_counted, np.where(is_smooth, np.int64(FEW), np.int64(DEGREE + 1)),
    )  # fmt: skip


def cauchy_part(f: Function, each: Function, a: Any, b: Any, c: Any) -> Part:
    """Integrate ``f(x) / (x - c)`` over an interval, as its principal value."""
    place = np.divide(2.0 * c - b - a, b - a)
    is_smooth = np.abs(place) >= 1.1
    points, values = sampled(f, each, a, b, is_smooth)
    smooth = smooth_part(np.divide(values, points - c), a, b)
    moments = cauchy_moments(np.where(is_smooth, 0.0, place))
    fine = np.sum(moments * (lifted(FINE) @ values))
    coarse = np.sum(moments[: DEGREE // 2 + 1] * (lifted(COARSE) @ values))
    return chosen(is_smooth, smooth, fine, np.abs(fine - coarse))


def cauchy_moments(c: Any) -> Any:
    """Return the integrals of Chebyshev's polynomials over x - c from -1 to 1."""
    first = np.log(np.abs(np.divide(1.0 - c, 1.0 + c)))
    moments = np.zeros(DEGREE + 1)
    moments[0], moments[1] = first, 2.0 + c * first

    def following(k: Any, moments: Any) -> Any:
        moments = moments.copy()
        square = np.float64((k - 1) * (k - 1))
        odd = np.where(k % 2 == 1, np.divide(4.0, square - 1.0), 0.0)
        moments[k] = 2.0 * c * moments[k - 1] - moments[k - 2] - odd
        return moments

    return fori_loop(2, DEGREE + 1, following, moments)


class Ends(NamedTuple):
    """Powers of the distances from both bounds of the whole interval, and whether logarithms multiply them."""

    a: Any
    b: Any
    powers: tuple[Any, Any]
    logs: tuple[bool, bool]
    moments: Any
    """For each bound, the rules for the fine and the coarse expansion: without and with a logarithm."""

    def at(self, x: Any) -> Any:
        return self.side(x, 0) * self.side(x, 1)

    def side(self, x: Any, number: int) -> Any:
        """Return the factor of one of the bounds."""
        distance = self.b - x if number else x - self.a
        power = distance ** self.powers[number]
        return power * np.log(distance) if self.logs[number] else power


def ends_of(a: Any, b: Any, powers: tuple[Any, Any], logs: tuple[bool, bool]) -> Ends:
    return Ends(a, b, powers, logs, (rules_at_an_end(powers[0], 1.0), rules_at_an_end(powers[1], -1.0)))


def rules_at_an_end(power: Any, sign: float) -> Any:
    """Return the weights at the nodes for a power of the distance from an end of the interval from -1 to 1: of the fine
    and the coarse rule, and of those with the logarithm of half the distance."""
    n = DEGREE + 1
    one, two = power + 1.0, power + 2.0
    scale = 2.0**one
    plain, logs = np.zeros(n), np.zeros(n)
    plain[0], plain[1] = scale / one, scale / one * power / two
    logs[0] = -plain[0] / one
    logs[1] = -(scale + scale) / (two * two) - logs[0]

    def following(i: Any, found: Any) -> Any:
        plain, logs = (each.copy() for each in found)
        k = np.float64(i)
        below = (k - 1.0) * (k + one)
        plain[i] = -(scale + k * (k - two) * plain[i - 1]) / below
        logs[i] = -(k * (k - two) * logs[i - 1] - k * plain[i - 1] + (k - 1.0) * plain[i]) / below
        return plain, logs

    plain, logs = fori_loop(2, n, following, (plain, logs))
    signs = sign ** np.arange(n)
    return [
        ((signs * each) @ lifted(FINE), (signs * each)[: DEGREE // 2 + 1] @ lifted(COARSE)) for each in (plain, logs)
    ]


def algebraic_part(f: Function, each: Function, a: Any, b: Any, ends: Ends) -> Part:
    """Integrate a function with the weight of powers and logarithms over a part of the interval."""
    is_singular = [np.bool_(ends.logs[number]) | (ends.powers[number] != 0.0) for number in (0, 1)]
    is_left = (a == ends.a) & is_singular[0]
    is_right = (b == ends.b) & is_singular[1] & ~is_left
    is_smooth = ~(is_left | is_right)
    points, values = sampled(f, each, a, b, is_smooth)
    smooth = smooth_part(values * ends.at(points), a, b)
    left, right = (end_part(values * ends.side(points, 1 - number), b - a, ends, number) for number in (0, 1))
    value, error = (np.where(is_left, one, other) for one, other in zip(left, right, strict=True))
    found = chosen(is_smooth, smooth, value, error)
    return found._replace(is_counted=found.is_counted & (a != ends.a) & (b != ends.b))


def end_part(values: Any, width: Any, ends: Ends, number: int) -> tuple[Any, Any]:
    """Return the integral at one of the bounds, and its error, given the values with the factor of the other one."""
    (fine, coarse), (fine_log, coarse_log) = ends.moments[number]
    value, lower = np.sum(fine * values), np.sum(coarse * values)
    error = np.abs(value - lower)
    if ends.logs[number]:
        log, other, other_lower = np.log(width), np.sum(fine_log * values), np.sum(coarse_log * values)
        value, error = value * log + other, np.abs((value - lower) * log) + np.abs(other - other_lower)
    factor = (0.5 * width) ** (ends.powers[number] + 1.0)
    return value * factor, error * factor
