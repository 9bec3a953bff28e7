"""Derivatives of solutions of equations: `numbagraph.library.scipy.solution.solved`."""

import numpy as np
import pytest
from scipy.optimize import bisect

import numbagraph as ng
from numbagraph.library.scipy.solution import solved

M = np.array([[3.0, 1.0], [0.5, 2.0]])


def root(a):
    return bisect(lambda x: x**3 - a, 0.0, 5.0)


def derivative(a, order):
    return np.prod([1 / 3 - k for k in range(order)]) * a ** (1 / 3 - order)


def vector(b):
    """The solution of ``M x + x^3 = b``, by Newton's steps."""
    x = np.linalg.solve(M, b)
    for _ in range(30):
        x = x - np.linalg.solve(M + np.diag(3 * x * x), M @ x + x**3 - b)
    return solved(lambda x: M @ x + x**3 - b, x)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("mode", [ng.grad, ng.jacfwd])
def test_derivatives_of_any_order_follow_from_the_equation(mode, order):
    function = root
    for _ in range(order):
        function = mode(function)
    np.testing.assert_allclose(ng.graph_jit(function)(2.0), derivative(2.0, order), rtol=1e-11)


def test_batches_of_derivatives_and_derivatives_of_batches():
    a = np.linspace(0.5, 3.0, 5)
    np.testing.assert_allclose(ng.vmap(ng.grad(root))(a), derivative(a, 1), rtol=1e-11)
    np.testing.assert_allclose(ng.vmap(ng.grad(ng.grad(root)))(a), derivative(a, 2), rtol=1e-11)
    np.testing.assert_allclose(ng.grad(lambda a: np.sum(ng.vmap(root)(a)))(a), derivative(a, 1), rtol=1e-11)


def test_the_solution_of_several_equations():
    b = np.array([1.0, 2.0])
    x = ng.graph_jit(vector)(b)
    expected = np.linalg.inv(M + np.diag(3 * x * x))
    for mode in (ng.jacrev, ng.jacfwd):
        np.testing.assert_allclose(ng.graph_jit(mode(vector))(b), expected, rtol=1e-12)
        np.testing.assert_allclose(ng.vmap(mode(vector))(np.stack([b, b]))[1], expected, rtol=1e-12)
    # F(x(b)) = b twice differentiated: J x'' = -diag(6 x) x' x'
    second = -np.einsum("ij,jk,jl->ikl", expected, (6 * x)[:, None] * expected, expected)
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(vector))(b), second, rtol=1e-11)


def test_a_solution_of_several_dimensions():
    def square_root(a):
        x = np.sqrt(a)
        return solved(lambda x: x * x - a, x)

    a = np.array([[1.0, 4.0], [9.0, 16.0]])
    found = ng.graph_jit(ng.grad(lambda a: np.sum(square_root(a) * a)))(a)
    np.testing.assert_allclose(found, 1.5 * np.sqrt(a), rtol=1e-13)


def test_solutions_inside_of_loops_and_of_derivatives():
    def loop(a):
        x = a
        for _ in range(20):
            x = root(x) + 0.1 * a
        return x

    def plain(a):
        x, slope = a, 1.0
        for _ in range(20):
            x, slope = x ** (1 / 3) + 0.1 * a, slope / 3 * x ** (-2 / 3) + 0.1
        return x, slope

    value, slope = ng.graph_jit(ng.value_and_grad(loop))(2.0)
    np.testing.assert_allclose((value, slope), plain(2.0), rtol=1e-10)
    mixed = ng.graph_jit(ng.grad(lambda a: ng.grad(root)(a) * root(a)))(2.0)
    np.testing.assert_allclose(mixed, -1 / 3 / 3 * 2.0 ** (-4 / 3), rtol=1e-10)


def test_what_is_no_solution_has_no_derivative():
    def early(a):
        return bisect(lambda x: x**3 - a, 0.0, 5.0, maxiter=4, disp=False)

    assert np.isnan(ng.graph_jit(ng.grad(early))(2.0))
    assert np.isnan(ng.graph_jit(ng.jacfwd(early))(2.0))


def test_an_equation_with_effects_has_them_in_the_search_alone(capsys):
    def spoken(a):
        def equation(x):
            if x > 4.0:
                print("large")
            return x**3 - a

        return bisect(equation, 0.0, 5.0)

    np.testing.assert_allclose(ng.graph_jit(ng.grad(spoken))(2.0), derivative(2.0, 1), rtol=1e-11)
    assert capsys.readouterr().out == "large\n"


def test_an_equation_that_is_not_solved_may_be_singular():
    def unsolved(a):
        return solved(lambda x: np.stack([x[0] + x[1] - a, 2.0 * (x[0] + x[1] - a)]), np.zeros(2), a > 9.0)

    assert np.all(np.isnan(ng.jacfwd(unsolved)(1.0)))
    with pytest.raises(np.linalg.LinAlgError):
        ng.jacfwd(unsolved)(10.0)
