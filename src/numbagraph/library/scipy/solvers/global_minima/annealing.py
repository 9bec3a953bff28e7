"""Minima by simulated annealing with local searches, which draws as SciPy's dual annealing draws.

One loop visits points, draws starts anew, and searches from the lowest point: what a pass does is its phase.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, OptimizeResult

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated_number
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.global_minima.random_states import from_state, generator_of, left_in
from numbagraph.library.scipy.solvers.global_minima.visits import Distribution, distribution_of, visited
from numbagraph.library.scipy.solvers.minima.minimize import minimize
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import objective_of, scalar
from numbagraph.library.scipy.solvers.minima.outcome import message_of, minimum

Function = Callable[..., Any]

NEAR = 1e-6
"""How near to a bound, as a part of the interval, a minimiser is taken for one at the bound."""
FIRST, START, VISIT, SEARCH_LOWEST, SEARCH_CHAIN = (np.int64(phase) for phase in range(5))
RUNNING, ITERATIONS, ANNEALING, SEARCHING, ENDING, STOPPED, NOT_FINITE = (np.int64(end) for end in range(7))
MESSAGES = (
    "",
    "Maximum number of iteration reached",
    "Maximum number of function call reached during annealing",
    "Maximum number of function call reached during local search",
    "Maximum number of function call reached during dual annealing",
    "Callback function requested to stop early by returning True",
)
STARTS, PATIENCE = 1000, 1000


class Place(NamedTuple):
    """A point with its value."""

    x: Any
    value: Any


class State(NamedTuple):
    """Where the walk is, the lowest point, that of the chain, and what is counted.

    ``is_minimum`` says whether a search ended well at the lowest point, ``context`` what found it."""

    here: Place
    lowest: Place
    chain: Place
    is_minimum: Any
    context: Any
    words: Any
    phase: Any
    step: Any
    place: Any
    iterations: Any
    tries: Any
    is_improved: Any
    unimproved: Any
    patience: Any
    calls: Any
    slopes: Any
    end: Any


class Search(NamedTuple):
    """What stays the same: the function, the local search, the distribution of moves, and limits."""

    value: Function
    local: Function | None
    distribution: Distribution
    upper: Any
    x0: Any
    maxiter: Any
    maxfun: Any
    hottest: Any
    coldest: Any
    accept: Any


def dual_annealing(
    func: Function, bounds: Any, args: Any = (), maxiter: Any = 1000, minimizer_kwargs: Any = None,
    initial_temp: Any = 5230.0, restart_temp_ratio: Any = 2e-5, visit: Any = 2.62, accept: Any = -5.0,
    maxfun: Any = 1e7, rng: Any = None, no_local_search: Any = False, callback: Any = None, x0: Any = None, *,
    seed: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.dual_annealing`."""
    lower, upper = limits_of(bounds, x0)
    if restart_temp_ratio <= 0.0 or restart_temp_ratio >= 1.0:
        raise ValueError("Restart temperature ratio has to be in range (0, 1)")
    if not np.all(np.isfinite(lower) & np.isfinite(upper)):
        raise ValueError("Some bounds values are inf values or nan values")
    if not np.all(lower < upper):
        raise ValueError("Bounds are not consistent min < max")
    generator, n = generator_of(rng, seed, "dual_annealing"), len(lower)

    def value(x: Any) -> Any:
        return scalar(func(x, *args))

    local = None if no_local_search else local_search(value, lower, upper, args, dict(minimizer_kwargs or {}))
    search = Search(
        value, local, distribution_of(visit, lower, upper, generator), upper,
        None if x0 is None else np.asarray(x0, dtype=np.float64), maxiter, maxfun, initial_temp,
        initial_temp * restart_temp_ratio, accept,
    )  # fmt: skip
    place, none, no = Place(np.zeros(n), np.float64(np.nan)), np.int64(0), np.bool_(False)
    start = State(
        place, place, place, no, none - 1, generator._state.copy(), FIRST, none, none, none, none, no, none,
        none + PATIENCE, none, none, RUNNING,
    )  # fmt: skip
    found = while_loop(lambda state: state.end == RUNNING, lambda state: one_pass(search, callback, state), start)
    left_in(generator, found.words)
    if found.end == NOT_FINITE:
        raise ValueError(
            "Stopping algorithm because function create NaN or (+/-) infinity values even with trying new random "
            "parameters"
        )
    objective = objective_of(value, (), None)
    x = minimum(objective, found.lowest.x, found.is_minimum, lower, upper, NEAR * (upper - lower))
    return result_of(
        OptimizeResult, success=found.end == ITERATIONS, status=np.int64(0), x=x,
        fun=differentiated_number(found.lowest.value, objective.value(x)), nit=found.iterations, nfev=found.calls,
        njev=found.slopes, nhev=np.int64(0), message=[message_of(found.end, *MESSAGES)],
    )  # fmt: skip


def limits_of(bounds: Any, x0: Any) -> tuple[Any, Any]:
    if isinstance(bounds, Bounds):
        lower, upper = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (bounds.lb, bounds.ub)))
    else:
        lower, upper = (np.asarray([pair[side] for pair in bounds], dtype=np.float64) for side in (0, 1))
    if x0 is not None and len(x0) != len(lower):
        raise ValueError("Bounds size does not match x0")
    return lower, upper


def local_search(value: Function, lower: Any, upper: Any, args: Any, options: dict[str, Any]) -> Function:
    """Return the search of the nearest minimum: SciPy's default, or by the options of `minimize`."""
    options.pop("args", None)
    for name in ("jac", "hess", "hessp"):
        given = options.get(name)
        if callable(given):
            options[name] = lambda x, *vector, given=given: given(x, *vector, *args)
    if not options:
        most = min(max(6 * len(lower), 100), 1000)
        options = {"method": "L-BFGS-B", "options": {"maxiter": most}, "bounds": Bounds(lower, upper)}
    return lambda x: minimize(value, x, **options)


def one_pass(search: Search, callback: Any, old: State) -> State:
    """Evaluate the function at one point, or search from one, and go on."""
    local = search.local
    if local is None:
        new = by_point(search, old)
    else:
        new = cond(old.phase >= SEARCH_LOWEST, lambda: by_search(search, local, old), lambda: by_point(search, old))
    if callback is None:
        return new

    def called() -> Any:
        answer = callback(new.lowest.x, new.lowest.value, new.context)
        return np.bool_(False) if answer is None else np.bool_(answer)

    is_asked = cond(new.context >= 0, called, lambda: np.bool_(False))
    iterations = np.where(is_asked, old.iterations, new.iterations)
    return new._replace(end=np.where(is_asked, STOPPED, new.end), iterations=iterations)


def by_point(search: Search, old: State) -> State:
    is_visit = old.phase == VISIT
    heat = temperature(search, old.step)
    generator, lower = search.distribution.generator, search.distribution.lower

    def anew() -> tuple[Any, Any]:
        numbers, words = from_state(generator, old.words, lambda local: local.uniform(size=len(lower)))
        return lower + (search.upper - lower) * numbers, words

    def begun() -> tuple[Any, Any]:
        if search.x0 is None:
            return anew()
        return cond((old.phase == FIRST) & (old.tries == 0), lambda: (search.x0 + 0.0, old.words), anew)

    point, words = cond(
        is_visit, lambda: visited(search.distribution, old.here.x, old.place, heat, old.words), begun
    )  # fmt: skip
    there = Place(point, search.value(point))
    new = old._replace(words=words, calls=old.calls + 1, context=np.int64(-1))
    return cond(is_visit, lambda: after_visit(search, new, there, heat), lambda: after_start(search, new, there))


def after_start(search: Search, old: State, there: Place) -> State:
    """Begin the walk at a point if its value is finite. SciPy keeps the first value as the lowest even if it is not."""
    is_first = old.phase == FIRST
    is_finite = np.isfinite(there.value)
    lowest = Place(
        np.where(is_first & (old.tries <= 1), there.x, old.lowest.x),
        np.where(is_first & (old.tries == 0), there.value, old.lowest.value),
    )
    again = old._replace(
        here=there, lowest=lowest, tries=old.tries + 1, end=np.where(old.tries >= STARTS, NOT_FINITE, RUNNING)
    )
    begun = old._replace(here=there, lowest=lowest, chain=chosen(is_first, there, old.chain), step=np.int64(0))
    return chosen(is_finite, next_chain(search, begun), again)


def after_visit(search: Search, old: State, there: Place, heat: Any) -> State:
    is_lower = there.value < old.here.value
    is_lowest = is_lower & (there.value < old.lowest.value)
    generator = search.distribution.generator
    number, words = cond(
        is_lower,
        lambda: (np.float64(0.0), old.words),
        lambda: from_state(generator, old.words, lambda local: np.float64(local.uniform())),
    )
    share = 1.0 - ((1.0 - search.accept) * (there.value - old.here.value) / (heat / (old.step + 1.0)))
    limit = np.where(share <= 0.0, 0.0, np.exp(np.log(np.where(share <= 0.0, 1.0, share)) / (1.0 - search.accept)))
    is_accepted = ~is_lower & (number <= limit)
    here = chosen(is_lower | is_accepted, there, old.here)
    chain = old.chain._replace(x=np.where(is_accepted, here.x, old.chain.x))
    is_late = ~is_lower & (old.unimproved >= old.patience) & ((old.place == 0) | (here.value < old.chain.value))
    new = old._replace(
        here=here, lowest=chosen(is_lowest, there, old.lowest), chain=chosen(is_late, here, chain), words=words,
        is_minimum=old.is_minimum & ~is_lowest, context=np.where(is_lowest, 0, -1), place=old.place + 1,
        is_improved=old.is_improved | is_lowest, unimproved=np.where(is_lowest, 0, old.unimproved),
        end=np.where(old.calls >= search.maxfun, ANNEALING, RUNNING),
    )  # fmt: skip
    is_last = (new.place == 2 * len(here.x)) & (new.end == RUNNING)
    if search.local is None:
        return chosen(is_last, after_chain(search, new), new)
    searching = new._replace(phase=SEARCH_LOWEST)
    return chosen(is_last, chosen(new.is_improved, searching, after_lowest(search, new)), new)


def by_search(search: Search, local: Function, old: State) -> State:
    """Search the nearest minimum of the lowest point, or of the chain's."""
    is_first = old.phase == SEARCH_LOWEST
    start = chosen(is_first, old.lowest, old.chain)
    result = local(start.x)
    value, lower = scalar(result.fun), search.distribution.lower
    is_inside = np.all(np.isfinite(result.x)) & np.all(result.x >= lower) & np.all(result.x <= search.upper)
    found = chosen(is_inside & np.isfinite(value) & (value < start.value), Place(result.x, value), start)
    is_lowest = found.value < old.lowest.value
    calls = old.calls + result.nfev
    end = np.where(calls >= search.maxfun, np.where(is_first, SEARCHING, ENDING), RUNNING)
    new = old._replace(
        lowest=chosen(is_lowest, found, old.lowest), here=chosen(is_lowest, found, old.here),
        chain=chosen(is_first, old.chain, found), calls=calls, end=end,
        is_minimum=np.where(is_first | is_lowest, np.bool_(result.success), old.is_minimum),
        context=np.where(is_lowest, np.where(is_first, 1, 2), -1),
        slopes=old.slopes + (result.njev if "njev" in result else 0),
        unimproved=np.where(is_lowest | ~is_first, 0, old.unimproved),
        patience=np.where(is_first, old.patience, len(lower)),
    )  # fmt: skip
    following = chosen(is_first, after_lowest(search, new), after_chain(search, new))
    return chosen(end == RUNNING, following, new)


def after_lowest(search: Search, state: State) -> State:
    is_late = state.unimproved >= state.patience
    return chosen(is_late, state._replace(phase=SEARCH_CHAIN), after_chain(search, state))


def after_chain(search: Search, state: State) -> State:
    return next_chain(search, state._replace(step=state.step + 1, iterations=state.iterations + 1))


def next_chain(search: Search, state: State) -> State:
    """Begin with a chain, or with a new start if it is too cold, or end."""
    is_cold = temperature(search, state.step) < search.coldest
    return state._replace(
        phase=np.where(is_cold, START, VISIT), place=np.int64(0), tries=np.int64(0), is_improved=state.step == 0,
        unimproved=state.unimproved + np.where(is_cold, 0, 1),
        end=np.where(state.iterations >= search.maxiter, ITERATIONS, state.end),
    )  # fmt: skip


def temperature(search: Search, step: Any) -> Any:
    power = search.distribution.parameter - 1
    first = np.exp(power * np.log(2.0)) - 1.0
    return search.hottest * first / (np.exp(power * np.log(step + 2.0)) - 1.0)
