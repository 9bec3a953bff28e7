"""The loops of a solver over its trials: to the end, from one of several times to the next, and step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.differentiation import stop_gradient
from numbagraph.api.loops import scan, while_loop
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.ode.events import Stepped, advanced, goes_on
from numbagraph.library.scipy.ode.methods import Piece, Problem, Stepping, integer


class Sampled(NamedTuple):
    """A state, with the polynomial through the step that has led to it."""

    stepped: Stepped
    piece: Piece
    of_step: Any
    """The number of the step whose polynomial it is."""
    found: Any
    """How many polynomials there were, without those that events take."""


def to_end(problem: Problem, stepped: Stepped) -> Stepped:
    """Return the state at the end, or where an event ends the solution or a step would have to be too short."""
    return while_loop(lambda it: goes_on(problem, it), lambda it: advanced(problem, it), stepped)


def at_end(problem: Problem, state: Stepping, end: Any) -> Any:
    """The solution at the end, with the derivative by the end. Derivatives of a solution that was not found are NaN."""
    late = end - stop_gradient(end) - (state.t - stop_gradient(state.t))
    scale = np.where(problem.remains(state.t), np.nan, 1.0)
    return differentiated(state.y, scale * (state.y + state.slope * late))


def zeros(piece: Piece) -> Piece:
    return Piece(*(np.zeros_like(each) for each in piece))


def sampled(problem: Problem, stepped: Stepped, times: Any) -> tuple[Stepped, Any, Any]:
    """Return the state after the last of several times, the solution at each of them, and how many polynomials this
    has taken. Times that are not reached have NaN."""
    method = problem.method
    shape = method.piece(problem, stepped.state)

    def to(carried: Sampled, time: Any) -> tuple[Sampled, Any]:
        held = stop_gradient(time)

        def is_before(it: Stepped) -> Any:
            state = it.state
            is_short = (problem.direction * (state.t - held) < 0) | ((state.steps == 0) & problem.remains(state.t))
            found = is_short & np.logical_not(state.failed)
            return found if it.seen is None else found & np.logical_not(it.seen.ended)

        stepped = while_loop(is_before, lambda it: advanced(problem, it), carried.stepped)
        state, seen = stepped
        known = carried.of_step == state.steps
        piece = cond(known, lambda: carried.piece, lambda: method.piece(problem, state))
        value = method.value(piece, time)
        value = np.where(problem.direction * (state.t - held) < 0, np.nan, value)
        is_new = np.logical_not(known) if seen is None else np.logical_not(known | np.any(seen.active))
        return Sampled(stepped, piece, state.steps, carried.found + is_new), value

    last, values = scan(to, Sampled(stepped, zeros(shape), integer(-1), integer(0)), times)
    return last.stepped, values, last.found


def next_step(problem: Problem, state: Any) -> Any:
    """Return the state after the next step that is accepted."""
    before = state.steps
    return while_loop(
        lambda state: (state.steps == before) & np.logical_not(state.failed),
        lambda state: problem.method.trial(problem, state),
        state,
    )


def steps_to(problem: Problem, state: Any, count: Any) -> tuple[Any, Any]:
    """Return times and states after each of the first steps."""

    def one(state: Any, _: Any) -> tuple[Any, Any]:
        state = next_step(problem, state)
        return state, (state.t, state.y)

    return scan(one, state, None, length=count)[1]


def polynomials(problem: Problem, state: Any, count: Any) -> tuple[Any, Any, Piece]:
    """Return the times after each of the first steps, the states before it, and its polynomial."""

    def one(state: Any, _: Any) -> tuple[Any, Any]:
        y = state.y
        state = next_step(problem, state)
        return state, (state.t, y, problem.method.piece(problem, state))

    return scan(one, state, None, length=count)[1]
