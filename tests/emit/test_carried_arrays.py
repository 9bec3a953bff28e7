"""Functions of numbers that a loop has stored in an array before: libm computes them, as those that it carries."""

import math

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import grad, graph_jit


def recurrence(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = np.exp(-y[i - 1]) + np.log(2.0 + y[i] * y[i])
    return y


def by_math(x):
    y = [float(each) for each in x]
    for i in range(1, len(y)):
        y[i] = math.exp(-y[i - 1]) + math.log(2.0 + y[i] * y[i])
    return y


def soft_minima(x, y, gamma):
    r = np.full((len(x) + 1, len(y) + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            low = min(r[i - 1, j - 1], r[i - 1, j], r[i, j - 1])
            total = 0.0
            for other in (r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]):
                total += np.exp((low - other) / gamma)
            r[i, j] = (x[i - 1] - y[j - 1]) ** 2 + low - gamma * np.log(total)
    return r[len(x), len(y)]


def in_branches(x):
    y = x.copy()
    for i in range(1, len(x)):
        if y[i - 1] > 0.5:
            y[i] = np.sin(y[i - 1])
        else:
            y[i] = np.cos(y[i - 1] + y[i])
    return y


def calls(function, *args):
    return ng.graph_jit(function).llvm(*args, optimised=False)


@pytest.mark.parametrize("length", [0, 1, 2, 50])
def test_recurrences(length):
    x = np.random.default_rng(length).normal(size=length)
    np.testing.assert_allclose(graph_jit(recurrence)(x), by_math(x), rtol=1e-14)
    np.testing.assert_allclose(graph_jit(in_branches)(x), in_branches(x), rtol=1e-14)


def test_dynamic_programs():
    x, y = np.random.default_rng(1).normal(size=(2, 12))
    np.testing.assert_allclose(graph_jit(soft_minima)(x, y[:9], 0.5), soft_minima(x, y[:9], 0.5), rtol=1e-13)
    step = 1e-6
    found = graph_jit(grad(soft_minima))(x, y[:9], 0.5)
    for place, unit in enumerate(np.eye(12)[:3]):
        ends = [soft_minima(x + sign * step * unit, y[:9], 0.5) for sign in (1, -1)]
        np.testing.assert_allclose(found[place], (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, -800.0, 0.0])
def test_special_numbers(special):
    x = np.array([special, 1.0, 2.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(graph_jit(recurrence)(x), recurrence(x), rtol=1e-14)


@pytest.mark.parametrize("function", [recurrence, in_branches])
def test_what_the_next_step_reads_is_computed_by_libm(function):
    assert "numbagraph.math." not in calls(function, np.ones(5))


def test_what_a_loop_only_reads_is_not():
    def function(x):
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = 1.0 if x[i] < 0 and i else np.exp(x[i]) if i % 3 else y[i - 1]
        return y

    assert "numbagraph.math.exp" in calls(function, np.ones(5))
