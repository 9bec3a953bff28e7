"""The dogleg method of least squares in rectangular trust regions, by SciPy's steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.least_squares.losses import cost_of, weighted
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import EPS, norm
from numbagraph.library.scipy.solvers.least_squares.reflective import Problem, scale_inverse
from numbagraph.library.scipy.solvers.least_squares.trust_regions import (
    least_of_parabola,
    next_radius,
    singular_form,
    status_of,
    step_to_bound,
)


class State(NamedTuple):
    """The point, which bounds it meets, what was computed there, and how far the search is."""

    x: Any
    on_bound: Any
    f: Any
    cost: Any
    g: Any
    g_norm: Any
    is_free: Any
    newton: Any
    values: Any
    vectors: Any
    scale_inv: Any
    radius: Any
    nfev: Any
    njev: Any
    status: Any
    is_fresh: Any


def prepared(problem: Problem, state: State) -> State:
    """Compute what steps from the present point need."""
    columns = problem.columns_at(state.x, state.f)
    f, columns = weighted(problem.loss, state.f, columns)
    is_start = state.njev == 0
    scale_inv = scale_inverse(problem, columns, state.scale_inv, is_start)
    radius = np.max(np.abs(state.x * scale_inv))
    radius = np.where(is_start, np.where(radius == 0.0, 1.0, radius), state.radius)
    g = columns @ f
    is_free = np.logical_not(state.on_bound * g < 0.0)
    g_norm = np.max(np.abs(np.where(is_free, g, 0.0)))
    free_columns = np.where(is_free[:, None], columns, 0.0)
    n = state.x.shape[0]
    below = np.zeros((n, n))
    values, vectors, uf = singular_form(np.concatenate((free_columns, below), axis=1), np.concatenate((f, np.zeros(n))))
    is_used = values > EPS * values[0]
    newton = -(np.where(is_used, uf / np.where(is_used, values, 1.0), 0.0) @ vectors)
    return state._replace(
        g=g, g_norm=g_norm, is_free=is_free, newton=np.where(is_free, newton, 0.0), values=values, vectors=vectors,
        scale_inv=scale_inv, radius=radius, njev=state.njev + 1, is_fresh=np.bool_(False),
        status=np.where(g_norm < problem.gtol, 1, state.status),
    )  # fmt: skip


def dogleg(problem: Problem, state: State, g: Any) -> tuple[Any, Any, Any]:
    """Return a step of the free variables, the bounds that they meet then, and whether the region's border is met."""
    border = state.radius / state.scale_inv
    to_low, to_high = problem.lb - state.x, problem.ub - state.x
    low, high = np.maximum(to_low, -border), np.minimum(to_high, border)
    free = state.is_free
    is_newton = np.all(np.logical_not(free) | ((state.newton >= low) & (state.newton <= high)))
    open_low, open_high = np.where(free, low, -np.inf), np.where(free, high, np.inf)
    longest, _ = step_to_bound(np.zeros(g.shape[0]), -g, open_low, open_high)
    v = state.values * (state.vectors @ -g)
    steepest, _ = least_of_parabola(0.5 * np.sum(v * v), np.sum(g * -g), 0.0, longest)
    cauchy = -steepest * g
    difference = state.newton - cauchy
    stride, hits = step_to_bound(cauchy, difference, open_low, open_high)
    meets_low, meets_high = (hits < 0.0) & (low == to_low), (hits > 0.0) & (high == to_high)
    at_border = np.any(((hits < 0.0) & (low == -border)) | ((hits > 0.0) & (high == border)))
    step = np.where(is_newton, state.newton, cauchy + stride * difference)
    hit = np.where(meets_high, 1, np.where(meets_low, -1, 0))
    return np.where(free, step, 0.0), np.where(is_newton, 0, hit), at_border & ~is_newton


def tried(problem: Problem, state: State) -> State:
    """Try a step within the present radius."""
    g = np.where(state.is_free, state.g, 0.0)
    step, hits, at_border = dogleg(problem, state, g)
    predicted = -(0.5 * np.sum((state.values * (state.vectors @ step)) ** 2) + np.sum(step * g))
    candidate = np.clip(state.x + step, problem.lb, problem.ub)
    f = problem.fun(candidate)
    length = np.max(np.abs(step * state.scale_inv))
    is_finite = np.all(np.isfinite(f))
    cost = cost_of(problem.loss, f)
    actual = state.cost - cost
    radius, ratio = next_radius(state.radius, actual, predicted, length, at_border)
    status = status_of(actual, state.cost, norm(step), norm(state.x), ratio, problem.ftol, problem.xtol)
    is_better = is_finite & (actual > 0.0)
    on_bound = np.where(is_better & state.is_free, hits, state.on_bound)
    placed = np.where(on_bound == 1, problem.ub, np.where(on_bound == -1, problem.lb, candidate))
    return state._replace(
        x=np.where(is_better, placed, state.x), on_bound=on_bound, f=np.where(is_better, f, state.f),
        cost=np.where(is_better, cost, state.cost), radius=np.where(is_finite, radius, 0.25 * length),
        nfev=state.nfev + 1, status=np.where(is_finite, status, 0), is_fresh=is_better,
    )  # fmt: skip


def dogbox(problem: Problem, x: Any, f: Any) -> State:
    """Minimise, and return the last state."""
    n = x.shape[0]
    zeros = np.zeros(n)

    def is_open(state: State) -> Any:
        return state.is_fresh | ((state.status == 0) & (state.nfev < problem.max_nfev))

    def step(state: State) -> State:
        state = cond(state.is_fresh, lambda state: prepared(problem, state), lambda state: state, state)
        return cond(is_open(state), lambda state: tried(problem, state), lambda state: state, state)

    start = State(
        x=x, on_bound=np.where(x == problem.ub, 1, np.where(x == problem.lb, -1, 0)), f=f,
        cost=cost_of(problem.loss, f), g=zeros, g_norm=np.float64(0.0), is_free=np.ones(n, bool), newton=zeros,
        values=zeros, vectors=np.zeros((n, n)), scale_inv=zeros, radius=np.float64(0.0), nfev=np.int64(1),
        njev=np.int64(0), status=np.int64(0), is_fresh=np.bool_(True),
    )  # fmt: skip
    return while_loop(is_open, step, start)
