"""Lists of numbers: those that begin with integers and get wider ones, and those of arrays."""

import numpy as np
import pytest

import numbagraph as ng

BACKENDS = pytest.mark.parametrize("backend", ["numba", "numpy"])


def filled(x, n):
    table = [0] * n
    for i in range(n):
        table[i] = x[i]
    return np.array(table)


def with_an_integer(x, k, n):
    table = [0] * n
    table[0] = x[0]
    table[1] = k
    return table[1]


def with_a_constant(x, n):
    table = [0] * n
    table[0] = x[0]
    table[1] = 2**53 + 1
    return table[1]


@BACKENDS
def test_each_version_has_a_list_of_its_own_dtype(backend):
    function = ng.graph_jit(filled, backend=backend)
    for x in (np.array([0.5, 1.5]), np.array([3, 2**60 + 1]), np.array([0.5 + 2j, 1j])):
        found = function(x, 2)
        np.testing.assert_array_equal(found, filled(x, 2), strict=True)


@BACKENDS
@pytest.mark.parametrize("number", [2**53, -(2**53), 0])
def test_integers_that_are_floats_are_kept(backend, number):
    found = ng.graph_jit(with_an_integer, backend=backend)(np.array([0.5]), number, 3)
    assert found == number


@BACKENDS
@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)])
def test_integers_that_are_no_floats_are_errors(backend, number):
    function = ng.graph_jit(with_an_integer, backend=backend)
    with pytest.raises(OverflowError, match=r"beyond 2\*\*53.*begin with floats"):
        function(np.array([0.5]), number, 3)
    assert function(np.array([7]), number, 3) == number  # all are integers


@BACKENDS
def test_constants_that_are_no_floats_are_errors(backend):
    with pytest.raises(OverflowError, match=r"beyond 2\*\*53"):
        ng.graph_jit(with_a_constant, backend=backend)(np.array([0.5]), 3)
    assert ng.graph_jit(with_a_constant, backend=backend)(np.array([7]), 3) == 2**53 + 1


def nothing_there(x, n):
    table = [None] * n
    for i in range(n):
        table[i] = x[i]
    return np.array(table)


def test_lists_of_none_are_refused_with_what_to_write():
    with pytest.raises(ng.TraceError, match=r"\[-1\] \* n or \[math.nan\] \* n"):
        ng.graph_jit(nothing_there)(np.array([0.5, 1.0]), 2)


def listed(x):
    return x.tolist()


@BACKENDS
def test_integers_beyond_int64_are_not_listed(backend):
    function = ng.graph_jit(listed, backend=backend)
    assert function(np.array([1, 2**63 - 1], np.uint64)) == [1, 2**63 - 1]
    with pytest.raises(OverflowError, match="beyond int64"):
        function(np.array([1, 2**63], np.uint64))


def looked_up(x, values):
    return values[x[0]]


def test_traced_keys_of_dicts_from_outside_are_refused_with_what_to_write():
    with pytest.raises(ng.TraceError, match=r"return_counts=True\).*(?s:.*)test_lists_of_numbers.py:\d+"):
        ng.graph_jit(looked_up)(np.array([3, 1, 3]), {3: 2.0, 1: 0.5})
