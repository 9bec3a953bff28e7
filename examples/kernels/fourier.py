"""The fast Fourier transform in Stockham's form, which needs no bit reversal (Van Loan, Computational Frameworks for
the Fast Fourier Transform, section 1.7). Lengths are powers of 2."""

import cmath
import math

import numpy as np


def stockham(x):
    """Halve the transforms until they have length one; the array has a row for each term of them.

    Gives the transform and the power of each frequency.
    """
    length = x.size
    y = x.astype(np.complex128)
    stride = 1
    while length > 1:
        half = length // 2
        parts = y.reshape(2, half, stride)
        twiddles = np.exp(-2j * np.pi * np.arange(half) / length)
        both = np.empty((half, 2, stride), dtype=np.complex128)
        both[:, 0] = parts[0] + parts[1]
        both[:, 1] = (parts[0] - parts[1]) * twiddles[:, None]
        y = both.reshape(-1)
        length = half
        stride *= 2
    return y, np.abs(y) ** 2


def stockham_loops(x):
    """The same butterfly by butterfly, between two arrays."""
    n = x.size
    y = x.copy()
    z = np.empty_like(x)
    length = n
    stride = 1
    while length > 1:
        half = length // 2
        for p in range(half):
            twiddle = cmath.exp(-2j * math.pi * p / length)
            for q in range(stride):
                a = y[q + stride * p]
                b = y[q + stride * (p + half)]
                z[q + stride * 2 * p] = a + b
                z[q + stride * (2 * p + 1)] = (a - b) * twiddle
        y, z = z, y
        length = half
        stride *= 2
    return y


def stockham_batched(x, stages):
    """Of each row of ``x`` (batch, ``2**stages``): positions of one stage as arrays, all rows at once."""
    n = x.shape[1]
    y = x.astype(np.complex128)
    pair = np.arange(n // 2)
    for stage in range(stages):
        stride = 2**stage
        p = pair // stride
        q = pair % stride
        a = y[:, q + stride * p]
        b = y[:, q + stride * p + n // 2]
        twiddles = np.exp(-2j * np.pi * p * stride / n)
        y = np.empty_like(y)
        y[:, q + 2 * stride * p] = a + b
        y[:, q + 2 * stride * p + stride] = (a - b) * twiddles
    return y


def _signal(rng, n):
    return rng.normal(size=n) + 1j * rng.normal(size=n)


INPUTS = {
    stockham: (lambda rng, k: (_signal(rng, 2**k),), (3, 5, 10, 16)),
    stockham_loops: (lambda rng, k: (_signal(rng, 2**k),), (3, 5, 10, 15)),
    stockham_batched: (lambda rng, k: (_signal(rng, 2**k * 4).reshape(4, -1), k), (3, 5, 10, 16)),
}
