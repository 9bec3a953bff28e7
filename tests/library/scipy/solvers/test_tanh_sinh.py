"""Integrals of elementwise functions: `scipy.integrate.tanhsinh` and its derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import tanhsinh

import numbagraph as ng

LOW = np.array([0.1, 1.0, np.nan, 2.0, -np.inf, 1.0])
HIGH = np.array([2.0, 1.0, 3.0, np.inf, np.inf, -np.inf])


def bump(x, c):
    return np.exp(-c * x * x) * np.where(x < 0.3, 1.0, x)


PROGRAMS: dict[str, Callable[..., Any]] = {
    "all kinds of bounds": lambda c: tanhsinh(bump, LOW, HIGH, args=(c,), maxlevel=6),
    "a singularity": lambda c: tanhsinh(lambda x, c: np.log(x) / np.sqrt(x) * c, 0.0, 1.0, args=(c,)),
    "a divergent integral": lambda c: tanhsinh(lambda x, c: c / x**2, 0.0, 1.0, args=(c,), maxlevel=4),
    "levels from the lowest": lambda c: tanhsinh(
        lambda x, c: np.sin(9 * c * x) + 1, 0, 2, args=c, minlevel=0, maxlevel=5
    ),
    "levels from a high one": lambda c: tanhsinh(lambda x, c: np.sin(9 * c * x), 0, 2, args=(c,), minlevel=3, atol=0.1),
    "not finite": lambda c: tanhsinh(lambda x, c: 0.0 * x + np.sqrt(c - 2.0), 0.0, 1.0, args=(c,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_errors_and_counts_are_scipys(name):
    found, expected = ng.graph_jit(PROGRAMS[name])(0.7), PROGRAMS[name](0.7)
    # the waves are of size 1 each, and almost cancel
    np.testing.assert_allclose(found.integral, expected.integral, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found.error, expected.error, rtol=1e-4, atol=4e-15)
    for field in ("status", "success", "nfev", "maxlevel"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


def area(c, a, b):
    return tanhsinh(lambda x, c: np.exp(-c * x) * x, a, b, args=(c,)).integral


def test_derivatives_by_parameters_and_bounds():
    c, a, b = 2.0, 0.1, 1.5
    found = ng.graph_jit(ng.grad(area, argnums=(0, 1, 2)))(c, a, b)
    second = ng.graph_jit(ng.jacfwd(ng.grad(area)))(c, a, b)
    moments = [tanhsinh(lambda x, n=n: np.exp(-c * x) * x**n, a, b).integral for n in (2, 3)]
    np.testing.assert_allclose(found, [-moments[0], -a * np.exp(-c * a), b * np.exp(-c * b)], rtol=1e-12)
    np.testing.assert_allclose(second, moments[1], rtol=1e-12)


def test_each_element_has_its_own_derivative():
    c = np.array([2.0, 30.0])
    found = ng.graph_jit(ng.jacfwd(area))(c, 0.0, np.inf)
    np.testing.assert_allclose(found, np.diag(-2 / c**3), rtol=1e-12)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="must be non-negative and finite"):
        ng.graph_jit(lambda c: tanhsinh(lambda x: c * x, 0, 1, rtol=-1.0).integral)(1.0)
    with pytest.raises(ValueError, match="must be non-negative"):
        ng.graph_jit(lambda c: tanhsinh(lambda x: c * x, 0, 1, maxlevel=-1).integral)(1.0)
    with pytest.raises(TypeError, match="preserve_shape="):
        ng.graph_jit(lambda c: tanhsinh(lambda x: c * x, 0, 1, preserve_shape=True).integral)(1.0)
    with pytest.raises(TypeError, match="of complex numbers"):
        ng.graph_jit(lambda c: tanhsinh(lambda x: c * x * 1j, 0, 1).integral)(1.0)
