"""Loops in other surroundings: custom derivatives, derivatives, results in given arrays, Numba, threads, pickles."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numba
import numpy as np
import pytest

import numbagraph as ng
from tests.api.test_loops import assert_close, numeric_gradient
from tests.api.test_odd_loops import plain_rows, rows

RNG = np.random.default_rng(21)
X = RNG.normal(size=(5, 3))
COUNT = np.arange(4.0)
C = RNG.normal(size=3)


def root(a: Any) -> Any:
    return ng.while_loop(lambda x: np.abs(x * x - a) > 1e-13, lambda x: 0.5 * (x + a / x), a)


differentiable_root = ng.custom_vjp(root)
differentiable_root.defvjp(lambda a: (differentiable_root(a),) * 2, lambda x, g: (g / (2 * x),))


def test_a_loop_in_a_function_with_its_own_derivative() -> None:
    a = np.array([2.0, 3.0])
    slope = ng.graph_jit(ng.grad(lambda a: differentiable_root(a) ** 3))
    for each in (2.0, np.float64(2.0)):
        np.testing.assert_allclose(slope(each), 1.5 * np.sqrt(2.0), rtol=1e-10)
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(slope.function))(a), 1.5 * np.sqrt(a), rtol=1e-10)
    mapped = ng.graph_jit(ng.grad(lambda a: np.sum(ng.map(differentiable_root, a))))
    np.testing.assert_allclose(mapped(a), 0.5 / np.sqrt(a), rtol=1e-10)
    chained = ng.graph_jit(ng.grad(lambda a: ng.scan(lambda c, e: (differentiable_root(c + e), None), 1.0, a)[0]))
    inner = np.sqrt(1.0 + a[0])
    outer = 0.5 / np.sqrt(inner + a[1])
    np.testing.assert_allclose(chained(a), [outer * 0.5 / inner, outer], rtol=1e-10)


def test_a_gradient_of_a_loop_in_a_loop_and_its_gradients() -> None:
    x = RNG.normal(size=4)

    def inner(w: Any) -> Any:
        return ng.scan(lambda c, e: (np.tanh(c * w + e), None), 0.0, x)[0] ** 2

    def descend(w: Any) -> Any:
        return ng.fori_loop(0, 3, lambda _, w: w - 0.1 * ng.grad(inner)(w), w)

    def plain(w: float) -> float:
        for _ in range(3):
            c, slope = 0.0, 0.0
            for e in x:
                c, slope = np.tanh(c * w + e), (1 - np.tanh(c * w + e) ** 2) * (c + w * slope)
            w = w - 0.2 * c * slope
        return w

    slope, curvature = ng.graph_jit(ng.grad(descend)), ng.graph_jit(ng.grad(ng.grad(descend)))
    np.testing.assert_allclose(ng.graph_jit(descend)(0.7), plain(0.7), rtol=1e-12)
    np.testing.assert_allclose(slope(0.7), numeric_gradient(plain, [0.7], 0), rtol=1e-7)
    np.testing.assert_allclose(curvature(0.7), numeric_gradient(lambda w: float(slope(w)), [0.7], 0), rtol=1e-7)


def test_results_in_given_arrays_and_over_arguments() -> None:
    run = ng.graph_jit(lambda x, c: ng.scan(lambda c, r: (c * 0.5 + r, c + r), c, x))
    last, sums = run(X, C)
    for place in ("elsewhere", "over the start", "over the rows", "one row further"):
        memory = np.zeros((6, 3))
        memory[1:] = X
        x, c = memory[1:], C.copy()
        out = {
            "elsewhere": (np.empty(3), np.empty((5, 3))),
            "over the start": (c, np.empty((5, 3))),
            "over the rows": (np.empty(3), x),
            "one row further": (np.empty(3), memory[:5]),
        }[place]
        found = run(x, c, out=out)
        assert found[0] is out[0]
        assert_close(found, (last, sums))


def test_called_from_numba() -> None:
    run = ng.graph_jit(lambda x, n: ng.fori_loop(0, n, lambda i, c: c + x[i], 0.0))
    batch = ng.gufunc("(n),()->(n)")(lambda x, a: ng.scan(lambda c, e: (c * a + e, c), 0.0, x)[1])

    @numba.njit
    def call(x: Any, n: Any) -> Any:
        return run(x, n)

    assert call(COUNT, 4) == 6.0
    with pytest.raises(IndexError):
        call(COUNT, 9)
    x, a = RNG.normal(size=(2, 3, 5)), RNG.normal(size=3)
    for place in np.ndindex(2, 3):
        c, expected = 0.0, []
        for e in x[place]:
            expected.append(c)
            c = c * a[place[1]] + e
        np.testing.assert_allclose(batch(x, a)[place], expected, rtol=1e-12)


def test_on_several_threads() -> None:
    x = RNG.normal(size=(4, 100_000))
    run = ng.graph_jit(lambda x: ng.scan(lambda c, r: (np.sin(c) * 0.5 + r, np.sum(c)), x[0], x), parallel=True)
    c, sums = x[0], []
    for r in x:
        sums.append(np.sum(c))
        c = np.sin(c) * 0.5 + r
    assert_close(run(x), (c, np.array(sums)), 1e-9)


def test_called_by_several_threads() -> None:
    run, failures = ng.graph_jit(rows, cache=False), []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(30):
            args = rng.normal(size=(rng.integers(0, 6), 3)), rng.normal(size=3)
            try:
                assert_close(run(*args), plain_rows(*args))
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures


def test_pickled() -> None:
    run = pickle.loads(pickle.dumps(ng.graph_jit(rows)))
    assert_close(run(X, C), plain_rows(X, C))
