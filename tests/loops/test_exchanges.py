"""Arrays that change places in a loop are not copied: each step passes on where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbagraph as ng


def smoothed(a: Any, b: Any) -> None:
    for i in range(1, len(a) - 1):
        b[i] = a[i - 1] + 0.5 * a[i + 1] + 0.125 * b[i]


def two(u: Any, v: Any, _: Any, steps: int) -> Any:
    a, b = u.copy(), v.copy()
    for _ in range(steps):
        smoothed(a, b)
        a, b = b, a
    return a, b


def one_of_two(u: Any, v: Any, w: Any, steps: int) -> Any:
    return two(u, v, w, steps)[0]


def three(u: Any, v: Any, w: Any, steps: int) -> Any:
    a, b, c = u.copy(), v.copy(), w.copy()
    for _ in range(steps):
        c[1:-1] = a[:-2] + 0.5 * b[2:]
        a, b, c = b, c, a
    return a, b, c


def two_of_three(u: Any, v: Any, w: Any, steps: int) -> Any:
    return three(u, v, w, steps)[1:]


def until(u: Any, v: Any, _: Any, steps: int) -> Any:
    a, b, t = u.copy(), v.copy(), 0
    while t < steps:
        b[1:-1] = a[:-2] + 0.5 * a[2:]
        a, b, t = b, a, t + 1
    return a, b


def unchanged(u: Any, v: Any, _: Any, steps: int) -> Any:
    a, b = u.copy(), v.copy()
    for _ in range(steps):
        a, b = b, a
    return a, b


def made_of_both(u: Any, v: Any, _: Any, steps: int) -> Any:
    """The places are changed, but the new array is needed beside the old one."""
    a, b = u.copy(), v.copy()
    for _ in range(steps):
        a, b = b + a[::-1], a
    return a, b


FUNCTIONS = [two, one_of_two, three, two_of_three, until, unchanged, made_of_both]


@pytest.mark.parametrize("function", FUNCTIONS, ids=[each.__name__ for each in FUNCTIONS])
def test_results_are_those_of_python(function: Any) -> None:
    compiled, arrays = ng.graph_jit(function), np.random.default_rng(0).random((3, 7))
    for steps in range(7):
        expected, own = np.copy(function(*arrays, steps)), [each.copy() for each in arrays]
        results = compiled(*own, steps)
        np.testing.assert_array_equal(np.copy(results), expected)
        np.testing.assert_array_equal(own, arrays)
        if isinstance(results, tuple):
            assert not any(np.shares_memory(results[0], each) for each in results[1:])


@pytest.mark.parametrize("function", [two, three, until], ids=["two", "three", "until"])
def test_gradients_are_those_of_differences(function: Any) -> None:
    u, v, w = np.random.default_rng(1).random((3, 7))

    def value(u: Any, v: Any, w: Any) -> Any:
        first, second, *_ = function(u, v, w, 5)
        return (first * np.arange(7.0)).sum() + (second * second).sum()

    found = ng.grad(value, argnums=(0, 1))(u, v, w)
    for place, gradient in enumerate(found):
        for i in range(7):
            up, down = [u.copy(), v.copy(), w], [u.copy(), v.copy(), w]
            up[place][i] += 1e-6
            down[place][i] -= 1e-6
            assert abs(gradient[i] - (value(*up) - value(*down)) / 2e-6) < 1e-6 * (1 + abs(gradient[i]))


@pytest.mark.parametrize("function", [two, three, until], ids=["two", "three", "until"])
def test_no_step_copies_an_array(function: Any) -> None:
    u = np.ones(9)
    text = ng.graph_jit(function).explain(u, u, u, 3)
    assert "(copy)" not in text
    assert f"{3 if function is three else 2} of them updated in place" in text
