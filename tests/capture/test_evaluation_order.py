"""Statements that write elements evaluate their parts in Python's order, also in loops that become one op."""

import copy
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit


def raised(p, number):
    p[0] += number
    return p.sum()


def update_of_an_element(w, count):
    for _ in range(len(count)):
        w[0] += raised(w, 1.0)


def update_through_a_view(w, count):
    column = w[:, None][:, 0]
    for _ in range(len(count)):
        column[1] *= raised(w, 2.0)


def update_of_a_part(w, count):
    for _ in range(len(count)):
        w[1:] += raised(w, 1.0)


def key_that_the_value_changes(w, count):
    places = np.zeros_like(w)
    for _ in range(len(count)):
        w[int(places[0])] = raised(places, 1.0)


def updated_key_that_the_value_changes(w, count):
    places = np.zeros_like(w)
    for _ in range(len(count)):
        w[int(places[0])] += raised(places, 1.0)


class Holder:
    def __init__(self):
        self.total = 1.0

    def raised(self):
        self.total = self.total * 2
        return self.total


def update_of_an_attribute(w, count):
    holder = Holder()
    for _ in range(len(count)):
        holder.total += holder.raised()
    w[0] = holder.total


PROGRAMS: list[Any] = [
    update_of_an_element,
    update_through_a_view,
    update_of_a_part,
    key_that_the_value_changes,
    updated_key_that_the_value_changes,
    update_of_an_attribute,
]


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_parts_of_a_statement_are_evaluated_in_order(function, backend):
    given = np.array([-2.0, 0.0, 4.0, -2.0, 1.0]), np.zeros(3)
    expected, found = copy.deepcopy(given), copy.deepcopy(given)
    function(*expected)
    graph_jit(backend=backend, cache=False)(function)(*found)
    np.testing.assert_array_equal(found[0], expected[0])


def one_element(m, i, x):
    m[i, 1] = x


def updated_element(m, i, x):
    m[i, 1] += x


def element_of_a_view(m, i, x):
    m[i][1] = x


def element_of_the_flat_array(m, i, x):
    m.flat[i] = x


def all_of_a_vector(m, i, x):
    for row in range(len(m)):
        m[row, i] = x


SINGLE: list[Any] = [one_element, updated_element, element_of_a_view, element_of_the_flat_array, all_of_a_vector]


@pytest.mark.parametrize("function", SINGLE)
@pytest.mark.parametrize("value", [np.ones(1), np.ones((1, 1)), np.ones(2)])
def test_an_array_is_no_element(function, value):
    """NumPy refuses it since 2.4, and warns of arrays of one element before."""
    m = np.zeros((2, 3))
    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        graph_jit(cache=False)(function)(m, 1, value)
    np.testing.assert_array_equal(m, 0)


def test_numbers_and_arrays_without_dimensions_are_elements():
    def fill(m: Any, i: Any, x: Any) -> None:
        m[i, 1] = x
        m[0, 0, ...] = np.ones(1)
        m[1:2, 2] = np.ones(1)
        m[np.arange(1), i] = np.ones(1)

    expected, found = np.zeros((2, 3)), np.zeros((2, 3))
    fill(expected, 1, np.array(3.0))
    graph_jit(cache=False)(fill)(found, 1, np.array(3.0))
    np.testing.assert_array_equal(found, expected)
