"""Orthogonal polynomials of known degrees, which become recurrences."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from numbagraph import grad, graph_jit
from numbagraph.rewrite.orthogonal import FAMILIES, MOST_STEPS
from numbagraph.testing import check_gradients

AROUND_0, FROM_0_TO_1, TWICE = (-1, 1), (0, 1), (-2, 2)
HALF = Fraction(1, 2)


def rising(x, count):
    """Pochhammer's symbol."""
    return math.prod(x + k for k in range(count))


def factorials(*numbers):
    return Fraction(1, math.prod(map(math.factorial, numbers)))


def jacobi(a, b):
    """[DLMF 18.5.7]"""

    def term(n, k):
        return rising(n + a + b + 1, k) * rising(a + k + 1, n - k) * factorials(k, n - k)

    return lambda n, x: sum(term(n, k) * ((x - 1) / 2) ** k for k in range(n + 1))


def every_other_power(weight):
    return lambda n, x: sum((-1) ** k * weight(n, k) * (2 * x) ** (n - 2 * k) for k in range(n // 2 + 1))


def gegenbauer(order):
    """[DLMF 18.5.10]"""
    return every_other_power(lambda n, k: rising(Fraction(order), n - k) * factorials(k, n - 2 * k))


def laguerre(order):
    """[DLMF 18.5.12]"""
    return lambda n, x: sum(rising(order + k + 1, n - k) * factorials(n - k, k) * (-x) ** k for k in range(n + 1))


LEGENDRE, SECOND = jacobi(0, 0), gegenbauer(1)
FIRST = every_other_power(lambda n, k: Fraction(n, 2 * (n - k)) * math.factorial(n - k) * factorials(k, n - 2 * k))
"""[DLMF 18.5.11_1]"""
HERMITE = every_other_power(lambda n, k: math.factorial(n) * factorials(k, n - 2 * k))
"""[DLMF 18.5.13]"""
NORMED = every_other_power(lambda n, k: math.factorial(n) * factorials(k, n - 2 * k) * Fraction(2**k, 2**n))
"""[DLMF 18.7.11]"""


def shifted(function):
    return lambda n, x: function(n, 2 * x - 1)


def of_half(function, factor):
    return lambda n, x: factor * function(n, x / 2)


def shifted_jacobi(n, x):
    """Of 5/2 and 3/2. [DLMF 18.1.2]"""
    return jacobi(1, HALF)(n, 2 * x - 1) / (rising(n + Fraction(5, 2), n) * factorials(n))


CASES = [
    ("eval_legendre", (), LEGENDRE, AROUND_0),
    ("eval_sh_legendre", (), shifted(LEGENDRE), FROM_0_TO_1),
    ("eval_chebyt", (), FIRST, AROUND_0),
    ("eval_sh_chebyt", (), shifted(FIRST), FROM_0_TO_1),
    ("eval_chebyc", (), of_half(FIRST, 2), TWICE),
    ("eval_chebyu", (), SECOND, AROUND_0),
    ("eval_sh_chebyu", (), shifted(SECOND), FROM_0_TO_1),
    ("eval_chebys", (), of_half(SECOND, 1), TWICE),
    ("eval_gegenbauer", (0.25,), gegenbauer(HALF / 2), AROUND_0),
    ("eval_gegenbauer", (3.0,), gegenbauer(3), AROUND_0),
    ("eval_jacobi", (0.5, 0.5), jacobi(HALF, HALF), AROUND_0),
    ("eval_jacobi", (2.0, -0.5), jacobi(2, -HALF), AROUND_0),
    ("eval_jacobi", (-0.5, -0.5), jacobi(-HALF, -HALF), AROUND_0),
    ("eval_sh_jacobi", (2.5, 1.5), shifted_jacobi, FROM_0_TO_1),
    ("eval_laguerre", (), laguerre(0), (0, 20)),
    ("eval_genlaguerre", (0.5,), laguerre(HALF), (0, 20)),
    ("eval_hermite", (), HERMITE, (-4, 4)),
    ("eval_hermitenorm", (), NORMED, (-5, 5)),
]
NAMES = pytest.mark.parametrize(("family", "parameters", "exact", "domain"), CASES, ids=lambda each: str(each)[:20])


def compiled(family, degree, parameters, **options):
    ufunc = getattr(special, family)
    return graph_jit(lambda x: ufunc(degree, *parameters, x), **options)


def values(exact, degree, x):
    """By exact arithmetic; infinite beyond the largest number."""
    found = [exact(degree, Fraction(float(each))) for each in x]
    largest = int(np.finfo(float).max)
    return np.array([float(each) if abs(each) <= largest else math.inf if each > 0 else -math.inf for each in found])


def test_every_family_has_a_case():
    assert {name for name, *_ in CASES} == set(FAMILIES)


@NAMES
@pytest.mark.parametrize("degree", [1, 2, 3, 8, MOST_STEPS])
def test_values_are_those_of_exact_sums(family, parameters, exact, domain, degree):
    """To within what SciPy's own functions are off by, of which the bound is a round figure."""
    x = np.linspace(*domain, 41)
    found, wanted = compiled(family, degree, parameters)(x), values(exact, degree, x)
    scale = np.abs(wanted) + 1e-2 * np.abs(wanted).max()
    assert np.max(np.abs(found - wanted) / scale) < 300 * np.finfo(float).eps


@NAMES
@pytest.mark.parametrize("degree", [1, 2, 3, 8, 13])
def test_beyond_overflow_the_limit_is_that_of_the_highest_power(family, parameters, exact, domain, degree):
    large = np.array([1e300, -1e300, 1e308, -1e308])
    wanted = values(exact, degree, large / 8)  # doubled, and multiplied by coefficients, it is finite
    if degree > 1:
        assert np.all(np.isinf(wanted))
        np.testing.assert_array_equal(compiled(family, degree, parameters)(large), wanted)
    infinite = np.array([np.inf, -np.inf, np.nan])
    limits = [*np.copysign(np.inf, wanted[:2]), np.nan]
    np.testing.assert_array_equal(compiled(family, degree, parameters)(infinite), limits)


@NAMES
def test_zeros_of_either_sign_and_empty_arrays(family, parameters, exact, domain):
    x = np.array([0.0, -0.0])
    for degree in (1, 2, 3):
        run, wanted = compiled(family, degree, parameters), values(exact, degree, x)
        np.testing.assert_allclose(run(x), wanted, rtol=1e-15, atol=1e-15)
        assert run(x[:0]).shape == (0,)
        assert run(0.25) == run(np.array([0.25]))[0]


def test_legendre_s_polynomials_are_exactly_one_at_one():
    for degree in range(1, MOST_STEPS + 1):
        np.testing.assert_array_equal(compiled("eval_legendre", degree, ())(np.array([1.0, -1.0])), [1, (-1) ** degree])


@pytest.mark.parametrize(
    ("family", "given"),
    [
        ("eval_legendre", (0,)),
        ("eval_legendre", (MOST_STEPS + 1,)),
        ("eval_legendre", (-3,)),
        ("eval_legendre", (2.5,)),
        ("eval_legendre", (np.nan,)),
        ("eval_legendre", (np.arange(3.0)[:, None],)),
        ("eval_chebyt", (-3,)),
        ("eval_gegenbauer", (3, 0.0)),
        ("eval_gegenbauer", (3, np.nan)),
        ("eval_gegenbauer", (3, -0.5)),
        ("eval_gegenbauer", (2, -2.0)),
        ("eval_jacobi", (3, -1.0, -1.0)),
        ("eval_jacobi", (3, -3.5, 0.5)),
        ("eval_jacobi", (3, np.inf, 1.0)),
        ("eval_gegenbauer", (5, 1e200)),
        ("eval_gegenbauer", (3, 1.7e308)),
        ("eval_sh_jacobi", (5, 1e200, 1.0)),
        ("eval_genlaguerre", (3, -1.0)),
        ("eval_genlaguerre", (3, -3.0)),
        ("eval_sh_jacobi", (3, -4.0, 1.0)),
        ("eval_sh_jacobi", (3, 1.0, -1.0)),
    ],
)
def test_degrees_and_parameters_without_a_recurrence(family, given):
    x, ufunc = np.array([-0.9, 0.0, 0.4, 1.0, np.nan]), getattr(special, family)
    found, wanted = graph_jit(lambda x: ufunc(*given, x))(x), ufunc(*given, x)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)


def test_single_precision_is_scipy_s():
    x = np.linspace(-1, 1, 7, dtype=np.float32)
    for degree in (3, 3.0):
        run, wanted = compiled("eval_legendre", degree, ()), special.eval_legendre(degree, x)
        assert run(x).dtype == wanted.dtype
        np.testing.assert_allclose(run(x), wanted, rtol=1e-6)


@NAMES
def test_derivatives(family, parameters, exact, domain):
    ufunc = getattr(special, family)
    x = np.linspace(*domain, 7)[1:-1]
    check_gradients(lambda x: ufunc(4, *parameters, x), [x], order=2, compiled=1)


def test_sums_of_polynomials_are_one_loop_without_calls():
    weights = np.array([0.5, -1.0, 0.25, 2.0])

    def series(x, weights):
        return sum(weights[k] * special.eval_legendre(k + 1, x) for k in range(4))

    x = np.linspace(-1, 1, 9)
    wanted = np.polynomial.legendre.legval(x, [0.0, *weights])
    np.testing.assert_allclose(graph_jit(series)(x, weights), wanted, rtol=1e-13, atol=1e-15)
    assert "numbagraph.scipy" not in graph_jit(series).llvm(x, weights)
    slope = graph_jit(grad(lambda x, weights: series(x, weights).sum()))(x, weights)
    derivative = np.polynomial.legendre.legder([0.0, *weights])
    np.testing.assert_allclose(slope, np.polynomial.legendre.legval(x, derivative), rtol=1e-12, atol=1e-12)
