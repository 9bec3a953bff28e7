"""Integrals with a weight that oscillates, from a bound to infinity (Piessens et al., QUADPACK, 1983: QAWF).

Integrals over cycles, each of an odd number of half waves, are elements of an alternating series, whose limit is
extrapolated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.integrals.adaptive import replaced
from numbagraph.library.scipy.solvers.integrals.extrapolation import HUGE, LENGTH_OF_TABLE, extrapolated
from numbagraph.library.scipy.solvers.integrals.kronrod import TINY
from numbagraph.library.scipy.solvers.integrals.oscillation import Wave, over_waves

Function = Callable[..., Any]

SHARE = 0.9
"""The tolerance of a cycle beside that of the one before."""
REST = 1.0 - SHARE
MANY, NO_LIMIT, BAD_CYCLES = 1, 4, 7
"""Statuses: too many cycles, no limit to be seen, and cycles that did not converge."""


class Cycles(NamedTuple):
    """The cycles up to one, and what is found of their limit."""

    last: Any
    """The number of cycles."""
    low: Any
    high: Any
    values: Any
    errors: Any
    statuses: Any
    calls: Any
    tolerance: Any
    share: Any
    """What the tolerance of the next cycle is multiplied by."""
    correction: Any
    """The largest error of a cycle."""
    error: Any
    """The sum of the errors."""
    rest: Any
    """A bound of what follows, from the last cycle."""
    table: Any
    end: Any
    recent: Any
    idle: Any
    """The number of extrapolations since the last better limit."""
    limit: Any
    distance: Any
    """The error of the limit."""
    status: Any
    takes_sum: Any
    goes_on: Any


def over_cycles(
    f: Function, each: Function, a: Any, wave: Wave, epsabs: Any, limit: int, most: int
) -> tuple[Any, Cycles]:
    """Integrate with a weight of positive frequency from ``a`` to infinity in at most ``most`` cycles.

    Without waves, there is one cycle: the half line, mapped to the interval from 0 to 1."""
    is_constant = wave.frequency == 0.0
    frequency = np.where(is_constant, 1.0, wave.frequency)
    cycle = np.where(is_constant, 1.0, (2.0 * np.floor(frequency) + 1.0) * np.pi / frequency)

    def mapped(t: Any) -> Any:
        scale = np.where(is_constant, t, 1.0)
        return np.divide(np.divide(f(np.where(is_constant, a + np.divide(1.0 - t, scale), t)), scale), scale)

    def step(state: Cycles) -> Cycles:
        tolerance = np.where(is_constant, epsabs, state.tolerance * state.share)
        found = over_waves(mapped, each, state.low, state.high, wave, tolerance, 0.0, limit)
        state = with_cycle(state, found, epsabs)
        after = with_limit(state, epsabs, most)
        after = after._replace(low=state.high, high=state.high + cycle)
        return after._replace(goes_on=after.goes_on & ~is_constant)

    start = np.where(is_constant, 0.0, a)
    found: Cycles = while_loop(lambda state: state.goes_on, step, initial(start, start + cycle, epsabs, most))
    value, error, status = concluded(found)
    value = np.where(is_constant, found.values[0], value)
    error = np.where(is_constant, found.errors[0], error)
    status = np.where(is_constant, found.statuses[0], status)
    calls = np.where(is_constant, 0, found.calls) if wave.is_sine else found.calls  # SciPy knows that to be zero
    return value, found._replace(error=error, status=status, calls=calls)


def initial(low: Any, high: Any, epsabs: Any, most: int) -> Cycles:
    zero, none, no = np.float64(0.0), np.int64(0), np.bool_(False)
    return Cycles(
        none, low, high, np.zeros(most), np.zeros(most), np.zeros(most, dtype=np.int64), none, first_tolerance(epsabs),
        np.float64(1.0), zero, zero, zero, np.zeros(LENGTH_OF_TABLE), np.int64(-1), np.zeros(3), none, zero, zero, none,
        no, np.bool_(True),
    )  # fmt: skip


def first_tolerance(epsabs: Any) -> Any:
    return np.where(epsabs > TINY / REST, epsabs * REST, epsabs)


def with_cycle(state: Cycles, found: Any, epsabs: Any) -> Cycles:
    """Return the state with the integral over a cycle. It ends when the sum over the cycles is good enough."""
    place = state.last
    error, rest = state.error + found.error, 50.0 * np.abs(found.value)
    is_small = (error + rest <= epsabs) & (place >= 5)
    correction = np.where(is_small, state.correction, np.fmax(state.correction, found.error))
    is_bad = (found.status != 0) & ~is_small
    status = np.where(is_bad, BAD_CYCLES, state.status)
    is_limited = (status == BAD_CYCLES) & (error + rest <= 10.0 * correction) & (place > 4)
    return state._replace(
        last=place + 1, values=replaced(state.values, place, found.value),
        errors=replaced(state.errors, place, found.error), statuses=replaced(state.statuses, place, found.status),
        calls=state.calls + found.inner.number, share=state.share * SHARE,
        tolerance=np.where(is_bad, np.fmax(first_tolerance(epsabs), correction * REST), state.tolerance),
        correction=correction, error=error, rest=rest, status=status, takes_sum=is_small | is_limited,
        goes_on=~(is_small | is_limited),
    )  # fmt: skip


def with_limit(state: Cycles, epsabs: Any, most: int) -> Cycles:
    """Return the state with the sum over the cycles in the table, and with the limit."""
    place, goes_on = state.last - 1, state.goes_on
    before = np.where(place > 0, state.table[np.maximum(state.end, 0)], 0.0)
    end = state.end + goes_on
    new = np.maximum(end, 0)
    table = replaced(state.table, new, np.where(goes_on, before + state.values[place], state.table[new]))
    is_due = goes_on & (place >= 2)

    def skip(table: Any, recent: Any, end: Any, calls: Any) -> Any:
        del calls
        return table, recent, np.float64(0.0), np.float64(HUGE), end

    table, recent, value, distance, end = cond(is_due, extrapolated, skip, table, state.recent, end, place - 1)
    status = np.where(is_due & (state.last == most), MANY, state.status)
    idle = state.idle + is_due
    is_idle = is_due & (idle >= 15) & (state.distance <= 0.001 * (state.error + state.rest))
    status = np.where(is_idle, NO_LIMIT, status)
    is_better = is_due & (~(distance > state.distance) | (place == 2))
    distance = np.where(is_better, distance, state.distance)
    margin = 10.0 * state.correction
    is_reached = is_better & ((distance + margin <= epsabs) | ((distance <= epsabs) & (margin >= epsabs)))
    stops = is_due & (is_reached | ((status != 0) & (status != BAD_CYCLES)))
    return state._replace(
        table=table, end=end, recent=recent, idle=np.where(is_better, 0, idle), distance=distance, status=status,
        limit=np.where(is_better, value, state.limit), goes_on=goes_on & ~stops,
    )  # fmt: skip


def concluded(state: Cycles) -> tuple[Any, Any, Any]:
    """Choose between the limit and the sum over the cycles."""
    total, total_error = state.table[np.maximum(state.end, 0)], state.error + state.rest
    limit, error = state.limit, state.distance + 10.0 * state.correction
    is_worse = np.divide(error, np.abs(limit)) > np.divide(total_error, np.abs(total))
    is_zero = (limit == 0.0) | (total == 0.0)
    is_worse = np.where(is_zero, (error > state.error) | ((total != 0.0) & is_worse), is_worse)
    takes_sum = state.takes_sum | ((state.status != 0) & is_worse)
    is_raised = (state.status != 0) & (state.status != BAD_CYCLES) & ~((total == 0.0) & is_zero)
    error = np.where(is_raised, error + state.rest, error)
    return np.where(takes_sum, total, limit), np.where(takes_sum, total_error, error), state.status
