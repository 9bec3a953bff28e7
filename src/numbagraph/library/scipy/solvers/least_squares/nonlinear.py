"""Nonlinear least squares with bounds and losses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult

from numbagraph.api.differentiation import grad
from numbagraph.library.scipy.arguments import double, is_open, known, refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.least_squares.boxes import dogbox
from numbagraph.library.scipy.solvers.least_squares.jacobians import difference_columns, exact_columns
from numbagraph.library.scipy.solvers.least_squares.leastsq import chosen
from numbagraph.library.scipy.solvers.least_squares.levenberg_marquardt import minimum
from numbagraph.library.scipy.solvers.least_squares.losses import LOSSES, cost_of, loss_of, weighted
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import EPS
from numbagraph.library.scipy.solvers.least_squares.reflective import Problem, trust_region_reflective
from numbagraph.library.scipy.solvers.least_squares.trust_regions import active_bounds, strictly_inside

MESSAGES = (
    "The maximum number of function evaluations is exceeded.",
    "`gtol` termination condition is satisfied.",
    "`ftol` termination condition is satisfied.",
    "`xtol` termination condition is satisfied.",
    "Both `ftol` and `xtol` termination conditions are satisfied.",
)
SCHEMES = ("2-point", "3-point", "cs")


def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    jac: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    ftol: Any = 1e-8,
    xtol: Any = 1e-8,
    gtol: Any = 1e-8,
    x_scale: Any = None,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    diff_step: Any = None,
    tr_solver: str | None = None,
    tr_options: Any = None,
    jac_sparsity: Any = None,
    max_nfev: Any = None,
    verbose: int = 0,
    args: Any = (),
    kwargs: Any = None,
    callback: Any = None,
    workers: Any = None,
) -> OptimizeResult:
    """`scipy.optimize.least_squares`.

    If ``jac`` is not given, derivatives are exact ones, which are counted in ``njev``; the names of schemes are SciPy's
    differences.
    """
    check_options(jac, method, loss, tr_solver, max_nfev, verbose)
    refuse_options(tr_solver, tr_options, jac_sparsity, callback, workers, verbose)
    x = starting_point(x0)
    (n,) = known(x, "least_squares")
    lb, ub, is_bounded = limits(bounds, x)
    if method == "lm" and is_bounded:
        raise ValueError("Method 'lm' doesn't support bounds.")
    scale = checked_scale(x_scale, x, method)
    tolerances = [checked_tolerance(*each) for each in ((ftol, "ftol"), (xtol, "xtol"), (gtol, "gtol"))]
    require_tolerances(tolerances, method)
    ftol, xtol, gtol = tolerances
    if method == "trf" and is_bounded:
        x = strictly_inside(x, lb, ub, 1e-10)
    kwargs = kwargs or {}

    def residuals(x: Any) -> Any:
        found = np.atleast_1d(fun(x, *args, **kwargs))
        return found if found.dtype.kind == "c" else double(found)

    f = residuals(x)
    if f.ndim != 1:
        raise ValueError(f"`fun` must return at most 1-d array_like. f0.shape: {f.shape}")
    if not np.all(np.isfinite(f)):
        raise ValueError("Residuals are not finite in the initial point.")
    m = f.shape[0]
    if method == "lm" and m < n:
        raise ValueError("Method 'lm' doesn't work when the number of residuals is less than the number of variables.")
    columns_at = columns_of(residuals, jac, diff_step, lb, ub, args, kwargs)
    weigh = loss_of(loss, f_scale)
    most = 100 * n if max_nfev is None else max_nfev
    if method == "lm":
        return by_minpack(residuals, columns_at, x, ftol, xtol, gtol, most, scale)
    problem = Problem(residuals, columns_at, weigh, lb, ub, is_bounded, scale, ftol, xtol, gtol, most)
    if method == "dogbox":
        state = dogbox(problem, x, f)
        active, mask = np.logical_not(state.is_free), state.on_bound
    else:
        state = trust_region_reflective(problem, x, f)
        active = state.diagonal > 0.5 * np.sum((state.values[:, None] * state.vectors) ** 2, axis=0)
        mask = active_bounds(state.x, lb, ub, xtol)
    point = solved(equation_of(problem, active, np.where(state.g > 0.0, lb, ub)), state.x, state.status > 0)
    return described(problem, point, state, mask)


def equation_of(problem: Problem, active: Any, bound: Any) -> Callable[[Any], Any]:
    """What is zero at the minimum: the gradient by what is free, and the distances from bounds of the rest."""
    gradient = grad(lambda x: cost_of(problem.loss, problem.fun(x)))
    if not problem.is_bounded:
        return gradient
    return lambda x: np.where(active, x - bound, gradient(x))


def described(problem: Problem, x: Any, state: Any, mask: Any) -> OptimizeResult:
    """SciPy's result. What is computed at the point has the point's derivatives."""
    fun = problem.fun(x)
    f, columns = weighted(problem.loss, fun, problem.columns_at(x, fun))
    return result_of(
        OptimizeResult, x=x, cost=cost_of(problem.loss, fun), fun=fun, jac=columns.T, grad=columns @ f,
        optimality=state.g_norm, active_mask=mask, nfev=state.nfev, njev=state.njev, status=state.status,
        message=chosen(MESSAGES, state.status), success=state.status > 0,
    )  # fmt: skip


def by_minpack(fun: Any, columns_at: Any, x: Any, ftol: Any, xtol: Any, gtol: Any, most: Any, scale: Any) -> Any:
    """Minimise by Levenberg and Marquardt's method, with the statuses of the others."""
    diag = None if isinstance(scale, str) else 1.0 / scale
    found = minimum(fun, columns_at, x, ftol, xtol, gtol, most, 100.0, diag, 0)
    info = found.info
    status = np.where(info == 4, 1, np.where(info == 0, -1, np.where(info >= 5, 0, info + 1)))
    point = solved(grad(lambda x: cost_of(None, fun(x))), found.x, status > 0)
    f = fun(point)
    columns = columns_at(point, f)
    gradient = columns @ f
    text = chosen(MESSAGES, status)
    return result_of(
        OptimizeResult, x=point, cost=cost_of(None, f), fun=f, jac=columns.T, grad=gradient,
        optimality=np.max(np.abs(gradient)), active_mask=np.zeros(x.shape[0], int), nfev=found.nfev, njev=found.njev,
        status=status, message=text, success=status > 0,
    )  # fmt: skip


def columns_of(fun: Any, jac: Any, diff_step: Any, lb: Any, ub: Any, args: Any, kwargs: Any) -> Any:
    if jac is None:
        return exact_columns(fun)
    if isinstance(jac, str):
        return difference_columns(fun, jac, diff_step, lb, ub)

    def columns(x: Any, f: Any) -> Any:
        found = np.atleast_2d(double(jac(x, *args, **kwargs)))
        if found.shape != (f.shape[0], x.shape[0]):
            raise ValueError(
                f"The return value of `jac` has wrong shape: expected {(f.shape[0], x.shape[0])}, actual {found.shape}."
            )
        return found.T

    return columns


def starting_point(x0: Any) -> Any:
    found = np.atleast_1d(x0)
    if found.dtype.kind == "c":
        raise ValueError("`x0` must be real.")
    if found.ndim > 1:
        raise ValueError("`x0` must have at most 1 dimension.")
    return double(found)


def limits(bounds: Any, x: Any) -> tuple[Any, Any, bool]:
    """The bounds of each variable, and whether there may be any."""
    if isinstance(bounds, Bounds):
        bounds = (bounds.lb, bounds.ub)
    if len(bounds) != 2:
        raise ValueError("`bounds` must contain 2 elements.")
    is_bounded = not is_open(*bounds)
    lb, ub = (double(each) for each in bounds)
    lb, ub = (np.full(x.shape, each) if each.ndim == 0 else each for each in (lb, ub))
    if lb.shape != x.shape or ub.shape != x.shape:
        raise ValueError("Inconsistent shapes between bounds and `x0`.")
    if np.any(lb >= ub):
        raise ValueError("Each lower bound must be strictly less than each upper bound.")
    if is_bounded and not np.all((x >= lb) & (x <= ub)):
        raise ValueError("Initial guess is outside of provided bounds")
    return lb, ub, is_bounded


def checked_scale(x_scale: Any, x: Any, method: str) -> Any:
    if x_scale is None:
        return "jac" if method == "lm" else np.ones(x.shape)
    if isinstance(x_scale, str) and x_scale == "jac":
        return x_scale
    if isinstance(x_scale, str):
        raise ValueError("`x_scale` must be 'jac' or array_like with positive numbers.")
    found = double(x_scale)
    if not np.all(np.isfinite(found) & (found > 0.0)):
        raise ValueError("`x_scale` must be 'jac' or array_like with positive numbers.")
    found = np.full(x.shape, found) if found.ndim == 0 else found
    if found.shape != x.shape:
        raise ValueError("Inconsistent shapes between `x_scale` and `x0`.")
    return found


def checked_tolerance(tolerance: Any, name: str) -> Any:
    if tolerance is None:
        return 0.0
    if tolerance < EPS:
        warnings.warn(
            f"Setting `{name}` below the machine epsilon ({EPS:.2e}) effectively disables the corresponding "
            "termination condition.",
            stacklevel=3,
        )
    return tolerance


def require_tolerances(tolerances: list[Any], method: str) -> None:
    ftol, xtol, gtol = tolerances
    if method == "lm":
        if ftol < EPS or xtol < EPS or gtol < EPS:
            raise ValueError(f"All tolerances must be higher than machine epsilon ({EPS:.2e}) for method 'lm'.")
    elif ftol < EPS and xtol < EPS and gtol < EPS:
        raise ValueError(f"At least one of the tolerances must be higher than machine epsilon ({EPS:.2e}).")


def check_options(jac: Any, method: Any, loss: Any, tr_solver: Any, max_nfev: Any, verbose: Any) -> None:
    if method not in ("trf", "dogbox", "lm"):
        raise ValueError("`method` must be 'trf', 'dogbox' or 'lm'.")
    if not (jac is None or callable(jac) or jac in SCHEMES):
        raise ValueError("`jac` must be '2-point', '3-point', 'cs' or callable.")
    if tr_solver not in (None, "exact", "lsmr"):
        raise ValueError("`tr_solver` must be None, 'exact' or 'lsmr'.")
    if not callable(loss) and loss not in LOSSES:
        raise ValueError(f"`loss` must be one of {LOSSES.keys()} or a callable.")
    if method == "lm" and loss != "linear":
        raise ValueError("method='lm' supports only 'linear' loss function.")
    if verbose not in (0, 1, 2):
        raise ValueError("`verbose` must be in [0, 1, 2].")
    if max_nfev is not None and max_nfev <= 0:
        raise ValueError("`max_nfev` must be None or positive integer.")


def refuse_options(
    tr_solver: Any, tr_options: Any, jac_sparsity: Any, callback: Any, workers: Any, verbose: int
) -> None:  # fmt: skip
    if tr_solver == "lsmr" or tr_options or jac_sparsity is not None:
        refuse("least_squares with tr_solver='lsmr', tr_options= or jac_sparsity=", "leave them out")
    if callback is not None or workers is not None or verbose:
        refuse("least_squares with callback=, workers= or verbose=", "leave them out")
