"""Trials of the Radau IIA method of order 5, whose stages a simplified Newton iteration finds."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate._ivp import radau as known
from scipy.integrate._ivp.radau import RadauDenseOutput

from numbagraph.api.branches import cond
from numbagraph.api.differentiation import stop_gradient
from numbagraph.api.loops import scan, while_loop
from numbagraph.api.vmap import vmap
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.ode.methods import Counts, Method, Piece, Problem, at_least, at_most, integer, norm
from numbagraph.library.scipy.ode.simplified_newton import inverse, moved_on, newton_tolerance, renewed
from numbagraph.library.scipy.solution import solved

MOST = known.NEWTON_MAXITER
REAL, COMPLEX = float(known.MU_REAL), complex(known.MU_COMPLEX)
BLOCKS = np.array([[REAL, 0, 0], [0, COMPLEX.real, -COMPLEX.imag], [0, COMPLEX.imag, COMPLEX.real]])
INVERSE = known.T @ BLOCKS @ known.TI
"""The inverse of the tableau's matrix."""


class Step(NamedTuple):
    """The last step that was accepted."""

    t: Any
    y: Any
    """Time and state at its start."""
    stages: Any
    """The differences of the stages from the state at the start."""


class Factors(NamedTuple):
    """The inverses of the real and the complex matrix of Newton's method."""

    real: Any
    complex: Any


class State(NamedTuple):
    """What a trial starts from."""

    t: Any
    y: Any
    slope: Any
    size: Any
    """The magnitude of the step that is tried next."""
    proposed: Any
    """The magnitude that was proposed for this step, which may be longer or shorter than a step may be."""
    old_size: Any
    """The one proposed for the step before; NaN where it does not count."""
    old_error: Any
    after: Any
    again: Any
    """Whether the last trial is repeated, to that time, with a new Jacobian."""
    was_rejected: Any
    failed: Any
    steps: Any
    counts: Counts
    jacobian: Any
    is_due: Any
    """Whether it is computed first, at the time and the state."""
    is_current: Any
    """Whether the Jacobian is that at the time and the state."""
    factors: Factors
    has_factors: Any
    last: Step


class Newton(NamedTuple):
    """What an iteration starts from."""

    number: Any
    transformed: Any
    stages: Any
    size: Any
    """The norm of the last change."""
    rate: Any
    converged: Any
    diverged: Any


def first_state(problem: Problem, t: Any, y: Any, slope: Any, size: Any, with_last: bool) -> State:
    """Return the state before the first trial."""
    del with_last  # Newton's method starts from the last step
    held, size = stop_gradient(t), stop_gradient(size)
    fitted = problem.fitted(held, size)
    yes, no, none = np.bool_(True), np.bool_(False), np.float64(np.nan)
    empty = np.zeros((y.shape[0], y.shape[0]))
    zeros = np.stack([np.zeros_like(slope)] * 3)
    jacobians = integer(0 if problem.has_fixed_jacobian else 1)
    return State(
        t, y, slope, fitted, size, none, none, held, no, no, fitted < problem.shortest(held), integer(0),
        Counts(integer(0), jacobians, integer(0)), empty, yes, yes, Factors(empty, empty * (1 + 0j)), no,
        Step(t, y, zeros),
    )  # fmt: skip


def factors_of(h: Any, jacobian: Any) -> Factors:
    unit = np.eye(jacobian.shape[0])
    return Factors(inverse(REAL / h * unit - jacobian), inverse(COMPLEX / h * unit - jacobian))


def slopes_at(problem: Problem, t: Any, y: Any, h: Any, stages: Any) -> Any:
    """The slopes at the stages."""

    def one(count: Any, each: Any) -> tuple[Any, Any]:
        node, difference = each
        return count, problem.slope(t + node * h, y + difference)

    return scan(one, integer(0), (np.array(known.C, np.float64), stages))[1]


def iterated(problem: Problem, t: Any, y: Any, h: Any, start: Any, factors: Factors) -> Newton:
    """Return the stages that Newton's method finds from some at the start."""
    scale = problem.atol + np.abs(y) * problem.rtol
    tolerance = newton_tolerance(problem.rtol)

    def step(it: Newton) -> Newton:
        slopes = slopes_at(problem, t, y, h, it.stages)
        w = it.transformed
        real = slopes.T @ known.TI_REAL - REAL / h * w[0]
        pair = slopes.T @ known.TI_COMPLEX - COMPLEX / h * (w[1] + 1j * w[2])
        change = factors.complex @ pair
        change = np.stack([factors.real @ real, change.real, change.imag])
        moved = moved_on(it.number, norm(change / scale), it.size, MOST, tolerance)
        diverged = moved.diverged | np.logical_not(np.all(np.isfinite(slopes)))
        w = np.where(diverged, w, w + change)
        converged = moved.converged & np.logical_not(diverged)
        return Newton(it.number + 1, w, known.T @ w, moved.size, moved.rate, converged, diverged)

    none, no = np.float64(np.nan), np.bool_(False)
    return while_loop(
        lambda it: (it.number < MOST) & np.logical_not(it.converged | it.diverged),
        step,
        Newton(integer(0), known.TI @ start, start, none, none, no, no),
    )


def predicted(size: Any, old_size: Any, error: Any, old_error: Any) -> Any:
    """By which factor the step should change."""
    is_first = np.isnan(old_size) | np.isnan(old_error) | (error == 0)
    quotient = old_error / np.where(error == 0, 1.0, error)
    multiplier = np.where(is_first, 1.0, size / old_size * quotient**0.25)
    return at_most(multiplier, 1.0) * error**-0.25


def trial(problem: Problem, state: State) -> State:
    """Return the state after one more trial. Its derivative is that of the equation of the stages, for a step of this
    length."""
    t, y, last = stop_gradient(state.t), stop_gradient(state.y), state.last
    after = np.where(state.again, state.after, t + state.size * problem.direction)
    after = np.where(problem.direction * (after - problem.end) > 0, problem.end, after)
    h = after - t
    size = np.abs(h)

    def fresh() -> tuple[Any, Factors]:
        jacobian = renewed(problem, state.is_due, t, y, state.jacobian)
        return jacobian, factors_of(h, jacobian)

    jacobian, factors = cond(state.has_factors, lambda: (state.jacobian, state.factors), fresh)
    jacobian, factors = stop_gradient(jacobian), Factors(*map(stop_gradient, factors))
    found = iterated(problem, t, y, h, start_of(state, h), factors)
    converged = found.converged
    stages = stop_gradient(np.where(converged, found.stages, 0.0))
    error, evaluations = error_of(problem, state, h, stages, factors, converged)
    accepted = converged & np.logical_not(error > 1)
    repeats = np.logical_not(converged) & np.logical_not(state.is_current)
    renews = accepted & (found.number > 2) & (found.rate > 1e-3) & (not problem.has_fixed_jacobian)
    factor = 0.9 * (2 * MOST + 1) / (2 * MOST + found.number) * predicted(size, state.old_size, error, state.old_error)
    longer = at_most(factor, known.MAX_FACTOR)
    keeps = accepted & np.logical_not(renews) & (longer < 1.2)
    proposed = size * np.where(keeps, 1.0, longer)
    shorter = np.where(repeats, size, size * np.where(converged, at_least(factor, known.MIN_FACTOR), 0.5))
    t_next = np.where(accepted, after, t)
    fitted = problem.fitted(t_next, proposed)
    counts_old = accepted & (fitted == proposed)
    t_new = differentiated(after, state.t)

    def of_step() -> tuple[Any, Any, Any]:
        exact = solved_stages(problem, state, h, stages)
        new = state.y + exact[-1]
        return new, problem.slope(t_new, new), exact

    y_next, slope_next, stages_next = cond(accepted, of_step, lambda: (state.y, state.slope, last.stages))
    size_next = stop_gradient(np.where(accepted, fitted, shorter))
    counts = Counts(
        state.counts.slopes + 3 * found.number + evaluations + accepted,
        state.counts.jacobians + (renews | repeats), state.counts.factors + np.where(state.has_factors, 0, 2),
    )  # fmt: skip
    is_current = np.where(accepted, renews | problem.has_fixed_jacobian, state.is_current | repeats)
    return State(
        np.where(accepted, t_new, state.t), y_next, slope_next, size_next,
        stop_gradient(np.where(accepted, proposed, state.proposed)),
        stop_gradient(np.where(accepted, np.where(counts_old, state.proposed, np.nan), state.old_size)),
        stop_gradient(np.where(accepted, np.where(counts_old, error, np.nan), state.old_error)),
        stop_gradient(after), repeats, np.logical_not(accepted) & (converged | state.was_rejected),
        (size_next < problem.shortest(t_next)) & np.logical_not(repeats), state.steps + accepted, counts, jacobian,
        renews | repeats, is_current, factors, keeps,
        Step(np.where(accepted, state.t, last.t), np.where(accepted, state.y, last.y), stages_next),
    )  # fmt: skip


def start_of(state: State, h: Any) -> Any:
    """The stages where Newton's method starts: those of the last polynomial."""
    t, y = stop_gradient(state.t), stop_gradient(state.y)
    piece = Piece(*map(stop_gradient, piece_of(state)))
    part = (t + h * np.array(known.C, np.float64) - piece.origin) / np.where(piece.unit == 0, 1.0, piece.unit)
    found = np.stack([piece.base + at(piece.rows, part[number]) - y for number in range(3)])
    return np.where(state.steps == 0, 0.0, found)


def error_of(problem: Problem, state: State, h: Any, stages: Any, factors: Factors, converged: Any) -> tuple[Any, Any]:
    """The estimate of the error in units of the tolerance, and how many evaluations it has taken."""
    t, y, slope = stop_gradient(state.t), stop_gradient(state.y), stop_gradient(state.slope)
    change = stages.T @ np.array(known.E, np.float64) / h
    error = factors.real @ (slope + change)
    scale = problem.atol + np.maximum(np.abs(y), np.abs(y + stages[-1])) * problem.rtol
    found = norm(error / scale)
    is_again = converged & state.was_rejected & (found > 1)

    def filtered() -> Any:
        return norm(factors.real @ (problem.slope(t, y + error) + change) / scale)

    return stop_gradient(cond(is_again, filtered, lambda: found)), np.where(is_again, 1, 0)


def solved_stages(problem: Problem, state: State, h: Any, stages: Any) -> Any:
    """The stages with the derivatives that follow from their equation."""

    times = state.t + h * np.array(known.C, np.float64)

    def equation(stages: Any) -> Any:
        return vmap(problem.slope)(times, state.y + stages) - INVERSE @ stages / h

    return solved(equation, stages)


def piece_of(state: State) -> Piece:
    """The polynomial through the last step."""
    last = state.last
    return Piece(last.t, stop_gradient(state.t - last.t), last.y, known.P.T @ last.stages)


def at(rows: Any, x: Any) -> Any:
    return x * (rows[0] + x * (rows[1] + x * rows[2]))


def output(start: Any, end: Any, y: Any, piece: Piece) -> Any:
    return RadauDenseOutput(start, end, y, piece.rows.T)


@cache
def radau() -> Method:
    """Return the method."""
    return Method(
        "Radau", 3, first_state, trial, lambda problem, state: piece_of(state), at, lambda state: state.counts, output
    )
