"""Probabilities of scipy.stats in traced functions are mpmath's where the formula depends on the tail."""

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from numbagraph import grad, graph_jit

POISSON, BINOMIAL, STUDENT, BETAPRIME = (getattr(stats, name) for name in ("poisson", "binom", "t", "betaprime"))
NEGATIVE: Any = stats.nbinom


def exactly(function: Any, *arrays: Any) -> np.ndarray:
    with mp.workdps(400):
        return np.array([float(function(*map(mp.mpf, map(float, each)))) for each in zip(*arrays, strict=True)])


def poisson(k: Any, mu: Any) -> Any:
    return mp.gammainc(k + 1, mu, mp.inf, regularized=True)


def binomial(k: Any, n: Any, p: Any) -> Any:
    return mp.fsum(mp.binomial(n, j) * p**j * (1 - p) ** (n - j) for j in range(int(k) + 1))


def negative_binomial(k: Any, n: Any, p: Any) -> Any:
    return mp.fsum(mp.binomial(n + j - 1, j) * p**n * (1 - p) ** j for j in range(int(k) + 1))


def student(x: Any, df: Any) -> Any:
    tail = mp.betainc(df / 2, 0.5, 0, df / (df + x * x), regularized=True) / 2
    return tail if x < 0 else 1 - tail


MEANS = np.array([1e-4, 0.3, 0.69, 0.7, 1.0, 2.5, 10.0, 200.0])
SHARES = np.array([1e-4, 0.05, 0.3, 0.5, 0.7, 0.95, 0.9999])
CASES = {
    "poisson": (POISSON, poisson, np.meshgrid([0.0, 1.0, 2.0, 5.0, 12.0, 190.0, 230.0], MEANS)),
    "binom": (BINOMIAL, binomial, np.meshgrid([0.0, 1.0, 3.0, 6.0], [7.0, 40.0], SHARES)),
    "binom of many": (BINOMIAL, binomial, np.meshgrid([250.0, 299.0, 300.0, 360.0], [1000.0], [0.3])),
    "nbinom": (NEGATIVE, negative_binomial, np.meshgrid([0.0, 1.0, 3.0, 30.0], [0.4, 3.0], SHARES[1:])),
    "t": (STUDENT, student, np.meshgrid([-30.0, -1.0, -1e-3, 0.0, 0.3, 2.0, 40.0], [0.7, 3.0, 1000.0])),
}


@pytest.mark.parametrize("method", ["cdf", "logcdf", "sf", "logsf"])
@pytest.mark.parametrize("case", CASES)
def test_probabilities(case: str, method: str) -> None:
    distribution, below, grid = CASES[case]
    arrays = [each.ravel() for each in grid]
    found = graph_jit(lambda *arrays: getattr(distribution, method)(*arrays))(*arrays)

    def exact(*numbers: Any) -> Any:
        value = below(*numbers) if method.endswith("cdf") else 1 - below(*numbers)
        return mp.log(value) if method.startswith("log") else value

    expected = exactly(exact, *arrays)
    expected = np.where(expected < -745.0, -np.inf, expected)  # the logarithm of a number that is 0 in double precision
    beyond = 2e-13 if case == "poisson" or "many" in case else 3e-14
    np.testing.assert_allclose(found, expected, rtol=beyond, atol=1e-300)


@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_odds(method: str) -> None:
    """Where the share is near 1, what is left of it has all its digits."""
    q, a, b = (each.ravel() for each in np.meshgrid([1e-5, 0.1, 0.5, 0.9, 1 - 2.0**-20], [0.7, 2.0, 8.0], [0.6, 3.0]))
    found = graph_jit(lambda q, a, b: getattr(BETAPRIME, method)(q, a, b))(q, a, b)

    def odds(q: Any, a: Any, b: Any, x: Any) -> Any:
        """By Newton's method, from the number that was found."""
        for _ in range(4):
            share = mp.betainc(a, b, 0, x / (1 + x), regularized=True)
            slope = x ** (a - 1) / (1 + x) ** (a + b) / mp.beta(a, b)
            x += ((q if method == "ppf" else 1 - q) - share) / slope
        return x

    np.testing.assert_allclose(found, exactly(odds, q, a, b, found), rtol=1e-13)


@pytest.mark.parametrize("name", ["binom", "nbinom"])
@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_quantiles_of_counts(name: str, method: str) -> None:
    """Of probabilities, shapes and sizes for which SciPy's search is long, too."""
    distribution = getattr(stats, name)
    sizes = [1.0, 7.0, 40.0, 1e4, 3e6] if name == "binom" else [0.4, 3.0, 40.0, 1e3]
    q, n, p = (each.ravel() for each in np.meshgrid([1e-14, 1e-3, 0.2, 0.5, 0.9, 0.999], sizes, SHARES[1:-1]))
    found = graph_jit(lambda q, n, p: getattr(distribution, method)(q, n, p))(q, n, p)
    np.testing.assert_array_equal(found, getattr(distribution, method)(q, n, p))


def binomial_total(p: Any) -> Any:
    return np.sum(BINOMIAL.cdf(np.arange(4.0), 7, p) + BINOMIAL.logsf(np.arange(4.0), 7, p))


def negative_total(p: Any, n: Any = 2.5) -> Any:
    return np.sum(NEGATIVE.sf(np.arange(4.0), n, p) + NEGATIVE.logcdf(np.arange(4.0), n, p))


def by_difference(function: Any, x: float, step: float = 1e-5) -> Any:
    compiled: Any = graph_jit(function)
    return (compiled(x + step) - compiled(x - step)) / (2 * step)


@pytest.mark.parametrize("function", [binomial_total, negative_total])
def test_derivatives_by_the_probability_of_counts(function: Any) -> None:
    first = grad(lambda p: function(p))
    assert graph_jit(first)(0.4) == pytest.approx(by_difference(function, 0.4), rel=1e-7)
    assert graph_jit(grad(first))(0.4) == pytest.approx(by_difference(first, 0.4), rel=1e-6)


def test_derivative_by_the_number_of_failures() -> None:
    def function(n: Any) -> Any:
        return negative_total(0.4, n)

    assert graph_jit(grad(function))(2.5) == pytest.approx(by_difference(function, 2.5), rel=1e-7)


@pytest.mark.parametrize("method", ["logpdf", "pdf", "cdf", "logcdf", "sf", "logsf"])
@pytest.mark.filterwarnings("ignore")
def test_tails_where_nothing_is_left(method: str) -> None:
    """Logarithms of tails that are both 0."""
    x, truncated = np.array([-0.5, 3.0, 40.0, 1e5, 1e300]), getattr(stats.truncnorm, method)
    found = graph_jit(lambda x, end: truncated(x, -1.0, end))(x, np.inf)
    np.testing.assert_allclose(found, truncated(x, -1.0, np.inf), rtol=1e-13, atol=1e-300)


def test_an_inverse_gaussian_that_is_nearly_a_point() -> None:
    x = np.array([0.5, 3.0])
    tails = graph_jit(lambda x, mu: (stats.invgauss.cdf(x, mu), stats.invgauss.sf(x, mu)))(x, 1e-10)
    np.testing.assert_array_equal(tails, [[1.0, 1.0], [0.0, 0.0]])
