"""Margins in dtypes in which numbers wrap around."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.int64])
@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_odd_reflections_wrap_around(mode, dtype, backend):
    x = np.array([[3, 2, 1, 0], [1, 1, 0, 0], [200, 0, 2, 1]]).astype(dtype)
    found = graph_jit(lambda x: np.pad(x, (2, 9), mode=mode, reflect_type="odd"), backend=backend)(x)
    np.testing.assert_array_equal(found, np.pad(x, (2, 9), mode=mode, reflect_type="odd"), strict=True)


MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]


@pytest.mark.parametrize(
    "widths",
    [
        0,
        1,
        (2, 0),
        np.array([1, 2]),
        np.array([[1, 2], [0, 0], [3, 1]]),
        ((0, 0), (1, 3), (0, 2)),
        ((4, 1), (0, 7), (0, 0)),
        ((0, 9),) * 3,
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_margins_of_several_axes_are_those_of_numpy(mode, widths):
    block = np.random.default_rng(5).normal(size=(2, 3, 4))
    pad = graph_jit(lambda x: np.pad(x, widths, mode=mode))
    for x in (block, block[::-1, :, ::2], block.T, block.astype(np.float32), block > 0):
        np.testing.assert_array_equal(pad(x), np.pad(x, widths, mode=mode), strict=True)
    pad_by_numpy = graph_jit(lambda x: np.pad(x, widths, mode=mode), backend="numpy")
    np.testing.assert_array_equal(pad_by_numpy(block), np.pad(block, widths, mode=mode), strict=True)


@pytest.mark.parametrize("mode", MODES)
def test_widths_that_are_known_only_in_the_call(mode):
    x = np.arange(6.0).reshape(2, 3)
    pad = graph_jit(lambda x, a, b: np.pad(x, ((a, b), (b, a)), mode=mode)[1:])
    for a, b in ((1, 2), (3, 0), (0, 1)):
        np.testing.assert_array_equal(pad(x, a, b), np.pad(x, ((a, b), (b, a)), mode=mode)[1:])
    with pytest.raises(ValueError, match="negative"):
        pad(x, 1, -1)


@pytest.mark.parametrize("mode", MODES)
def test_an_array_may_be_padded_into_what_it_is_a_part_of(mode):
    room = np.arange(42.0).reshape(6, 7)
    expected = np.pad(room[1:5, 2:5].copy(), ((0, 2), (3, 1)), mode=mode)
    graph_jit(lambda x: np.pad(x, ((0, 2), (3, 1)), mode=mode))(room[1:5, 2:5], out=room)
    np.testing.assert_array_equal(room, expected)


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_count_how_often_an_element_is_there(mode):
    x, weights = np.random.default_rng(6).normal(size=(2, 3, 4)), np.random.default_rng(7).normal(size=(6, 8))

    def loss(x):
        return np.sum(weights * np.pad(x, ((1, 2), (3, 1)), mode=mode))

    numbers = np.pad(
        np.arange(12).reshape(3, 4),
        ((1, 2), (3, 1)),
        mode=mode,
        **({"constant_values": 12} if mode == "constant" else {}),
    )
    expected = np.bincount(numbers.ravel(), weights.ravel(), 13)[:12].reshape(3, 4)
    np.testing.assert_allclose(graph_jit(grad(loss))(x[0]), expected, rtol=1e-12)
    np.testing.assert_allclose(graph_jit(vmap(grad(loss)))(x), [expected] * 2, rtol=1e-12)


@pytest.mark.parametrize("mode", ["maximum", "mean", "linear_ramp", "edge", "reflect", "constant"])
@pytest.mark.parametrize("widths", [0, ((0, 0), (1, 2))])
def test_an_axis_without_margins_may_be_empty(mode, widths):
    x = np.ones((0, 3))
    np.testing.assert_array_equal(graph_jit(lambda x: np.pad(x, widths, mode))(x), np.pad(x, widths, mode))
