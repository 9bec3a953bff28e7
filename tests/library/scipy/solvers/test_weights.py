"""Integrals with weights: `scipy.integrate.quad` with ``weight=``, and their derivatives."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.integrate import IntegrationWarning, quad
from scipy.special import digamma

import numbagraph as ng


def f(x, c):
    return np.exp(-c * x) * np.cos(6 * c * x * x) * np.abs(x - 0.7)


def weighted(a, b, c, one, other, weight):
    wvar = one if weight == "cauchy" else (one, other)
    return quad(f, a, b, (c,), weight=weight, wvar=wvar, full_output=1)[:3]


compiled = ng.graph_jit(weighted)
CASES = [(0.0, 2.0, 0.6, 0.3, -0.5), (3.0, -1.0, 0.4, 0.0, 0.5), (0.2, 0.3, 2.0, 0.9, 0.0)]


@pytest.mark.parametrize("weight", ["cauchy", "alg", "alg-loga", "alg-logb", "alg-log"])
def test_values_errors_and_counts_are_quadpacks(weight):
    for case in CASES:
        found, expected = compiled(*case, weight), weighted(*case, weight)
        np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-12, atol=1e-13)
        last = expected[2]["last"]
        assert (found[2]["last"], found[2]["neval"]) == (last, expected[2]["neval"])
        for name in ("alist", "blist", "rlist", "elist"):
            np.testing.assert_allclose(found[2][name][:last], expected[2][name][:last], rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(found[2]["iord"][: last // 2], expected[2]["iord"][: last // 2])


def test_complex_functions_and_empty_intervals():
    def both(b):
        wave: Any = quad(lambda x: np.exp(1j * x), 0.0, 2.0, weight="cauchy", wvar=b, complex_func=True)
        return wave, quad(np.exp, b, b, weight="alg", wvar=(0.5, 0.5))

    for found, expected in zip(ng.graph_jit(both)(0.7), both(0.7), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_warnings_are_scipys():
    def warned(c):
        return quad(lambda x: c / np.abs(x - 0.3), 0.0, 1.0, weight="alg", wvar=(0.1, 0.2), limit=5, points=[0.3])

    def texts(function):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(1.0)
        return [str(each.message) for each in caught if issubclass(each.category, IntegrationWarning)]

    assert texts(ng.graph_jit(warned)) == texts(warned)


def slopes(function, *numbers):
    """Differences of a function by each of its numbers."""
    p = np.array(numbers)
    return [(function(*(p + h)) - function(*(p - h))) / 2e-4 for h in 1e-4 * np.eye(len(p))]


def around(k, a, b, c):
    return quad(lambda x: np.exp(k * x), a, b, weight="cauchy", wvar=c, epsabs=1e-12, epsrel=1e-12)[0]


def test_derivatives_of_a_principal_value():
    p = 0.8, -1.0, 2.0, 0.3
    found = ng.graph_jit(ng.grad(around, argnums=(0, 1, 2, 3)))(*p)
    np.testing.assert_allclose(found, slopes(around, *p), rtol=1e-6)
    second = (around(*p[:3], 0.301) - 2 * around(*p) + around(*p[:3], 0.299)) / 1e-6
    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(ng.grad(around, argnums=3), argnums=3))(*p), second, rtol=1e-4)


def test_derivatives_by_powers_are_those_of_eulers_beta_function():
    def beta(p):
        return quad(lambda x: 1.0, 0.0, 1.0, weight="alg", wvar=(p, 0.5))[0]

    expected = beta(0.3) * (digamma(1.3) - digamma(2.8))
    np.testing.assert_allclose(ng.graph_jit(ng.grad(beta))(0.3), expected, rtol=1e-7)


@pytest.mark.parametrize("weight", ["alg", "alg-loga"])
def test_derivatives_by_bounds_and_by_what_the_function_reads(weight):
    def between(k, a, b):
        return quad(lambda x: np.exp(k * x), a, b, weight=weight, wvar=(-0.6, 0.5), epsabs=1e-11)[0]

    found = ng.graph_jit(ng.grad(between, argnums=(0, 1, 2)))(0.8, 0.1, 2.0)
    np.testing.assert_allclose(found, slopes(between, 0.8, 0.1, 2.0), rtol=1e-6)


def test_batches():
    poles = np.array([0.2, 0.5, 1.4])
    found = ng.graph_jit(ng.vmap(lambda c: weighted(0.0, 1.0, 0.5, c, c, "cauchy")[0]))(poles)
    np.testing.assert_allclose(found, [weighted(0.0, 1.0, 0.5, c, c, "cauchy")[0] for c in poles], rtol=1e-12)


def test_bad_input_is_refused():
    def integral(b=1.0, weight="cauchy", wvar: Any = 0.3, **options):
        return ng.graph_jit(lambda c: quad(lambda x: c * x, 0.0, b, weight=weight, wvar=wvar, **options)[0])(1.0)

    with pytest.raises(ValueError, match="must not equal integration limits"):
        integral(wvar=1.0)
    with pytest.raises(ValueError, match="must both be >= -1"):
        integral(weight="alg", wvar=(-1.5, 0.0))
    with pytest.raises(ValueError, match="weight over an infinite interval"):
        integral(b=np.inf)
    with pytest.raises(ValueError, match="cosine not a recognized"):
        integral(weight="cosine")
    with pytest.raises(ValueError, match="must be greater than both"):
        integral(epsabs=0.0, epsrel=1e-20)
