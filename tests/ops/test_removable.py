"""Derivatives up to third order where a formula for the first one is 0 / 0, and beside these places."""

import math

import mpmath
import numpy as np
import pytest
import scipy.special

from numbagraph import grad
from numbagraph.frontend.jit import GraphFunction

FUNCTIONS = {
    "ellipk": (scipy.special.ellipk, mpmath.ellipk, 0.0),
    "ellipe": (scipy.special.ellipe, mpmath.ellipe, 0.0),
    "ellipkm1": (scipy.special.ellipkm1, lambda p: mpmath.ellipk(1 - p), 1.0),
    "spence": (scipy.special.spence, lambda z: mpmath.polylog(2, 1 - z), 1.0),
}


PAIRS = {
    "ellipkinc": (scipy.special.ellipkinc, mpmath.ellipf, [(phi, 0.0) for phi in (0.0, -0.3, 4.0)]),
    "ellipeinc": (scipy.special.ellipeinc, mpmath.ellipe, [(phi, 0.0) for phi in (0.0, -0.3, 4.0)]),
    "elliprc": (scipy.special.elliprc, mpmath.elliprc, [(1.0, 1.0), (30.0, 30.0)]),
}
BY = [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)]
"""How often a function is differentiated by each of two operands."""


@pytest.mark.parametrize("integral", PAIRS)
def test_derivatives_by_two_operands_where_the_formula_has_no_value(integral):
    function, reference, centers = PAIRS[integral]
    derivatives = {(0, 0): lambda x, y: function(x, y)}
    for one, other in BY:
        before, place = ((one, other - 1), 1) if other else ((one - 1, other), 0)
        derivatives[one, other] = grad(derivatives[before], argnums=place)
    found = GraphFunction(lambda x, y: [derivatives[each](x, y) for each in BY], backend="numpy")
    for x, center in centers:
        for step in (0.0, 1e-12, -1e-5, 0.03, -0.3):
            y = center + step * max(center, 1.0)
            with mpmath.workdps(50):
                wanted = [float(mpmath.re(mpmath.diff(reference, (x, y), each))) for each in BY]
            np.testing.assert_allclose(found(x, y), wanted, rtol=1e-8, atol=1e-12)


def test_principal_values_and_edges_of_elliprc():
    slopes = GraphFunction(grad(scipy.special.elliprc, argnums=(0, 1)), backend="numpy")
    np.testing.assert_allclose(slopes(0.0, 1.0), (-np.inf, -np.pi / 4))  # pi / 2 / sqrt(y)
    with mpmath.workdps(30):
        principal = lambda x, y: mpmath.sqrt(x / (x - y)) * mpmath.elliprc(x - y, -y)  # noqa: E731
        for point in ((1.0, -1.0), (2.0, -0.5)):
            wanted = [float(mpmath.diff(principal, point, each)) for each in BY[:2]]
            np.testing.assert_allclose(slopes(*point), wanted, rtol=1e-12)


@pytest.mark.parametrize("integral", FUNCTIONS)
def test_derivatives_where_the_formula_has_no_value(integral):
    function, reference, center = FUNCTIONS[integral]
    derivatives = [lambda x: function(x)]
    for _ in range(3):
        derivatives.append(grad(derivatives[-1]))
    found = GraphFunction(lambda x: [each(x) for each in derivatives[1:]], backend="numpy")
    for step in (0.0, 1e-12, -1e-5, 0.03, -0.049, 0.051, -0.3):
        x = center + step
        with mpmath.workdps(60):
            wanted = [float(mpmath.re(mpmath.diff(reference, mpmath.mpf(x), order))) for order in (1, 2, 3)]
        np.testing.assert_allclose(found(x), wanted, rtol=1e-9)


def test_the_mean_of_zero_and_any_number_is_level_by_that_number():
    slopes = grad(scipy.special.agm, argnums=(0, 1))
    for backend in ("numpy", "numba"):
        found = GraphFunction(slopes, backend=backend)
        for a in (2.0, -2.0, 1e-300, 1e300):
            zero = math.copysign(0.0, a)
            assert found(a, zero) == (0.0, np.inf)
            assert found(zero, a) == (np.inf, 0.0)
        for point in ((2.0, 1e-9), (1e-30, 2.0), (1.0, 1.0), (1.0, 1.0001), (-3.0, -1e-5)):
            with mpmath.workdps(60):
                exact = [mpmath.mpf(each) for each in point]
                step = abs(mpmath.fprod(exact)) / 10**20
                wanted = [float(mpmath.diff(mpmath.agm, tuple(map(abs, exact)), by, h=step)) for by in BY[:2]]
            np.testing.assert_allclose(found(*point), wanted, rtol=1e-13)
