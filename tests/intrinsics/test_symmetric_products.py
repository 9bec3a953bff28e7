"""Products of a matrix and itself, of which BLAS computes a half."""

import numpy as np
import pytest

from numbagraph import graph_jit

rng = np.random.default_rng(3)

PRODUCTS = {
    "transposed first": lambda x: x.T @ x,
    "transposed last": lambda x: x @ x.T,
    "dot": lambda x: np.dot(x.T, x),
    "computed": lambda x: (x + 1).T @ (x + 1),
    "not transposed": lambda x: x[: x.shape[1]] @ x[: x.shape[1]],
    "another one": lambda x: x.T @ (x * 2),
    "batch": lambda x: np.swapaxes(np.stack([x, x + 1]), 1, 2) @ np.stack([x, x + 1]),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_a_matrix_and_itself(name, dtype):
    compiled = graph_jit(lambda x: PRODUCTS[name](x))
    for rows, columns in ((0, 3), (3, 0), (1, 1), (7, 5), (40, 40), (90, 70), (70, 90), (300, 4)):
        x = rng.normal(size=(rows, columns)).astype(dtype)
        if dtype[0] == "c":
            x = x + (1j * rng.normal(size=(rows, columns))).astype(dtype)
        if name == "not transposed" and rows < columns:
            continue
        found, expected = compiled(x), PRODUCTS[name](x)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3 if dtype in ("f4", "c8") else 1e-10)
        if name in ("transposed first", "transposed last"):
            np.testing.assert_array_equal(found, found.T)


def test_what_is_no_number_spreads_as_in_other_products():
    x = rng.normal(size=(80, 70))
    x[3, 5], x[60, 20] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(graph_jit(lambda x: x.T @ x)(x), x.T @ x, rtol=1e-10)
