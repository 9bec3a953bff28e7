"""Newton's steps that are damped until they end at a radius, as SciPy's nearly exact trust region has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from numbagraph.api.loops import fori_loop, while_loop
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import PRECISION
from numbagraph.library.scipy.solvers.minima.trust_region import Model, Proposal, to_radius

EASY, HARD, UPDATE = 0.1, 0.2, 0.01


class Damping(NamedTuple):
    """The damping between its limits, the factor of the damped Hessian, and the step.

    Of a damping on trial the factor only has to exist: SciPy goes on with that of the damping before."""

    value: Any
    low: Any
    high: Any
    factor: Any
    failed: Any
    is_trial: Any
    step: Any
    is_at_radius: Any
    count: Any
    is_done: Any


def damped(model: Model, radius: Any, maxiter: Any = 25) -> Proposal:
    """Minimise the model within a radius by Moré's and Sorensen's iteration."""
    hessian, gradient = model.hessian, model.gradient
    n = len(gradient)
    size = np.linalg.norm(gradient)
    is_flat = size <= n * PRECISION * np.max(np.sum(np.abs(hessian), axis=1))

    def step(old: Damping) -> Damping:
        matrix = hessian + old.value * np.eye(n)
        factor, failed = cholesky(matrix)
        low = np.maximum(old.low, old.value)
        rejected = old._replace(low=low, value=between(low, old.high), is_trial=np.bool_(False))
        is_rejected = old.is_trial & (failed != 0)
        factor, failed = chosen(old.is_trial, (old.factor, old.failed), (factor, failed))
        old = old._replace(factor=factor, failed=failed, is_trial=np.bool_(False), count=old.count + 1)
        regular = np.where(failed == 0, factor, np.eye(n))
        smallest, direction = smallest_singular_value(regular)
        solved = newton(old, matrix, gradient, regular, smallest, direction, radius)
        flat = along_the_flattest(old, smallest, direction, radius)
        new = chosen(failed != 0, raised(old, matrix), chosen(is_flat, flat, solved))
        return chosen(is_rejected, rejected, new)

    none, no = np.int64(0), np.bool_(False)
    value, low, high = first_damping(model, size, radius)
    start = Damping(value, low, high, np.eye(n), none, no, np.zeros(n), np.bool_(True), none, no)
    found = while_loop(lambda state: ~state.is_done & (state.count < maxiter), step, start)
    kept = model._replace(radius=radius, damping=found.low)
    return Proposal(found.step, found.is_at_radius, np.bool_(True), kept)


def first_damping(model: Model, size: Any, radius: Any) -> tuple[Any, Any, Any]:
    """Return the damping to begin with and its limits, by Gershgorin's discs and the last radius of the same model."""
    hessian = model.hessian
    diagonal, sums = np.diag(hessian), np.sum(np.abs(hessian), axis=1)
    least, most = np.min(diagonal + np.abs(diagonal) - sums), np.max(diagonal - np.abs(diagonal) + sums)
    norm = np.minimum(np.sqrt(np.sum(hessian * hessian)), np.max(sums))
    high = np.maximum(0.0, size / radius + np.minimum(-least, norm))
    low = np.maximum(np.maximum(0.0, -np.min(diagonal)), size / radius - np.minimum(most, norm))
    low = np.where(radius < model.radius, np.maximum(model.damping, low), low)
    return np.where(low == 0.0, 0.0, between(low, high)), low, high


def between(low: Any, high: Any) -> Any:
    return np.maximum(np.sqrt(np.abs(low * high)), low + UPDATE * (high - low))


def newton(
    old: Damping, matrix: Any, gradient: Any, factor: Any, smallest: Any, direction: Any, radius: Any
) -> Damping:
    """Return the state after the step of a Hessian that has a factor."""
    p = solve_triangular(factor, solve_triangular(factor, -gradient, trans=1))
    length = np.linalg.norm(p)
    other = np.linalg.norm(solve_triangular(factor, p, trans=1))
    value = old.value + (length / other) ** 2 * (length - radius) / radius
    is_newton = (length <= radius) & (old.value == 0.0)
    back, ahead = to_radius(p, direction, radius)
    rest = np.where(np.abs(ahead) < np.abs(back), ahead, back)
    curvature = np.dot(p, np.dot(matrix, p))
    error = rest**2 * smallest**2 / (curvature + old.value * radius**2)
    low = np.maximum(old.low, old.value - smallest**2)
    inside = old._replace(value=value, low=low, high=old.value, step=p, is_trial=np.bool_(True))
    inside = chosen(error <= HARD, old._replace(step=p + rest * direction, is_done=np.bool_(True)), inside)
    is_near = np.abs(length - radius) / radius <= EASY
    outside = old._replace(value=value, low=old.value, step=p)
    outside = chosen(is_near, old._replace(step=p, is_done=np.bool_(True)), outside)
    ended = old._replace(step=p, is_at_radius=np.bool_(False), is_done=np.bool_(True))
    return chosen(is_newton, ended, chosen(length < radius, inside, outside))


def along_the_flattest(old: Damping, smallest: Any, direction: Any, radius: Any) -> Damping:
    """Return the state after the step where the gradient vanishes: along the direction of least curvature."""
    is_done = radius**2 * smallest**2 <= HARD * old.value * radius**2
    low = np.maximum(old.low, old.value - smallest**2)
    moved = old._replace(step=radius * direction, low=low, high=old.value, value=between(low, old.value))
    ended = old._replace(step=radius * direction, is_done=np.bool_(True))
    nothing = old._replace(step=0.0 * direction, is_at_radius=np.bool_(False), is_done=np.bool_(True))
    return chosen(old.value == 0.0, nothing, chosen(is_done, ended, moved))


def raised(old: Damping, matrix: Any) -> Damping:
    """Return the state with a larger damping: the Hessian's leading part with the number ``failed`` is not positive."""
    places, k = np.arange(len(matrix)), old.failed - 1
    column = np.where(places < k, old.factor[:, np.maximum(k, 0)], 0.0)
    delta = np.sum(column**2) - matrix[np.maximum(k, 0), np.maximum(k, 0)]
    is_part = (places < k)[:, np.newaxis] & (places < k)
    v = solve_triangular(np.where(is_part, old.factor, np.eye(len(matrix))), -column)
    v = np.where(places == k, 1.0, v)
    low = np.maximum(old.low, old.value + delta / np.dot(v, v))
    return old._replace(low=low, value=between(low, old.high))


def cholesky(matrix: Any) -> tuple[Any, Any]:
    """Return the upper factor, and 0 or the number of the first leading part that is not positive definite.

    Of what is not positive definite the factor has the rows before, so also the column of that number."""
    n = len(matrix)
    places = np.arange(n)

    def step(j: Any, state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        rest, factor, failed = state
        pivot = rest[j, j]
        failed = np.where((failed == 0) & ~(pivot > 0.0), j + 1, failed)
        row = np.where((places >= j) & (failed == 0), rest[j] / np.sqrt(np.where(failed == 0, pivot, 1.0)), 0.0)
        return rest - np.outer(row, row), np.where((places == j)[:, np.newaxis], row, factor), failed

    _, factor, failed = fori_loop(0, n, step, (matrix, np.zeros((n, n)), np.int64(0)))
    return factor, failed


def smallest_singular_value(factor: Any) -> tuple[Any, Any]:
    """Return Cline's estimate of the smallest singular value of an upper triangle, and its right vector."""
    n = len(factor)
    places = np.arange(n)

    def step(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        sums, w = state
        row, is_later = factor[k], places > k
        plus, minus = (1.0 - sums[k]) / row[k], (-1.0 - sums[k]) / row[k]
        after, other = np.where(is_later, sums + row * plus, 0.0), np.where(is_later, sums + row * minus, 0.0)
        is_plus = np.abs(plus) + np.sum(np.abs(after)) >= np.abs(minus) + np.sum(np.abs(other))
        sums = np.where(is_later, np.where(is_plus, after, other), sums)
        return sums, np.where(places == k, np.where(is_plus, plus, minus), w)

    _, w = fori_loop(0, n, step, (np.zeros(n), np.zeros(n)))
    v = solve_triangular(factor, w)
    length = np.linalg.norm(v)
    return np.linalg.norm(w) / length, v / length
