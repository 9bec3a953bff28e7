"""Margins in dtypes in which numbers wrap around."""

import numpy as np
import pytest

from numbagraph import graph_jit


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.int64])
@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_odd_reflections_wrap_around(mode, dtype, backend):
    x = np.array([[3, 2, 1, 0], [1, 1, 0, 0], [200, 0, 2, 1]]).astype(dtype)
    found = graph_jit(lambda x: np.pad(x, (2, 9), mode=mode, reflect_type="odd"), backend=backend)(x)
    np.testing.assert_array_equal(found, np.pad(x, (2, 9), mode=mode, reflect_type="odd"), strict=True)
