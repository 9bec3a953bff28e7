"""Events: zeros of functions of time and state, whose times are found on the polynomials through steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.differentiation import stop_gradient
from numbagraph.api.loops import scan, while_loop
from numbagraph.library.scipy.arguments import array
from numbagraph.library.scipy.ode.methods import Piece, Problem, Watch, integer


class Seen(NamedTuple):
    """What of events is known after a step."""

    values: Any
    counts: Any
    """How often each has occurred."""
    active: Any
    """Which occurred in the last step."""
    start: Any
    """The time at the start of that step."""
    ended: Any
    """Whether one has ended the solution."""
    steps: Any
    """The number of steps in which one occurred."""


class Stepped(NamedTuple):
    """A solver's state, with what is known of events."""

    state: Any
    seen: Seen | None


class Occurrence(NamedTuple):
    """The event that has ended a solution."""

    number: Any
    t: Any
    y: Any


def values(watch: Watch, t: Any, y: Any) -> Any:
    t, y = stop_gradient(t), stop_gradient(y)
    return np.stack([array(each(t, y)).astype(np.float64).reshape(()) for each in watch.functions])


def watched(problem: Problem, state: Any) -> Stepped:
    """Return a state with the values of events there."""
    watch = problem.watch
    if watch is None:
        return Stepped(state, None)
    count = len(watch.functions)
    none = np.zeros(count, bool)
    found = values(watch, state.t, state.y)
    return Stepped(
        state, Seen(found, np.zeros(count, np.int64), none, stop_gradient(state.t), np.bool_(False), integer(0))
    )


def goes_on(problem: Problem, stepped: Stepped) -> Any:
    """Whether neither the end has been reached nor an event has ended the solution, and steps are not too short."""
    found = problem.remains(stepped.state.t) & np.logical_not(stepped.state.failed)
    return found if stepped.seen is None else found & np.logical_not(stepped.seen.ended)


def advanced(problem: Problem, stepped: Stepped) -> Stepped:
    """Return what is known after one more trial."""
    state, seen, watch = stepped.state, stepped.seen, problem.watch
    after = problem.method.trial(problem, state)
    if seen is None or watch is None:
        return Stepped(after, None)
    is_step = after.steps != state.steps
    now, before = values(watch, after.t, after.y), seen.values
    up, down = (before <= 0) & (now >= 0), (before >= 0) & (now <= 0)
    directions = watch.directions
    active = (up & (directions > 0)) | (down & (directions < 0)) | ((up | down) & (directions == 0))
    counts = seen.counts + (active & is_step)
    ended = np.any(active & (counts >= np.array(watch.limits, np.int64))) & is_step
    return Stepped(after, Seen(
        np.where(is_step, now, before), counts, np.where(is_step, active, seen.active),
        np.where(is_step, stop_gradient(state.t), seen.start), ended, seen.steps + (np.any(active) & is_step),
    ))  # fmt: skip


def time_of(problem: Problem, piece: Piece, number: int, start: Any, end: Any, active: Any) -> Any:
    """The time of an event in a step, or NaN if it has not occurred there."""
    watch = problem.watch
    assert watch is not None
    event = watch.functions[number]

    def root() -> Any:
        return watch.root(lambda t: event(t, problem.method.value(piece, t)), stop_gradient(start), stop_gradient(end))

    return cond(active, root, lambda: np.float64(np.nan))


def last_event(problem: Problem, stepped: Stepped) -> Occurrence:
    """Return the event that has ended the solution; NaN if none has."""
    seen, watch = stepped.seen, problem.watch
    assert seen is not None
    assert watch is not None
    piece = problem.method.piece(problem, stepped.state)
    number, t = integer(0), np.float64(np.nan)
    for each in watch.terminal:
        counts = seen.active[each] & (seen.counts[each] >= watch.limits[each])
        time = time_of(problem, piece, each, seen.start, stepped.state.t, counts)
        earlier = counts & (np.isnan(t) | (problem.direction * stop_gradient(time - t) < 0))
        number, t = np.where(earlier, each, number), np.where(earlier, time, t)
    return Occurrence(number, t, problem.method.value(piece, t))


def all_events(problem: Problem, first: Stepped, count: Any) -> tuple[Any, Any, Any, Any]:
    """Return the times of all events in each of the first steps, the states there, which occurred there before the
    solution ended, and whether it ended in the step."""
    watch = problem.watch
    assert watch is not None
    numbers = range(len(watch.functions))

    def one(stepped: Stepped, _: Any) -> tuple[Stepped, Any]:
        before = stepped.state.steps
        stepped = while_loop(
            lambda it: (it.state.steps == before) & np.logical_not(it.state.failed),
            lambda it: advanced(problem, it),
            stepped,
        )
        seen = stepped.seen
        assert seen is not None

        def found() -> tuple[Any, Any]:
            piece = problem.method.piece(problem, stepped.state)
            times = [time_of(problem, piece, each, seen.start, stepped.state.t, seen.active[each]) for each in numbers]
            return np.stack(times), np.stack([problem.method.value(piece, each) for each in times])

        count, y = len(watch.functions), stepped.state.y
        none = np.full(count, np.nan), np.full((count, y.shape[0]), np.nan, y.dtype)
        times, states = cond(np.any(seen.active), found, lambda: none)
        return stepped, (times, states, kept(problem, watch, seen, stop_gradient(times)), seen.ended)

    return scan(one, first, None, length=count)[1]


def kept(problem: Problem, watch: Watch, seen: Seen, times: Any) -> Any:
    """Which events of a step are not behind the one that has ended the solution."""
    ends = seen.active & (seen.counts >= np.array(watch.limits, np.int64))
    order = np.where(ends, problem.direction * times, np.inf)
    last = np.argmin(order)
    mine = problem.direction * times
    first = (mine < order[last]) | ((mine == order[last]) & (np.arange(len(watch.limits)) <= last))
    return seen.active & (first | np.logical_not(seen.ended))
