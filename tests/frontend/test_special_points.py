"""Derivatives of SciPy's functions that are no ufuncs, where their formulas are replaced by a value."""

import numpy as np
import pytest
from scipy import special

from numbagraph import grad, graph_jit

STEP = 1e-4
FUNCTIONS = {
    **{f"spherical_jn of {n}": (lambda x, n=n: special.spherical_jn(n, x), 0.0) for n in range(4)},
    **{f"spherical_in of {n}": (lambda x, n=n: special.spherical_in(n, x), 0.0) for n in range(4)},
    **{f"slope of spherical_jn of {n}": (lambda x, n=n: special.spherical_jn(n, x, True), 0.0) for n in range(4)},
    **{f"slope of spherical_in of {n}": (lambda x, n=n: special.spherical_in(n, x, True), 0.0) for n in range(4)},
    "diric of an odd number": (lambda x: special.diric(x, 3), 0.0),
    "diric of an even number": (lambda x: special.diric(x, 4), 2 * np.pi),
    "lambertw": (lambda x: special.lambertw(x).real, 0.0),
    "sinc": (lambda x: np.sinc(x), 0.0),
    "comb": (lambda x: special.comb(5.0, x), 1.0),
    "sph_legendre_p at a pole": (lambda x: special.sph_legendre_p(3, 2, x)[0], 0.0),
    "zeta at a zero": (lambda x: special.zeta(x), -4.0),
}


@pytest.mark.parametrize("case", FUNCTIONS)
def test_first_and_second_derivatives(case):
    function, point = FUNCTIONS[case]
    below, at, above = (float(function(point + shift)) for shift in (-STEP, 0.0, STEP))
    first, second = (above - below) / (2 * STEP), (above - 2 * at + below) / STEP**2
    np.testing.assert_allclose(graph_jit(grad(function))(point), first, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(graph_jit(grad(grad(function)))(point), second, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "polynomial", ["legendre", "sh_legendre", "chebyt", "chebyu", "chebyc", "chebys", "sh_chebyt", "sh_chebyu"]
)
def test_polynomials_of_degrees_up_to_zero(polynomial):
    """Negative degrees are those of other polynomials; also where the degree is not known while tracing."""
    function, x = getattr(special, f"eval_{polynomial}"), np.array([0.3, 0.6])
    for degree in (-3, -2, -1, 0):
        wanted = (function(degree, x + STEP) - function(degree, x - STEP)) / (2 * STEP)
        known = graph_jit(grad(lambda x, n=degree: function(n, x).sum()))(x)
        np.testing.assert_allclose(known, wanted, rtol=1e-6, atol=1e-9)
        given = graph_jit(grad(lambda x, n: function(n, x).sum()))(x, np.array([degree, degree]))
        np.testing.assert_allclose(given, wanted, rtol=1e-6, atol=1e-9)


def test_orders_that_are_an_array():
    orders, x = np.arange(4), np.array([0.0, 0.5, 0.0, 2.0])
    slope = graph_jit(grad(lambda x: special.spherical_jn(orders, x).sum()))(x)
    np.testing.assert_allclose(slope, special.spherical_jn(orders, x, True), rtol=1e-12)


def test_harmonics_at_a_pole_have_one_sided_slopes():
    """The sine's absolute value is what SciPy has."""
    slope = graph_jit(grad(lambda x: special.sph_legendre_p(2, 1, x)[0]))(1e-12)
    value = special.sph_legendre_p(2, 1, 1e-6)[0]
    np.testing.assert_allclose(slope, value / 1e-6, rtol=1e-6)
