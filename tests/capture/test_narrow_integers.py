"""Integers of Python that meet a narrow integer of NumPy where paths or steps end: they are required to fit where they
are used, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng


def branch(n: Any, x: Any) -> Any:
    y = x[0] if x[1] > 3 else n * 2**30
    return np.array([y])


def after_a_branch(n: Any, x: Any) -> Any:
    if x[0] > 3:
        y = x[0]
    else:
        y = n * 2**30
    return np.array([y])


def branch_in_a_loop(n: Any, x: Any) -> Any:
    y = x[0]
    for i in range(3):
        y = y if x[i] > 3 else n * 2**30
    return np.array([y])


def loop(n: Any, x: Any) -> Any:
    y = x[0]
    for i in range(n):
        if x[i] > 3:
            break
        y = (i + 1) * 2**30
    return np.array([y])


def steps(n: Any, x: Any) -> Any:
    y = x[0]
    for i in range(n):
        y = min(i, 1) * (2**30 if x[0] > 3 else 2**31)
    return np.array([y])


def until(n: Any, x: Any) -> Any:
    y = x[0]
    while y < n:
        y = int(y) + 2**30
    return np.array([y])


def appended(n: Any, x: Any) -> Any:
    found = [x[0]]
    for i in range(n):
        found.append(i * 2**30)
    return np.array(found, dtype=x.dtype)


def roots(n: Any, x: Any) -> Any:
    parent = [0, 0]
    for i in range(n):
        parent.append(i // 2)
    for i in range(x.size):
        root = x[i] % 2
        while parent[root] != root:
            root = parent[root]
        x[i] = root
    return x.copy()


def cond(n: Any, x: Any) -> Any:
    return np.array([ng.cond(x[0] > 3, lambda: x[0], lambda: n * 2**30)])


def fori_loop(n: Any, x: Any) -> Any:
    return np.array([ng.fori_loop(0, n, lambda i, _: i * 2**30, x[0])])


def while_loop(n: Any, x: Any) -> Any:
    return np.array([ng.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[0] * 2**30), (0, x[0]))[1]])


CAPTURED = (branch, after_a_branch, branch_in_a_loop, loop, steps, until, appended, roots)
CASES = [(each, dtype) for each in (*CAPTURED, cond) for dtype in ("uint8", "int32", "int64")]
CASES += [(each, dtype) for each in (fori_loop, while_loop) for dtype in ("int32", "int64")]


@pytest.mark.parametrize(("function", "dtype"), CASES)
def test_numbers_meet(function: Callable[..., Any], dtype: str) -> None:
    """The values are Python's, or an error where one of them that is used does not fit."""
    compiled = ng.graph_jit(function)
    fitting = 0
    for n in (0, 1, 2, 5):
        for first in (1, 9):
            given, changed = (np.array([first, 9, 2], dtype) for _ in range(2))
            try:
                expected = function(n, changed)
                fits = np.array_equal(expected.astype(dtype), expected)
            except OverflowError:
                fits = False
            if fits:
                np.testing.assert_array_equal(compiled(n, given), expected)
                np.testing.assert_array_equal(given, changed)
                fitting += 1
            else:
                with pytest.raises(OverflowError, match=f"out of bounds for {dtype}"):
                    compiled(n, given)
    assert fitting


BEYOND = [2**40, -(2**40), 300, -1, 0, 2**63 - 1, -(2**63), 2**70, -(2**70)]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("function", [min, max])
def test_extremes_of_integers_beyond_a_dtype(dtype, function):
    """The value is Python's. Of a number that is known at run time, one that is none of the dtype must not win."""
    limits = np.iinfo(dtype)
    for big in BEYOND:
        known = [ng.graph_jit(each) for each in (with_constant(function, big), behind_constant(function, big))]
        given = ng.graph_jit(lambda x, n: function(n, x[0]))
        for element in (limits.min, 0, limits.max):
            array = np.array([element], dtype)
            expected = int(function(element, big))
            assert [int(each(array)) for each in known] == [expected, expected]
            if dtype is np.uint64 and expected < 0:
                if big >= -(2**63):
                    with pytest.raises(OverflowError):
                        given(array, big)
            elif -(2**63) <= big < 2**63:
                assert int(given(array, big)) == expected


def with_constant(function, big):
    return lambda x: function(x[0], big)


def behind_constant(function, big):
    return lambda x: function(big, x[0])
