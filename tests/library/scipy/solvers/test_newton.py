"""Roots from a starting point: `newton`, `root_scalar`, `fixed_point` beside SciPy's own."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import numbagraph as ng

so: Any = scipy.optimize


def f(x: Any, a: Any) -> Any:
    return x * x * x + x - a


def slope(x: Any, a: Any) -> Any:
    return 3 * x * x + 1


def curvature(x: Any, a: Any) -> Any:
    return 6 * x


def parabola(x: Any, a: Any) -> Any:
    return x * x - a


def outcome(run: Any, *args: Any) -> tuple[Any, list[str]]:
    """What a call gives as a list of arrays and texts, or the error, and the texts of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: Any = run(*args)
            found = list(found.values()) if isinstance(found, dict) else found
        except (ValueError, RuntimeError, TypeError) as error:
            found = (type(error).__name__, str(error).splitlines()[0][:40])
    texts = [str(each.message)[:20] for each in caught if "encountered" not in str(each.message)]
    return found, texts


def check(run: Any, *args: Any, rtol: float = 1e-13) -> None:
    expected, texts = outcome(run, *args)
    found, others = outcome(ng.graph_jit(run), *args)
    assert texts == others
    if not isinstance(expected, (list, tuple)):
        expected, found = [expected], [found]
    assert len(expected) == len(found)
    for left, right in zip(found, expected, strict=True):
        if isinstance(right, str):
            assert left == right
        elif isinstance(right, so.RootResults):
            np.testing.assert_allclose(left.root, right.root, rtol)
            names = ("iterations", "function_calls", "converged", "flag", "method")
            assert [getattr(left, name) for name in names] == [getattr(right, name) for name in names]
        else:
            assert np.shape(left) == np.shape(right)
            np.testing.assert_allclose(left, right, rtol, 1e-15)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"fprime": slope},
        {"fprime": slope, "fprime2": curvature},
        {"x1": 3.0},
        {"x1": 1.5},
        {"maxiter": 2},
        {"maxiter": 2, "disp": False},
        {"fprime": slope, "maxiter": 2, "disp": False},
        {"tol": -1.0},
        {"rtol": 1e-3},
        {"maxiter": 0},
    ],
    ids=lambda given: "-".join(given),
)
def test_newton_takes_scipys_steps(given):
    check(lambda a: so.newton(f, 1.5, args=(a,), full_output=True, **given), 5.0)


@pytest.mark.parametrize("disp", [True, False])
def test_slopes_of_zero(disp):
    check(lambda a: so.newton(parabola, 0.0, curvature, args=(a,), full_output=True, disp=disp), -1.0)
    check(lambda a: so.newton(parabola, 1.0, x1=-1.0, args=(a,), full_output=True, disp=disp), -1.0)
    check(lambda a: so.newton(lambda x: x * a, 0.0, lambda x: a, full_output=True, disp=disp), 2.0)


def test_starting_points_of_other_types():
    check(lambda a: so.newton(parabola, 1.0 + 1j, args=(a,), full_output=True), -4.0)
    check(lambda a: so.newton(parabola, np.float32(1.0), lambda x, a: 2 * x, args=(a,)), np.float32(4.0))
    check(lambda a: so.newton(parabola, [1.0], args=(a,)), 4.0)
    complex_root = ng.graph_jit(ng.jacfwd(lambda a: so.newton(lambda x: x * x + a, 1.0 + 1j, lambda x: 2 * x)))
    np.testing.assert_allclose(complex_root(4.0), 0.25j, atol=1e-12)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"fprime": lambda x, a: 2 * x},
        {"fprime": lambda x, a: 2 * x, "fprime2": lambda x, a: 2.0 + 0 * x},
        {"maxiter": 2},
        {"fprime": lambda x, a: 2 * x, "maxiter": 4},
    ],
    ids=lambda given: "-".join(given),
)
def test_arrays_take_scipys_steps(given):
    values = np.linspace(0.5, 3.0, 6)
    check(lambda a: so.newton(parabola, np.arange(6), args=(a,), full_output=True, **given), values, rtol=1e-12)
    check(lambda a: so.newton(parabola, np.ones((2, 3)), args=(a.reshape(2, 3),), **given), values, rtol=1e-12)


def test_derivatives_of_arrays_are_of_each_element():
    a = np.linspace(0.5, 3.0, 20_000)

    def total(a):
        return np.sum(so.newton(f, np.ones(a.shape), args=(a,)) ** 2)

    x = so.newton(f, np.ones(a.shape), args=(a,))
    np.testing.assert_allclose(ng.graph_jit(ng.grad(total))(a), 2 * x / slope(x, a), rtol=1e-7)
    hessian = ng.graph_jit(ng.hessian(lambda a: so.newton(f, 1.0, slope, args=(a,))))(2.0)
    np.testing.assert_allclose(hessian, -6 / 4**3, rtol=1e-7)


@pytest.mark.parametrize(
    "given",
    [
        {"bracket": [0, 3]},
        {"bracket": (0.0, 3.0), "method": "bisect", "xtol": 1e-6},
        {"bracket": [0.0, 3.0], "method": "toms748", "options": {"k": 2}},
        {"x0": 1.5, "fprime": slope},
        {"x0": 1.5, "fprime": slope, "fprime2": curvature},
        {"x0": 1.5, "x1": 2.0, "xtol": 1e-3, "maxiter": 9},
        {"x0": 1.5, "method": "secant"},
        {},
        {"method": "regula falsi"},
        {"method": "halley", "x0": 1.0},
        {"method": "brentq"},
        {"method": "newton"},
        {"bracket": [3.0, 4.0]},
        {"bracket": [0.0, 3.0], "options": {"k": 1}},
    ],
    ids=lambda given: "-".join(given),
)
def test_root_scalar_chooses_as_scipy(given):
    check(lambda a: so.root_scalar(f, args=a, **given), 5.0)


def test_functions_that_give_their_derivatives():
    def all_three(x, a):
        return f(x, a), slope(x, a), curvature(x, a)

    check(lambda a: so.root_scalar(all_three, (a,), x0=1.5, fprime=True), 5.0)
    check(lambda a: so.root_scalar(all_three, (a,), x0=1.5, fprime=True, fprime2=True), 5.0)
    check(lambda a: so.root_scalar(all_three, (a,), bracket=[0, 3], fprime=True), 5.0)


def test_exact_derivatives_where_none_is_given():
    found = ng.graph_jit(lambda a: so.root_scalar(f, a, x0=1.5))(5.0)
    expected = so.root_scalar(f, 5.0, x0=1.5, fprime=slope)
    np.testing.assert_allclose(found.root, expected.root, rtol=1e-14)
    assert (found.iterations, found.function_calls) == (expected.iterations, expected.function_calls)


def test_nan_ends_root_scalar_without_an_error():
    found = ng.graph_jit(lambda a: so.root_scalar(lambda x: np.log(x - a), bracket=[0.0, 3.0]))(1.0)
    assert (found.root, found.converged, found.function_calls) == (0.0, False, 1)


@pytest.mark.parametrize("method", ["del2", "iteration"])
def test_fixed_points(method):
    def both(x, c1, c2):
        return np.sqrt(c1 / (x + c2))

    c1, c2 = np.array([10.0, 12.0]), np.array([3.0, 5.0])
    check(lambda c1, c2: so.fixed_point(both, [1.2, 1.3], args=(c1, c2), method=method), c1, c2)
    check(lambda c1, c2: so.fixed_point(both, 1.2, args=(c1, c2), method=method, maxiter=2), c1, c2)

    def dottie(a):
        return so.fixed_point(lambda x: np.cos(a * x), 0.5, method=method)

    check(dottie, 1.0)
    x = dottie(1.0)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(dottie))(1.0), -x * np.sin(x) / (1 + np.sin(x)), rtol=1e-7)
