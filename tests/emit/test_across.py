"""Rows that are reduced several at a time, for lengths about those of strips, of short rows and of blocks."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.target import emitting_for, host
from numbagraph.ir.structs import replace

rng = np.random.default_rng(5)

ROWS = (1, 3, 15, 16, 17, 31, 32, 33, 64, 65, 500)
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


@pytest.mark.parametrize("dtype", ["f8", *(pytest.param(each, marks=pytest.mark.repeats) for each in DTYPES[1:])])
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


@pytest.mark.parametrize("dtype", ["f8", *(pytest.param(each, marks=pytest.mark.repeats) for each in ("f4", "i4"))])
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


OF_ROWS = {
    "matrix and vector": lambda a, v: a @ v,
    "sum": lambda a, v: a.sum(1),
    "mean": lambda a, v: a.mean(1),
    "squares": lambda a, v: np.sum((a - v) ** 2, axis=1),
    "several": lambda a, v: (a * v).sum(1) + a.sum(1),
    "strided": lambda a, v: a[::2] @ v,
    "columns": lambda a, v: a.T @ a[:, 0] if a.shape[1] else np.zeros(0, a.dtype),
}


WITHOUT = pytest.param("+avx512", marks=pytest.mark.repeats, id="without AVX-512")


@pytest.mark.parametrize("without", [pytest.param("", id="host"), WITHOUT])
@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.repeats)])
@pytest.mark.parametrize("name", OF_ROWS)
def test_sums_of_rows(name, dtype, without):
    function = OF_ROWS[name]
    features = host().features.replace(without, without.replace("+", "-")) if without else host().features
    with emitting_for(replace(host(), features=features)):
        compiled = graph_jit(lambda a, v: function(a, v))
        for rows in (0, 1, 3, 4, 5, 8, 11):
            for columns in (0, 1, 3, 15, 16, 17, 50, 64, 300, 511, 512, 513, 700, 1024, 1100):
                a, v = rng.uniform(-1, 1, (rows, columns)).astype(dtype), rng.uniform(-1, 1, columns).astype(dtype)
                if name == "mean" and not columns:
                    continue
                found, expected = compiled(a, v), function(a.astype(float), v.astype(float))
                assert found.dtype == a.dtype
                rounding = 1e-6 if dtype == "f4" else 1e-14  # of sums of up to 1,100 terms, which may cancel
                np.testing.assert_allclose(found, expected, rtol=rounding, atol=100 * rounding)


COLUMNS_OF_A_BATCH = {
    "sum": lambda terms: terms.sum(-1),
    "mean": lambda terms: terms.mean(-1),
    "sum and largest": lambda terms: terms.sum(-1) * terms.max(-1),
    "place": lambda terms: terms.argmax(-1) + terms.sum(-1),
}


@pytest.mark.parametrize("name", COLUMNS_OF_A_BATCH)
@pytest.mark.parametrize("columns", [2, 7, 60, 200, 520, 1030])
def test_sums_of_columns_beside_a_batch(name, columns):
    """What a block copies of columns is for that block alone: a nest for short sums, beside it, reads the array."""

    def function(x, a, w):
        return COLUMNS_OF_A_BATCH[name](np.tanh(a.T + x[:, :, None] * x[:, None, :]) * w)

    rng = np.random.default_rng(columns)
    x, a, w = rng.uniform(-1, 1, (2, columns)), rng.uniform(-1, 1, (columns, columns)), rng.uniform(0.5, 1, columns)
    np.testing.assert_allclose(graph_jit(function)(x, a, w), function(x, a, w), rtol=1e-11, atol=1e-11)


def test_special_numbers_stay_in_their_rows():
    a = rng.normal(size=(9, 77))
    a[2, 5], a[6, 70], a[7, 76] = np.nan, np.inf, -np.inf
    np.testing.assert_allclose(graph_jit(lambda a: a.sum(1))(a), a.sum(1), rtol=1e-12)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("backend", ["numba", "jax"])
def test_either_vector_of_a_convolution_may_be_the_longer_one(mode, backend):
    """The terms of each sum are as many as the shorter one has elements: a million times a million take days."""
    rng, functions = np.random.default_rng(0), [lambda a, v, f=f: f(a, v, mode) for f in (np.convolve, np.correlate)]
    for function in functions:
        compiled = graph_jit(function, backend=backend)
        for n, m in ((5, 3), (3, 5), (4, 4), (1, 7), (7, 1), (70, 90)):
            a, v = rng.normal(size=n), rng.normal(size=m) + 1j
            np.testing.assert_allclose(compiled(a, v), function(a, v), atol=1e-12)
    long, short = rng.normal(size=200_000), rng.normal(size=3)
    for first, second in ((long, short), (short, long)):
        np.testing.assert_allclose(graph_jit(functions[0])(first, second), functions[0](first, second), atol=1e-12)
        if backend == "numba":
            captured = graph_jit(lambda a, second=second: functions[0](a, second))
            np.testing.assert_allclose(captured(first), functions[0](first, second), atol=1e-12)
