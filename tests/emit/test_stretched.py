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


def test_arrays_that_take_each_others_places():
    def relax(u, steps):
        old, new = u.copy(), u * 2.0
        for _ in range(steps):
            new[1:-1] = 0.5 * (old[:-2] + old[2:])
            old, new = new, old
        return old, new

    def three(u, steps):
        a, b, c = u.copy(), u + 1.0, u + 2.0
        for k in range(steps):
            a[0] += k
            a, b, c = b, c, a
        return a, b, c

    def only_one(u, steps):
        return relax(u, steps)[0]

    def while_changes(u, tolerance):
        old, new, count = u.copy(), u.copy(), 0
        change = tolerance + 1.0
        while change > tolerance:
            new[1:-1] = 0.5 * (old[:-2] + old[2:])
            change = np.abs(new - old).max()
            old, new = new, old
            count += 1
        return old, count

    u = np.random.default_rng(1).normal(size=9)
    for function in (relax, three, only_one):
        compiled = ng.graph_jit(function)
        for steps in range(8):
            for one, other in zip(compiled(u, steps), function(u, steps), strict=True):
                np.testing.assert_array_equal(one, other)
    found, count = ng.graph_jit(while_changes)(u, 0.1)
    expected, number = while_changes(u, 0.1)
    np.testing.assert_array_equal(found, expected)
    assert count == number


def test_exchanged_arrays_are_not_copied():
    def relax(u, steps):
        old, new = u.copy(), u.copy()
        for _ in range(steps):
            new[1:-1] = 0.5 * (old[:-2] + old[2:])
            old, new = new, old
        return old

    text = ng.graph_jit(relax).explain(np.ones(9), 3)
    assert "2 of them in each other's memory" in text
