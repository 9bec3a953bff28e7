"""Least squares by Levenberg and Marquardt's method with the results that MINPACK gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.differentiation import grad
from numbagraph.api.jacobians import jacfwd
from numbagraph.library.scipy.arguments import differentiated, double, known
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.least_squares.jacobians import exact_columns, forward_columns
from numbagraph.library.scipy.solvers.least_squares.levenberg_marquardt import State, minimum

TOLERANCE = 1.49012e-8


def leastsq(
    func: Callable[..., Any],
    x0: Any,
    args: Any = (),
    Dfun: Callable[..., Any] | None = None,
    full_output: bool = False,
    col_deriv: bool = False,
    ftol: Any = TOLERANCE,
    xtol: Any = TOLERANCE,
    gtol: Any = 0.0,
    maxfev: Any = 0,
    epsfcn: Any = None,
    factor: Any = 100,
    diag: Any = None,
) -> Any:
    """`scipy.optimize.leastsq`.

    Without ``Dfun``, derivatives are exact ones, which are no calls of ``func`` in ``nfev``; with ``epsfcn``, they are
    MINPACK's differences, which are.
    """
    args = args if isinstance(args, tuple) else (args,)
    found, texts = fitted(func, x0, args, Dfun, col_deriv, ftol, xtol, gtol, maxfev, epsfcn, factor, diag)
    x, cov, about = with_derivatives(lambda x: residuals_of(func, x, args), found)
    if full_output:
        if Dfun is not None:
            about["njev"] = found.njev
        return x, cov, about, chosen(texts, found.info), found.info
    for number in range(5, 9):
        if found.info == number:
            warnings.warn(texts[number], RuntimeWarning, stacklevel=2)
    if found.info == 0:
        raise TypeError(texts[0])
    return x, found.info


def residuals_of(func: Callable[..., Any], x: Any, args: tuple[Any, ...]) -> Any:
    return np.atleast_1d(double(func(x, *args)))


def with_derivatives(fun: Callable[[Any], Any], found: State) -> tuple[Any, Any, dict[str, Any]]:
    """The point, its covariance and what SciPy tells besides, with the derivatives of a solution."""
    x = implicit(fun, found)
    fvec = differentiated(found.fvec, fun(x))
    about = {
        "fvec": fvec, "nfev": found.nfev, "fjac": padded(found.upper.T, fvec.shape[0]), "ipvt": found.order,
        "qtf": found.turned,
    }  # fmt: skip
    return x, covariance(fun, x, found), about


def fitted(
    func: Any, x0: Any, args: Any = (), Dfun: Any = None, col_deriv: Any = False, ftol: Any = TOLERANCE,
    xtol: Any = TOLERANCE, gtol: Any = 0.0, maxfev: Any = 0, epsfcn: Any = None, factor: Any = 100, diag: Any = None,
) -> tuple[State, tuple[str, ...]]:  # fmt: skip
    """Run MINPACK's steps. Returns what they give, and the texts by number."""
    x = double(x0).reshape(-1)
    (n,) = known(x, "leastsq")

    def fun(x: Any) -> Any:
        return residuals_of(func, x, args)

    m = fun(x).shape[0]
    if n > m:
        raise TypeError(
            f"Improper input: func input vector length N={n} must not exceed func output vector length M={m}"
        )
    calls = n if Dfun is None and epsfcn is not None else 0
    if isinstance(maxfev, int) and maxfev == 0:
        maxfev = (200 if Dfun is None else 100) * (n + 1)
    if Dfun is not None:
        columns = given_columns(Dfun, args, col_deriv, (n, m))
    elif epsfcn is not None:
        columns = forward_columns(fun, epsfcn)
    else:
        columns = exact_columns(fun)
    scale = None if diag is None else double(diag)
    found = minimum(fun, columns, x, ftol, xtol, gtol, maxfev, factor, scale, calls)
    return found, texts_of(ftol, xtol, gtol, maxfev)


def given_columns(Dfun: Any, args: Any, col_deriv: Any, shape: tuple[Any, Any]) -> Any:
    """The user's derivatives, by each variable in a row."""
    n, m = shape

    def columns(x: Any, _: Any) -> Any:
        found = double(Dfun(x, *args))
        expected = (n, m) if col_deriv else (m, n)
        if found.shape != expected:
            raise TypeError(
                "leastsq: there is a mismatch between the input and output shape of the 'Dfun' argument"
                f" '{getattr(Dfun, '__name__', 'Dfun')}'.Shape should be {expected} but it is {found.shape}."
            )
        return found if col_deriv else found.T

    return columns


def implicit(fun: Callable[[Any], Any], found: State) -> Any:
    """The point with the derivatives that follow from the gradient of the sum of squares, which is zero there."""
    is_solved = (found.info >= 1) & (found.info <= 4)
    return solved(grad(lambda x: 0.5 * np.sum(fun(x) ** 2)), found.x, is_solved)


def covariance(fun: Callable[[Any], Any], x: Any, found: State) -> Any:
    """The inverse of the approximate Hessian from MINPACK's last factors, or NaN if there is none."""
    n = x.shape[0]
    is_regular = np.all(np.diag(found.upper) != 0.0) & (found.info >= 1) & (found.info <= 4)
    inverse = np.linalg.inv(np.where(is_regular, found.upper, np.eye(n)))
    half = np.zeros((n, n))
    half[found.order] = inverse
    value = np.where(is_regular, half @ half.T, np.nan)
    jacobian = jacfwd(fun)(x)
    return differentiated(value, np.linalg.inv(jacobian.T @ jacobian))


def padded(square: Any, length: Any) -> Any:
    found = np.zeros((square.shape[0], length))
    found[:, : square.shape[0]] = square
    return found


def chosen(texts: tuple[str, ...], number: Any) -> Any:
    """The text with a number."""
    text = texts[0]
    for each in range(1, len(texts)):
        if number == each:
            text = texts[each]
    return text


def texts_of(ftol: Any, xtol: Any, gtol: Any, maxfev: Any) -> tuple[str, ...]:
    """MINPACK's reasons to stop, in SciPy's words."""
    reductions = "Both actual and predicted relative reductions in the sum of squares\n  are at most"
    cosine = "The cosine of the angle between func(x) and any column of the"
    iterates = "he relative error between two consecutive iterates is at"
    return (
        "Improper input parameters.",
        f"{reductions} {ftol:f}",
        f"T{iterates} most {xtol:f}",
        f"{reductions} {ftol:f} and t{iterates} \n  most {xtol:f}",
        f"{cosine}\n  Jacobian is at most {gtol:f} in absolute value",
        f"Number of calls to function has reached maxfev = {maxfev}.",
        f"ftol={ftol:f} is too small, no further reduction in the sum of squares\n  is possible.",
        f"xtol={xtol:f} is too small, no further improvement in the approximate\n  solution is possible.",
        f"gtol={gtol:f} is too small, func(x) is orthogonal to the columns of\n  the Jacobian to machine precision.",
    )
