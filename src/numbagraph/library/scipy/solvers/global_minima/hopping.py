"""Minima by random steps from one local minimum to the next, which draws as SciPy's basin hopping draws."""

from __future__ import annotations

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
COUNTS = ("nfev", "njev", "nhev")


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


def basinhopping(
    func: Function, x0: Any, niter: Any = 100, T: Any = 1.0, stepsize: Any = 0.5, minimizer_kwargs: Any = None,
    take_step: Any = None, accept_test: Any = None, callback: Any = None, interval: Any = 50, disp: Any = False,
    niter_success: Any = None, rng: Any = None, *, target_accept_rate: Any = 0.5, stepwise_factor: Any = 0.9,
    seed: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.basinhopping`."""
    refuse_others(take_step, accept_test, callback, disp)
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
        numbers, words = from_state(generator, old.words, lambda local: local.uniform(size=len(x0)))
        start = old.x + (-size + (size - -size) * numbers)
        found = search(start)
        value, success = scalar(found.fun), np.bool_(found.success)
        number, words = from_state(generator, words, lambda local: np.float64(local.uniform()))
        change = value - old.value
        product = np.where(change == 0, 0.0, -change * beta)
        is_accepted = (np.exp(np.minimum(0.0, product)) >= number) & (success | ~old.success)
        is_lowest = is_accepted & success & ((value < old.lowest) | ~old.lowest_success)
        unchanged = np.where(is_lowest, 0, old.unchanged + 1)
        moved = old._replace(x=found.x, value=value, success=success)
        state = chosen(is_accepted, moved, old)
        lowest = state._replace(lowest_start=start, lowest=value, lowest_success=success)
        return chosen(is_lowest, lowest, state)._replace(
            stepsize=size, words=words, accepted=old.accepted + np.where(is_accepted, 1, 0),
            failures=old.failures + np.where(success, 0, 1), steps=steps, unchanged=unchanged,
            counts=tuple(count + found[name] for name, count in zip(names, old.counts, strict=True)),
        )  # fmt: skip

    first = search(x0)
    names = tuple(name for name in COUNTS if name in first)
    counts = tuple(np.int64(0) + first[name] for name in names)
    value, success, none = scalar(first.fun), np.bool_(first.success), np.int64(0)
    state = State(
        first.x, value, success, x0, value, success, np.float64(stepsize), generator._state.copy(), none,
        none + np.where(success, 0, 1), counts, none, none,
    )  # fmt: skip
    found = while_loop(lambda state: (state.steps < niter) & (state.unchanged <= patience), step, state)
    left_in(generator, found.words)
    message = COMPLETED
    if found.unchanged > patience:
        message = SETTLED
    result = search(found.lowest_start)
    totals = dict(zip(names, found.counts, strict=True))
    return result_of(
        OptimizeResult, minimization_failures=found.failures, **totals, lowest_optimization_result=result, x=result.x,
        fun=result.fun, message=[message], nit=np.maximum(found.steps, 1), success=result.success,
    )  # fmt: skip


def refuse_others(take_step: Any, accept_test: Any, callback: Any, disp: Any) -> None:
    given = {"take_step": take_step, "accept_test": accept_test, "callback": callback, "disp": disp or None}
    for name, value in given.items():
        if value is not None:
            refuse(f"basinhopping with {name}=", "leave it out, or write the walk as a loop around minimize")
