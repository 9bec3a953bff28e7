"""Adaptive quadrature without extrapolation (Piessens et al., QUADPACK, 1983: QAWC and QAWS).

One loop takes the steps, and one inside of it both halves of an interval, so that the integrand stands in the program
once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.integrals.clenshaw_curtis import Part
from numbagraph.library.scipy.solvers.integrals.extrapolation import repeated
from numbagraph.library.scipy.solvers.integrals.kronrod import EPS, TINY, Estimate
from numbagraph.library.scipy.solvers.integrals.subintervals import Subintervals, no_subintervals, place_in_order

NOTHING = Part(np.float64(0.0), np.float64(0.0), np.bool_(False), np.int64(0))


class Options(NamedTuple):
    """What an adaptive quadrature is asked for."""

    part: Callable[[Any, Any], Part]
    """The rule on an interval."""
    middle: Callable[[Any, Any], Any]
    starts_whole: bool
    """Whether the first step takes the whole interval, and not its halves."""
    takes_both: bool
    """Whether both signs of rounding errors must be there."""
    epsabs: Any
    epsrel: Any
    limit: int


class Sums(NamedTuple):
    parts: Subintervals
    worst: Any
    rank: Any
    area: Any
    error: Any
    status: Any
    last: Any
    goes_on: Any
    calls: Any
    unchanged: Any
    """How many bisections changed nothing."""
    grown: Any
    """How many bisections had a larger error."""


def bisected(a: Any, b: Any, options: Options) -> Sums:
    """Bisect the interval of the largest error until their sum is small enough."""
    parts = no_subintervals(options.limit).with_one(0, a, b, 0.0, 0.0)
    zero, none = np.float64(0.0), np.int64(0)
    last = none if options.starts_whole else np.int64(1)
    start = Sums(parts, none, none, zero, zero, none, last, np.bool_(True), none, none, none)

    def step(state: Sums) -> Sums:
        low, high = state.parts.lefts[state.worst], state.parts.rights[state.worst]
        is_whole = state.last == 0
        middle = np.where(is_whole, low, options.middle(low, high))

        def half(number: Any, carried: Any) -> Any:
            left, right = np.where(number == 0, low, middle), np.where(number == 0, middle, high)
            found = options.part(left, right)
            return carried[1], found

        left, right = repeated(np.int64(2), half, (NOTHING, NOTHING), np.where(is_whole, 1, 0))
        return with_halves(state, (low, middle, high), left, right, options)

    found: Sums = while_loop(lambda state: state.goes_on, step, start)
    total = repeated(found.last, lambda i, total: total + found.parts.values[i], zero)
    return found._replace(area=total)


def with_halves(state: Sums, edges: tuple[Any, Any, Any], left: Part, right: Part, options: Options) -> Sums:
    """Return the state with both halves of an interval in its place."""
    parts, worst, limit = state.parts, state.worst, options.limit
    a, middle, b = edges
    before, largest, last = parts.values[worst], parts.errors[worst], state.last + 1
    is_whole, is_first = state.last == 0, state.calls == 0
    both, error = left.value + right.value, left.error + right.error
    is_counted = left.is_counted & right.is_counted & ~is_first
    is_same = is_counted & (np.abs(before - both) < 1e-5 * np.abs(both)) & (error >= 0.99 * largest)
    unchanged = state.unchanged + is_same
    grown = state.grown + (is_counted & (state.last > 9) & (error > largest))
    area, total = state.area + both - before, state.error + error - largest
    wanted = np.fmax(options.epsabs, options.epsrel * np.abs(area))
    is_small = total <= wanted
    if options.starts_whole:
        is_small = np.where(is_whole, total < np.fmin(0.01 * np.abs(area), wanted), is_small)
    is_limited = (unchanged >= 6) & (grown > 20) if options.takes_both else (unchanged >= 6) | (grown >= 20)
    is_bad = np.fmax(np.abs(a), np.abs(b)) <= (1.0 + 100.0 * EPS) * (np.abs(middle) + 1000.0 * TINY)
    order = (3, 1, 2) if options.takes_both else (3, 2, 1)
    tests = {1: last == limit, 2: is_limited & ~is_first, 3: is_bad & ~is_first}
    status = np.int64(0)
    for number in reversed(order):
        status = np.where(tests[number], number, status)
    status = np.where(is_small & ~(is_first & (last == limit)), 0, status)
    estimate = Estimate(right.value, right.error, np.float64(0.0), np.float64(0.0))
    parts = parts.with_halves(worst, last - 1, edges, 0, left, estimate, is_whole)
    places, rank = place_in_order(parts, last, worst, state.rank, limit)
    return Sums(
        parts._replace(order=places), places[rank], rank, area, total, status, last, ~is_small & (status == 0),
        state.calls + left.calls + right.calls, unchanged, grown,
    )  # fmt: skip
