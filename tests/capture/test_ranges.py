"""Ranges of traced numbers have as many elements as Python's, also where distances or steps leave int64."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng

MOST, LEAST = sys.maxsize, -sys.maxsize - 1
X = np.arange(8.0)


def counted(start: int, stop: int, step: int) -> Any:
    count, last = 0, 0
    for i in range(start, stop, step):
        count += 1
        last = i
    return count, last


def up_far(start: int, stop: int, _: int) -> Any:
    count, last = 0, 0
    for i in range(start, stop, 2**62):
        count += 1
        last = i
    return count, last


def down_far(start: int, stop: int, _: int) -> Any:
    count, last = 0, 0
    for i in range(start, stop, -(2**62)):
        count += 1
        last = i
    return count, last


def threes(start: int, stop: int, _: int) -> Any:
    count, last = 0, 0
    for i in range(start, stop, 3):
        count += 1
        last = i
        if count > 5:
            break
    return count, last


BOUNDS = [
    (0, 8, 3),
    (8, 0, -3),
    (5, 5, LEAST),
    (0, 8, MOST),
    (7, LEAST, LEAST),
    (0, MOST, 2**62),
    (-5, MOST, 2**62),
    (LEAST, MOST, 2**62),
    (LEAST, MOST, MOST),
    (MOST, LEAST, LEAST),
    (MOST, LEAST, -(2**62)),
    (5, LEAST, -(2**62)),
    (MOST, LEAST, 2**62),
]


@pytest.mark.parametrize("function", [counted, up_far, down_far, threes], ids=lambda each: each.__name__)
def test_number_of_elements(function: Callable[..., Any]) -> None:
    compiled = ng.graph_jit(function)
    for bounds in BOUNDS:
        assert tuple(map(int, compiled(*bounds))) == function(*bounds), bounds


def until_fourth(start: int, stop: int) -> Any:
    count = 0
    for _ in range(start, stop):
        count += 1
        if count > 3:
            break
    return count


def until_fourth_back(start: int, stop: int) -> Any:
    count = 0
    for _ in range(start, stop, -1):
        count += 1
        if count > 3:
            break
    return count


def test_distances_beyond_int64_are_errors() -> None:
    """Where steps are 1 apart, the distance is a number of Python's in all that follows."""
    for function, bounds in ((until_fourth, (-5, MOST)), (until_fourth_back, (MOST, -5))):
        compiled = ng.graph_jit(function)
        assert int(compiled(*sorted((0, 9), reverse=function is until_fourth_back))) == 4
        with pytest.raises(OverflowError, match="leaves int64"):
            compiled(*bounds)


def strided(x: Any, n: int, step: int) -> Any:
    s = 0.0
    for i in range(0, n, step):
        s += x[i]
    return s


def test_elements_at_the_ends() -> None:
    compiled = ng.graph_jit(strided)
    for n, step in ((8, 3), (8, MOST), (8, 8), (0, MOST)):
        assert compiled(X, n, step) == strided(X, n, step)
    with pytest.raises(IndexError, match=str(2**62)):
        compiled(X, MOST, 2**62)


def far_condition(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(n):
        if i + 1 < 2**62 + n:
            s += x[i + 1]
    return s


def far_sum(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(n):
        s += x[(i + (MOST - 20)) % 8] + x[i]
    return s


@pytest.mark.parametrize("function", [far_condition, far_sum], ids=lambda each: each.__name__)
def test_conditions_on_large_numbers(function: Callable[..., Any]) -> None:
    """What is asked before a loop compares no numbers that leave int64; such checks stay in the loop."""
    compiled = ng.graph_jit(function)
    for n in (0, 3, 7):
        assert compiled(X, n) == function(X, n)
    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        compiled(X, 9)


def numbered(x: Any, first: int) -> Any:
    last = 0
    for i, each in enumerate(x, first):
        if each > 0:
            last = i
    return last


def test_numbers_of_enumerations() -> None:
    compiled = ng.graph_jit(numbered)
    for first in (0, -3, 2**62, LEAST, MOST - 8):
        assert int(compiled(X, first)) == numbered(X, first)
    with pytest.raises(OverflowError, match="leaves int64"):
        compiled(X, MOST - 3)
