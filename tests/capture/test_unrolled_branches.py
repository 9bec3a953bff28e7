"""Branches in loops that are unrolled: none is computed again in a branch behind it."""

import numpy as np
import pytest

import numbagraph as ng


def branching(steps, alias):
    """A function with a branch in each of some steps, whose arrays are written around it, too."""

    def function(x, w):
        y = np.zeros((9, 3)) + w
        c = np.zeros(9)
        v = y if alias else 2.0 * y
        for i in range(steps):
            c[i] = 0.3 * np.sum(y[(i + 1) % 5] * x[i])
            if c[i] > 0.1:
                v[-i - 1] = y[-i - 1, ::-1] + 0.5 * (y[-1, 0] + c[(i + 1) % 5]) * w
            else:
                c[i + 1] += 0.1 * x[i] * v[i, 0]
                v[0] += 0.3 * y[-i - 1]
        return np.sum(y) + np.sum(v * v) + np.sum(c)

    return function


@pytest.mark.parametrize("alias", [True, False], ids=["one array", "two arrays"])
def test_each_step_has_one_branch(alias):
    x, w = np.linspace(0.1, 0.9, 9), np.array([0.2, 0.5, 0.1])
    counts = []
    for steps in (2, 4, 6):
        function = branching(steps, alias)
        compiled = ng.graph_jit(function)
        np.testing.assert_allclose(compiled(x, w), function(x, w), rtol=1e-12)
        counts.append(compiled.explain(x, w).count("branch (switch)"))
    assert counts == [2, 4, 6]


def test_gradients_are_those_of_differences():
    x, w = np.linspace(0.1, 0.9, 9), np.array([0.2, 0.5, 0.1])
    function = branching(4, True)
    along_x, along_w = ng.graph_jit(ng.grad(function, argnums=(0, 1)))(x, w)
    dx, dw = np.cos(np.arange(9.0)), np.array([1.0, -0.5, 0.25])
    expected = (function(x + 1e-6 * dx, w + 1e-6 * dw) - function(x - 1e-6 * dx, w - 1e-6 * dw)) / 2e-6
    np.testing.assert_allclose(along_x @ dx + along_w @ dw, expected, rtol=1e-7)
