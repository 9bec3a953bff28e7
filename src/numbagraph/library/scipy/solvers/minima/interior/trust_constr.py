"""SciPy's method ``trust-constr``: its arguments and its result."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import BFGS, OptimizeResult
from scipy.optimize._hessian_update_strategy import HessianUpdateStrategy

from numbagraph.api.jacobians import jacfwd
from numbagraph.api.vmap import vmap
from numbagraph.library.scipy.arguments import differentiated, differentiated_number, known_number
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.minima.constraints import matrix_of
from numbagraph.library.scipy.solvers.minima.interior.canonical_constraints import (
    Group,
    canonical_of,
    jacobian_of,
    multipliers_of,
    parts,
    strict_bounds,
    values_of,
)
from numbagraph.library.scipy.solvers.minima.interior.curvature import Curvature, rule_of
from numbagraph.library.scipy.solvers.minima.interior.trust_region_sqp import (
    CLOSE,
    OPTIMAL,
    VIOLATED,
    Limits,
    Problem,
    State,
    optimality,
    searched,
    violation,
)
from numbagraph.library.scipy.solvers.minima.objective import Objective
from numbagraph.library.scipy.solvers.minima.outcome import message_of

MESSAGES = (
    "The maximum number of function evaluations is exceeded.",
    "`gtol` termination condition is satisfied.",
    "`xtol` termination condition is satisfied.",
    "`callback` raised `StopIteration`.",
    "Constraint violation exceeds 'gtol'",
)
"""Messages by status."""
FACTORIZATIONS = ("NormalEquation", "AugmentedSystem", "QRFactorization", "SVDFactorization")


def trust_constr(
    objective: Objective, x: Any, hess: Any, hessp: Any, args: tuple[Any, ...], bounds: Group | None, constraints: Any,
    xtol: Any = 1e-8, gtol: Any = 1e-8, barrier_tol: Any = 1e-8, maxiter: Any = 1000, verbose: int = 0,
    initial_constr_penalty: Any = 1.0, initial_tr_radius: Any = 1.0, initial_barrier_parameter: Any = 0.1,
    initial_barrier_tolerance: Any = 0.1, factorization_method: Any = None, disp: Any = False,
) -> Any:  # fmt: skip
    """Minimise by the method ``trust-constr`` within constraints and bounds."""
    n = known_number(len(x), "minimize with method='trust-constr'")
    canonical = canonical_of(constraints, bounds, x, n)
    rows = len(canonical.equal) + len(canonical.rows)
    if factorization_method is not None and factorization_method not in FACTORIZATIONS:
        raise ValueError("Method not allowed for dense array.")
    by_singular_values = factorization_method == "SVDFactorization"
    if rows > n + len(canonical.rows) and not by_singular_values:
        raise ValueError(
            "The 'expected square matrix' error can occur if there are more equality constraints than independent "
            "variables. Consider how your constraints are set up, or use factorization_method='SVDFactorization'."
        )
    hessian, rule = None, None
    if isinstance(hess, HessianUpdateStrategy) or (hess is None and not callable(hessp)):
        rule = rule_of(BFGS() if hess is None else hess, n)
    elif callable(hess):
        hessian = lambda x: matrix_of(hess(x, *args))  # noqa: E731
    elif hess is None:
        hessian = lambda x: vmap(lambda p: np.asarray(hessp(x, p, *args), dtype=np.float64))(np.eye(n))  # noqa: E731
    else:
        hessian = jacfwd(objective.exact)
    limits = Limits(xtol, gtol, barrier_tol, maxiter, initial_tr_radius, initial_constr_penalty)
    problem = Problem(objective, hessian, rule, canonical, strict_bounds(bounds), n, by_singular_values, limits)
    found = searched(problem, x, initial_barrier_parameter, initial_barrier_tolerance)
    warn_of_flat(found)
    if not by_singular_values and rows > 0 and found.base.was_singular:
        warnings.warn(
            "Singular Jacobian matrix. Using SVD decomposition to perform the factorizations.",
            UserWarning,
            stacklevel=3,
        )
    return outcome(problem, found, callable(hess) or (hess is None and callable(hessp)), bool(verbose or disp))


def warn_of_flat(found: State) -> None:
    """Warn where a Hessian was to be learned from a slope that did not change."""
    learning = [each for each in (found.learning.objective, *found.learning.groups) if isinstance(each, Curvature)]
    was_flat = np.bool_(False)
    for each in learning:
        was_flat = was_flat | each.was_flat
    if was_flat:
        warnings.warn(
            "delta_grad == 0.0. Check if the approximated function is linear. If the function is linear better results "
            "can be obtained by defining the Hessian as zero instead of using quasi-Newton approximations.",
            UserWarning,
            stacklevel=3,
        )


def active_rows(problem: Problem, found: State) -> tuple[Any, Any]:
    """Return which constraints hold at their lower and at their upper side: equations, and inequalities whose
    multiplier is larger than what they leave."""
    canonical, base = problem.canonical, found.base
    count = len(canonical.equal)
    is_active = np.where(base.forces[count:] > base.slack, 1.0, 0.0)
    is_low = multipliers_of(canonical, np.zeros(count), np.where(canonical.signs < 0, -is_active, 0.0)) > 0.0
    is_high = multipliers_of(canonical, np.ones(count), np.where(canonical.signs > 0, is_active, 0.0)) > 0.0
    return is_low, is_high


def outcome(problem: Problem, found: State, counts_hessian: bool, is_reported: bool) -> Any:
    """Return the result. The point and the multipliers solve Karush's, Kuhn's and Tucker's equations, of which they
    have derivatives: constraints that are active hold with equality."""
    canonical, base, n, here = problem.canonical, found.base, problem.n, found.evaluated
    is_low, is_high = active_rows(problem, found)
    lower, upper = np.where(is_low, canonical.lower, 0.0), np.where(is_high, canonical.upper, 0.0)
    excess = violation(canonical, base.rows)
    is_found = (found.status == OPTIMAL) | (found.status == CLOSE)
    status = np.int64(np.where(is_found & (excess > problem.limits.gtol), VIOLATED, found.status))
    success = (status == OPTIMAL) | (status == CLOSE)
    message = message_of(status, *MESSAGES)
    if is_reported:
        report(problem, found, status)

    def slope(x: Any, multipliers: Any) -> Any:
        return problem.objective.exact(x) + np.dot(multipliers, jacobian_of(canonical, x, n))

    def equation(z: Any) -> Any:
        point, multipliers = z[:n], z[n:]
        rows = values_of(canonical, point)
        rest = np.where(is_high, rows - upper, np.where(is_low, rows - lower, multipliers))
        return np.concatenate((slope(point, multipliers), rest))

    pair = solved(equation, np.concatenate((base.x, base.multipliers)), success)
    x, multipliers = pair[:n], pair[n:]
    groups, has_slacks = canonical.groups, len(canonical.rows) > 0
    gradients = here.asks if problem.rule is None else here.points
    jacobians = [here.asks if each.rule is None else here.points for each in groups]
    hessians = zip(base.hessians, groups, strict=True)
    barrier = {"barrier_parameter": found.barrier, "barrier_tolerance": found.tolerance} if has_slacks else {}
    return result_of(
        OptimizeResult, nit=found.iterations, nfev=here.points + problem.objective.calls * n * gradients,
        njev=gradients, nhev=here.asks if counts_hessian else 0, cg_niter=found.inner, cg_stop_cond=found.inner_end,
        fun=differentiated_number(base.value, problem.objective.value(x)),
        grad=differentiated(base.gradient, problem.objective.exact(x)),
        lagrangian_grad=differentiated(
            base.gradient + np.dot(base.multipliers, base.jacobian), slope(x, multipliers)
        ),
        constr=parts(canonical, differentiated(base.rows, values_of(canonical, x))),
        jac=parts(canonical, differentiated(base.jacobian, jacobian_of(canonical, x, n))),
        constr_nfev=[here.points if each.is_counted else 0 for each in groups],
        constr_njev=[count if each.is_counted else 0 for count, each in zip(jacobians, groups, strict=True)],
        constr_nhev=[count if each.counts_hessian else 0 for count, each in hessians],
        v=parts(canonical, multipliers), method="tr_interior_point" if has_slacks else "equality_constrained_sqp", x=x,
        optimality=optimality(base), constr_violation=excess, tr_radius=found.radius, constr_penalty=found.penalty,
        **barrier, status=status, niter=found.iterations, success=success, message=message,
    )  # fmt: skip


def report(problem: Problem, found: State, status: Any) -> None:
    """Print how the search ended."""
    slope, excess = optimality(found.base), violation(problem.canonical, found.base.rows)
    for number, message in enumerate(MESSAGES):
        if status == number:
            print(message)  # noqa: T201
    print(  # noqa: T201
        f"Number of iterations: {found.iterations}, function evaluations: {found.evaluated.points}, CG iterations: "
        f"{found.inner}, optimality: {slope:.2e}, constraint violation: {excess:.2e}."
    )
