"""Powell's hybrid method for roots of several variables, by MINPACK's steps, counts and reasons to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.least_squares.damping import back_substituted
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import EPS, norm, scaled_norm, triangulated, upper_part
from numbagraph.library.scipy.solvers.systems.broyden_updates import updated


class State(NamedTuple):
    """The point, the function and the factors of its derivatives there, counts, and the reason to stop, 0 before."""

    x: Any
    fvec: Any
    fnorm: Any
    scale: Any
    upper: Any
    turns: Any
    qtf: Any
    xnorm: Any
    radius: Any
    nfev: Any
    njev: Any
    info: Any
    failures: Any
    successes: Any
    slow_trials: Any
    slow_jacobians: Any
    is_fresh: Any
    is_first: Any


def dogleg(upper: Any, diag: Any, qtf: Any, radius: Any) -> Any:
    """The step within a radius, with the opposite sign: Newton's, or one that bends to it from the steepest."""
    n = qtf.shape[0]
    own = np.diagonal(upper)
    small = EPS * np.max(np.abs(upper), axis=0)
    filled = np.where(own == 0.0, np.where(small == 0.0, EPS, small), own)
    newton, _ = back_substituted(np.where(np.eye(n) == 1.0, filled, upper), qtf)
    newton_length = norm(diag * newton)
    steepest = upper.T @ qtf / diag
    steepness = norm(steepest)
    has_slope = steepness != 0.0
    steepest = steepest / np.where(has_slope, steepness, 1.0) / diag
    change = norm(upper @ steepest)
    reach = np.where(has_slope, steepness / change / change, 0.0)
    part, share = radius / newton_length, reach / radius
    ratio = norm(qtf) / steepness * (norm(qtf) / newton_length) * share
    root = np.sqrt((ratio - part) ** 2 + (1.0 - part**2) * (1.0 - share**2))
    bent = part * (1.0 - share**2) / (ratio - part * share**2 + root)
    weight = np.where(has_slope, np.where(reach < radius, bent, 0.0), part)
    mixed = (1.0 - weight) * np.fmin(reach, radius) * np.where(has_slope, steepest, 0.0) + weight * newton
    return np.where(newton_length <= radius, newton, mixed)


def root_of(
    fun: Callable[[Any], Any],
    columns_at: Callable[[Any, Any], Any],
    x: Any,
    xtol: Any,
    maxfev: Any,
    factor: Any,
    diag: Any,
    calls_of_columns: int,
) -> State:
    """Find a root of ``fun``.

    ``columns_at(x, fun(x))`` has the derivatives by each variable in a row, and needs ``calls_of_columns`` calls that
    count as calls of the function.
    """
    n = x.shape[0]
    scale = np.ones(n) if diag is None else diag
    is_wrong = np.any(scale <= 0.0) | (xtol < 0.0) | (maxfev <= 0) | (factor <= 0.0)

    def factored(state: State) -> State:
        columns = columns_at(state.x, state.fvec)
        work, _ = triangulated(np.concatenate((columns, state.fvec[None], np.eye(n))), n, False)
        norms = np.sqrt(np.sum(columns * columns, axis=1))
        is_start = state.njev == 0
        scale = state.scale
        if diag is None:
            scale = np.where(is_start, np.where(norms == 0.0, 1.0, norms), scale)
        xnorm = np.where(is_start, norm(scale * state.x), state.xnorm)
        radius = np.where(is_start, np.where(xnorm == 0.0, factor, factor * xnorm), state.radius)
        return state._replace(
            scale=np.fmax(scale, norms) if diag is None else scale, upper=upper_part(work, n), turns=work[n + 1 :].T,
            qtf=work[n], xnorm=xnorm, radius=radius, nfev=state.nfev + calls_of_columns, njev=state.njev + 1,
        )  # fmt: skip

    def trial(state: State) -> State:
        scale, fnorm = state.scale, state.fnorm
        step = -dogleg(state.upper, scale, state.qtf, state.radius)
        candidate, pnorm = state.x + step, norm(scale * step)
        radius = np.where(state.is_first, np.fmin(state.radius, pnorm), state.radius)
        tried = fun(candidate)
        tried_norm = scaled_norm(tried)
        actual = np.where(tried_norm < fnorm, 1.0 - (tried_norm / fnorm) ** 2, -1.0)
        model = state.qtf + state.upper @ step
        predicted = np.where(norm(model) < fnorm, 1.0 - (norm(model) / fnorm) ** 2, 0.0)
        ratio = np.where(predicted > 0.0, actual / predicted, 0.0)
        is_poor = ratio < 0.1
        failures, successes = np.where(is_poor, state.failures + 1, 0), np.where(is_poor, 0, state.successes + 1)
        grown = np.where((ratio >= 0.5) | (successes > 1), np.fmax(radius, pnorm / 0.5), radius)
        grown = np.where(np.abs(ratio - 1.0) <= 0.1, pnorm / 0.5, grown)
        radius = np.where(is_poor, 0.5 * radius, grown)
        is_better = ratio >= 0.0001
        x, fnorm = np.where(is_better, candidate, state.x), np.where(is_better, tried_norm, fnorm)
        xnorm = np.where(is_better, norm(scale * x), state.xnorm)
        slow_trials = np.where(actual >= 0.001, 0, state.slow_trials + 1)
        slow_jacobians = np.where(actual >= 0.1, 0, state.slow_jacobians + np.where(state.is_fresh, 1, 0))
        info = np.where(state.nfev + 1 >= maxfev, 2, 0)
        info = np.where(0.1 * np.fmax(0.1 * radius, pnorm) <= EPS * xnorm, 3, info)
        info = np.where(slow_jacobians == 5, 4, info)
        info = np.where(slow_trials == 10, 5, info)
        info = np.where((radius <= xtol * xnorm) | (fnorm == 0.0), 1, info)
        is_fresh = failures == 2
        state = state._replace(
            x=x, fvec=np.where(is_better, tried, state.fvec), fnorm=fnorm, xnorm=xnorm, radius=radius,
            nfev=state.nfev + 1, info=info, failures=failures, successes=successes, slow_trials=slow_trials,
            slow_jacobians=slow_jacobians, is_fresh=is_fresh, is_first=state.is_first & ~is_better,
        )  # fmt: skip
        goes_on = (info == 0) & ~is_fresh

        def learnt(state: State) -> State:
            turned = state.turns @ tried
            qtf = np.where(is_better, turned, state.qtf)
            others = np.concatenate((state.turns, qtf[:, None]), axis=1)
            added = scale * (scale * step / pnorm)
            upper, others = updated(state.upper, others, (turned - model) / pnorm, added)
            return state._replace(upper=upper, turns=others[:, :n], qtf=others[:, n])

        return cond(goes_on, learnt, lambda state: state, state)

    def step(state: State) -> State:
        return trial(cond(state.is_fresh, factored, lambda state: state, state))

    zero, none, fvec = np.float64(0.0), np.int64(0), fun(x)
    start = State(
        x=x, fvec=fvec, fnorm=scaled_norm(fvec), scale=scale, upper=np.zeros((n, n)), turns=np.zeros((n, n)),
        qtf=np.zeros(n), xnorm=zero, radius=zero, nfev=np.int64(np.where(is_wrong, 0, 1)), njev=none, info=none,
        failures=none, successes=none, slow_trials=none, slow_jacobians=none, is_fresh=np.bool_(True),
        is_first=np.bool_(True),
    )  # fmt: skip
    return while_loop(lambda state: (state.info == 0) & (state.nfev > 0), step, start)
