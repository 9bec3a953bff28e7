"""States of solvers by multistep formulas of varying order: histories in Nordsieck's form, and what controls steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.ir.structs import Struct
from numbagraph.library.scipy.arguments import lifted
from numbagraph.library.scipy.ode.multistep_coefficients import BACKWARD, ROWS, STABLE

EPS = 2.220446049250313e-16
MISPOSED, TOO_EXACT, ERRORS_REPEAT, DIVERGENCES_REPEAT, NO_WEIGHT = -3, -2, -4, -5, -6
"""Statuses, as ODEPACK numbers them."""


class Equations(Struct, eq=False):
    """What is solved, how accurately, and by which steps and orders."""

    slope: Callable[[Any, Any], Any]
    jacobian: Callable[[Any, Any], Any]
    """The matrix of derivatives of the slope by the state, as a function of time and state."""
    rtol: Any
    atol: Any
    shortest: Any
    """The length that steps must have."""
    inverse_longest: Any
    """1 by the length that steps may have, or 0."""
    most_adams: Any
    most_backward: Any
    """The highest orders."""

    def most(self, method: Any) -> Any:
        """The highest order of a method."""
        return np.where(method == BACKWARD, self.most_backward, self.most_adams)

    def weights(self, y: Any) -> Any:
        """The inverse errors that may be."""
        return 1.0 / (self.rtol * np.abs(y) + self.atol)


class Newton(NamedTuple):
    """The matrix of Newton's method."""

    inverse: Any
    """The inverse of ``I - h l J``."""
    norm: Any
    """The norm of the Jacobian."""
    ratio: Any
    """The factor ``h l`` of the next step by that of the matrix."""
    step: Any
    """The number of the step that it was made for."""
    is_due: Any
    """Whether it must be made anew."""


class Control(NamedTuple):
    """What the choices of steps, orders and methods follow from."""

    wait: Any
    """After how many steps order and length may change."""
    growth: Any
    """The largest factor of the length."""
    rate: Any
    """The estimated rate of the corrector's convergence."""
    patience: Any
    """After how many steps the method may change."""
    was_stability_limited: Any
    lipschitz_now: Any
    lipschitz: Any
    """Estimates of the slope's Lipschitz constant: the largest since the order was last looked at, and the last one."""
    errors: Any
    divergences: Any
    """How many trials of this step had too large an error, and in how many the corrector did not converge."""
    restarts: Any
    """Whether the step is tried again without its history."""
    correction: Any
    """The correction of an earlier step, from which the error of the next order is estimated."""


class Tally(NamedTuple):
    """What has been done."""

    steps: Any
    slopes: Any
    jacobians: Any
    size: Any
    order: Any
    method: Any
    """Of the last step."""
    switch: Any
    """The time at which the method has changed last."""


class Record(NamedTuple):
    """The history at the end of the last step, before order and length have changed."""

    t: Any
    h: Any
    rows: Any


class State(NamedTuple):
    """What a trial starts from."""

    t: Any
    rows: Any
    """The state and its derivatives, each times a power of the length and by a factorial; zero above the order."""
    h: Any
    """The step, with its sign."""
    order: Any
    method: Any
    newton: Newton
    control: Control
    tally: Tally
    status: Any
    """0, or why there is no further step."""
    excess: Any
    """By how much tolerances would have to grow."""
    worst: Any
    """The number of the element whose error was the largest where a step has failed."""
    record: Record | None

    @property
    def y(self) -> Any:
        return self.rows[0]

    @property
    def slope(self) -> Any:
        return self.rows[1] / self.h

    @property
    def failed(self) -> Any:
        return self.status != 0

    @property
    def steps(self) -> Any:
        return self.tally.steps


def largest(values: Any, weights: Any) -> Any:
    """The largest weighted magnitude, without those that are NaN."""
    found = np.abs(values) * weights
    return np.max(np.where(np.isnan(found), 0.0, found))


def limited(
    equations: Equations, lipschitz: Any, growth: Any, h: Any, factor: Any, order: Any, method: Any
) -> tuple[Any, Any]:
    """Return a factor of the length as it may be, and whether stability has limited it."""
    length, stable = np.abs(h), lifted(STABLE)[order]
    factor = np.fmin(factor, growth)
    factor = factor / np.fmax(1.0, length * equations.inverse_longest * factor)
    scaled = np.fmax(length * lipschitz, 1e-6)
    is_limited = (method != BACKWARD) & (factor * scaled * 1.00001 >= stable)
    return np.where(is_limited, stable / scaled, factor), is_limited


def rescaled(rows: Any, factor: Any) -> Any:
    """Return a history for steps that are longer by a factor."""
    powers = np.cumprod(np.where(np.arange(ROWS) == 0, 1.0, factor))
    return rows * powers[:, None]
