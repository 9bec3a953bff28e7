"""Searches for each element of arrays, `scipy.optimize.elementwise`, beside SciPy's own."""

from typing import Any

import numpy as np
import pytest
import scipy.optimize.elementwise

import numbagraph as ng

elementwise: Any = scipy.optimize.elementwise
A = np.linspace(-3.0, 9.0, 13)


def cubic(x: Any, a: Any) -> Any:
    return x * x * x + x - a


def quartic(x: Any, a: Any) -> Any:
    return (x - a) * (x - a) * (x * x + 1) + x


def check(run: Any, *args: Any) -> None:
    with np.errstate(all="ignore"):
        expected: Any = run(*args)
        found: Any = ng.graph_jit(run)(*args)
    assert type(found) is type(expected)
    names = {name for name in expected if not name.startswith("_")}
    assert set(found) == names
    for name in names:
        pair = (found[name], expected[name])
        for left, right in zip(*pair, strict=True) if isinstance(expected[name], tuple) else [pair]:
            assert np.shape(left) == np.shape(right), name
            np.testing.assert_allclose(left, right, 1e-13, 1e-300, err_msg=name)


@pytest.mark.parametrize(
    "given",
    [{}, {"maxiter": 3}, {"tolerances": {"xatol": 1e-3, "fatol": 1e-2}}],
    ids=lambda given: "-".join(given),
)
def test_roots_statuses_and_counts(given):
    check(lambda a: elementwise.find_root(cubic, (0.0, 2.0), args=(a,), **given), A)


def test_roots_of_numbers_and_of_arrays_that_broadcast():
    check(lambda a: elementwise.find_root(cubic, (0, 5), args=(a,)), 2.0)
    for length in (0, 1):
        check(lambda a: elementwise.find_root(cubic, (0, 5), args=(a,)), A[:length])
    check(lambda a: elementwise.find_root(cubic, (np.zeros((2, 1)), np.array([4.0, 5.0])), args=(a,)), A[6:8])
    check(lambda a: elementwise.find_root(lambda x: np.where(x > a, np.nan, x - 5), (-9.0, 9.0)), 2.0)


@pytest.mark.parametrize("given", [{}, {"maxiter": 3}], ids=lambda given: "-".join(given))
def test_minima_statuses_and_counts(given):
    check(lambda a: elementwise.find_minimum(quartic, (3.0, 0.0, -3.0), args=(a,), **given), A)


def test_bad_input():
    for given in ({"tolerances": {"xatol": -1.0}}, {"maxiter": 2.5}, {"maxiter": -1}):
        with pytest.raises(ValueError, match=r"non-negative"):
            ng.graph_jit(lambda a: elementwise.find_root(cubic, (0.0, 5.0), args=(a,), **given))(A)  # noqa: B023
    with pytest.raises(TypeError, match="callback"):
        ng.graph_jit(lambda a: elementwise.find_root(cubic, (0.0, 5.0), args=(a,), callback=print))(A)


def test_derivatives_of_each_element():
    a = np.linspace(1.0, 5.0, 9)

    def roots(a):
        return np.sum(elementwise.find_root(cubic, (0.0, 5.0), args=(a,)).x)

    def minima(a):
        return np.sum(elementwise.find_minimum(lambda x, a: np.exp(x) - a * x, (-3.0, 0.0, 5.0), args=(a,)).x)

    x = elementwise.find_root(cubic, (0.0, 5.0), args=(a,)).x
    np.testing.assert_allclose(ng.graph_jit(ng.grad(roots))(a), 1 / (3 * x * x + 1), rtol=1e-12)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(minima))(a), 1 / a, rtol=1e-6)
    assert np.isnan(ng.graph_jit(ng.grad(roots))(np.array([-1.0])))


@pytest.mark.parametrize(
    "given",
    [{}, {"xmin": -4.0, "xmax": 3.0}, {"xr0": 0.25, "factor": 1.5}, {"maxiter": 2}, {"xmin": 1.0}],
    ids=lambda given: "-".join(given),
)
def test_brackets_of_roots(given):
    check(lambda a: elementwise.bracket_root(cubic, 0.0, args=(a,), **given), 4 * A)


@pytest.mark.parametrize(
    "given",
    [{}, {"xmin": -4.0, "xmax": 3.0}, {"xr0": 0.25, "xl0": -1.0, "factor": 1.5}, {"maxiter": 2}, {"xmin": 1.0}],
    ids=lambda given: "-".join(given),
)
def test_brackets_of_minima(given):
    check(lambda a: elementwise.bracket_minimum(quartic, 0.0, args=(a,), **given), 4 * A)


def test_factors_of_brackets_are_above_one():
    with pytest.raises(ValueError, match="greater than 1"):
        ng.graph_jit(lambda a: elementwise.bracket_root(cubic, 0.0, args=(a,), factor=1.0))(A)
