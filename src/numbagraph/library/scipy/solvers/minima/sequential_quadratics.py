"""Kraft's method ``SLSQP`` of sequential quadratic models, as SciPy has it.

One loop evaluates the function and the constraints, also at the start. What follows a point that is accepted, the
model's update and its minimum, is a branch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated_number
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.minima.constraints import Constraints
from numbagraph.library.scipy.solvers.minima.least_distance import FOUND
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import Evaluation, Objective, asked, evaluated
from numbagraph.library.scipy.solvers.minima.outcome import message_of
from numbagraph.library.scipy.solvers.minima.quadratic_model import Linear, Model, identity, minimum, product, updated

MESSAGES = (
    "Gradient evaluation required (g & a)",
    "Optimization terminated successfully",
    "Function evaluation required (f & c)",
    "More equality constraints than independent variables",
    "More than 3*n iterations in LSQ subproblem",
    "Inequality constraints incompatible",
    "Singular matrix E in LSQ subproblem",
    "Singular matrix C in LSQ subproblem",
    "Rank-deficient equality constraint subproblem HFTI",
    "Positive directional derivative for linesearch",
    "Iteration limit reached",
)
"""Messages by status, from -1 on."""
RUNNING, SUCCESS, TOO_MANY_EQUATIONS, UPHILL, LIMIT = -1, 0, 2, 8, 9


class Ray(NamedTuple):
    """Where a search starts, with its value, the step, the slope of the merit function and its value at the start, the
    number of trials and the factor of the last step."""

    x: Any
    value: Any
    step: Any
    slope: Any
    merit: Any
    trials: Any


class Outlook(NamedTuple):
    """What an iteration knows: the model, multipliers of constraints and of bounds, penalties, the gradient of the
    Lagrangian at its start, the search, and what is counted."""

    model: Model
    multipliers: Any
    of_lower: Any
    of_upper: Any
    penalties: Any
    lagrangian: Any
    ray: Ray
    iterations: Any
    resets: Any
    end: Any
    goes_on: Any


class State(NamedTuple):
    """The point to evaluate next, the last that was evaluated, the gradient that was last asked, and the outlook."""

    point: Any
    last: Evaluation
    gradient: Any
    outlook: Outlook
    is_start: Any


class Limits(NamedTuple):
    """The tolerance and the largest number of iterations."""

    accuracy: Any
    iterations: Any


def slsqp(
    objective: Objective, x0: Any, constraints: Constraints, lower: Any = None, upper: Any = None, ftol: Any = 1e-6,
    maxiter: Any = 100, disp: Any = False, iprint: Any = 1,
) -> Any:  # fmt: skip
    """Minimise by the method ``SLSQP`` within constraints, and within bounds if there are any."""
    limits = Limits(np.abs(np.float64(ftol)), maxiter)
    x = x0 if lower is None else np.clip(x0, lower, upper)
    is_equation = np.arange(constraints.equations + constraints.inequalities) < constraints.equations

    def iteration(old: State) -> State:
        last = evaluated(objective, old.point, old.last)
        values, normals = constraints.values(last.x), constraints.jacobian(last.x)
        ray = old.outlook.ray
        faults = np.fmax(-values, np.where(is_equation, values, 0.0))
        change = last.value + np.dot(old.outlook.penalties, faults) - ray.merit
        is_taken = old.is_start | (change <= ray.slope / 10.0) | (ray.trials > 10)
        is_close = (np.abs(last.value - ray.value) < limits.accuracy) | (size(ray.step) < limits.accuracy)
        is_met = (np.sum(faults) < limits.accuracy) & (last.value == last.value)
        is_over = is_taken & ~old.is_start & is_close & is_met
        is_next = is_taken & ~is_over
        last = asked(objective, last, is_next)
        gradient = np.where(is_next, last.gradient, old.gradient)
        linear = linear_at(last.x, values, normals, constraints.equations, lower, upper)

        def following() -> tuple[Any, Outlook]:
            outlook = learned(old.outlook, gradient, linear, old.is_start, last.value, faults, limits)
            outlook = ahead(outlook, last.x, last.value, gradient, linear, faults, limits)
            return outlook.ray.x + outlook.ray.step, outlook

        def shorter() -> tuple[Any, Outlook]:
            factor = np.fmax(ray.slope / (2.0 * (ray.slope - change)), 0.1)
            factor = np.where(is_over, 1.0, factor)
            moved = ray._replace(step=factor * ray.step, slope=factor * ray.slope, trials=ray.trials + 1)
            outlook = old.outlook._replace(ray=moved, end=np.where(is_over, np.int64(SUCCESS), old.outlook.end))
            return ray.x + moved.step, outlook

        point, outlook = cond(is_next, following, shorter)
        point = np.where(outlook.end == RUNNING, point, last.x)
        return State(point, last, gradient, outlook, np.bool_(False))

    found = while_loop(lambda state: state.outlook.end == RUNNING, iteration, start_at(x, len(is_equation)))
    if disp and iprint >= 1:
        report(found)
    return outcome(objective, found, constraints, lower, upper, is_equation)


def report(state: State) -> None:
    """Print how the search ended."""
    status, last = state.outlook.end, state.last
    print(f"{message_of(status + 1, *MESSAGES)}    (Exit mode {status})")  # noqa: T201
    print("            Current function value:", last.value)  # noqa: T201
    print("            Iterations:", state.outlook.iterations)  # noqa: T201
    print("            Function evaluations:", last.values)  # noqa: T201
    print("            Gradient evaluations:", last.gradients)  # noqa: T201


def size(x: Any) -> Any:
    return np.sqrt(np.dot(x, x))


def start_at(x: Any, count: int) -> State:
    n, zero, number = len(x), np.int64(0), np.float64(0.0)
    nothing = np.zeros(n)
    ray = Ray(x, number, nothing, number, number, zero)
    outlook = Outlook(
        identity(n), np.zeros(count), nothing, nothing, np.zeros(count), nothing, ray, zero, np.int64(1),
        np.int64(RUNNING), np.bool_(True),
    )  # fmt: skip
    nowhere = np.full(n, np.nan)
    return State(x, Evaluation(nowhere, number, nowhere, np.bool_(False), zero, zero), nothing, outlook, np.bool_(True))


def linear_at(x: Any, values: Any, normals: Any, equations: int, lower: Any, upper: Any) -> Linear:
    """Return the constraints as linear ones of the step. Bounds that are infinite are NaN."""
    if lower is None:
        none = np.full(len(x), np.nan)
        return Linear(values, normals, equations, none, none, False)
    to_lower = np.where(np.isfinite(lower), lower - x, np.nan)
    to_upper = np.where(np.isfinite(upper), upper - x, np.nan)
    return Linear(values, normals, equations, to_lower, to_upper, True)


def relaxed_end(outlook: Outlook, value: Any, faults: Any, limits: Limits) -> Any:
    """How the search ends where the model was forgotten too often."""
    tolerance = 10.0 * limits.accuracy
    is_close = (np.abs(value - outlook.ray.value) < tolerance) | (size(outlook.ray.step) < tolerance)
    return np.where(is_close & (np.sum(faults) < tolerance) & (value == value), SUCCESS, UPHILL)


def learned(
    old: Outlook, gradient: Any, linear: Linear, is_start: Any, value: Any, faults: Any, limits: Limits
) -> Outlook:
    """Update the model by the last step. Forget it where the update would be singular."""
    step = old.ray.step
    change = gradient - np.dot(old.multipliers, linear.normals) - old.lagrangian
    image = product(old.model, step)
    along, curvature = np.dot(step, change), np.dot(step, image)
    is_damped = along < 0.2 * curvature
    share = np.where(is_damped, 0.8 * curvature / np.where(is_damped, curvature - along, 1.0), 1.0)
    change = np.where(is_damped, share * change + (1.0 - share) * image, change)
    along = np.where(is_damped, 0.2 * curvature, along)
    is_singular = (along == 0.0) | (curvature == 0.0)
    is_used = ~is_start & ~is_singular
    safe = np.where(is_used, along, 1.0), np.where(is_used, curvature, 1.0)
    model = updated(updated(old.model, change, 1.0 / safe[0]), image, -1.0 / safe[1])
    is_forgotten = ~is_start & is_singular
    resets = old.resets + np.where(is_forgotten, 1, 0)
    kept = chosen(is_start, old.model, chosen(is_forgotten, identity(len(step)), model))
    end = np.where(resets > 5, relaxed_end(old, value, faults, limits), np.int64(RUNNING))
    return old._replace(model=kept, resets=resets, end=end, goes_on=end == RUNNING)


def ahead(outlook: Outlook, x: Any, value: Any, gradient: Any, linear: Linear, faults: Any, limits: Limits) -> Outlook:
    """Find where the model is least. Forget the model, and try again, where that is uphill."""

    def step(old: Outlook) -> Outlook:
        is_late = old.iterations >= limits.iterations
        found = minimum(old.model, gradient, linear)
        lagrangian = gradient - np.dot(found.multipliers, linear.normals)
        along = np.dot(gradient, found.step)
        weights = np.abs(found.multipliers)
        penalties = np.maximum(weights, (old.penalties + weights) / 2.0)
        gain = np.abs(along) + np.dot(weights, np.abs(linear.values))
        is_done = (gain < limits.accuracy) & (np.sum(faults) < limits.accuracy) & ~found.is_relaxed & (value == value)
        penalty = np.dot(penalties, faults)
        slope = along - penalty * found.share
        is_uphill = slope >= 0.0
        resets = old.resets + np.where(is_uphill, 1, 0)
        ray = Ray(x, value, found.step, slope, value + penalty, np.int64(1))
        new = Outlook(
            chosen(is_uphill, identity(len(x)), old.model), found.multipliers, found.of_lower, found.of_upper,
            penalties, lagrangian, ray, old.iterations + 1, resets, np.int64(RUNNING), is_uphill,
        )  # fmt: skip
        is_met = (np.sum(faults) < 10.0 * limits.accuracy) & ~found.is_relaxed & (value == value)
        end = np.where(is_done, SUCCESS, np.where(is_uphill & (resets > 5), np.where(is_met, SUCCESS, UPHILL), RUNNING))
        new = new._replace(end=np.int64(end), goes_on=new.goes_on & (end == RUNNING))
        failed = old._replace(iterations=old.iterations + 1, end=np.int64(found.mode), goes_on=np.bool_(False))
        new = chosen(found.mode == FOUND, new, failed)
        late = old._replace(end=np.int64(LIMIT), goes_on=np.bool_(False))
        return chosen(is_late, late, new)

    if linear.equations > len(gradient):
        late = outlook.iterations >= limits.iterations
        return outlook._replace(
            iterations=outlook.iterations + np.where(late, 0, 1),
            end=np.int64(np.where(late, LIMIT, TOO_MANY_EQUATIONS)),
        )
    return while_loop(lambda state: state.goes_on, step, outlook)


def outcome(
    objective: Objective, state: State, constraints: Constraints, lower: Any, upper: Any, is_equation: Any
) -> Any:
    """Return the result. The point and the multipliers solve Karush's, Kuhn's and Tucker's equations, of which they
    have derivatives: constraints and bounds with multipliers hold with equality."""
    outlook, last, n = state.outlook, state.last, len(state.point)
    success = outlook.end == SUCCESS
    is_active = is_equation | (outlook.multipliers > 0)
    at_lower, at_upper = outlook.of_lower > 0, outlook.of_upper > 0

    def equation(z: Any) -> Any:
        point, multipliers = z[:n], z[n:]
        force = objective.exact(point) - np.dot(multipliers, constraints.jacobian(point))
        if lower is not None:
            low, high = np.where(at_lower, lower, 0.0), np.where(at_upper, upper, 0.0)
            force = np.where(at_lower, point - low, np.where(at_upper, point - high, force))
        return np.concatenate((force, np.where(is_active, constraints.values(point), multipliers)))

    pair = solved(equation, np.concatenate((state.point, outlook.multipliers)), success)
    x, multipliers = pair[:n], pair[n:]
    return result_of(
        OptimizeResult, x=x, fun=differentiated_number(last.value, objective.value(x)), jac=state.gradient,
        nit=outlook.iterations, nfev=last.values, njev=last.gradients, status=outlook.end,
        message=message_of(outlook.end + 1, *MESSAGES), success=success, multipliers=multipliers,
    )  # fmt: skip
