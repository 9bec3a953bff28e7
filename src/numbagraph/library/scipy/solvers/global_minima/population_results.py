"""Results of searches by populations: the nearest minimum, its derivatives, and what constraints say of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, OptimizeResult

from numbagraph.api.branches import cond
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.minima.minimize import minimize
from numbagraph.library.scipy.solvers.minima.objective import Objective, objective_of
from numbagraph.library.scipy.solvers.minima.outcome import ITERATIONS, SUCCESS, minimum

Function = Callable[..., Any]

STOPPED = "callback function requested stop early"
NOT_ALLOWED = "The solution does not satisfy the constraints"
FAR_FROM_ALLOWED = (
    "differential evolution didn't find a solution satisfying the constraints, attempting to polish from the least "
    "infeasible solution"
)
NEAR = 1e-6
"""How near to a bound, as a part of the interval, a minimiser is taken for one at the bound."""


class Ending(NamedTuple):
    """What the end of a search needs: the function, excesses of constraints and these, which numbers are integers, the
    limits, and the search of the nearest minimum."""

    value: Function
    exceeded: Function
    conditions: Any
    constraints: Any
    whole: list[bool]
    limits: tuple[Any, Any]
    polish: Any


def outcome(ending: Ending, state: Any, success: Any, summary: Function) -> OptimizeResult:
    """Return the result, after a search of the nearest minimum if that is asked for."""
    objective: Objective = objective_of(ending.value, (), None)
    message = ITERATIONS
    if success:
        message = SUCCESS
    if state.is_stopped:
        message = STOPPED
    result = summary(state)
    x, value, calls, slopes = result.x, result.fun, result.nfev, {}
    low, high = (np.where(np.array(ending.whole), x, each) for each in ending.limits)
    end = minimum(objective, x, success, low, high, NEAR * (high - low))
    polishes = ending.polish and not all(ending.whole)
    if ending.conditions and not polishes:
        end = without_derivative(ending, x)  # constraints may hold it
    if polishes:
        found = polished(ending, x, (low, high))
        is_lower = (found.fun < value) & found.success & np.all((found.x <= high) & (low <= found.x))
        if ending.conditions:
            end = cond(is_lower, lambda: found.x, lambda: without_derivative(ending, x))
        else:
            end = minimum(objective, np.where(is_lower, found.x, x), success, low, high, NEAR * (high - low))
        value, calls = np.where(is_lower, found.fun, value), calls + found.nfev
        if not isinstance(found.jac, list):  # of constraints, where the method gives these
            slopes = {"jac": np.where(is_lower, found.jac, np.nan)}
    about = of_constraints(ending.exceeded, end) if ending.conditions else {}
    if ending.conditions:
        success = success & ~(about["maxcv"] > 0)
        if about["maxcv"] > 0:
            message = NOT_ALLOWED
    fields = {"x": end, "fun": differentiated(value, objective.value(end)), "nfev": calls}
    return result_of(
        OptimizeResult, **fields, nit=result.nit, message=message, success=success, population=result.population,
        population_energies=result.population_energies, **about, **slopes,
    )  # fmt: skip


def without_derivative(ending: Ending, x: Any) -> Any:
    """Return a point whose derivatives are NaN, by all that the function and the constraints depend on."""

    def equation(point: Any) -> Any:
        return point - x + 0.0 * (ending.value(point) + np.sum(np.concatenate(ending.exceeded(point))))

    return solved(equation, x, np.bool_(False))


def polished(ending: Ending, x: Any, limits: tuple[Any, Any]) -> OptimizeResult:
    """Search the nearest minimum."""
    if ending.conditions and np.any(np.concatenate(ending.exceeded(x)) > 0):
        warnings.warn(FAR_FROM_ALLOWED, UserWarning, stacklevel=3)
    method = "trust-constr" if ending.conditions else "L-BFGS-B"
    search: Function = ending.polish if callable(ending.polish) else partial(minimize, method=method)
    return search(ending.value, x, bounds=Bounds(*limits), constraints=ending.constraints)


def of_constraints(exceeded: Function, x: Any) -> dict[str, Any]:
    """Return the attributes of a result that tell by how much it exceeds constraints."""
    found = exceeded(x)
    most = np.max(np.concatenate(found))
    return {"constr": found, "constr_violation": most, "maxcv": most}
