"""Trust regions whose quadratic model is minimised by conjugate gradients or along a dogleg, as SciPy has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import Objective
from numbagraph.library.scipy.solvers.minima.outcome import ITERATIONS, SUCCESS, message_of, minimum, report

Function = Callable[..., Any]

MESSAGES = (
    SUCCESS,
    ITERATIONS,
    "A bad approximation caused failure to predict improvement.",
    "A linalg error occurred, such as a non-psd Hessian.",
)


class Model(NamedTuple):
    """A point with value, gradient and Hessian, and with what the last proposal from it ended with."""

    x: Any
    value: Any
    gradient: Any
    hessian: Any
    radius: Any
    damping: Any


class State(NamedTuple):
    """The model at the best point, the radius within which it is trusted, and what is counted."""

    model: Model
    radius: Any
    calls: Any
    gradients: Any
    hessians: Any
    is_new: Any
    iterations: Any
    status: Any


class Proposal(NamedTuple):
    """A step, whether it ends at the radius, whether it could be computed, and the model, which may have changed."""

    step: Any
    is_at_radius: Any
    is_valid: Any
    model: Model


def trust_region(
    objective: Objective, x0: Any, hessian: Function, propose: Function, initial_trust_radius: Any = 1.0,
    max_trust_radius: Any = 1000.0, eta: Any = 0.15, gtol: Any = 1e-4, maxiter: Any = None, disp: Any = False,
    is_eager: bool = False,
) -> Any:  # fmt: skip
    """Minimise with steps that ``propose(model, radius)`` gives.

    An eager method counts the Hessian at each point that it tries, others that at points which are accepted."""
    check(initial_trust_radius, max_trust_radius, eta)
    if maxiter is None:
        maxiter = len(x0) * 200

    def model_at(x: Any) -> Model:
        value, gradient = objective.both(x)
        return Model(x, value, gradient, hessian(x), np.float64(-1.0), np.float64(0.0))

    def iteration(old: State) -> State:
        step, is_at_radius, is_valid, model = propose(old.model, old.radius)
        new = model_at(model.x + step)
        predicted = -(np.dot(model.gradient, step) + 0.5 * np.dot(step, np.dot(model.hessian, step)))
        is_bad = is_valid & (predicted <= 0)
        ratio = (model.value - new.value) / predicted
        wider = np.minimum(2 * old.radius, max_trust_radius)
        radius = np.where(ratio < 0.25, 0.25 * old.radius, np.where((ratio > 0.75) & is_at_radius, wider, old.radius))
        is_accepted, is_step = is_valid & ~is_bad & (ratio > eta), is_valid & ~is_bad
        best = chosen(is_accepted, new, model)
        iterations = old.iterations + np.where(is_step, 1, 0)
        is_last = ~(np.linalg.norm(best.gradient) < gtol) & (iterations >= maxiter)
        return State(
            best,
            np.where(is_step, radius, old.radius),
            old.calls + np.where(is_valid, 1, 0),
            old.gradients + np.where(is_accepted, 1, 0),
            old.hessians + np.where(old.is_new & (old.iterations > 0), 1, 0),
            is_accepted,
            iterations,
            np.where(~is_valid, 3, np.where(is_bad, 2, np.where(is_last, 1, 0))),
        )

    def goes_on(state: State) -> Any:
        return (np.linalg.norm(state.model.gradient) >= gtol) & (state.status == 0)

    one, zero = np.int64(1), np.int64(0)
    radius = np.float64(initial_trust_radius)
    start = State(model_at(x0), radius, one, one, one, np.bool_(False), zero, zero)
    found = while_loop(goes_on, iteration, start)
    return outcome(objective, found._replace(hessians=found.calls) if is_eager else found, disp)


def check(first: Any, largest: Any, eta: Any) -> None:
    if not (0 <= eta < 0.25):
        raise Exception("invalid acceptance stringency")
    if largest <= 0:
        raise Exception("the max trust radius must be positive")
    if first <= 0:
        raise ValueError("the initial trust radius must be positive")
    if first >= largest:
        raise ValueError("the initial trust radius must be less than the max trust radius")


def to_radius(x: Any, direction: Any, radius: Any) -> tuple[Any, Any]:
    """Return how far to go along a direction, backwards and forwards, to the radius."""
    a, b, c = np.dot(direction, direction), 2 * np.dot(x, direction), np.dot(x, x) - radius**2
    rest = b + np.copysign(np.sqrt(b * b - 4 * a * c), b)
    one, two = -rest / (2 * a), -2 * c / rest
    return np.minimum(one, two), np.maximum(one, two)


class Conjugate(NamedTuple):
    """The state of conjugate gradients within a radius."""

    x: Any
    residual: Any
    direction: Any
    is_done: Any
    is_at_radius: Any


def steihaug(model: Model, radius: Any) -> Proposal:
    """Minimise the model by conjugate gradients until the residual is small, or the radius is met."""
    size = np.linalg.norm(model.gradient)
    bound = np.where(np.sqrt(size) < 0.5, np.sqrt(size), 0.5) * size

    def value_at(p: Any) -> Any:
        return np.dot(model.gradient, p) + 0.5 * np.dot(p, np.dot(model.hessian, p))

    def step(old: Conjugate) -> Conjugate:
        applied = np.dot(model.hessian, old.direction)
        curvature, square = np.dot(old.direction, applied), np.dot(old.residual, old.residual)
        back, ahead = to_radius(old.x, old.direction, radius)
        one, two = old.x + back * old.direction, old.x + ahead * old.direction
        is_concave = curvature <= 0
        length = square / curvature
        x = old.x + length * old.direction
        is_beyond = np.linalg.norm(x) >= radius
        residual = old.residual + length * applied
        next_square = np.dot(residual, residual)
        lower = np.where(value_at(one) < value_at(two), one, two)
        return Conjugate(
            np.where(is_concave, lower, np.where(is_beyond, two, x)),
            residual,
            -residual + next_square / square * old.direction,
            is_concave | is_beyond | (np.sqrt(next_square) < bound),
            is_concave | is_beyond,
        )

    nothing = np.bool_(False)
    start = Conjugate(np.zeros(len(model.x)), model.gradient, -model.gradient, size < bound, nothing)
    found = while_loop(lambda state: ~state.is_done, step, start)
    return Proposal(found.x, found.is_at_radius, np.bool_(True), model)


def dogleg(model: Model, radius: Any) -> Proposal:
    """Go along the path from the lowest point of steepest descent to that of the model."""
    gradient, hessian = model.gradient, model.hessian
    is_valid = np.min(np.linalg.eigvalsh(hessian)) > 0
    newton = -np.linalg.solve(np.where(is_valid, hessian, np.eye(len(gradient))), gradient)
    cauchy = -(np.dot(gradient, gradient) / np.dot(gradient, np.dot(hessian, gradient))) * gradient
    length = np.linalg.norm(cauchy)
    _, ahead = to_radius(cauchy, newton - cauchy, radius)
    is_inside = np.linalg.norm(newton) < radius
    bent = np.where(length >= radius, cauchy * (radius / length), cauchy + ahead * (newton - cauchy))
    return Proposal(np.where(is_inside, newton, bent), ~is_inside, is_valid, model)


def outcome(objective: Objective, state: State, disp: Any) -> Any:
    model, status = state.model, state.status
    lines = {
        "Current function value": model.value, "Iterations": state.iterations, "Function evaluations": state.calls,
        "Gradient evaluations": state.gradients, "Hessian evaluations": state.hessians,
    }  # fmt: skip
    report(disp, status, MESSAGES, lines, RuntimeWarning)
    success = status == 0
    x = minimum(objective, model.x, success)
    return result_of(
        OptimizeResult, x=x, success=success, status=status, fun=differentiated(model.value, objective.value(x)),
        jac=model.gradient, nfev=state.calls, njev=state.gradients, nhev=state.hessians, nit=state.iterations,
        message=message_of(status, *MESSAGES), hess=model.hessian,
    )  # fmt: skip
