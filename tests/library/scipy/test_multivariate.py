"""The multivariate normal distribution and estimated densities of `scipy.stats` in compiled functions."""

import numpy as np
import pytest
import scipy.stats as st

from numbagraph import grad, graph_jit

RNG = np.random.default_rng(0)
A = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
X = RNG.normal(size=(5, 3))
d = RNG.normal(size=20)
D2 = RNG.normal(size=(2, 15))
q = np.linspace(-1, 1, 4)
w = RNG.uniform(size=20)
FROZEN = st.multivariate_normal(np.zeros(3), A)
CASES = [
    ("lp", lambda x, m: st.multivariate_normal.logpdf(x, m, A), X, np.ones(3)),
    ("pdf1", lambda x: st.multivariate_normal.pdf(x, np.zeros(3), A), X[0]),
    ("frozen", lambda x, c: st.multivariate_normal(np.zeros(3), c).logpdf(x), X, A),
    ("frozen2", lambda x: st.multivariate_normal(cov=A).pdf(x) + st.multivariate_normal(cov=A).entropy(), X),
    ("scalar", lambda x: st.multivariate_normal.logpdf(x, 0.5, 2.0), q),
    ("1d0", lambda x: st.multivariate_normal.logpdf(x, 0.5, 2.0), np.float64(0.3)),
    ("batch", lambda x: st.multivariate_normal.logpdf(x, cov=A), X.reshape(1, 5, 3)),
    ("kde", lambda d: st.gaussian_kde(d)(q), d),
    ("kde q", lambda q: st.gaussian_kde(d)(q), q),
    ("kde2", lambda d: st.gaussian_kde(d)(np.array([[0.0, 1], [0.5, 0.2]])), D2),
    ("kde s", lambda d: st.gaussian_kde(d, "silverman").logpdf(q), d),
    ("kde w", lambda d, w: st.gaussian_kde(d, 0.3, w).pdf(q), d, w),
    ("cov", lambda d: st.gaussian_kde(d).covariance, D2),
    ("frozen outside", lambda x: FROZEN.logpdf(x), X),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_densities(case):
    _, function, *args = case
    found, expected = graph_jit(function)(*args), function(*args)
    np.testing.assert_allclose(found, expected, 1e-9)
    assert np.shape(found) == np.shape(expected)


def test_derivatives():
    def total(mean):
        return st.multivariate_normal.logpdf(X, mean, A).sum()

    def at(width):
        return st.gaussian_kde(d, width)(q).sum()

    ones, step = np.ones(3), 1e-6
    expected = [(total(ones + step * e) - total(ones - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(grad(total)(ones), expected, 1e-6)
    assert grad(at)(0.3) == pytest.approx((at(0.3 + step) - at(0.3 - step)) / (2 * step), 1e-6)
