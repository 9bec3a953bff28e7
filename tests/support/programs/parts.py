"""Programs that assign to slices at running positions, and grids of traced lengths."""

import numpy as np

from tests.support.programs.declared import case

M = np.linspace(-1.0, 2.0, 42).reshape(6, 7)
T = np.linspace(0.0, 1.0, 60).reshape(3, 4, 5)


@case((M, 6), (M.T, 5), (M[:, ::2], 3), (M.astype(np.float32), 1), (np.ones((2, 3)), 2))
def column_sweep(a, n):
    for j in range(1, n):
        a[1:-1, j] = a[1:-1, j - 1] * 2 - a[:-2, j]
    for j in range(n - 2, -1, -1):
        a[1:-1, j] -= a[1:-1, j + 1]


@case((M,), (M[::-1],), (np.ones((3, 1)),), (np.ones((2, 2), int),))
def row_sweep(a):
    for i in range(1, a.shape[0]):
        a[i, 1:] = a[i - 1, :-1] + a[i, 1:][::-1]
        a[-i, ::2] = i


@case((M[:, :6],), (M[:5, :5],), (np.eye(1),))
def triangles(a):
    for i in range(a.shape[0]):
        a[i, :i] += a[:i, i]
        a[i, i:] = a[i:, i]
        a[i + 1 :, i] = a[i, i + 1 :] * 2


@case((T, 1, 3), (T.copy().astype(complex), 0, 2), (T[:, ::-1], 2, 2))
def planes(a, first, last):
    for k in range(first, last):
        a[k, 1:, 2] = a[k - 1, :-1, k]
        a[::2, k, 1:] += 1
        a[:, 1:3, k] = a[k, :2, k, None].T
        a[..., -2:, k + 1] = k


@case((M, 2), (M, -1))
def view_of_rows(a, at):
    inner = a[1:-1]
    for i in range(inner.shape[0]):
        inner[i, 1:-1] = inner[i, :-2] + inner[i, 2:]
        inner[at, i:] = 0
    return inner[at, 1:]


@case((4, 1.5), (1, -2.0), (0, 3.0))
def grids(n, x):
    i, j = np.mgrid[0:n, 1 : n + 3 : 2]
    u, v = np.ogrid[0 : n * 2, x:7.5:0.5]
    total = 0.0
    for k in range(n):
        total += x * k
    return i * j, u + v, np.mgrid[x:9:4j], np.mgrid[0:n], total


@case((np.arange(3.0),), (np.arange(4, dtype=np.float32),), (np.arange(2),))
def joined_by_subscripts(x):
    return np.r_[x, 2.5, 0 : x.shape[0]], np.r_[0:1:3j, x[0]], np.c_[x, x[::-1], np.outer(x, x)], np.c_[x[0], 2]


@case((M,), (M.astype(np.float32),))
def in_new_memory(a):
    n, m = a.shape
    found, sums = np.ndarray((n, m), dtype=a.dtype), np.ndarray(n)
    for i in range(n):
        found[i] = a[i] * 2
        sums[i] = found[i, 0]
    return found, sums
