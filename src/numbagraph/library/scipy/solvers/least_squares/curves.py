"""Fits of curves to data."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import Bounds, OptimizeWarning

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import differentiated, double, is_open, known_number, refuse
from numbagraph.library.scipy.solvers.least_squares.leastsq import chosen, fitted, with_derivatives
from numbagraph.library.scipy.solvers.least_squares.nonlinear import MESSAGES, least_squares
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import EPS
from numbagraph.library.scipy.solvers.least_squares.trust_regions import singular_form

Residuals = Callable[[Any], Any]


def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf),
    method: str | None = None,
    jac: Any = None,
    *,
    full_output: bool = False,
    nan_policy: str | None = None,
    **kwargs: Any,
) -> Any:
    """`scipy.optimize.curve_fit`.

    If ``jac`` is not given, derivatives are exact ones, which are no calls of ``f`` in ``nfev``.
    """
    n = number_of_parameters(f) if p0 is None else known_number(np.size(np.atleast_1d(p0)), "curve_fit")
    lb, ub, is_bounded = limits(bounds, n)
    p0 = feasible(lb, ub) if p0 is None else np.atleast_1d(double(p0))
    if method is None:
        method = "trf" if is_bounded else "lm"
    if method == "lm" and is_bounded:
        raise ValueError("Method 'lm' only works for unconstrained problems. Use 'trf' or 'dogbox' instead.")
    if nan_policy not in (None, "raise", "omit"):
        if nan_policy == "propagate":
            raise ValueError("`nan_policy='propagate'` is not supported by this function.")
        raise ValueError("nan_policy must be one of {None, 'raise', 'omit'}")
    if nan_policy == "omit":
        refuse("curve_fit with nan_policy='omit'", "select the data before, x[~np.isnan(y)]")
    is_array = isinstance(xdata, (list, tuple, np.ndarray)) or is_traced(xdata)
    xdata, ydata = double(xdata) if is_array else xdata, double(ydata)
    check_data(xdata if is_array else ydata, ydata, check_finite, nan_policy)
    if "args" in kwargs:
        raise ValueError("'args' is not a supported keyword argument.")
    turn = weighting(sigma, ydata)

    def residuals(p: Any) -> Any:
        return turn(f(xdata, *p) - ydata)

    def columns(p: Any) -> Any:
        return turn(double(jac(xdata, *p)))

    given = columns if callable(jac) else jac
    size = ydata.shape[0]
    if method == "lm" and size != 1 and n > size:
        raise TypeError(f"The number of func parameters={n} must not exceed the number of data points={size}")
    if method == "lm":
        found = by_minpack(residuals, p0, given, kwargs)
    else:
        if "max_nfev" not in kwargs:
            kwargs["max_nfev"] = kwargs.pop("maxfev", None)
        found = by_trust_region(residuals, p0, given, bounds, method, kwargs)
    m, n = found.about["fvec"].shape[0], p0.shape[0]
    is_unknown = np.any(np.isnan(found.cov))
    cov = found.cov
    if not absolute_sigma:
        is_unknown = is_unknown | (m <= n)
        cov = cov * (found.cost / np.maximum(m - n, 1))
    cov = np.where(is_unknown, np.inf, cov)
    if is_unknown:
        warnings.warn("Covariance of the parameters could not be estimated", OptimizeWarning, stacklevel=2)
    return (found.popt, cov, found.about, found.text, found.status) if full_output else (found.popt, cov)


class Fit(NamedTuple):
    """What a method gives: the parameters, their covariance for a variance of 1, and how it was found."""

    popt: Any
    cov: Any
    cost: Any
    about: dict[str, Any]
    text: Any
    status: Any


def by_minpack(residuals: Residuals, p0: Any, jac: Any, kwargs: dict[str, Any]) -> Fit:
    found, texts = fitted(residuals, p0, Dfun=jac, **kwargs)
    for number in range(5, 9):
        if found.info == number:
            raise RuntimeError("Optimal parameters not found: " + texts[number])
    if found.info == 0:
        raise RuntimeError("Optimal parameters not found: " + texts[0])
    popt, cov, about = with_derivatives(residuals, found)
    return Fit(popt, cov, np.sum(about["fvec"] ** 2), about, chosen(texts, found.info), found.info)


def by_trust_region(
    residuals: Residuals, p0: Any, jac: Any, bounds: Any, method: str, kwargs: dict[str, Any]
) -> Fit:  # fmt: skip
    found = least_squares(residuals, p0, jac=jac, bounds=bounds, method=method, **kwargs)
    if found.status <= 0:
        raise RuntimeError("Optimal parameters not found: " + MESSAGES[0])
    values, vectors, _ = singular_form(found.jac.T, found.fun)
    is_used = values > EPS * np.maximum(found.jac.shape[0], found.jac.shape[1]) * values[0]
    weights = np.where(is_used, 1.0 / values**2, 0.0)
    cov = differentiated((vectors.T * weights) @ vectors, np.linalg.inv(found.jac.T @ found.jac))
    about = {"nfev": found.nfev, "fvec": found.fun}
    return Fit(found.x, cov, 2.0 * found.cost, about, found.message, found.status)


def number_of_parameters(f: Callable[..., Any]) -> int:
    """The number of a model's parameters, by its signature."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [each for each in inspect.signature(f).parameters.values() if each.kind in positional]
    if len(found) < 2:
        raise ValueError("Unable to determine number of fit parameters.")
    return len(found) - 1


def limits(bounds: Any, n: int) -> tuple[Any, Any, bool]:
    """The bounds of each parameter, and whether there may be any."""
    lb, ub = (bounds.lb, bounds.ub) if isinstance(bounds, Bounds) else bounds
    is_bounded = not is_open(lb, ub)
    lb, ub = (np.full(n, each) if each.ndim == 0 else each for each in (double(lb), double(ub)))
    return lb, ub, is_bounded


def feasible(lb: Any, ub: Any) -> Any:
    """Where a search starts if the user does not say: between the bounds, or 1 from one, or at 1."""
    has_low, has_high = np.isfinite(lb), np.isfinite(ub)
    one = np.where(has_low, lb + 1.0, np.where(has_high, ub - 1.0, 1.0))
    middle = 0.5 * (np.where(has_low, lb, 0.0) + np.where(has_high, ub, 0.0))
    return np.where(has_low & has_high, middle, one)


def check_data(xdata: Any, ydata: Any, check_finite: bool | None, nan_policy: str | None) -> None:
    if ydata.shape[0] == 0:
        raise ValueError("`ydata` must not be empty!")
    if check_finite or (check_finite is None and nan_policy is None):
        if not (np.all(np.isfinite(ydata)) and np.all(np.isfinite(xdata))):
            raise ValueError("array must not contain infs or NaNs")
    elif nan_policy == "raise" and (np.any(np.isnan(xdata)) or np.any(np.isnan(ydata))):
        raise ValueError("The input contains nan values")


def weighting(sigma: Any, ydata: Any) -> Callable[[Any], Any]:
    """The function that divides residuals, or the rows of their derivatives, by the errors of the data."""
    if sigma is None:
        return lambda rows: rows
    sigma = double(sigma)
    if sigma.ndim == 2:
        if sigma.shape != (ydata.shape[0], ydata.shape[0]):
            raise ValueError("`sigma` has incorrect shape.")
        factor = lower_factor(sigma)
        return lambda rows: solve_triangular(factor, rows, lower=True)
    if sigma.ndim == 1 and sigma.shape[0] != 1 and sigma.shape[0] != ydata.shape[0]:
        raise ValueError("`sigma` has incorrect shape.")
    weights = 1.0 / sigma
    return lambda rows: weights * rows if rows.ndim == 1 or weights.ndim == 0 else weights[:, None] * rows


def lower_factor(sigma: Any) -> Any:
    try:
        return np.linalg.cholesky(sigma)
    except np.linalg.LinAlgError as error:
        raise ValueError("`sigma` must be positive definite.") from error
