"""Initial value problems, and their solutions at the times that are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.differentiation import stop_gradient
from numbagraph.library.scipy.arguments import array
from numbagraph.library.scipy.ode.dense_output import DenseSolution
from numbagraph.library.scipy.ode.tableaus import tableau_of
from numbagraph.library.scipy.ode.trajectories import at_end, polynomials, sampled, steps_to, to_end
from numbagraph.library.scipy.ode.trials import Problem, State, first_size, first_state
from numbagraph.tracing.trace import as_traced


class Solution(NamedTuple):
    """A solution at times, with the number of evaluations that it has taken."""

    t: Any
    y: Any
    reached: Any
    evaluations: Any
    extra: Any = 0
    """How many polynomials it has taken."""
    dense: DenseSolution | None = None


def slope_of(fun: Callable[..., Any], args: tuple[Any, ...], y: Any, vectorized: bool) -> Callable[[Any, Any], Any]:
    """Return the right-hand side as a function of time and state that gives an array like the state."""
    traced, dtype = as_traced(fun), y.dtype

    def slope(t: Any, y: Any) -> Any:
        found = traced(t, y[:, None], *args) if vectorized else traced(t, y, *args)
        found = array(found)
        return np.broadcast_to(found.ravel() if vectorized else found, y.shape).astype(dtype)

    return slope


def problem_of(
    method: type, slope: Callable[[Any, Any], Any], t: Any, end: Any, rtol: Any, atol: Any, longest: Any
) -> Problem:
    end, rtol, atol, longest = map(stop_gradient, (end, rtol, atol, longest))
    direction = np.where(end < stop_gradient(t), -1.0, 1.0)
    return Problem(slope, tableau_of(method), end, direction, rtol, atol, longest)


def solution_of(problem: Problem, t: Any, end: Any, y: Any, first_step: Any, times: Any, is_dense: bool) -> Solution:
    """Return the solution at times, or after each step, and with ``is_dense`` as a function of time, too."""
    slope = problem.slope(t, y)
    if first_step is None:
        size = first_size(problem, t, y, slope)
        before = 1 + (problem.end != stop_gradient(t))
    else:
        size, before = np.float64(first_step), 1
    first = first_state(problem, t, y, slope, size, with_last=False)
    with_last = first_state(problem, t, y, slope, size, with_last=True)
    found = after_steps(problem, first, end, before) if times is None else at_times(problem, with_last, before, times)
    return dense(problem, with_last, found) if is_dense else found


def at_times(problem: Problem, state: State, before: Any, times: Any) -> Solution:
    state, values, found = sampled(problem, state, times)
    state = to_end(problem, state)
    reached = np.logical_not(problem.remains(state.t))
    evaluations = before + problem.tableau.stages * state.trials + len(problem.tableau.extra_nodes) * found
    if isinstance(times, np.ndarray) and not times.size:
        return Solution([], [], reached, evaluations, found)
    return Solution(times, values.T, reached, evaluations, found)


def after_steps(problem: Problem, first: State, end: Any, before: Any) -> Solution:
    state = to_end(problem, first)
    reached = np.logical_not(problem.remains(state.t))
    times, states = steps_to(problem, first, state.steps)
    count = np.maximum(state.steps, np.where(reached, 1, 0))
    t = np.concatenate([np.concatenate([first.t[None], times])[:count], at_last(reached, end, state.t)[None]])
    y = np.concatenate([np.concatenate([first.y[None], states])[:count], at_end(problem, state, end)[None]])
    return Solution(t, y.T, reached, before + problem.tableau.stages * state.trials)


def at_last(reached: Any, end: Any, t: Any) -> Any:
    return np.where(reached, end, t)


def dense(problem: Problem, first: State, found: Solution) -> Solution:
    """Return the solution with the polynomials through its steps, for each of which a method may take evaluations."""
    last = to_end(problem, first._replace(last=None))
    times, states, rows = polynomials(problem, first, last.steps)
    whole = DenseSolution(problem.tableau, np.concatenate([first.t[None], times]), states, rows)
    before = found.evaluations - found.extra * len(problem.tableau.extra_nodes)
    return found._replace(evaluations=before + last.steps * len(problem.tableau.extra_nodes), dense=whole)
