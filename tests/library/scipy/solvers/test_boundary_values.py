"""`scipy.integrate.solve_bvp` in compiled functions, beside SciPy's, on its own test problems: meshes, solutions,
statuses; derivatives against closed forms and differences."""

import re
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import numbagraph as ng

X = np.linspace(0, 1, 5)
AT = np.linspace(0.05, 0.95, 7)


def fields(found):
    return (
        found.x,
        found.y,
        found.yp,
        found.rms_residuals,
        found.p,
        found.niter,
        found.status,
        found.message,
        found.success,
        found.sol(AT),
        found.sol(AT, 1),
    )


def check(solve, *args, rtol=1e-9):
    compiled: Any = ng.graph_jit(solve)
    expected, found = solve(*args), compiled(*args)
    for left, right in zip(found, expected, strict=True):
        if right is None or isinstance(right, str):
            assert left == right
        else:
            left, right = np.asarray(left), np.asarray(right)
            assert left.shape == right.shape
            np.testing.assert_allclose(left, right, rtol, 1e-8 if right.size and right.dtype.kind in "fc" else 0)
    return found


def exp_fun(x, y):
    return np.vstack((y[1], y[0]))


def exp_fun_jac(x, y):
    zero, one = np.zeros_like(x), np.ones_like(x)
    return np.stack([np.stack([zero, one]), np.stack([one, zero])])


def exp_bc(ya, yb):
    return np.hstack((ya[0] - 1, yb[0]))


def exp_bc_jac(ya, yb):
    return np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])


def sl_fun(x, y, p):
    return np.vstack((y[1], -(p[0] ** 2) * y[0]))


def sl_bc(ya, yb, p):
    return np.hstack((ya[0], yb[0], ya[1] - p[0]))


def emden_fun(x, y):
    return np.vstack((y[1], -(y[0] ** 5)))


def emden_bc(ya, yb):
    return np.array([ya[1], yb[0] - (3 / 4) ** 0.5])


def shock_fun(x, y):
    eps = 1e-3
    return np.vstack((y[1], -(x * y[1] + eps * np.pi**2 * np.cos(np.pi * x) + np.pi * x * np.sin(np.pi * x)) / eps))


def shock_bc(ya, yb):
    return np.array([ya[0] + 2, yb[0]])


def singular_fun(x, y):
    return np.zeros_like(y)


def singular_bc(ya, yb):
    return np.array([ya[0], yb[0] - 1])


def scaled(fun, factor):
    return lambda *args: fun(*args) * factor


def linear(one):
    return fields(solve_bvp(scaled(exp_fun, one), exp_bc, X, np.zeros((2, 5))))


def linear_with_given_derivatives(one):
    return fields(
        solve_bvp(scaled(exp_fun, one), exp_bc, X, np.zeros((2, 5)), fun_jac=exp_fun_jac, bc_jac=exp_bc_jac, tol=1e-7)
    )


def eigenvalue(one):
    return fields(solve_bvp(scaled(sl_fun, one), sl_bc, np.linspace(0, np.pi, 5), np.ones((2, 5)), p=[0.5]))


def singular_term(one):
    start = np.stack([np.full(10, 0.75**0.5), np.full(10, 1e-4)])
    return fields(solve_bvp(scaled(emden_fun, one), emden_bc, np.linspace(0, 1, 10), start, S=[[0, 0], [0, -2]]))


def complex_states(one):
    return fields(
        solve_bvp(scaled(exp_fun, one), lambda ya, yb: np.hstack((ya[0] - 1 - 1j, yb[0])), X, np.zeros((2, 5), complex))
    )


def shock(one):
    return fields(solve_bvp(scaled(shock_fun, one), shock_bc, np.linspace(-1, 1, 5), np.zeros((2, 5))))


def too_fine(one):
    return fields(
        solve_bvp(scaled(exp_fun, one), exp_bc, np.linspace(0, 1, 2), np.zeros((2, 2)), tol=1e-5, max_nodes=5)
    )


def singular(one):
    return fields(solve_bvp(scaled(singular_fun, one), singular_bc, X, np.zeros((2, 5))))


def without_boundary(one):
    """The conditions have no real solution; derivatives are given, since differences lead Newton's steps elsewhere."""
    bc, by_states = squared_conditions()
    given = {"fun_jac": exp_fun_jac, "bc_jac": by_states}
    return fields(solve_bvp(scaled(exp_fun, one), bc, X, np.zeros((2, 5)), **given))


def squared_conditions():
    def bc(ya, yb):
        return np.hstack((ya[0] - 1, yb[0] ** 2 + 1))

    def by_states(ya, yb):
        return np.array([[1.0, 0.0], [0.0, 0.0]]), np.stack([np.zeros(2), np.stack([2 * yb[0], 0.0 * yb[0]])])

    return bc, by_states


PROBLEMS = {
    each.__name__: each
    for each in (
        linear,
        linear_with_given_derivatives,
        eigenvalue,
        singular_term,
        complex_states,
        shock,
        too_fine,
        singular,
        without_boundary,
    )
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_of_scipy(name):
    check(PROBLEMS[name], 1.0, rtol=1e-6)


def sinh_problem(c, length, at):
    """The solution of ``y'' = c**2 y`` with 1 at the start and 0 at the end."""
    x = np.linspace(0, 1, 7) * length
    found = solve_bvp(
        lambda x, y: np.vstack((y[1], c * c * y[0])),
        lambda ya, yb: np.hstack((ya[0] - 1, yb[0])),
        x,
        np.zeros((2, 7)),
        tol=1e-6,
    )
    return found.sol(at)[0]


def exact(c, length, at):
    return np.sinh(c * (length - at)) / np.sinh(c * length)


def test_derivatives_are_those_of_the_solution():
    at, step = 0.3, 1e-5
    value, slopes = ng.graph_jit(ng.value_and_grad(sinh_problem, argnums=(0, 1, 2)))(1.3, 1.1, at)
    np.testing.assert_allclose(value, exact(1.3, 1.1, at), rtol=1e-6)
    for number, slope in enumerate(slopes):
        given = np.array([1.3, 1.1, at])
        change = step * (np.arange(3) == number)
        expected = (exact(*(given + change)) - exact(*(given - change))) / (2 * step)
        np.testing.assert_allclose(slope, expected, rtol=2e-5)


def height(c, max_nodes=1000):
    """The largest height of Bratu's problem, which has no solution from 3.51 on."""
    found = solve_bvp(
        lambda x, y: np.vstack((y[1], -c * np.exp(y[0]))), lambda ya, yb: np.hstack((ya[0], yb[0])), X,
        np.zeros((2, 5)), max_nodes=max_nodes,
    )  # fmt: skip
    return found.sol(0.5)[0]


def test_derivatives_of_what_was_not_found_are_nan():
    value, slope = ng.graph_jit(ng.value_and_grad(lambda c: height(c, 30)))(5.0)
    assert np.isfinite(value)
    assert np.isnan(slope)


@pytest.mark.repeats
def test_a_solution_is_the_start_of_the_next_one():
    def continued(c):
        x, y = X, np.zeros((2, 5))
        for factor in (1.0, 2.0):
            found = solve_bvp(
                lambda x, y, c=c * factor: np.vstack((y[1], -c * np.exp(y[0]))),
                lambda ya, yb: np.hstack((ya[0], yb[0])), x, y, tol=1e-5,
            )  # fmt: skip
            x, y = found.x, found.y
        return found

    found, expected = ng.graph_jit(continued)(1.0), continued(1.0)
    assert type(found) is type(expected)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-12)
    np.testing.assert_allclose(found.y, expected.y, atol=1e-8)
    np.testing.assert_allclose(found.sol(AT), expected.sol(AT), atol=1e-8)


def given(**changes):
    options = {"fun": exp_fun, "bc": exp_bc, "x": X, "y": np.zeros((2, 5))} | changes
    return lambda one: solve_bvp(scaled(options.pop("fun"), one), **options).y


WRONG = {
    "points": {"x": [0.0, 1.0, 0.5], "y": np.zeros((2, 3))},
    "columns": {"y": np.zeros((2, 4))},
    "slopes": {"fun": lambda x, y: y[0]},
    "conditions": {"bc": lambda ya, yb: ya[:1]},
    "S": {"S": [[0.0, 0.0]]},
    "verbose": {"verbose": 3},
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    with pytest.raises(ValueError, match="`") as plain:
        given(**WRONG[name])(1.0)
    with pytest.raises(ValueError, match=re.escape(str(plain.value))):
        ng.graph_jit(given(**WRONG[name]))(1.0)
