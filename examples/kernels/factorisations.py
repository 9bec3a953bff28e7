"""Matrices as products of simpler ones (Golub and Van Loan, Matrix Computations)."""

import math

import numpy as np


def lu(a):
    """``a = L U`` without exchanges, by outer products, in ``a`` itself (algorithm 3.2.1).

    For matrices whose diagonal dominates. Gives the logarithm of the magnitude of the determinant, and its sign.
    """
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    pivots = np.diag(a)
    magnitude = np.sum(np.log(np.abs(pivots)))
    negative = np.sum(pivots < 0)
    return magnitude, 1 - 2 * (negative % 2)


def lu_loops(a):
    """``a[order] = L U``, with the largest pivot of each column, by rows (algorithm 3.4.1).

    Gives both factors in one matrix, the order of the rows, and the sign of that permutation.
    """
    n = a.shape[0]
    work = a.copy()
    order = np.arange(n)
    sign = 1
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(work[i, k]) > abs(work[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(n):
                work[k, j], work[pivot, j] = work[pivot, j], work[k, j]
            order[k], order[pivot] = order[pivot], order[k]
            sign = -sign
        for i in range(k + 1, n):
            work[i, k] /= work[k, k]
            for j in range(k + 1, n):
                work[i, j] -= work[i, k] * work[k, j]
    return work, order, sign


def cholesky(a):
    """``a = L L^T``, column by column (algorithm 4.2.1): products of rows with those above.

    Gives L and the logarithm of the determinant.
    """
    n = a.shape[0]
    lower = np.zeros_like(a)
    for j in range(n):
        column = a[j:, j] - lower[j:, :j] @ lower[j, :j]
        lower[j:, j] = column / np.sqrt(column[0])
    logarithm = 2.0 * np.sum(np.log(np.diag(lower)))
    return lower, logarithm


def cholesky_loops(a):
    """``a = L L^T`` in ``a`` itself, with zeros above; gives whether ``a`` is positive definite."""
    n = a.shape[0]
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        if a[j, j] <= 0.0:
            return False
        a[j, j] = math.sqrt(a[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
            a[j, i] = 0.0
    return True


def gram_schmidt(a):
    """``a = Q R`` by Gram's and Schmidt's process in its modified form (algorithm 5.2.6).

    Each column, once it has length one, is taken out of all that follow.
    """
    q = a.copy()
    columns = a.shape[1]
    r = np.zeros((columns, columns))
    for k in range(columns):
        r[k, k] = np.sqrt(np.sum(q[:, k] ** 2))
        q[:, k] /= r[k, k]
        r[k, k + 1 :] = q[:, k] @ q[:, k + 1 :]
        q[:, k + 1 :] -= np.outer(q[:, k], r[k, k + 1 :])
    return q, r


def gram_schmidt_loops(a, r):
    """The same element by element: Q takes the place of ``a``, R that of ``r``."""
    rows, columns = a.shape
    for k in range(columns):
        total = 0.0
        for i in range(rows):
            total += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(total)
        for i in range(rows):
            a[i, k] /= r[k, k]
        for j in range(k + 1, columns):
            total = 0.0
            for i in range(rows):
                total += a[i, k] * a[i, j]
            r[k, j] = total
            for i in range(rows):
                a[i, j] -= a[i, k] * total


def _dominant(rng, n):
    return rng.normal(size=(n, n)) + 2.0 * n * np.diag(rng.choice([-1.0, 1.0], size=n))


def _definite(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T + n * np.eye(n)


INPUTS = {
    lu: (lambda rng, n: (_dominant(rng, n),), (8, 5, 60, 400)),
    lu_loops: (lambda rng, n: (rng.normal(size=(n, n)),), (8, 5, 50, 150)),
    cholesky: (lambda rng, n: (_definite(rng, n),), (8, 5, 60, 400)),
    cholesky_loops: (lambda rng, n: (_definite(rng, n),), (8, 5, 50, 200)),
    gram_schmidt: (lambda rng, n: (rng.normal(size=(n + 3, n)),), (8, 5, 60, 300)),
    gram_schmidt_loops: (lambda rng, n: (rng.normal(size=(n + 3, n)), np.zeros((n, n))), (8, 5, 50, 150)),
}
