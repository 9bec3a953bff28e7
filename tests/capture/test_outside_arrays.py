"""Arrays of enclosing scopes that loops and branches choose: the result is read, and an assignment to it is refused."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit

HELD = SimpleNamespace(first=np.arange(3.0), second=np.arange(3.0) + 5)


def bound_by_a_loop(b, n):
    a = b.copy()
    for _ in range(n):
        a = HELD.first
    return a


def bound_while(b, n):
    a = b.copy()
    while n > 0:
        a, n = HELD.first, n - 1
    return a


def passed_on(b, n):
    a, kept = b.copy(), b.copy()
    for _ in range(n):
        a, kept = kept, HELD.second
    return a


def a_view(b, n):
    a = b.copy()
    for _ in range(n):
        a = HELD.first[:2]
    return a


def in_a_list(b, n):
    held = [b, b]
    for _ in range(n):
        held = [HELD.first, b]
    return held[0]


def of_two(b, n):
    return HELD.first if b[0] > 0 else HELD.second


def in_one_branch(b, n):
    a = HELD.first
    if n > 2:
        a = a + b.sum()
    return a


def before_a_while_loop(b, n):
    a = HELD.second
    while a[0] < n:
        a = a * 2 + b.sum()
    return a


WAYS = (bound_by_a_loop, bound_while, passed_on, a_view, in_a_list, of_two, in_one_branch, before_a_while_loop)


@pytest.mark.parametrize("length", [3, 2])
@pytest.mark.parametrize("way", WAYS)
def test_they_are_read_and_not_written(way, length):
    def writes(b, n):
        a = way(b, n)
        a[0] = 7.0
        return a

    given, before = np.ones(length), (HELD.first.copy(), HELD.second.copy())
    for steps in (3, 4):
        np.testing.assert_array_equal(graph_jit(way)(given, steps), way(given, steps))
        with pytest.raises(TypeError, match="an array of an enclosing scope would change data outside"):
            graph_jit(writes)(given, steps)
    np.testing.assert_array_equal((HELD.first, HELD.second), before)


def test_a_loop_that_takes_no_step_leaves_them():
    def function(b, n):
        a = HELD.first
        for _ in range(n):
            a = a + b
        a[0] = 7.0
        return a

    compiled: Any = graph_jit(function)
    np.testing.assert_array_equal(compiled(np.ones(3), 2), [7.0, 3.0, 4.0])
    with pytest.raises(TypeError, match="took no step, where it still is the array from before"):
        compiled(np.ones(3), 0)
    np.testing.assert_array_equal(HELD.first, np.arange(3.0))
