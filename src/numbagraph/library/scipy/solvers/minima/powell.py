"""Powell's method of conjugate directions, as SciPy has it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, OptimizeWarning

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.minima.brackets import NOT_FOUND
from numbagraph.library.scipy.solvers.minima.line_minimum import DONE, ENDLESS, Line, advanced, first_line
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import Objective
from numbagraph.library.scipy.solvers.minima.outcome import (
    CALLS,
    ITERATIONS,
    NOT_A_NUMBER,
    OUT_OF_BOUNDS,
    SUCCESS,
    message_of,
    minimum,
    report,
)
from numbagraph.library.scipy.solvers.minima.section_steps import ROOT_OF_EPS
from numbagraph.library.scipy.solvers.minima.simplex import limits

START, ALONG, EXTRAPOLATED = (np.int64(kind) for kind in range(3))
"""What the next value is for: the start, a search along a direction, the point that extrapolates an iteration."""


class State(NamedTuple):
    """A point, the directions, the one that is searched and its number, and what an iteration began with."""

    x: Any
    value: Any
    directions: Any
    direction: Any
    number: Any
    kind: Any
    line: Line
    first_x: Any
    first_value: Any
    decrease: Any
    largest: Any
    calls: Any
    iterations: Any
    is_done: Any


class Search(NamedTuple):
    """What stays the same: tolerances, limits, and bounds, if there are any."""

    xtol: Any
    ftol: Any
    maxiter: Any
    maxfev: Any
    lower: Any
    upper: Any


def powell(
    objective: Objective, x0: Any, maxiter: Any = None, maxfev: Any = None, disp: Any = False, xtol: Any = 1e-4,
    ftol: Any = 1e-4, direc: Any = None, lower: Any = None, upper: Any = None,
) -> Any:  # fmt: skip
    """Minimise by the method ``Powell``."""
    n = len(x0)
    maxiter, maxfev = limits(n, maxiter, maxfev, 1000)
    directions = np.eye(n) if direc is None else np.asarray(direc, dtype=np.float64)
    if direc is not None and np.linalg.matrix_rank(directions) != n:
        message = "direc input is not full rank, some parameters may not be optimized"
        warnings.warn(message, OptimizeWarning, stacklevel=2)
    if lower is not None and (np.any(lower > x0) or np.any(x0 > upper)):
        warnings.warn("Initial guess is not within the specified bounds", OptimizeWarning, stacklevel=2)
    search = Search(xtol, ftol, maxiter, maxfev, lower, upper)
    zero, none = np.float64(0.0), np.int64(0)
    line = first_line(np.bool_(True), zero, zero, zero)
    start = State(
        x0, zero, directions, np.zeros(n), none, START, line, x0, zero, zero, none, none, none, np.bool_(False)
    )  # fmt: skip

    def step(old: State) -> State:
        is_idle = (old.kind == ALONG) & (old.line.stage == DONE)
        at = np.where(old.line.is_half_open, np.tan(old.line.at), old.line.at)
        at = np.where(old.kind == ALONG, at, np.where(old.kind == START, 0.0, reach(search, old.x, old.direction)))
        value = objective.value(old.x + at * old.direction)
        is_spent = ~is_idle & (old.calls >= maxfev)
        line = advanced(old.line, value, 100 * xtol, 100 * xtol / 100)
        line = chosen(is_idle, old.line, line)
        counted = old._replace(calls=old.calls + np.where(is_idle, 0, 1))
        is_searching = (old.kind == ALONG) & (line.stage != DONE)
        new = cond(is_searching, lambda: counted._replace(line=line), lambda: turned(search, counted, line, value))
        return chosen(is_spent, old._replace(is_done=np.bool_(True)), new)

    found = while_loop(lambda state: ~state.is_done & (state.line.stage != ENDLESS), step, start)
    if found.line.stage == ENDLESS:
        raise RuntimeError(NOT_FOUND)
    return outcome(objective, found, search, disp)


def reach(search: Search, x: Any, direction: Any) -> Any:
    """Return how far an iteration is extrapolated: by itself, or until the bounds."""
    if search.lower is None:
        return np.float64(1.0)
    return np.minimum(interval(search, x, direction)[1], 1.0)


def interval(search: Search, x: Any, direction: Any) -> tuple[Any, Any]:
    """Return the multiples of a direction between which points are within bounds, or twice 0."""
    if search.lower is None:
        return np.float64(-np.inf), np.float64(np.inf)
    low, high = (search.lower - x) / direction, (search.upper - x) / direction
    is_used, is_positive = direction != 0, direction > 0
    least = np.max(np.where(is_used, np.where(is_positive, low, high), -np.inf))
    most = np.min(np.where(is_used, np.where(is_positive, high, low), np.inf))
    return np.where(most >= least, least, 0.0), np.where(most >= least, most, 0.0)


def turned(search: Search, old: State, line: Line, value: Any) -> State:
    """Return the state after a search has ended, or after another value."""
    n = len(old.x)
    is_along, is_extrapolated = old.kind == ALONG, old.kind == EXTRAPOLATED
    length = np.where(line.is_half_open, np.tan(line.lowest.x), line.lowest.x)
    taken = np.where(is_along, length, 0.0) * old.direction
    x = np.where(is_along, old.x + taken, old.x)
    best = np.where(is_along, line.lowest.fx, np.where(is_extrapolated, old.value, value))
    is_main = is_along & (old.number < n)
    is_larger = is_main & (old.value - best > old.decrease)
    decrease = np.where(is_larger, old.value - best, old.decrease)
    largest = np.where(is_larger, old.number, old.largest)
    directions = replaced(old.directions, largest, taken, is_along & (old.number == n) & np.any(taken != 0))
    is_complete = is_main & (old.number == n - 1)
    iterations = old.iterations + np.where(is_complete, 1, 0)
    first = old.first_value
    is_done = is_complete & (
        (2.0 * (first - best) <= search.ftol * (np.abs(first) + np.abs(best)) + 1e-20)
        | (old.calls >= search.maxfev)
        | (iterations >= search.maxiter)
        | (np.isnan(first) & np.isnan(best))
    )
    is_worthwhile = is_extrapolated & (first > value) & (gain(first, value, best, decrease) < 0.0)
    begins = ~is_complete & ~(is_main & ~is_complete) & ~is_worthwhile
    number = np.where(begins, 0, np.where(is_worthwhile, n, old.number + 1))
    along = np.where(is_worthwhile | is_complete, x - old.first_x, directions[np.minimum(number, n - 1)])
    along = np.where(is_worthwhile, old.direction, along)
    return old._replace(
        x=x, value=best, directions=directions, direction=along, number=number,
        kind=np.where(is_complete, EXTRAPOLATED, ALONG),
        line=first_line(~np.any(along != 0), best, *interval(search, x, along)),
        first_x=np.where(is_complete, x, old.first_x), first_value=np.where(begins, best, first),
        decrease=np.where(begins, 0.0, decrease), largest=np.where(begins, 0, largest), iterations=iterations,
        is_done=is_done,
    )  # fmt: skip


def replaced(directions: Any, number: Any, new: Any, is_replaced: Any) -> Any:
    """Return the directions with a new one at the end, whose predecessor takes the place of another."""
    n = len(directions)
    places = np.arange(n)[:, np.newaxis]
    moved = np.where(places == n - 1, new, np.where(places == number, directions[-1], directions))
    return np.where(is_replaced, moved, directions)


def gain(first: Any, extrapolated: Any, best: Any, decrease: Any) -> Any:
    """Powell's measure of the new direction, which is worthwhile where it is negative."""
    rest = first - best - decrease
    change = first - extrapolated
    return 2.0 * (first + extrapolated - 2.0 * best) * (rest * rest) - decrease * (change * change)


def outcome(objective: Objective, state: State, search: Search, disp: Any) -> Any:
    x, value, (_, _, maxiter, maxfev, lower, upper) = state.x, state.value, search
    is_nan = np.isnan(value) | np.any(np.isnan(x))
    status = np.where(state.calls >= maxfev, 1, np.where(state.iterations >= maxiter, 2, np.where(is_nan, 3, 0)))
    if lower is not None:
        status = np.where(np.any(lower > x) | np.any(x > upper), 4, status)
    messages = SUCCESS, CALLS, ITERATIONS, NOT_A_NUMBER, OUT_OF_BOUNDS
    lines = {
        "Current function value": value, "Iterations": state.iterations, "Function evaluations": state.calls,
    }  # fmt: skip
    report(disp, status, messages, lines, RuntimeWarning)
    success = status == 0
    close = 4.0 * (ROOT_OF_EPS * np.abs(x) + search.xtol / 3.0)
    found = minimum(objective, x, success, lower, upper, close)
    return result_of(
        OptimizeResult, fun=differentiated(value, objective.value(found)), direc=state.directions,
        nit=state.iterations, nfev=state.calls, status=status, success=success, message=message_of(status, *messages),
        x=found,
    )  # fmt: skip
