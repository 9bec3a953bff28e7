"""Rules of `custom_vjp` that read variables of the functions around them, which are differentiated, too."""

import numpy as np
import pytest

import numbagraph as ng
from tests.capture.test_gradients import central_differences

X = np.linspace(0.2, 2.0, 5)
A = np.array(1.3)


def with_a_rule(a):
    @ng.custom_vjp
    def scaled(y):
        return np.sin(y) * a

    scaled.defvjp(lambda y: (np.sin(y) * a, y), lambda y, g: (g * np.cos(y) * a,))
    return scaled


def that_calls_itself(a):
    @ng.custom_vjp
    def scaled(y):
        return np.sin(y) * a

    scaled.defvjp(lambda y: (scaled(y), y), lambda y, g: (g * np.cos(y) * a,))
    return scaled


def plain(a):
    return lambda y: np.sin(y) * a


class Layer:
    def __init__(self, a, make):
        self.a = a * 2
        self.function = make(self.a)

    def __call__(self, x):
        total = 0.0
        for v in x:
            total = total + self.function(v)
        return total


def straight(a, x, make):
    return (make(a)(x) * a).sum()


def in_a_loop(a, x, make):
    function, total = make(a), 0.0
    for i in range(len(x)):
        total = total + function(x[i]) * a
    return total


def in_a_while_loop(a, x, make):
    function, total = make(a), x[0]
    while total < 5:
        total = total + function(total) * 0.1 + 0.3 * a
    return total


def made_in_each_step(a, x, make):
    total = 0.0
    for i in range(len(x)):
        total = total + make(a * x[i])(x[i] * total + a)
    return total


def in_a_branch(a, x, make):
    function = make(a)
    total = function(x).sum() if x[0] > 0 else x.sum()
    return total * a


def in_an_object(a, x, make):
    return Layer(a, make)(x)


FUNCTIONS = [straight, in_a_loop, in_a_while_loop, made_in_each_step, in_a_branch, in_an_object]


@pytest.mark.parametrize("make", [with_a_rule, that_calls_itself])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_gradients(function, make):
    by_a, by_x = ng.graph_jit(ng.grad(lambda a, x: function(a, x, make), argnums=(0, 1)))(A, X)
    np.testing.assert_allclose(by_a, central_differences(lambda a: function(a, X, plain), A), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(by_x, central_differences(lambda x: function(A, x, plain), X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_other_derivatives_and_batches(function):
    ruled, known = (lambda a: function(a, X, with_a_rule)), (lambda a: function(a, X, plain))
    first = central_differences(known, A)
    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(ruled))(A), first, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(ruled))(A), ng.graph_jit(ng.hessian(known))(A), rtol=1e-10)
    batch = np.array([0.7, 1.3])
    expected = [central_differences(known, np.array(each)) for each in batch]
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(ng.grad(ruled)))(batch), expected, rtol=1e-6, atol=1e-8)


def test_the_rule_counts_for_arguments_and_the_function_for_the_rest():
    def function(a, x):
        @ng.custom_vjp
        def tripled(y):
            return y * a

        tripled.defvjp(lambda y: (y * a, None), lambda _, g: (3.0 * a * g,))
        return tripled(x)

    assert ng.graph_jit(ng.grad(function, argnums=(0, 1)))(2.0, 5.0) == (5.0, 6.0)
