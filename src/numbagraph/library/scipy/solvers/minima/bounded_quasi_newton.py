"""Byrd's, Lu's, Nocedal's and Zhu's method ``L-BFGS-B``, as SciPy has it.

One loop evaluates the function, also at the start. What follows a finished search, the memory's update and the next
direction, is a branch.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated_number
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.minima.cauchy_point import Box, Cauchy, cauchy_point
from numbagraph.library.scipy.solvers.minima.limited_memory import Memory, cleared, empty, updated
from numbagraph.library.scipy.solvers.minima.line_search import Interval, Line, first_interval, minpack_trial
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import PRECISION, Evaluation, Objective, asked, evaluated
from numbagraph.library.scipy.solvers.minima.outcome import message_of, minimum
from numbagraph.library.scipy.solvers.minima.subspaces import newton_step, share_to_bound, subspace_minimum

MESSAGES = (
    "START: ",
    "CONVERGENCE: NORM OF PROJECTED GRADIENT <= PGTOL",
    "CONVERGENCE: RELATIVE REDUCTION OF F <= FACTR*EPSMCH",
    "STOP: TOTAL NO. OF ITERATIONS REACHED LIMIT",
    "STOP: TOTAL NO. OF F,G EVALUATIONS EXCEEDS LIMIT",
    "ABNORMAL: ",
)
DEPRECATED = (
    "scipy.optimize: The `disp` and `iprint` options of the L-BFGS-B solver are deprecated and will be removed in "
    "SciPy 1.18.0."
)
RUNNING, FLAT, SLOW, ITERATIONS, CALLS, ABNORMAL = range(len(MESSAGES))


class Ray(NamedTuple):
    """Where a search starts, with value and gradient, its aim, and the state of the search."""

    x: Any
    gradient: Any
    target: Any
    line: Line
    interval: Interval
    step: Any
    trials: Any


class State(NamedTuple):
    """The point to evaluate next, the last that was evaluated, the search and the memory, and what is counted."""

    point: Any
    last: Evaluation
    ray: Ray
    memory: Memory
    iterations: Any
    is_start: Any
    end: Any


class Point(NamedTuple):
    """A point with value and gradient, from which the next search starts."""

    x: Any
    value: Any
    gradient: Any


def lbfgsb(
    objective: Objective, x0: Any, box: Box | None, maxcor: int = 10, ftol: Any = 1e7 * PRECISION, gtol: Any = 1e-5,
    maxfun: Any = 15000, maxiter: Any = 15000, maxls: Any = 20, disp: Any = None, iprint: Any = None,
) -> Any:  # fmt: skip
    """Minimise by the method ``L-BFGS-B``, within a box if there is one."""
    if not maxls > 0:
        raise ValueError("maxls must be positive.")
    if disp is not None or iprint is not None:
        warnings.warn(DEPRECATED, DeprecationWarning, stacklevel=3)
    x = x0 if box is None else np.clip(x0, box.lower, box.upper)

    def iteration(old: State) -> State:
        last = asked(objective, evaluated(objective, old.point, old.last), np.bool_(True))
        if box is not None:
            last = last._replace(gradient=np.where(box.is_left_out, 0.0, last.gradient))
        ray = old.ray
        found = minpack_trial(ray.line, ray.interval, ray.step, last.value, np.dot(last.gradient, ray.target - ray.x))
        is_found = found.is_good | found.is_stuck | old.is_start
        is_failed = ~is_found & (ray.trials >= maxls)
        iterations = old.iterations + np.where(is_found & ~old.is_start, 1, 0)
        ended = ends(box, last, ray.line.value, iterations, old.is_start, (ftol, gtol, maxfun, maxiter))
        ended = np.where(is_found, ended, np.where(is_failed & (old.memory.count == 0), ABNORMAL, RUNNING))
        base = chosen(
            is_failed,
            Point(ray.x, ray.line.value, ray.gradient),
            Point(last.x, last.value, last.gradient),
        )
        memory = cleared(old.memory, is_failed)
        is_next = (is_found | is_failed) & (ended == RUNNING)

        def following() -> tuple[Any, Ray, Memory, Any]:
            new = remembered(base, memory, ray, is_found & ~old.is_start)
            return first_trial(box, base, new, iterations)

        def further() -> tuple[Any, Ray, Memory, Any]:
            moved = ray._replace(interval=found.interval, step=next_step(found.step), trials=ray.trials + 1)
            point = chosen(is_failed, base.x, chosen(is_found, last.x, point_at(box, moved)))
            kept = ray._replace(line=ray.line._replace(value=base.value), gradient=base.gradient)
            return point, chosen(is_found | is_failed, kept, moved), memory, ended

        point, next_ray, next_memory, end = cond(is_next, following, further)
        return State(point, last, next_ray, next_memory, iterations, np.bool_(False), end)

    found = while_loop(lambda state: state.end == RUNNING, iteration, start_at(x, maxcor))
    return outcome(objective, found, box, maxfun, maxiter)


def start_at(x: Any, rows: int) -> State:
    zero, count, one = np.float64(0.0), np.int64(0), np.float64(1.0)
    nowhere = np.full(len(x), np.nan)
    line = Line(zero, zero, 1e-3, 0.9, zero, one, one, 0.1)
    line = Line(*(np.float64(each) for each in line))
    last = Evaluation(nowhere, zero, nowhere, np.bool_(False), count, count)
    ray = Ray(x, nowhere, x, line, first_interval(line, one), one, count)
    return State(x, last, ray, empty(rows, len(x)), count, np.bool_(True), count)


def next_step(step: Any) -> Any:
    return np.where(np.isnan(step), 0.0, step)


def projected_size(box: Box | None, x: Any, gradient: Any) -> Any:
    """The largest element of the gradient, each of which is cut at the distance to the bound."""
    if box is None:
        return np.max(np.abs(gradient))
    cut = np.where(gradient < 0, np.maximum(x - box.upper, gradient), np.minimum(x - box.lower, gradient))
    return np.max(np.abs(cut))


def ends(
    box: Box | None, last: Evaluation, before: Any, iterations: Any, is_start: Any, limits: tuple[Any, Any, Any, Any]
) -> Any:
    """How the search ends at a point, if it does."""
    ftol, gtol, maxfun, maxiter = limits
    is_flat = projected_size(box, last.x, last.gradient) <= gtol
    scale = np.maximum(np.maximum(np.abs(before), np.abs(last.value)), 1.0)
    is_slow = ~is_start & (before - last.value <= ftol * scale)
    found = np.where(is_flat, FLAT, np.where(is_slow, SLOW, RUNNING))
    is_over = np.where(iterations >= maxiter, ITERATIONS, np.where(last.values > maxfun, CALLS, RUNNING))
    return np.where(~is_start & (is_over > 0), is_over, found)


def remembered(base: Point, memory: Memory, ray: Ray, is_asked: Any) -> Memory:
    """Return the memory with the last move, if it is asked and the gradient has changed enough along the move."""
    direction = ray.target - ray.x
    slope = np.dot(base.gradient, direction)
    product = (slope - ray.line.slope) * ray.step
    is_skipped = product <= PRECISION * -ray.line.slope * ray.step

    def new() -> Memory:
        return updated(memory, ray.step * direction, base.gradient - ray.gradient, product)

    return cond(is_asked & ~is_skipped, new, lambda: memory)


def target_of(box: Box | None, base: Point, memory: Memory) -> tuple[Any, Any]:
    """Return the point at which the model is least, and whether it could be found."""
    x, gradient = base.x, base.gradient
    if box is None:
        step, is_valid = newton_step(memory, -gradient, None)
        return x + step, is_valid
    cauchy = cauchy_point(box, memory, x, gradient)
    is_open = ~np.any(box.is_bounded) & (memory.count > 0)
    everywhere = Cauchy(x, np.zeros(len(memory.middle)), np.ones(len(x), dtype=bool))
    cauchy = chosen(is_open, everywhere, cauchy)
    return subspace_minimum(box, memory, x, gradient, cauchy)


class Aim(NamedTuple):
    """A target for the next search, the memory that gave it, and whether it is downhill."""

    target: Any
    memory: Memory
    is_valid: Any
    goes_on: Any


def first_trial(box: Box | None, base: Point, memory: Memory, iterations: Any) -> tuple[Any, Ray, Memory, Any]:
    """Return the first point of a search, its state, and the memory: an empty one where the present one misleads."""

    def step(old: Aim) -> Aim:
        target, is_valid = target_of(box, base, old.memory)
        is_valid = is_valid & ~(np.dot(base.gradient, target - base.x) >= 0)
        again = ~is_valid & (old.memory.count > 0)
        return Aim(target, cleared(old.memory, again), is_valid, again)

    aim = while_loop(lambda aim: aim.goes_on, step, Aim(base.x, memory, np.bool_(False), np.bool_(True)))
    direction = aim.target - base.x
    most = longest_step(box, base.x, direction, iterations)
    is_free_start = iterations == 0
    if box is not None:
        is_free_start = is_free_start & ~np.all(np.isfinite(box.lower) & np.isfinite(box.upper))
    step_length = np.where(is_free_start, np.fmin(1.0 / np.linalg.norm(direction), most), 1.0)
    wolfe = Line(base.value, np.dot(base.gradient, direction), 1e-3, 0.9, 0.0, most, most, 0.1)
    line = Line(*(np.float64(each) for each in wolfe))
    ray = Ray(base.x, base.gradient, aim.target, line, first_interval(line, step_length), step_length, np.int64(1))
    return point_at(box, ray), ray, aim.memory, np.where(aim.is_valid, RUNNING, ABNORMAL)


def longest_step(box: Box | None, x: Any, direction: Any, iterations: Any) -> Any:
    if box is None:
        return np.float64(1e10)
    most = np.where(iterations == 0, 1.0, np.min(share_to_bound(box, x, direction, 1e10)))
    return np.where(np.any(box.is_bounded), most, 1e10)


def point_at(box: Box | None, ray: Ray) -> Any:
    point = ray.step * (ray.target - ray.x) + ray.x
    if box is not None:
        point = np.minimum(np.maximum(point, box.lower), box.upper)
    return np.where(ray.step == 1.0, ray.target, point)


def outcome(objective: Objective, state: State, box: Box | None, maxfun: Any, maxiter: Any) -> Any:
    end, last, ray = state.end, state.last, state.ray
    is_limited = (last.values > maxfun) | (state.iterations >= maxiter)
    status = np.int64(np.where((end == FLAT) | (end == SLOW), 0, np.where(is_limited, 1, 2)))
    success = status == 0
    bounds = (None, None) if box is None else (box.lower, box.upper)
    is_back = end == ABNORMAL
    value = np.float64(np.where(is_back, ray.line.value, last.value))
    gradient = np.where(is_back, ray.gradient, last.gradient)
    x = minimum(objective, state.point, success, *bounds)
    if box is not None:
        gradient = np.where(box.is_left_out, np.nan, gradient)
    return result_of(
        OptimizeResult, fun=differentiated_number(value, objective.value(x)), jac=gradient, nfev=last.values,
        njev=last.gradients, nit=state.iterations, status=status, message=message_of(end, *MESSAGES), x=x,
        success=success,
    )  # fmt: skip
