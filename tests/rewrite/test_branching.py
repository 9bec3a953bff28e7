"""Choices between numbers that take long to compute are branches: what moves into them, and what does not."""

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit
from numbagraph.ir.values import Node
from numbagraph.rewrite.pipeline import optimise

X = np.linspace(0.1, 1.0, 50)


def both(c, x):
    return np.where(c > 0, np.sum(np.exp(np.sin(x))), np.sum(np.log1p(x * x)))


def guarded(c, x):
    return np.where(c > 0, np.sum(np.log(x)) * c, -np.inf)


def nested(c, x):
    z = x * x
    inner = np.where(c < -1, np.sum(np.sin(z)), 0.0)
    return np.where(c > 0, np.sum(np.exp(z)), inner) + np.sum(z)


def two_results(c, x):
    e = np.exp(x)
    return np.where(c > 0, np.sum(e), 1.0) * np.where(c > 0, np.sum(e * x), 2.0)


def of_a_loop(c, x):
    def step(carry, each):
        return np.cos(carry) + each, None

    last, _ = numbagraph.scan(step, c, x)
    return np.where(c > 0, last, 0.0)


def of_sums(c, x):
    """Both numbers need a mean, one of which is used elsewhere."""
    centred = x - np.mean(x)
    return np.where(c > 0, np.sum(np.exp(centred)), np.sum(np.sin(centred) / np.std(x))) + np.mean(x)


def of_matrices(c, x):
    m = x.reshape(5, 10)
    return np.where(c > 0, np.max(m @ m.T @ m), c)


CHOICES = [both, guarded, nested, two_results, of_a_loop, of_sums, of_matrices]
POINTS = [2.0, -0.5, -2.0, 0.0, np.nan]


def ops(function, *arguments):
    """The names of the ops of the graph that is compiled, outside of branches."""
    final = optimise(graph_jit(function).graph(*arguments)).final
    return [each.op.name for each in final.order if isinstance(each, Node)]


def with_python(function, *arguments):
    """What NumPy gives, and of `numbagraph.scan`, Python."""
    return graph_jit(function, backend="numpy")(*arguments)


@pytest.mark.parametrize("c", POINTS)
@pytest.mark.parametrize("function", CHOICES)
def test_values_are_those_of_numpy(function, c):
    expected = function(c, X) if function is not of_a_loop else with_python(function, c, X)
    np.testing.assert_allclose(graph_jit(function)(c, X), expected, rtol=1e-12)


@pytest.mark.parametrize("function", CHOICES)
def test_one_branch_takes_their_place(function):
    found = ops(function, 1.0, X)
    assert "switch" in found
    assert not {"where", "exp", "sin", "log1p", "scan", "log", "matmul"} & set(found)


@pytest.mark.parametrize("c", POINTS[:3])
@pytest.mark.parametrize("function", CHOICES)
def test_gradients_are_those_of_differences(function, c):
    value, gradient = graph_jit(numbagraph.value_and_grad(function, argnums=(0, 1)))(c, X)
    compiled = graph_jit(function)
    np.testing.assert_allclose(value, compiled(c, X), rtol=1e-12)
    if not np.isfinite(value):
        assert gradient[0] == 0
        assert not gradient[1].any()
        return
    step = 1e-6
    np.testing.assert_allclose(gradient[0], (compiled(c + step, X) - compiled(c - step, X)) / (2 * step), atol=1e-6)
    for place in (0, 17, 49):
        moved = np.zeros(50)
        moved[place] = step
        slope = (compiled(c, X + moved) - compiled(c, X - moved)) / (2 * step)
        np.testing.assert_allclose(gradient[1][place], slope, atol=1e-6)


@pytest.mark.parametrize("function", [both, guarded, two_results])
def test_a_value_and_its_gradient_are_one_branch(function):
    found = optimise(graph_jit(numbagraph.value_and_grad(function, argnums=1)).graph(1.0, X)).final.order
    branches = {
        (each.inputs, each.attrs["branches"]) for each in found if isinstance(each, Node) and each.op.name == "switch"
    }
    assert len(branches) == (2 if function is two_results else 1)  # the cotangents of two factors are the factors


@pytest.mark.parametrize("function", CHOICES)
def test_second_derivatives_are_differences_of_first_ones(function):
    hessian = graph_jit(numbagraph.hessian(function, argnums=1))(0.5, X[:50])
    gradient = graph_jit(numbagraph.grad(function, argnums=1))
    moved = np.zeros(50)
    moved[7] = 1e-6
    slope = (gradient(0.5, X + moved) - gradient(0.5, X - moved)) / 2e-6
    np.testing.assert_allclose(hessian[:, 7], slope, atol=1e-6)


def test_gradients_of_what_is_not_taken_are_zero():
    gradient = graph_jit(numbagraph.grad(guarded, argnums=1))(-1.0, np.zeros(20))
    np.testing.assert_array_equal(gradient, np.zeros(20))


@pytest.mark.parametrize("c", [np.array([2.0, -0.5, -2.0]), np.array([3.0])])
@pytest.mark.parametrize("function", CHOICES)
def test_batches_select(function, c):
    gradient = numbagraph.grad(function, argnums=1)
    mapped = graph_jit(numbagraph.vmap(function, in_axes=(0, None)))
    np.testing.assert_allclose(mapped(c, X), [with_python(function, each, X) for each in c], rtol=1e-12)
    found = graph_jit(numbagraph.vmap(gradient, in_axes=(0, None)))(c, X)
    np.testing.assert_allclose(found, [graph_jit(gradient)(each, X) for each in c], rtol=1e-10)


def test_what_may_fail_is_not_left_out():
    @graph_jit
    def element(c, x, i):
        return np.where(c > 0, np.sum(np.exp(x)) + x[i], 0.0)

    @graph_jit
    def solved(c, x):
        return np.where(c > 0, np.sum(np.exp(np.linalg.solve(x, x[0]))), 0.0)

    @graph_jit
    def checked(c, x):
        def step(s, each):
            numbagraph.check(each > 0, "not positive")
            return s + np.exp(each), None

        return np.where(c > 0, numbagraph.scan(step, 0.0, x)[0], 0.0)

    for c in (1.0, -1.0):
        with pytest.raises(IndexError, match="out of bounds"):
            element(c, X, 50)
        with pytest.raises(np.linalg.LinAlgError):
            solved(c, np.zeros((3, 3)))
        with pytest.raises(numbagraph.CheckError, match="not positive"):
            checked(c, np.array([1.0, -1.0]))


def test_calls_of_python_are_made():
    seen = []

    def noted(x):
        seen.append(float(x))
        return x

    def function(c, x):
        called = numbagraph.pure_callback(noted, np.float64(0.0), x[0])
        return np.where(c > 0, np.sum(np.exp(x * called)), 0.0)

    assert graph_jit(function)(-1.0, X) == 0.0
    assert seen == [0.1]


def test_what_is_cheap_or_needed_elsewhere_is_computed_in_either_case():
    def cheap(c, x):
        return np.where(c > 0, np.sum(x), np.exp(c))

    def elements(c, x):
        return np.where(c > 0, np.exp(x), np.sin(x))

    def needed(c, x):
        e = np.sum(np.exp(x))
        return np.where(c > 0, e, 0.0), e

    def by_both(c, x):
        e = np.sum(np.exp(x))
        return np.where(c > 0, e, -e)

    def compared(c, x):
        return np.where(np.sum(np.exp(x)) > c, np.sum(np.exp(x)), c)

    for each in (cheap, elements, needed, by_both, compared):
        assert "switch" not in ops(each, 1.0, X)


def test_loops_on_several_threads_are_not_moved():
    function = graph_jit(both, parallel=True)
    np.testing.assert_allclose(function(1.0, X), both(1.0, X), rtol=1e-12)
    final = optimise(graph_jit(both).graph(1.0, X), parallel=True).final
    assert "switch" not in {each.op.name for each in final.order if isinstance(each, Node)}


def test_steps_of_loops_branch():
    @graph_jit
    def total(x, flags):
        def step(s, flag):
            return s + np.where(flag, np.sum(np.exp(x * s)), 1.0), None

        return numbagraph.scan(step, 0.0, flags)[0]

    flags, expected = np.array([False, True, False, True]), 0.0
    for flag in flags:
        expected += np.sum(np.exp(X[:9] * expected)) if flag else 1.0
    np.testing.assert_allclose(total(X[:9], flags), expected, rtol=1e-12)


def test_auxiliary_results_keep_what_they_need_outside():
    def function(c, x):
        e = np.exp(x)
        return np.where(c > 0, np.sum(e * e), 0.0), e

    compute = numbagraph.value_and_grad(function, argnums=1, has_aux=True)
    found = optimise(graph_jit(compute).graph(1.0, X)).final.order
    assert [each.op.name for each in found if isinstance(each, Node)].count("exp") == 1
    (value, e), gradient = graph_jit(compute)(1.0, X)
    np.testing.assert_allclose(value, np.sum(np.exp(2 * X)))
    np.testing.assert_allclose(e, np.exp(X))
    np.testing.assert_allclose(gradient, 2 * np.exp(2 * X))
