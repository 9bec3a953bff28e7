"""Exponentials of complex numbers, which are a formula in loops and the C library's elsewhere."""

import numpy as np
import pytest

from numbagraph import graph_jit

SPECIAL = (0.0, 1.0, 1e-5, np.pi / 2, np.pi, 3e5, np.inf, np.nan)
EXTREMES = {
    np.complex128: (5e-324, 1e-310, 700.5, 709.9, 750.0, 1400.0, 1453.0, 1e300),
    np.complex64: (1e-45, 1e-40, 80.5, 88.8, 92.0, 170.0, 190.0, 1e38),
}


def is_close(found, wanted):
    """The same sign, and four units in the last place at most."""
    same = (found == wanted) & (np.signbit(found) == np.signbit(wanted)) | np.isnan(found) & np.isnan(wanted)
    with np.errstate(invalid="ignore"):
        return same | (np.abs(found - wanted) <= 4 * np.spacing(np.abs(wanted)))


@pytest.mark.parametrize("dtype", EXTREMES)
def test_exponentials_at_special_points_and_where_a_factor_overflows(dtype):
    parts = np.array([sign * each for each in (*SPECIAL, *EXTREMES[dtype]) for sign in (1, -1)])
    points = np.empty((parts.size, parts.size), dtype)
    points.real, points.imag = parts[:, None], parts
    exp = graph_jit(lambda x: np.exp(x))
    with np.errstate(all="ignore"):
        wanted = np.exp(points)
    for found in (exp(points), exp(points.T[::-1])[::-1].T, np.array([exp(each) for each in points.flat])):
        found = found.reshape(points.shape)
        for number in ("real", "imag"):
            wrong = ~is_close(getattr(found, number), getattr(wanted, number))
            assert not wrong.any(), (number, points[wrong], found[wrong], wanted[wrong])


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 1000])
def test_exponentials_of_any_length(length):
    x = np.random.default_rng(length).normal(size=2 * length).view(complex) * (5 + 0j)
    for each in (x, x[::-1], x[::3]):
        found, wanted = graph_jit(lambda x: (np.exp(1j * x), np.exp2(x)))(each), (np.exp(1j * each), np.exp2(each))
        for ours, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-15)
