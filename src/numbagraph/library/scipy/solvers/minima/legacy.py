"""SciPy's older names of the methods of `scipy.optimize.minimize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.solvers.minima.minimize import minimize
from numbagraph.library.scipy.solvers.minima.objective import PRECISION

Function = Callable[..., Any]

EPSILON = PRECISION**0.5


def picked(result: Any, full_output: Any, *names: str) -> Any:
    """Return the minimiser, or a tuple of attributes of the result."""
    return tuple(getattr(result, name) for name in ("x", "fun", *names)) if full_output else result.x


def fmin(
    func: Function, x0: Any, args: Any = (), xtol: Any = 1e-4, ftol: Any = 1e-4, maxiter: Any = None,
    maxfun: Any = None, full_output: Any = 0, disp: Any = 1, retall: Any = 0, callback: Any = None,
    initial_simplex: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin`."""
    options = {
        "xatol": xtol, "fatol": ftol, "maxiter": maxiter, "maxfev": maxfun, "disp": disp, "return_all": retall,
        "initial_simplex": initial_simplex,
    }  # fmt: skip
    found = minimize(func, x0, args, "Nelder-Mead", callback=callback, options=options)
    return picked(found, full_output, "nit", "nfev", "status")


def fmin_bfgs(
    f: Function, x0: Any, fprime: Any = None, args: Any = (), gtol: Any = 1e-5, norm: Any = np.inf,
    epsilon: Any = EPSILON, maxiter: Any = None, full_output: Any = 0, disp: Any = 1, retall: Any = 0,
    callback: Any = None, xrtol: Any = 0, c1: Any = 1e-4, c2: Any = 0.9, hess_inv0: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_bfgs`."""
    options = {
        "gtol": gtol, "norm": norm, "eps": epsilon, "maxiter": maxiter, "disp": disp, "return_all": retall,
        "xrtol": xrtol, "c1": c1, "c2": c2, "hess_inv0": hess_inv0,
    }  # fmt: skip
    found = minimize(f, x0, args, "BFGS", fprime, callback=callback, options=options)
    return picked(found, full_output, "jac", "hess_inv", "nfev", "njev", "status")


def fmin_cg(
    f: Function, x0: Any, fprime: Any = None, args: Any = (), gtol: Any = 1e-5, norm: Any = np.inf,
    epsilon: Any = EPSILON, maxiter: Any = None, full_output: Any = 0, disp: Any = 1, retall: Any = 0,
    callback: Any = None, c1: Any = 1e-4, c2: Any = 0.4,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_cg`."""
    options = {
        "gtol": gtol, "norm": norm, "eps": epsilon, "maxiter": maxiter, "disp": disp, "return_all": retall,
        "c1": c1, "c2": c2,
    }  # fmt: skip
    found = minimize(f, x0, args, "CG", fprime, callback=callback, options=options)
    return picked(found, full_output, "nfev", "njev", "status")


def fmin_ncg(
    f: Function, x0: Any, fprime: Any, fhess_p: Any = None, fhess: Any = None, args: Any = (), avextol: Any = 1e-5,
    epsilon: Any = EPSILON, maxiter: Any = None, full_output: Any = 0, disp: Any = 1, retall: Any = 0,
    callback: Any = None, c1: Any = 1e-4, c2: Any = 0.9,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_ncg`. Without ``fhess`` and ``fhess_p`` products of the Hessian are exact."""
    options = {
        "xtol": avextol, "eps": epsilon, "maxiter": maxiter, "disp": disp, "return_all": retall, "c1": c1, "c2": c2,
    }  # fmt: skip
    found = minimize(f, x0, args, "Newton-CG", fprime, fhess, fhess_p, callback=callback, options=options)
    return picked(found, full_output, "nfev", "njev", "nhev", "status")


def fmin_powell(
    func: Function, x0: Any, args: Any = (), xtol: Any = 1e-4, ftol: Any = 1e-4, maxiter: Any = None,
    maxfun: Any = None, full_output: Any = 0, disp: Any = 1, retall: Any = 0, callback: Any = None, direc: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_powell`."""
    options = {
        "xtol": xtol, "ftol": ftol, "maxiter": maxiter, "maxfev": maxfun, "disp": disp, "return_all": retall,
        "direc": direc,
    }  # fmt: skip
    found = minimize(func, x0, args, "Powell", callback=callback, options=options)
    return picked(found, full_output, "direc", "nit", "nfev", "status")


def fmin_l_bfgs_b(
    func: Function, x0: Any, fprime: Any = None, args: Any = (), approx_grad: Any = 0, bounds: Any = None, m: Any = 10,
    factr: Any = 1e7, pgtol: Any = 1e-5, epsilon: Any = 1e-8, iprint: Any = None, maxfun: Any = 15000,
    maxiter: Any = 15000, disp: Any = None, callback: Any = None, maxls: Any = 20,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_l_bfgs_b`. With ``approx_grad`` the gradient is exact."""
    options = {
        "maxcor": m, "ftol": factr * PRECISION, "gtol": pgtol, "maxfun": maxfun, "maxiter": maxiter, "maxls": maxls,
        "eps": epsilon, "disp": disp, "iprint": iprint,
    }  # fmt: skip
    jac = None if approx_grad else True if fprime is None else fprime
    start = np.asarray(x0).reshape(-1)
    if bounds is not None and len(bounds) != len(start):
        raise ValueError("length of x0 != length of bounds")
    found = minimize(func, start, args, "L-BFGS-B", jac, bounds=bounds, callback=callback, options=options)
    about = {
        "grad": found.jac, "task": found.message, "funcalls": found.nfev, "nit": found.nit, "warnflag": found.status,
    }  # fmt: skip
    return found.x, found.fun, about


def fmin_slsqp(
    func: Function, x0: Any, eqcons: Any = (), f_eqcons: Any = None, ieqcons: Any = (), f_ieqcons: Any = None,
    bounds: Any = (), fprime: Any = None, fprime_eqcons: Any = None, fprime_ieqcons: Any = None, args: Any = (),
    iter: Any = 100, acc: Any = 1e-6, iprint: Any = 1, disp: Any = None, full_output: Any = 0,
    epsilon: Any = EPSILON, callback: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_slsqp`. Derivatives that are not given are exact."""
    args = args if isinstance(args, tuple) else (args,)
    each = [("eq", eqcons), ("ineq", ieqcons)]
    constraints = [{"type": kind, "fun": fun, "args": args} for kind, funs in each for fun in funs]
    for kind, fun, jac in (("eq", f_eqcons, fprime_eqcons), ("ineq", f_ieqcons, fprime_ieqcons)):
        if fun is not None:
            constraints.append({"type": kind, "fun": fun, "jac": jac, "args": args})
    shown = iprint if disp is None else disp
    options = {"ftol": acc, "maxiter": iter, "eps": epsilon, "iprint": shown, "disp": shown != 0}
    given = bounds if len(bounds) else None
    found = minimize(
        func, x0, args, "SLSQP", fprime, bounds=given, constraints=constraints, callback=callback, options=options
    )
    return picked(found, full_output, "nit", "status", "message")
