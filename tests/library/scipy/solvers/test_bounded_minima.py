"""The method L-BFGS-B of `scipy.optimize.minimize` against SciPy's: counts, values, and derivatives at bounds."""

import numpy as np
import pytest
from scipy.optimize import Bounds, fmin_l_bfgs_b, minimize

import numbagraph as ng

INF = np.inf
START = np.array([1.3, 0.7, 0.8, 1.9, 1.2])


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


slope = ng.graph_jit(ng.grad(rosenbrock))


def check(found, expected, rtol=1e-7):
    for name in ("nit", "nfev", "njev", "status", "success", "message"):
        assert getattr(found, name) == getattr(expected, name), name
    # where a search fails, SciPy returns the value of the last trial, which is not that at x
    for name in ("x", "jac") if found.message == "ABNORMAL: " else ("x", "fun", "jac"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol, 1e-9, err_msg=name)
    assert list(found) == [name for name in expected if name != "hess_inv"]


@ng.graph_jit
def free(x, maxiter, maxfun, maxls, ftol, gtol, factor):
    options = {"maxiter": maxiter, "maxfun": maxfun, "maxls": maxls, "ftol": ftol, "gtol": gtol}
    return minimize(rosenbrock, x, method="L-BFGS-B", jac=lambda x: factor * ng.grad(rosenbrock)(x), options=options)


OPTIONS = [
    (15000, 15000, 20, 2.2e-9, 1e-5),
    (7, 15000, 20, 2.2e-9, 1e-5),
    (15000, 9, 20, 2.2e-9, 1e-5),
    (15000, 15000, 1, 2.2e-9, 1e-5),
    (15000, 15000, 20, 0.0, 1e-9),
    (15000, 15000, 20, 1e-3, 1e-9),
    (15000, 15000, 20, 1e-3, 1e9),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("scale", [1.0, -30.0])
def test_without_bounds(options, scale):
    names = ("maxiter", "maxfun", "maxls", "ftol", "gtol")
    given = dict(zip(names, options, strict=True))
    expected = minimize(rosenbrock, scale * START, method="L-BFGS-B", jac=slope, options=given)
    check(free(scale * START, *options, 1.0), expected, rtol=1e-5)


@ng.graph_jit
def within(x, lower, upper):
    return minimize(rosenbrock, x, bounds=Bounds(lower, upper), jac=lambda x: ng.grad(rosenbrock)(x))


BOXES = {
    "both": (-2.0, 0.9),
    "lower": (0.5, INF),
    "upper": (-INF, 0.8),
    "none": (-INF, INF),
    "outside": (1.5, 3.0),
    "mixed": ([-INF, 0.5, -INF, 0.3, 1.1], [0.9, INF, INF, 0.8, 1.1]),
    "fixed": ([1.1, 0.9, -INF, -INF, -INF], [1.1, 0.9, INF, INF, INF]),
    "corner": ([-3.0, -3.0, -3.0, -3.0, -3.0], [-2.0, -2.0, -2.0, -2.0, -2.0]),
}


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("scale", [1.0, -3.0])
def test_within_bounds(name, scale):
    lower, upper = (np.broadcast_to(each, 5).astype(float) for each in BOXES[name])
    expected = minimize(rosenbrock, scale * START, bounds=Bounds(lower, upper), jac=slope)
    check(within(scale * START, lower, upper), expected, rtol=1e-5)


def test_fixed_variables_are_left_out_where_the_gradient_is_not_given():
    bounds = [(1.1, 1.1), (None, 0.9), (0.0, None)]

    def reduced(x):
        return rosenbrock(np.concatenate(([1.1], x)))

    expected = minimize(reduced, START[1:3], bounds=bounds[1:], jac=lambda x: slope(np.append(1.1, x))[1:])
    found = ng.graph_jit(lambda x: minimize(rosenbrock, x, bounds=bounds))(START[:3])
    assert (found.nit, found.nfev, found.message) == (expected.nit, expected.nfev, expected.message)
    np.testing.assert_allclose(found.x, [1.1, *expected.x], rtol=1e-7)
    assert np.isnan(found.jac[0])
    np.testing.assert_allclose(found.jac[1:], expected.jac, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("factor", [-1.0, 0.5, 0.0, np.nan])
def test_wrong_gradients(factor):
    expected = minimize(rosenbrock, START, method="L-BFGS-B", jac=lambda x: factor * slope(x))
    found = free(START, *OPTIONS[0], factor)
    check(found, expected)
    np.testing.assert_allclose(found.fun, rosenbrock(found.x), rtol=1e-12)


def test_older_name():
    function = lambda x: fmin_l_bfgs_b(rosenbrock, x, lambda x: ng.grad(rosenbrock)(x), m=4, factr=10.0)  # noqa: E731
    found = ng.graph_jit(function)(START)
    expected = fmin_l_bfgs_b(rosenbrock, START, slope, m=4, factr=10.0)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-7)
    assert list(found[2]) == list(expected[2])
    assert [found[2][name] for name in ("task", "funcalls", "nit", "warnflag")] == [
        expected[2][name] for name in ("task", "funcalls", "nit", "warnflag")
    ]


def bowl(x, p):
    return np.sum((x - p[0]) ** 2 * np.array([1.0, 2.0, 3.0])) + np.sum(x) * p[1] + 0.1 * x[0] * x[1] * x[2]


def bowl_slope(x, p):
    a, b, c = x
    return 2 * (x - p[0]) * np.array([1.0, 2.0, 3.0]) + p[1] + 0.1 * np.array([b * c, a * c, a * b])


def test_derivatives_of_free_variables_and_of_those_at_a_bound():
    def at(p, jac=None):
        bounds = [(None, p[0] - 0.5), (-5.0, None), (1.0, 1.0)]
        return minimize(bowl, np.zeros(3), args=(p,), bounds=bounds, jac=jac, options={"gtol": 1e-9, "ftol": 0.0}).x

    p, h = np.array([2.0, 0.3]), 1e-4
    steps = np.eye(2) * h
    expected = [(at(p + e, bowl_slope) - at(p - e, bowl_slope)) / (2 * h) for e in steps]
    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(at))(p), np.transpose(expected), rtol=1e-6, atol=1e-7)


def test_errors_are_those_of_scipy():
    lower, upper = np.zeros(5), np.array([1.0, 1.0, -1.0, 1.0, 1.0])
    for function in (within, lambda x, lower, upper: minimize(rosenbrock, x, bounds=Bounds(lower, upper))):
        with pytest.raises(ValueError, match="An upper bound is less than the corresponding lower bound"):
            function(START, lower, upper)
    function = lambda x: minimize(rosenbrock, x, method="L-BFGS-B", options={"maxls": 0})  # noqa: E731
    for each in (function, ng.graph_jit(function)):
        with pytest.raises(ValueError, match="maxls must be positive"):
            each(START)
