"""Conjugate gradients of Polak and Ribière, as SciPy has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.line_search import FAILED, Search, line_search
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import Evaluation, Objective, asked, first, size_of
from numbagraph.library.scipy.solvers.minima.outcome import ended

DESCENT = 0.01
"""How much a direction must descend, relative to the gradient."""


class State(NamedTuple):
    """A point with value, gradient and the next direction, and the value at the point before."""

    x: Any
    value: Any
    gradient: Any
    direction: Any
    before: Any
    last: Evaluation
    size: Any
    iterations: Any
    status: Any


def conjugate_gradients(
    objective: Objective, x0: Any, gtol: Any = 1e-5, norm: Any = np.inf, maxiter: Any = None, disp: Any = False,
    c1: Any = 1e-4, c2: Any = 0.4,
) -> Any:  # fmt: skip
    """Minimise by the method ``CG``."""
    if maxiter is None:
        maxiter = len(x0) * 200
    start = first(objective, x0)
    before = start.value + np.linalg.norm(start.gradient) / 2
    zero, size = np.int64(0), size_of(start.gradient, norm)
    state = State(x0, start.value, start.gradient, -start.gradient, before, start, size, zero, zero)

    def turned(old: State, gradient: Any) -> Any:
        slope = np.dot(gradient - old.gradient, gradient) / np.dot(old.gradient, old.gradient)
        return -gradient + np.where(slope > 0, slope, 0.0) * old.direction

    def iteration(old: State) -> State:
        def accepts(last: Evaluation) -> Any:
            gradient = last.gradient
            descends = np.dot(turned(old, gradient), gradient) <= -DESCENT * np.dot(gradient, gradient)
            return (size_of(gradient, norm) <= gtol) | descends

        point = old.last._replace(value=old.value, gradient=old.gradient)
        found = line_search(
            objective, old.x, old.direction, point, old.before, c1, c2, amin=1e-100, amax=1e100, widest=1e100,
            accepts=accepts,
        )  # fmt: skip
        failed = old._replace(last=found.last, status=np.int64(2))
        return chosen(found.stage == FAILED, failed, moved(old, found))

    def moved(old: State, found: Search) -> State:
        last = asked(objective, found.last, np.bool_(True))
        x, direction = old.x + found.step * old.direction, turned(old, last.gradient)
        size = size_of(last.gradient, norm)
        return State(x, last.value, last.gradient, direction, old.value, last, size, old.iterations + 1, old.status)

    def goes_on(state: State) -> Any:
        return (state.size > gtol) & (state.iterations < maxiter) & (state.status == 0)

    found = while_loop(goes_on, iteration, state)
    return ended(objective, found, found.size, maxiter, disp)
