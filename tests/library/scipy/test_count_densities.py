"""Probabilities of large counts keep their digits: mpmath has the reference."""

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from numbagraph import grad, graph_jit


def binomial(k, n, p):
    ways = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    return ways + (k * mp.log(p) if k else 0) + ((n - k) * mp.log1p(-p) if k != n else 0)


def negative_binomial(k, n, p):
    ways = mp.loggamma(n + k) - mp.loggamma(k + 1) - mp.loggamma(n)
    return ways + n * mp.log(p) + (k * mp.log1p(-p) if k else 0)


def poisson(k, mu):
    return (k * mp.log(mu) if k else 0) - mp.loggamma(k + 1) - mu


BINOMIAL = [(0, 0, 0.3), (0, 5, 0), (5, 5, 1), (3, 7, 0.3), (1, 2, 0.5), (15, 16, 1e-3), (17, 40, 0.4), (1, 1e6, 1e-6)]
BINOMIAL += [(300100, 1e6, 0.3), (2e5, 1e6, 0.3), (3e11 + 1e5, 1e12, 0.3), (5e14 + 1e6, 1e15, 0.5)]
NEGATIVE = [
    (0, 5, 0.2),
    (0, 5, 1),
    (3, 7, 0.3),
    (5, 0.5, 0.2),
    (100, 1e-3, 0.4),
    (1e6, 1e-8, 1e-6),
    (2333000, 1e6, 0.3),
]
NEGATIVE += [(3, 1e12, 1 - 1e-12), (2333333e6, 1e12, 0.3)]
POISSON = [(0, 0), (0, 1.5), (3, 2.5), (20, 300), (100, 1e-3), (1000500, 1e6), (1e12 + 1e5, 1e12), (1e15, 1e15)]
CASES = {
    "binom": (binomial, BINOMIAL, lambda k, n, p: (k / p if k else 0) - ((n - k) / (1 - p) if k != n else 0)),
    "nbinom": (negative_binomial, NEGATIVE, lambda k, n, p: n / p - (k / (1 - p) if k else 0)),
    "poisson": (poisson, POISSON, lambda k, mu: (k / mu if k else 0) - 1),
}


def exact(function, numbers):
    with mp.workdps(60):
        return function(*map(mp.mpf, numbers))


@pytest.mark.parametrize("distribution", CASES)
def test_densities_and_their_slopes(distribution):
    reference, points, slope = CASES[distribution]
    dist: Any = getattr(stats, distribution)
    logarithms, densities, slopes = (
        graph_jit(each)
        for each in (
            lambda *a: dist.logpmf(*a),
            lambda *a: dist.pmf(*a),
            grad(lambda *a: dist.logpmf(*a), len(points[0]) - 1),
        )
    )
    for point in points:
        numbers = tuple(map(float, point))
        expected = exact(reference, numbers)
        # a rounded mean, n * p, moves the logarithm by the distance from it
        rounding = 1e-15 * max(map(abs, numbers)) ** 0.5
        np.testing.assert_allclose(logarithms(*numbers), float(expected), 4e-15, 4e-15 + rounding)
        if expected > -600:
            tolerance = 8e-15 + rounding + 1e-15 * abs(float(expected))
            np.testing.assert_allclose(densities(*numbers), float(mp.exp(expected)), tolerance)
        largest = max(map(abs, numbers[:-1])) / max(numbers[-1], 1e-300) if len(numbers) == 3 else 1.0
        np.testing.assert_allclose(slopes(*numbers), float(exact(slope, numbers)), 1e-12, 1e-14 * min(largest, 1e20))


@pytest.mark.parametrize("distribution", CASES)
def test_impossible_counts(distribution):
    """SciPy's zeros, where a parameter is at the edge of its range."""
    dist: Any = getattr(stats, distribution)
    edges = {
        "binom": [(3.0, 5.0, 0.0), (3.0, 5.0, 1.0), (1.0, 0.0, 0.5)],
        "nbinom": [(3.0, 5.0, 1.0)],
        "poisson": [(3.0, 0.0)],
    }
    for numbers in edges[distribution]:
        assert graph_jit(lambda *a: dist.pmf(*a))(*numbers) == dist.pmf(*numbers) == 0
        assert graph_jit(lambda *a: dist.logpmf(*a))(*numbers) == -np.inf


@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_quantiles_where_only_zero_is_possible(method):
    probabilities = np.array([0, 1e-10, 0.1, 0.5, 0.9, 1.0])
    for name, n, p in (
        ("binom", 0.0, 0.3),
        ("binom", 0.0, 1.0),
        ("binom", 5.0, 0.0),
        ("nbinom", 0.5, 1.0),
        ("nbinom", 3.0, 1.0),
    ):
        function = getattr(getattr(stats, name), method)
        found = graph_jit(lambda *a, f=function: f(*a), backend="numpy")(probabilities, n, p)
        np.testing.assert_array_equal(found, function(probabilities, n, p))


DEGENERATE = {
    "hypergeom": [(0, 0, 0), (1, 0, 0), (1, 1, 1), (5, 0, 3), (5, 5, 2), (5, 2, 5), (5, 3, 0), (5, 6, 2), (-1, 0, 0)],
    "binom": [(0, 0.3), (0, 0.0), (0, 1.0), (3, 0.0), (3, 1.0), (-1, 0.5), (3, 1.5)],
    "nbinom": [(1, 1.0), (0, 0.3), (0, 1.0)],
    "poisson": [(0.0,), (-1.0,)],
    "geom": [(1.0,), (0.0,)],
    "bernoulli": [(0.0,), (1.0,)],
    "randint": [(0, 1), (0, 0), (-2, -1)],
    "boltzmann": [(1.0, 1), (1.0, 0)],
    "betabinom": [(0, 1.0, 2.0), (3, 0.0, 1.0)],
    "nhypergeom": [(0, 0, 0), (1, 0, 0), (5, 2, 0), (5, 0, 3), (5, 0, 5)],
    "zipfian": [(1.0, 1), (0.0, 3), (2.0, 0)],
}
"""One count alone is possible, or the parameters are none."""
AROUND = np.array([-np.inf, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 10.0, np.inf, np.nan])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"])
@pytest.mark.parametrize("distribution", DEGENERATE)
def test_where_one_count_is_possible_or_none(distribution, method):
    dist: Any = getattr(stats, distribution)
    compiled = graph_jit(lambda x, *shapes: getattr(dist, method)(x, *shapes))
    points = np.array([-0.1, 0.0, 0.2, 0.9, 1.0, np.nan]) if method in ("ppf", "isf") else AROUND
    for shapes in DEGENERATE[distribution]:
        expected = getattr(dist, method)(points, *shapes)
        np.testing.assert_allclose(compiled(points, *map(np.asarray, shapes)), expected, 1e-13, err_msg=str(shapes))


AT_EDGES = {
    "binom": [(7.0, 0.0), (7.0, 1.0)],
    "nbinom": [(3.0, 1.0)],
    "geom": [(1.0,)],
    "bernoulli": [(0.0,), (1.0,)],
    "poisson": [(0.0,)],
}


@pytest.mark.parametrize("method", ["logcdf", "logsf"])
@pytest.mark.parametrize("distribution", AT_EDGES)
def test_tails_outside_of_the_support_do_not_depend_on_a_parameter_at_its_edge(distribution, method):
    function = getattr(getattr(stats, distribution), method)
    for shapes in AT_EDGES[distribution]:
        beyond = [-1.0, -np.inf] + [7.0, 8.0, np.inf] * (distribution in ("binom", "bernoulli"))
        for k in beyond:
            slope = graph_jit(grad(lambda last, k=k, rest=shapes[:-1]: function(k, *rest, last)), backend="numpy")
            assert slope(shapes[-1]) == 0
