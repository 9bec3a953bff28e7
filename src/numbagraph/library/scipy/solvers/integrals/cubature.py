"""`scipy.integrate.cubature`, with derivatives by integrals of the same kind.

One loop takes the steps: the first one integrates over the parts of the start, and each further one over those of the
part with the largest error, so that the integrand stands in the program once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate._cubature import CubatureResult

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy import leibniz, leibniz_arrays
from numbagraph.library.scipy.arguments import array, known_number, lifted, refuse
from numbagraph.library.scipy.results import register_dataclass
from numbagraph.library.scipy.solvers.integrals.box_rules import BoxRule, rule_of
from numbagraph.library.scipy.solvers.integrals.boxes import Side, parts_of, side_of
from numbagraph.library.scipy.solvers.integrals.extrapolation import repeated

Function = Callable[..., Any]

ROUNDING = 1e-13
"""The error of a derivative, as a part of the integral of its magnitude, with which it is as exact as can be."""

register_dataclass(CubatureResult)


class Parts(NamedTuple):
    """The parts of the box with their estimates, in arrays of as many places as there may be."""

    lows: Any
    highs: Any
    values: Any
    errors: Any
    sizes: Any


class State(NamedTuple):
    parts: Parts
    count: Any
    """The number of parts."""
    value: Any
    error: Any
    size: Any
    """The largest integral of the magnitude of an element."""
    subdivisions: Any
    is_first: Any


class Options(NamedTuple):
    rule: BoxRule
    atol: Any
    rtol: Any
    limit: int
    is_together: bool
    """Whether the tolerance is that of the largest element, and not each one's own."""


def cubature(
    f: Function,
    a: Any,
    b: Any,
    *,
    rule: Any = "gk21",
    rtol: Any = 1e-8,
    atol: Any = 0,
    max_subdivisions: Any = 10000,
    args: Any = (),
    workers: Any = 1,
    points: Any = None,
) -> Any:
    """`scipy.integrate.cubature`."""
    if callable(workers):
        refuse("cubature with a map for workers=", "leave it out")
    if not isinstance(rule, str):
        refuse("cubature with a rule of one's own", 'write rule="gk21", "gk15" or "genz-malik"')
    if max_subdivisions is None:
        refuse("cubature with max_subdivisions=None", "give a number")
    sides = sides_of(a, b)
    chosen = rule_of(rule, len(sides))
    options = Options(chosen, atol, rtol, known_number(max_subdivisions, "max_subdivisions of cubature"), False)
    lows, highs = parts_of(sides, [] if points is None else [numbers_of(each, len(sides)) for each in points])
    mapped = mapped_function(f, sides, args)
    region = leibniz_arrays.traced(lambda t: mapped(t[np.newaxis])[0], (len(sides),))
    output = leibniz_arrays.like(region)
    if output.dtype.kind == "c":
        refuse("cubature of a complex function", "integrate its real and imaginary part")
    found = adaptive(mapped, output.size, lows, highs, options)
    value = found.value.reshape(output.shape) if output.ndim else found.value[0]
    error = found.error.reshape(output.shape) if output.ndim else found.error[0]
    value = leibniz_arrays.integral_over_box(region, value, quadrature_of(options), lows, highs, atol, rtol)
    for side in sides:
        value = np.where(side.is_flipped, -value, value)[()]
    status = "converged"
    if is_limited(found, options):
        status = "not_converged"
    return CubatureResult(value, error, status, [], found.subdivisions, atol, rtol)


def sides_of(a: Any, b: Any) -> list[Side]:
    count = max(length_of(a), length_of(b))
    if length_of(a) == 0 or length_of(b) == 0:
        raise ValueError("`a` and `b` must be nonempty")
    return [side_of(*each) for each in zip(numbers_of(a, count), numbers_of(b, count), strict=True)]


def length_of(x: Any) -> int:
    found = array(x)
    if found.ndim != 1:
        raise ValueError("`a` and `b` must be 1D arrays")
    return known_number(found.shape[0], "cubature")


def numbers_of(x: Any, count: int) -> list[Any]:
    """Return the elements of a vector, one of a single element as often as there are others. What is known stays so."""
    given = x if isinstance(x, (list, tuple)) else array(x)
    length = length_of(x)
    if length not in (1, count):
        raise ValueError(f"shape mismatch: vectors of {length} and {count} numbers for cubature")
    return [np.float64(given[number if length > 1 else 0]) for number in range(count)]


def mapped_function(f: Function, sides: Sequence[Side], args: Any) -> Function:
    """Return a function of several points of the mapped box that has the integral of one over the bounds."""

    def mapped(t: Any) -> Any:
        columns = [t[:, number] for number in range(len(sides))]
        x = np.stack([side.at(each) for side, each in zip(sides, columns, strict=True)], axis=-1)
        value, factor = array(f(x, *args)), 1.0
        for side, each in zip(sides, columns, strict=True):
            factor = factor * side.factor(each)
        return value * np.reshape(factor, (-1, *(1,) * (value.ndim - 1)))

    return mapped


def quadrature_of(options: Options) -> Function:
    """Return the quadrature of derivatives: NaN where it did not converge."""

    def quadrature(slope: Function, lows: Any, highs: Any, atol: Any, rtol: Any) -> Any:
        own = options._replace(atol=atol, rtol=rtol, is_together=True)
        region = leibniz_arrays.traced(slope, (lows.shape[1],))
        output, each = leibniz_arrays.like(region), leibniz.for_each(region)
        found = adaptive(each(slope), output.size, lows, highs, own)
        value = np.where(goes_on(found, own), np.nan, found.value)
        value = value.reshape(output.shape) if output.ndim else value[0]
        return leibniz_arrays.integral_over_box(region, value, quadrature, lows, highs, atol, rtol)

    return quadrature


def adaptive(f: Function, size: int, lows: Any, highs: Any, options: Options) -> State:
    """Integrate a function of several points that gives arrays of ``size`` numbers for each."""
    count, ndim = lows.shape
    most = count + options.limit * (2**ndim - 1) + 2**ndim
    all_lows, all_highs = np.empty((most, ndim)), np.empty((most, ndim))
    all_lows[:count], all_highs[:count] = lows, highs
    parts = Parts(all_lows, all_highs, np.empty((most, size)), np.empty((most, size)), np.empty(most))
    zero, none = np.zeros(size), np.int64(0)
    start = State(parts, none, zero, zero, np.float64(0.0), none, np.bool_(True))

    def remains(state: State) -> Any:
        return state.is_first | (goes_on(state, options) & ~is_limited(state, options))

    found: State = while_loop(remains, lambda state: following(f, state, count, options), start)
    return found


def is_limited(state: State, options: Options) -> Any:
    """Whether there may be no more subdivisions."""
    return (state.subdivisions > 0) & (state.subdivisions >= options.limit)


def goes_on(state: State, options: Options) -> Any:
    """Whether the error is too large."""
    if not options.is_together:
        return np.any(state.error > options.atol + options.rtol * np.abs(state.value))
    wanted = np.fmax(options.atol + options.rtol * np.max(np.abs(state.value)), ROUNDING * state.size)
    return ~(np.max(state.error) <= wanted)


def following(f: Function, state: State, count: int, options: Options) -> State:
    """Integrate over all parts of the box, or over those into which the one with the largest error is divided."""
    ndim = state.parts.lows.shape[1]
    is_first = state.is_first
    worst = np.where(is_first, 0, place_of_largest(state))
    low, high = state.parts.lows[worst], state.parts.highs[worst]
    middle = (low + high) / 2
    known = np.where(is_first, 0.0, 1.0)
    start = state._replace(
        value=state.value - known * np.where(is_first, 0.0, state.parts.values[worst]),
        error=state.error - known * np.where(is_first, 0.0, state.parts.errors[worst]),
        size=state.size - known * np.where(is_first, 0.0, state.parts.sizes[worst]),
    )
    bits = 2 ** np.arange(ndim)[::-1]

    def integrate(number: Any, state: State) -> State:
        is_right = (number // bits) % 2 == 1
        new = np.where(number == 0, worst, state.count)
        place = np.where(is_first, number, new)
        lows = np.where(is_first, state.parts.lows[place], np.where(is_right, middle, low))
        highs = np.where(is_first, state.parts.highs[place], np.where(is_right, high, middle))
        value, error, size = estimated(f, lows, highs, options.rule)
        return State(
            with_one(state.parts, place, (lows, highs, value, error, size)),
            np.where(is_first | (number > 0), state.count + 1, state.count), state.value + value,
            state.error + error, state.size + size, state.subdivisions, state.is_first,
        )  # fmt: skip

    found = repeated(np.where(is_first, count, 2**ndim), integrate, start)
    return found._replace(
        subdivisions=np.where(is_first, 0, state.subdivisions + 1), is_first=np.bool_(False) & is_first
    )


def with_one(parts: Parts, place: Any, found: tuple[Any, ...]) -> Parts:
    lows, highs, values, errors, sizes = (each.copy() for each in parts)
    lows[place], highs[place], values[place], errors[place], sizes[place] = found
    return Parts(lows, highs, values, errors, sizes)


def place_of_largest(state: State) -> Any:
    def seek(number: Any, best: Any) -> Any:
        largest, error = best
        own = np.max(np.abs(state.parts.errors[number]))
        return np.where(own > error, number, largest), np.where(own > error, own, error)

    return repeated(state.count, seek, (np.int64(0), np.float64(-1.0)))[0]


def estimated(f: Function, low: Any, high: Any, rule: BoxRule) -> tuple[Any, Any, Any]:
    """Return the integral over a part of the box, its error, and the largest integral of a magnitude."""
    width = high - low
    scale = np.prod(width) / 2 ** rule.nodes.shape[1]
    nodes = (lifted(rule.nodes) + 1.0) * (width * 0.5) + low
    found = f(nodes)
    rows = found.reshape((rule.nodes.shape[0], -1)).astype(np.float64)
    rows = np.where(scale == 0, 0.0, rows)  # empty parts may lie at a pole
    value, error = (np.sum((lifted(each) * scale)[:, np.newaxis] * rows, axis=0) for each in rule[1:])
    size = np.max(np.sum((lifted(np.abs(rule.weights)) * scale)[:, np.newaxis] * np.abs(rows), axis=0))
    return value, np.abs(error), size
