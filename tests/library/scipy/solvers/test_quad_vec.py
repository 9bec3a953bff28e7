"""Integrals of arrays: `scipy.integrate.quad_vec` and its derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad, quad_vec

import numbagraph as ng

C = np.array([0.3, 1.0])


MAGNITUDES: Any = lambda x: np.sum(np.abs(x))  # noqa: E731


PROGRAMS: dict[str, Callable[..., Any]] = {
    "powers": lambda c: quad_vec(lambda x: x ** (c + 0.2), 0.0, 2.0, full_output=True),
    "a number": lambda c: quad_vec(lambda x: abs(x - 0.3) ** 0.5 + c[0], 1.0, 0.0, points=[0.5], full_output=True),
    "a line": lambda c: quad_vec(lambda x: np.exp(-c * x * x + x), np.inf, -np.inf, points=[1.0], full_output=True),
    "a half line": lambda c: quad_vec(lambda x: np.exp(c * x), -np.inf, 1.0, norm="max", full_output=True),
    "trapezoids": lambda c: quad_vec(
        lambda x: np.cos(c * x), 0.0, 1.0, norm="max", quadrature="trapezoid", epsrel=1e-4, full_output=True
    ),
    "complex": lambda c: quad_vec(
        lambda x: np.exp(20j * c * x), 0.0, c[1], norm=MAGNITUDES, quadrature="gk15", full_output=True
    ),
    "not reached": lambda c: quad_vec(lambda x: 1 / x**2 + c[:, None], 0.0, 1.0, limit=20, full_output=True),
    "not finite": lambda c: quad_vec(lambda x: np.log(c - 0.5 - x), 0.0, 1.0, full_output=True),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_errors_and_counts_are_scipys(name):
    value, error, info = ng.graph_jit(PROGRAMS[name])(C)
    expected_value, expected_error, expected = PROGRAMS[name](C)
    np.testing.assert_allclose(value, expected_value, rtol=1e-12)
    np.testing.assert_allclose(error, expected_error, rtol=1e-4, atol=1e-16)
    fields = ("neval", "success", "status", "message")
    assert [getattr(info, each) for each in fields] == [getattr(expected, each) for each in fields]
    assert info.integrals.shape == expected.integrals.shape
    order, other = (np.lexsort(each.intervals.T) for each in (info, expected))
    np.testing.assert_allclose(info.intervals[order], expected.intervals[other], rtol=1e-12)
    np.testing.assert_allclose(info.integrals[order], expected.integrals[other], rtol=1e-9, atol=1e-15)


def decays(c, a, b):
    return quad_vec(lambda x: np.exp(-c * x) * x, a, b)[0]


def test_derivatives_by_parameters_and_bounds():
    c, a, b = 0.5, 0.1, 2.0
    found = ng.graph_jit(ng.jacfwd(decays, argnums=(0, 1, 2)))(c, a, b)
    expected = -quad(lambda x: np.exp(-c * x) * x**2, a, b)[0], -np.exp(-c * a) * a, np.exp(-c * b) * b
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    second = ng.graph_jit(ng.jacfwd(ng.grad(decays)))(c, a, b)
    np.testing.assert_allclose(second, quad(lambda x: np.exp(-c * x) * x**3, a, b)[0], rtol=1e-9)


def test_gradients_of_arrays_and_of_complex_numbers():
    def length(c):
        return np.sum(np.abs(quad_vec(lambda x: np.exp(1j * c * x) * x, 0.0, 2.0)[0]) ** 2)

    steps = 1e-6 * np.eye(2)
    expected = [(length(C + h) - length(C - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(ng.graph_jit(ng.grad(length))(C), expected, rtol=1e-7)


def test_a_derivative_that_does_not_converge_is_not_a_number():
    def area(c):
        return quad_vec(lambda x: np.sqrt(np.abs(x - c)), 0.0, 1.0, epsrel=1e-4, limit=5)[0]

    assert np.isnan(ng.graph_jit(ng.grad(lambda c: area(c) ** 2))(1 / 3))


def test_batches():
    found = ng.graph_jit(ng.vmap(lambda c: decays(c, 0.1, 2.0)))(np.array([0.5, 1.0, 30.0]))
    np.testing.assert_allclose(found, [decays(each, 0.1, 2.0) for each in (0.5, 1.0, 30.0)], rtol=1e-13)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="unknown quadrature 'gk2'"):
        ng.graph_jit(lambda c: quad_vec(lambda x: c * x, 0, 1, quadrature="gk2"))(1.0)
    with pytest.raises(ValueError, match="invalid integration bounds"):
        ng.graph_jit(lambda c: quad_vec(lambda x: x, 0, c))(np.nan)
