"""`scipy.integrate.tanhsinh`: quadrature after a substitution under which the integrand decays at both ends.

Takahasi and Mori, Publ. RIMS 9 (1974) 721; the levels and the estimates of errors are SciPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy import leibniz
from numbagraph.library.scipy.arguments import array, known_number, lifted, refuse
from numbagraph.library.scipy.solvers.element_searches import CONVERGED, INVALID, RUNNING, for_each, result_of_each

Function = Callable[..., Any]

EPS = float(np.finfo(np.float64).eps)
NOT_CONVERGED = -2
STEPS = 8
"""The number of steps on each side at the lowest level."""
WIDEST = math.asinh(math.log(2 / (4 * float(np.finfo(np.float64).smallest_normal)) - 1) / math.pi)
"""How far the sum goes: beyond, points cannot be told from the bounds."""
AT_ONCE = 8
"""How many points are evaluated at once on each side."""


class Settings(NamedTuple):
    maxlevel: int
    minlevel: int
    atol: Any
    rtol: Any


class Interval(NamedTuple):
    """A finite interval, and what it stands for."""

    low: Any
    high: Any
    start: Any
    """Where an interval without an end starts."""
    is_negative: Any
    """Whether the bounds were exchanged."""
    is_line: Any
    is_half_line: Any
    is_reflected: Any


class Extreme(NamedTuple):
    """The valid point that is nearest to a bound, with the value and the weight there."""

    distance: Any
    value: Any
    weight: Any


class Sums(NamedTuple):
    """Sums over the points of a level, and over those of the first time that belong to the two levels below."""

    valid: Any
    left: Any
    """The weights of the points at the left whose value is not valid."""
    right: Any
    largest: Any
    largest_left: Any
    largest_right: Any
    has_left: Any
    has_right: Any


class State(NamedTuple):
    level: Any
    value: Any
    before: Any
    before_that: Any
    error: Any
    calls: Any
    status: Any
    left: Extreme
    right: Extreme


def tanhsinh(
    f: Function,
    a: Any,
    b: Any,
    *,
    args: Any = (),
    log: bool = False,
    maxlevel: Any = None,
    minlevel: Any = 2,
    atol: Any = None,
    rtol: Any = None,
    preserve_shape: bool = False,
    callback: Any = None,
) -> Any:
    """`scipy.integrate.tanhsinh`."""
    if not callable(f):
        raise ValueError("`f` must be callable.")
    if log or preserve_shape or callback is not None:
        refuse("tanhsinh with log=, preserve_shape= or callback=", "leave it out")
    settings = settings_of(maxlevel, minlevel, atol, rtol)

    def search(low: Any, high: Any, *each: Any) -> dict[str, Any]:
        return integral_between(lambda x: f(x, *each), low, high, settings)

    return result_of_each(for_each(search, (a, b), args))


def settings_of(maxlevel: Any, minlevel: Any, atol: Any, rtol: Any) -> Settings:
    maxlevel = 10 if maxlevel is None else known_number(maxlevel, "maxlevel of tanhsinh")
    minlevel = known_number(minlevel, "minlevel of tanhsinh")
    if maxlevel < 0 or minlevel < 0:
        raise ValueError("`maxfun`, `maxlevel`, and `minlevel` must be non-negative.")
    atol, rtol = 0.0 if atol is None else atol, EPS**0.75 if rtol is None else rtol
    if not (0 <= atol < np.inf) or not (0 <= rtol < np.inf):
        raise ValueError("`atol` and `rtol` must be non-negative and finite.")
    return Settings(maxlevel, min(minlevel, maxlevel), atol, rtol)


def integral_between(f: Function, a: Any, b: Any, settings: Settings) -> dict[str, Any]:
    """Return the integral of a function of a number, with the fields of SciPy's result."""

    def integrand(x: Any) -> Any:
        value = array(f(x))
        if value.dtype.kind == "c":
            refuse("tanhsinh of complex numbers", "integrate the real and the imaginary part")
        return np.float64(value)

    region = leibniz.traced(integrand)
    found, value = quadrature(integrand, leibniz.for_each(region), a, b, settings)
    value = leibniz.integral(region, a, b, value, quadrature_of(settings), settings.atol, settings.rtol)
    return {
        "status": found.status[()], "integral": value, "error": found.error[()],
        "maxlevel": np.where(found.calls == 1, -1, found.level - 1)[()], "nfev": found.calls[()],
    }  # fmt: skip


def quadrature_of(settings: Settings) -> Function:
    """Return the quadrature of derivatives: NaN where it did not converge."""

    def integral(slope: Function, a: Any, b: Any, *tolerances: Any) -> Any:
        region = leibniz.traced(slope)
        atol, rtol = tolerances
        own = settings._replace(atol=atol, rtol=rtol)
        found, value = quadrature(slope, leibniz.for_each(region), a, b, own)
        is_found = (found.status == CONVERGED) | (value == 0.0)
        return leibniz.integral(region, a, b, np.where(is_found, value, np.nan), integral, *tolerances)

    return integral


def quadrature(f: Function, each: Function, a: Any, b: Any, settings: Settings) -> tuple[State, Any]:
    """Return what the quadrature found, and the integral."""
    interval = finite(a, b)
    points, weights = pairs(settings.maxlevel)
    points, weights = lifted(points), lifted(weights)
    is_empty, is_known = a == b, ~(np.isnan(f(middle(a, b))) | np.isnan(a) | np.isnan(b))
    status = np.where(is_empty, CONVERGED, np.where(is_known, RUNNING, INVALID))
    value = np.where(is_known, np.float64(0.0), np.nan)
    nothing = Extreme(np.float64(-np.inf), np.float64(np.nan), np.float64(0.0))
    state = State(
        np.int64(settings.minlevel), value, np.float64(0.0), np.float64(0.0),
        np.where(is_empty, value, np.nan), np.int64(1), status, nothing, nothing,
    )  # fmt: skip

    def following(state: State) -> State:
        return with_level(lambda x: each(f)(x), state, interval, points, weights, settings)

    def goes_on(state: State) -> Any:
        return (state.status == RUNNING) & (state.level <= settings.maxlevel)

    found: State = while_loop(goes_on, following, state)
    found = found._replace(status=np.where(found.status == RUNNING, NOT_CONVERGED, found.status))
    return found, np.where(interval.is_negative, -found.value, found.value)


def middle(a: Any, b: Any) -> Any:
    """Return a point between the bounds."""
    is_low, is_high = np.isinf(a), np.isinf(b)
    found = np.where(is_low, np.where(is_high, 0.0, b - 1.0), np.where(is_high, a + 1.0, 0.5 * (a + b)))
    return found[()]


def finite(a: Any, b: Any) -> Interval:
    """Return the interval to which the one between two bounds is mapped."""
    is_empty = a == b
    a, b = np.where(is_empty, 1.0, a), np.where(is_empty, 1.0, b)
    is_negative = b < a
    a, b = np.where(is_negative, b, a), np.where(is_negative, a, b)
    is_line = np.isinf(a) & np.isinf(b)
    a, b = np.where(is_line, -1.0, a), np.where(is_line, 1.0, b)
    is_reflected = np.isinf(a)
    a, b = np.where(is_reflected, -b, a), np.where(is_reflected, -a, b)
    is_half_line = np.isinf(b)
    low, high = np.where(is_half_line, 0.0, a), np.where(is_half_line, 1.0, b)
    return Interval(low, high, np.where(is_half_line, a, 0.0), is_negative, is_line, is_half_line, is_reflected)


def count_until(level: Any) -> Any:
    """Return the number of points on each side at a level and at those below it; none below the lowest."""
    return np.where(level < 0, 0, STEPS * 2 ** np.maximum(level, 0) + 1)


@cache
def pairs(maxlevel: int) -> tuple[Any, Any]:
    """Return the distances of the points from the bound, for a half interval of 1, and their weights, level by level;
    behind them places for what is evaluated at once."""
    points, weights = [], []
    for level in range(maxlevel + 1):
        h = WIDEST / STEPS / 2**level
        most = STEPS * 2**level
        jh = (np.arange(most + 1) if level == 0 else np.arange(1, most + 1, 2)) * h
        u1, u2 = math.pi / 2 * np.cosh(jh), math.pi / 2 * np.sinh(jh)
        points.append(1 / (np.exp(u2) * np.cosh(u2)))
        weights.append(u1 / np.cosh(u2) ** 2)
    weights[0][0] /= 2
    return np.concatenate([*points, np.full(AT_ONCE, 0.5)]), np.concatenate([*weights, np.zeros(AT_ONCE)])


def with_level(f: Function, state: State, interval: Interval, points: Any, weights: Any, settings: Settings) -> State:
    """Return the state after one more level; the first time, after all up to the least one."""
    level, is_first = state.level, state.calls == 1
    start, end = np.where(is_first, 0, count_until(level - 1)), count_until(level)
    zero, none, no = np.float64(0.0), np.zeros(3), np.bool_(False)
    bounds = np.stack([end, count_until(level - 1), count_until(level - 2)])
    sums = Sums(none, none, none, zero, zero, zero, no, no)

    def step(carried: Any) -> Any:
        place, sums, left, right = carried
        places = place + np.arange(AT_ONCE)
        is_due = places < end
        return place + AT_ONCE, *added(f, places, is_due, sums, left, right, interval, points, weights, bounds)

    _, sums, left, right = while_loop(lambda carried: carried[0] < end, step, (start, sums, state.left, state.right))
    h = WIDEST / STEPS / 2.0**level
    total = sums.valid + np.where(sums.has_left, left.value * sums.left, 0.0)
    total = total + np.where(sums.has_right, right.value * sums.right, 0.0)
    value = np.where(is_first, 0.0, state.value / 2) + h * total[0]
    before = np.where(is_first, 2 * h * total[1], state.value)
    before_that = np.where(is_first, 4 * h * total[2], state.before)
    largest = np.fmax(sums.largest, np.where(sums.has_left, np.abs(left.value) * sums.largest_left, 0.0))
    largest = np.fmax(largest, np.where(sums.has_right, np.abs(right.value) * sums.largest_right, 0.0))
    last = np.maximum(np.abs(left.value * left.weight), np.abs(right.value * right.weight))
    error = error_of(value, before, before_that, largest, last)
    error = np.where(level < 2, np.nan, error)
    is_found = (np.divide(error, np.abs(value)) < settings.rtol) | (error < settings.atol)
    status = np.where(is_found, CONVERGED, np.where(np.isfinite(value), RUNNING, INVALID))
    return State(level + 1, value, before, before_that, error, state.calls + 2 * (end - start), status, left, right)


def error_of(value: Any, before: Any, before_that: Any, largest: Any, last: Any) -> Any:
    """Estimate the error from the integrals at the two levels below, and the largest and the last terms."""
    one, other = np.abs(value - before), np.abs(value - before_that)
    safe, safe_other = np.where(one > 0, one, 0.5), np.where(one > 0, other, 0.5)
    guess = np.where(one > 0, safe ** np.divide(np.log(safe), np.log(safe_other)), 0.0)
    found = np.maximum(np.maximum(guess, one * one), np.maximum(EPS * largest, last))
    return np.minimum(np.maximum(found, EPS * np.abs(value)), one)


def added(
    f: Function, places: Any, is_due: Any, sums: Sums, left: Extreme, right: Extreme, interval: Interval,
    points: Any, weights: Any, bounds: Any,
) -> tuple[Sums, Extreme, Extreme]:  # fmt: skip
    """Return the sums and the extremes with further points on both sides."""
    half = 0.5 * (interval.high - interval.low)
    distances, both = half * points[places], half * weights[places]
    t = np.concatenate([interval.low + distances, interval.high - distances])
    is_inside = (t > interval.low) & (t < interval.high) & np.concatenate([is_due, is_due])
    t = np.where(is_inside, t, 0.5 * (interval.low + interval.high))
    values = f(point_of(t, interval)) * factor_of(t, interval)
    weight = np.where(is_inside, np.concatenate([both, both]), 0.0)
    is_valid = np.isfinite(values) & (weight != 0.0)
    terms = np.where(is_valid, values * weight, 0.0)
    is_lost, count = ~is_valid & np.concatenate([is_due, is_due]), AT_ONCE
    is_below = places < bounds[:, np.newaxis]
    lost = np.where(is_lost, weight, 0.0)
    found = Sums(
        sums.valid + np.sum(np.where(is_below, terms[:count] + terms[count:], 0.0), axis=1),
        sums.left + np.sum(np.where(is_below, lost[:count], 0.0), axis=1),
        sums.right + np.sum(np.where(is_below, lost[count:], 0.0), axis=1),
        np.maximum(sums.largest, np.max(np.abs(terms))),
        np.maximum(sums.largest_left, np.max(lost[:count])),
        np.maximum(sums.largest_right, np.max(lost[count:])),
        sums.has_left | np.any(is_lost[:count]),
        sums.has_right | np.any(is_lost[count:]),
    )
    left = extreme(left, -t[:count], values[:count], weight[:count], is_valid[:count])
    right = extreme(right, t[count:], values[count:], weight[count:], is_valid[count:])
    return found, left, right


def extreme(known: Extreme, distances: Any, values: Any, weights: Any, is_valid: Any) -> Extreme:
    """Return the farthest of the valid points and of the one that was known."""
    place = np.argmax(np.where(is_valid, distances, -np.inf))
    distance = np.where(is_valid[place], distances[place], -np.inf)
    is_farther = distance > known.distance
    return Extreme(
        np.where(is_farther, distance, known.distance), np.where(is_farther, values[place], known.value),
        np.where(is_farther, weights[place], known.weight),
    )  # fmt: skip


def point_of(t: Any, interval: Interval) -> Any:
    """Return the point of the given interval for one of the finite interval."""
    on_half_line = np.divide(1.0, t) - 1.0 + interval.start
    x = np.where(interval.is_line, np.divide(t, 1.0 - t * t), np.where(interval.is_half_line, on_half_line, t))
    return np.where(interval.is_reflected, -x, x)


def factor_of(t: Any, interval: Interval) -> Any:
    """Return the derivative of the map to the given interval."""
    square = t * t
    on_line = np.divide(1.0 + square, (1.0 - square) * (1.0 - square))
    return np.where(interval.is_line, on_line, np.where(interval.is_half_line, np.divide(1.0, square), 1.0))
