"""The logarithm of the gamma function and its derivatives where there is more than one formula for them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import special

import numbagraph

EXACT = {"gammaln": lambda x: mpmath.loggamma(x).real, "digamma": mpmath.digamma}
SPECIAL = np.array([0.0, 5e-324, 1e-310, 1e-300, 1.0, 2.0, 3.0, 1e300, 1e308, np.inf])


def compiled(name: str):
    return numbagraph.graph_jit(lambda x: getattr(special, name)(x))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(EXACT))
def test_special_values_are_those_of_scipy(name: str, dtype: type) -> None:
    with np.errstate(all="ignore"):
        x = np.concatenate([SPECIAL, -SPECIAL, [np.nan, -7.0, -(2.0**23), -(2.0**53)]]).astype(dtype)
        expected = getattr(special, name)(x)
    result = compiled(name)(x)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(result[~finite], expected[~finite])
    np.testing.assert_allclose(result[finite], expected[finite], rtol=4 * np.finfo(dtype).eps)
    assert result.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(EXACT))
def test_negative_numbers_are_reflected(name: str, dtype: type) -> None:
    """Near the poles and apart from them, with an error that is small beside the terms of the reflection."""
    rng = np.random.default_rng(0)
    offsets = rng.choice([-1, 1], 200) * 2.0 ** rng.uniform(-10, -1, 200)
    x = np.concatenate([-rng.integers(1, 30, 200) + offsets, rng.uniform(-5, 0, 200)]).astype(dtype)
    result = compiled(name)(x)
    for argument, each in zip(x, result, strict=True):
        exact = EXACT[name](mpmath.mpf(float(argument)))
        term = abs(mpmath.loggamma(1 - mpmath.mpf(float(argument)))) if name == "gammaln" else 0
        assert abs(mpmath.mpf(float(each)) - exact) <= 8 * np.finfo(dtype).eps * max(1, term, abs(exact)), argument
