"""Correctors of multistep formulas: functional iteration, and Newton's method with one matrix for several steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import lifted
from numbagraph.library.scipy.ode.methods import integer
from numbagraph.library.scipy.ode.multistep_coefficients import BACKWARD, CORRECTIONS, TESTS
from numbagraph.library.scipy.ode.multistep_state import EPS, Equations, Newton, State, largest

MOST = 3
RATE = 0.7
"""The rate of convergence that is assumed of a new matrix."""
RUNNING, CONVERGED, DIVERGED = 0, 1, 2


class Corrector(NamedTuple):
    """What an iteration starts from."""

    y: Any
    correction: Any
    number: Any
    size: Any
    """The norm of the last change."""
    rate: Any
    """The largest rate of convergence in this step."""
    known_rate: Any
    """The rate that is known from this step and those before."""
    newton: Newton
    is_current: Any
    """Whether the matrix was made in this step."""
    evaluations: Any
    matrices: Any
    has_rate: Any
    """Whether the test that takes the rate has found convergence."""
    status: Any


def newton_of(equations: Equations, state: State, t: Any, y: Any, weights: Any, scale: Any) -> Newton:
    """Return the matrix of Newton's method at a time and a state."""
    jacobian = equations.jacobian(t, y)
    matrix = np.eye(jacobian.shape[0]) - scale * jacobian
    sums = weights * np.sum(np.abs(jacobian) / weights, axis=1)
    norm = np.max(np.where(np.isnan(sums), 0.0, sums))
    return Newton(np.linalg.inv(matrix), norm, np.float64(1.0), state.tally.steps, np.bool_(False))


def corrected(equations: Equations, state: State, t: Any, predicted: Any, slope: Any, weights: Any) -> Corrector:
    """Return the correction of a state that was predicted with its slope, times the step, at a time."""
    h, first = state.h, lifted(CORRECTIONS)[state.method, state.order, 0]
    is_backward = state.method == BACKWARD
    least = 100.0 * EPS * largest(predicted, weights)
    test = lifted(TESTS)[state.method, state.order, 1] * 0.5 / (state.order + 2)
    no = np.bool_(False)

    def step(it: Corrector) -> Corrector:
        found = h * equations.slope(t, it.y) - slope
        is_first, renews = it.number == 0, it.newton.is_due & is_backward & (it.number == 0)
        newton: Newton = cond(
            renews, lambda: newton_of(equations, state, t, it.y, weights, h * first), lambda: it.newton
        )
        residual = found - it.correction
        change = cond(is_backward, lambda: newton.inverse @ residual, lambda: residual)
        correction = np.where(is_backward, it.correction + change, found)
        size = largest(change, weights)
        ratio = np.where(size <= 1024.0 * it.size, size / np.where(it.size == 0, 1.0, it.size), 1024.0)
        known = np.where(renews, RATE, it.known_rate)
        rate = np.where(is_first, it.rate, np.fmax(it.rate, ratio))
        known_next = np.where(is_first, known, np.fmax(0.2 * known, ratio))
        is_same = size <= least
        is_small = size * np.fmin(1.0, 1.5 * known_next) / test <= 1.0
        has_rate = np.logical_not(is_same) & is_small & (is_backward | np.logical_not(is_first))
        converged = is_same | has_rate
        number = it.number + 1
        stops = np.logical_not(converged) & ((number == MOST) | ((number >= 2) & (size > 2.0 * it.size)))
        is_current = it.is_current | renews
        again = stops & is_backward & np.logical_not(is_current)
        status = np.where(converged, CONVERGED, np.where(stops & np.logical_not(again), DIVERGED, RUNNING))
        return Corrector(
            np.where(again, predicted, predicted + first * correction), np.where(again, 0.0, correction),
            np.where(again, 0, number), size, np.where(again, 0.0, rate), np.where(is_same, known, known_next),
            newton._replace(is_due=newton.is_due | again), is_current, it.evaluations + 1, it.matrices + renews,
            has_rate, status,
        )  # fmt: skip

    start = Corrector(
        predicted, np.zeros_like(predicted), integer(0), np.float64(0.0), np.float64(0.0), state.control.rate,
        state.newton, no, integer(0), integer(0), no, integer(RUNNING),
    )  # fmt: skip
    return while_loop(lambda it: it.status == RUNNING, step, start)
