"""Integrals over boxes: `scipy.integrate.cubature` and its derivatives."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import cubature

import numbagraph as ng


def oscillating(x, c):
    return np.cos(1.3 + np.sum(c * x, axis=-1))


def peaks(x, c):
    """Genz's product of peaks, for each of two widths."""
    return np.stack([np.prod(1 / (width**-2 + (x - c) ** 2), axis=-1) for width in (3.0, 5.0)], axis=-1)


PROGRAMS: dict[str, Callable[..., Any]] = {
    "one variable": lambda c: cubature(oscillating, [0.0], [30.0], args=(c,), rule="gk15"),
    "two variables": lambda c: cubature(oscillating, [2.0, 0.0], [0.0, 1.0], args=(c,), rtol=1e-4),
    "arrays": lambda c: cubature(peaks, [0.0], [1.0, 1.0], args=(c,), rtol=1e-6),
    "Genz and Malik": lambda c: cubature(
        oscillating, [0, 0, 0], [c, 2 * c, 3.0], args=(c,), rule="genz-malik", rtol=1e-4
    ),
    "a line": lambda c: cubature(lambda x: np.exp(-c * x[:, 0] ** 2), [-np.inf], [np.inf], points=[[0.5]]),
    "half lines": lambda c: cubature(
        lambda x: np.exp(-c * x[:, 0] - x[:, 1] ** 2), [1.0, -1.0], [np.inf, np.inf], rule="gk15", rtol=1e-5
    ),
    "a known point": lambda c: cubature(lambda x: np.sin(c * x[:, 0]) / x[:, 0], [-1.0], [1.0], points=[[0.0]]),
    "a point": lambda c: cubature(
        lambda x: np.abs(x[:, 0] - c / 4) + np.abs(x[:, 1] - c / 4), [0.0, 0.0], [c, 1.0], points=[[c / 4, c / 4]]
    ),
    "not reached": lambda c: cubature(lambda x: (c * x[:, 0]) ** -0.9, [0.0], [1.0], max_subdivisions=5),
    "nothing": lambda c: cubature(oscillating, [c, 0.0], [c, 1.0], args=(c,)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_errors_and_counts_are_scipys(name):
    found, expected = ng.graph_jit(PROGRAMS[name])(1.7), PROGRAMS[name](1.7)
    assert np.shape(found.estimate) == np.shape(expected.estimate)
    np.testing.assert_allclose(found.estimate, expected.estimate, rtol=1e-11)
    np.testing.assert_allclose(found.error, expected.error, rtol=1e-3, atol=1e-13)
    fields = ("status", "subdivisions", "atol", "rtol")
    assert [getattr(found, each) for each in fields] == [getattr(expected, each) for each in fields]


def test_half_lines_to_minus_infinity():
    """SciPy 1.17 takes the points of the other half line."""
    found = ng.graph_jit(lambda c: cubature(lambda x: np.exp(c * x[:, 0]), [-np.inf], [0.5]).estimate)(1.7)
    np.testing.assert_allclose(found, np.exp(1.7 * 0.5) / 1.7, rtol=1e-10)


def decays(c, a, b):
    return cubature(lambda x: np.exp(-c * x[:, 0] - x[:, 1]), [a, 0.0], [b, np.inf]).estimate


def exact(c, a, b):
    return (np.exp(-c * a) - np.exp(-c * b)) / c


def test_derivatives_by_parameters_and_bounds():
    c, a, b = 0.5, 0.1, 2.0
    value, found = ng.graph_jit(ng.value_and_grad(decays, argnums=(0, 1, 2)))(c, a, b)
    by_c = -exact(c, a, b) / c + (b * np.exp(-c * b) - a * np.exp(-c * a)) / c
    np.testing.assert_allclose(value, exact(c, a, b), rtol=1e-10)
    np.testing.assert_allclose(found, (by_c, -np.exp(-c * a), np.exp(-c * b)), rtol=1e-9)


def test_second_derivatives_and_batches():
    def integral(c):
        return cubature(lambda x: np.exp(-c * x[:, 0]), [0.0], [1.0]).estimate

    batch = np.array([0.5, 2.0])
    found = ng.graph_jit(ng.vmap(ng.jacfwd(ng.grad(integral))))(batch)
    expected = (2 - np.exp(-batch) * (batch**2 + 2 * batch + 2)) / batch**3
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_derivatives_of_arrays():
    def integrals(c):
        return cubature(lambda x: np.stack([np.exp(-c[0] * x[:, 0]), x[:, 0] * c[1]], axis=-1), [-1.0], [1.0]).estimate

    found = ng.graph_jit(ng.jacrev(integrals))(np.array([1.5, 2.0]))
    slope = 2 * (1.5 * np.cosh(1.5) - np.sinh(1.5)) / 1.5**2
    np.testing.assert_allclose(found, [[slope, 0.0], [0.0, 0.0]], atol=1e-12)


WRONG: list[Callable[..., Any]] = [
    lambda c: cubature(oscillating, [[0.0, c]], [1.0], args=(c,)),
    lambda c: cubature(oscillating, [], [], args=(c,)),
    lambda c: cubature(oscillating, [0.0], [c], args=(c,), rule="genz-malik"),
    lambda c: cubature(oscillating, [0.0], [c], args=(c,), rule="gk7"),
]


@pytest.mark.parametrize("program", WRONG)
def test_errors(program: Callable[[Any], Any]):
    with pytest.raises(ValueError, match=r"\w") as plain:
        program(1.7)
    with pytest.raises(ValueError, match=re.escape(str(plain.value))):
        ng.graph_jit(program)(1.7)


def test_infinite_bounds_that_are_found_when_it_runs():
    with pytest.raises(ValueError, match="must be known while the function is traced"):
        ng.graph_jit(lambda b: cubature(lambda x: np.exp(-x[:, 0]), [0.0], [b]).estimate)(np.inf)
