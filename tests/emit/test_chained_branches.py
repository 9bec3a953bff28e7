"""Chains of steps that have a branch: of `heaviside` where a number is positive, of shifts where no bit is left."""

import numpy as np
import pytest

from numbagraph import graph_jit

NUMBERS = [-np.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 0.3, np.inf, np.nan, -np.nan]


def accumulated(x):
    return np.heaviside.accumulate(x)


def reduced(x):
    return np.heaviside.reduce(x)


def carried(x):
    """A step of Python's own loop, whose result is a step's first operand, or its second."""
    first = second = x[0]
    for each in x:
        first, second = np.heaviside(first, each), np.heaviside(each, second)
    return first, second


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [accumulated, reduced, carried])
def test_chains(function, dtype):
    """Of all triples of special numbers, and of long arrays that stay at nothing, or at one, or change at random."""
    compiled = graph_jit(function)
    triples = np.stack(np.meshgrid(*[np.array(NUMBERS, dtype)] * 3), -1).reshape(-1, 3)
    rng = np.random.default_rng(0)
    arrays = [-rng.random(1000), rng.choice([-1.0, 0.0], 1000), rng.normal(size=1000), np.zeros(7), np.ones(1)]
    for x in [*triples, *[each.astype(dtype) for each in arrays], triples[::-7, 1]]:
        found, wanted = np.asarray(compiled(x)), np.asarray(function(x))
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        zero = wanted == 0
        np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))


def shifted(x):
    """A step of Python's own loop, whose result is a step's first operand, or its second."""
    first = second = x[0]
    for each in x:
        first, second = np.left_shift(first, each), np.left_shift(each, second)
    return first, second


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("function", [np.left_shift.accumulate, np.left_shift.reduce, shifted])
def test_chains_of_shifts(function, dtype):
    """By amounts within the width of a type, at its ends, beyond it and, of what has a sign, negative ones."""
    compiled, bits = graph_jit(lambda x: function(x)), np.iinfo(dtype).bits
    amounts = [1, 0, bits - 1, bits, bits + 1, *([-1, np.iinfo(dtype).min] if np.iinfo(dtype).min else []), 2]
    triples = np.stack(np.meshgrid(*[np.array(amounts, dtype)] * 3), -1).reshape(-1, 3)
    rng = np.random.default_rng(0)
    for x in [*triples, rng.integers(0, 3, 50).astype(dtype), np.zeros(9, dtype), triples[::-5, 1]]:
        found, wanted = np.asarray(compiled(x)), np.asarray(function(x))
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
