"""Trials of ODEPACK's LSODA: steps by Adams' or the backward differentiation formulas, of varying order."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.differentiation import stop_gradient
from numbagraph.library.scipy.arguments import differentiated, lifted
from numbagraph.library.scipy.ode.correctors import CONVERGED, RATE, corrected
from numbagraph.library.scipy.ode.methods import Piece, integer
from numbagraph.library.scipy.ode.multistep_coefficients import ADAMS, CORRECTIONS, PASCAL, ROWS, TESTS
from numbagraph.library.scipy.ode.multistep_state import (
    EPS,
    MISPOSED,
    NO_WEIGHT,
    TOO_EXACT,
    Control,
    Equations,
    Newton,
    Record,
    State,
    Tally,
    largest,
    limited,
    rescaled,
)
from numbagraph.library.scipy.ode.order_control import PATIENCE, Choice, choice_after, coefficient_of_growth
from numbagraph.library.scipy.solution import solved

LARGEST_GROWTH = 10000.0
"""The largest factor of the length after the first step."""


def first_size(equations: Equations, t: Any, end: Any, y: Any, slope: Any) -> Any:
    """The first step, with its sign."""
    distance, latest = np.abs(end - t), np.fmax(np.abs(t), np.abs(end))
    rtol = np.max(equations.rtol)
    quotients = np.broadcast_to(equations.atol, y.shape) / np.where(y == 0, 1.0, np.abs(y))
    least = np.max(np.where(y == 0, 0.0, quotients))
    tol = np.fmin(np.fmax(np.where(rtol <= 0, np.fmax(rtol, least), rtol), 100.0 * EPS), 0.001)
    size = largest(slope, equations.weights(y))
    found = 1.0 / np.sqrt(1.0 / (tol * latest * latest) + tol * size * size)
    return np.copysign(np.fmin(found, distance), end - t)


def first_state(equations: Equations, t: Any, y: Any, slope: Any, h: Any, with_record: bool) -> State:
    """Return the state before the first trial."""
    held, h = stop_gradient(t), stop_gradient(h)
    h = h / np.fmax(1.0, np.abs(h) * equations.inverse_longest)
    count = y.shape[0]
    rows = np.concatenate([y[None], (h * slope)[None], np.zeros((ROWS - 2, count))])
    no, zero, none = np.bool_(False), np.float64(0.0), integer(0)
    newton = Newton(np.zeros((count, count)), zero, zero, none, no)
    control = Control(
        integer(2), np.float64(LARGEST_GROWTH), np.float64(RATE), integer(PATIENCE), no, zero, zero, none, none, no,
        np.zeros(count),
    )  # fmt: skip
    status, excess = accuracy(equations, stop_gradient(y))
    return State(
        t, rows, h, integer(1), integer(ADAMS), newton, control,
        Tally(none, integer(1), none, zero, none, none, held), np.where(status == 0, 0, MISPOSED), excess, integer(-1),
        Record(t, h, rows) if with_record else None,
    )  # fmt: skip


def accuracy(equations: Equations, y: Any) -> tuple[Any, Any]:
    """Say by status whether a step from a state can be as accurate as is asked for, and how far it is from that."""
    has_none = np.any(equations.rtol * np.abs(y) + equations.atol <= 0)
    excess = EPS * largest(y, equations.weights(y))
    status = np.where(has_none, NO_WEIGHT, np.where(excess > 0.01, TOO_EXACT, 0))
    return status, np.where(status == TOO_EXACT, 200.0 * excess, 0.0)


def cut(equations: Equations, state: State, critical: Any) -> State:
    """Return a state whose next step does not go beyond a critical time, unless it is the first one."""
    held, h, control = stop_gradient(state.t), state.h, state.control
    is_new = (control.errors == 0) & (control.divergences == 0) & (state.tally.steps > 0)
    is_far = is_new & ((held + h * (1.0 + 4.0 * EPS) - critical) * h > 0)
    factor = (critical - held) * (1.0 - 4.0 * EPS) / h
    factor, is_limited = limited(equations, control.lipschitz, control.growth, h, factor, state.order, state.method)
    rows = cond(is_far, lambda: rescaled(state.rows, factor), lambda: state.rows)
    was_limited = np.where(is_far & (state.method == ADAMS), is_limited, control.was_stability_limited)
    newton = state.newton
    return state._replace(
        rows=rows, h=np.where(is_far, h * factor, h),
        newton=newton._replace(ratio=np.where(is_far, newton.ratio * factor, newton.ratio)),
        control=control._replace(
            wait=np.where(is_far, state.order + 1, control.wait), was_stability_limited=was_limited
        ),
    )  # fmt: skip


def trial(equations: Equations, state: State, critical: Any = None) -> State:
    """Return the state after one more trial. Its derivative is that of the corrector's equation, for a step of this
    length and order."""
    state = stop_gradient(state)._replace(t=state.t, rows=state.rows, record=state.record)
    if critical is not None:
        state = cut(equations, state, critical)
    start, h, order, method = state.rows, state.h, state.order, state.method
    rows = cond(state.control.restarts, lambda: restarted(equations, state), lambda: start)
    held, time = stop_gradient(rows), stop_gradient(state.t)
    after = time + h
    state = state._replace(rows=held, newton=due(state))
    weights = equations.weights(held[0])
    predicted = PASCAL @ held
    found = stop_gradient(corrected(equations, state, after, predicted[0], predicted[1], weights))
    converged = found.status == CONVERGED
    formula = lifted(CORRECTIONS)[method, order]
    correction = found.correction
    error = largest(correction, weights) / lifted(TESTS)[method, order, 1]
    accepted = converged & np.logical_not(error > 1.0)
    control = with_rate(state.control, found, np.abs(h * formula[0]), converged)
    state = state._replace(newton=found.newton, control=control)
    t_new = differentiated(after, state.t)

    def of_step() -> tuple[Any, Any]:
        ahead = PASCAL @ rows

        def equation(e: Any) -> Any:
            return h * equations.slope(t_new, ahead[0] + formula[0] * e) - ahead[1] - e

        exact = solved(equation, correction)
        return ahead + formula[:, None] * exact, exact

    new, exact = cond(accepted, of_step, lambda: (rows, np.zeros_like(correction)))
    held_new = stop_gradient(new)
    scale = largest(predicted[0], weights)
    choice = choice_after(equations, state, held_new, error, correction, weights, scale, converged)
    status, excess = accuracy(equations, held_new[0])
    fails = choice.status != 0
    return State(
        np.where(accepted, t_new, state.t), changed(state, choice, new, exact), h * choice.factor, choice.order,
        choice.method, renewed(state, choice), choice.control, counted(state, found, after, accepted, choice),
        np.where(accepted, status, choice.status), np.where(accepted, excess, 0.0),
        np.where(fails, np.argmax(np.abs(correction) * weights) + 1, state.worst),
        recorded(state, accepted, t_new, new),
    )  # fmt: skip


def due(state: State) -> Newton:
    """Return the matrix of Newton's method, which must be made anew where the step has changed, and after 20 steps."""
    newton = state.newton
    is_old = (np.abs(newton.ratio - 1.0) > 0.3) | (state.tally.steps >= newton.step + 20)
    return newton._replace(is_due=newton.is_due | is_old)


def restarted(equations: Equations, state: State) -> Any:
    """Return a history of the state and its slope alone."""
    y = state.rows[0]
    slope = state.h * equations.slope(state.t, y)
    return np.concatenate([y[None], slope[None], np.zeros((ROWS - 2, y.shape[0]))])


def with_rate(control: Control, found: Any, scale: Any, converged: Any) -> Control:
    """Return what is known after an iteration of the corrector."""
    has_rate = converged & found.has_rate
    now = np.where(has_rate, np.fmax(control.lipschitz_now, found.rate / scale), control.lipschitz_now)
    return control._replace(
        rate=found.known_rate, lipschitz_now=now, lipschitz=np.where(has_rate & (now != 0), now, control.lipschitz)
    )


def changed(state: State, choice: Choice, rows: Any, correction: Any) -> Any:
    """Return a history of the chosen order and length."""

    def other() -> Any:
        number = np.arange(ROWS)[:, None]
        grown = np.where(choice.grows & (number == choice.order), correction * coefficient_of_growth(state), rows)
        return rescaled(np.where(number <= choice.order, grown, 0.0), choice.factor)

    return cond((choice.factor != 1.0) | (choice.order != state.order), other, lambda: rows)


def renewed(state: State, choice: Choice) -> Newton:
    """Return the matrix of Newton's method as it is after a choice."""
    newton, first = state.newton, lifted(CORRECTIONS)[:, :, 0]
    quotient = first[choice.method, choice.order] / first[state.method, state.order]
    factor = np.where(choice.control.restarts, 1.0, choice.factor)
    return newton._replace(ratio=newton.ratio * quotient * factor, is_due=choice.renews)


def counted(state: State, found: Any, after: Any, accepted: Any, choice: Choice) -> Tally:
    tally = state.tally
    return Tally(
        tally.steps + accepted, tally.slopes + found.evaluations + choice.control.restarts,
        tally.jacobians + found.matrices, np.where(accepted, state.h, tally.size),
        np.where(accepted, state.order, tally.order), np.where(accepted, state.method, tally.method),
        np.where(choice.method != state.method, after, tally.switch),
    )  # fmt: skip


def recorded(state: State, accepted: Any, t: Any, rows: Any) -> Record | None:
    record = state.record
    if record is None:
        return None
    return Record(
        np.where(accepted, t, record.t), np.where(accepted, state.h, record.h), np.where(accepted, rows, record.rows)
    )


def piece_of(state: State) -> Piece:
    """The polynomial of the history."""
    return Piece(state.t, state.h, state.rows[0], state.rows)


def value_at(rows: Any, x: Any) -> Any:
    """The difference from the end of a step, at a part of the next one's length."""
    found = rows[ROWS - 1]
    for number in range(ROWS - 2, 0, -1):
        found = rows[number] + x * found
    return x * found
