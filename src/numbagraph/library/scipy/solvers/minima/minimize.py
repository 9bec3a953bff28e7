"""SciPy's entry to the methods that minimise functions of several variables."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeWarning

from numbagraph.api.jacobians import jacfwd
from numbagraph.library.scipy.arguments import known_number, refuse
from numbagraph.library.scipy.solvers.minima.bounded_quasi_newton import lbfgsb
from numbagraph.library.scipy.solvers.minima.cauchy_point import Box
from numbagraph.library.scipy.solvers.minima.conjugate_gradients import conjugate_gradients
from numbagraph.library.scipy.solvers.minima.constraints import constraints_of
from numbagraph.library.scipy.solvers.minima.damped_newton import damped
from numbagraph.library.scipy.solvers.minima.interior.canonical_constraints import of_bounds, strict_bounds
from numbagraph.library.scipy.solvers.minima.interior.trust_constr import trust_constr
from numbagraph.library.scipy.solvers.minima.newton import newton_cg
from numbagraph.library.scipy.solvers.minima.objective import SCHEMES, Objective, objective_of, product_of
from numbagraph.library.scipy.solvers.minima.powell import powell
from numbagraph.library.scipy.solvers.minima.quasi_newton import bfgs
from numbagraph.library.scipy.solvers.minima.sequential_quadratics import slsqp
from numbagraph.library.scipy.solvers.minima.simplex import nelder_mead
from numbagraph.library.scipy.solvers.minima.trust_region import dogleg, steihaug, trust_region

Function = Callable[..., Any]

RADII = ("initial_trust_radius", "max_trust_radius", "eta", "gtol", "maxiter", "disp")
OPTIONS: dict[str, tuple[str, ...]] = {
    "bfgs": ("gtol", "norm", "maxiter", "disp", "xrtol", "c1", "c2", "hess_inv0"),
    "cg": ("gtol", "norm", "maxiter", "disp", "c1", "c2"),
    "newton-cg": ("xtol", "maxiter", "disp", "c1", "c2"),
    "nelder-mead": ("maxiter", "maxfev", "disp", "initial_simplex", "xatol", "fatol", "adaptive"),
    "powell": ("maxiter", "maxfev", "disp", "direc", "xtol", "ftol"),
    "dogleg": RADII,
    "trust-exact": (*RADII, "subproblem_maxiter"),
    "trust-ncg": RADII,
    "l-bfgs-b": ("maxcor", "ftol", "gtol", "maxfun", "maxiter", "maxls", "disp", "iprint"),
    "slsqp": ("ftol", "maxiter", "disp", "iprint"),
    "trust-constr": (
        "xtol", "gtol", "barrier_tol", "maxiter", "verbose", "initial_constr_penalty", "initial_tr_radius",
        "initial_barrier_parameter", "initial_barrier_tolerance", "factorization_method", "disp",
    ),
}  # fmt: skip
"""The options of each method that reach it."""
BOUNDED = ("nelder-mead", "powell", "l-bfgs-b", "slsqp", "trust-constr")
"""The methods that take bounds."""
WITHOUT_EFFECT = ("eps", "workers", "finite_diff_rel_step", "sparse_jacobian")
TOLERANCES: dict[str, tuple[str, ...]] = {
    "bfgs": ("gtol",),
    "cg": ("gtol",),
    "newton-cg": ("xtol",),
    "nelder-mead": ("xatol", "fatol"),
    "powell": ("xtol", "ftol"),
    "dogleg": ("gtol",),
    "trust-exact": ("gtol",),
    "trust-ncg": ("gtol",),
    "l-bfgs-b": ("ftol", "gtol"),
    "slsqp": ("ftol",),
    "trust-constr": ("xtol", "gtol", "barrier_tol"),
}
"""The options of each method that ``tol`` sets."""
CONSTRAINED = (
    "take 'SLSQP' or 'trust-constr', which take the same bounds and constraints, and exact derivatives; 'Powell' or "
    "'Nelder-Mead' for functions that are not smooth"
)
ADVICE = {
    "cobyla": CONSTRAINED,
    "cobyqa": CONSTRAINED,
    "tnc": "take 'L-BFGS-B', which takes the same bounds",
    "trust-krylov": "take 'trust-exact' or 'trust-ncg', which minimise the same model within the same radius",
}
"""What to take instead of a method that is not written here."""


def minimize(
    fun: Function, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None, hessp: Any = None,
    bounds: Any = None, constraints: Any = (), tol: Any = None, callback: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.minimize`. Without ``jac`` the gradient is exact."""
    x = np.atleast_1d(np.asarray(x0, dtype=np.float64))
    if x.ndim != 1:
        raise ValueError("'x0' must only have one dimension.")
    args = args if isinstance(args, tuple) else (args,)
    chosen_method = method_of(method, bounds, constraints)
    name = chosen_method.lower()
    require_plain(name, chosen_method, callback)
    warn_of_unused(chosen_method, name, jac, hess, hessp, bounds, constraints)
    step = (options or {}).get("finite_diff_rel_step")
    known = known_options(name, tol, options)
    if not (callable(jac) or jac is True or (isinstance(jac, str) and jac in (*SCHEMES, "cs"))):
        jac = None
    lower, upper = bounds_of(bounds, x) if name in BOUNDED else (None, None)
    if name == "trust-constr":
        limits = (
            None if bounds is None else of_bounds(bounds, lower, upper, known_number(len(x), "minimize with bounds"))
        )
        objective = objective_of(fun, args, jac, step, *(strict_bounds(limits) or (None, None)))
        return trust_constr(objective, x, hess, hessp, args, limits, constraints, **known)
    objective = objective_of(fun, args, jac, step, lower, upper)
    if name in ("nelder-mead", "powell"):
        return (nelder_mead if name == "nelder-mead" else powell)(objective, x, lower=lower, upper=upper, **known)
    if name == "l-bfgs-b":
        return lbfgsb(objective, x, None if bounds is None else box_of(lower, upper, jac), **known)
    if name == "slsqp":
        return slsqp(objective, x, constraints_of(constraints, x), lower, upper, **known)
    if name == "newton-cg":
        return newton_cg(objective, x, *curvature(objective, hess, hessp, args), **known)
    if name in ("dogleg", "trust-exact", "trust-ncg"):
        given, _ = curvature(objective, hess, None, args)
        if hessp is not None and hess is None:
            refuse(f"minimize with hessp= and method={method!r}", "give hess=, or leave both out")
        exact = jacfwd(objective.exact) if given is None else given
        if name == "trust-exact":
            most = known.pop("subproblem_maxiter", 25)
            return trust_region(objective, x, exact, partial(damped, maxiter=most), is_eager=True, **known)
        return trust_region(objective, x, exact, dogleg if name == "dogleg" else steihaug, **known)
    return (bfgs if name == "bfgs" else conjugate_gradients)(objective, x, **known)


def curvature(objective: Objective, hess: Any, hessp: Any, args: tuple[Any, ...]) -> tuple[Any, Function]:
    """Return the Hessian, where it is given, and its product with a vector: the exact one where neither is given."""
    if hess is not None and not callable(hess):
        refuse("minimize with hess=", "give a function, or leave hess out, which takes the exact Hessian")
    given = None
    if hess is not None:
        given = lambda x: np.asarray(hess(x, *args), dtype=np.float64)  # noqa: E731
    return given, product_of(objective, hessp, args)


def method_of(method: Any, bounds: Any, constraints: Any) -> str:
    if method is None:
        return "SLSQP" if constraints else "BFGS" if bounds is None else "L-BFGS-B"
    if callable(method):
        refuse("minimize with a function as method", "call that function itself")
    return method


def require_plain(name: str, method: str, callback: Any) -> None:
    if callback is not None:
        refuse(
            "minimize with callback=", "leave it out, or call numbagraph.debug_print in the function that is minimised"
        )
    if name in ADVICE:
        refuse(f"minimize with method={method!r}", ADVICE[name])
    if name not in OPTIONS:
        refuse(f"minimize with method={method!r}", f"choose one of {', '.join(OPTIONS)}")


def warn_of_unused(method: str, name: str, jac: Any, hess: Any, hessp: Any, bounds: Any, constraints: Any) -> None:
    """Warn, as SciPy does, of arguments that the method does not take."""
    if name in ("nelder-mead", "powell") and jac is not None and jac is not False:
        warnings.warn(f"Method {method} does not use gradient information (jac).", RuntimeWarning, stacklevel=3)
    takes_products = name in ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
    if not takes_products and name not in ("dogleg", "trust-exact") and hess is not None:
        warnings.warn(f"Method {method} does not use Hessian information (hess).", RuntimeWarning, stacklevel=3)
    if not takes_products and hessp is not None:
        message = f"Method {method} does not use Hessian-vector product information (hessp)."
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    if name not in ("slsqp", "trust-constr") and constraints:
        warnings.warn(f"Method {method} cannot handle constraints.", RuntimeWarning, stacklevel=3)
    if name not in BOUNDED and bounds is not None:
        warnings.warn(f"Method {method} cannot handle bounds.", RuntimeWarning, stacklevel=3)


def known_options(name: str, tol: Any, options: Any) -> dict[str, Any]:
    """Return the options that a method takes. Warn of those that it does not know."""
    given = dict(options or {})
    if tol is not None:
        for tolerance in TOLERANCES[name]:
            given.setdefault(tolerance, tol)
    if given.pop("return_all", False):
        refuse("minimize with return_all", "leave it out")
    unknown = [key for key in given if key not in OPTIONS[name] and key not in WITHOUT_EFFECT]
    if unknown:
        warnings.warn(f"Unknown solver options: {', '.join(unknown)}", OptimizeWarning, stacklevel=3)
    return {key: value for key, value in given.items() if key in OPTIONS[name]}


def bounds_of(bounds: Any, x: Any) -> tuple[Any, Any]:
    """Return the lower and the upper bounds of SciPy's argument, if there are any."""
    if bounds is None:
        return None, None
    if isinstance(bounds, Bounds):
        lower, upper = bounds.lb, bounds.ub
    else:
        pairs = [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in bounds]
        if len(pairs) != 1 and len(pairs) != len(x):
            raise ValueError("The number of bounds is not compatible with the length of `x0`.")
        lower = np.array([low for low, _ in pairs], dtype=np.float64)
        upper = np.array([high for _, high in pairs], dtype=np.float64)
    lower, upper = np.zeros(len(x)) + lower, np.zeros(len(x)) + upper
    if np.any(upper < lower):
        raise ValueError("An upper bound is less than the corresponding lower bound.")
    return lower, upper


def box_of(lower: Any, upper: Any, jac: Any) -> Box:
    """Return the box of bounds. Fixed variables are left out of the search, unless there is a function for the
    gradient, as in SciPy."""
    is_given = callable(jac) or jac is True
    return Box(lower, upper, np.zeros(len(lower), dtype=bool) if is_given else lower == upper)
