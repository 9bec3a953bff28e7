"""Writes through diagonals and divided dimensions: their derivatives and batches."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap


def written(a, w):
    b = a.copy()
    np.einsum("ii->i", b)[:] = w**2
    np.einsum("ii->i", b)[1] *= 3
    for i in range(2):
        np.einsum("ii->i", b)[i] += w[i] * b[0, 3]
    b.T.reshape(a.shape[1] // 2, 2, len(a))[1, 0] *= w
    return (b**3).sum()


RNG = np.random.default_rng(0)
A, W = RNG.normal(size=(3, 4, 4)), RNG.normal(size=(3, 4))


@pytest.mark.parametrize("argnum", [0, 1])
def test_derivatives(argnum):
    point = [A[0], W[0]]
    found = grad(written, argnum)(*point)
    for place in np.ndindex(point[argnum].shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [each.copy() for each in point]
            moved[argnum][place] += step
            ends.append(written(*moved))
        np.testing.assert_allclose(found[place], (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7)


def test_batches():
    batch = graph_jit(vmap(written))(A, W)
    np.testing.assert_allclose(batch, [written(*each) for each in zip(A, W, strict=True)], rtol=1e-13)
    shared = graph_jit(vmap(written, (None, 0)))(A[0], W)
    np.testing.assert_allclose(shared, [written(A[0], each) for each in W], rtol=1e-13)


def test_writeable_windows_are_refused():
    with pytest.raises(ValueError, match=r"assign to the array itself \(x\[i : i \+ n\]"):
        graph_jit(lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True))(np.arange(4.0))
