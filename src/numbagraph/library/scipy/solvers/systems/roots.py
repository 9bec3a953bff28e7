"""Roots of systems of equations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, OptimizeWarning

from numbagraph.library.scipy.arguments import differentiated, double, known, refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.least_squares.jacobians import exact_columns, forward_columns
from numbagraph.library.scipy.solvers.least_squares.leastsq import TOLERANCE, chosen, leastsq
from numbagraph.library.scipy.solvers.systems.inverse_jacobians import APPROXIMATIONS
from numbagraph.library.scipy.solvers.systems.powell_hybrid import root_of
from numbagraph.library.scipy.solvers.systems.quasi_newton import quasi_newton, refuse_reports
from numbagraph.library.scipy.solvers.systems.spectral_residuals import df_sane


def fsolve(
    func: Callable[..., Any],
    x0: Any,
    args: Any = (),
    fprime: Callable[..., Any] | None = None,
    full_output: bool = False,
    col_deriv: bool = False,
    xtol: Any = TOLERANCE,
    maxfev: Any = 0,
    band: Any = None,
    epsfcn: Any = None,
    factor: Any = 100,
    diag: Any = None,
) -> Any:
    """`scipy.optimize.fsolve`.

    Without ``fprime``, derivatives are exact ones, which are no calls of ``func`` in ``nfev``; with ``epsfcn``, they
    are MINPACK's differences, which are.
    """
    found, texts = by_hybrid(func, x0, args, fprime, col_deriv, xtol, maxfev, band, epsfcn, factor, diag)
    if full_output:
        about = {name: found[name] for name in ("nfev", "njev", "fjac", "r", "qtf") if name in found}
        about["fvec"] = found.fun
        return found.x, about, found.status, found.message
    if found.status == 0:
        raise TypeError(texts[0])
    for number in range(2, 6):
        if found.status == number:
            warnings.warn(texts[number], RuntimeWarning, stacklevel=2)
    return found.x


def root(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    tol: Any = None,
    callback: Any = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResult:
    """`scipy.optimize.root`.

    Of hybr and lm, if ``jac`` is not given, derivatives are exact ones, which are no calls of ``fun`` in ``nfev``; with
    the option ``eps``, they are MINPACK's differences, which are.
    """
    args = args if isinstance(args, tuple) else (args,)
    name = method.lower()
    if name in APPROXIMATIONS or name in ("krylov", "df-sane"):
        return without_derivatives(name, method, fun, x0, args, jac, tol, callback, dict(options or {}))
    if name not in ("hybr", "lm"):
        raise ValueError(f"Unknown solver {method}")
    if callback is not None:
        warnings.warn(f"Method {method} does not accept callback.", RuntimeWarning, stacklevel=2)
    options = dict(options or {})
    if tol is not None:
        options.setdefault("xtol", tol)
    own, given = (value_of(fun), derivatives_of(fun)) if jac is True else (fun, jac if callable(jac) else None)
    if name == "hybr":
        return by_hybrid(own, x0, args, given, epsfcn=options.pop("eps", None), **options)[0]
    return by_least_squares(own, x0, args, given, **options)


def value_of(fun: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args: fun(x, *args)[0]


def derivatives_of(fun: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args: fun(x, *args)[1]


SETTINGS = {"ftol": "f_rtol", "fatol": "f_tol", "xtol": "x_rtol", "xatol": "x_tol", "jac_options": "options"}
"""Options of `root` that have other names in the functions of the methods."""


def without_derivatives(
    name: str, method: str, fun: Any, x0: Any, args: tuple[Any, ...], jac: Any, tol: Any, callback: Any,
    options: dict[str, Any],
) -> OptimizeResult:  # fmt: skip
    """Return what a method gives that learns about the derivatives from its steps."""
    if jac is not None:
        warnings.warn(f"Method {method} does not use the jacobian (jac).", RuntimeWarning, stacklevel=3)
    refuse_reports(method, options.pop("disp", False), callback)
    own = value_of(fun) if jac is True and (args or name == "df-sane") else fun
    if name == "df-sane":
        if tol is not None:
            options.setdefault("ftol", tol)
        return df_sane(own, x0, args, **known_options(options, DF_SANE))
    if tol is not None:
        options = {"xtol": tol, "xatol": np.inf, "ftol": np.inf, "fatol": np.inf} | options
    known = known_options(options, (*SETTINGS, "nit", "maxiter", "tol_norm", "line_search"))
    return quasi_newton(name, own, x0, args, **{SETTINGS.get(key, key): value for key, value in known.items()})[0]


DF_SANE = ("ftol", "fatol", "maxfev", "fnorm", "M", "eta_strategy", "sigma_eps", "sigma_0", "line_search")


def known_options(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the options with these names. Warn of others."""
    unknown = [key for key in options if key not in names]
    if unknown:
        warnings.warn(f"Unknown solver options: {', '.join(unknown)}", OptimizeWarning, stacklevel=4)
    return {key: value for key, value in options.items() if key in names}


def by_hybrid(
    func: Any, x0: Any, args: Any = (), fprime: Any = None, col_deriv: Any = False, xtol: Any = TOLERANCE,
    maxfev: Any = 0, band: Any = None, epsfcn: Any = None, factor: Any = 100, diag: Any = None,
) -> tuple[OptimizeResult, tuple[str, ...]]:  # fmt: skip
    """Return what MINPACK's hybrid method gives, and the texts of reasons to stop."""
    args = args if isinstance(args, tuple) else (args,)
    if band is not None:
        refuse("a root with band=", "leave it out: the derivatives are exact")
    x = double(x0).reshape(-1)
    (n,) = known(x, "a system of equations")

    def fun(x: Any) -> Any:
        return np.atleast_1d(double(func(x, *args)))

    require_shape(func, "func", fun(x), (n,))
    if isinstance(maxfev, int) and maxfev == 0:
        maxfev = (200 if fprime is None else 100) * (n + 1)
    if fprime is not None:
        columns = given_columns(fprime, args, col_deriv, n)
    elif epsfcn is not None:
        columns = forward_columns(fun, epsfcn)
    else:
        columns = exact_columns(fun)
    calls = n if fprime is None and epsfcn is not None else 0
    state = root_of(fun, columns, x, xtol, maxfev, factor, None if diag is None else double(diag), calls)
    point = solved(fun, state.x, state.info == 1)
    texts = texts_of(xtol, maxfev)
    rows, places = np.triu_indices(n)
    fields = {
        "x": point, "success": state.info == 1, "status": state.info, "method": "hybr",
        "nfev": state.nfev + 2, "fjac": state.turns, "r": state.upper[rows, places],
        "qtf": state.qtf, "fun": differentiated(state.fvec, fun(point)), "message": chosen(texts, state.info),
    }  # fmt: skip
    if fprime is not None:
        fields["njev"] = state.njev
    return result_of(OptimizeResult, **fields), texts


def by_least_squares(
    fun: Any, x0: Any, args: Any, jac: Any, col_deriv: Any = False, xtol: Any = TOLERANCE, ftol: Any = TOLERANCE,
    gtol: Any = 0.0, maxiter: Any = 0, eps: Any = None, factor: Any = 100, diag: Any = None,
) -> OptimizeResult:  # fmt: skip
    x, cov, about, text, status = leastsq(
        fun, x0, args, jac, True, col_deriv, ftol, xtol, gtol, maxiter, eps, factor, diag
    )
    about["nfev"] = about["nfev"] + 2
    return result_of(
        OptimizeResult, x=x, message=text, status=status, success=(status >= 1) & (status <= 4), cov_x=cov,
        fun=about.pop("fvec"), method="lm", **about,
    )  # fmt: skip


def given_columns(fprime: Any, args: Any, col_deriv: Any, n: int) -> Any:
    """The user's derivatives, by each variable in a row."""

    def columns(x: Any, _: Any) -> Any:
        found = np.atleast_1d(double(fprime(x, *args)))
        require_shape(fprime, "fprime", found, (n, n))
        found = found.reshape((n, n))
        return found if col_deriv else found.T

    return columns


def require_shape(function: Any, argument: str, found: Any, expected: tuple[int, ...]) -> None:
    if found.shape != expected and expected[0] != 1:
        raise TypeError(
            f"fsolve: there is a mismatch between the input and output shape of the '{argument}' argument"
            f" '{getattr(function, '__name__', argument)}'.Shape should be {expected} but it is {found.shape}."
        )


def texts_of(xtol: Any, maxfev: Any) -> tuple[str, ...]:
    """MINPACK's reasons to stop, in SciPy's words."""
    progress = "The iteration is not making good progress, as measured by the \n improvement from the last"
    return (
        "Improper input parameters were entered.",
        "The solution converged.",
        f"The number of calls to function has reached maxfev = {maxfev}.",
        f"xtol={xtol:f} is too small, no further improvement in the approximate\n solution is possible.",
        f"{progress} five Jacobian evaluations.",
        f"{progress} ten iterations.",
    )
