"""Systems of equations whose matrix is triangular (Golub and Van Loan, Matrix Computations, section 3.1)."""

import numpy as np


def forward_substitution(lower, b):
    """``x`` with ``lower @ x = b``, row by row: each unknown follows from a product with those before it.

    Gives the solution and the residual's largest magnitude.
    """
    n = lower.shape[0]
    x = np.zeros_like(b)
    for i in range(n):
        known = lower[i, :i] @ x[:i]
        x[i] = (b[i] - known) / lower[i, i]
    residual = lower @ x - b
    return x, np.max(np.abs(residual))


def forward_substitution_loops(lower, b):
    """``x`` with ``lower @ x = b`` for several right-hand sides, the columns of ``b``."""
    n, columns = b.shape
    x = np.empty((n, columns))
    for c in range(columns):
        for i in range(n):
            total = b[i, c]
            for j in range(i):
                total -= lower[i, j] * x[j, c]
            x[i, c] = total / lower[i, i]
    return x


def back_substitution(upper, b):
    """``x`` with ``upper @ x = b``, column by column: each unknown is taken out of the equations above it.

    Gives the solution, and whether each pivot exceeds the rest of its row.
    """
    n = upper.shape[0]
    x = b.copy()
    for i in range(n - 1, -1, -1):
        x[i] /= upper[i, i]
        x[:i] -= upper[:i, i] * x[i]
    pivots = np.abs(np.diag(upper))
    rest = np.abs(upper).sum(axis=1) - pivots
    return x, pivots > rest


def back_substitution_loops(upper, b):
    """``x`` with ``upper @ x = b``, in ``b`` itself, which is several right-hand sides; gives the determinant."""
    n = upper.shape[0]
    columns = b.shape[1]
    determinant = 1.0
    for i in range(n - 1, -1, -1):
        pivot = upper[i, i]
        determinant *= pivot
        for c in range(columns):
            total = b[i, c]
            for j in range(i + 1, n):
                total -= upper[i, j] * b[j, c]
            b[i, c] = total / pivot
    return determinant


def lower_inverse_loops(lower):
    """The inverse of a lower triangular matrix, which is one, by columns (Higham, Accuracy and Stability, 14.2)."""
    n = lower.shape[0]
    inverse = np.zeros((n, n), dtype=lower.dtype)
    for j in range(n):
        inverse[j, j] = 1.0 / lower[j, j]
        for i in range(j + 1, n):
            total = inverse[j, j] * 0.0
            for k in range(j, i):
                total += lower[i, k] * inverse[k, j]
            inverse[i, j] = -total / lower[i, i]
    return inverse


def _lower(rng, n):
    return np.tril(rng.uniform(-1.0, 1.0, size=(n, n))) / n + np.diag(rng.uniform(1.0, 2.0, size=n))


INPUTS = {
    forward_substitution: (lambda rng, n: (_lower(rng, n), rng.normal(size=n)), (8, 5, 100, 1000)),
    forward_substitution_loops: (lambda rng, n: (_lower(rng, n), rng.normal(size=(n, 4))), (8, 5, 100, 800)),
    back_substitution: (lambda rng, n: (_lower(rng, n).T.copy(), rng.normal(size=n)), (8, 5, 100, 1000)),
    back_substitution_loops: (lambda rng, n: (_lower(rng, n).T.copy(), rng.normal(size=(n, 4))), (8, 5, 100, 800)),
    lower_inverse_loops: (lambda rng, n: (_lower(rng, n).astype(np.float32),), (8, 5, 50, 200)),
}
