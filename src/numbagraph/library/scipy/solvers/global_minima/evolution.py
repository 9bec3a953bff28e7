"""Minima by differential evolution, which draws as SciPy draws."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, OptimizeResult

from numbagraph.api.branches import cond
from numbagraph.api.loops import fori_loop, while_loop
from numbagraph.api.loops import map as for_each
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.global_minima.feasibility import Standing, best_of, excesses, is_better, listed
from numbagraph.library.scipy.solvers.global_minima.population_results import Ending, of_constraints, outcome
from numbagraph.library.scipy.solvers.global_minima.random_states import drawn_where, from_state, generator_of, left_in
from numbagraph.library.scipy.solvers.minima.objective import PRECISION

Function = Callable[..., Any]

NOT_INITIAL = (
    "The population initialization method must be one of 'latinhypercube' or 'random', or an array of shape (S, N) "
    "where N is the number of parameters and S>5"
)
MUTATION = (
    "The mutation constant must be a float in U[0, 2), or specified as a tuple(min, max) where min < max and min, max "
    "are in U[0, 2)."
)
NO_INTEGER = (
    "One of the integrality constraints does not have any possible integer values between the lower/upper bounds."
)
OVERRIDDEN = "differential_evolution: the '{}' keyword has overridden updating='immediate' to updating='deferred'"

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
    """A population in the unit cube, the best first, how it stands, the order that is shuffled, and what is counted."""

    population: Any
    standing: Standing
    order: Any
    scale: Any
    words: Any
    candidate: Any
    generations: Any
    calls: Any
    is_done: Any
    is_stopped: Any


class Search(NamedTuple):
    """What stays the same: the function of a place in the unit cube, the generator, the strategy, and limits."""

    standing: Function
    all_standings: Function
    callback: Function | None
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
    conditions = listed(constraints)
    refuse_others(strategy, disp, vectorized, conditions)
    generator = generator_of(rng, seed, "differential_evolution")
    updating = updating_of(updating, workers, vectorized)
    lower, upper = limits_of(bounds)
    low, high = np.asarray(lower), np.asarray(upper)
    n = len(lower)
    middle, width = 0.5 * (low + high), np.abs(low - high)
    whole = flags_of(integrality, n)
    if any(whole):
        low, high = whole_limits(low, high, np.array(whole))
    args = args if isinstance(args, tuple) else (args,)

    def scaled(unit: Any) -> Any:
        found = middle + (unit - 0.5) * width
        return np.where(np.array(whole), np.round(found), found) if any(whole) else found

    def unscaled(x: Any) -> Any:
        return np.where(width > 0, (x - middle) / np.where(width > 0, width, 1.0), 0.0) + 0.5

    def value_at(x: Any) -> Any:
        return np.reshape(func(x, *args), ())

    exceeded = excesses(conditions)

    def standing_of(x: Any) -> Standing:
        if not conditions:
            return Standing(np.float64(value_at(x)), np.bool_(True), np.zeros(1))
        excess = np.concatenate(exceeded(x))
        is_allowed = ~(np.sum(excess) > 0)
        value = cond(is_allowed, lambda: np.float64(value_at(x)), lambda: np.float64(np.inf))
        return Standing(value, is_allowed, excess)

    def all_standings(population: Any) -> Standing:
        points = scaled(population)
        if not vectorized:
            return for_each(standing_of, points)
        found = np.atleast_1d(func(points.T, *args))
        if found.shape != (len(population),):
            raise RuntimeError(
                "The vectorized function must return an array of shape (S,) when given an array of shape (len(x), S)"
            )
        return Standing(found, np.ones(len(found), dtype=bool), np.zeros((len(found), 1)))

    free = n if is_traced(low) or is_traced(high) else n - int(np.count_nonzero(low == high))
    count = max(5, popsize * max(1, free))
    population, words = first_population(generator, init, count, n, unscaled)
    population = with_start(population, x0, unscaled)
    count = len(population)
    scale, dither = scales_of(mutation)
    search = Search(
        lambda unit: standing_of(scaled(unit)), all_standings, None, generator, MUTATIONS[strategy[:-3]],
        strategy.endswith("bin"), dither, recombination, tol, atol, maxiter, 1 if vectorized else None,
    )  # fmt: skip
    none, no = np.int64(0), np.bool_(False)
    standing = all_standings(population)
    state = promoted(
        State(
            population, standing, np.arange(count), scale, words, none, none, none + calls_of(search, standing),
            np.bool_(maxiter <= 0), no,
        )
    )  # fmt: skip

    def summary(state: State, **more: Any) -> OptimizeResult:
        x, about, success = scaled(state.population[0]), {}, np.bool_(True)
        if conditions:
            about = of_constraints(exceeded, x)
            success = ~(about["maxcv"] > 0)
        return result_of(
            OptimizeResult, x=x, fun=state.standing.value[0], nfev=state.calls, nit=state.generations,
            message="in progress", success=success, population=scaled(state.population),
            population_energies=state.standing.value, **about, **more,
        )  # fmt: skip

    if callback is not None:
        search = search._replace(callback=caller(callback, summary, tol))
    step = immediate if updating == "immediate" else deferred
    found = while_loop(lambda state: ~state.is_done, lambda state: step(search, state), state)
    left_in(generator, found.words)
    success = converged(search, found) & (found.generations > 0) & ~found.is_stopped
    value = value_at if not vectorized else lambda x: np.reshape(func(x[:, np.newaxis], *args), ())
    ending = Ending(value, exceeded, conditions, constraints, whole, (low, high), polish)
    return outcome(ending, found, success, summary)


def refuse_others(strategy: Any, disp: Any, vectorized: Any, conditions: Any) -> None:
    what = "differential_evolution with "
    if callable(strategy):
        refuse(f"{what}a function as strategy", f"choose one of {', '.join(MUTATIONS)}, followed by bin or exp")
    if not isinstance(strategy, str) or strategy[:-3] not in MUTATIONS or strategy[-3:] not in ("bin", "exp"):
        raise ValueError("Please select a valid mutation strategy")
    if disp:
        refuse(f"{what}disp=", "give callback=, which may print")
    if conditions and vectorized:
        refuse(f"{what}constraints= and vectorized=", "leave vectorized out: loops are compiled")


def flags_of(integrality: Any, count: int) -> list[bool]:
    """Return for each variable whether it is an integer."""
    if integrality is None or np.ndim(integrality) == 0:
        return [bool(integrality)] * count
    if len(integrality) not in (1, count):
        raise ValueError(f"integrality has {len(integrality)} elements, and there are {count} variables")
    return [bool(integrality[i if len(integrality) > 1 else 0]) for i in range(count)]


def whole_limits(low: Any, high: Any, whole: Any) -> tuple[Any, Any]:
    """Return limits between which numbers are rounded to the integers within the bounds."""
    first, last = np.ceil(low), np.floor(high)
    if np.any(whole & (first > last)):
        raise ValueError(NO_INTEGER)
    least, most = np.nextafter(first - 0.5, np.inf), np.nextafter(last + 0.5, -np.inf)
    return np.where(whole, least, low), np.where(whole, most, high)


def caller(callback: Function, summary: Function, tol: Any) -> Function:
    """Return the function that calls the caller's function after a generation, and says whether to stop."""
    takes_result = set(inspect.signature(callback).parameters) == {"intermediate_result"}

    def called(state: State) -> Any:
        values = state.standing.value
        spread = np.std(values) / (np.abs(np.mean(values)) + PRECISION)
        convergence = tol / (np.where(np.any(np.isinf(values)), np.inf, spread) + PRECISION)
        if takes_result:
            answer = callback(intermediate_result=summary(state, convergence=convergence))
        else:
            answer = callback(summary(state).x, convergence)
        return np.bool_(False) if answer is None else np.bool_(answer)

    return called


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


def placed(places: Any, standing: Standing) -> Standing:
    return Standing(*(each[places] for each in standing))


def promoted(state: State) -> State:
    """Exchange the first member of the population with the best."""
    best = best_of(state.standing)
    places = np.arange(len(state.population))
    order = np.where(places == 0, best, np.where(places == best, 0, places))
    return state._replace(population=state.population[order], standing=placed(order, state.standing))


def calls_of(search: Search, standing: Standing) -> Any:
    """The number of calls of the function for a population: one, or one for each member that is allowed."""
    return np.sum(standing.is_allowed) if search.calls is None else search.calls


def converged(search: Search, state: State) -> Any:
    values = state.standing.value
    return ~np.any(np.isinf(values)) & (np.std(values) <= search.atol + search.tol * np.abs(np.mean(values)))


def begun(search: Search, state: State) -> State:
    """Draw the scale of a generation. While no member is allowed, begin with the one that is nearest to that."""
    state = cond(np.any(state.standing.is_allowed), lambda: state, lambda: promoted(state))
    if search.dither is None:
        return state
    low, high = search.dither
    number, words = from_state(search.generator, state.words, lambda local: np.float64(local.uniform()))
    return state._replace(scale=low + (high - low) * number, words=words)


def ended(search: Search, state: State) -> State:
    """Count a generation, and end after the last."""
    state = state._replace(candidate=np.int64(0), generations=state.generations + 1)
    is_stopped = np.bool_(False) if search.callback is None else search.callback(state)
    is_done = converged(search, state) | (state.generations >= search.maxiter) | is_stopped
    return state._replace(is_done=is_done, is_stopped=is_stopped)


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
    standing = search.standing(trial)
    is_taken = is_better(standing, placed(state.candidate, state.standing))
    is_here = (np.arange(len(state.population)) == state.candidate) & is_taken
    mixed = Standing(
        np.where(is_here, standing.value, state.standing.value),
        np.where(is_here, standing.is_allowed, state.standing.is_allowed),
        np.where(is_here[:, np.newaxis], standing.excess, state.standing.excess),
    )
    state = state._replace(
        population=np.where(is_here[:, np.newaxis], trial, state.population), standing=mixed, order=order, words=words,
        candidate=state.candidate + 1, calls=state.calls + np.where(standing.is_allowed, 1, 0),
    )  # fmt: skip
    is_best = is_taken & is_better(standing, placed(0, state.standing))
    state = cond(is_best, lambda: promoted(state), lambda: state)
    return cond(state.candidate == len(state.population), lambda: ended(search, state), lambda: state)


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
    standing = search.all_standings(trials)
    is_taken = is_better(standing, state.standing)
    mixed = Standing(
        np.where(is_taken, standing.value, state.standing.value),
        np.where(is_taken, standing.is_allowed, state.standing.is_allowed),
        np.where(is_taken[:, np.newaxis], standing.excess, state.standing.excess),
    )
    state = state._replace(
        population=np.where(is_taken[:, np.newaxis], trials, state.population), standing=mixed, order=order,
        words=words, calls=state.calls + calls_of(search, standing),
    )  # fmt: skip
    return ended(search, promoted(state))
