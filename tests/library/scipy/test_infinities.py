"""Functions that are computed as they are written: infinite and NaN where NumPy is."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from numbagraph import GraphFunction, grad, graph_jit, gufunc, jvp, to_jax, vmap
from numbagraph.testing.chunks import small_chunks

X = np.array([-1000.0, -800.0, 0.5, -0.0, 1e200, 800.0])

Function = Callable[[Any], Any]


def in_loop(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(2):
            if x[i] > 0 or j:
                y[i] = np.log(1 + np.exp(x[i]))
    return y


def in_while(x):
    i, total = 0, 0.0
    while total < 700.0 and i < len(x):
        total = total + np.log(np.exp(x[i]))
        i += 1
    return total


def in_branch(x):
    return np.log(np.exp(x)) if x[2] > 0 else x


FORMULAS: dict[str, Function] = {
    "log of exp": lambda x: np.log(np.exp(x)),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "softmax": lambda x: np.exp(x) / np.sum(np.exp(x)),
    "root of a square": lambda x: np.sqrt(x**2),
    "log of a sum": lambda x: np.log(np.sum(np.exp(x))),
    "log of a square": lambda x: np.log(x**2),
    "log of a quotient": lambda x: np.log(np.exp(x) / 3),
    "log of cosh": lambda x: np.log(np.cosh(x)),
    "exp - 1": lambda x: np.exp(x * 1e-20) - 1,
    "log of 1 + x": lambda x: np.log(1 + x[2] * 1e-20),
    "determinant": lambda x: np.log(np.linalg.det(np.eye(4) * (x[2] * 1e-100))),
    "divisor of a sum": lambda x: np.sum(np.array([1e200, -1e200]) / (x[2] * 1e-200)),
    "selected": lambda x: np.log(np.exp(x)[x > 0]),
    "loop": in_loop,
    "while": in_while,
    "branch": in_branch,
}


def check_as_written(function: Function, x: Any = X, **options: Any) -> None:
    """Results without stable forms are NumPy's, and those with them are not."""
    with np.errstate(all="ignore"):
        expected = function(x)
    found = graph_jit(function, stabilise=False, **options)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    stable = graph_jit(function, **options)(x)
    assert not np.allclose(stable, expected, rtol=1e-13, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", FORMULAS)
def test_results_are_those_of_numpy(name: str) -> None:
    check_as_written(FORMULAS[name])


def test_threads() -> None:
    with small_chunks():
        check_as_written(FORMULAS["softplus"], np.tile(X, 50), parallel=True, cache=False)


def softplus(x):
    return np.sum(np.log(1 + np.exp(x)))


@pytest.mark.parametrize("function", [softplus, lambda x: np.sum(in_loop(x))])
@pytest.mark.parametrize("backend", ["numba", "jax", "numpy"])
def test_derivatives_are_those_of_what_is_written(function: Function, backend: Any) -> None:
    finite = X < 700
    with np.errstate(all="ignore"):
        written = graph_jit(grad(function), stabilise=False, backend=backend)(X)
        stable = graph_jit(grad(function), backend=backend)(X)
    np.testing.assert_allclose(written[finite], stable[finite], rtol=1e-13)
    if function is softplus:
        assert np.isfinite(stable).all()
        assert not np.isfinite(written[~finite]).any()


def test_transformations() -> None:
    with np.errstate(all="ignore"):
        expected = np.log(np.exp(X))
    logarithm = FORMULAS["log of exp"]
    np.testing.assert_array_equal(graph_jit(vmap(logarithm), stabilise=False)(X), expected)
    value, tangent = graph_jit(lambda x: jvp(logarithm, (x,), (np.ones(6),)), stabilise=False)(X)
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(np.isnan(tangent), ~np.isfinite(expected))
    np.testing.assert_array_equal(gufunc("()->()", stabilise=False)(logarithm)(X), expected)
    np.testing.assert_array_equal(gufunc("()->()")(logarithm)(X), X)


def test_the_outermost_function_decides() -> None:
    inner = graph_jit(FORMULAS["log of exp"], stabilise=False)
    np.testing.assert_array_equal(graph_jit(lambda x: inner(x) + 0)(X), X)
    other = graph_jit(FORMULAS["log of exp"])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(graph_jit(lambda x: other(x), stabilise=False)(X), np.log(np.exp(X)))


def test_versions_of_both_kinds_do_not_meet() -> None:
    """Neither in memory nor on disk, nor by pickles, copies, methods and native callers."""

    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @graph_jit(stabilise=False)
        def written(self, x: Any) -> Any:
            return np.log(np.exp(x * self.scale))

        @graph_jit
        def stable(self, x: Any) -> Any:
            return np.log(np.exp(x * self.scale))

    model = Model(1.0)
    assert model.stable(800.0) == 800
    assert model.written(800.0) == np.inf
    written = graph_jit(plain, stabilise=False)
    for each in (written, copy.copy(written), pickle.loads(pickle.dumps(written))):
        assert isinstance(each, GraphFunction)
        assert each(800.0) == np.inf
    assert graph_jit(plain)(800.0) == 800

    @njit
    def caller(x):
        return written(x)

    assert caller(800.0) == np.inf


def plain(x):
    return np.log(np.exp(x))


def test_to_jax() -> None:
    x = np.array([-1.0, 800.0])
    slope = to_jax(graph_jit(grad(softplus), stabilise=False))
    assert np.isnan(np.asarray(slope(x))[1])
    assert np.asarray(to_jax(graph_jit(grad(softplus)))(x))[1] == 1
    native = to_jax(graph_jit(softplus, stabilise=False), native=True)
    assert np.asarray(native(x)) == np.inf
