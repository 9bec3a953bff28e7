"""Tails of the logarithmic distribution and their derivatives keep their digits: mpmath has the reference."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from numbagraph import grad, graph_jit, vmap

ROUNDING = 2.0**-53
SHARES = [1e-300, 1e-80, 1e-12, 1e-3, 0.05, 0.1124, 0.18, 0.3, 0.5, 0.6, 0.9, 0.99, 0.999536, 1 - 1e-9, 1 - 2**-53]
CASES = [(k, p) for p in SHARES for k in (1, 2, 3, 8, 30, 110, 470) if k * np.log(p) > -640]
COUNTS, PROBABILITIES = np.array(CASES, float).T


@pytest.fixture(scope="module", name="exact")
def tails_and_slopes():
    """The tail, and its first and second derivatives by ``p``."""
    found = []
    with mp.workdps(1000):
        for k, share in CASES:
            p = mp.mpf(share)
            total, q = -mp.log1p(-p), 1 - p
            tail = (total - mp.fsum(p**n / n for n in range(1, k + 1))) / total
            slope = (p**k - tail) / (q * total)
            found.append((tail, slope, (k * p ** (k - 1) - slope * (2 - total)) / (q * total)))
    return list(zip(*found, strict=True))


def errors(found, expected):
    """Relative ones."""
    with mp.workdps(40):
        return [float(abs((mp.mpf(each) - x) / x)) for each, x in zip(found.tolist(), expected, strict=True)]


def test_tails(exact):
    sf, logsf, cdf, logcdf = graph_jit(lambda k, p: [getattr(stats.logser, name)(k, p) for name in METHODS])(
        COUNTS, PROBABILITIES
    )
    assert max(errors(sf, exact[0])) < 8 * ROUNDING
    assert max(errors(cdf, [1 - x for x in exact[0]])) < 80 * ROUNDING  # a difference, which is at least 1/37
    np.testing.assert_allclose(logsf, [float(mp.log(x)) for x in exact[0]], 2e-15, 4e-16)
    np.testing.assert_allclose(logcdf, [float(mp.log1p(-x)) for x in exact[0]], 1e-14)


METHODS = ("sf", "logsf", "cdf", "logcdf")


def test_derivatives(exact):
    def tail(p, k):
        return stats.logser.sf(k, p)

    for function, expected in ((grad(tail), exact[1]), (grad(grad(tail)), exact[2])):
        found = graph_jit(vmap(function))(PROBABILITIES, COUNTS)
        with mp.workdps(40):
            large = np.array([abs(x) > 1e-290 for x in expected])
        assert max(np.array(errors(found, expected))[large]) < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_where_there_is_no_tail(method):
    """Before the first count, beyond all, between counts, and for parameters that are none."""
    k = np.array([-np.inf, -1.0, 0.0, 0.5, 1.0, 1.5, 2.5, 40.0, np.inf, np.nan])
    p = np.array([[-0.5], [0.0], [5e-324], [0.3], [1.0], [1.5], [np.inf], [np.nan]])
    function = getattr(stats.logser, method)
    with np.errstate(all="ignore"):
        expected = function(k, p)
    np.testing.assert_allclose(graph_jit(lambda k, p: function(k, p))(k, p), expected, 1e-13, atol=2e-16)


def test_counts_beyond_which_no_probability_is_left():
    """SciPy adds up all of them."""
    sf, logsf, cdf, logcdf = graph_jit(lambda k: [getattr(stats.logser, name)(k, 0.3) for name in METHODS])(
        np.array([1e9, 1e300])
    )
    for found, expected in ((sf, 0.0), (logsf, -np.inf), (cdf, 1.0), (logcdf, 0.0)):
        np.testing.assert_array_equal(found, expected)
