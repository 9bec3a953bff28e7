"""Functions of NumPy and SciPy that are no ops, and want to know a length: a version for each shape calls them."""

import numpy as np
import pytest
from scipy import linalg, signal

from numbagraph import TraceError, grad, graph_jit, vmap

X = np.arange(8.0)
CALLS = {
    "hanning": lambda x: x * np.hanning(len(x)),
    "hamming": lambda x: np.hamming(2 * len(x) + 1),
    "blackman": lambda x: x * np.blackman(x.shape[0]),
    "kaiser": lambda x: np.kaiser(len(x), 5.0) + x,
    "fftfreq": lambda x: np.fft.fftfreq(len(x), 0.1) * x,
    "rfftfreq": lambda x: np.abs(np.fft.rfft(x)) * np.fft.rfftfreq(len(x)),
    "triu_indices": lambda x: np.outer(x, x)[np.triu_indices(len(x), 1)],
    "tril_indices": lambda x: np.tril_indices(len(x), -1),
    "diag_indices": lambda x: np.diag_indices(len(x)),
    "fromfunction": lambda x: np.fromfunction(lambda i, j: i + j, (len(x), 2)),
    "windows of SciPy": lambda x: x * signal.windows.hann(len(x)),
    "hilbert": lambda x: linalg.hilbert(len(x)) @ x,
    "leggauss": lambda x: np.polynomial.legendre.leggauss(len(x))[0],
    "in a loop": lambda x: sum(v * w for v, w in zip(x, np.hanning(len(x)), strict=True) if v > 1),
}


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    function = CALLS[call]
    compiled = graph_jit(function)
    for x in (X, X[:5], X + 1):
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-12, atol=1e-13)


def test_transformations():
    def windowed(x):
        return np.sum(x**2 * np.hanning(len(x)))

    np.testing.assert_allclose(grad(windowed)(X), 2 * X * np.hanning(8), atol=1e-13)
    batch = np.stack([X, X + 1])
    np.testing.assert_allclose(vmap(windowed)(batch), [windowed(each) for each in batch])


def test_numbers_are_named():
    np.testing.assert_allclose(graph_jit(lambda x, n: x * np.hanning(n))(X, X.size), X * np.hanning(X.size))
    with pytest.raises(TraceError, match="hanning converts"):
        graph_jit(lambda x: np.hanning(x.astype(int)[3]))(X)
