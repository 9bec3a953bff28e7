"""Backward differences of a solution at times of equal distance, as backward differentiation formulas keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate._ivp import bdf as known

HIGHEST = known.MAX_ORDER
NUMBERS = np.arange(HIGHEST + 3)[:, None]
UNIT = known.compute_R(HIGHEST, 1)


def predicted(differences: Any, order: Any) -> Any:
    """The state after one more step, by the polynomial of the differences."""
    return added(np.where(order >= NUMBERS, differences, 0.0), HIGHEST + 3)


def scaled_slope(differences: Any, order: Any, weights: np.ndarray[Any, Any]) -> Any:
    """The sum of the differences of a state up to an order, each times its weight."""
    known = np.where(NUMBERS[: HIGHEST + 1] <= order, differences[: HIGHEST + 1], 0.0)
    return added(weights[:, None] * known, HIGHEST + 1)


def added(terms: Any, count: int) -> Any:
    """The sum of the rows, one after another: a sum of NumPy's rounds as the loops around it let it, and a pass that is
    repeated for a derivative must take the same steps."""
    found = terms[0]
    for number in range(1, count):
        found = found + terms[number]
    return found


def updated(differences: Any, order: Any, change: Any) -> Any:
    """The differences after a step, of which the one after the order's last is ``change``."""
    after = np.where(order + 1 == NUMBERS, change, 0.0)
    sums = np.flip(np.cumsum(np.flip(np.where(order >= NUMBERS, differences, after), 0), axis=0), 0)
    more = np.where(order + 2 == NUMBERS, change - differences[order + 1], differences)
    return np.where(order + 1 >= NUMBERS, sums, more)


def changed(differences: Any, order: Any, factor: Any) -> Any:
    """The differences of the same polynomial, for steps that are longer by a factor."""
    used = NUMBERS[: HIGHEST + 1] <= order
    low = differences[: HIGHEST + 1]
    rows = rows_of(factor)
    weights = np.where(used, added(rows.T[:, :, None] * UNIT[:, None], HIGHEST + 1), 0.0)
    low = np.where(used, added(weights[:, :, None] * low[:, None], HIGHEST + 1), low)
    return np.concatenate([low, differences[HIGHEST + 1 :]])


def rows_of(factor: Any) -> Any:
    """The matrix of `scipy.integrate._ivp.bdf.compute_R`."""
    number = np.arange(1, HIGHEST + 1)
    quotients = (number[:, None] - 1 - factor * number) / number[:, None]
    rows = np.concatenate([np.zeros((HIGHEST, 1)), quotients], axis=1)
    return np.cumprod(np.concatenate([np.ones((1, HIGHEST + 1)), rows]), axis=0)
