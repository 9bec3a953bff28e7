"""Copies of arrays of enclosing scopes are arrays of the function: traced elements are assigned to them."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit

TABLE = np.arange(12.0).reshape(3, 4)
COUNTS = np.arange(4)
DATES = np.array(["2020-01-01", "2021-01-01"], "M8[D]")


def by_method(x):
    u = TABLE.copy()
    u[1:] += x
    u[0, 0] = x
    return u


def by_method_in_order(x):
    u = TABLE.copy("F")
    u[:, 1] *= x
    return u


def by_function(x):
    u = np.copy(TABLE)
    u[1] = x
    return u


def of_a_view(x):
    u = TABLE[::-1, 1:].copy()
    u[0] -= x
    return u


def of_integers(x):
    u = COUNTS.copy()
    u[1] = x
    return u


def of_a_local_array(x):
    own = 2 * TABLE
    u = own.copy()
    u[0] = x
    return u, own


def in_a_loop(x):
    u = TABLE.copy()
    for i in range(int(x)):
        u[i % 3, 0] += x
    return u


def that_stays(x):
    u = TABLE.copy()
    return u * x, u


def of_dates(x):
    years = DATES.copy()
    years[0] = years[1]
    return x * (years[1] - years[0]).astype(int)


PROGRAMS = [
    by_method, by_method_in_order, by_function, of_a_view, of_integers, of_a_local_array, in_a_loop, that_stays,
    of_dates,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_copy_is_assigned_to(program):
    expected, found, again = program(3.0), graph_jit(program)(3.0), graph_jit(program, backend="numpy")(3.0)
    for each in (found, again):
        np.testing.assert_equal(each, expected)
    assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)
    np.testing.assert_array_equal(TABLE, np.arange(12.0).reshape(3, 4))
    np.testing.assert_array_equal(COUNTS, np.arange(4))


@graph_jit
def stepped(u, steps, rate):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += rate * (u[2:] + u[:-2] - 2 * u[1:-1])
    return u


def test_a_compiled_function_copies_an_array_that_its_caller_captures():
    def total(rate):
        return np.sum(stepped(TABLE**2, 3, rate) ** 2)

    plain, h = stepped.function, 1e-6
    expected = (np.sum(plain(TABLE**2, 3, 0.1 + h) ** 2) - np.sum(plain(TABLE**2, 3, 0.1 - h) ** 2)) / (2 * h)
    assert graph_jit(total)(0.1) == pytest.approx(np.sum(plain(TABLE**2, 3, 0.1) ** 2), rel=1e-13)
    assert grad(total)(0.1) == pytest.approx(expected, rel=1e-6)
