"""Sorts few numbers by exchanges that are written out: in vector code, element by element of several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_EXCHANGED = 9
"""The largest number of numbers that are sorted in this way."""


def of_rank(numbers: list[Any], rank: int) -> Any:
    """Return the number of some rank, counted from the smallest. Numbers beyond it, on the side where there are fewer,
    are moved to that end."""
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
    """Return two numbers in `numpy.sort`'s order, in which NaN is the last."""
    is_larger = (other < one) | (one != one)
    return np.where(is_larger, other, one), np.where(is_larger, one, other)
