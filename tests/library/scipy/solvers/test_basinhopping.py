"""Basin hopping in compiled functions: SciPy's walk, with the numbers that SciPy draws."""

import numpy as np
import pytest
from scipy.optimize import basinhopping

import numbagraph as ng

X = np.array([1.0, 1.0])


def wells(x, a=0.3):
    return np.cos(14.5 * x[0] - a) + (x[0] + 0.2) * x[0] + (x[1] + 0.2) * x[1]


@pytest.mark.parametrize("kwargs", [{"niter": 60}, {"T": 0.1, "niter_success": 5, "stepsize": 0.2}], ids=str)
def test_walks_are_those_of_scipy(kwargs):
    def walk(x, rng):
        return basinhopping(wells, x, rng=rng, minimizer_kwargs={"method": "Nelder-Mead"}, **kwargs)

    one, other = np.random.default_rng(3), np.random.default_rng(3)
    found, expected = ng.graph_jit(walk)(X, one), walk(X, other)
    assert list(found) == list(expected)
    for name in ("nit", "nfev", "minimization_failures", "success", "message"):
        assert getattr(found, name) == getattr(expected, name), name
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)
    np.testing.assert_allclose(found.fun, expected.fun, rtol=1e-10)
    assert one.random() == other.random()


def test_derivatives_are_those_of_the_lowest_minimum():
    def lowest(a):
        options = {"method": "Nelder-Mead", "tol": 1e-10}
        return basinhopping(lambda x: wells(x, a), X, 9, rng=3, minimizer_kwargs=options).x

    at = ng.graph_jit(lowest)(0.3)[0]
    cosine = np.cos(14.5 * at - 0.3)
    expected = [-14.5 * cosine / (2 - 14.5**2 * cosine), 0.0]
    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(lowest))(0.3), expected, rtol=1e-5, atol=1e-12)


def test_errors_and_what_is_refused():
    for kwargs in ({"target_accept_rate": 1.5}, {"stepwise_factor": 0.0}):
        with pytest.raises(ValueError, match="has to be in range"):
            ng.graph_jit(lambda x, k=kwargs: basinhopping(wells, x, rng=1, **k).x)(X)
    with pytest.raises(ng.errors.TraceError, match="write the walk as a loop"):
        ng.graph_jit(lambda x: basinhopping(wells, x, rng=1, callback=print).x)(X)
