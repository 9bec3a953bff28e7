"""Arrays that a loop updates and that start alike: each is filled where it lies."""

from typing import Any

import numpy as np
import pytest

from numbagraph import grad, graph_jit


def counts(x):
    low, high = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            high[i] = x[i]
        else:
            low[i] = -x[i]
    return low, high


def three(x):
    a, b, c = np.ones(len(x)), np.ones(len(x)), np.ones((len(x), 2))
    first = np.ones(len(x))
    for i in range(len(x)):
        a[i] += x[i]
        b[i] -= a[i] * c[i, 0]
        c[i, 1] = b[i - 1]
    return a, b, c, first


def nested(x):
    a, b = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        c, d = np.full(3, x[i]), np.full(3, x[i])
        for j in range(3):
            c[j] += j
            d[j] -= c[j]
        a[i], b[i] = c.sum(), d.sum()
    return a, b


@pytest.mark.parametrize("function", [counts, three, nested])
@pytest.mark.parametrize("length", [0, 1, 2, 40])
def test_like_numpy(function, length):
    x = np.random.default_rng(length).normal(size=length)
    results: Any = graph_jit(function)(x)
    for found, expected in zip(results, function(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_no_array_is_copied():
    x = np.random.default_rng(0).normal(size=40)
    text = str(graph_jit(counts).explain(x))
    assert "full_alias" in text
    assert "320 bytes" not in text[text.index("memory:") :]


def test_gradient():
    def loss(x):
        low, high = counts(x)
        return np.sum(low * 3) + np.sum(high**2)

    x = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(graph_jit(grad(loss))(x), [2.0, -3.0, 6.0])
