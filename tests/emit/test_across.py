"""Rows that are reduced in vectors across them, for lengths about those of strips and of short rows."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from numbagraph import graph_jit

rng = np.random.default_rng(5)

ROWS = (1, 3, 63, 64, 65, 130, 500)
COLUMNS = (1, 2, 7, 31, 33, 255, 257)
DTYPES = ("f8", "f4", "i4", "i8", "u1", "c16")


def numbers(dtype: str, count: int) -> np.ndarray:
    if dtype == "c16":
        return rng.normal(size=count) + 1j * rng.normal(size=count)
    return rng.normal(size=count).astype(dtype) if dtype[0] == "f" else rng.integers(0, 50, count).astype(dtype)


def close(found, expected) -> None:
    assert found.dtype == expected.dtype
    single = expected.dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(found, expected, rtol=1e-4 if single else 1e-11, atol=1e-4 if single else 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
def test_convolutions(dtype):
    compiled = {mode: graph_jit(lambda a, v, mode=mode: np.convolve(a, v, mode)) for mode in ("full", "same", "valid")}
    for rows in ROWS:
        for columns in COLUMNS:
            a, v = numbers(dtype, rows), numbers(dtype, columns)
            for mode, function in compiled.items():
                close(function(a, v), np.convolve(a, v, mode))


REDUCTIONS = {
    "sum": lambda windows: windows.sum(-1),
    "largest": lambda windows: windows.max(-1),
    "smallest": lambda windows: windows.min(-1),
    "mean": lambda windows: windows.mean(-1),
    "any": lambda windows: np.any(windows > 40, -1),
    "several": lambda windows: windows.sum(-1) + windows.max(-1),
    "function": lambda windows: np.sum(np.exp(-windows.astype(float)), -1),
    "two dimensions": lambda windows: (windows * np.arange(1, 4)[:, None, None]).sum(-1),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("reduction", REDUCTIONS.values(), ids=REDUCTIONS)
@pytest.mark.parametrize("columns", [1, 5, 40, 300])
def test_reductions_of_windows(reduction, dtype, columns):
    def function(x):
        return reduction(sliding_window_view(x, columns))

    compiled = graph_jit(function)
    for rows in ROWS:
        x = numbers(dtype, rows + columns - 1)
        close(compiled(x), function(x))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_special_numbers_stay_in_their_windows(dtype):
    x = numbers(dtype, 300)
    x[[5, 100, 290]] = np.nan, np.inf, -np.inf

    def function(x, v):
        return np.convolve(x, v, "same"), sliding_window_view(x, 6).max(-1)

    for found, expected in zip(graph_jit(function)(x, np.ones(5, dtype)), function(x, np.ones(5, dtype)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_rows_are_reduced_in_vectors():
    function, numbers_of = graph_jit(lambda a, v: np.convolve(a, v)), (numbers("f8", 300), numbers("f8", 7))
    assert "strip.head" in function.llvm(*numbers_of, optimised=False)
    assert "vector.body" in function.llvm(*numbers_of)
