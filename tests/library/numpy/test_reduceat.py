"""`reduceat` of ufuncs: positions, and segments of all lengths."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit


@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
def test_positions_that_reduceat_takes(ufunc):
    reduced = graph_jit(lambda x, positions: ufunc.reduceat(x, positions))
    for positions in ([], [0, 3], [5, 0]):
        given = [positions, np.array(positions, np.int64), np.array(positions, np.uint8)]
        for each in [*given, np.array(positions, bool)]:
            for x in (np.arange(6.0), np.arange(12.0).reshape(6, 2)):
                np.testing.assert_array_equal(reduced(x, each), ufunc.reduceat(x, each))
    along_last = graph_jit(lambda x, positions: ufunc.reduceat(x, positions, axis=-1))
    nowhere = np.array([], np.int64)
    for shape in ((1, 0), (2, 3, 0), (0, 0), (2, 4), (0, 4)):
        expected, found = (
            each(np.ones(shape), nowhere) for each in (lambda x, i: ufunc.reduceat(x, i, -1), along_last)
        )
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    for wrong in (np.array([0.0, 1.0]), np.array([0, 1], np.uint64)):
        with pytest.raises(TypeError, match="according to the rule 'safe'"):
            reduced(np.arange(6.0), wrong)
    for wrong in ([6], [-1], [0, 7]):
        with pytest.raises(IndexError, match="out-of-bounds"):
            reduced(np.arange(6.0), wrong)


@pytest.mark.parametrize(
    "name", ["add", "multiply", "maximum", "minimum", "logical_or", "bitwise_xor", "bitwise_or", "logaddexp", "fmax"]
)
def test_long_segments_along_the_last_axis(name):
    """Of lengths around those of blocks, of which some segments begin behind where they end."""
    ufunc, rng = getattr(np, name), np.random.default_rng(8)
    starts = np.array([0, 1, 64, 129, 100, 100, 356, 420, 2, 500])
    reduced = graph_jit(lambda x: ufunc.reduceat(x, starts, axis=-1))
    for dtype in (np.float64, np.float32, np.int16, bool):
        x = (1 + rng.normal(size=(2, 3, 501)) * (0.1 if np.dtype(dtype).kind == "f" else 3)).astype(dtype)
        if (name, x.dtype.kind) in {
            ("bitwise_xor", "f"),
            ("bitwise_or", "f"),
            ("logaddexp", "b"),
        }:  # of truth values NumPy makes float16
            continue
        if x.dtype.kind == "f":
            x[0, 1, 70] = np.nan
        for each in (x, x[1], x[0, 0], x[..., ::-1], x.transpose(1, 0, 2)):
            with np.errstate(invalid="ignore"):
                expected = ufunc.reduceat(each, starts, axis=-1)
            found = reduced(each)
            assert found.dtype == expected.dtype
            rtol = 100 * np.finfo(expected.dtype).eps if expected.dtype.kind == "f" else 0
            np.testing.assert_allclose(found, expected, rtol=rtol)
    by_jax = graph_jit(lambda x: ufunc.reduceat(x, starts, axis=-1), backend="jax")
    given = np.arange(1002).reshape(2, 501) % 3
    np.testing.assert_allclose(by_jax(given), ufunc.reduceat(given, starts, axis=-1), rtol=1e-13)


def test_derivatives_of_long_segments():
    starts, x = np.array([0, 80, 90]), np.random.default_rng(9).normal(size=(2, 200))
    weights = np.arange(1.0, 7.0).reshape(2, 3)
    found = graph_jit(grad(lambda x: np.sum(weights * np.add.reduceat(x, starts, axis=1))))(x)
    np.testing.assert_allclose(found, np.repeat(weights, [80, 10, 110], axis=1), rtol=1e-14)
    found = graph_jit(grad(lambda x: np.sum(weights * np.maximum.reduceat(x, starts, axis=1))))(x)
    expected = np.zeros_like(x)
    for (row, segment), weight in np.ndenumerate(weights):
        first, last = [*starts, 200][segment : segment + 2]
        expected[row, first + np.argmax(x[row, first:last])] = weight
    np.testing.assert_array_equal(found, expected)
