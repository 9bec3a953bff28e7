"""Associated Legendre functions and spherical Bessel functions in traced functions, beside mpmath's numbers."""

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from numbagraph import grad, graph_jit

INSIDE = np.random.default_rng(5).uniform(-1, 1, 12)
EDGES = np.array([-1.5, -1.0, -0.3, -0.0, 0.0, 0.2, 1.0, 1.5, np.nan])
ORDERS = [(0, 0), (1, 0), (3, 0), (1, 1), (3, 1), (4, 2), (5, 3), (3, -1), (7, -4), (2, 3), (20, 0), (20, 11), (21, 2)]


@pytest.mark.parametrize(("degree", "order"), ORDERS)
def test_legendre_functions(degree: int, order: int) -> None:
    compiled: Any = graph_jit(lambda x: special.assoc_legendre_p(degree, order, x)[0])
    with mp.workdps(40):
        exact = np.array([float(mp.legenp(degree, order, mp.mpf(x), type=2).real) for x in map(float, INSIDE)])
    np.testing.assert_allclose(compiled(INSIDE), exact, rtol=1e-13, atol=1e-14 * np.max(np.abs(exact)))
    if order <= degree:
        np.testing.assert_allclose(compiled(EDGES), special.lpmv(order, degree, EDGES), rtol=1e-14)


@pytest.mark.parametrize(("degree", "order"), [(3, 0), (3, 1), (4, 2), (5, 3), (7, -4), (21, 2)])
def test_derivatives_of_legendre_functions(degree: int, order: int) -> None:
    """To second order. [DLMF 14.10.4, 14.2.2]"""

    def total(x: Any) -> Any:
        return np.sum(special.assoc_legendre_p(degree, order, x)[0])

    x = INSIDE
    y, below = special.lpmv(order, degree, x), special.lpmv(order, degree - 1, x)
    slope = (degree * x * y - (degree + order) * below) / (x * x - 1)
    bend = (2 * x * slope - (degree * (degree + 1) - order**2 / (1 - x * x)) * y) / (1 - x * x)
    np.testing.assert_allclose(graph_jit(grad(total))(x), slope, rtol=1e-9)
    np.testing.assert_allclose(graph_jit(grad(lambda x: np.sum(grad(total)(x))))(x), bend, rtol=1e-8)


SPHERICAL = {
    "jn": lambda n, x: mp.sqrt(mp.pi / 2 / x) * mp.besselj(n + 0.5, x),
    "yn": lambda n, x: mp.sqrt(mp.pi / 2 / x) * mp.bessely(n + 0.5, x),
    "in": lambda n, x: mp.sqrt(mp.pi / 2 / x) * mp.besseli(n + 0.5, x),
    "kn": lambda n, x: mp.sqrt(mp.pi / 2 / x) * mp.besselk(n + 0.5, x),
}


@pytest.mark.parametrize("order", [0, 1, 2, 7])
@pytest.mark.parametrize("name", SPHERICAL)
def test_spherical_bessel_functions(name: str, order: int) -> None:
    """Values, and derivatives to second order, on both sides of the order."""
    function, x = getattr(special, f"spherical_{name}"), np.array([0.3, 1.7, 6.5, 7.5, 23.0])

    def total(x: Any) -> Any:
        return np.sum(function(order, x))

    with mp.workdps(30):
        exact = [[float(mp.diff(lambda x: SPHERICAL[name](order, x), each, k)) for each in x] for k in range(3)]
    np.testing.assert_allclose(graph_jit(lambda x: function(order, x))(x), exact[0], rtol=2e-13)
    np.testing.assert_allclose(graph_jit(grad(total))(x), exact[1], rtol=1e-10)
    np.testing.assert_allclose(graph_jit(grad(lambda x: np.sum(grad(total)(x))))(x), exact[2], rtol=1e-9)
