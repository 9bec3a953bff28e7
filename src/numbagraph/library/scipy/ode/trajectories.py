"""The loops of a solver over its trials: to the end, from one of several times to the next, and step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.differentiation import stop_gradient
from numbagraph.api.loops import scan, while_loop
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.ode.interpolants import at, coefficients
from numbagraph.library.scipy.ode.trials import Problem, State, integer, trial


class Sampled(NamedTuple):
    """A state, with the polynomial through the step that has led to it."""

    state: State
    rows: Any
    of_step: Any
    """The number of the step whose polynomial it is."""
    found: Any
    """How many polynomials there were."""


def to_end(problem: Problem, state: State) -> State:
    """Return the state at the end, or where a step would have to be too short."""
    return while_loop(
        lambda state: problem.remains(state.t) & np.logical_not(state.failed),
        lambda state: trial(problem, state),
        state,
    )


def at_end(problem: Problem, state: State, end: Any) -> Any:
    """The solution at the end, with the derivative by the end. Derivatives of a solution that was not found are NaN."""
    late = end - stop_gradient(end) - (state.t - stop_gradient(state.t))
    scale = np.where(problem.remains(state.t), np.nan, 1.0)
    return differentiated(state.y, scale * (state.y + state.slope * late))


def sampled(problem: Problem, state: State, times: Any) -> tuple[State, Any, Any]:
    """Return the state after the last of several times, the solution at each of them, and how many polynomials this
    has taken. Times that are not reached have NaN."""
    tableau = problem.tableau
    assert state.last is not None
    shape = coefficients(problem, state.last, state.size, state.y)

    def to(carried: Sampled, time: Any) -> tuple[Sampled, Any]:
        held = stop_gradient(time)

        def goes_on(state: State) -> Any:
            is_before = (problem.direction * (state.t - held) < 0) | ((state.steps == 0) & problem.remains(state.t))
            return is_before & np.logical_not(state.failed)

        state = while_loop(goes_on, lambda state: trial(problem, state), carried.state)
        assert state.last is not None
        step, h = state.last, stop_gradient(state.t - state.last.t)
        known = carried.of_step == state.steps
        rows = cond(known, lambda: carried.rows, lambda: coefficients(problem, step, h, state.y))
        value = step.y + at(tableau, rows, (time - step.t) / np.where(h == 0, 1.0, h))
        value = np.where(problem.direction * (state.t - held) < 0, np.nan, value)
        found = carried.found + np.logical_not(known)
        return Sampled(state, rows, state.steps, found), value

    last, values = scan(to, Sampled(state, np.zeros_like(shape), integer(-1), integer(0)), times)
    return last.state, values, last.found


def steps_to(problem: Problem, state: State, count: Any) -> tuple[Any, Any]:
    """Return the times and states after each of the first steps."""

    def one(state: State, _: Any) -> tuple[State, Any]:
        before = state.steps
        state = while_loop(
            lambda state: (state.steps == before) & np.logical_not(state.failed),
            lambda state: trial(problem, state),
            state,
        )
        return state, (state.t, state.y)

    return scan(one, state, None, length=count)[1]


def polynomials(problem: Problem, state: State, count: Any) -> tuple[Any, Any, Any]:
    """Return the times after each of the first steps, the states before it, and the coefficients of its polynomial."""

    def one(state: State, _: Any) -> tuple[State, Any]:
        before, y = state.steps, state.y
        state = while_loop(
            lambda state: (state.steps == before) & np.logical_not(state.failed),
            lambda state: trial(problem, state),
            state,
        )
        assert state.last is not None
        h = stop_gradient(state.t - state.last.t)
        return state, (state.t, y, coefficients(problem, state.last, h, state.y))

    return scan(one, state, None, length=count)[1]
