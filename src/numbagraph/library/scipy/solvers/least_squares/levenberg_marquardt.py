"""Levenberg and Marquardt's minimisation of a sum of squares, by MINPACK's steps, counts and reasons to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.least_squares.damping import damped_step
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import EPS, norm, pivoted_qr, scaled_norm


class State(NamedTuple):
    """The point, its residuals, the last factors, counts, and the number of the reason to stop, 0 before."""

    x: Any
    fvec: Any
    fnorm: Any
    scale: Any
    upper: Any
    order: Any
    turned: Any
    xnorm: Any
    radius: Any
    par: Any
    gnorm: Any
    nfev: Any
    njev: Any
    info: Any
    is_fresh: Any
    is_first: Any


def minimum(
    fun: Callable[[Any], Any],
    columns_at: Callable[[Any, Any], Any],
    x: Any,
    ftol: Any,
    xtol: Any,
    gtol: Any,
    maxfev: Any,
    factor: Any,
    diag: Any,
    calls_of_columns: int,
) -> State:
    """Minimise the sum of the squares of ``fun(x)``.

    ``columns_at(x, fun(x))`` has the derivatives by each variable in a row, and needs ``calls_of_columns`` calls that
    count as calls of the function.
    """
    n = x.shape[0]
    scale = np.ones(n) if diag is None else diag
    is_wrong = np.any(scale <= 0.0) | (ftol < 0.0) | (xtol < 0.0) | (gtol < 0.0) | (maxfev <= 0) | (factor <= 0.0)

    def factored(state: State) -> State:
        upper, order, turned, norms = pivoted_qr(columns_at(state.x, state.fvec), state.fvec)
        is_start = state.njev == 0
        scale = state.scale
        if diag is None:
            scale = np.where(is_start, np.where(norms == 0.0, 1.0, norms), scale)
        xnorm = np.where(is_start, norm(scale * state.x), state.xnorm)
        radius = np.where(is_start, np.where(xnorm == 0.0, factor, factor * xnorm), state.radius)
        gnorm = steepness(upper, turned, norms[order], state.fnorm)
        return state._replace(
            upper=upper, order=order, turned=turned, xnorm=xnorm, radius=radius, gnorm=gnorm,
            scale=np.fmax(scale, norms) if diag is None else scale, njev=state.njev + 1,
            nfev=state.nfev + calls_of_columns, info=np.where(gnorm <= gtol, 4, state.info),
        )  # fmt: skip

    def trial(state: State) -> State:
        par, step = damped_step(state.upper, state.order, state.scale, state.turned, state.radius, state.par)
        change = np.zeros(n)
        change[state.order] = -step
        candidate = state.x + change
        pnorm = norm(state.scale * change)
        radius = np.where(state.is_first, np.fmin(state.radius, pnorm), state.radius)
        tried = fun(candidate)
        tried_norm, fnorm = scaled_norm(tried), state.fnorm
        actual = np.where(0.1 * tried_norm < fnorm, 1.0 - (tried_norm / fnorm) ** 2, -1.0)
        linear = norm(state.upper @ step) / fnorm
        damped = np.sqrt(par) * pnorm / fnorm
        predicted = linear * linear + damped * damped / 0.5
        ratio = np.where(predicted != 0.0, actual / predicted, 0.0)
        direction = -(linear * linear + damped * damped)
        shrunk = np.where(actual < 0.0, 0.5 * direction / (direction + 0.5 * actual), 0.5)
        shrunk = np.where((0.1 * tried_norm >= fnorm) | (shrunk < 0.1), 0.1, shrunk)
        is_poor = ratio <= 0.25
        is_good = np.logical_not(is_poor) & ((par == 0.0) | (ratio >= 0.75))
        grown = np.where(is_good, pnorm / 0.5, radius)
        radius = np.where(is_poor, shrunk * np.fmin(radius, pnorm / 0.1), grown)
        par = np.where(is_poor, par / shrunk, np.where(is_good, par * 0.5, par))
        is_better = ratio >= 0.0001
        x = np.where(is_better, candidate, state.x)
        xnorm = np.where(is_better, norm(state.scale * x), state.xnorm)
        is_last = state.nfev + 1 >= maxfev
        return state._replace(
            x=x, fvec=np.where(is_better, tried, state.fvec), fnorm=np.where(is_better, tried_norm, fnorm),
            xnorm=xnorm, radius=radius, par=par, nfev=state.nfev + 1, is_first=state.is_first & ~is_better,
            is_fresh=np.logical_not(ratio < 0.0001),
            info=reason(actual, predicted, ratio, radius, xnorm, state.gnorm, ftol, xtol, is_last),
        )  # fmt: skip

    def step(state: State) -> State:
        state = cond(state.is_fresh, factored, lambda state: state, state)
        return cond(state.info == 0, trial, lambda state: state, state)

    zero, fvec = np.float64(0.0), fun(x)
    none = np.int64(0)
    start = State(
        x=x, fvec=fvec, fnorm=scaled_norm(fvec), scale=scale, upper=np.zeros((n, n)), order=np.arange(n),
        turned=np.zeros(n), xnorm=zero, radius=zero, par=zero, gnorm=zero,
        nfev=np.int64(np.where(is_wrong, 0, 1)), njev=none, info=none,
        is_fresh=np.bool_(True), is_first=np.bool_(True),
    )  # fmt: skip
    return while_loop(lambda state: (state.info == 0) & (state.nfev > 0), step, start)


def steepness(upper: Any, turned: Any, norms: Any, fnorm: Any) -> Any:
    """The largest cosine of the angles between the residuals and the columns. Those of NaN do not count."""
    cosines = np.abs(upper.T @ (turned / fnorm) / norms)
    return np.max(np.where(cosines >= 0.0, cosines, 0.0))


def reason(
    actual: Any, predicted: Any, ratio: Any, radius: Any, xnorm: Any, gnorm: Any, ftol: Any, xtol: Any, is_last: Any
) -> Any:
    """The number of the reason to stop after a trial; 0 is none."""
    is_flat = (np.abs(actual) <= ftol) & (predicted <= ftol) & (0.5 * ratio <= 1.0)
    is_short = radius <= xtol * xnorm
    is_exact = (np.abs(actual) <= EPS) & (predicted <= EPS) & (0.5 * ratio <= 1.0)
    info = np.where(is_last, 5, 0)
    info = np.where(is_exact, 6, info)
    info = np.where(radius <= EPS * xnorm, 7, info)
    info = np.where(gnorm <= EPS, 8, info)
    return np.where(is_flat | is_short, np.where(is_flat, 1, 0) + np.where(is_short, 2, 0), info)
