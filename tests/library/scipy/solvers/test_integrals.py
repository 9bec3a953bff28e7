"""Integrals of functions: `scipy.integrate.quad` and its kin, and their derivatives."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.integrate import IntegrationWarning, dblquad, fixed_quad, nquad, quad, tplquad
from scipy.optimize import bisect

import numbagraph as ng


def integrand(x, c, kind):
    if kind == 0:
        return np.exp(-c * x) * np.sin(3 * x)
    if kind == 1:
        return np.log(x) * c
    if kind == 2:
        return 1 / np.sqrt(x) + c
    if kind == 3:
        return np.sin(60 * c * x)
    if kind == 4:
        return np.abs(x - 0.33333 * c)
    if kind == 5:
        return 1 / np.abs(x - 0.3) ** 0.9
    if kind == 6:
        return 1 / x
    return 0.0 * x


def details(a, b, c, kind):
    return quad(integrand, a, b, (c, kind), full_output=1)[:3]


def close(found, expected):
    np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-9, atol=1e-15)
    last = expected[2]["last"]
    assert (found[2]["last"], found[2]["neval"]) == (last, expected[2]["neval"])
    for name in ("alist", "blist", "rlist"):
        np.testing.assert_allclose(found[2][name][:last], expected[2][name][:last], rtol=1e-9, atol=1e-13)


compiled_details = ng.graph_jit(details)


@pytest.mark.parametrize("kind", range(8))
def test_values_errors_and_counts_are_quadpacks(kind):
    close(compiled_details(0.0, 1.0, 1.7, kind), details(0.0, 1.0, 1.7, kind))


def test_bounds_in_the_other_order_and_equal_ones():
    close(compiled_details(1.0, 0.0, 1.7, 4), details(1.0, 0.0, 1.7, 4))
    assert compiled_details(1.0, 1.0, 1.7, 0)[:2] == (0.0, 0.0)
    assert compiled_details(1.0, 1.0, 1.7, 0)[2]["neval"] == 0
    assert np.isnan(compiled_details(0.0, np.nan, 1.7, 0)[0])
    with pytest.raises(ValueError, match=r"write np\.inf there"):
        compiled_details(0.0, np.inf, 1.7, 0)


def test_infinite_bounds():
    def infinite(c):
        above = quad(lambda x: np.exp(-c * x) / np.sqrt(x), 0, np.inf, full_output=1)
        below = quad(lambda x: np.exp(c * x) * x, -np.inf, c, full_output=1)
        whole = quad(lambda x: np.exp(-c * x * x) * (1 + x), np.inf, -np.inf, full_output=1)
        return above[:3], below[:3], whole[:3]

    for found, expected in zip(ng.graph_jit(infinite)(2.0), infinite(2.0), strict=True):
        close(found, expected)


def test_points_of_difficulties():
    def cut(c):
        return quad(lambda x: np.sqrt(np.abs(x - c)), 0.0, 3.0, points=[2.5, c, 7.0, c], full_output=1)[:3]

    for c in (1.3, 2.9):
        close(ng.graph_jit(cut)(c), cut(c))


def test_warnings_are_scipys():
    def warned(c):
        return quad(lambda x: 1 / x**c, 0.0, 1.0, limit=30)

    def texts(function, c):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(c)
        return [str(each.message) for each in caught if issubclass(each.category, IntegrationWarning)]

    compiled = ng.graph_jit(warned)
    for c in (1.0, 2.0, 0.5):
        assert texts(compiled, c) == texts(warned, c)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="must be greater than both"):
        ng.graph_jit(lambda c: quad(lambda x: c * x, 0, 1, epsabs=0.0, epsrel=1e-20)[0])(1.0)
    with pytest.raises(ValueError, match="at least one subinterval"):
        ng.graph_jit(lambda c: quad(lambda x: c * x, 0, 1, limit=0)[0])(1.0)


def power(p):
    """The integral of ``x^c`` from ``a`` to ``b``; at 0 its derivatives by ``c`` are singular."""
    a, b, c = p
    return quad(lambda x: x**c, a, b, full_output=1)[0]


def test_derivatives_are_those_of_the_integral():
    a, b, c = np.array([0.0, 1.5, 0.3])
    n = c + 1
    slopes = np.array([0.0, b**c, b**n * (np.log(b) * n - 1) / n**2])
    value, found = ng.graph_jit(ng.value_and_grad(power))(np.array([a, b, c]))
    np.testing.assert_allclose(value, b**n / n, rtol=1e-9)
    np.testing.assert_allclose(found[1:], slopes[1:], rtol=1e-8)


def test_second_derivatives_by_arrays():
    def wave(p):
        return quad(lambda x: np.exp(-p[0] * x) * np.cos(p[1] * x), 0.0, 1.0)[0]

    p = np.array([0.5, 2.0])
    cosine = quad(lambda x: x**2 * np.exp(-p[0] * x) * np.cos(p[1] * x), 0.0, 1.0)[0]
    sine = quad(lambda x: x**2 * np.exp(-p[0] * x) * np.sin(p[1] * x), 0.0, 1.0)[0]
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(wave))(p), [[cosine, sine], [sine, -cosine]], rtol=1e-8)


def test_second_derivatives_and_forward_mode():
    def smooth(c):
        return quad(lambda x: np.exp(-c * x), 0.0, np.inf, full_output=1)[0]

    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(ng.grad(smooth)))(2.0), 2 / 2.0**3, rtol=1e-8)
    c = np.array([0.5, 2.0])
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(ng.grad(smooth)))(c), -1 / c**2, rtol=1e-8)


def test_batches():
    def area(c):
        return quad(lambda x: np.exp(-c * x) * np.sin(20 * c * x), 0.0, 3.0, full_output=1)[0]

    c = np.linspace(0.5, 4.0, 5)
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(area))(c), [area(each) for each in c], rtol=1e-12)


def test_integrals_in_loops_branches_and_in_another_solver():
    def level(c):
        def excess(t):
            return quad(lambda x: np.exp(-x * x) * c, 0.0, t, full_output=1)[0] - 0.5

        total = 0.0
        for k in range(3):
            if k != 1:
                root: Any = bisect(excess, 0.1, 2.0 + k)
                total += root
        return total

    np.testing.assert_allclose(ng.graph_jit(level)(1.0), level(1.0), rtol=1e-11)


def test_integrals_over_several_variables():
    def double(c) -> Any:
        return dblquad(lambda y, x: np.exp(-c * x * y) * np.sqrt(y), 0.0, c, 0.0, lambda x: x)

    np.testing.assert_allclose(ng.graph_jit(double)(2.0), double(2.0), rtol=1e-9)

    def several(c):
        found: Any = nquad(lambda y, x: c * y * x, [lambda x: (0, x), (0, 1)], opts={"epsabs": 1e-10}, full_output=True)
        return found[0], found[1], found[2]["neval"]

    np.testing.assert_allclose(ng.graph_jit(several)(2.0), several(2.0), rtol=1e-9)


def test_warnings_of_inner_integrals_are_given():
    def divergent(c) -> Any:
        return dblquad(lambda y, x: c / (y * y + 1e-300), 0.0, 1.0, 0.0, 1.0)

    with pytest.warns(IntegrationWarning, match="probably divergent") as plain:
        expected = divergent(2.0)
    with pytest.warns(IntegrationWarning, match="probably divergent") as compiled:
        found = ng.graph_jit(divergent)(2.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert {str(each.message) for each in compiled} == {str(each.message) for each in plain}


def test_integrals_over_three_variables():
    def triple(c) -> Any:
        return tplquad(lambda z, y, x: c * x * y * z, 0.0, 1.0, 0.0, lambda x: x, 0.0, lambda x, y: x + y)

    np.testing.assert_allclose(ng.graph_jit(triple)(2.0), triple(2.0), rtol=1e-9)


def test_fixed_rules():
    def fixed(c):
        return fixed_quad(lambda x: np.exp(-c * x) * x, 0.0, c, n=7)[0]

    np.testing.assert_allclose(ng.graph_jit(fixed)(2.0), fixed(2.0), rtol=1e-13)
    slope = (fixed(2 + 1e-5) - fixed(2 - 1e-5)) / 2e-5
    np.testing.assert_allclose(ng.grad(fixed)(2.0), slope, rtol=1e-8)
    with pytest.raises(ValueError, match="only available for finite limits"):
        ng.graph_jit(lambda c: fixed_quad(lambda x: c * x, 0.0, np.inf)[0])(2.0)
