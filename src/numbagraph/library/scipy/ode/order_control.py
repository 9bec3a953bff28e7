"""Choices of orders, lengths and methods of multistep formulas, after steps and after trials that have failed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.library.scipy.arguments import lifted
from numbagraph.library.scipy.ode.multistep_coefficients import ADAMS, BACKWARD, CORRECTIONS, ERRORS, STABLE, TESTS
from numbagraph.library.scipy.ode.multistep_state import (
    DIVERGENCES_REPEAT,
    EPS,
    ERRORS_REPEAT,
    Control,
    Equations,
    State,
    largest,
    limited,
)

PATIENCE = 20
"""The number of steps between changes of the method."""
ADVANTAGE = 5.0
"""By which factor the backward formulas' steps must be longer."""
MOST_FAILURES = 10


class Choice(NamedTuple):
    """What the next trial takes."""

    factor: Any
    order: Any
    method: Any
    grows: Any
    """Whether the history gets one more derivative."""
    renews: Any
    """Whether the matrix of Newton's method must be made anew."""
    control: Control
    status: Any


class Order(NamedTuple):
    """An order, and the factor of the length that it allows."""

    factor: Any
    order: Any
    is_change: Any


def allowed(bias: float, error: Any, power: Any) -> Any:
    """The factor of the length that an error allows."""
    return 1.0 / (bias * error ** (1.0 / power) + bias * 1e-6)


def selected(
    equations: Equations, state: State, rows: Any, error: Any, correction: Any, weights: Any, errors: Any
) -> Order:
    """Return the order, which may be one more or less, that allows the longest step."""
    order, method, control = state.order, state.method, state.control
    is_adams, is_step = method == ADAMS, errors == 0
    tests, stable = lifted(TESTS)[method, order], lifted(STABLE)
    can_rise = is_step & (order < equations.most(method))
    higher = largest(correction - control.correction, weights) / np.where(tests[2] == 0, 1.0, tests[2])
    lower = largest(rows[order], weights) / np.where(tests[0] == 0, 1.0, tests[0])
    up = np.where(can_rise, allowed(1.4, higher, order + 2.0), 0.0)
    same = allowed(1.2, error, order + 1.0)
    down = np.where(order != 1, allowed(1.3, lower, order * 1.0), 0.0)
    scaled = np.fmax(np.abs(state.h) * control.lipschitz, 1e-6)
    bound = np.where(is_adams, 1.0, np.inf) / scaled
    top = np.fmin(order + 1, len(STABLE) - 1)
    up = np.where(can_rise, np.fmin(up, stable[top] * bound), up)
    same = np.fmin(same, stable[order] * bound)
    down = np.where(order > 1, np.fmin(down, stable[order - 1] * bound), down)
    rises, stays = (same < up) & (up > down), (same >= up) & (same >= down)
    lowered = np.where(is_step | (down <= 1.0), down, 1.0)
    factor = np.where(rises, up, np.where(stays, same, lowered))
    chosen = np.where(rises, order + 1, np.where(stays, order, order - 1))
    at_limit = is_adams & np.logical_not(rises) & (factor * scaled * 1.00001 >= stable[np.fmin(chosen, top)])
    keeps = is_step & (factor < 1.1) & np.logical_not(at_limit)
    return Order(
        np.where(errors >= 2, np.fmin(factor, 0.2), factor), np.where(keeps, order, chosen), np.logical_not(keeps)
    )


def other_method(equations: Equations, state: State, rows: Any, error: Any, weights: Any, scale: Any) -> Order:
    """Say whether a step by the other method should follow, by which factor it is longer, and of which order it is.
    The backward formulas are taken where their steps are much longer, Adams' where theirs are not shorter."""
    order, control, is_adams = state.order, state.control, state.method == ADAMS
    other = ADAMS + BACKWARD - state.method
    most = equations.most(other)
    is_high, known = order > most, np.fmin(order, most)
    errors, stable = lifted(ERRORS), lifted(STABLE)
    high_error = largest(rows[known + 1], weights) / errors[other, known]
    then_error = np.where(is_high, high_error, error * (errors[state.method, known] / errors[other, known]))
    here, there = allowed(1.2, error, order + 1.0), allowed(1.2, then_error, known + 1.0)
    adams = np.where(is_adams, here, there)
    scaled = np.where(is_adams, control.lipschitz, state.newton.norm) * np.abs(state.h)
    limit = stable[np.where(is_adams, order, known)] / np.where(scaled == 0, 1.0, scaled)
    adams = np.fmin(adams, np.where(scaled * adams > 1e-5, limit, 2.0 * adams))
    is_clear = (error > 100.0 * EPS * scale) & (control.lipschitz_now != 0)
    to_backward = np.where(is_clear, there >= ADVANTAGE * adams, control.was_stability_limited) & (order <= 5)
    polluted = np.fmax(0.001, adams) ** (1.0 / (known + 1.0)) * then_error <= 1000.0 * EPS * scale
    to_adams = (adams * ADVANTAGE >= 5.0 * here) & np.logical_not(polluted)
    factor = np.where(is_adams, np.where(is_clear, there, 2.0), adams)
    return Order(factor, known, np.where(is_adams, to_backward, to_adams))


def choice_after(
    equations: Equations, state: State, rows: Any, error: Any, correction: Any, weights: Any, scale: Any, converged: Any
) -> Choice:
    """Choose what follows after a step, whose history is ``rows``, or after a trial whose error was too large or whose
    corrector has not converged."""
    control, order, method = state.control, state.order, state.method
    accepted, diverged = converged & np.logical_not(error > 1.0), np.logical_not(converged)
    failed = np.logical_not(accepted)
    errors = np.where(accepted, 0, control.errors + converged)
    divergences = np.where(accepted, 0, control.divergences + diverged)
    restarts = converged & failed & (errors >= 3)
    patience, wait = control.patience - accepted, control.wait - accepted
    none = Order(np.where(diverged, 0.25, 1.0), order, diverged)
    switch: Order = cond(
        accepted & (patience < 0), lambda: other_method(equations, state, rows, error, weights, scale), lambda: none
    )
    switches = switch.is_change & accepted
    looks = np.where(accepted, (wait == 0) & np.logical_not(switches), converged & np.logical_not(restarts))
    found: Order = cond(
        looks, lambda: selected(equations, state, rows, error, correction, weights, errors), lambda: none
    )
    changes = switches | found.is_change
    new_method = np.where(switches, ADAMS + BACKWARD - method, method)
    new_order = np.where(restarts, 1, np.where(switches, switch.order, found.order))
    lipschitz = np.where(switches, 0.0, control.lipschitz)
    growth = np.where(accepted, control.growth, 2.0)
    factor = np.where(restarts, 0.1, np.where(switches, switch.factor, found.factor))
    factor = np.fmax(factor, equations.shortest / np.abs(state.h))
    fitted, is_limited = limited(equations, lipschitz, growth, state.h, factor, new_order, new_method)
    waits = np.where(restarts, 5, np.where(changes, new_order + 1, np.where(looks, 3, wait)))
    keeps_correction = accepted & (wait == 1) & (order < equations.most(method)) & np.logical_not(switches)
    control = Control(
        waits, np.where(changes & accepted, 10.0, growth), control.rate, np.where(switches, PATIENCE, patience),
        np.where(changes & (new_method == ADAMS), is_limited, control.was_stability_limited),
        np.where(looks & (method == ADAMS), 0.0, control.lipschitz_now), lipschitz, errors, divergences, restarts,
        np.where(keeps_correction, correction, control.correction),
    )  # fmt: skip
    is_short = np.abs(state.h) <= equations.shortest * 1.00001
    fails = failed & (is_short | (errors == MOST_FAILURES) | (divergences == MOST_FAILURES))
    return Choice(
        np.where(restarts, factor, np.where(changes, fitted, 1.0)), new_order, new_method,
        np.logical_not(switches) & (new_order > order), switches | restarts | diverged, control,
        np.where(fails, np.where(converged, ERRORS_REPEAT, DIVERGENCES_REPEAT), 0),
    )  # fmt: skip


def coefficient_of_growth(state: State) -> Any:
    """By which factor a correction is the history's next derivative."""
    return lifted(CORRECTIONS)[state.method, state.order, state.order] / (state.order + 1.0)
