"""Derivatives up to third order where a formula for the first one is 0 / 0, and beside these places."""

import math
from itertools import combinations_with_replacement
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

from numbagraph import grad
from numbagraph.jit.graph_function import GraphFunction

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


THREE = [(1.0, 1.0, 1.0), (1, 1, 2), (1, 1 + 1e-9, 1 - 1e-5), (1.2, 1e4, 1)]
FOUR = [(1.0, 1.0, 1.0, 1.0), (1, 2, 1, 1 + 1e-9), (1.2, 1e4, 1, 1.25), (1e-6, 2, 3, 1.8)]
CARLSON = {
    "elliprd": (scipy.special.elliprd, mpmath.elliprd, THREE, 3),
    "elliprf": (scipy.special.elliprf, mpmath.elliprf, THREE, 3),
    "elliprg": (scipy.special.elliprg, mpmath.elliprg, THREE, 2),
    "elliprj": (scipy.special.elliprj, mpmath.elliprj, FOUR, 2),
}
"""With points where operands are equal, near each other, and far from each other; and the highest order."""


@pytest.mark.repeats
@pytest.mark.parametrize("integral", CARLSON)
def test_derivatives_of_symmetric_integrals(integral):
    function, reference, points, highest = CARLSON[integral]
    count = len(points[0])
    paths = [path for order in range(1, highest + 1) for path in combinations_with_replacement(range(count), order)]
    derivatives: dict[tuple[int, ...], Any] = {(): function}
    for path in paths:
        derivatives[path] = grad(derivatives[path[:-1]], argnums=path[-1])
    found = GraphFunction(lambda *operands: [derivatives[path](*operands) for path in paths], backend="numpy")
    for point in points:
        orders = [tuple(map(path.count, range(count))) for path in paths]
        with mpmath.workdps(60):
            step = mpmath.mpf(10) ** -15 * min(map(abs, point))
            wanted = [float(mpmath.re(mpmath.diff(reference, point, each, h=step))) for each in orders]
        np.testing.assert_allclose(found(*map(float, point)), wanted, rtol=1e-11)


def test_derivatives_of_symmetric_integrals_beside_an_operand_that_is_zero():
    """In closed form, by complete integrals: R_F(0, y, y) = pi / (2 sqrt(y)), R_D(0, y, y) = 3 pi / (4 y sqrt(y))."""
    integrals, y = (scipy.special.elliprf, scipy.special.elliprd), 1.7
    slopes = [grad(lambda y, each=each: each(0.0, y, y)) for each in integrals]
    found = GraphFunction(lambda y: (slopes[0](y), slopes[1](y), grad(slopes[0])(y)))(y)
    np.testing.assert_allclose(found, np.pi * np.array([-0.25, -1.125 / y, 0.375 / y]) / y**1.5, rtol=1e-13)
    slopes = GraphFunction(grad(scipy.special.elliprg, argnums=(0, 1, 2)))(0.0, 1.0, 1.0)
    np.testing.assert_allclose(slopes, [np.pi / 8, np.pi / 16, np.pi / 16], rtol=1e-14)


def test_principal_values_and_edges_of_elliprc():
    slopes = GraphFunction(grad(scipy.special.elliprc, argnums=(0, 1)), backend="numpy")
    np.testing.assert_allclose(slopes(0.0, 1.0), (-np.inf, -np.pi / 4))  # pi / 2 / sqrt(y)
    with mpmath.workdps(30):
        principal = lambda x, y: mpmath.sqrt(x / (x - y)) * mpmath.elliprc(x - y, -y)  # noqa: E731
        for point in ((1.0, -1.0), (2.0, -0.5)):
            wanted = [float(mpmath.diff(principal, point, each)) for each in BY[:2]]
            np.testing.assert_allclose(slopes(*point), wanted, rtol=1e-12)


def test_principal_values_of_elliprj():
    """Against differences of SciPy's own values: mpmath integrates these."""
    point, step = np.array([1.0, 2.0, 3.0, -0.5]), 1e-5 * np.eye(4)
    slopes = GraphFunction(grad(scipy.special.elliprj, argnums=(0, 1, 2, 3)), backend="numpy")
    rises = scipy.special.elliprj(*(point + step).T) - scipy.special.elliprj(*(point - step).T)
    np.testing.assert_allclose(slopes(*point), rises / 2e-5, rtol=1e-8)


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
