"""Assignments to carried arrays in loops, which are made where these lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from tests.api.test_loops import W, X, assert_close, branches, numeric_gradient, total

RNG = np.random.default_rng(20)


def assigned(x: Any, b: Any) -> Any:
    """Assignments to the carried array, which are made where it lies."""

    def step(i: Any, a: Any) -> Any:
        a = a.copy()
        a[i] = a[i - 1] * 0.5 + b[i]
        a[0] = a[i] + a[0]
        return a

    return ng.fori_loop(1, x.shape[0], step, x)


def plain_assigned(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    a = x.copy()
    for i in range(1, len(a)):
        a[i] = a[i - 1] * 0.5 + b[i]
        a[0] = a[i] + a[0]
    return a


def rows(x: Any, b: Any) -> Any:
    """Rows of a matrix, each of the one before; one is read backwards."""

    def step(i: Any, a: Any) -> Any:
        a = a.copy()
        a[i] = a[i - 1] * 0.5 + b
        a[i - 1] = a[i][::-1] + a[0]
        return a

    return ng.fori_loop(1, x.shape[0], step, x[:, None] * b)


def plain_rows(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    a = x[:, None] * b
    for i in range(1, len(a)):
        a[i] = a[i - 1] * 0.5 + b
        a[i - 1] = a[i][::-1] + a[0]
    return a


def exchanged(x: Any, b: Any) -> Any:
    """Two carried arrays, each of which becomes a changed copy of the other."""

    def step(i: Any, pair: Any) -> Any:
        one, other = pair[0].copy(), pair[1].copy()
        one[i] = other[i] + 1
        other[i] = pair[0][i] * b[i]
        return other, one

    return ng.fori_loop(0, x.shape[0], step, (x, b))


def plain_exchanged(x: np.ndarray, b: np.ndarray) -> Any:
    first, second = x, b
    for i in range(len(x)):
        one, other = first.copy(), second.copy()
        one[i] = other[i] + 1
        other[i] = first[i] * b[i]
        first, second = other, one
    return first, second


def read_after(x: Any, b: Any) -> Any:
    """What an array was before the assignment is read after it."""

    def step(i: Any, pair: Any) -> Any:
        a, total = pair
        new = a.copy()
        new[i] = b[i]
        return new, total + np.sum(a * new) + a[0]

    return ng.fori_loop(0, x.shape[0], step, (x, 0.0))


def plain_read_after(x: np.ndarray, b: np.ndarray) -> Any:
    a, total = x, np.float64(0.0)
    for i in range(len(x)):
        new = a.copy()
        new[i] = b[i]
        a, total = new, total + np.sum(a * new) + a[0]
    return a, total


@pytest.mark.parametrize(
    ("compiled", "plain"),
    [(assigned, plain_assigned), (exchanged, plain_exchanged), (read_after, plain_read_after), (rows, plain_rows)],
)
def test_assignments_in_loops(compiled: Callable[..., Any], plain: Callable[..., Any]) -> None:
    run = ng.graph_jit(compiled)
    for length in (7, 2, 0, 30):
        x, b = RNG.normal(size=length), RNG.normal(size=length)
        kept = x.copy(), b.copy()
        if length or compiled is not assigned:
            assert_close(run(x, b), plain(x, b))
        assert np.array_equal(x, kept[0])
        assert np.array_equal(b, kept[1])
    x, b = RNG.normal(size=5), RNG.normal(size=5)
    found = ng.graph_jit(ng.grad(lambda *args: total(compiled(*args)), argnums=(0, 1)))(x, b)
    for place in (0, 1):
        expected = numeric_gradient(lambda *args: total(plain(*args)), [x, b], place)
        np.testing.assert_allclose(found[place], expected, rtol=1e-6, atol=1e-7)


def test_explain_and_graph_show_loops() -> None:
    run = ng.graph_jit(assigned)
    x = np.arange(4.0)
    text = run.explain(x, x)
    assert "loop (scan) of 3 steps: carries 1 numbers and 1 arrays, 1 of them updated in place" in text
    assert "step: 2 loop nests" in text
    assert "def step(carry0: int, carry1: float64[" in str(run.graph(x, x))
    text = ng.graph_jit(branches).explain(X, W)
    assert "branch (switch), one of:" in text
    assert "branch1: " in text
