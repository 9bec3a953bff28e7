"""Sides of constraints that are known while tracing: which are equations, and which bound from below or above."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced


class Sides(NamedTuple):
    """Lower and upper sides, and the places of equations, of lower and of upper bounds."""

    lower: np.ndarray
    upper: np.ndarray
    equal: np.ndarray
    low: np.ndarray
    high: np.ndarray
    has_open: bool


def known_sides(lower: Any, upper: Any, length: int) -> Sides | None:
    """Return the sides of constraints, or None if they are not known."""
    if is_traced(lower) or is_traced(upper):
        return None
    lower, upper = (np.broadcast_to(np.asarray(each, dtype=np.float64), length) for each in (lower, upper))
    is_equal = lower == upper
    has_lower, has_upper = (lower != -np.inf) ^ is_equal, (upper != np.inf) ^ is_equal
    has_open = bool(np.any((lower == -np.inf) & (upper == np.inf)))
    equal, low, high = (np.nonzero(each)[0] for each in (is_equal, has_lower, has_upper))
    return Sides(lower, upper, equal, low, high, has_open)
