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


SLOPES = {  # by the last argument, but where another one is said
    "lpmv(0, 3, 1)": (lambda x: special.lpmv(0, 3, x), 1.0, 6.0),
    "lpmv(0, 2, -1)": (lambda x: special.lpmv(0, 2, x), -1.0, -3.0),
    "lpmv(0, -3, -1)": (lambda x: special.lpmv(0, -3, x), -1.0, -3.0),
    "lpmv(1, 2, 1)": (lambda x: special.lpmv(1, 2, x), 1.0, np.inf),
    "lpmv(2, 3, 1)": (lambda x: special.lpmv(2, 3, x), 1.0, -30.0),
    "lpmv(-2, 3, -1)": (lambda x: special.lpmv(-2, 3, x), -1.0, -0.25),
    "lpmv(3, 3, 1)": (lambda x: special.lpmv(3, 3, x), 1.0, 0.0),
    "hyp1f1(0, -2, x)": (lambda x: special.hyp1f1(0.0, -2.0, x), 0.5, 0.0),
    "hyp1f1(-1, -3, x)": (lambda x: special.hyp1f1(-1.0, -3.0, x), 0.3, 1 / 3),
    "hyp2f1(2, 0, 1, 1)": (lambda x: special.hyp2f1(2.0, 0.0, 1.0, x), 1.0, 0.0),
    "gdtr by the rate at 0": (lambda a: special.gdtr(a, 0.3, 0.0), 2.0, 0.0),
    "gdtrix of 0 by the rate": (lambda a: special.gdtrix(a, 0.3, 0.0), 2.0, 0.0),
    "fdtri of 0 by a shape": (lambda n: special.fdtri(2.0, n, 0.0), 3.0, 0.0),
    "pdtrik of few": (lambda m: special.pdtrik(0.3, m), 0.5, 0.0),
    "pdtrik of few by probability": (lambda p: special.pdtrik(p, 0.5), 0.3, 0.0),
    "exprel(inf)": (special.exprel, np.inf, np.inf),
    "exprel(-inf)": (special.exprel, -np.inf, 0.0),
    "exprel(1e300)": (special.exprel, 1e300, np.inf),
    "boxcox(0, 2)": (lambda p: special.boxcox(0.0, p), 2.0, 0.25),
    "boxcox(0, -1)": (lambda p: special.boxcox(0.0, p), -1.0, np.inf),
    "boxcox(inf, -2)": (lambda p: special.boxcox(np.inf, p), -2.0, 0.25),
    "boxcox1p(1e300, 3)": (lambda p: special.boxcox1p(1e300, p), 3.0, np.inf),
}


@pytest.mark.parametrize("case", SLOPES)
@pytest.mark.filterwarnings("ignore")
def test_slopes_at_ends(case):
    """Poles, degenerate parameters, and numbers for which SciPy's hypergeometric functions do not return."""
    function, point, slope = SLOPES[case]
    np.testing.assert_allclose(graph_jit(grad(lambda x: function(x)))(point), slope, rtol=1e-14)


def test_orders_that_are_an_array():
    orders, x = np.arange(4), np.array([0.0, 0.5, 0.0, 2.0])
    slope = graph_jit(grad(lambda x: special.spherical_jn(orders, x).sum()))(x)
    np.testing.assert_allclose(slope, special.spherical_jn(orders, x, True), rtol=1e-12)


def test_harmonics_at_a_pole_have_one_sided_slopes():
    """The sine's absolute value is what SciPy has."""
    slope = graph_jit(grad(lambda x: special.sph_legendre_p(2, 1, x)[0]))(1e-12)
    value = special.sph_legendre_p(2, 1, 1e-6)[0]
    np.testing.assert_allclose(slope, value / 1e-6, rtol=1e-6)
