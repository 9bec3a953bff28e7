"""Parts of methods with trust regions: steps to bounds, radii, minima of parabolas, and reasons to stop."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import norm, pivoted_qr


def is_inside(x: Any, lb: Any, ub: Any) -> Any:
    return np.all((x >= lb) & (x <= ub))


def step_to_bound(x: Any, s: Any, lb: Any, ub: Any) -> tuple[Any, Any]:
    """Return how often ``s`` can be added to ``x``, and which bounds are met then: -1, 0 or 1."""
    moves = s != 0.0
    divisor = np.where(moves, s, 1.0)
    steps = np.where(moves, np.maximum((lb - x) / divisor, (ub - x) / divisor), np.inf)
    least = np.min(steps)
    return least, np.where(steps == least, np.sign(s), 0.0)


def least_of_parabola(a: Any, b: Any, low: Any, high: Any, c: Any = 0.0) -> tuple[Any, Any]:
    """Return where ``a t^2 + b t + c`` is least between two points, and its value there."""
    inner = -0.5 * b / np.where(a == 0.0, 1.0, a)
    is_within = (a != 0.0) & (low < inner) & (inner < high)
    points = np.stack([low, high, np.where(is_within, inner, low)])
    values = points * (a * points + b) + c
    place = np.argmin(values)
    return points[place], values[place]


def next_radius(radius: Any, actual: Any, predicted: Any, length: Any, is_at_border: Any) -> tuple[Any, Any]:
    """Return the next radius, and the ratio of the reductions."""
    is_still = (predicted == 0.0) & (actual == 0.0)
    ratio = np.where(predicted > 0.0, actual / predicted, np.where(is_still, 1.0, 0.0))
    grown = np.where((ratio > 0.75) & is_at_border, radius * 2.0, radius)
    return np.where(ratio < 0.25, 0.25 * length, grown), ratio


def status_of(actual: Any, cost: Any, length: Any, x_length: Any, ratio: Any, ftol: Any, xtol: Any) -> Any:
    """SciPy's number of the reason to stop; 0 is none."""
    is_flat = (actual < ftol * cost) & (ratio > 0.25)
    is_short = length < xtol * (xtol + x_length)
    return np.where(is_flat, np.where(is_short, 4, 2), np.where(is_short, 3, 0))


def singular_form(columns: Any, f: Any) -> tuple[Any, Any, Any]:
    """Return the singular values and right vectors (in rows) of a matrix, and ``f`` in terms of the left ones."""
    upper, order, turned, _ = pivoted_qr(columns, f)
    left, values, right = np.linalg.svd(upper)
    vectors = np.zeros(right.shape)
    vectors[:, order] = right
    return values, vectors, left.T @ turned


def step_within(
    values: Any, vectors: Any, uf: Any, is_regular: Any, radius: Any, alpha: Any
) -> tuple[Any, Any]:  # fmt: skip
    """Return the least-squares step of at most a length, and its Levenberg-Marquardt parameter."""
    suf = values * uf
    newton = -(np.where(is_regular, uf / values, 0.0) @ vectors)
    is_newton = is_regular & (norm(newton) <= radius)

    def excess(alpha: Any) -> tuple[Any, Any]:
        divisor = values**2 + alpha
        length = norm(suf / divisor)
        return length - radius, -np.sum(suf**2 / divisor**3) / length

    high = norm(suf) / radius
    phi, slope = excess(0.0)
    low = np.where(is_regular, -phi / slope, 0.0)
    middle = np.fmax(0.001 * high, np.sqrt(low * high))
    alpha_start = np.where(np.logical_not(is_regular) & (alpha == 0.0), middle, alpha)

    def better(state: Any) -> Any:
        alpha, low, high, count, _ = state
        is_outside = (alpha < low) | (alpha > high)
        alpha = np.where(is_outside, np.fmax(0.001 * high, np.sqrt(low * high)), alpha)
        phi, slope = excess(alpha)
        high = np.where(phi < 0.0, alpha, high)
        ratio = phi / slope
        low = np.fmax(low, alpha - ratio)
        return alpha - (phi + radius) * ratio / radius, low, high, count + 1, np.abs(phi) < 0.01 * radius

    start = alpha_start, low, high, np.int64(0), is_newton
    alpha, *_ = while_loop(lambda state: (state[3] < 10) & ~state[4], better, start)
    damped = -((suf / (values**2 + alpha)) @ vectors)
    damped = damped * (radius / norm(damped))
    return np.where(is_newton, newton, damped), np.where(is_newton, 0.0, alpha)


def active_bounds(x: Any, lb: Any, ub: Any, rtol: Any) -> Any:
    """Which bounds are met: -1, 0 or 1."""
    lower, upper = x - lb, ub - x
    near_low = rtol * np.maximum(1.0, np.abs(np.where(np.isfinite(lb), lb, 0.0)))
    near_high = rtol * np.maximum(1.0, np.abs(np.where(np.isfinite(ub), ub, 0.0)))
    at_low = np.isfinite(lb) & (lower <= np.minimum(upper, near_low))
    at_high = np.isfinite(ub) & (upper <= np.minimum(lower, near_high))
    near = np.where(at_high, 1, np.where(at_low, -1, 0))
    return np.where(rtol == 0.0, np.where(x >= ub, 1, np.where(x <= lb, -1, 0)), near)


def strictly_inside(x: Any, lb: Any, ub: Any, rstep: float) -> Any:
    """Move a point off its bounds."""
    active = active_bounds(x, lb, ub, rstep)
    finite_lb, finite_ub = np.where(np.isfinite(lb), lb, 0.0), np.where(np.isfinite(ub), ub, 0.0)
    if rstep == 0.0:
        low, high = np.nextafter(lb, ub), np.nextafter(ub, lb)
    else:
        low = finite_lb + rstep * np.maximum(1.0, np.abs(finite_lb))
        high = finite_ub - rstep * np.maximum(1.0, np.abs(finite_ub))
    moved = np.where(active == -1, low, np.where(active == 1, high, x))
    return np.where((moved < lb) | (moved > ub), 0.5 * (finite_lb + finite_ub), moved)
