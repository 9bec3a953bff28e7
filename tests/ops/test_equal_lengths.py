"""Ops of arguments whose lengths turn out to be equal while the function is traced, before the op or behind it."""

from itertools import combinations

import numpy as np
import optree
import pytest

from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Unsupported
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.testing.op_calls import accepted
from tests.support.errors import error_of

NAMES = [op.name for op in registry if op.kind != "control" and not isinstance(op.frontend, Unsupported)]


def equal_axes(arrays):
    """The pairs of axes that are as long as each other."""
    axes = [(number, axis) for number, each in enumerate(arrays) for axis in range(each.ndim)]
    return [
        pair for pair in combinations(axes, 2) if len({arrays[number].shape[axis] for number, axis in pair} - {1}) == 1
    ]


def stated(arrays, pairs):
    """A number whose computation says that the lengths are equal."""
    return sum((np.zeros(arrays[i].shape[p]) + np.zeros(arrays[j].shape[q])).sum() for (i, p), (j, q) in pairs)


def square_batch(arrays):
    """An array of several matrices with as many of them as each has rows."""
    if len(arrays) != 1 or arrays[0].ndim < 3 or not arrays[0].size:
        return None
    return [np.take(arrays[0], np.arange(arrays[0].shape[1]) % len(arrays[0]), axis=0)]


def cases(name):
    """Functions of one op with arrays some of whose lengths are equal: as the samples have them, and a batch."""
    calls = list(accepted(registry[name], FLOAT64))
    given = [(each.function, each.arrays) for each in calls if equal_axes(each.arrays)][:1]
    batches = [(each.function, found) for each in calls if (found := square_batch(each.arrays)) is not None]
    return given + [each for each in batches[:1] if error_of(*each) is None]


@pytest.mark.repeats(but_each=5)
@pytest.mark.parametrize("is_before", [False, pytest.param(True, marks=pytest.mark.repeats)])
@pytest.mark.parametrize("name", NAMES)
def test_results_do_not_depend_on_what_is_known_of_lengths(name, is_before):
    found = cases(name)
    if not found:
        pytest.skip("no two lengths are equal")
    for called, arrays in found:
        compare(called, arrays, is_before)


def compare(called, arrays, is_before):
    pairs = equal_axes(arrays)

    def function(*arrays):
        first = stated(arrays, pairs) if is_before else 0
        found = called(*arrays)
        return found, first if is_before else stated(arrays, pairs)

    function.__signature__ = called.__signature__
    found, zero = GraphFunction(function, cache=False)(*arrays)
    assert zero == 0
    expected = GraphFunction(called, cache=False)(*arrays)
    for one, other in zip(*map(optree.tree_leaves, (found, expected)), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12, atol=1e-12)
