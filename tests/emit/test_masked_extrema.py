"""Extrema of elements under a mask: in vectors, whose masked lanes hold infinities, and with NumPy's results."""

import numpy as np
import pytest

from numbagraph import graph_jit

rng = np.random.default_rng(7)

FUNCTIONS = {
    "largest under a mask": lambda x: x[x > 0.5].max(),
    "smallest under a mask": lambda x: np.min(x, where=x < 0.7, initial=np.inf),
    "largest but NaN": np.nanmax,
    "smallest of chosen": lambda x: np.where(x > 0.2, x, np.inf).min(),
    "range under a mask": lambda x: np.ptp(x[x > 0.5]),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_extrema_under_masks_are_computed_in_vectors(function, dtype):
    x = rng.uniform(size=1001).astype(dtype)
    compiled = graph_jit(lambda x: function(x))
    np.testing.assert_array_equal(compiled(x), function(x), strict=True)
    assert "vector.body" in compiled.llvm(x)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 3, 500, 1000])
def test_special_numbers_among_masked_elements(special, place):
    x = rng.uniform(size=1001)
    x[place] = special

    def extrema(x):
        return np.nanmax(x), np.nanmin(x), np.max(x, where=x > 0.5, initial=-np.inf), np.where(x > 0.5, x, np.inf).min()

    np.testing.assert_array_equal(graph_jit(extrema)(x), extrema(x))
