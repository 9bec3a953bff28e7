"""LSODA as a method of `scipy.integrate.solve_ivp`, whose steps end at the end of the interval."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate._ivp.lsoda import LsodaDenseOutput

from numbagraph.api.differentiation import stop_gradient
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.ode.lsoda import first_size, first_state, trial, value_at
from numbagraph.library.scipy.ode.methods import Counts, Method, Piece, Problem, integer
from numbagraph.library.scipy.ode.multistep_coefficients import ADAMS, BACKWARD, MOST_ORDERS, ROWS
from numbagraph.library.scipy.ode.multistep_state import EPS, Equations, State


class Options(NamedTuple):
    """What a problem of other methods has not."""

    jacobian: Callable[[Any, Any], Any]
    shortest: Any


def lsoda(jacobian: Callable[[Any, Any], Any], shortest: Any) -> Method:
    """Return the method, with the Jacobian and the length that steps must have."""
    options = Options(jacobian, shortest)
    return Method(
        "LSODA", 1, partial(first_of, options), partial(trial_of, options),
        lambda problem, state: piece_of_step(state), value_at, counts, output,
        takes_later_step=True, first_size=partial(size_of, options),
    )  # fmt: skip


def equations_of(options: Options, problem: Problem) -> Equations:
    return Equations(
        problem.slope, options.jacobian, problem.rtol, problem.atol, options.shortest, 1.0 / problem.longest,
        integer(MOST_ORDERS[ADAMS]), integer(MOST_ORDERS[BACKWARD]),
    )  # fmt: skip


def size_of(options: Options, problem: Problem, t: Any, y: Any, slope: Any) -> Any:
    held, y, slope = map(stop_gradient, (t, y, slope))
    size = np.abs(first_size(equations_of(options, problem), held, problem.end, y, slope))
    return np.where(problem.end == held, 1.0, size)


def first_of(options: Options, problem: Problem, t: Any, y: Any, slope: Any, size: Any, with_last: bool) -> State:
    held, size = stop_gradient(t), stop_gradient(size)
    h = size * problem.direction
    h = np.where((held + h - problem.end) * h > 0, problem.end - held, h)
    h = np.where(h == 0, 1.0, h)
    return first_state(equations_of(options, problem), t, y, slope, h, with_last)


def trial_of(options: Options, problem: Problem, state: State) -> State:
    after = trial(equations_of(options, problem), state, problem.end)
    t = stop_gradient(after.t)
    is_step = after.tally.steps != state.tally.steps
    is_end = is_step & (np.abs(t - problem.end) <= 100.0 * EPS * (np.abs(t) + np.abs(after.h)))
    return after._replace(t=np.where(is_end, differentiated(problem.end, after.t), after.t))


def piece_of_step(state: State) -> Piece:
    """The polynomial through the last step, of the order of this step."""
    record = state.record
    assert record is not None
    return Piece(record.t, record.h, record.rows[0], record.rows)


def counts(state: State) -> Counts:
    """What follows on the first evaluation, which SciPy's loops count, too."""
    tally = state.tally
    return Counts(tally.slopes - 1, tally.jacobians, tally.jacobians)


def output(start: Any, end: Any, y: Any, piece: Piece) -> Any:  # noqa: ARG001
    """SciPy's own polynomial."""
    used = np.flatnonzero(np.any(piece.rows != 0, axis=1))
    order = int(max(used, default=0))
    found = LsodaDenseOutput(start, end, piece.unit, min(order, ROWS - 1), piece.rows[: order + 1].T)
    found.t = piece.origin
    return found
