"""`approx_fprime` and `check_grad` of `scipy.optimize` in compiled functions."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, check_grad

import numbagraph as ng

X = np.array([1.0, -2.0])
STEPS = np.sqrt(np.finfo(float).eps) * np.array([1.0, np.sqrt(200.0)])


def weighted(x, first, second):
    return first * x[0] ** 2 + second * x[1] ** 2


def mapped(x):
    return np.stack([x[0] * x[1], np.sin(x[0]), x[1] ** 3])


def cubic(x):
    return x[0] ** 2 - 0.5 * x[1] ** 3


def slopes(x):
    return [2 * x[0], -1.5 * x[1] ** 2]


def test_differences_are_those_of_scipy():
    def program(x, steps):
        return (
            approx_fprime(x, weighted, steps, 1.0, 200.0),
            approx_fprime(x, mapped, 1e-6),
            approx_fprime(x[0], lambda z: z * z + 1.0),
            approx_fprime(1e20 * x, lambda z: np.sum(z * z)),  # SciPy takes a relative step, which moves x
        )

    for found, expected in zip(ng.graph_jit(program)(X, STEPS), program(X, STEPS), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
        assert found.shape == expected.shape


def test_checks_of_gradients_are_those_of_scipy():
    def program(x):
        return (
            check_grad(cubic, slopes, x, epsilon=1e-4),
            check_grad(cubic, slopes, x, epsilon=1e-4, direction="random", rng=3),
            check_grad(lambda x, a: a * cubic(x), lambda x, a: np.stack(slopes(x)), x, 1.5),
        )

    found = ng.graph_jit(program)(X)
    np.testing.assert_allclose(found, program(X), rtol=1e-6)
    assert all(type(each) is np.float64 for each in found)


def test_in_loops_branches_and_batches():
    def program(x):
        total = 0.0 * x[0]
        for k in range(3):
            if x[0] + k > 0.5:
                total = total + approx_fprime(x + k, cubic, 1e-5)[1] ** 2
            else:
                total = total - x[1]
        return total

    batch = np.stack((X, X - 2.0))
    expected = [program(each) for each in batch]
    np.testing.assert_allclose(ng.vmap(program)(batch), expected, rtol=1e-8)
    np.testing.assert_allclose(ng.grad(lambda x: approx_fprime(x, cubic, 1e-5)[1])(X), [0.0, 6.0], rtol=1e-4, atol=1e-9)


ERRORS = {
    "a matrix as point": (lambda x: approx_fprime(np.stack((x, x)), lambda z: np.sum(z)), ValueError),
    "a matrix as value": (lambda x: approx_fprime(x, lambda z: np.outer(z, z)), ValueError),
    "no direction": (lambda x: check_grad(cubic, slopes, x, direction="some"), ValueError),
    "a matrix in a random direction": (
        lambda x: check_grad(mapped, lambda x: np.ones((3, 2)), x, direction="random", rng=1), ValueError
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_scipy(name):
    function, error = ERRORS[name]
    with pytest.raises(error) as plain:
        function(X)
    with pytest.raises(error) as compiled:
        ng.graph_jit(function)(X)
    assert str(plain.value).splitlines()[0][:30] in str(compiled.value)
