"""Loops that write arguments where they lie: nothing ends them once they have begun."""

import numpy as np
import pytest

from numbagraph import graph_jit
from tests.support.errors import error_of

RNG = np.random.default_rng(1)
SIZE = 9
IN_PLACE = "asks for no signals: it updates an argument where that lies"


def running(x, y):
    for i in range(1, len(x)):
        x[i] += x[i - 1]


def chosen(x, y):
    for i in range(len(x)):
        if y[i] > 0.5:
            x[i] = y[i]
        else:
            x[i] -= 1


def both(x, y):
    for i in range(2, len(x)):
        x[i] = x[i - 1] + y[i - 2]
        y[i] = x[i] * 2


def of_pairs(x, y):
    for i in range(len(x) // 2):
        x[2 * i], x[2 * i + 1] = x[2 * i + 1], x[2 * i]


def ahead(x, y):
    for i in range(len(y) - 1):
        x[i + 1] = x[i] * y[i + 1]


def add_at(x, y):
    np.add.at(x, np.arange(SIZE) // 2, y)


def multiply_at(x, y):
    np.multiply.at(x, [0, -1, 0, 3], y[:4])


def negative_at(x, y):
    np.negative.at(x, [2, 2, 5])


def minimum_at_last(x, y):
    x[1:] *= 2
    np.minimum.at(x, np.argsort(y), y - 1)


PROGRAMS = [running, chosen, both, of_pairs, ahead, add_at, multiply_at, negative_at, minimum_at_last]


def arrays(lengths=(SIZE, SIZE)):
    return [RNG.random(length) for length in lengths]


def ran(function, given):
    own = [each.copy() for each in given]
    function(*own)
    return own


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda each: each.__name__)
def test_arguments_are_written_where_they_lie(function):
    compiled, given = graph_jit(function), arrays()
    for _ in range(2):
        for found, expected in zip(ran(compiled, given), ran(function, given), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert IN_PLACE in str(compiled.explain(*given))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("lengths", [(SIZE, SIZE - 3), (SIZE - 3, SIZE), (1, SIZE), (SIZE, 0), (0, SIZE), (0, 0)])
def test_loops_that_fail_leave_arguments(function, lengths):
    """Also those that only may: a branch that writes beyond the end need not be taken."""
    compiled = graph_jit(function)
    for low in (0.0, 0.5):
        given = [low + each / 2 for each in arrays(lengths)]
        expected, found = error_of(function, [each.copy() for each in given]), [each.copy() for each in given]
        assert issubclass(error_of(compiled, found) or type(None), expected or type(None))
        wanted = given if expected is not None else ran(function, given)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("view", [np.s_[::2], np.s_[:8:-1], np.s_[3:12]], ids=str)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda each: each.__name__)
def test_views(function, view):
    compiled = graph_jit(function)
    (first, second), (one, other) = arrays((2 * SIZE,) * 2), arrays((2 * SIZE,) * 2)
    one[:], other[:] = first, second
    compiled(one[view], other[view])
    function(first[view], second[view])
    np.testing.assert_array_equal(one, first)
    np.testing.assert_array_equal(other, second)


def long(x, n):
    for i in range(n):
        x[i % 3] += i


def nested(x, n):
    for i in range(len(x)):
        for _ in range(n):
            x[i] += 1


def in_branches(x, n):
    for i in range(len(x)):
        if x[i] > 1:
            if x[i] > 3:
                x[i - n] = 0
            else:
                x[0] -= 1


def of_rows(x, n):
    for i in range(1, len(x)):
        x[i] += np.cumsum(x)[0] * n


def by_elements(x, n):
    for i in range(len(x)):
        x[int(x[i])] = n


@pytest.mark.parametrize("function", [long, nested, in_branches, of_rows, by_elements])
def test_loops_that_may_end_early_work_on_copies(function):
    """They may be long, or fail at what is only known in their steps."""
    compiled, x = graph_jit(function), np.arange(5.0)
    assert IN_PLACE not in str(compiled.explain(x, 2))
    expected, found = x.copy(), x.copy()
    function(expected, 2)
    compiled(found, 2)
    np.testing.assert_array_equal(found, expected)


def twice(x, y):
    for i in range(len(x)):
        x[i] += 1
    for i in range(len(x)):
        y[i + 1] = x[i]


def then_inverse(x, y):
    for i in range(len(x)):
        x[i] += 1
    return np.linalg.inv(y.reshape(2, 2))


@pytest.mark.parametrize(("function", "second"), [(twice, 3), (twice, 9), (then_inverse, 4)])
def test_what_comes_behind_may_fail(function, second):
    compiled = graph_jit(function)
    x, y = np.arange(4.0), np.ones(second)
    assert error_of(compiled, [x, y]) is error_of(function, [np.arange(4.0), np.ones(second)])
    assert error_of(compiled, [x, y]) is not None or second == SIZE
    if second < SIZE:
        np.testing.assert_array_equal(x, np.arange(4.0))
        np.testing.assert_array_equal(y, np.ones(second))
