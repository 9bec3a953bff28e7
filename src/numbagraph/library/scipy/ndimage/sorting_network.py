"""Few numbers are sorted by exchanges that are written out: in vector code, element by element of several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_EXCHANGED = 9
"""How many numbers are."""


def of_rank(numbers: list[Any], rank: int) -> Any:
    """The number of some rank among as many, counted from the smallest: those beyond it, on the side where there are
    fewer, go to their end."""
    count = len(numbers)
    numbers = list(numbers)
    if rank >= count // 2:
        for last in range(count - 1, rank - 1, -1):
            for k in range(last):
                numbers[k : k + 2] = exchanged(*numbers[k : k + 2])
    else:
        for first in range(rank + 1):
            for k in range(count - 2, first - 1, -1):
                numbers[k : k + 2] = exchanged(*numbers[k : k + 2])
    return numbers[rank]


def exchanged(one: Any, other: Any) -> tuple[Any, Any]:
    """In the order that `numpy.sort` has, of which NaN is the last."""
    is_larger = (other < one) | (one != one)
    return np.where(is_larger, other, one), np.where(is_larger, one, other)
