"""Gradients of loops that end by a condition and write into arrays: what a step has overwritten is put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ir.values import Node
from numbagraph.ops.control.recorded_while import recorded

RNG = np.random.default_rng(31)


def filled(x: Any) -> Any:
    """Each step reads what the one before it has stored."""
    a, i = np.zeros(len(x)), 0
    while i < len(x) and abs(a[i - 1]) < 2.0:
        a[i] = np.sin(a[i - 1]) * x[i] + x[i]
        i += 1
    return np.sum(a * a) + i


def in_place(x: Any) -> Any:
    """Elements are read before and after they are overwritten."""
    a, total, i = x.copy(), 0.0, 1
    while total < 1.5 and i < len(x):
        a[i] = np.sin(a[i - 1]) * a[i]
        a[i - 1] = a[i] * a[i - 1]
        total += a[i] ** 2
        i += 1
    return np.sum(a * a) + total


def same_place(x: Any) -> Any:
    a, number = x.copy(), 0
    while number < 2 * len(x) and abs(a[0]) < 5.0:
        a[0] = a[0] * a[number % len(x)] + a[-1] ** 2
        number += 1
    return a[0] + np.sum(a)


def swapped(x: Any) -> Any:
    """Two arrays change places in each step."""
    a, b, i = x.copy(), 0.5 * x, 0
    while i < len(x) and np.sum(b) < 9.0:
        b[i] = np.sin(a[i]) * a[i - 1]
        a, b = b, a
        i += 1
    return np.sum(a * a) - np.sum(b * b * b)


def whole(x: Any) -> Any:
    """A step overwrites all elements."""
    a, error = x.copy(), 1.0
    while error > 1e-2:
        new = 0.5 * np.sin(a) + 0.1 * x
        error = np.max(np.abs(new - a), initial=0.0)
        a = new
    return np.sum(a * x)


def broken(x: Any) -> Any:
    a = x.copy()
    for i in range(1, len(x)):
        a[i] = a[i] * a[i - 1] + 0.5
        if a[i] < 0.3:
            break
        a[i - 1] = a[i] ** 2
    return np.sum(a * a)


def ordered(x: Any) -> Any:
    """Insertion sort: a while loop in a loop, both of which move elements."""
    a = x.copy()
    for i in range(1, len(x)):
        j = i
        while j > 0 and a[j - 1] > a[j]:
            t = a[j]
            a[j] = a[j - 1]
            a[j - 1] = t
            j -= 1
    total = 0.0
    for i in range(len(x)):
        total += (i + 1) * a[i] ** 2
    return total


def positions(x: Any) -> Any:
    """Positions are read from an array of integers that the loop writes."""
    a, order, i = x.copy(), np.zeros(len(x), np.int64), 0
    while i < len(x) and a[i] < 3.0:
        order[i] = (order[i - 1] * 2 + 1) % len(x)
        a[order[i]] = a[order[i]] * a[i] + 0.5
        i += 1
    return np.sum(a * a)


def rows(x: Any) -> Any:
    """A table of rows, and slices of these."""
    a, i = np.zeros((len(x), len(x))), 0
    while i < len(x) and np.sum(a) < 50.0:
        a[i] = x * np.cos(a[i - 1]) + x[i]
        a[i, 1:] = a[i, :-1] * a[i, 1:]
        i += 1
    return np.sum(a * a * np.cos(x))


def inner_loop(x: Any) -> Any:
    """A for loop in each step fills a row."""
    a, i = np.zeros((len(x), len(x))), 0
    while i < len(x) and a[i - 1, -1] < 4.0:
        for j in range(len(x)):
            a[i, j] = np.sin(x[i] * x[j]) + 0.5 * a[i - 1, j] * a[i, j - 1]
        i += 1
    return np.sum(a * a)


def of_tables(x: Any) -> Any:
    """A while loop in each step of a loop fills a row."""
    a = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        j = 0
        while j < len(x) and a[i, j - 1] < 1.2:
            a[i, j] = x[i] * x[j] + np.sin(a[i - 1, j] + a[i, j - 1])
            j += 1
    return np.sum(a * a)


def branches(x: Any) -> Any:
    a, i = x.copy(), 0
    while i < len(x) - 1 and abs(a[i]) < 6.0:
        i += 1
        if a[i] > a[i - 1]:
            a[i] = a[i] * a[i - 1]
        elif a[i] > 0.3:
            a[i - 1] = a[i] ** 2
    return np.sum(a * a)


def backwards(x: Any) -> Any:
    """A counter goes down by two, and another number is multiplied."""
    a, i, k = x.copy(), len(x) - 1, 1
    while i >= 1:
        a[i - 1] = a[i] * a[i - 1] * k
        k = (3 * k) % 7
        i -= 2
    return np.sum(a * a)


PROGRAMS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        filled, in_place, same_place, swapped, whole, broken, ordered, positions, rows, inner_loop, of_tables, branches,
        backwards,
    )
}  # fmt: skip


def slopes(function: Callable[..., Any], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Of a function of a vector, by differences."""
    columns = [(function(x + each) - function(x - each)) / (2 * step) for each in step * np.eye(x.size)]
    return np.stack(columns, axis=-1) if columns else np.zeros(0)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_gradients(name: str, backend: Literal["numba", "numpy"]) -> None:
    plain = PROGRAMS[name]
    gradient = ng.graph_jit(ng.value_and_grad(plain), backend=backend)
    for size in (7, 1, 2, 130):
        if size == 130 and (backend == "numpy" or name in ("of_tables", "inner_loop", "ordered")):
            continue
        x = RNG.uniform(-1, 1, size)
        value, found = gradient(x)
        np.testing.assert_allclose(value, plain(x), rtol=1e-12)
        np.testing.assert_allclose(found, slopes(plain, x), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["filled", "in_place", "swapped", "positions", "inner_loop"])
def test_second_derivatives(name: str) -> None:
    plain, x = PROGRAMS[name], RNG.uniform(-1, 1, 4)
    expected = slopes(ng.graph_jit(ng.grad(plain)), x)
    found = ng.graph_jit(ng.jacrev(ng.grad(plain)))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["filled", "in_place", "swapped", "branches", "of_tables"])
def test_gradients_of_a_batch(name: str) -> None:
    plain, xs = PROGRAMS[name], RNG.uniform(-1, 1, (3, 5))
    found = ng.graph_jit(ng.vmap(ng.grad(plain)))(xs)
    np.testing.assert_allclose(found, [slopes(plain, x) for x in xs], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("steps", [0, 1, 2, 63, 64, 65, 300])
def test_numbers_of_steps(steps: int) -> None:
    """Memory for records grows between them."""

    def powers(x: Any, steps: Any) -> Any:
        a, i = np.ones(301), 0
        while i < steps:
            a[i + 1] = a[i] * x
            i += 1
        return np.sum(a)

    x = 0.995
    expected = sum(k * x ** (k - 1) for k in range(1, steps + 1))
    np.testing.assert_allclose(ng.graph_jit(ng.grad(powers))(x, steps), expected, rtol=1e-11)


def multiplied(x: Any) -> Any:
    a, i = x.copy(), 1
    while i < len(x) and abs(a[i]) < 3:
        a[i] = a[i] * a[i - 1]
        i += 1
    return np.sum(np.abs(a) ** 2)


def test_single_precision() -> None:
    x = RNG.uniform(0.5, 1, 5)
    found = ng.graph_jit(ng.grad(multiplied))(x.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, slopes(multiplied, x), rtol=1e-5)


def test_complex_numbers() -> None:
    """The slope along a direction is what the gradient says, by real and by imaginary parts."""
    x = RNG.uniform(0.5, 1, 5) + 1j * RNG.uniform(0.5, 1, 5)

    def by_parts(parts: Any) -> Any:
        return multiplied(parts[:5] + 1j * parts[5:])

    parts = np.concatenate([x.real, x.imag])
    found = ng.graph_jit(ng.grad(by_parts))(parts)
    np.testing.assert_allclose(found, slopes(by_parts, parts), rtol=1e-6, atol=1e-8)


def test_an_error_in_a_step() -> None:
    """The step and its position are named, and the next call is right."""

    def f(x: Any, n: Any) -> Any:
        a, i = x.copy(), 0
        while i < n:
            a[i] = a[i] * a[i + 1]
            i += 1
        return np.sum(a)

    gradient = ng.graph_jit(ng.grad(f))
    x = RNG.uniform(0.5, 1, 4)
    np.testing.assert_allclose(gradient(x, 3), slopes(lambda x: f(x, 3), x), rtol=1e-7)
    before = x.copy()
    with pytest.raises(IndexError, match="in step 3"):
        gradient(x, 4)
    assert np.array_equal(x, before)
    np.testing.assert_allclose(gradient(x, 2), slopes(lambda x: f(x, 2), x), rtol=1e-7)


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        *((name, 0) for name in ("filled", "in_place", "same_place", "swapped", "positions", "backwards")),
        *((name, 0) for name in ("broken", "branches")),
        ("rows", 1),
        ("inner_loop", 1),
    ],
)
def test_no_array_is_stored_for_each_step(name: str, rank: int) -> None:
    """Of a table of which a step fills a row, no more than rows."""
    graph = ng.graph_jit(ng.grad(PROGRAMS[name])).graph(RNG.uniform(-1, 1, 20))
    (node,) = {each.inputs: each for each in graph.order if isinstance(each, Node) and is_pullback(each)}.values()
    stored = recorded(node).body.outputs[node.attrs["carries"] :]
    assert max(each.ndim for each in stored) == rank


def is_pullback(node: Node) -> bool:
    return node.op.name == "while_pullback"
