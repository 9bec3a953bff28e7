"""Roots by steps along the residual with spectral lengths: the method DF-SANE, as SciPy has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated, double
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen

Function = Callable[..., Any]

GAMMA, SHORTEST, LONGEST, NU = 1e-4, 0.1, 0.5, 0.85
MESSAGES = "successful convergence", "too many function evaluations required"
RUNNING, FOUND, EXHAUSTED = (np.int64(end) for end in range(3))


class State(NamedTuple):
    """The point with residual and merit, the spectral length, the window of merits, and the trials of a search."""

    x: Any
    residual: Any
    merit: Any
    sigma: Any
    window: Any
    level: Any
    weight: Any
    ahead: Any
    back: Any
    is_back: Any
    iterations: Any
    calls: Any
    end: Any


def df_sane(
    fun: Function, x0: Any, args: tuple[Any, ...], ftol: Any = 1e-8, fatol: Any = 1e-300, maxfev: Any = 1000,
    fnorm: Any = None, M: Any = 10, eta_strategy: Any = None, sigma_eps: Any = 1e-10, sigma_0: Any = 1.0,
    line_search: Any = "cruz",
) -> OptimizeResult:  # fmt: skip
    """Find a root by the method ``df-sane``."""
    if line_search not in ("cheng", "cruz"):
        raise ValueError(f"Invalid value {line_search!r} for 'line_search'")
    given = double(x0)
    shape = given.shape

    def flat(x: Any) -> Any:
        return double(fun(np.reshape(x, shape), *args)).reshape(-1)

    def norm(state: State) -> Any:
        return np.sqrt(state.merit) if fnorm is None else fnorm(state.residual)

    def slack(state: State) -> Any:
        if eta_strategy is None:
            return first / (1 + state.iterations) ** 2
        return eta_strategy(state.iterations, state.x, state.residual)

    def begun(state: State) -> State:
        sigma = state.sigma
        limited = np.where(np.abs(sigma) < sigma_eps, sigma_eps, sigma)
        limited = np.where(np.abs(sigma) > 1 / sigma_eps, 1 / sigma_eps * np.sign(sigma), limited)
        end = np.where(norm(state) < bound, FOUND, RUNNING)
        one = np.float64(1.0)
        return state._replace(sigma=limited, ahead=one, back=one, is_back=np.bool_(False), end=end)

    def trial(old: State) -> State:
        is_spent = old.calls >= maxfev
        length = np.where(old.is_back, old.back, old.ahead)
        x = old.x - np.where(old.is_back, -length, length) * (old.sigma * old.residual)
        residual = flat(x)
        merit = np.linalg.norm(residual) ** 2
        eta = slack(old)
        level = np.max(old.window) if line_search == "cruz" else old.level
        is_taken = merit <= level + eta - GAMMA * length**2 * old.merit
        counted = old._replace(calls=old.calls + 1)
        moved = taken(counted, x, residual, merit, eta)
        new = chosen(is_taken, begun(moved), shortened(counted, merit, length))
        return chosen(is_spent, old._replace(end=EXHAUSTED), new)

    def taken(old: State, x: Any, residual: Any, merit: Any, eta: Any) -> State:
        step, change = x - old.x, residual - old.residual
        weight = NU * old.weight + 1
        return old._replace(
            x=x, residual=residual, merit=merit, sigma=np.dot(step, step) / np.dot(step, change),
            window=np.concatenate((old.window[1:], np.reshape(merit, 1))), weight=weight,
            level=(NU * old.weight * (old.level + eta) + merit) / weight, iterations=old.iterations + 1,
        )  # fmt: skip

    x = given.reshape(-1)
    residual = flat(x)
    first = np.linalg.norm(residual) ** 2
    one, none = np.float64(1.0), np.int64(0)
    window = np.concatenate((np.full(M - 1, -np.inf), np.reshape(first, 1)))
    start = State(
        x, residual, first, np.float64(sigma_0), window, first, one, one, one, np.bool_(False), none, none + 1, RUNNING
    )  # fmt: skip
    bound = ftol * norm(start) + fatol
    found = while_loop(lambda state: state.end == RUNNING, trial, begun(start))
    return outcome(flat, found, shape)


def shortened(old: State, merit: Any, length: Any) -> State:
    """Return the next trial: backwards after forwards, and then a shorter one."""
    shorter = length**2 * old.merit / (merit + (2 * length - 1) * old.merit)
    shorter = np.minimum(np.maximum(shorter, SHORTEST * length), LONGEST * length)
    return old._replace(
        ahead=np.where(old.is_back, old.ahead, shorter), back=np.where(old.is_back, shorter, old.back),
        is_back=~old.is_back,
    )  # fmt: skip


def outcome(flat: Function, state: State, shape: Any) -> OptimizeResult:
    success = state.end == FOUND
    root = solved(flat, state.x, success)
    message = MESSAGES[1]
    if success:
        message = MESSAGES[0]
    return result_of(
        OptimizeResult, x=np.reshape(root, shape), success=success, message=message,
        fun=differentiated(state.residual, flat(root)), nfev=state.calls, nit=state.iterations, method="df-sane",
    )  # fmt: skip
