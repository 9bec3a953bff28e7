"""Bessel functions of known orders, which become those of the orders 0 and 1."""

import mpmath
import numpy as np
import pytest
from scipy import special

from numbagraph import grad, graph_jit
from numbagraph.rewrite.known_orders import FAMILIES, MOST_STEPS, MOST_TERMS
from numbagraph.testing import check_gradients

EXACT = {
    "jv": mpmath.besselj,
    "yv": mpmath.bessely,
    "yn": mpmath.bessely,
    "kv": mpmath.besselk,
    "kn": mpmath.besselk,
}
ORDERS = (0, 1, 2, 3, 4, MOST_TERMS, MOST_STEPS, -1, -2, -3)
CASES = [(each, order) for each in EXACT for order in ORDERS if each != "jv" or abs(order) <= MOST_TERMS]
EVERY = pytest.mark.parametrize(("function", "order"), CASES)
SPECIAL_POINTS = np.array([0.0, -0.0, -1.0, -7.5, np.inf, -np.inf, np.nan, 5e-324, 1e-300, 1e-100, 1e-20])


def compiled(function, order, **options):
    ufunc = getattr(special, function)
    return graph_jit(lambda x: ufunc(order, x), **options)


def test_every_family_has_a_case():
    """Those that are no functions of SciPy's are the parts of Hankel functions."""
    assert set(EXACT) == {each for each in FAMILIES if hasattr(special, each)}


@pytest.mark.parametrize("order", [0, 1, MOST_TERMS, -2, MOST_TERMS + 1])
@pytest.mark.parametrize("name", ["hankel1", "hankel2e"])
def test_hankel_functions(name, order):
    x = np.array([0.05, 0.7, 2.9, 8.0, 30.0])
    run = compiled(name, order)
    np.testing.assert_allclose(run(x), getattr(special, name)(order, x), 1e-14)
    assert ("numbagraph.scipy" in run.llvm(x)) == (order > MOST_TERMS)


@EVERY
def test_values_are_exact_to_few_units(function, order):
    """Beside the amplitude, where functions oscillate."""
    x = np.concatenate([[0.01, 0.5], np.linspace(1.1, 12.3, 15), [27.5, 100.25, 333.0]])
    with mpmath.workdps(40):
        wanted = np.array([float(EXACT[function](order, mpmath.mpf(each))) for each in x])
    beside = np.where((x > abs(order)) & (function[0] in "jy"), np.sqrt(2 / (np.pi * x)), 0.0)
    error = np.abs(compiled(function, order)(x) - wanted) / np.maximum(np.abs(wanted), beside)
    assert error.max() < 10 * np.finfo(float).eps


@pytest.mark.filterwarnings("ignore")
@EVERY
def test_special_points_are_scipy_s(function, order):
    """But where SciPy's value is off or an infinity: of tiny numbers."""
    found, wanted = compiled(function, order)(SPECIAL_POINTS), getattr(special, function)(order, SPECIAL_POINTS)
    if order == 0 and function == "yv":
        wanted = special.yn(0, SPECIAL_POINTS)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    np.testing.assert_array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


@EVERY
def test_there_is_no_call_of_scipy_s_function(function, order):
    assert "numbagraph.scipy" not in compiled(function, order).llvm(np.linspace(0.5, 9.0, 9))


def test_large_numbers_keep_their_digits():
    """Two terms of the asymptotic series are all that counts. [DLMF 10.17.3]"""
    x = np.array([1e10, 1e13, 1e17, 1e300])
    with mpmath.workdps(400):
        turned = [mpmath.mpf(each) - mpmath.pi / 4 for each in x]
        wanted = [float(-mpmath.cos(each)) for each in turned]
    found = compiled("jv", 2)(x) * np.sqrt(np.pi / 2) * np.sqrt(x)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("function", "order"),
    [
        ("jv", MOST_TERMS + 1),
        ("jv", 0.5),
        ("jv", np.nan),
        ("yv", MOST_STEPS + 1),
        ("yv", -1.5),
        ("yn", MOST_STEPS + 1),
        ("kv", 2.25),
        ("kn", MOST_STEPS + 1),
        ("jv", np.arange(3.0)[:, None]),
        ("kn", np.arange(3)[:, None]),
    ],
)
def test_other_orders_are_scipy_s_functions(function, order):
    x = np.array([0.25, 1.0, 2.5, 30.0, np.nan])
    np.testing.assert_array_equal(compiled(function, order)(x), getattr(special, function)(order, x))


@pytest.mark.parametrize("function", EXACT)
def test_single_precision_is_scipy_s(function):
    x = np.linspace(0.25, 9.0, 9, dtype=np.float32)
    for order in (0, 1, 2, np.float32(1.0)):
        if function not in ("yn", "kn") or isinstance(order, int):
            found, wanted = compiled(function, order)(x), getattr(special, function)(order, x)
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-7)


@EVERY
def test_empty_arrays_numbers_and_views(function, order):
    run, x = compiled(function, order), np.linspace(0.5, 9.0, 10)
    assert run(x[:0]).shape == (0,)
    np.testing.assert_array_equal(run(x[::-3]), run(x)[::-3])
    assert run(x[3]) == pytest.approx(run(x)[3], rel=1e-14)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("function", EXACT)
def test_derivatives(function, order):
    ufunc = getattr(special, function)
    check_gradients(lambda x: ufunc(order, x), [np.array([0.7, 1.9, 2.6, 5.5])], order=2, compiled=1)


def test_derivatives_by_scipy_s_names_are_formulas():
    x = np.linspace(0.5, 9.0, 9)
    for function in ("jvp", "yvp", "kvp", "h1vp", "h2vp"):
        run = compiled(function, 1)
        np.testing.assert_allclose(run(x), getattr(special, function)(1, x), rtol=1e-13, atol=1e-14)
        assert "numbagraph.scipy" not in run.llvm(x)
    slope = graph_jit(grad(lambda x: special.jv(1, x).sum()))(x)
    np.testing.assert_allclose(slope, special.jvp(1, x), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("name", ["jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"])
def test_derivatives_of_orders_that_are_arguments(name, n):
    function, v, x = getattr(special, name), np.array([[0.0], [1.5], [4.0], [-2.3]]), np.array([0.4, 3.0, 11.0])
    found, wanted = graph_jit(lambda v, x: function(v, x, n))(v, x), function(v, x, n)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    with pytest.raises(ValueError, match="non-negative"):
        graph_jit(lambda v, x: function(v, x, -1))(v, x)
