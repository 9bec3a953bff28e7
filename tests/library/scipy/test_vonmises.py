"""The distribution function of von Mises' distribution, which SciPy approximates with a few digits from 50 on."""

from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from numbagraph import grad, graph_jit, vmap

VON_MISES: Any = stats.vonmises
CONCENTRATIONS = [0.0, 1e-300, 1e-8, 0.1, 1.0, 3.0, 8.0, 15.0, 19.99, 20.0, 25.0, 49.0, 51.0, 200.0, 1000.0]
ANGLES = [-3.14, -2.5, -1.5, -0.6, -0.2, -0.01, -1e-5, 0.0, 0.3, 2.0, 3.1]
AROUND = np.array([-1e6, -7.0, -np.pi, -1.0, 0.0, 1.0, np.pi, 4.0, 7.0, 1e6, np.inf, -np.inf, np.nan, 1e-300])
METHODS = ("cdf", "sf", "logcdf", "logsf")


@cache
def coefficients(kappa):
    """Of the Fourier series, whose terms are ``sin(n * x)`` times these. [DLMF 10.35.2]"""
    with mp.workdps(130):
        k, found = mp.mpf(kappa), []
        while not found or abs(found[-1]) > mp.mpf(10) ** -120:
            n = len(found) + 1
            found.append(mp.besseli(n, k) / mp.besseli(0, k) / (n * mp.pi))
        return found


def exact(kappa, x):
    with mp.workdps(130):
        x = mp.mpf(x)
        terms = [each * mp.sin(n * x) for n, each in enumerate(coefficients(float(kappa)), start=1)]
        return mp.mpf(1) / 2 + x / (2 * mp.pi) + mp.fsum(terms)


@pytest.mark.parametrize("kappa", CONCENTRATIONS)
def test_values(kappa):
    x = np.array(ANGLES)
    cdf, sf = graph_jit(lambda x, k: (VON_MISES.cdf(x, k), VON_MISES.sf(x, k)))(x, kappa)
    expected = [exact(kappa, each) for each in ANGLES]
    np.testing.assert_allclose(cdf, [float(each) for each in expected], rtol=0, atol=6e-16)
    np.testing.assert_allclose(sf, [float(1 - each) for each in expected], rtol=0, atol=6e-16)
    if kappa >= 20:
        near = (x < 0) & (x > -0.7)
        wanted = np.array([float(each) for each in expected])[near]
        np.testing.assert_allclose(cdf[near], wanted, rtol=1e-12, atol=1e-300)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kappa", [0.0, 1e-300, 1.0, 49.0, 1e17, 1e300, np.inf, -1.0, np.nan])
def test_turns_and_parameters_that_are_none(kappa):
    """Of an infinite concentration SciPy has no value at the centre, and so has this; its logarithms are an error."""
    given = np.full(AROUND.shape, kappa)
    for name in ("cdf", "sf") if kappa == np.inf else METHODS:
        found = graph_jit(lambda x, k, name=name: getattr(VON_MISES, name)(x, k))(AROUND, given)
        wanted = getattr(VON_MISES, name)(AROUND, kappa)
        if name.startswith("log"):  # of 0, up to rounding errors
            found, wanted = np.exp(found), np.exp(wanted)
        np.testing.assert_allclose(found, wanted, 1e-8, 1e-12, err_msg=name)


@pytest.mark.parametrize("kappa", [0.0, 0.5, 19.0, 30.0, 1000.0])
def test_derivatives_by_the_angle(kappa):
    x = np.array([-3.1, -1.0, -0.05, 0.0, 0.2, 2.0, 5.0, -9.0])
    slope = graph_jit(vmap(grad(lambda x, k: VON_MISES.cdf(x, k)), in_axes=(0, None)))(x, kappa)
    np.testing.assert_allclose(slope, VON_MISES.pdf(x, kappa), 1e-12)
    bend = graph_jit(vmap(grad(grad(lambda x, k: VON_MISES.cdf(x, k))), in_axes=(0, None)))(x, kappa)
    np.testing.assert_allclose(bend, -kappa * np.sin(x) * VON_MISES.pdf(x, kappa), 1e-12, 1e-300)
    of_tail = graph_jit(vmap(grad(lambda x, k: VON_MISES.logsf(x, k)), in_axes=(0, None)))(x[1:4], kappa)
    tails = np.array([float(1 - exact(kappa, each)) for each in x[1:4]])
    np.testing.assert_allclose(of_tail, -VON_MISES.pdf(x[1:4], kappa) / tails, 1e-10)


def exact_slope(kappa, x):
    """The derivative by the concentration, term by term. [DLMF 10.29.1]"""
    with mp.workdps(60):
        k, x = mp.mpf(kappa), mp.mpf(x)
        values = [mp.besseli(n, k) / mp.besseli(0, k) for n in range(250)]
        terms = [((values[n - 1] + values[n + 1]) / 2 - values[1] * values[n]) / n for n in range(1, 249)]
        return mp.fsum(each * mp.sin(n * x) for n, each in enumerate(terms, start=1)) / mp.pi


@pytest.mark.parametrize("kappa", [0.0, 1e-8, 1.0, 8.0, 19.99, 20.0, 49.0, 200.0])
def test_derivatives_by_the_concentration(kappa):
    x = np.array([*ANGLES, 7.0])
    by_kappa = graph_jit(vmap(grad(lambda x, k: VON_MISES.cdf(x, k), argnums=1), in_axes=(0, None)))(x, kappa)
    wanted = np.array([float(exact_slope(kappa, each)) for each in x])
    np.testing.assert_allclose(by_kappa, wanted, rtol=0, atol=5e-16)
    of_tail = graph_jit(vmap(grad(lambda x, k: VON_MISES.sf(x, k), argnums=1), in_axes=(0, None)))(x, kappa)
    np.testing.assert_allclose(of_tail, -wanted, rtol=0, atol=5e-16)
    mixed = graph_jit(vmap(grad(grad(lambda x, k: VON_MISES.cdf(x, k), argnums=1)), in_axes=(0, None)))(x, kappa)
    other = graph_jit(vmap(grad(lambda x, k: VON_MISES.pdf(x, k), argnums=1), in_axes=(0, None)))(x, kappa)
    np.testing.assert_allclose(mixed, other, rtol=1e-10, atol=1e-15)


def test_a_second_derivative_by_the_concentration_is_refused():
    with pytest.raises(
        NotImplementedError, match="von_mises_slope has no derivative: there is no derivative by this parameter"
    ):
        graph_jit(grad(grad(lambda k: VON_MISES.cdf(0.3, k))))(1.5)


def test_on_jax():
    pytest.importorskip("jax")
    x, kappa = np.array(ANGLES), np.array([[0.5], [19.0], [30.0], [1000.0]])
    found = graph_jit(lambda x, k: VON_MISES.cdf(x, k), backend="jax")(x, kappa)
    expected = graph_jit(lambda x, k: VON_MISES.cdf(x, k), backend="numpy")(x, kappa)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    slope = grad(lambda x, k: VON_MISES.cdf(x, k).sum(), argnums=1)
    found, expected = (graph_jit(slope, backend=each)(x, kappa) for each in ("jax", "numba"))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
