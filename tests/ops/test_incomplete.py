"""Derivatives of incomplete gamma and beta functions by their parameters, against differences in many digits."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy import special

import numbagraph

GAMMA = [(0.05, 0.001), (0.3, 2.0), (1.0, 1.0), (2.0, 9.5), (7.5, 7.0), (40.0, 30.0), (900.0, 880.0), (900.0, 990.0)]
BETA = [(0.1, 0.2, 0.4), (1.0, 1.0, 0.3), (2.5, 0.7, 0.95), (3.0, 8.0, 0.01), (60.0, 90.0, 0.42), (500.0, 3.0, 0.99)]


def gamma(a: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.gammainc(a, 0, x, regularized=True)


def beta(a: mpmath.mpf, b: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.betainc(a, b, 0, x, regularized=True)


def exact(function: Callable[..., mpmath.mpf], point: tuple[float, ...], place: int) -> float:
    """A central difference in 60 digits."""
    with mpmath.workdps(60):
        step, sides = mpmath.mpf(10) ** -20, []
        for sign in (1, -1):
            moved = [mpmath.mpf(each) for each in point]
            moved[place] += sign * step
            sides.append(function(*moved))
        return float((sides[0] - sides[1]) / (2 * step))


def derivatives(function: Callable[..., np.ndarray], points: list[tuple[float, ...]]) -> np.ndarray:
    """One row for each operand."""
    operands = np.array(points).T
    total = numbagraph.grad(lambda *each: np.sum(function(*each)), argnums=tuple(range(len(operands))))
    return np.array(numbagraph.graph_jit(total)(*operands))


@pytest.mark.parametrize(
    ("function", "reference", "points", "sign"),
    [
        (special.gammainc, gamma, GAMMA, 1),
        (special.gammaincc, gamma, GAMMA, -1),
        (special.betainc, beta, BETA, 1),
    ],
)
def test_derivatives_are_those_of_the_function(function, reference, points, sign) -> None:
    found = derivatives(function, points)
    for place, row in enumerate(found):
        expected = [sign * exact(reference, point, place) for point in points]
        np.testing.assert_allclose(row, expected, rtol=1e-11)


def test_ends_of_the_intervals() -> None:
    """Constant there, so the derivatives are zero; and NaN outside."""
    found = derivatives(special.gammainc, [(2.0, 0.0), (2.0, np.inf), (-1.0, 0.5), (2.0, np.nan)])[0]
    np.testing.assert_array_equal(found, [0.0, 0.0, np.nan, np.nan])
    found = derivatives(special.betainc, [(2.0, 3.0, 0.0), (2.0, 3.0, 1.0), (-2.0, 3.0, 0.5), (2.0, 3.0, np.nan)])[:2]
    np.testing.assert_array_equal(found, [[0.0, 0.0, np.nan, np.nan]] * 2)


def test_where_the_terms_are_too_many_the_result_is_nan() -> None:
    assert np.isnan(derivatives(special.gammainc, [(1e8, 1e8)])[0, 0])


def test_single_precision() -> None:
    found = numbagraph.graph_jit(numbagraph.grad(special.gammainc))(np.float32(2.0), np.float32(3.0))
    assert found.dtype == np.float32
    assert found == pytest.approx(exact(gamma, (2.0, 3.0), 0), rel=1e-6)
