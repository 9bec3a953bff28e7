"""Newton's method with conjugate gradients, as SciPy has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.line_search import FAILED, line_search
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import PRECISION, Evaluation, Objective, asked, first
from numbagraph.library.scipy.solvers.minima.outcome import (
    ITERATIONS,
    NOT_A_NUMBER,
    PRECISION_LOSS,
    SUCCESS,
    message_of,
    minimum,
    report,
    with_minimum,
)

Function = Callable[..., Any]

NOT_DEFINITE = "Warning: CG iterations didn't converge. The Hessian is not positive definite."
PRECISION_LOST, INDEFINITE, NAN = (np.int64(end) for end in (2, 3, 4))


class State(NamedTuple):
    """A point with its value, that of the point before, the gradient of the last direction, and what is counted."""

    x: Any
    value: Any
    before: Any
    gradient: Any
    last: Evaluation
    length: Any
    products: Any
    iterations: Any
    end: Any


class Direction(NamedTuple):
    """The state of the conjugate gradients for a direction."""

    x: Any
    residual: Any
    conjugate: Any
    square: Any
    steps: Any
    trials: Any
    products: Any
    is_done: Any


def newton_cg(
    objective: Objective, x0: Any, hessian: Function | None, product: Function, xtol: Any = 1e-5, maxiter: Any = None,
    disp: Any = False, c1: Any = 1e-4, c2: Any = 0.9,
) -> Any:  # fmt: skip
    """Minimise by the method ``Newton-CG``, with the Hessian or with its product with a vector, ``product(x, p)``."""
    if maxiter is None:
        maxiter = len(x0) * 200
    start = first(objective, x0)
    zero = np.int64(0)
    state = State(
        x0, start.value, np.float64(np.inf), start.gradient, start, np.float64(np.inf), zero, zero, zero
    )  # fmt: skip

    def iteration(old: State) -> State:
        found = direction(old.x, old.last.gradient, hessian, product)
        products = old.products + found.products
        search = line_search(objective, old.x, found.x, old.last, old.before, c1, c2)
        last = asked(objective, search.last, np.bool_(True))
        move = search.step * found.x
        length, gradient = np.sum(np.abs(move)), old.last.gradient
        moved = State(
            old.x + move, last.value, old.value, gradient, last, length, products, old.iterations + 1, old.end
        )
        failed = old._replace(gradient=gradient, last=search.last, products=products, end=PRECISION_LOST)
        new = chosen(search.stage == FAILED, failed, moved)
        return chosen(found.is_done, new, old._replace(products=products, end=INDEFINITE))

    def goes_on(state: State) -> Any:
        return (state.length > len(x0) * xtol) & (state.iterations < maxiter) & (state.end == 0)

    found = while_loop(goes_on, iteration, state)
    return outcome(objective, found, len(x0) * xtol, disp)


def direction(x: Any, gradient: Any, hessian: Function | None, product: Function) -> Direction:
    """Solve for Newton's direction until the residual is small, or the curvature is not positive."""
    size = np.sum(np.abs(gradient))
    bound = np.where(np.sqrt(size) < 0.5, np.sqrt(size), 0.5) * size
    matrix = None if hessian is None else hessian(x)

    def step(old: Direction) -> Direction:
        is_small = np.sum(np.abs(old.residual)) <= bound
        applied = product(x, old.conjugate) if matrix is None else np.dot(matrix, old.conjugate)
        curvature = np.dot(old.conjugate, applied)
        is_flat = (curvature >= 0) & (curvature <= 3 * PRECISION)
        is_done = is_small | is_flat | (curvature < 0)
        is_steepest = ~is_small & (curvature < 0) & (old.steps == 0)
        length = old.square / curvature
        residual = old.residual + length * applied
        square = np.dot(residual, residual)
        moved = old._replace(
            x=old.x + length * old.conjugate,
            residual=residual,
            conjugate=-residual + square / old.square * old.conjugate,
            square=square,
            steps=old.steps + 1,
        )
        stopped = old._replace(x=np.where(is_steepest, old.square / (-curvature) * -gradient, old.x))
        products = old.products + (0 if matrix is not None else np.where(is_small, 0, 1))
        new = chosen(is_done, stopped, moved)
        return new._replace(trials=old.trials + 1, products=products, is_done=is_done)

    zero, count = np.int64(0), np.int64(0 if hessian is None else 1)
    square = np.dot(gradient, gradient)
    start = Direction(np.zeros(len(x)), gradient, -gradient, square, zero, zero, count, np.bool_(False))
    return while_loop(lambda old: ~old.is_done & (old.trials < 20 * len(x)), step, start)


def outcome(objective: Objective, state: State, xtol: Any, disp: Any) -> Any:
    is_nan = np.isnan(state.value) | np.isnan(state.length)
    end = np.where(state.end != 0, state.end, np.where(state.length > xtol, 1, np.where(is_nan, NAN, 0)))
    messages = (SUCCESS, f"Warning: {ITERATIONS}", f"Warning: {PRECISION_LOSS}", NOT_DEFINITE, NOT_A_NUMBER)
    message = message_of(end, *messages)
    status = np.minimum(end, 3)
    lines = {
        "Current function value": state.value, "Iterations": state.iterations,
        "Function evaluations": state.last.values, "Gradient evaluations": state.last.gradients,
        "Hessian evaluations": state.products,
    }  # fmt: skip
    report(disp, end, messages, lines)
    success = status == 0
    return with_minimum(
        objective, minimum(objective, state.x, success), state.value, jac=state.gradient, nfev=state.last.values,
        njev=state.last.gradients, nhev=state.products, status=status, success=success, message=message,
        nit=state.iterations,
    )  # fmt: skip
