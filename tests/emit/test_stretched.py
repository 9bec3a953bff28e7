"""Nests over lengths that may turn out to be 1: they are emitted twice."""

import numpy as np
import pytest

import numbagraph as ng


def scaled(x, y):
    return x[1:, 1:] * np.exp(y[1:, 1:])


def summed(x, y):
    return (x[1:, 1:] * y[1:, 1:]).sum(axis=1)


def total(x, y):
    return np.sum(x[1:, 1:] - y[1:, 1:])


def largest(x, y):
    difference = np.abs(x[1:, 1:] - y[1:, 1:])
    return difference.max(axis=1), difference.argmax(axis=1)


def running(x, y):
    return np.cumsum(x[1:, 1:] + y[1:, 1:], axis=1)


SHAPES = [
    ((4, 6), (4, 6)),
    ((4, 6), (2, 6)),
    ((4, 6), (4, 2)),
    ((2, 6), (4, 6)),
    ((4, 2), (2, 900)),
    ((2, 900), (4, 2)),
    ((2, 2), (2, 2)),
    ((4, 1000), (2, 1000)),
]


@pytest.mark.parametrize("function", [scaled, summed, total, largest, running])
def test_lengths_of_slices_may_be_one(function):
    compiled = ng.graph_jit(function)
    rng = np.random.default_rng(0)
    for left, right in SHAPES:
        x, y = rng.normal(size=left), rng.normal(size=right)
        found, expected = compiled(x, y), function(x, y)
        if not isinstance(expected, tuple):
            found, expected = (found,), (expected,)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
    with pytest.raises(ValueError, match="broadcast"):
        compiled(np.ones((4, 6)), np.ones((4, 5)))


def test_rows_are_read_in_vectors_and_not_gathered():
    compiled = ng.graph_jit(lambda x, y: x[1:, 1:] + y[1:, 1:])
    assert "gather" not in compiled.asm(np.ones((4, 60)), np.ones((4, 60)))
