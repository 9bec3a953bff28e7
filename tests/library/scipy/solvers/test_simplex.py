"""Nelder and Mead's method, the older names of minimisers, and Rosenbrock's function, against SciPy."""

import numpy as np
import pytest
from scipy.optimize import (
    Bounds,
    fmin,
    fmin_bfgs,
    fmin_ncg,
    minimize,
    rosen,
    rosen_der,
    rosen_hess,
    rosen_hess_prod,
)

import numbagraph as ng

X = np.array([1.3, 0.7, 0.8])


def quadratic(x, a=3.0):
    return np.sum((x - a) ** 2)


CASES = [
    pytest.param(rosen, {}, id="rosen"),
    pytest.param(rosen, {"options": {"adaptive": True}, "tol": 1e-8}, id="adaptive"),
    pytest.param(rosen, {"options": {"maxfev": 41}}, id="maxfev"),
    pytest.param(rosen, {"options": {"maxiter": 9}}, id="maxiter"),
    pytest.param(quadratic, {"bounds": [(None, 2.0), (-1.0, 5.0), (0.0, None)]}, id="pairs"),
    pytest.param(quadratic, {"bounds": Bounds(-1.0, 1.0), "options": {"xatol": 1e-6}}, id="bounds"),
]


@pytest.mark.filterwarnings("ignore:Initial guess")
@pytest.mark.parametrize(("fun", "kwargs"), CASES)
def test_simplex_is_that_of_scipy(fun, kwargs):
    function = lambda x: minimize(fun, x, method="Nelder-Mead", **kwargs)  # noqa: E731
    found, expected = ng.graph_jit(function)(X), function(X)
    assert list(found) == list(expected)
    for name in ("nit", "nfev", "status", "success", "message"):
        assert getattr(found, name) == getattr(expected, name), name
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)
    np.testing.assert_allclose(found.fun, expected.fun, rtol=1e-8, atol=1e-20)


def test_derivatives_of_free_variables_and_of_those_at_a_bound():
    def at(p):
        bounds = [(None, p[0]), (-1.0, 5.0)]
        return minimize(lambda x: quadratic(x, p[1]), np.zeros(2), method="Nelder-Mead", bounds=bounds).x

    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(at))(np.array([2.0, 3.0])), np.eye(2), atol=1e-9)


def test_older_names(capfd):
    def function(x):
        return (
            fmin(rosen, x, full_output=1),
            fmin_bfgs(rosen, x, rosen_der, full_output=True),
            fmin_ncg(rosen, x, rosen_der, rosen_hess_prod, full_output=1, disp=0),
        )

    found = ng.graph_jit(function)(X)
    printed = capfd.readouterr().out
    expected = function(X)
    assert printed == capfd.readouterr().out
    for left, right in zip(found, expected, strict=True):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


def test_rosenbrock_and_its_derivatives():
    function = lambda x: (rosen(x), rosen_der(x), rosen_hess(x), rosen_hess_prod(x, x + 1))  # noqa: E731
    for left, right in zip(ng.graph_jit(function)(X), function(X), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-14, atol=1e-12)
    np.testing.assert_allclose(ng.grad(rosen)(X), rosen_der(X), rtol=1e-13)
    np.testing.assert_allclose(ng.hessian(rosen)(X), rosen_hess(X), rtol=1e-13, atol=1e-12)
