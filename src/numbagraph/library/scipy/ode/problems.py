"""Initial value problems, and their solutions at the times that are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.differentiation import stop_gradient
from numbagraph.library.scipy.arguments import array, lifted
from numbagraph.library.scipy.ode.dense_output import DenseSolution
from numbagraph.library.scipy.ode.events import Occurrence, Stepped, all_events, last_event, watched
from numbagraph.library.scipy.ode.methods import Counts, Method, Problem, Watch, first_size
from numbagraph.library.scipy.ode.trajectories import at_end, polynomials, sampled, steps_to, to_end
from numbagraph.tracing.trace import as_traced


class Solution(NamedTuple):
    """A solution at times, with what it has taken."""

    t: Any
    y: Any
    reached: Any
    ended: Any
    """Whether an event has ended it."""
    counts: Counts
    event_times: list[Any] | None
    event_states: list[Any] | None
    dense: DenseSolution | None = None


class End(NamedTuple):
    """Where a solution has come to."""

    stepped: Stepped
    t: Any
    y: Any
    reached: Any
    ended: Any
    event: Occurrence | None
    """The event that has ended it, where one may."""


def slope_of(fun: Callable[..., Any], args: tuple[Any, ...], y: Any, vectorized: bool) -> Callable[[Any, Any], Any]:
    """Return the right-hand side as a function of time and state that gives an array like the state."""
    traced, dtype = as_traced(fun), y.dtype

    def slope(t: Any, y: Any) -> Any:
        found = traced(t, y[:, None], *args) if vectorized else traced(t, y, *args)
        found = array(found)
        return np.broadcast_to(found.ravel() if vectorized else found, y.shape).astype(dtype)

    return slope


def problem_of(
    method: Method, slope: Callable[[Any, Any], Any], t: Any, end: Any, rtol: Any, atol: Any, longest: Any,
    watch: Watch | None,
) -> Problem:  # fmt: skip
    end, rtol, atol, longest = map(stop_gradient, (end, rtol, atol, longest))
    direction = np.where(end < stop_gradient(t), -1.0, 1.0)
    return Problem(slope, method, end, direction, rtol, atol, longest, watch)


def solution_of(problem: Problem, t: Any, end: Any, y: Any, first_step: Any, times: Any, is_dense: bool) -> Solution:
    """Return the solution at times, or after each step, and with ``is_dense`` as a function of time, too."""
    slope = problem.slope(t, y)
    if first_step is None and problem.method.first_size is not None:
        size = problem.method.first_size(problem, t, y, slope)
        before = np.where(problem.end != stop_gradient(t), 1, 0)
    elif first_step is None:
        size = first_size(problem, t, y, slope)
        before = 1 + (problem.end != stop_gradient(t))
    else:
        size, before = np.float64(first_step), 1
    first = watched(problem, problem.method.first(problem, t, y, slope, size, False))
    with_last = watched(problem, problem.method.first(problem, t, y, slope, size, True))
    may_end = problem.watch is not None and bool(problem.watch.terminal)
    extra: Any = 0
    if times is None:
        last = end_of(problem, to_end(problem, with_last if may_end else first), end)
        t_found, y_found = after_steps(problem, first.state, last)
        extra = 0 if last.stepped.seen is None else last.stepped.seen.steps
    else:
        last, t_found, y_found, extra = at_times(problem, with_last, end, times)
    if is_dense:
        extra = last.stepped.state.steps
    counts = problem.method.counts(last.stepped.state)
    counts = counts._replace(slopes=before + counts.slopes + problem.method.extra * extra)
    event_times, event_states = events_of(problem, with_last, last)
    return Solution(
        t_found, y_found, last.reached, last.ended, counts, event_times, event_states,
        dense(problem, with_last.state, last) if is_dense else None,
    )  # fmt: skip


def end_of(problem: Problem, stepped: Stepped, end: Any) -> End:
    """Return where the steps have come to: the end, an event that ends the solution, or a step that is too short."""
    state = stepped.state
    at_bound = np.logical_not(problem.remains(state.t))
    t = np.where(at_bound, end, state.t)
    if problem.watch is None or not problem.watch.terminal or stepped.seen is None:
        return End(stepped, t, at_end(problem, state, end), at_bound, np.bool_(False), None)
    ended = stepped.seen.ended
    event = last_event(problem, stepped)
    found_t, found_y = cond(ended, lambda: (event.t, event.y), lambda: (t, at_end(problem, state, end)))
    return End(stepped, found_t, found_y, at_bound | ended, ended, event)


def at_times(problem: Problem, first: Stepped, end: Any, times: Any) -> tuple[End, Any, Any, Any]:
    """Return the end, and times and states; where an event ends the solution, those that are not behind it."""
    stepped, values, found = sampled(problem, first, times)
    last = end_of(problem, to_end(problem, stepped), end)
    if last.stepped.seen is not None:
        found = found + last.stepped.seen.steps
    if isinstance(times, np.ndarray) and not times.size:
        return last, [], [], found
    if last.event is None:
        return last, times, values.T, found
    is_before = problem.direction * (stop_gradient(times) - stop_gradient(last.t)) <= 0
    count = np.where(last.ended, np.sum(is_before), times.shape[0])
    return last, lifted(times)[:count], values[:count].T, found


def after_steps(problem: Problem, first: Any, last: End) -> tuple[Any, Any]:
    """Return times and states at the start, after each step, and at the end."""
    taken = last.stepped.state.steps
    times, states = steps_to(problem, first, taken)
    count = np.maximum(taken, np.where(last.reached, 1, 0))
    t = np.concatenate([np.concatenate([first.t[None], times])[:count], last.t[None]])
    y = np.concatenate([np.concatenate([first.y[None], states])[:count], last.y[None]])
    return t, y.T


def dense(problem: Problem, first: Any, last: End) -> DenseSolution:
    """Return the polynomials through the steps."""
    times, states, pieces = polynomials(problem, first, last.stepped.state.steps)
    known = np.concatenate([first.t[None], times])
    if last.event is not None:
        known = np.concatenate([known[:-1], np.where(last.ended, last.t, known[-1])[None]])
    return DenseSolution(problem.method, known, times, states, pieces)


def events_of(problem: Problem, first: Stepped, last: End) -> tuple[list[Any] | None, list[Any] | None]:
    """Return the times of each event, and the states there. Of an event that has ended the solution the last ones need
    no record of the others."""
    if problem.watch is None:
        return None, None
    times, states, occurred, ended = all_events(problem, first, last.stepped.state.steps)
    found_times, found_states = [], []
    for number in range(len(problem.watch.functions)):
        mask, t, y = occurred[:, number], times[:, number], states[:, number]
        if number in problem.watch.terminal:
            assert last.event is not None
            is_last = last.ended & (last.event.number == number)
            count = np.where(is_last, 1, 0)
            last_t, last_y = last.event.t[None][:count], last.event.y[None][:count]
            if problem.watch.limits[number] == 1:
                t, y = last_t, last_y
            else:
                mask = mask & np.logical_not(is_last & ended)
                t, y = np.concatenate([t[mask], last_t]), np.concatenate([y[mask], last_y])
        else:
            t, y = t[mask], y[mask]
        found_times.append(t)
        found_states.append(y)
    return found_times, found_states
