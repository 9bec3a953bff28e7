"""Derivatives of loops whose number of steps is not known, recomputation, and running combinations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbagraph as ng

RNG = np.random.default_rng(21)


def damped(x: Any, limit: Any) -> Any:
    """A fixed point: how many steps it takes depends on the data."""

    def step(state: Any) -> Any:
        y, count, _ = state
        new = 0.9 * np.cos(y) * x[0] + x[1]
        return new, count + 1, np.abs(new - y)

    return ng.while_loop(lambda state: (state[2] > 1e-9) & (state[1] < limit), step, (x[0], 0, 1.0))[0]


def plain_damped(x: np.ndarray, limit: int) -> float:
    y, count, change = x[0], 0, 1.0
    while change > 1e-9 and count < limit:
        new = 0.9 * np.cos(y) * x[0] + x[1]
        y, count, change = new, count + 1, abs(new - y)
    return y


def with_arrays(a: Any, b: Any) -> Any:
    """Two carried arrays, of which one is an argument, a captured matrix, and an assignment."""

    def step(state: Any) -> Any:
        x, y, count = state
        new = np.tanh(a @ x + y)
        z = y.copy()
        z[count % 3] = new[0] * y[1]
        return new, z, count + 1

    x, y, _ = ng.while_loop(lambda state: (np.sum(state[0] ** 2) > 1e-3) & (state[2] < 7), step, (b, b * 0.5, 0))
    return np.sum(x * np.array([1.0, 2.0, 3.0])) + np.sum(np.sin(y))


def plain_with_arrays(a: np.ndarray, b: np.ndarray) -> float:
    x, y, count = b, b * 0.5, 0
    while np.sum(x**2) > 1e-3 and count < 7:
        new = np.tanh(a @ x + y)
        z = y.copy()
        z[count % 3] = new[0] * y[1]
        x, y, count = new, z, count + 1
    return np.sum(x * np.array([1.0, 2.0, 3.0])) + np.sum(np.sin(y))


def differences(function: Any, args: list[Any], place: int) -> np.ndarray:
    base = args[place]
    result = np.zeros_like(base)
    for index in np.ndindex(base.shape):
        ends = []
        for sign in (1e-6, -1e-6):
            moved = base.copy()
            moved[index] += sign
            ends.append(function(*args[:place], moved, *args[place + 1 :]))
        result[index] = (ends[0] - ends[1]) / 2e-6
    return result


@pytest.mark.parametrize("limit", [0, 1, 2, 63, 64, 65, 200])
def test_gradient_of_a_number(limit: int) -> None:
    x = np.array([0.7, 0.2])
    gradient, value = ng.graph_jit(ng.grad(damped)), ng.graph_jit(damped)
    assert value(x, limit) == pytest.approx(plain_damped(x, limit), rel=1e-14)
    expected = differences(plain_damped, [x, limit], 0)
    np.testing.assert_allclose(gradient(x, limit), expected, rtol=1e-6, atol=1e-8)
    forward = ng.graph_jit(ng.jacfwd(damped))(x, limit)
    np.testing.assert_allclose(forward, expected, rtol=1e-6, atol=1e-8)


def test_forward_mode_on_jax() -> None:
    x = np.array([0.7, 0.2])
    found = ng.graph_jit(lambda x: ng.jacfwd(damped)(x, 40), backend="jax")(x)
    np.testing.assert_allclose(found, differences(plain_damped, [x, 40], 0), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="scan, or jvp"):
        ng.graph_jit(lambda x: ng.grad(damped)(x, 40), backend="jax")(x)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_gradient_of_arrays(backend: str) -> None:
    a, b = RNG.normal(size=(3, 3)) / 2, RNG.normal(size=3)
    found = ng.graph_jit(ng.grad(with_arrays, argnums=(0, 1)), backend=backend)(a, b)
    for place, each in enumerate(found):
        np.testing.assert_allclose(each, differences(plain_with_arrays, [a, b], place), rtol=1e-6, atol=1e-8)


def test_gradients_of_a_batch() -> None:
    xs = np.array([0.7, 0.2]) + RNG.normal(size=(5, 2)) / 10
    found = ng.graph_jit(ng.vmap(ng.grad(lambda x: damped(x, 100))))(xs)
    for x, each in zip(xs, found, strict=True):
        np.testing.assert_allclose(each, differences(plain_damped, [x, 100], 0), rtol=1e-5, atol=1e-8)


def test_second_derivatives_in_forward_mode() -> None:
    x = np.array([0.7, 0.2])
    first = ng.graph_jit(ng.grad(lambda x: damped(x, 100)))
    second = ng.graph_jit(ng.jacfwd(ng.jacfwd(lambda x: damped(x, 100))))(x)
    for place in (0, 1):
        step = np.eye(2)[place] * 1e-6
        np.testing.assert_allclose(second[place], (first(x + step) - first(x - step)) / 2e-6, rtol=1e-5)
    with pytest.raises(NotImplementedError, match="use scan or fori_loop"):
        ng.graph_jit(ng.hessian(lambda x: damped(x, 100)))(x)


def test_an_error_in_a_step_of_what_is_differentiated() -> None:
    def read(x: Any) -> Any:
        return ng.while_loop(lambda s: s[0] < 9, lambda s: (s[0] + 1, s[1] * x[s[0]]), (0, 1.0))[1]

    run = ng.graph_jit(ng.grad(read))
    assert run(np.ones(9)).tolist() == [1.0] * 9
    with pytest.raises(IndexError, match="in step 4"):
        run(np.ones(4))


def test_checkpoint() -> None:
    inner = ng.checkpoint(lambda x, *, scale: (np.sin(np.exp(x)) * scale, x**2))

    def outer(x: Any) -> Any:
        one, other = inner(x, scale=2.0)
        return np.sum(one * other)

    x = RNG.normal(size=4)
    expected = differences(lambda x: np.sum(np.sin(np.exp(x)) * 2.0 * x**2), [x], 0)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(outer))(x), expected, rtol=1e-6)
    assert inner(2.0, scale=1.0)[1] == 4.0


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_associative_scan(axis: int, reverse: bool) -> None:
    def combine(left: Any, right: Any) -> Any:
        """Of linear recurrences."""
        return left[0] * right[0], left[1] * right[0] + right[1]

    a, b = RNG.normal(size=(4, 5)), RNG.normal(size=(4, 5))
    found = ng.graph_jit(lambda a, b: ng.associative_scan(combine, (a, b), reverse=reverse, axis=axis))(a, b)
    rows = [np.moveaxis(each, axis, 0)[:: -1 if reverse else 1] for each in (a, b)]
    state, expected = (rows[0][0], rows[1][0]), [(rows[0][0], rows[1][0])]
    for one, other in zip(rows[0][1:], rows[1][1:], strict=True):
        state = combine(state, (one, other))
        expected.append(state)
    for number in (0, 1):
        whole = np.stack([each[number] for each in expected])[:: -1 if reverse else 1]
        np.testing.assert_allclose(found[number], np.moveaxis(whole, 0, axis), rtol=1e-12)
