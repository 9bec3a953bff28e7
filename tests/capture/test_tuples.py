"""Tuples of the elements of arrays, and what functions that are not converted do with them."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, least_squares, minimize

from numbagraph import grad, graph_jit, vmap

AT = np.array([1.1, 0.4, 2.0])


def joined(p):
    held = tuple(p)
    before = held
    held += held
    return held, before, (2.0, *held), (2.0,) + before, before + (1.0,), before * 2, held[1:], held[-1]  # noqa: RUF005


def classes(p):
    held = tuple(p)
    return isinstance(held, tuple), isinstance(list(p), tuple), isinstance(list(held), list), type(held) is tuple


def taken(p):
    held = tuple(p)
    return sum(held, 0.0), max(held), sorted(held), tuple(reversed(held)), held.index(2.0), held.count(0.4), len(held)


def chosen(p):
    held = tuple(p) if p[0] > 0 else tuple(-p)
    total = 0.0
    for each in held:
        total = total + each
    return held, total, type(held) is tuple


def selected(p):
    return tuple(each for each in p if each > 1), [*tuple(p)], np.array(tuple(p)), tuple(p.tolist())


def rows(p):
    return tuple(np.outer(p, p)), [tuple(p), (1, 2)]


@pytest.mark.parametrize("f", [joined, classes, taken, chosen, selected, rows])
def test_tuples_of_elements(f):
    expected, found = f(AT), graph_jit(f)(AT)
    np.testing.assert_equal(found, expected)
    assert [type(each) for each in found] == [type(each) for each in expected]


def test_no_element_of_a_tuple_is_replaced():
    def replaced(p):
        held = tuple(p)
        held[0] = 1.0
        return held

    def appended(p):
        held = tuple(p)
        held.append(1.0)
        return held

    with pytest.raises(TypeError, match="does not support item assignment"):
        graph_jit(replaced)(AT)
    with pytest.raises(TypeError, match="a tuple cannot be extended"):
        graph_jit(appended)(AT)


def pairs(p):
    return list((each - 1, each + 1) for each in p)  # noqa: C400  a generator


def test_lists_of_tuples_of_generators():
    f = graph_jit(lambda p: [low * high for low, high in pairs(p)])
    np.testing.assert_allclose(f(AT), (AT - 1) * (AT + 1))


SOLVERS = {
    "quad": lambda p: quad(lambda x, a, b, c: np.exp(-a * x) + b * c, 0.0, 1.0, args=tuple(p))[0],
    "solve_ivp": lambda p: solve_ivp(
        lambda t, y, a, b, c: -a * y + b * c, (0.0, 1.0), [1.0, 0.5], args=tuple(p), rtol=1e-9, atol=1e-9
    ).y[1, -1],
    "brentq": lambda p: brentq(lambda x, a, b, c: np.exp(x) - a - b * c, -3.0, 3.0, args=tuple(p), xtol=1e-13),
    "least_squares": lambda p: least_squares(lambda x, a, b, c: x**3 - a * b * c, [1.0], args=tuple(p)).x[0],
}


@pytest.mark.parametrize("name", SOLVERS)
def test_arguments_of_functions_of_solvers(name):
    """The numbers of parameters of a model are known, once the elements of an array are its arguments."""
    f = SOLVERS[name]
    np.testing.assert_allclose(graph_jit(f)(AT), f(AT), rtol=1e-6)
    step = 1e-5 * np.eye(3)
    expected = [(f(AT + each) - f(AT - each)) / 2e-5 for each in step]
    np.testing.assert_allclose(grad(f)(AT), expected, rtol=1e-3, atol=1e-6)


def test_arguments_in_batches():
    f = SOLVERS["brentq"]
    batch = np.stack([AT, AT / 2])
    np.testing.assert_allclose(graph_jit(vmap(f))(batch), [f(each) for each in batch], rtol=1e-12)


def test_bounds_about_the_elements_of_an_array():
    def nearest(p):
        return minimize(lambda x: np.sum((x - 3) ** 2), p, bounds=tuple((each - 1, each + 1) for each in p)).x

    np.testing.assert_allclose(graph_jit(nearest)(AT), np.minimum(3.0, AT + 1), rtol=1e-6)
