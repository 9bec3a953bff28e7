"""Minima by differential evolution, which draws as SciPy draws."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, OptimizeResult

from numbagraph.api.branches import cond
from numbagraph.api.loops import fori_loop, while_loop
from numbagraph.api.loops import map as for_each
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import differentiated, refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.global_minima.random_states import drawn_where, from_state, generator_of, left_in
from numbagraph.library.scipy.solvers.minima.minimize import minimize
from numbagraph.library.scipy.solvers.minima.objective import Objective, objective_of
from numbagraph.library.scipy.solvers.minima.outcome import ITERATIONS, SUCCESS, minimum

Function = Callable[..., Any]

NOT_INITIAL = (
    "The population initialization method must be one of 'latinhypercube' or 'random', or an array of shape (S, N) "
    "where N is the number of parameters and S>5"
)
MUTATION = (
    "The mutation constant must be a float in U[0, 2), or specified as a tuple(min, max) where min < max and min, max "
    "are in U[0, 2)."
)
OVERRIDDEN = "differential_evolution: the '{}' keyword has overridden updating='immediate' to updating='deferred'"
NEAR = 1e-6
"""How near to a bound, as a part of the interval, a minimiser is taken for one at the bound."""

Mutation = Callable[[Any, Any, Any, Any], Any]
"""A vector of a population, the place of the candidate, places of five others, and a scale."""

MUTATIONS: dict[str, Mutation] = {
    "best1": lambda p, _, r, f: p[0] + f * (p[r[0]] - p[r[1]]),
    "rand1": lambda p, _, r, f: p[r[0]] + f * (p[r[1]] - p[r[2]]),
    "randtobest1": lambda p, _, r, f: (p[r[0]] + f * (p[0] - p[r[0]])) + f * (p[r[1]] - p[r[2]]),
    "currenttobest1": lambda p, c, r, f: p[c] + f * (p[0] - p[c] + p[r[0]] - p[r[1]]),
    "best2": lambda p, _, r, f: p[0] + f * (p[r[0]] + p[r[1]] - p[r[2]] - p[r[3]]),
    "rand2": lambda p, _, r, f: p[r[0]] + f * (p[r[1]] + p[r[2]] - p[r[3]] - p[r[4]]),
}


class State(NamedTuple):
    """A population in the unit cube, the lowest first, its values, the order that is shuffled, and what is counted."""

    population: Any
    values: Any
    order: Any
    scale: Any
    words: Any
    candidate: Any
    generations: Any
    calls: Any
    is_done: Any


class Search(NamedTuple):
    """What stays the same: the function of a place in the unit cube, the generator, the strategy, and limits."""

    value: Function
    all_values: Function
    generator: Any
    mutation: Mutation
    is_binomial: bool
    dither: Any
    recombination: Any
    tol: Any
    atol: Any
    maxiter: Any
    calls: Any


def differential_evolution(
    func: Function, bounds: Any, args: Any = (), strategy: Any = "best1bin", maxiter: Any = 1000, popsize: Any = 15,
    tol: Any = 0.01, mutation: Any = (0.5, 1), recombination: Any = 0.7, rng: Any = None, callback: Any = None,
    disp: Any = False, polish: Any = True, init: Any = "latinhypercube", atol: Any = 0, updating: Any = "immediate",
    workers: Any = 1, constraints: Any = (), x0: Any = None, *, integrality: Any = None, vectorized: Any = False,
    seed: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.differential_evolution`."""
    refuse_others(strategy, callback, disp, constraints, integrality)
    generator = generator_of(rng, seed, "differential_evolution")
    updating = updating_of(updating, workers, vectorized)
    lower, upper = limits_of(bounds)
    low, high = np.asarray(lower), np.asarray(upper)
    middle, width = 0.5 * (low + high), np.abs(low - high)
    n = len(lower)
    args = args if isinstance(args, tuple) else (args,)

    def scaled(unit: Any) -> Any:
        return middle + (unit - 0.5) * width

    def unscaled(x: Any) -> Any:
        return np.where(width > 0, (x - middle) / np.where(width > 0, width, 1.0), 0.0) + 0.5

    def value_at(x: Any) -> Any:
        return np.reshape(func(x, *args), ())

    def all_values(population: Any) -> Any:
        points = scaled(population)
        if not vectorized:
            return for_each(value_at, points)
        found = np.atleast_1d(func(points.T, *args))
        if found.shape != (len(population),):
            raise RuntimeError(
                "The vectorized function must return an array of shape (S,) when given an array of shape (len(x), S)"
            )
        return found

    free = n if is_traced(low) or is_traced(high) else n - int(np.count_nonzero(low == high))
    count = max(5, popsize * max(1, free))
    population, words = first_population(generator, init, count, n, unscaled)
    population = with_start(population, x0, unscaled)
    count = len(population)
    scale, dither = scales_of(mutation)
    search = Search(
        lambda unit: value_at(scaled(unit)), all_values, generator, MUTATIONS[strategy[:-3]],
        strategy.endswith("bin"), dither, recombination, tol, atol, maxiter, 1 if vectorized else count,
    )  # fmt: skip
    none = np.int64(0)
    state = promoted(
        State(
            population, all_values(population), np.arange(count), scale, words, none, none, none + search.calls,
            np.bool_(maxiter <= 0),
        )
    )  # fmt: skip
    step = immediate if updating == "immediate" else deferred
    found = while_loop(lambda state: ~state.is_done, lambda state: step(search, state), state)
    left_in(generator, found.words)
    success = converged(search, found) & (found.generations > 0)
    value = value_at if not vectorized else lambda x: np.reshape(func(x[:, np.newaxis], *args), ())
    return outcome(value, found, success, scaled, (low, high), polish)


def refuse_others(strategy: Any, callback: Any, disp: Any, constraints: Any, integrality: Any) -> None:
    what = "differential_evolution with "
    if callable(strategy):
        refuse(f"{what}a function as strategy", f"choose one of {', '.join(MUTATIONS)}, followed by bin or exp")
    if not isinstance(strategy, str) or strategy[:-3] not in MUTATIONS or strategy[-3:] not in ("bin", "exp"):
        raise ValueError("Please select a valid mutation strategy")
    if callback is not None or disp:
        refuse(f"{what}callback= or disp=", "leave them out, or call numbagraph.debug_print in the function")
    if not isinstance(constraints, tuple) or constraints:
        refuse(f"{what}constraints=", "add a large number to the function where they do not hold")
    if integrality is not None and np.any(integrality):
        refuse(f"{what}integrality=", "round these variables in the function, and in the result")


def updating_of(updating: str, workers: Any, vectorized: Any) -> str:
    for name, is_given in (("workers", workers != 1), ("vectorized", vectorized)):
        if is_given and updating == "immediate":
            warnings.warn(OVERRIDDEN.format(name), UserWarning, stacklevel=3)
            return "deferred"
    return updating


def limits_of(bounds: Any) -> tuple[Any, Any]:
    """Return the lower and the upper bounds."""
    if isinstance(bounds, Bounds):
        zero = np.zeros(np.broadcast_shapes(np.shape(bounds.lb), np.shape(bounds.ub)))
        low, high = zero + bounds.lb, zero + bounds.ub
    else:
        low = np.array([pair[0] for pair in bounds], dtype=np.float64)
        high = np.array([pair[1] for pair in bounds], dtype=np.float64)
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        raise ValueError(
            "bounds should be a sequence containing finite real valued (min, max) pairs for each value in x"
        )
    return low, high


def scales_of(mutation: Any) -> tuple[Any, Any]:
    """Return the scale of a mutation, and the interval from which one is drawn for each generation."""
    parts = np.atleast_1d(np.asarray(mutation, dtype=np.float64))
    if not np.all(np.isfinite(parts)) or np.any(parts >= 2) or np.any(parts < 0):
        raise ValueError(MUTATION)
    if len(parts) < 2:
        return np.float64(parts[0]), None
    return np.float64(0.0), (np.minimum(parts[0], parts[1]), np.maximum(parts[0], parts[1]))


def first_population(generator: Any, init: Any, count: int, n: int, unscaled: Function) -> tuple[Any, Any]:
    """Return the population to begin with, and the state of the generator after it is drawn."""
    words = generator._state.copy()
    if not isinstance(init, str):
        given = np.asarray(init, dtype=np.float64)
        if given.ndim != 2 or given.shape[0] < 5 or given.shape[1] != n:
            raise ValueError("The population supplied needs to have shape (S, len(x)), where S > 4.")
        return np.clip(unscaled(given), 0, 1), words
    if init in ("sobol", "halton"):
        refuse(f"differential_evolution with init={init!r}", "give the points of scipy.stats.qmc, drawn outside")
    if init not in ("latinhypercube", "random"):
        raise ValueError(NOT_INITIAL)
    drawn, words = from_state(generator, words, lambda local: local.uniform(size=(count, n)))
    if init == "random":
        return drawn, words
    samples = (1.0 / count) * drawn + np.linspace(0.0, 1.0, count, endpoint=False)[:, np.newaxis]

    def column(j: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        population, before = carried
        order, after = from_state(generator, before, lambda local: local.permutation(count))
        return np.where(np.arange(n) == j, samples[order, j][:, np.newaxis], population), after

    return fori_loop(0, n, column, (np.zeros((count, n)), words))


def with_start(population: Any, x0: Any, unscaled: Function) -> Any:
    if x0 is None:
        return population
    start = unscaled(np.asarray(x0, dtype=np.float64))
    if np.any((start > 1.0) | (start < 0.0)):
        raise ValueError("Some entries in x0 lay outside the specified bounds")
    return np.concatenate((start[np.newaxis, :], population[1:]))


def promoted(state: State) -> State:
    """Exchange the first member of the population with the lowest."""
    lowest = np.argmin(state.values)
    places = np.arange(len(state.values))
    order = np.where(places == 0, lowest, np.where(places == lowest, 0, places))
    return state._replace(population=state.population[order], values=state.values[order])


def converged(search: Search, state: State) -> Any:
    spread = np.std(state.values)
    return ~np.any(np.isinf(state.values)) & (spread <= search.atol + search.tol * np.abs(np.mean(state.values)))


def begun(search: Search, state: State) -> State:
    """Draw the scale of a generation."""
    if search.dither is None:
        return state
    low, high = search.dither
    number, words = from_state(search.generator, state.words, lambda local: np.float64(local.uniform()))
    return state._replace(scale=low + (high - low) * number, words=words)


def ended(search: Search, state: State) -> State:
    """Count a generation, and end after the last."""
    generations = state.generations + 1
    is_done = converged(search, state) | (generations >= search.maxiter)
    return state._replace(candidate=np.int64(0), generations=generations, is_done=is_done)


def others(search: Search, order: Any, words: Any, candidate: Any) -> tuple[Any, Any, Any]:
    """Shuffle, and return the places of five members that are not the candidate."""
    shuffle, words = from_state(search.generator, words, lambda local: local.permutation(len(order)))
    order = order[shuffle]
    some = order[:6]
    is_candidate = some == candidate
    place = np.where(np.any(is_candidate), np.argmax(is_candidate), len(some))
    numbers = np.arange(5)
    return some[np.minimum(numbers + (numbers >= place), len(some) - 1)], order, words


def crossed(search: Search, old: Any, new: Any, first: Any, numbers: Any) -> Any:
    """Return a member of which some numbers, or a run of them, are new."""
    places = np.arange(len(old))
    is_new = numbers < search.recombination
    if search.is_binomial:
        return np.where(is_new | (places == first), new, old)
    run = np.cumprod(np.where(places == 0, True, is_new).astype(np.int64))
    return np.where(run[(places - first) % len(old)] > 0, new, old)


def immediate(search: Search, state: State) -> State:
    """Try one candidate. The best member is replaced at once."""
    state = cond(state.candidate == 0, lambda: begun(search, state), lambda: state)
    n = state.population.shape[1]
    first, words = from_state(search.generator, state.words, lambda local: np.int64(local.integers(n)))
    places, order, words = others(search, state.order, words, state.candidate)
    new = search.mutation(state.population, state.candidate, places, state.scale)
    numbers, words = from_state(search.generator, words, lambda local: local.uniform(size=n))
    trial = crossed(search, state.population[state.candidate], new, first, numbers)
    trial, words = drawn_where(search.generator, words, trial, (trial > 1) | (trial < 0))
    value = search.value(trial)
    is_taken = value <= state.values[state.candidate]
    is_here = (np.arange(len(state.values)) == state.candidate) & is_taken
    state = state._replace(
        population=np.where(is_here[:, np.newaxis], trial, state.population),
        values=np.where(is_here, value, state.values), order=order, words=words, candidate=state.candidate + 1,
        calls=state.calls + 1,
    )  # fmt: skip
    state = cond(is_taken & (value <= state.values[0]), lambda: promoted(state), lambda: state)
    return cond(state.candidate == len(state.values), lambda: ended(search, state), lambda: state)


def deferred(search: Search, state: State) -> State:
    """Try all candidates. The best member is replaced after a generation."""
    state = begun(search, state)
    count, n = state.population.shape

    def mutated(candidate: Any, carried: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        news, order, words = carried
        places, order, words = others(search, order, words, candidate)
        new = search.mutation(state.population, candidate, places, state.scale)
        return np.where((np.arange(count) == candidate)[:, np.newaxis], new, news), order, words

    start = (np.zeros((count, n)), state.order, state.words)
    news, order, words = fori_loop(0, count, mutated, start)
    firsts, words = from_state(search.generator, words, lambda local: local.integers(n, size=count))
    numbers, words = from_state(search.generator, words, lambda local: local.uniform(size=(count, n)))
    trials = for_each(lambda each: crossed(search, *each), (state.population, news, firsts, numbers))
    flat = np.reshape(trials, -1)
    flat, words = drawn_where(search.generator, words, flat, (flat > 1) | (flat < 0))
    trials = np.reshape(flat, (count, n))
    values = search.all_values(trials)
    is_taken = values <= state.values
    state = state._replace(
        population=np.where(is_taken[:, np.newaxis], trials, state.population),
        values=np.where(is_taken, values, state.values), order=order, words=words, calls=state.calls + search.calls,
    )  # fmt: skip
    return ended(search, promoted(state))


def outcome(
    value_at: Function, state: State, success: Any, scaled: Function, limits: tuple[Any, Any], polish: Any
) -> OptimizeResult:
    """Return the result, after a search of the nearest minimum if that is asked for."""
    objective: Objective = objective_of(value_at, (), None)
    x, value, calls, fields = scaled(state.population[0]), state.values[0], state.calls, {}
    message = ITERATIONS
    if success:
        message = SUCCESS
    if polish:
        search: Function = polish if callable(polish) else partial(minimize, method="L-BFGS-B")
        found = search(value_at, x, bounds=Bounds(*limits))
        is_better = (found.fun < value) & found.success & np.all((found.x <= limits[1]) & (limits[0] <= found.x))
        x, value, calls = np.where(is_better, found.x, x), np.where(is_better, found.fun, value), calls + found.nfev
        fields["jac"] = np.where(is_better, found.jac, np.nan)
    x = minimum(objective, x, success, *limits, NEAR * (limits[1] - limits[0]))
    return result_of(
        OptimizeResult, x=x, fun=differentiated(value, objective.value(x)), nfev=calls, nit=state.generations,
        message=message, success=success, population=scaled(state.population), population_energies=state.values,
        **fields,
    )  # fmt: skip
