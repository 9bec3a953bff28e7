"""Roots without derivatives in compiled functions, beside SciPy's: points, counts, statuses, errors, derivatives."""

import warnings

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import NoConvergence, OptimizeWarning, root

import numbagraph as ng

METHODS = ("broyden1", "broyden2", "anderson", "diagbroyden", "linearmixing", "excitingmixing", "df-sane")


def wide(x):
    """The function of SciPy's examples, from which some methods go to infinity."""
    return np.cos(x) + x[::-1] - np.array([1.0, 2.0, 3.0, 4.0])


def damped(x):
    """The function of SciPy's own tests."""
    return -np.array([3.0, 2.0, 1.5, 1.0, 0.5]) * x - 0.01 * np.sum(x * x) * x


def coupled(x):
    return np.stack([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1, 0.5 * (x[1] - x[0]) ** 3 + x[1]])


def rootless(x):
    return np.array([x[0] ** 2 + 1.0, x[1] - 1.0])


def square(x):
    """A function of a matrix."""
    return x + 0.1 * x @ x - np.array([[1.0, 0.5], [0.2, 2.0]])


PROBLEMS = [
    pytest.param(wide, np.ones(4), {"tol": 1e-10}, id="wide"),
    pytest.param(damped, np.ones(5), {}, id="damped"),
    pytest.param(coupled, np.zeros(2), {}, id="coupled"),
    pytest.param(square, np.zeros((2, 2)), {}, id="matrix"),
    pytest.param(rootless, np.array([2.0, 3.0]), {"options": {"maxiter": 30}}, id="rootless"),
    pytest.param(coupled, np.zeros(2), {"options": {"nit": 4, "line_search": None}}, id="few"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("fun", "start", "kwargs"), PROBLEMS)
def test_roots_are_those_of_scipy(fun, start, kwargs, method):
    if fun is rootless and method == "anderson":
        pytest.skip("SciPy warns of a singular matrix, from where rounding decides")
    if method == "df-sane":
        kwargs = {"options": {"maxfev": 60}} if fun is rootless else {}
    function = lambda x: root(fun, x, method=method, **kwargs)  # noqa: E731
    with np.errstate(all="ignore"):
        try:
            expected = function(start)
        except (ValueError, OverflowError):  # SciPy's message of the latter is C's
            with pytest.raises(ValueError, match="array must not contain infs or NaNs"):
                ng.graph_jit(function)(start)
            return
        found = ng.graph_jit(function)(start)
    assert list(found) == list(expected)
    for name in ("status", "success", "message", "method"):
        assert found.get(name) == expected.get(name), name
    assert found.x.shape == start.shape
    if fun is not rootless or method == "broyden1":
        assert (found.nfev, found.nit) == (expected.nfev, expected.nit)
        np.testing.assert_allclose(found.x, expected.x, rtol=1e-6, atol=1e-9)


OPTIONS = [
    ("broyden1", {"jac_options": {"alpha": 0.3, "max_rank": 3}}),
    ("anderson", {"jac_options": {"M": 2, "w0": 0.1}, "tol_norm": np.linalg.norm, "fatol": 1e-9}),
    ("excitingmixing", {"jac_options": {"alphamax": 0.8}, "ftol": 1e-3, "xtol": 1e-3, "xatol": 1e-3}),
    ("df-sane", {"line_search": "cheng", "M": 4, "sigma_0": 0.5, "fnorm": np.linalg.norm}),
    ("df-sane", {"eta_strategy": lambda k, x, f: 1.0 / (k + 1.0) ** 2, "fatol": 1e-9, "sigma_eps": 1e-8}),
]


@pytest.mark.parametrize(("method", "options"), OPTIONS)
def test_options(method, options):
    function = lambda x: root(damped, x, method=method, options=options)  # noqa: E731
    found, expected = ng.graph_jit(function)(np.ones(5)), function(np.ones(5))
    assert (found.nfev, found.nit, found.success) == (expected.nfev, expected.nit, expected.success)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-7, atol=1e-10)


FUNCTIONS = [
    lambda x: optimize.broyden1(wide, x, f_tol=1e-10),
    lambda x: optimize.broyden2(wide, x, alpha=0.4),
    lambda x: optimize.anderson(wide, x, M=3),
    lambda x: optimize.linearmixing(damped, x, alpha=0.2),
    lambda x: optimize.diagbroyden(damped, x),
    lambda x: optimize.excitingmixing(damped, x, iter=3),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions(function):
    start = np.ones(5 if "damped" in function.__code__.co_names else 4)
    np.testing.assert_allclose(ng.graph_jit(function)(start), function(start), rtol=1e-7, atol=1e-12)


def test_errors_warnings_and_what_is_refused():
    start = np.ones(4)
    with pytest.raises(NoConvergence):
        ng.graph_jit(lambda x: optimize.broyden1(wide, x, maxiter=3))(start)
    with pytest.raises(ValueError, match="Invalid line search"):
        ng.graph_jit(lambda x: optimize.broyden1(wide, x, line_search="foo"))(start)
    with pytest.raises(ValueError, match="Unknown rank reduction method 'foo'"):
        ng.graph_jit(lambda x: optimize.broyden1(wide, x, reduction_method="foo"))(start)
    with pytest.warns(RuntimeWarning, match="Method broyden1 does not use the jacobian"):
        ng.graph_jit(lambda x: root(wide, x, method="broyden1", jac=lambda x: np.eye(4)).x)(start)
    with pytest.warns(OptimizeWarning, match="Unknown solver options: foo"):
        ng.graph_jit(lambda x: root(wide, x, method="anderson", options={"foo": 1}).x)(start)
    for function, instead in (
        (lambda x: optimize.broyden1(wide, x, line_search="wolfe"), "armijo"),
        (lambda x: optimize.broyden1(wide, x, verbose=True), "debug_print"),
    ):
        with pytest.raises(ng.errors.TraceError, match=instead):
            ng.graph_jit(function)(start)


@pytest.mark.parametrize("method", ["broyden1", "df-sane"])
def test_derivatives_are_those_of_the_equations(method):
    def implicit(a):
        found = root(lambda x, b: x + 0.5 * (x - x[::-1]) ** 3 - b, np.zeros(2), args=(a,), method=method, tol=1e-12)
        return found.x

    a = np.array([1.0, 0.2])
    x = ng.graph_jit(implicit)(a)
    slope = 1.5 * (x[0] - x[1]) ** 2
    expected = np.linalg.inv(np.array([[1 + slope, -slope], [-slope, 1 + slope]]))
    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(implicit))(a), expected, rtol=1e-8)
    np.testing.assert_allclose(ng.graph_jit(ng.jacrev(implicit))(a), expected, rtol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        early = lambda a: root(lambda x: x**2 - a, np.ones(2), method=method, options={"maxfev": 2}).x  # noqa: E731
        early = early if method == "df-sane" else lambda a: root(lambda x: x**2 + a, np.ones(2), method=method).x
        assert np.all(np.isnan(ng.graph_jit(ng.jacfwd(early))(a)))
