"""Points at which SciPy's elementary functions are exact, or special, in formulas of our own."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import special

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.vecmath.deferred import functions

ANGLES = np.arange(-36.0, 37.0) * 15
HUGE = np.array([1e14, 1.1e14, 1e30, np.inf, -np.inf, np.nan])
FLOATS = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@FLOATS
@pytest.mark.parametrize("ufunc", [special.sindg, special.cosdg, special.tandg, special.cotdg])
def test_zeros_poles_and_huge_angles_are_those_of_scipy(ufunc: np.ufunc, dtype: type) -> None:
    angles = np.concatenate([ANGLES, HUGE]).astype(dtype)
    with np.errstate(all="ignore"):
        expected = ufunc(angles)
    found = graph_jit(lambda x: ufunc(x))(angles)
    exact = np.isin(np.abs(expected), [0.0, 1.0, np.inf])
    assert exact.sum() > ANGLES.size / 5
    np.testing.assert_array_equal(found[exact], expected[exact])
    np.testing.assert_allclose(found, expected, rtol=4e-15 if dtype == np.float64 else 2e-7)


@FLOATS
def test_halves_are_rounded_to_even_numbers_and_zero_is_positive(dtype: type) -> None:
    x = np.array([0.5, 1.5, -0.5, -1.5, -2.5, 0.0, -0.0, -0.25, 1e20, np.inf, -np.inf, np.nan], dtype)
    found, expected = graph_jit(lambda x: special.round(x))(x), special.round(x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_the_sign_of_gamma_alternates_beyond_the_integers_of_c() -> None:
    x = -np.array([0.5, 1.5, 2.0**31 + 0.5, 2.0**31 + 1.5, 2.0**40 + 0.5, 2.0**50 + 1.25])
    np.testing.assert_array_equal(graph_jit(lambda x: special.gammasgn(x))(x), [-1, 1, -1, 1, -1, 1])


@FLOATS
def test_means_of_normal_distributions(dtype: type) -> None:
    rng = np.random.default_rng(0)
    p, x, y = (rng.uniform(low, 1.0, 200).astype(dtype) for low in (0.0, -1.0, 0.1))
    means = graph_jit(lambda p, x, y: special.nrdtrimn(p, y, x))(p, x, y)
    for each, mean, first, second in zip(p, means, x, y, strict=True):
        quantile = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(float(each)) - 1)
        exact_mean = float(first) - quantile * float(second)
        unit = np.finfo(dtype).eps
        assert abs(float(mean) - exact_mean) <= 2 * unit * (abs(float(first)) + abs(quantile * float(second)))


def test_there_are_no_means_beside_what_is_a_distribution() -> None:
    p = np.array([0.0, 1.0, -0.1, 1.1, np.nan, 0.5, 0.5, 0.3])
    deviation = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, -1.0, np.inf])
    found = graph_jit(lambda p, s: special.nrdtrimn(p, s, 2.0))(p, deviation)
    np.testing.assert_array_equal(found, special.nrdtrimn(p, deviation, 2.0))


def test_the_logarithm_of_beta_has_a_small_error_beside_1_near_its_roots() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.3, 2.0, 500), rng.uniform(0.3, 2.0, 500)
    found = graph_jit(lambda a, b: special.betaln(a, b))(a, b)
    for first, second, each in zip(a, b, found, strict=True):
        exact = mpmath.log(mpmath.beta(mpmath.mpf(float(first)), mpmath.mpf(float(second))))
        assert abs(float(each) - exact) <= 4 * np.finfo(float).eps * max(1, abs(exact))


def test_beta_and_its_logarithm_have_their_digits_in_jax() -> None:
    numbers = np.array([1e-10, 0.3, 0.5, 1.0, 2.5, 7.9, 9.99, 10.0, 12.5, 20.0, 100.3, 1e4, 1e8])
    a, b = (each.ravel() for each in np.meshgrid(numbers, numbers))
    logarithms, values = graph_jit(lambda a, b: (special.betaln(a, b), special.beta(a, b)), backend="jax")(a, b)
    for first, second, logarithm, value in zip(a.tolist(), b.tolist(), logarithms, values, strict=True):
        with mpmath.workdps(40):
            exact = mpmath.beta(first, second)
            expected = float(mpmath.log(exact))
        np.testing.assert_allclose(logarithm, expected, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(value, float(exact), rtol=1e-14 * (1 + abs(expected)))
    odd = np.array([np.inf, 1.0, np.inf, np.nan, 0.0, -7.5]), np.array([1.0, np.inf, np.inf, 1.0, 3.0, 12.2])
    for ufunc in (special.beta, special.betaln):
        found = graph_jit(lambda a, b, ufunc=ufunc: ufunc(a, b), backend="jax")(*odd)
        np.testing.assert_allclose(found, ufunc(*odd), rtol=1e-13)


@pytest.mark.parametrize("ufunc", [special.beta, special.betaln])
def test_beta_of_other_than_positive_numbers_is_scipy_s(ufunc: np.ufunc) -> None:
    numbers = np.array(
        [0.0, -0.0, 1e-200, 1e-300, 0.5, 3.0, 1e10, 1e300, np.inf, -np.inf, np.nan, -0.5, -1.0, -2.0, -7.5]
    )
    a, b = (each.ravel() for each in np.meshgrid(numbers, numbers))
    found, expected = graph_jit(lambda a, b: ufunc(a, b))(a, b), ufunc(a, b)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15 if ufunc is special.betaln else 0.0)


def test_quantiles_of_logarithms_around_one_half_have_a_small_error_beside_1() -> None:
    y = np.concatenate([-np.linspace(0.01, 1.5, 300), -np.logspace(-300, -2, 50)])
    found = graph_jit(lambda y: special.ndtri_exp(y))(y)
    exact = [functions["ndtri_exp"].exact(mpmath, mpmath.mpf(each)) for each in y[:300]]
    for each, wanted in zip(found, exact, strict=False):
        assert abs(float(each) - wanted) <= 4 * np.finfo(float).eps * max(1, abs(wanted))
    np.testing.assert_allclose(found[300:], special.ndtri_exp(y[300:]), rtol=1e-15)
