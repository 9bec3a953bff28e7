"""Trials of the backward differentiation formulas of orders 1 to 5, in the form of Shampine and Reichelt."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate._ivp import bdf as known
from scipy.integrate._ivp.bdf import BdfDenseOutput

from numbagraph.api.branches import cond
from numbagraph.api.differentiation import stop_gradient
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated, lifted
from numbagraph.library.scipy.ode.differences import HIGHEST, NUMBERS, changed, predicted, scaled_slope, updated
from numbagraph.library.scipy.ode.methods import Counts, Method, Piece, Problem, at_least, at_most, integer, norm
from numbagraph.library.scipy.ode.simplified_newton import inverse, moved_on, newton_tolerance, renewed, solved_state

MOST = known.NEWTON_MAXITER
KAPPA = np.array([0, -0.1850, -1 / 9, -0.0823, -0.0415, 0])
GAMMA = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, HIGHEST + 1))])
ALPHA = (1 - KAPPA) * GAMMA
ERRORS = KAPPA * GAMMA + 1 / np.arange(1, HIGHEST + 2)
"""What the differences after each order's last one are multiplied with in the estimate of the error."""


class State(NamedTuple):
    """What a trial starts from."""

    t: Any
    y: Any
    slope: Any
    after: Any
    """The time at the end of the step that is tried next."""
    size: Any
    """The magnitude of the step that differences belong to."""
    differences: Any
    order: Any
    equal_steps: Any
    """How many steps of this length and order were taken."""
    failed: Any
    steps: Any
    counts: Counts
    jacobian: Any
    is_due: Any
    """Whether a Jacobian is computed first: at the start, or for the state that this trial predicts."""
    is_current: Any
    """Whether a new Jacobian would not be another one."""
    inverse: Any
    has_inverse: Any


class Planned(NamedTuple):
    """The step that is tried next."""

    after: Any
    size: Any
    is_last: Any
    """Whether it is shorter than asked for, as it would go behind the end."""
    factor: Any
    """What it is relative to the step that differences belong to."""


class Newton(NamedTuple):
    """What an iteration starts from."""

    number: Any
    y: Any
    change: Any
    """The difference from the state that was predicted."""
    size: Any
    """The norm of the last change."""
    rate: Any
    converged: Any
    diverged: Any


def first_state(problem: Problem, t: Any, y: Any, slope: Any, size: Any, with_last: bool) -> State:
    """Return the state before the first trial."""
    del with_last  # differences are the polynomial
    held = stop_gradient(t)
    size = problem.fitted(held, stop_gradient(size))
    failed = size < problem.shortest(held)
    after, size, _, _ = ended(problem, held, size)
    zeros = np.zeros_like(y)
    count, is_fixed = y.shape[0], problem.has_fixed_jacobian
    empty = np.zeros((count, count), y.dtype)
    return State(
        t, y, slope, after, size, np.stack([y, slope * (size * problem.direction), *[zeros] * (HIGHEST + 1)]),
        integer(1), integer(0), failed, integer(0), Counts(integer(0), integer(0 if is_fixed else 1), integer(0)),
        empty, np.bool_(True), np.bool_(is_fixed), empty, np.bool_(False),
    )  # fmt: skip


def ended(problem: Problem, t: Any, size: Any) -> Planned:
    """A step that does not go behind the end."""
    after = t + size * problem.direction
    is_beyond = problem.direction * (after - problem.end) > 0
    length = np.where(is_beyond, np.abs(problem.end - t), size)
    return Planned(np.where(is_beyond, problem.end, after), length, is_beyond, length / size)


def iterated(problem: Problem, t: Any, start: Any, step: Any, psi: Any, matrix: Any) -> Newton:
    """Return the state that Newton's method finds from the one that is predicted."""
    scale = problem.atol + problem.rtol * np.abs(start)
    tolerance = newton_tolerance(problem.rtol)

    def once(it: Newton) -> Newton:
        slope = problem.slope(t, it.y)
        change = matrix @ (step * slope - psi - it.change)
        moved = moved_on(it.number, norm(change / scale), it.size, MOST, tolerance)
        diverged = moved.diverged | np.logical_not(np.all(np.isfinite(slope)))
        change = np.where(diverged, 0.0, change)
        converged = moved.converged & np.logical_not(diverged)
        return Newton(it.number + 1, it.y + change, it.change + change, moved.size, moved.rate, converged, diverged)

    none, no = np.float64(np.nan), np.bool_(False)
    return while_loop(
        lambda it: (it.number < MOST) & np.logical_not(it.converged | it.diverged),
        once,
        Newton(integer(0), start, np.zeros_like(start), none, none, no, no),
    )


def trial(problem: Problem, state: State) -> State:
    """Return the state after one more trial. Its derivative is that of the equation of the step, for this length and
    this order."""
    order, alpha = state.order, lifted(ALPHA)[state.order]
    t, after = stop_gradient(state.t), state.after
    h = after - t
    size, step = np.abs(h), h / alpha
    t_new = differentiated(after, state.t)
    start = predicted(state.differences, order)
    psi = scaled_slope(state.differences, order, GAMMA) / alpha
    held = stop_gradient(start)

    def fresh() -> tuple[Any, Any]:
        is_first = state.counts.slopes == 0
        point = np.where(is_first, t, after), np.where(is_first, stop_gradient(state.y), held)
        jacobian = renewed(problem, state.is_due, *point, state.jacobian)
        return jacobian, inverse(np.eye(held.shape[0]) - step * jacobian)

    kept = state.jacobian, state.inverse
    jacobian, matrix = map(stop_gradient, cond(state.has_inverse, lambda: kept, fresh))
    found = iterated(problem, after, held, step, stop_gradient(psi), matrix)
    found = Newton(*map(stop_gradient, found))
    converged = found.converged
    scale = problem.atol + problem.rtol * np.abs(found.y)
    error = norm(lifted(ERRORS)[order] * found.change / scale)
    accepted = converged & np.logical_not(error > 1)
    repeats = np.logical_not(converged | state.is_current)
    safety = 0.9 * (2 * MOST + 1) / (2 * MOST + found.number)

    def equation(change: Any) -> Any:
        return step * problem.slope(t_new, start + change) - psi - change

    none = np.zeros_like(held)
    change = cond(accepted, lambda: solved_state(equation, found.change), lambda: none)
    differences = np.where(accepted, updated(state.differences, order, change), state.differences)
    equal_steps = state.equal_steps + accepted
    selects = accepted & (equal_steps >= order + 1)
    chosen, factor = selection(order, stop_gradient(differences), error, safety, scale)
    shorter = np.where(converged, at_least(safety * error ** (-1 / (order + 1)), known.MIN_FACTOR), 0.5)
    factor = np.where(accepted, np.where(selects, factor, 1.0), np.where(repeats, 1.0, shorter))
    order_next = np.where(selects, chosen, order)
    t_next = np.where(accepted, after, t)
    planned = next_step(problem, accepted, t_next, size, factor)
    is_same = planned.factor == 1.0
    differences = cond(is_same, lambda: differences, lambda: changed(differences, order_next, planned.factor))
    counts = Counts(
        state.counts.slopes + found.number, state.counts.jacobians + repeats,
        state.counts.factors + np.where(state.has_inverse, 0, 1),
    )  # fmt: skip
    return State(
        np.where(accepted, t_new, state.t), np.where(accepted, differentiated(found.y, start + change), state.y),
        np.where(accepted, (psi + change) / step, state.slope), np.where(repeats, after, planned.after), planned.size,
        differences, order_next, np.where(is_same & np.logical_not(selects), equal_steps, 0),
        np.logical_not(accepted | repeats) & (size * factor < problem.shortest(t)), state.steps + accepted, counts,
        jacobian, repeats, np.where(accepted, problem.has_fixed_jacobian, state.is_current | repeats), matrix,
        np.where(accepted, np.logical_not(selects | planned.is_last), converged),
    )  # fmt: skip


def next_step(problem: Problem, accepted: Any, t: Any, size: Any, factor: Any) -> Planned:
    """Return the step after one of a length that changes by a factor."""
    asked = size * factor
    remains = problem.remains(t)
    fitted = np.where(accepted & remains, problem.fitted(t, asked), asked)
    planned = ended(problem, t, fitted)
    length = np.where(remains, planned.size, fitted)
    return Planned(planned.after, length, planned.is_last & remains, factor * (length / asked))


def selection(order: Any, differences: Any, error: Any, safety: Any, scale: Any) -> tuple[Any, Any]:
    """The order by which the next step may be longest, and by which factor it should change."""
    lower = norm(lifted(ERRORS)[order - 1] * differences[order] / scale)
    higher = norm(lifted(ERRORS)[np.minimum(order + 1, HIGHEST)] * differences[order + 2] / scale)
    errors = np.stack([np.where(order > 1, lower, np.inf), error, np.where(order < HIGHEST, higher, np.inf)])
    factors = errors ** (-1.0 / (order + np.arange(3)))
    return order + np.argmax(factors) - 1, at_most(safety * np.max(factors), known.MAX_FACTOR)


def piece(problem: Problem, state: State) -> Piece:
    """The polynomial through the last step, which is that of the differences."""
    rows = np.where(NUMBERS[1 : HIGHEST + 1] <= state.order, state.differences[1 : HIGHEST + 1], 0.0)
    return Piece(state.t, state.size * problem.direction, state.differences[0], rows)


def at(rows: Any, x: Any) -> Any:
    found, power = 0.0, 1.0
    for number in range(HIGHEST):
        power = power * ((x + number) / (number + 1))
        found = found + rows[number] * power
    return found


def output(start: Any, end: Any, y: Any, piece: Piece) -> Any:
    del y
    order = int(np.max(np.nonzero(np.any(piece.rows != 0, axis=1))[0], initial=0)) + 1
    return BdfDenseOutput(start, end, piece.unit, order, np.concatenate([piece.base[None], piece.rows[:order]]))


@cache
def bdf() -> Method:
    """Return the method."""
    return Method("BDF", 1, first_state, trial, piece, at, lambda state: state.counts, output, takes_later_step=True)
