"""`scipy.optimize.minimize` in compiled functions, against SciPy's: values, counts, statuses, and derivatives."""

import warnings

import numpy as np
import pytest
from scipy.optimize import OptimizeWarning, bisect, brentq, minimize

import numbagraph as ng


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def beale(x):
    a, b = x[0], x[1]
    return (1.5 - a + a * b) ** 2 + (2.25 - a + a * b**2) ** 2 + (2.625 - a + a * b**3) ** 2


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


F = np.array([[1.0, 1, 1], [1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 0, 0]])
K = np.array([1.0, 0.3, 0.5])


def entropy(x):
    """SciPy's own problem: a model of maximum entropy of a translation."""
    return np.log(np.sum(np.exp(F @ x))) - K @ x


def quadratic(x):
    return np.sum((x - 3.0) ** 2)


def unbounded(x):
    return -(x[0] ** 3) - np.sum(x)


def root_of_negative(x):
    return np.sum(np.sqrt(x - 1.0)) + np.sum(x**2)


PROBLEMS = [
    pytest.param(rosenbrock, [1.3, 0.7, 0.8, 1.9, 1.2], id="rosenbrock"),
    pytest.param(beale, [1.0, 1.0], id="beale"),
    pytest.param(himmelblau, [0.0, 0.0], id="himmelblau"),
    pytest.param(entropy, [0.0, 0.0, 0.0], id="entropy"),
    pytest.param(quadratic, [3.0, 3.0], id="at the minimum"),
    pytest.param(lambda x: 0.0 * np.sum(x) + 1.0, [1.0, 2.0], id="flat"),
    pytest.param(quadratic, [1e9], id="far"),
]
METHODS = ["BFGS", "CG", "Newton-CG", "trust-ncg", "trust-exact", "dogleg"]


def scipy_result(fun, x0, **kwargs):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if kwargs.get("method") == "Newton-CG":
            kwargs["hessp"] = ng.graph_jit(lambda x, p: ng.jvp(ng.grad(fun), (x,), (p,))[1])
        if kwargs.get("method") in ("trust-ncg", "trust-exact", "dogleg"):
            kwargs["hess"] = ng.graph_jit(ng.hessian(fun))
        return minimize(fun, np.asarray(x0), jac=ng.graph_jit(ng.grad(fun)), **kwargs)


def check(found, expected, rtol=1e-6):
    for name in ("nit", "nfev", "njev", "nhev", "status", "success", "message"):
        if name in expected:
            assert getattr(found, name) == getattr(expected, name), name
    for name in ("x", "fun", "jac", "hess_inv"):
        if name in expected:
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol, 1e-8, err_msg=name)
    assert list(found) == list(expected)


@pytest.mark.parametrize(("fun", "x0"), PROBLEMS)
@pytest.mark.parametrize("method", METHODS)
def test_results_are_those_of_scipy(method, fun, x0):
    found = ng.graph_jit(lambda x: minimize(fun, x, method=method))(np.array(x0))
    check(found, scipy_result(fun, x0, method=method))


@pytest.mark.parametrize(("fun", "x0"), [(unbounded, [1.0, 2.0]), (root_of_negative, [2.0]), (root_of_negative, [0.5])])
def test_what_does_not_converge_is_what_scipy_gives(fun, x0):
    expected = scipy_result(fun, x0)
    found = ng.graph_jit(lambda x: minimize(fun, x))(np.array(x0))
    assert (found.status, found.success, found.message) == (expected.status, expected.success, expected.message)


OPTIONS = [{"gtol": 1e-7, "norm": 2}, {"maxiter": 3}, {"xrtol": 1e-2, "hess_inv0": np.diag([2.0, 0.5])}]


@pytest.mark.parametrize("options", [*OPTIONS, {"c1": 1e-3, "c2": 0.5, "norm": -np.inf}], ids=str)
def test_options(options):
    found = ng.graph_jit(lambda x: minimize(beale, x, options=options))(np.array([1.0, 1.0]))
    check(found, scipy_result(beale, [1.0, 1.0], options=options))


@pytest.mark.parametrize("jac", ["2-point", "3-point"])
def test_differences(jac):
    with np.errstate(all="ignore"):
        expected = minimize(beale, np.array([1.0, 1.0]), jac=jac)
    found = ng.graph_jit(lambda x: minimize(beale, x, jac=jac))(np.array([1.0, 1.0]))
    check(found, expected, rtol=1e-4)


def gradient_of_quadratic(x, a):
    return 2 * (x - a)


def test_a_given_gradient_and_args():
    a = np.array([1.0, -2.0])

    def by_function(x, a):
        return minimize(lambda x, a: np.sum((x - a) ** 2), x, args=(a,), jac=gradient_of_quadratic)

    def by_pair(x, a):
        return minimize(lambda x, a: (np.sum((x - a) ** 2), 2 * (x - a)), x, args=a, jac=True)

    for function in (by_function, by_pair):
        check(ng.graph_jit(function)(np.zeros(2), a), function(np.zeros(2), a))
        np.testing.assert_allclose(ng.jacfwd(lambda a, f=function: f(np.zeros(2), a).x)(a), np.eye(2), atol=1e-12)


def test_errors_and_warnings():
    with pytest.raises(ValueError, match="'x0' must only have one dimension"):
        ng.graph_jit(lambda x: minimize(quadratic, x).x)(np.ones((2, 2)))
    with pytest.raises(ValueError, match="must return a scalar"):
        ng.graph_jit(lambda x: minimize(lambda x: x, x).x)(np.ones(2))
    with pytest.raises(ValueError, match="'c1' and 'c2' do not satisfy"):
        ng.graph_jit(lambda x: minimize(quadratic, x, options={"c1": 0.95}).x)(np.ones(2))
    with pytest.raises(ValueError, match="positive definite"):
        ng.graph_jit(lambda x: minimize(quadratic, x, options={"hess_inv0": -np.eye(2)}).x)(np.ones(2))
    with pytest.raises(ng.errors.TraceError, match="callback"):
        ng.graph_jit(lambda x: minimize(quadratic, x, callback=print).x)(np.ones(2))
    with pytest.warns(OptimizeWarning, match="Unknown solver options: foo"):
        ng.graph_jit(lambda x: minimize(quadratic, x, options={"foo": 1}).x)(np.ones(2))


def coupled(p):
    """A minimum at which the gradient ``x - a + 0.1 * sin(x) * b`` is zero."""
    return lambda x: np.sum(0.5 * x**2 - p[0] * x - 0.1 * p[1] * np.cos(x)) + 0.05 * np.sum(x) ** 2


def minimum(p):
    return minimize(coupled(p), np.zeros(2), options={"gtol": 1e-7})


def by_newton(p):
    return brentq(lambda x: x - p[0] + 0.1 * p[1] * np.sin(x) + 0.2 * x, -50.0, 50.0, xtol=1e-15, rtol=1e-15)


def central(function, p, h=1e-4):
    steps = np.eye(len(p)) * h
    return np.array([(function(p + e) - function(p - e)) / (2 * h) for e in steps])


P = np.array([1.2, 0.7])


def test_derivatives_of_the_minimiser_and_of_the_minimum():
    first = central(by_newton, P)
    x = lambda p: minimum(p).x[0]  # noqa: E731
    for mode in (ng.grad, ng.jacfwd):
        np.testing.assert_allclose(ng.graph_jit(mode(x))(P), first, rtol=1e-7)
    second = np.array(
        [[central(lambda q, i=i: central(by_newton, q)[i], P, 1e-3)[j] for j in range(2)] for i in range(2)]
    )
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(x))(P), second, rtol=1e-3, atol=1e-5)
    # by the envelope theorem, the minimum's derivative is that of the objective
    at = by_newton(P)
    expected = [-2 * at, -0.2 * np.cos(at)]
    np.testing.assert_allclose(ng.graph_jit(ng.grad(lambda p: minimum(p).fun))(P), expected, rtol=1e-7)
    curvature = ng.graph_jit(ng.hessian(lambda p: minimum(p).fun))(P)
    np.testing.assert_allclose(curvature, np.stack([-2 * first, 0.2 * np.sin(at) * first]), rtol=1e-6)


def test_derivatives_where_it_did_not_converge_are_nan():
    early = lambda p: minimize(coupled(p), np.zeros(2), options={"maxiter": 1}).x[0]  # noqa: E731
    assert np.all(np.isnan(ng.graph_jit(ng.grad(early))(P)))


def test_batches_of_data_and_of_starting_points():
    ps = np.stack([P, 2 * P, -P])
    np.testing.assert_allclose(ng.vmap(lambda p: minimum(p).x[1])(ps), [by_newton(p) for p in ps], rtol=1e-8)
    gradients = ng.vmap(ng.grad(lambda p: minimum(p).x[1]))(ps)
    np.testing.assert_allclose(gradients, [central(by_newton, p) for p in ps], rtol=1e-6)
    starts = np.array([[0.0, 0.0], [-1.0, 2.0], [-3.0, -3.0]])
    found = ng.vmap(lambda x: minimize(himmelblau, x))(starts)
    expected = [scipy_result(himmelblau, x) for x in starts]
    assert list(found.nfev) == [each.nfev for each in expected]
    np.testing.assert_allclose(found.x, [each.x for each in expected], rtol=1e-6)


def test_a_root_in_the_objective():
    def distance(x):
        return (x[0] - 1.0) ** 2 + bisect(lambda y: y**3 + y - x[0], -5.0, 5.0) ** 2

    found = ng.graph_jit(lambda x: minimize(distance, x).x)(np.array([3.0]))
    y = brentq(lambda y: 2 * (y**3 + y - 1) * (3 * y**2 + 1) + 2 * y, 0.0, 1.0)
    np.testing.assert_allclose(found, y**3 + y, rtol=1e-5)
