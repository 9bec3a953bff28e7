"""Steps along a direction that make a residual smaller, by Armijo's rule and as SciPy shortens them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

FULL, FIRST, SECOND, CUBIC = (np.int64(stage) for stage in range(4))
"""The kinds of a trial: a step that is taken anyway, Newton's step, one by a parabola, one by a cubic."""
SHORTEST, DECREASE = 1e-2, 1e-4


class Search(NamedTuple):
    """A trial of the line search, and the two lengths with their squared norms before."""

    stage: Any
    s: Any
    s0: Any
    s1: Any
    square0: Any
    square1: Any


def first_search(stage: Any) -> Search:
    one, zero = np.float64(1.0), np.float64(0.0)
    return Search(stage, one, one, one, zero, zero)


def safe_square(f: Any) -> Any:
    return np.where(np.all(np.isfinite(f)), np.sum(f * f), np.inf)


def backtracked(old: Search, start: Any, square: Any) -> tuple[Any, Search]:
    """Return whether a trial is taken, and the next one by Armijo's backtracking."""
    stage, s, s0, s1, square0, square1 = old
    is_taken = (stage == FULL) | (square <= start - DECREASE * s * start)
    by_parabola = s**2 * start / 2.0 / (square - start + start * s)
    is_cubic = stage == CUBIC
    shorter = np.where(is_cubic & (((s1 - s) > s1 / 2.0) | ((1 - s / s1) < 0.96)), s1 / 2.0, s)
    s0, square0 = (
        np.where(stage == FIRST, s, np.where(is_cubic, s1, s0)),
        np.where(stage == FIRST, square, np.where(is_cubic, square1, square0)),
    )
    s1, square1 = shorter, square
    rest0, rest1 = square0 - start + start * s0, square1 - start + start * s1
    factor = s0**2 * s1**2 * (s1 - s0)
    a = (s0**2 * rest1 - s1**2 * rest0) / factor
    b = (-(s0**3) * rest1 + s1**3 * rest0) / factor
    by_cubic = (-b + np.sqrt(np.abs(b**2 + 3 * a * start))) / (3.0 * a)
    is_first, goes_on = stage == FIRST, s1 > SHORTEST
    after = np.where(is_first, by_parabola, np.where(goes_on, by_cubic, 1.0))
    next_stage = np.where(is_first, SECOND, np.where(goes_on, CUBIC, FULL))
    return is_taken, Search(next_stage, after, s0, s1, square0, square1)
