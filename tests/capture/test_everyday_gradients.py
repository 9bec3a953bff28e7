"""Derivatives and batches of everyday programs: buffers in turn, steps, texts beside arrays, cached helpers."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap
from tests.support.programs import everyday, picked, strided

X = np.linspace(0.1, 1.0, 6) ** 2 + 0.3


def in_turn(x):
    return (picked.in_turn(x, 5) ** 2).sum()


def wave(x):
    return (picked.wave(x, 4) ** 3)[1:4].sum()


def by_steps(x):
    y = x.copy()
    total = 0.0
    for r in range(1, 4):
        y[::r] *= x[0] + r
        part = y[r::-r]
        part[0] = part[-1] ** 2
        total += (y[r - 1 :: r] ** 2).sum() * x[r]
    return total + strided.butterflies(x[:4])[1:].sum() * x[1]


def letters(x):
    return everyday.letters(x[:5]) * x[0] + sum(v**2 if k in "ac" else -v for k, v in zip("abcde", x, strict=False))


def cached(x):
    return sum(everyday.folded(v) * x[0] for v in x) + everyday.scaled_pair((x[1], x[2]), by=x[3])


def along_rows(x):
    def chosen(row):
        if row[0] > 0.4:
            return (row**2).sum()
        return row.min() * row.max()

    return (np.apply_along_axis(chosen, 1, x.reshape(3, 2)) * np.array([1.0, 2.0, 3.0])).sum()


FUNCTIONS = [in_turn, wave, by_steps, letters, cached, along_rows]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives(function):
    found = grad(function)(X)
    for place in range(len(X)):
        step = np.zeros(len(X))
        step[place] = 1e-6
        slope = (function(X + step) - function(X - step)) / 2e-6
        np.testing.assert_allclose(found[place], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_batches(function):
    batch = np.stack([X, X[::-1], X * 2])
    np.testing.assert_allclose(graph_jit(vmap(function))(batch), [function(each) for each in batch], rtol=1e-12)


def test_a_step_that_differs_in_a_batch_is_refused():
    with pytest.raises(NotImplementedError, match="sizes that differ along a batch"):
        graph_jit(vmap(lambda x, k: x[:: k[0]], (None, 0)))(X, np.array([[1], [2]]))
