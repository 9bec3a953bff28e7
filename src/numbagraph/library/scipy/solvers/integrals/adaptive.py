"""Adaptive quadrature with extrapolation (Piessens et al., QUADPACK, 1983: QAGS, QAGI, QAGP and QAWO).

One loop takes the steps: the first one evaluates the whole interval, as the right half of it, and each further one both
halves of one, in a loop inside, so that integrand and bookkeeping stand in the program once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.integrals.extrapolation import HUGE, LENGTH_OF_TABLE, extrapolated, repeated
from numbagraph.library.scipy.solvers.integrals.kronrod import EPS, TINY, Estimate
from numbagraph.library.scipy.solvers.integrals.subintervals import Subintervals, no_subintervals, place_in_order

Function = Callable[..., Any]

SHORT = 2.0
"""The phase over half an interval up to which a weight that oscillates is smooth there."""


class Inner(NamedTuple):
    """What the integrals were found to be of which the integrand consists."""

    error: Any
    """The largest error."""
    calls: Any
    """The number of evaluations."""
    statuses: Any
    """A bit for each status, by its number."""

    def with_points(self, errors: Any, calls: Any, statuses: Any) -> Inner:
        """Return this with what integrals at further points were found to be."""
        return Inner(
            np.fmax(self.error, np.max(errors)), self.calls + np.sum(calls),
            self.statuses | np.bitwise_or.reduce(statuses),
        )  # fmt: skip


class Calls(NamedTuple):
    """How often the integrand was evaluated."""

    number: Any

    def with_points(self, number: Any) -> Calls:
        return Calls(self.number + number)


NOTHING = Estimate(*[np.float64(0.0)] * 4)


class Settings(NamedTuple):
    """What an adaptive quadrature is asked for."""

    rule: Callable[[Function, Any, Any], tuple[Estimate, tuple[Any, ...]]]
    """The rule on an interval, with what ``inner`` takes in beside the estimate."""
    epsabs: Any
    epsrel: Any
    limit: int
    in_pieces: bool
    inner: Inner | Calls | tuple[()] = ()
    """What is summed beside the integral, before the first step."""
    frequency: Any = None
    """That of a weight which oscillates. Extrapolation starts when the intervals are short beside its waves."""

    def tolerance(self, value: Any) -> Any:
        return np.fmax(self.epsabs, self.epsrel * np.abs(value))


class Quadrature(NamedTuple):
    """What an adaptive quadrature has found."""

    value: Any
    error: Any
    status: Any
    """QUADPACK's ``ier``."""
    last: Any
    """The number of subintervals."""
    parts: Subintervals
    inner: Any


class Sums(NamedTuple):
    """The sums over the subintervals, and what says when to stop."""

    area: Any
    error: Any
    status: Any
    last: Any
    goes_on: Any
    unchanged: Any
    """How many bisections changed nothing."""
    unchanged_later: Any
    """How many bisections changed nothing while the table waited for the larger intervals."""
    grown: Any
    """How many bisections had a larger error."""


class Table(NamedTuple):
    """The table of the extrapolation, and what says when to use it."""

    elements: Any
    recent: Any
    end: Any
    calls: Any
    idle: Any
    """The number of calls since the last better result."""
    is_off: Any
    result: Any
    error: Any
    correction: Any
    waits: Any
    """Whether the errors of the larger intervals are made small first."""
    deepest: Any
    in_larger: Any
    """The sum of the errors of the larger intervals."""
    wanted: Any
    is_open: Any
    """Whether the smallest intervals are short enough for extrapolation."""


class Half(NamedTuple):
    """What a rule says of the integral over the left half of an interval."""

    value: Any
    error: Any
    is_counted: Any
    """Whether its error says something about convergence."""


def half_of(found: Estimate) -> Half:
    return Half(found.value, found.error, found.variation != found.error)


class First(NamedTuple):
    """What the first approximation of the whole integral says."""

    value: Any
    magnitude: Any


class State(NamedTuple):
    """The state of an adaptive quadrature."""

    worst: Any
    rank: Any
    parts: Subintervals
    sums: Sums
    table: Table
    first: First
    is_summed: Any
    inner: Any


def over_interval(f: Function, a: Any, b: Any, settings: Settings) -> Quadrature:
    """Integrate over an interval: QAGS, and QAGI on the interval to which an infinite one is mapped."""
    parts = no_subintervals(settings.limit).with_one(0, double(a), double(b), 0.0, 0.0)
    parts = parts._replace(levels=replaced(parts.levels, 0, -1))
    return refined(f, initial(parts, settings), settings)


def over_pieces(f: Function, edges: Any, pieces: Any, settings: Settings) -> Quadrature:
    """Integrate over an interval that is cut into ``pieces`` at its first edges: QAGP."""

    def step(i: Any, carried: Any) -> Any:
        parts, whole, is_raised, inner = carried
        a, b = edges[i], edges[i + 1]
        found, rest = settings.rule(f, a, b)
        parts = parts.with_one(i, a, b, found.value, found.error)
        parts = parts._replace(order=replaced(parts.order, i, i))
        is_raised = replaced(is_raised, i, (found.error == found.variation) & (found.error != 0.0))
        whole = Estimate(*(one + other for one, other in zip(whole, found, strict=True)))
        return parts, whole, is_raised, with_points(inner, rest)

    limit = settings.limit
    start = no_subintervals(limit), NOTHING, np.zeros(limit, dtype=bool), settings.inner
    parts, whole, is_raised, inner = repeated(pieces, step, start)
    parts = parts._replace(errors=np.where(is_raised, whole.error, parts.errors))
    parts = parts._replace(order=in_order(parts.errors, parts.order, pieces))
    wanted = settings.tolerance(whole.value)
    status = np.where((whole.error <= 100.0 * EPS * whole.magnitude) & (whole.error > wanted), 2, 0)
    status = np.where((pieces > 1) & (limit < pieces + 1), 1, status)
    state = begun(initial(parts, settings), whole, parts, whole.error <= wanted, status, pieces, settings)
    return refined(f, state._replace(inner=inner), settings)


def in_order(errors: Any, order: Any, count: Any) -> Any:
    """Sort the first subintervals by their errors, the last one of equal ones first."""

    def step(i: Any, order: Any) -> Any:
        first = order[i]

        def seek(number: Any, found: Any) -> Any:
            j = i + 1 + number
            is_larger = ~(errors[found[0]] > errors[order[j]])
            return np.where(is_larger, order[j], found[0]), np.where(is_larger, j, found[1])

        best, place = repeated(count - i - 1, seek, (first, i + np.int64(0)))
        return replaced(replaced(order, place, first), i, best)

    return repeated(count - 1, step, order)


def with_points(inner: Any, found: tuple[Any, ...]) -> Any:
    return inner.with_points(*found) if found else inner


def double(x: Any) -> Any:
    return np.float64(x)


def replaced(array: Any, place: Any, value: Any) -> Any:
    """Return an array with another element."""
    found = array.copy()
    found[place] = value
    return found


def initial(parts: Subintervals, settings: Settings) -> State:
    zero, none, no = np.float64(0.0), np.int64(0), np.bool_(False)
    sums = Sums(zero, zero, none, none, np.bool_(True), none, none, none)
    end, is_open = np.int64(0 if settings.in_pieces else 1), np.bool_(True)
    if settings.frequency is not None:
        phase = 0.5 * np.abs(parts.rights[0] - parts.lefts[0]) * settings.frequency
        end, is_open = np.where(phase <= SHORT, 1, np.where(phase <= 2.0 * SHORT, 0, -1)), phase <= 2.0 * SHORT
    table = Table(
        np.zeros(LENGTH_OF_TABLE), np.zeros(3), end, none, none, no, zero, np.float64(HUGE), zero, no, np.int64(1),
        zero, zero, is_open,
    )  # fmt: skip
    return State(none, none, parts, sums, table, First(zero, zero), no, settings.inner)


def begun(
    state: State, whole: Estimate, parts: Subintervals, is_small: Any, status: Any, last: Any, settings: Settings
) -> State:
    """Return the state after the first approximation in pieces."""
    error = np.sum(parts.errors)
    goes_on = (status == 0) & ~is_small
    wanted = settings.tolerance(whole.value)
    sums = state.sums._replace(area=whole.value, error=error, status=status, last=last + np.int64(0), goes_on=goes_on)
    table = state.table._replace(
        elements=replaced(state.table.elements, 0, whole.value), result=whole.value,
        error=np.where(goes_on, HUGE, whole.error), in_larger=error, wanted=wanted,
    )  # fmt: skip
    first = First(whole.value, whole.magnitude)
    return state._replace(worst=parts.order[0], parts=parts, sums=sums, table=table, first=first)


def refined(f: Function, state: State, settings: Settings) -> Quadrature:
    """Bisect intervals until the errors are small enough, and extrapolate."""

    def step(state: State) -> State:
        a, b = state.parts.lefts[state.worst], state.parts.rights[state.worst]
        is_first = state.sums.last == 0
        middle = np.where(is_first, a, 0.5 * (a + b))

        def half(number: Any, carried: Any) -> Any:
            _, previous, inner = carried
            low, high = np.where(number == 0, a, middle), np.where(number == 0, middle, b)
            found, rest = settings.rule(f, low, high)
            return half_of(previous), found, with_points(inner, rest)

        start = half_of(NOTHING), NOTHING, state.inner
        left, right, inner = repeated(np.int64(2), half, start, np.where(is_first, 1, 0))
        return bisected(state._replace(inner=inner), (a, middle, b), left, right, settings)

    return concluded(while_loop(lambda state: state.sums.goes_on, step, state))


def bisected(state: State, edges: tuple[Any, Any, Any], left: Half, right: Estimate, settings: Settings) -> State:
    """Return the state after both halves of an interval have been evaluated."""
    sums, parts, worst = state.sums, state.parts, state.worst
    a, middle, b = edges
    is_first = sums.last == 0
    level, largest, error = parts.levels[worst] + 1, parts.errors[worst], left.error + right.error
    sums = with_halves(sums, parts.values[worst], largest, left, right, state.table.waits)
    wanted = settings.tolerance(sums.area)
    negligible = 1000.0 * (TINY if settings.frequency is None else EPS)
    is_bad = np.fmax(np.abs(a), np.abs(b)) <= (1.0 + 100.0 * EPS) * (np.abs(middle) + negligible)
    is_limited = (sums.unchanged + sums.unchanged_later >= 10) | (sums.grown >= 20)
    is_limited = np.where(is_first, (error <= 100.0 * EPS * right.magnitude) & (error > wanted), is_limited)
    status = np.where(sums.last == settings.limit, 1, np.where(is_limited, 2, 0))
    status = np.where(is_bad & ~is_first, 4, status)
    parts = parts.with_halves(worst, sums.last - 1, edges, level, left, right, is_first)
    order, rank = place_in_order(parts, sums.last, worst, state.rank, settings.limit)
    is_summed = sums.error <= wanted
    if settings.frequency is None:
        is_summed = is_summed & ~(is_first & (error == right.variation) & (error != 0.0))
    state = state._replace(
        parts=parts._replace(order=order), sums=sums._replace(status=status, goes_on=~is_summed & (status == 0)),
        worst=order[rank], rank=rank, is_summed=is_summed,
        first=First(
            np.where(is_first, right.value, state.first.value),
            np.where(is_first, right.magnitude, state.first.magnitude),
        ),
    )  # fmt: skip
    return waiting(state, largest, error, level, wanted, settings)


def with_halves(sums: Sums, before: Any, largest: Any, left: Half, right: Estimate, waits: Any) -> Sums:
    """Return the sums with both halves of an interval in its place."""
    both, error = left.value + right.value, left.error + right.error
    is_counted = left.is_counted & (right.variation != right.error)
    is_same = is_counted & ~((np.abs(before - both) > 1e-5 * np.abs(both)) | (error < 0.99 * largest))
    return sums._replace(
        area=sums.area + both - before,
        error=sums.error + error - largest,
        last=sums.last + 1,
        unchanged=sums.unchanged + (is_same & ~waits),
        unchanged_later=sums.unchanged_later + (is_same & waits),
        grown=sums.grown + (is_counted & (sums.last > 9) & (error > largest)),
    )


def waiting(state: State, largest: Any, error: Any, level: Any, tolerance: Any, settings: Settings) -> State:
    """Choose the next interval. Before one of the smallest is bisected, the errors of the larger ones are made small,
    and the sum over all is then the next element of the sequence that the table extrapolates."""
    table, sums, parts = state.table, state.sums, state.parts
    is_active = sums.goes_on & ~table.is_off
    in_larger = table.in_larger - largest + np.where(level < table.deepest, error, 0.0)
    deepest, wanted, elements = table.deepest, table.wanted, table.elements
    if not settings.in_pieces:
        starts_table = (sums.last <= 2) & table.is_open
        is_active = is_active & ~starts_table
        in_larger, deepest = np.where(starts_table, sums.error, in_larger), np.where(starts_table, 2, deepest)
        wanted = np.where(starts_table, tolerance, wanted)
        place = np.maximum(np.minimum(sums.last - 1, table.end), 0)
        elements = replaced(elements, place, np.where(starts_table, sums.area, elements[place]))
    starts = is_active & (table.waits | (parts.levels[state.worst] >= deepest))
    is_open = table.is_open
    if settings.frequency is not None:
        descends, starts = starts & ~is_open, starts & is_open
        phase = 0.25 * np.abs(parts.rights[state.worst] - parts.lefts[state.worst]) * settings.frequency
        opens, deepest = descends & (phase <= SHORT), deepest + descends
        in_larger, wanted = np.where(opens, sums.error, in_larger), np.where(opens, tolerance, wanted)
        is_open = is_open | opens
    rank = np.where(starts & ~table.waits, 1, state.rank)
    seeks = starts & (sums.unchanged_later < 5) & ~(in_larger <= wanted)
    last, limit = sums.last, settings.limit
    bound = np.where(last > 2 + limit // 2, limit + 3 - last, last)
    rank, worst, is_found = larger_one(parts, rank, state.worst, np.where(seeks, bound, 0), deepest)
    table = table._replace(
        elements=elements, deepest=deepest, wanted=wanted, in_larger=in_larger, waits=table.waits | starts,
        is_open=is_open,
    )  # fmt: skip
    return with_extrapolation(state._replace(table=table, worst=worst, rank=rank), starts & ~is_found, settings)


def larger_one(parts: Subintervals, rank: Any, worst: Any, bound: Any, deepest: Any) -> tuple[Any, Any, Any]:
    """Return the rank and the number of the interval of largest error that is not one of the smallest, and whether
    there is one."""

    def step(found: Any) -> Any:
        rank, _, _ = found
        worst = parts.order[rank]
        is_found = parts.levels[worst] < deepest
        return np.where(is_found, rank, rank + 1), worst, is_found

    start = (rank, worst, np.bool_(False))
    found: tuple[Any, Any, Any] = while_loop(lambda found: ~found[2] & (found[0] < bound), step, start)
    return found


def with_extrapolation(state: State, is_due: Any, settings: Settings) -> State:
    """Return the state after the sum over all intervals has gone into the table, if it is due."""
    table, sums = state.table, state.sums
    end = table.end + is_due
    elements = replaced(table.elements, end, np.where(is_due, sums.area, table.elements[end]))
    table = table._replace(end=end, elements=elements)
    starts_empty = settings.in_pieces or settings.frequency is not None
    is_sequence = is_due & (end > 1) if starts_empty else is_due  # two elements are none yet
    table, sums = with_limit(table, sums, is_sequence, settings)
    table = table._replace(
        waits=table.waits & ~is_due, deepest=table.deepest + is_due,
        in_larger=np.where(is_due, sums.error, table.in_larger),
    )  # fmt: skip
    worst, rank = np.where(is_due, state.parts.order[0], state.worst), np.where(is_due, 0, state.rank)
    return state._replace(table=table, sums=sums, worst=worst, rank=rank)


def with_limit(table: Table, sums: Sums, is_due: Any, settings: Settings) -> tuple[Table, Sums]:
    """Extrapolate the table if it is due, and keep the result if it seems better than the last one."""
    calls, idle = table.calls + is_due, table.idle + is_due

    def skip(elements: Any, recent: Any, end: Any, calls: Any) -> Any:
        del calls
        return elements, recent, np.float64(0.0), np.float64(HUGE), end

    elements, recent, value, distance, end = cond(
        is_due, extrapolated, skip, table.elements, table.recent, table.end, calls
    )
    status = np.where(is_due & (idle > 5) & (table.error < 1e-3 * sums.error), 5, sums.status)
    is_better = is_due & ~(distance >= table.error)
    wanted = np.where(is_better, settings.tolerance(value), table.wanted)
    error = np.where(is_better, distance, table.error)
    is_reached = is_better & (error < wanted if settings.in_pieces else error <= wanted)
    table = table._replace(
        elements=elements, recent=recent, end=end, calls=calls, idle=np.where(is_better, 0, idle),
        result=np.where(is_better, value, table.result), error=error, wanted=wanted,
        is_off=table.is_off | (is_due & (end == 0)),
        correction=np.where(is_better, table.in_larger, table.correction),
    )  # fmt: skip
    return table, sums._replace(status=status, goes_on=sums.goes_on & ~is_reached & (status != 5))


def concluded(state: State) -> Quadrature:
    """Choose between the extrapolated result and the sum."""
    table, sums, parts = state.table, state.sums, state.parts
    is_bad = sums.unchanged_later >= 5
    is_extrapolated = ~state.is_summed & (table.error != HUGE) & (sums.last > 1)
    error = np.where(is_extrapolated & is_bad, table.error + table.correction, table.error)
    status = np.where(is_extrapolated & is_bad & (sums.status == 0), 3, sums.status)
    result, area = table.result, sums.area
    is_worse = np.where(
        (result != 0.0) & (area != 0.0),
        np.divide(error, np.abs(result)) > np.divide(sums.error, np.abs(area)),
        error > sums.error,
    )
    takes_sum = state.is_summed | (table.error == HUGE) | (is_extrapolated & (status != 0) & is_worse)
    total = repeated(sums.last, lambda i, total: total + parts.values[i], np.float64(0.0))
    is_zero = (status != 0) & (result == 0.0) & (area == 0.0)
    tested = is_extrapolated & ~takes_sum & ~is_zero & is_divergent(result, area, sums.error, state.first)
    status = np.where(tested, 6, status)
    status = np.where(status > 2, status - 1, status)
    value, error = np.where(takes_sum, total, result), np.where(takes_sum, sums.error, error)
    return Quadrature(value, error, status, sums.last, parts, state.inner)


def is_divergent(result: Any, area: Any, error: Any, first: First) -> Any:
    """Whether the extrapolated result and the sum are too far apart."""
    has_one_sign = np.abs(first.value) >= (1.0 - 50.0 * EPS) * first.magnitude
    is_small = ~has_one_sign & (np.fmax(np.abs(result), np.abs(area)) <= 0.01 * first.magnitude)
    ratio = np.divide(result, area)
    return ~is_small & ((ratio < 0.01) | (ratio > 100.0) | (error > np.abs(area)))
