"""The minimum of a quadratic model of limited memory in the space of the variables that are not at a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.solvers.minima.cauchy_point import Box, Cauchy
from numbagraph.library.scipy.solvers.minima.limited_memory import (
    Memory,
    blocks_of,
    cholesky_factor,
    combination,
    coordinates,
    scales,
    size_of,
    through_middle,
    triangular_solution,
    unused,
)


def reduced_factor(memory: Memory, is_free: Any | None) -> Any:
    """Return the triangular factor of the reduced system. ``is_free`` is None if all variables are free."""
    size = size_of(memory)
    bound_rows = None if is_free is None else np.where(is_free, 0.0, memory.rows)
    bound = np.zeros_like(memory.gram) if bound_rows is None else np.dot(bound_rows, bound_rows.T)
    at_bound, free = blocks_of(memory, bound), blocks_of(memory, memory.gram - bound)
    diagonal = np.diag(np.diagonal(free.sy + at_bound.sy)) + unused(memory)
    mixed = np.triu(free.sy) - np.tril(at_bound.sy, -1)
    first = cholesky_factor(diagonal + free.yy / memory.theta)
    between = triangular_solution(first, mixed.T)
    second = cholesky_factor(memory.theta * at_bound.ss + np.dot(between.T, between) + unused(memory))
    above = np.concatenate((first, np.zeros((size, size))), axis=1)
    return np.concatenate((above, np.concatenate((between.T, second), axis=1)))


def newton_step(memory: Memory, residual: Any, is_free: Any | None) -> tuple[Any, Any]:
    """Solve for the step of the free variables. Return whether the system is positive definite, too."""
    factor = reduced_factor(memory, is_free)
    right = triangular_solution(factor, coordinates(memory, residual))
    is_change = np.arange(2 * size_of(memory)) < size_of(memory)
    found = triangular_solution(factor.T, np.where(is_change, -right, right), lower=False)
    step = residual + combination(memory, np.where(is_change, found / memory.theta, found))
    return step / memory.theta, np.all(np.isfinite(factor))


def residual_at(memory: Memory, x: Any, gradient: Any, cauchy: Cauchy) -> Any:
    """The negative gradient of the model at the Cauchy point, in the space of the free variables."""
    moved = combination(memory, scales(memory) * through_middle(memory, cauchy.distance))
    return np.where(cauchy.is_free, moved - memory.theta * (cauchy.x - x) - gradient, 0.0)


def subspace_minimum(box: Box, memory: Memory, x: Any, gradient: Any, cauchy: Cauchy) -> tuple[Any, Any]:
    """Return the minimum, within bounds, and whether it could be found."""
    is_free = cauchy.is_free
    step, is_definite = newton_step(memory, residual_at(memory, x, gradient, cauchy), is_free)
    step = np.where(is_free, step, 0.0)
    projected = np.where(is_free, np.minimum(np.maximum(cauchy.x + step, box.lower), box.upper), cauchy.x)
    is_met = is_free & ((projected == box.lower) | (projected == box.upper))
    is_uphill = np.any(is_met) & (np.dot(projected - x, gradient) > 0)
    point = np.where(is_uphill, cut_short(box, cauchy.x, step), projected)
    return np.where(memory.count == 0, cauchy.x, point), is_definite | (memory.count == 0) | ~np.any(is_free)


def share_to_bound(box: Box, x: Any, step: Any, longest: Any) -> Any:
    """How much of a step each variable can make until it meets a bound, at most ``longest``."""
    gap = np.where(step > 0, box.upper, box.lower) - x
    is_at_bound = np.where(step > 0, gap <= 0, gap >= 0)
    is_cut = (step != 0) & (np.abs(step * longest) > np.abs(gap))
    return np.where((step != 0) & is_at_bound, 0.0, np.where(is_cut, gap / step, longest))


def cut_short(box: Box, x: Any, step: Any) -> Any:
    """Return the point at which a step meets the first bound."""
    shares = share_to_bound(box, x, step, 1.0)
    share = np.min(shares)
    is_first = (np.arange(len(x)) == np.argmin(shares)) & (share < 1.0)
    return np.where(is_first, np.where(step > 0, box.upper, box.lower), x + share * step)
