"""The generalised Cauchy point: the first minimum of a quadratic model along the projected steepest descent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.limited_memory import Memory, coordinates, is_used, scales, through_middle
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import PRECISION


class Box(NamedTuple):
    """Lower and upper bounds, infinite where there are none, and which variables the search leaves out."""

    lower: Any
    upper: Any
    is_left_out: Any

    @property
    def is_bounded(self) -> Any:
        return (np.isfinite(self.lower) | np.isfinite(self.upper)) & ~self.is_left_out


class Cauchy(NamedTuple):
    """The point, its distance in terms of the memory, and which variables are not at a bound there."""

    x: Any
    distance: Any
    is_free: Any


class Segments(NamedTuple):
    """The state of the search through the segments between points at which variables meet a bound.

    ``first`` and ``second`` are the model's derivatives along the path, ``rest`` is how far its minimum is ahead, and p
    and c are the direction and the distance in terms of the memory.
    """

    passed: Any
    time: Any
    first: Any
    second: Any
    rest: Any
    p: Any
    c: Any
    is_done: Any


def descent(box: Box, x: Any, gradient: Any) -> tuple[Any, Any]:
    """Return the direction of steepest descent within bounds, and which variables stay at a bound."""
    is_low, is_high = x <= box.lower, x >= box.upper
    stays = np.where(is_low, gradient >= 0, is_high & (gradient <= 0)) | (box.lower >= box.upper)
    return np.where(stays, 0.0, -gradient), stays


def cauchy_point(box: Box, memory: Memory, x: Any, gradient: Any) -> Cauchy:
    direction, stays = descent(box, x, gradient)
    theta = memory.theta
    bounds = np.where(direction > 0, box.upper, box.lower)
    times = np.where(direction == 0, np.inf, (bounds - x) / direction)
    order = np.argsort(times)
    count = np.sum(np.isfinite(times))
    is_bounded = np.all(np.isfinite(times) | (direction == 0))
    first = -np.dot(direction, direction)
    p = coordinates(memory, direction)
    least = -PRECISION * theta * first
    second = -theta * first - np.dot(through_middle(memory, p), p)
    used, factors = is_used(memory), scales(memory)

    def step(old: Segments) -> Segments:
        i = order[old.passed]
        ahead = times[i] - old.time
        pace = direction[i]
        c = old.c + ahead * old.p
        row = np.where(used, factors * memory.rows[:, i], 0.0)
        weighted = through_middle(memory, row)
        first = (
            old.first + ahead * old.second + pace**2 - theta * pace * (bounds[i] - x[i]) + pace * np.dot(c, weighted)
        )
        second = old.second - theta * pace**2 + 2.0 * pace * np.dot(old.p, weighted) - pace**2 * np.dot(row, weighted)
        second = np.maximum(least, second)
        passed = old.passed + 1
        rest = np.where((passed == count) & is_bounded, 0.0, -first / second)
        is_here = old.rest < ahead
        new = Segments(passed, times[i], first, second, rest, old.p - pace * row, c, is_here)
        return chosen(is_here, old._replace(is_done=is_here), new)

    zero, no = np.float64(0.0), np.bool_(False)
    rest = np.where(first == 0, 0.0, -first / second)
    start = Segments(np.int64(0), zero, first, second, rest, p, np.zeros(len(p)), no)
    found = while_loop(lambda state: ~state.is_done & (state.passed < count), step, start)
    rest = np.fmax(found.rest, 0.0)
    is_passed = np.argsort(order) < found.passed
    point = np.where(is_passed, bounds, x + (found.time + rest) * direction)
    return Cauchy(point, found.c + rest * found.p, ~stays & ~is_passed)
