"""Roots of several variables in compiled functions, beside SciPy's: points, counts, reasons, derivatives, errors."""

import warnings

import numpy as np
import pytest
from scipy.optimize import fsolve, root

import numbagraph as ng


def pair(x):
    return np.array([x[0] * np.cos(x[1]) - 4, x[1] * x[0] - x[1] - 5])


def rosenbrock(x):
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def tridiagonal(x):
    """Broyden's function."""
    f = (3 - 2 * x) * x + 1
    return np.concatenate((f[:1] - 2 * x[1:2], f[1:-1] - x[:-2] - 2 * x[2:], f[-1:] - x[-2:-1]))


def network(q):
    """The flow through four pipes in parallel, as in SciPy's tests."""
    k = np.full(4, 0.5)
    return np.concatenate((k[:-1] * q[:-1] ** 2 - k[1:] * q[1:] ** 2, np.sum(q)[None] - 4.0))


def rootless(x):
    return np.array([x[0] ** 2 + 1.0, x[1] - 1])


PROBLEMS = [
    (pair, np.ones(2)),
    (rosenbrock, np.array([-1.2, 1.0])),
    (tridiagonal, -np.ones(9)),
    (network, np.array([2.0, 0.0, 2.0, 0.0])),
    (rootless, np.array([2.0, 3.0])),
]


@pytest.mark.parametrize("method", ["hybr", "lm"])
@pytest.mark.parametrize(("fun", "start"), PROBLEMS)
def test_roots_are_those_of_scipy(fun, start, method):
    found = ng.graph_jit(lambda x: root(fun, x, method=method))(start)
    expected = root(fun, start, jac=ng.jacfwd(fun), method=method)
    for name in ("nfev", "status", "success", "message"):
        assert found[name] == expected[name], name
    for name in ("x", "fun", "qtf") + (("r", "fjac") if method == "hybr" else ()):
        np.testing.assert_allclose(found[name], expected[name], 1e-8, 1e-8, err_msg=name)


def test_differences_if_asked_for():
    found = ng.graph_jit(lambda x: fsolve(pair, x, full_output=True, epsfcn=1e-15))(np.ones(2))
    expected = fsolve(pair, np.ones(2), full_output=True, epsfcn=1e-15)
    assert (found[1]["nfev"], found[2], found[3]) == (expected[1]["nfev"], expected[2], expected[3])
    np.testing.assert_allclose(found[0], expected[0], 1e-9)


def test_options_and_given_derivatives():
    def both(x):
        return pair(x), np.array([[np.cos(x[1]), -x[0] * np.sin(x[1])], [x[1], x[0] - 1]])

    options = {"factor": 1.0, "diag": np.array([1.0, 3.0])}
    found = ng.graph_jit(lambda x: root(both, x, jac=True, tol=1e-3, options=options))(np.ones(2))
    expected = root(both, np.ones(2), jac=True, tol=1e-3, options=options)
    assert (found.njev, found.status) == (expected.njev, expected.status)
    np.testing.assert_allclose(found.x, expected.x, 1e-9)


def implicit(a):
    return fsolve(lambda x: np.stack([x[0] ** 2 + x[1] - a, x[0] - x[1] ** 3]), np.array([1.0, 1.0]), xtol=1e-13)


@pytest.mark.parametrize("mode", [ng.jacfwd, ng.jacrev])
def test_derivatives_are_those_of_the_equations(mode):
    x, y = ng.graph_jit(implicit)(3.0)
    matrix = np.array([[2 * x, 1.0], [1.0, -3 * y**2]])
    first = np.linalg.solve(matrix, [1.0, 0.0])
    second = np.linalg.solve(matrix, [-2 * first[0] ** 2, 6 * y * first[1] ** 2])
    np.testing.assert_allclose(ng.graph_jit(mode(implicit))(3.0), first, 1e-10)
    np.testing.assert_allclose(ng.graph_jit(mode(mode(implicit)))(3.0), second, 1e-9)


def test_roots_in_batches_loops_and_branches():
    a = np.linspace(1.0, 3.0, 4)
    plain = np.array([fsolve(lambda x, a=a: [x[0] ** 2 + x[1] - a, x[0] - x[1] ** 3], [1.0, 1.0]) for a in a])
    np.testing.assert_allclose(ng.vmap(implicit)(a), plain, 1e-8)

    @ng.graph_jit
    def loop(a):
        total = 0.0
        for each in a:
            if each > 1.5:
                total += np.sum(implicit(each))
        return total

    np.testing.assert_allclose(loop(a), plain[a > 1.5].sum(), 1e-8)
    slope = ng.graph_jit(ng.grad(loop))(a)
    np.testing.assert_allclose(slope[2], np.sum(ng.jacfwd(implicit)(a[2])), 1e-8)
    assert slope[0] == 0.0


def test_what_is_no_root_warns_and_has_no_derivative():
    def rootless_of(a):
        return fsolve(lambda x: np.stack([x[0] ** 2 + a, x[1] - 1]), np.array([2.0, 3.0]))

    with pytest.warns(RuntimeWarning, match="not making good progress"):
        ng.graph_jit(rootless_of)(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.all(np.isnan(ng.graph_jit(ng.jacfwd(rootless_of))(1.0)))


FAILURES = [
    lambda x: fsolve(lambda x: np.concatenate((x, x)), x),
    lambda x: fsolve(pair, x, fprime=lambda x: np.ones((2, 3))),
    lambda x: fsolve(pair, x, factor=-1.0),
    lambda x: root(pair, x, method="secant"),
]


@pytest.mark.parametrize("failing", FAILURES)
def test_errors_are_those_of_scipy(failing):
    with pytest.raises((ValueError, TypeError)) as plain:
        failing(np.ones(2))
    with pytest.raises(plain.type) as compiled:
        ng.graph_jit(failing)(np.ones(2))
    assert str(plain.value).splitlines()[0][:40] in str(compiled.value)


def test_nothing_is_printed_while_a_function_is_traced(capfd):
    """MINPACK prints the error of a function that gives a traced array."""
    compiled = ng.graph_jit(lambda a: fsolve(lambda x, k: x * x - k, np.ones(3), args=(a,)))
    np.testing.assert_allclose(compiled(np.array([1.0, 4.0, 9.0])), [1.0, 2.0, 3.0])
    assert capfd.readouterr().err == ""
