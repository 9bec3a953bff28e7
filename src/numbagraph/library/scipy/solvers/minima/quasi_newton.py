"""Broyden's, Fletcher's, Goldfarb's and Shanno's method, as SciPy has it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.line_search import FAILED, Search, line_search
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import Evaluation, Objective, asked, first, size_of
from numbagraph.library.scipy.solvers.minima.outcome import ended


class State(NamedTuple):
    """A point with value and gradient, the value at the point before, and the inverse of the Hessian."""

    x: Any
    value: Any
    gradient: Any
    before: Any
    inverse: Any
    last: Evaluation
    size: Any
    iterations: Any
    status: Any
    goes_on: Any


def bfgs(
    objective: Objective, x0: Any, gtol: Any = 1e-5, norm: Any = np.inf, maxiter: Any = None, disp: Any = False,
    xrtol: Any = 0.0, c1: Any = 1e-4, c2: Any = 0.9, hess_inv0: Any = None,
) -> Any:  # fmt: skip
    """Minimise by the method ``BFGS``."""
    if maxiter is None:
        maxiter = len(x0) * 200
    start = first(objective, x0)
    before = start.value + np.linalg.norm(start.gradient) / 2
    size, zero = size_of(start.gradient, norm), np.int64(0)
    state = State(
        x0, start.value, start.gradient, before, checked_inverse(x0, hess_inv0), start, size, zero, zero,
        (size > gtol) & (zero < maxiter),
    )  # fmt: skip

    def iteration(old: State) -> State:
        direction = -np.dot(old.inverse, old.gradient)
        point = old.last._replace(value=old.value, gradient=old.gradient)
        found = line_search(
            objective, old.x, direction, point, old.before, c1, c2, amin=1e-100, amax=1e100, widest=1e100
        )
        return chosen(found.stage == FAILED, failed(old, found), moved(old, found, direction))

    def failed(old: State, found: Search) -> State:
        return old._replace(last=found.last, status=np.int64(2), goes_on=np.bool_(False))

    def moved(old: State, found: Search, direction: Any) -> State:
        last = asked(objective, found.last, np.bool_(True))
        move = found.step * direction
        x, iterations, size = old.x + move, old.iterations + 1, size_of(last.gradient, norm)
        is_short = found.step * size_of(direction, 2) <= xrtol * (xrtol + size_of(x, 2))
        ends = (size <= gtol) | is_short
        status = np.where(ends | np.isfinite(last.value), 0, 2)
        ends = ends | (status == 2)
        inverse = np.where(ends, old.inverse, updated(old.inverse, move, last.gradient - old.gradient))
        goes_on = ~ends & (size > gtol) & (iterations < maxiter)
        return State(x, last.value, last.gradient, old.value, inverse, last, size, iterations, status, goes_on)

    found = while_loop(lambda state: state.goes_on, iteration, state)
    return ended(objective, found, found.size, maxiter, disp, hess_inv=found.inverse)


def checked_inverse(x0: Any, inverse: Any) -> Any:
    if inverse is None:
        return np.eye(len(x0))
    found = np.asarray(inverse, dtype=np.float64)
    if not np.all(np.linalg.eigvalsh(found) > 0):
        raise ValueError("'hess_inv0' matrix isn't positive definite.")
    return found


def updated(inverse: Any, move: Any, change: Any) -> Any:
    """Return the inverse of the Hessian that takes the change of the gradient to the move."""
    product = np.dot(change, move)
    scale = np.where(product == 0, 1000.0, 1.0 / product)
    right = inverse - np.dot(inverse, change)[:, np.newaxis] * (move * scale)[np.newaxis, :]
    left = np.dot(change, right)
    return right + move[:, np.newaxis] * (scale * (move - left))[np.newaxis, :]
