"""Rows that are no whole vectors: what is left of them is computed in masked vectors where an element takes long."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.loops.masked_tails import WITH_MASKS

RNG = np.random.default_rng(7)
LENGTHS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 129)


def polynomial(t, s):
    result = t
    for _ in range(10):
        result = result * s + t * 0.5
    return result / (s + 2.0)


def softmax(t, s):
    powers = np.exp(t - s.min())
    return powers / powers.sum(-1, keepdims=True)


FUNCTIONS = {
    "map": lambda t, s: np.exp(t * s),
    "polynomial": polynomial,
    "sum": lambda t, s: np.tanh(t * s).sum(-1),
    "softmax": softmax,
    "maximum": lambda t, s: np.sin(t + s).max(-1, initial=-2.0),
    "same in each row": lambda t, s: np.log(t[:, :1] + 1.0) * np.exp(s),
    "two results": lambda t, s: (np.exp(t) * s, np.exp(t).sum(-1)),
}


EMPTY = {name: each for name, each in FUNCTIONS.items() if name not in ("softmax", "same in each row")}
"""What has a meaning for rows without elements."""


def compare(function, compiled, t, s):
    found, expected = compiled(t, s), function(t, s)
    results = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for each, other in results:
        assert (each.dtype, each.shape) == (other.dtype, other.shape)
        tolerance = 50 * np.finfo(other.dtype).eps
        np.testing.assert_allclose(each, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_lengths_of_rows(name, dtype):
    compiled = graph_jit(FUNCTIONS[name])
    for length in LENGTHS:
        if length or name in EMPTY:
            t, s = RNG.random((5, length)).astype(dtype), RNG.random(length).astype(dtype)
            compare(FUNCTIONS[name], compiled, t, s)


@pytest.mark.parametrize("length", [3, 8, 13, 70])
def test_positions_are_checked_in_masked_vectors(length):
    def picked(t, s, i):
        return np.exp(t[:, i] * s)

    compiled = graph_jit(picked)
    t, s, i = RNG.random((4, 20)), RNG.random(length), RNG.integers(-20, 20, length)
    np.testing.assert_allclose(compiled(t, s, i), picked(t, s, i), rtol=1e-14)
    for place in (0, length // 2, length - 1):
        wrong = i.copy()
        wrong[place] = 20
        with pytest.raises(IndexError, match="20"):
            compiled(t, s, wrong)


@pytest.mark.parametrize(
    "function", [lambda x: np.exp(x) * 2, lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.max(1, initial=0.0)]
)
def test_rows_that_lie_apart(function):
    compiled = graph_jit(function)
    whole = RNG.random((6, 40))
    views = [
        whole[:, 1:],
        whole[:, ::2],
        whole[::2, 3:-3],
        whole[:, 5:6],
        whole[:, ::-1],
        whole[:, :0],
        whole[1:3],
        whole.T[2:],
    ]
    for view in [*views, *reversed(views)]:
        np.testing.assert_allclose(compiled(view), function(view), rtol=1e-13)


@pytest.mark.skipif(current_target().vector_bytes != WITH_MASKS, reason="there are no registers for masks")
@pytest.mark.parametrize(("function", "is_shared"), [(np.exp, False), (np.square, True)])
def test_masked_rows_are_not_written_where_they_are_read(function, is_shared):
    """What is read would wait for the row before, over whose end its vector reaches."""

    def products(t):
        total = np.cumsum(t, axis=0)
        found = function(total - total.max(-1, keepdims=True))
        return found @ t.T

    compiled, t = GraphFunction(products), RNG.random((50, 4))
    assert ("3 temporaries in 2 slots" in str(compiled.explain(t))) == is_shared
    np.testing.assert_allclose(compiled(t), products(t), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 3), (8, 4), (11, 3), (1, 33), (40, 70)])
def test_sums_over_several_dimensions(shape, dtype):
    """Few terms are added up as they come, more in blocks. A slice and a repeated row keep them from being one row."""

    def sums(x, y):
        windows = x[1:, :-1] * y
        return windows.sum(), (x[None, 1:, :-1] * y).sum((1, 2)), (x[1:, :-1] - y).mean(), np.prod(x[1:, 1:])

    x = RNG.normal(size=(shape[0] + 1, shape[1] + 1)).astype(dtype)
    compiled, precision = graph_jit(sums), np.finfo(dtype).eps
    for y in (RNG.normal(size=shape).astype(dtype), RNG.normal(size=(1, shape[1])).astype(dtype)):
        for z in (x, np.where(np.arange(x.size).reshape(x.shape) == x.shape[1], np.inf, x).astype(dtype)):
            with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                wanted = sums(z, y)
            for ours, theirs in zip(compiled(z, y), wanted, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1000 * precision, atol=1000 * precision)


def test_sums_of_windows():
    """Each is a nest of its own, in which the lengths are known at run time alone."""

    def windows(x, y):
        found = np.zeros((x.shape[0] - y.shape[0] + 1, x.shape[1] - y.shape[1] + 1))
        for i in range(found.shape[0]):
            for j in range(found.shape[1]):
                found[i, j] = np.sum(x[i : i + y.shape[0], j : j + y.shape[1]] * y)
        return found

    compiled, x = GraphFunction(windows), RNG.normal(size=(9, 12))
    for shape in ((1, 1), (3, 3), (1, 5), (5, 1), (8, 4), (9, 12), (6, 7)):
        y = RNG.normal(size=shape)
        np.testing.assert_allclose(compiled(x, y), windows(x, y), rtol=1e-12, atol=1e-14)
    assert "\nshort:" in compiled.llvm(x, x[:3, :3], optimised=False)
