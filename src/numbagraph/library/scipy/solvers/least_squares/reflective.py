"""The trust-region reflective method of least squares, by SciPy's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.least_squares.losses import Loss, cost_of, weighted
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import EPS, norm
from numbagraph.library.scipy.solvers.least_squares.trust_regions import (
    is_inside,
    least_of_parabola,
    next_radius,
    singular_form,
    status_of,
    step_to_bound,
    step_within,
    strictly_inside,
)


class Problem(NamedTuple):
    """Residuals, their derivatives by each variable in a row, what is minimised within which bounds, and when to
    stop."""

    fun: Callable[[Any], Any]
    columns_at: Callable[[Any, Any], Any]
    loss: Loss | None
    lb: Any
    ub: Any
    is_bounded: bool
    x_scale: Any
    ftol: Any
    xtol: Any
    gtol: Any
    max_nfev: Any


class State(NamedTuple):
    """The point, what was computed there, and how far the search is."""

    x: Any
    f: Any
    cost: Any
    g: Any
    g_norm: Any
    d: Any
    diagonal: Any
    values: Any
    vectors: Any
    uf: Any
    scale_inv: Any
    radius: Any
    alpha: Any
    nfev: Any
    njev: Any
    status: Any
    is_fresh: Any


def start_of(problem: Problem, x: Any, f: Any) -> State:
    zeros, n = np.zeros(x.shape[0]), x.shape[0]
    return State(
        x=x, f=f, cost=cost_of(problem.loss, f), g=zeros, g_norm=np.float64(0.0), d=zeros, diagonal=zeros,
        values=zeros, vectors=np.zeros((n, n)), uf=zeros, scale_inv=zeros, radius=np.float64(0.0),
        alpha=np.float64(0.0), nfev=np.int64(1), njev=np.int64(0), status=np.int64(0), is_fresh=np.bool_(True),
    )  # fmt: skip


def scale_inverse(problem: Problem, columns: Any, before: Any, is_start: Any) -> Any:
    """What the variables are multiplied by: the norms of columns, as large as they have been, or as the user says."""
    if not isinstance(problem.x_scale, str):
        return 1.0 / problem.x_scale
    norms = np.sqrt(np.sum(columns * columns, axis=1))
    return np.where(is_start, np.where(norms == 0.0, 1.0, norms), np.maximum(norms, before))


def distances(x: Any, g: Any, lb: Any, ub: Any) -> tuple[Any, Any]:
    """Coleman and Li's scaling: the distances to the bounds to which the gradient leads, and their derivatives."""
    to_high, to_low = (g < 0.0) & np.isfinite(ub), (g > 0.0) & np.isfinite(lb)
    v = np.where(to_high, ub - x, np.where(to_low, x - lb, 1.0))
    return v, np.where(to_high, -1.0, np.where(to_low, 1.0, 0.0))


def prepared(problem: Problem, state: State) -> State:
    """Compute what steps from the present point need."""
    columns = problem.columns_at(state.x, state.f)
    f, columns = weighted(problem.loss, state.f, columns)
    n = state.x.shape[0]
    is_start = state.njev == 0
    g = columns @ f
    scale_inv = scale_inverse(problem, columns, state.scale_inv, is_start)
    scale = 1.0 / scale_inv
    if problem.is_bounded:
        v, dv = distances(state.x, g, problem.lb, problem.ub)
        g_norm = np.max(np.abs(g * v))
        v = np.where(dv != 0.0, v * scale_inv, v)
        d, diagonal = np.sqrt(v) * scale, g * dv * scale
        radius = norm(state.x * scale_inv / np.sqrt(v))
    else:
        g_norm, d, diagonal = np.max(np.abs(g)), scale, np.zeros(n)
        radius = norm(state.x * scale_inv)
    radius = np.where(is_start, np.where(radius == 0.0, 1.0, radius), state.radius)
    below = np.eye(n) * np.sqrt(diagonal)
    values, vectors, uf = singular_form(
        np.concatenate((columns * d[:, None], below), axis=1), np.concatenate((f, np.zeros(n)))
    )
    return state._replace(
        g=g, g_norm=g_norm, d=d, diagonal=diagonal, values=values, vectors=vectors, uf=uf, scale_inv=scale_inv,
        radius=radius, njev=state.njev + 1, status=np.where(g_norm < problem.gtol, 1, state.status),
        is_fresh=np.bool_(False),
    )  # fmt: skip


def tried(problem: Problem, state: State) -> State:
    """Try a step within the present radius."""
    m, n = state.f.shape[0], state.x.shape[0]
    is_regular = (m >= n) & (state.values[-1] > EPS * m * state.values[0])
    if problem.is_bounded:
        is_regular = state.values[-1] > EPS * m * state.values[0]
    step_h, alpha = step_within(state.values, state.vectors, state.uf, is_regular, state.radius, state.alpha)
    if problem.is_bounded:
        step, step_h, predicted = reflected(problem, state, step_h)
        candidate = strictly_inside(state.x + step, problem.lb, problem.ub, 0.0)
    else:
        step, predicted = state.d * step_h, -quadratic(state, state.d * state.g, step_h)
        candidate = state.x + step
    f = problem.fun(candidate)
    length = norm(step_h)
    cost = cost_of(problem.loss, f)
    actual = state.cost - cost
    radius, ratio = next_radius(state.radius, actual, predicted, length, length > 0.95 * state.radius)
    status = status_of(actual, state.cost, norm(step), norm(state.x), ratio, problem.ftol, problem.xtol)
    is_finite = np.all(np.isfinite(f))
    status = np.where(is_finite, status, 0)
    goes_on = is_finite & (status == 0)
    is_better = is_finite & (actual > 0.0)
    return state._replace(
        x=np.where(is_better, candidate, state.x), f=np.where(is_better, f, state.f),
        cost=np.where(is_better, cost, state.cost), nfev=state.nfev + 1, status=status,
        alpha=np.where(goes_on, alpha * (state.radius / radius), alpha), is_fresh=is_better,
        radius=np.where(goes_on, radius, np.where(is_finite, state.radius, 0.25 * length)),
    )  # fmt: skip


def quadratic(state: State, g: Any, s: Any) -> Any:
    """The quadratic model of the change, in the scaled variables."""
    return 0.5 * np.sum((state.values * (state.vectors @ s)) ** 2) + np.sum(s * g)


def reflected(problem: Problem, state: State, p_h: Any) -> tuple[Any, Any, Any]:
    """Return the best of the step up to its bound, reflected there, and along the gradient, and what it reduces."""
    d, lb, ub, radius = state.d, problem.lb, problem.ub, state.radius
    g = d * state.g
    theta = np.maximum(0.995, 1.0 - state.g_norm)
    is_free = is_inside(state.x + d * p_h, lb, ub)
    free_value = quadratic(state, g, p_h)
    stride, hits = step_to_bound(state.x, d * p_h, lb, ub)
    turned = np.where(hits != 0.0, -p_h, p_h)
    at_bound = p_h * stride
    to_border = crossing(at_bound, turned, radius)
    to_bound, _ = step_to_bound(state.x + d * at_bound, d * turned, lb, ub)
    longest = np.minimum(to_bound, to_border)
    can_turn = longest > 0.0
    low = np.where(can_turn, (1.0 - theta) * stride / np.where(can_turn, longest, 1.0), 0.0)
    high = np.where(can_turn, np.where(longest == to_bound, theta * to_bound, to_border), -1.0)
    a, b, c = parabola(state, g, turned, at_bound)
    turned_stride, turned_value = least_of_parabola(a, b, low, high, c)
    turned_value = np.where(low <= high, turned_value, np.inf)
    turned = turned * turned_stride + at_bound
    at_bound = at_bound * theta
    bound_value = quadratic(state, g, at_bound)
    to_border = radius / norm(g)
    to_bound, _ = step_to_bound(state.x, d * -g, lb, ub)
    a, b, _ = parabola(state, g, -g, np.zeros(g.shape[0]))
    stride, steepest_value = least_of_parabola(a, b, 0.0, np.where(to_bound < to_border, theta * to_bound, to_border))
    is_first = (bound_value < turned_value) & (bound_value < steepest_value)
    is_second = np.logical_not(is_first) & (turned_value < bound_value) & (turned_value < steepest_value)
    step = np.where(is_first, at_bound, np.where(is_second, turned, -g * stride))
    value = np.where(is_first, bound_value, np.where(is_second, turned_value, steepest_value))
    step, value = np.where(is_free, p_h, step), np.where(is_free, free_value, value)
    return d * step, step, -value


def parabola(state: State, g: Any, s: Any, origin: Any) -> tuple[Any, Any, Any]:
    """The coefficients of the quadratic model along a line."""
    v, u = state.values * (state.vectors @ s), state.values * (state.vectors @ origin)
    return 0.5 * np.sum(v * v), np.sum(g * s) + np.sum(u * v), 0.5 * np.sum(u * u) + np.sum(g * origin)


def crossing(x: Any, s: Any, radius: Any) -> Any:
    """How often ``s`` is added to ``x`` up to a length."""
    a, b, c = np.sum(s * s), np.sum(x * s), np.sum(x * x) - radius**2
    q = -(b + np.copysign(np.sqrt(b * b - a * c), b))
    return np.maximum(q / a, c / q)


def trust_region_reflective(problem: Problem, x: Any, f: Any) -> State:
    """Minimise, and return the last state."""

    def is_open(state: State) -> Any:
        return state.is_fresh | ((state.status == 0) & (state.nfev < problem.max_nfev))

    def step(state: State) -> State:
        state = cond(state.is_fresh, lambda state: prepared(problem, state), lambda state: state, state)
        return cond(is_open(state), lambda state: tried(problem, state), lambda state: state, state)

    return while_loop(is_open, step, start_of(problem, x, f))
