"""Decompositions of matrices of which one length is large: LAPACK's work memory grows with the smaller one alone."""

import numpy as np
import pytest

from numbagraph import graph_jit

RNG = np.random.default_rng(0)
LENGTH = 40_000
FUNCTIONS = {
    "svd": lambda a: np.linalg.svd(a, full_matrices=False),
    "values": lambda a: np.linalg.svd(a, compute_uv=False),
    "qr": np.linalg.qr,
    "triangle": lambda a: np.linalg.qr(a, "r"),
    "pinv": np.linalg.pinv,
    "norm": lambda a: np.linalg.norm(a, 2),
    "lstsq": lambda a: np.linalg.lstsq(a, a[:, 0])[0],
}


@pytest.mark.parametrize("dtype", [np.float64, np.complex64], ids=str)
@pytest.mark.parametrize("shape", [(LENGTH, 3), (3, LENGTH)], ids=["tall", "wide"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_matrices_with_one_large_length(name, shape, dtype):
    a = RNG.normal(size=(*shape, 2)) @ [1, 1j]
    a = (a if np.dtype(dtype).kind == "c" else a.real).astype(dtype)
    found, expected = graph_jit(FUNCTIONS[name])(a), FUNCTIONS[name](a)
    found, expected = (each if isinstance(each, tuple) else (each,) for each in (found, expected))
    tolerance = 1e-10 if dtype is np.float64 else 2e-4
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        # a vector and its negative belong to the same value
        np.testing.assert_allclose(np.abs(one), np.abs(other), atol=tolerance * np.abs(other).max())


def test_a_polynomial_through_many_points():
    x, noise = RNG.uniform(size=(2, LENGTH))
    y = 3 * x**2 - x + noise
    np.testing.assert_allclose(graph_jit(lambda x, y: np.polyfit(x, y, 2))(x, y), np.polyfit(x, y, 2), rtol=1e-9)


@pytest.mark.parametrize("function", [np.linalg.svd, np.linalg.svdvals])
def test_two_large_lengths_are_refused_before_memory_is_taken(function):
    with pytest.raises(ValueError, match="the smaller length is more than 23000"):
        graph_jit(function)(np.broadcast_to(1.0, (23_001, 24_000)))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("full", [True, False])
def test_no_singular_values(shape, full):
    a = np.empty(shape)
    for one, other in zip(graph_jit(lambda a: np.linalg.svd(a, full))(a), np.linalg.svd(a, full), strict=True):
        np.testing.assert_array_equal(one, other)
