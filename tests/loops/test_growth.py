"""Integers of Python that a loop adds up are not asked in each step whether they leave int64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ir.values import Node, toposort
from numbagraph.loops.versions import versions


def of_bytes(data: Any, start: int) -> Any:
    total = start
    for i in range(len(data)):
        total += int(data[i])
    return total


def of_sums(data: Any, start: int) -> Any:
    low = high = start
    for i in range(len(data)):
        low += int(data[i])
        high += low
    return high


def with_remainders(data: Any, start: int) -> Any:
    low, high, since = start, 0, 0
    for i in range(len(data)):
        low += int(data[i])
        high += low
        since += 1
        if since == 3:
            low %= 251
            high %= 251
            since = 0
    return low, high


def set_anew(data: Any, start: int) -> Any:
    total = start
    for i in range(len(data)):
        total = total - i if data[i] > 100 else int(data[i])
    return total


def of_positions(data: Any, start: int) -> Any:
    total = start
    for i in range(len(data)):
        total += i
    return total


def doubled(data: Any, start: int) -> Any:
    """No bound follows from the number of steps."""
    total = start
    for i in range(len(data)):
        total += total + int(data[i])
    return total


def fibonacci(data: Any, start: int) -> Any:
    one, two = start, 1
    for _ in range(len(data)):
        one, two = two, one + two
    return one


GROWING = [of_bytes, of_sums, with_remainders, set_anew, of_positions]
FUNCTIONS = [*GROWING, doubled, fibonacci]
STARTS = [0, 7, -3, 2**40, 2**40 + 1, -(2**41), 2**62, 2**63 - 300, 2**63 - 1, -(2**63)]


def expected(function: Any, data: Any, start: int) -> Any:
    """What Python finds, if no integer on the way leaves int64."""
    found = function(data, start)
    numbers = found if isinstance(found, tuple) else (found,)
    return found if all(-(2**63) <= each < 2**63 for each in numbers) else OverflowError


@pytest.mark.parametrize("function", FUNCTIONS, ids=[each.__name__ for each in FUNCTIONS])
def test_sums_are_those_of_python_or_an_error(function: Any) -> None:
    compiled, rng = ng.graph_jit(function), np.random.default_rng(0)
    for length in (0, 1, 2, 3, 60, 95):
        data = rng.integers(0, 256, length, dtype=np.uint8)
        for start in STARTS:
            wanted = expected(function, data, start)
            if wanted is OverflowError:
                with pytest.raises(OverflowError):
                    compiled(data, start)
                continue
            try:
                assert compiled(data, start) == wanted
            except OverflowError:  # a sum on the way was larger than the last one
                assert abs(start) >= 2**62 or function in (doubled, fibonacci)


@pytest.mark.parametrize("function", GROWING, ids=[each.__name__ for each in GROWING])
def test_steps_ask_nothing(function: Any) -> None:
    (*_, final) = ng.graph_jit(function).stages(np.ones(9, np.uint8), 3).values()
    loops = {each for each in toposort(final.outputs) if isinstance(each, Node) and each.op.name == "scan"}
    found = [versions(each) for each in loops]
    assert found
    assert [each is not None and each.body.guards for each in found] == [()] * len(found)
