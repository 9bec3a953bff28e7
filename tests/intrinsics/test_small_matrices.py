"""Products of small matrices in loops, which BLAS does not compute, against NumPy's."""

import numpy as np
import pytest

import numbagraph
from numbagraph.intrinsics.emitters.small_matrices import MOST

SHAPES = [
    (1, 1, 1),
    (2, 3, 4),
    (4, 4, 4),
    (5, 1, 7),
    (1, 9, 3),
    (3, 8, 8),
    (10, 10, 10),
    (7, 11, 13),
    (0, 3, 2),
    (3, 0, 2),
]
"""Lengths on both sides of `MOST`, and such that some lanes of the last vector are unused."""


def in_a_loop(left_in_reverse, right_in_reverse):
    @numbagraph.graph_jit
    def product(a, b):
        left, right = a.T if left_in_reverse else a, b.T if right_in_reverse else b

        def step(total, factor):
            return total + factor * ((left * factor) @ right), None

        return numbagraph.scan(step, np.zeros((left.shape[0], right.shape[1]), a.dtype), np.arange(3).astype(a.dtype))[
            0
        ]

    return product


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.repeats)])
@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_products_of_any_lengths(flags, dtype):
    rng = np.random.default_rng(1)
    product = in_a_loop(*flags)
    assert any(m * k * n > MOST for m, k, n in SHAPES)
    for m, k, n in SHAPES:
        left, right = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
        given = [
            np.ascontiguousarray(each.T) if flag else each for each, flag in zip((left, right), flags, strict=True)
        ]
        found = product(*given)
        bound = 20 * np.finfo(dtype).eps * (np.abs(left) @ np.abs(right))
        assert found.dtype == dtype
        assert np.all(np.abs(found - 5 * (left.astype(float) @ right.astype(float))) <= bound)


def test_nothing_outside_of_a_matrix_is_read_or_written():
    """Neighbours of matrices are NaN, in which no sum may end, and results have neighbours of their own."""
    room = np.full((9, 9), np.nan)
    a, b = room[1:4, :3], room[5:8, :3]
    a[...], b[...] = np.arange(9.0).reshape(3, 3), np.eye(3) * 2
    found = in_a_loop(False, False)(np.ascontiguousarray(a), np.ascontiguousarray(b))
    np.testing.assert_array_equal(found, 10 * a)
    np.testing.assert_array_equal(in_a_loop(False, True)(a, b), 10 * a)


def test_special_values_are_in_the_sums_that_they_belong_to():
    a = np.array([[1.0, np.inf], [np.nan, 2.0]])
    b = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, np.inf]])
    for flags in ((False, False), (True, False), (False, True)):
        given = [np.ascontiguousarray(each.T) if flag else each for each, flag in zip((a, b), flags, strict=True)]

        @numbagraph.graph_jit
        def last(x, y, flags=flags):
            left, right = x.T if flags[0] else x, y.T if flags[1] else y
            return numbagraph.scan(lambda _, f: (left @ right * f, None), np.zeros((2, 3)), np.ones(2))[0]

        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(last(*given), a @ b)


def test_derivatives_of_a_recurrence_of_matrices():
    rng = np.random.default_rng(2)
    a, p = rng.normal(size=(3, 3)) / 3, np.eye(3)

    def value(a, p):
        return np.sum(numbagraph.fori_loop(0, 4, lambda _, p: a @ p @ a.T + p, p) ** 2)

    gradient = numbagraph.graph_jit(numbagraph.grad(value))(a, p)

    def plain(a):
        q = p
        for _ in range(4):
            q = a @ q @ a.T + q
        return np.sum(q**2)

    for index in np.ndindex(3, 3):
        step = np.zeros((3, 3), complex)
        step[index] = 1e-30j
        np.testing.assert_allclose(gradient[index], plain(a + step).imag / 1e-30, rtol=1e-12)
