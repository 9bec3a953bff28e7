"""Gradients of lists that loops make longer under conditions, and that other branches of the same loop read, against
central differences of plain Python."""

import numpy as np
import pytest

import numbagraph as ng
from tests.capture.test_gradients import central_differences

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
ARGUMENTS = [X, -np.abs(X), np.array([5.0, -1.0, 2.5, -0.25, -3.0, -2.0]), np.random.default_rng(1).normal(size=9)]


def read_in_an_inner_branch(x):
    held, total = [x[0]], 0.0
    for i in range(len(x)):
        if x[i] > 0:
            held.append(x[i])
        elif i > 2:
            total += held[0]
    return total


def read_in_branches_of_branches(x):
    held, total = [x[0]], 0.0
    for i in range(len(x)):
        if x[i] > 0:
            held.append(x[i] * x[i])
        elif i > 2:
            if len(held) > 1:
                total += held[-1] * x[i]
            else:
                total += held[0]
        else:
            total += x[i]
    return total


def pairs(x):
    held, total = [(x[0], x[1])], 0.0
    for i in range(len(x)):
        if x[i] > 0:
            held.append((x[i], x[i] ** 2))
        elif i > 2:
            a, b = held[-1]
            total += a * b
    return total


def made_shorter(x):
    held, total = [x[0]], 0.0
    for i in range(len(x)):
        if x[i] > 0:
            held.append(x[i])
        elif len(held) > 2:
            total += held.pop() * x[i]
            if total < 0:
                total += held[0]
    return total


def in_a_loop_of_unknown_length(x):
    held, total, i = [x[0]], 0.0, 0
    while total < 20 and i < len(x):
        if x[i] > 0:
            held.append(x[i])
        elif i > 2:
            total += held[0] * x[i]
        total += x[i] ** 2
        i += 1
    return total


def in_a_loop_within_a_loop(x):
    held, total = [x[0]], 0.0
    for i in range(len(x)):
        for k in range(i):
            if x[k] > 0:
                held.append(x[k] * x[i])
            elif k > 0:
                total += held[-1] * held[0]
    return total


def array_in_an_inner_branch(x):
    held, total = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        if x[i] > 0:
            held[i] = x[i] * 2
        elif i > 2:
            if x[i] < -0.3:
                total += held[0] * held[i - 1] * x[i]
            else:
                total += x[i] + held[0]
    return total + held.sum()


FUNCTIONS = [
    read_in_an_inner_branch,
    read_in_branches_of_branches,
    pairs,
    made_shorter,
    in_a_loop_of_unknown_length,
    in_a_loop_within_a_loop,
    array_in_an_inner_branch,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=[each.__name__ for each in FUNCTIONS])
def test_gradients_are_those_of_differences(function):
    compiled = ng.graph_jit(ng.value_and_grad(function))
    for x in ARGUMENTS:
        value, gradient = compiled(x)
        np.testing.assert_allclose(value, function(x), rtol=1e-12)
        np.testing.assert_allclose(gradient, central_differences(function, x), rtol=1e-6, atol=1e-6)


@pytest.mark.repeats
@pytest.mark.parametrize("function", [read_in_an_inner_branch, read_in_branches_of_branches])
def test_hessians_are_differences_of_gradients(function):
    found = ng.graph_jit(ng.hessian(function))(X)
    steps = [1e-6 * each for each in np.eye(len(X))]
    gradient = ng.graph_jit(ng.grad(function))
    differences = [(gradient(X + step) - gradient(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-6)
