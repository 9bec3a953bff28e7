"""Gradients of loops and branches by arrays from around them, where an op inside looks through what it is given: the
product with a transposed matrix reads the matrix, and the negation of a negated array is the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from tests.api.test_loops import numeric_gradient

RNG = np.random.default_rng(5)
M, V, X = RNG.normal(size=(3, 3)), RNG.normal(size=3), RNG.normal(size=(2, 3))

PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "transposed": (lambda m: m.T, lambda m, v: m @ v),
    "transposed twice": (lambda m: m.T, lambda m, v: m.T @ v),
    "from the left": (lambda m: m.T, lambda m, v: v @ m),
    "with a matrix": (lambda m: m.T, lambda m, v: (m @ np.outer(v, v))[0]),
    "negated": (lambda m: -m, lambda m, v: -m * v[0]),
    "conjugated": (lambda m: np.conjugate(m), lambda m, v: np.real(np.conjugate(m) * v[0])),
    "flipped": (lambda m: m[::-1], lambda m, v: m[::-1] @ v),
    "reshaped": (lambda m: m.reshape(9), lambda m, v: m.reshape(3, 3) @ v),
    "exponential": (lambda m: np.exp(m), lambda m, v: np.log(m) @ v),
}


def for_each(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    for row in x:
        v = np.tanh(np.sum(inner(m, v)) + row)
    return v


def while_below(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    k = 0
    while k < len(x):
        v = np.tanh(np.sum(inner(m, v)) + v)
        k += 1
    return v


def if_above(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    if v[0] > 10:
        v = v * 2
    else:
        v = np.tanh(np.sum(inner(m, v)) + v)
    return v


def fori(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    return ng.fori_loop(0, 2, lambda _, c: np.tanh(np.sum(inner(m, c)) + c), v)


def scan(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    return ng.scan(lambda c, row: (np.tanh(np.sum(inner(m, c)) + row), None), v, x)[0]


def while_loop(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        return state[0] + 1, np.tanh(np.sum(inner(m, state[1])) + state[1])

    return ng.while_loop(lambda state: state[0] < 2, step, (0, v))[1]


def cond(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    return ng.cond(v[0] > 10, lambda: v * 2, lambda: np.tanh(np.sum(inner(m, v)) + v))


def nested(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    def step(c: Any, row: Any) -> tuple[Any, None]:
        return ng.fori_loop(0, 2, lambda _, d: np.tanh(np.sum(inner(m, d)) + row), c), None

    return ng.scan(step, v, x)[0]


def mapped(inner: Callable[..., Any], m: Any, v: Any, x: Any) -> Any:
    return ng.map(lambda row: np.sum(inner(m, v)) * row, x)


REGIONS = (for_each, while_below, if_above, fori, scan, while_loop, cond, nested, mapped)
CASES = [*(("transposed", region) for region in REGIONS), *((name, scan) for name in PAIRS if name != "transposed")]


@pytest.mark.parametrize(("name", "region"), CASES)
def test_what_an_op_looks_through_is_passed_to_the_region(name: str, region: Callable[..., Any]) -> None:
    outer, inner = PAIRS[name]

    def loss(m: Any, v: Any, x: Any) -> Any:
        return np.sum(np.sin(region(inner, outer(m), v, x)))

    args: list[Any] = [np.abs(M) if name == "exponential" else M, V, X]
    found = ng.graph_jit(ng.grad(loss, argnums=(0, 1)))(*args)
    for place, each in enumerate(found):
        np.testing.assert_allclose(each, numeric_gradient(loss, args, place), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("region", [for_each, while_loop, cond])
def test_forward_mode_and_second_derivatives(region: Callable[..., Any]) -> None:
    def loss(v: Any) -> Any:
        return np.sum(np.sin(region(lambda m, v: m @ v, np.outer(v, V).T, v, X)))

    slope = ng.graph_jit(ng.grad(loss))
    expected = np.stack([numeric_gradient(lambda v, k=k: float(slope(v)[k]), [V], 0) for k in range(3)])
    np.testing.assert_allclose(slope(V), numeric_gradient(loss, [V], 0), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(loss))(V), slope(V), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ng.graph_jit(ng.jacrev(ng.grad(loss)))(V), expected, rtol=1e-5, atol=1e-7)
