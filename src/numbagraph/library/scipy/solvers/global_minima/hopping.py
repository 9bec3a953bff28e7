"""Minima by random steps from one local minimum to the next, which draws as SciPy's basin hopping draws."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.global_minima.random_states import from_state, generator_of, left_in
from numbagraph.library.scipy.solvers.minima.minimize import minimize
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import scalar

Function = Callable[..., Any]

COMPLETED = "requested number of basinhopping iterations completed successfully"
SETTLED = "success condition satisfied"
STOPPED = "callback function requested stop early byreturning True"
COUNTS = ("nfev", "njev", "nhev")


class Place(NamedTuple):
    """A point with its value."""

    x: Any
    value: Any


class State(NamedTuple):
    """Where the walk is, the start of the search that found the lowest minimum, and what is counted."""

    x: Any
    value: Any
    success: Any
    lowest_start: Any
    lowest: Any
    lowest_success: Any
    stepsize: Any
    words: Any
    accepted: Any
    failures: Any
    counts: Any
    steps: Any
    unchanged: Any
    is_stopped: Any


def basinhopping(
    func: Function, x0: Any, niter: Any = 100, T: Any = 1.0, stepsize: Any = 0.5, minimizer_kwargs: Any = None,
    take_step: Any = None, accept_test: Any = None, callback: Any = None, interval: Any = 50, disp: Any = False,
    niter_success: Any = None, rng: Any = None, *, target_accept_rate: Any = 0.5, stepwise_factor: Any = 0.9,
    seed: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.basinhopping`."""
    require_functions(take_step, accept_test, disp)
    if target_accept_rate <= 0.0 or target_accept_rate >= 1.0:
        raise ValueError("target_accept_rate has to be in range (0, 1)")
    if stepwise_factor <= 0.0 or stepwise_factor >= 1.0:
        raise ValueError("stepwise_factor has to be in range (0, 1)")
    x0 = np.atleast_1d(np.asarray(x0, dtype=np.float64))
    generator, options = generator_of(rng, seed, "basinhopping"), dict(minimizer_kwargs or {})
    patience = niter + 2 if niter_success is None else niter_success
    beta = np.where(T == 0, np.inf, 1.0 / np.where(T == 0, 1.0, T))

    def search(x: Any) -> Any:
        return minimize(func, x, **options)

    def step(old: State) -> State:
        steps = old.steps + 1
        is_adjusted = steps % interval == 0
        rate = old.accepted / steps
        scaled = np.where(rate > target_accept_rate, old.stepsize / stepwise_factor, old.stepsize * stepwise_factor)
        size = np.where(is_adjusted, scaled, old.stepsize)
        if take_step is None:
            numbers, words = from_state(generator, old.words, lambda local: local.uniform(size=len(x0)))
            start = old.x + (-size + (size - -size) * numbers)
        else:
            start, words = np.asarray(take_step(old.x.copy()), dtype=np.float64), old.words
        found = search(start)
        value, success = scalar(found.fun), np.bool_(found.success)
        is_accepted, is_forced = accepted_by(accept_test, Place(found.x, value), Place(old.x, old.value))
        if not is_forced:
            number, words = from_state(generator, words, lambda local: np.float64(local.uniform()))
            change = value - old.value
            product = np.where(change == 0, 0.0, -change * beta)
            is_likely = np.exp(np.minimum(0.0, product)) >= number
            is_accepted = is_accepted & is_likely & (success | ~old.success)
        is_lowest = is_accepted & success & ((value < old.lowest) | ~old.lowest_success)
        unchanged = np.where(is_lowest, 0, old.unchanged + 1)
        is_stopped = np.bool_(False) if callback is None else is_true(callback(found.x, value, is_accepted))
        moved = old._replace(x=found.x, value=value, success=success)
        state = chosen(is_accepted, moved, old)
        lowest = state._replace(lowest_start=start, lowest=value, lowest_success=success)
        return chosen(is_lowest, lowest, state)._replace(
            stepsize=size, words=words, accepted=old.accepted + np.where(is_accepted, 1, 0),
            failures=old.failures + np.where(success, 0, 1), steps=steps, unchanged=unchanged, is_stopped=is_stopped,
            counts=tuple(count + found[name] for name, count in zip(names, old.counts, strict=True)),
        )  # fmt: skip

    first = search(x0)
    if callback is not None:
        callback(first.x, scalar(first.fun), True)
    names = tuple(name for name in COUNTS if name in first)
    counts = tuple(np.int64(0) + first[name] for name in names)
    value, success, none = scalar(first.fun), np.bool_(first.success), np.int64(0)
    state = State(
        first.x, value, success, x0, value, success, np.float64(stepsize), generator._state.copy(), none,
        none + np.where(success, 0, 1), counts, none, none, np.bool_(False),
    )  # fmt: skip

    def goes_on(state: State) -> Any:
        return (state.steps < niter) & (state.unchanged <= patience) & ~state.is_stopped

    found = while_loop(goes_on, step, state)
    left_in(generator, found.words)
    message = COMPLETED
    if found.unchanged > patience:
        message = SETTLED
    if found.is_stopped:
        message = STOPPED
    result = search(found.lowest_start)
    totals = dict(zip(names, found.counts, strict=True))
    return result_of(
        OptimizeResult, minimization_failures=found.failures, **totals, lowest_optimization_result=result, x=result.x,
        fun=result.fun, message=[message], nit=np.maximum(found.steps, 1), success=result.success,
    )  # fmt: skip


def require_functions(take_step: Any, accept_test: Any, disp: Any) -> None:
    for name, given in (("take_step", take_step), ("accept_test", accept_test)):
        if given is not None and not callable(given):
            raise TypeError(f"{name} must be callable")
    if hasattr(take_step, "stepsize"):
        refuse("basinhopping with a take_step that has an attribute stepsize", "give a function, or stepsize= alone")
    if accept_test is not None and set(inspect.signature(accept_test).parameters) == {"res_new", "res_old"}:
        refuse("basinhopping with an accept_test of res_new and res_old", "take f_new, x_new, f_old and x_old")
    if disp:
        refuse("basinhopping with disp=", "give callback=, which may print")


def is_true(answer: Any) -> Any:
    return np.bool_(False) if answer is None else np.bool_(answer)


def accepted_by(accept_test: Any, new: Place, old: Place) -> tuple[Any, bool]:
    """Return what the caller's test says of a step, and whether that overrides all other tests."""
    if accept_test is None:
        return np.bool_(True), False
    answer = accept_test(f_new=new.value, x_new=new.x, f_old=old.value, x_old=old.x)
    if answer is None:
        raise ValueError("accept_tests must return True, False, or 'force accept'")
    return np.bool_(answer), isinstance(answer, str) and answer == "force accept"
