"""Minima of functions of one variable beside SciPy's own."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import numbagraph as ng

so: Any = scipy.optimize


def f(x: Any, a: Any) -> Any:
    return (x - a) * (x - a) * (x * x + 1) + x


def outcome(run: Any, *args: Any) -> tuple[Any, list[str]]:
    """What a call gives by names, or the error, and the texts of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: Any = run(*args)
            found = dict(found) if isinstance(found, dict) else dict(enumerate(np.atleast_1d(found)))
        except (ValueError, RuntimeError) as error:
            found = {"error": f"{type(error).__name__} {str(error)[:60]}"}
    return found, [str(each.message) for each in caught if "encountered in" not in str(each.message)]


def check(run: Any, *args: Any) -> None:
    expected, texts = outcome(run, *args)
    found, others = outcome(ng.graph_jit(run), *args)
    assert set(texts) == set(others)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, (str, bool, int, np.bool_)):
            assert found[name] == value, name
        else:
            np.testing.assert_allclose(found[name], value, 1e-8)
            assert np.shape(found[name]) == np.shape(value)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"bracket": (0, 1), "tol": 1e-4},
        {"bracket": (5.0, 0.0, -3.0)},
        {"method": "Golden"},
        {"bounds": (-1, 4)},
        {"bounds": (2.5, 4.0), "options": {"xatol": 1e-9}},
        {"options": {"maxiter": 3}},
        {"method": "golden", "options": {"maxiter": 3, "disp": True}},
        {"bounds": (-1, 4), "options": {"maxiter": 3, "disp": 1}},
        {"bounds": (3, 1)},
        {"bounds": (1, np.inf)},
        {"bounds": (1, 2), "method": "brent"},
        {"bracket": (1, 2, 3, 4)},
        {"bracket": (3.0, 9.0, 20.0)},
        {"bracket": (3.0, 2.0, 20.0)},
        {"method": "regula falsi"},
        {"method": "bounded"},
    ],
    ids=lambda given: "-".join(given),
)
def test_steps_counts_and_texts_are_scipys(given):
    check(lambda a: so.minimize_scalar(f, args=a, **given), 2.0)


def test_brackets():
    check(lambda a: so.bracket(lambda x: (x - a) * (x - a) + np.cos(x)), 1e2)
    check(lambda a: so.bracket(lambda x: (x - a) * (x - a), a, -3.0, grow_limit=5.0), 1e2)
    check(lambda a: so.bracket(lambda x: a * x), 2.0)
    check(lambda a: so.bracket(lambda x: np.where(x > a, np.nan, -x)), 20.0)
    check(lambda a: so.minimize_scalar(lambda x: np.where(x > a, np.nan, -x)), 20.0)


def test_shorter_names():
    check(lambda a: so.brent(f, (a,), full_output=1), 2.0)
    check(lambda a: so.golden(f, (a,), (0.0, 1.0), full_output=True), 2.0)
    check(lambda a: so.fminbound(f, -1, 4, (a,), full_output=1), 2.0)
    check(lambda a: so.fminbound(f, -1, 4, (a,), maxfun=3), 2.0)


def test_minimisers_have_the_derivatives_of_the_equation_of_the_slope():
    def lowest(a):
        return so.minimize_scalar(lambda x: np.exp(x) - a * x, tol=1e-12)

    for order, expected in enumerate([np.log(3.0), 1 / 3, -1 / 9]):
        function = lambda a: lowest(a).x  # noqa: E731
        for _ in range(order):
            function = ng.grad(function)
        np.testing.assert_allclose(ng.graph_jit(function)(3.0), expected, rtol=1e-6)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(lambda a: lowest(a).fun))(3.0), -np.log(3.0), rtol=1e-7)
    a = np.linspace(0.5, 4.0, 9)
    slopes = ng.graph_jit(ng.vmap(ng.grad(lambda a: so.golden(lambda x: np.exp(x) - a * x))))(a)
    np.testing.assert_allclose(slopes, 1 / a, rtol=1e-6)


def test_minimisers_at_bounds_move_with_them():
    def lowest(low, high, centre):
        return so.fminbound(lambda x: (x - centre) * (x - centre), low, high)

    gradient = ng.graph_jit(ng.grad(lowest, argnums=(0, 1, 2)))
    np.testing.assert_allclose(gradient(0.0, 3.0, 1.0), (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(gradient(2.0, 3.0, 1.0), (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(gradient(-2.0, 0.5, 1.0), (0, 1, 0), atol=1e-12)


def test_a_root_of_a_minimum():
    def depth(a):
        return so.brentq(lambda b: so.minimize_scalar(lambda x: np.exp(x) - b * x).fun - a, 1.5, 9.0)

    b = depth(-1.0)
    compiled = ng.graph_jit(ng.value_and_grad(depth))(-1.0)
    np.testing.assert_allclose(compiled, (b, -1 / np.log(b)), rtol=1e-7)


def test_values_that_are_no_minima_have_no_derivative():
    def early(a):
        return so.minimize_scalar(f, args=(a,), options={"maxiter": 3}).x

    assert np.isnan(ng.graph_jit(ng.grad(early))(2.0))
