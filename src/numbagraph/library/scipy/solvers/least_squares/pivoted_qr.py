"""MINPACK's QR factors of tall matrices, with pivoting of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.loops import fori_loop
from numbagraph.library.scipy.arguments import lifted

EPS = 2.220446049250313e-16


def norm(x: Any) -> Any:
    """The Euclidean norm of a vector."""
    return np.sqrt(np.sum(x * x))


def scaled_norm(x: Any) -> Any:
    """The Euclidean norm of a vector, where squares leave float64, too."""
    largest = np.max(np.abs(x))
    is_usual = ((largest > 1e-150) & (largest < 1e150)) | (largest == 0.0) | np.logical_not(np.isfinite(largest))
    unit = np.where(is_usual, 1.0, np.fmax(largest, 1e-300))
    return unit * np.sqrt(np.sum((x / unit) ** 2))


def pivoted_qr(columns: Any, target: Any) -> tuple[Any, Any, Any, Any]:
    """Factor a matrix whose columns are the rows of ``columns``.

    Returns its upper triangular factor, the columns' order, the start of the turned ``target``, and the norms of the
    columns as they were given.
    """
    n = columns.shape[0]
    work, order = triangulated(np.concatenate((columns, target[None])), n, True)
    return upper_part(work, n), order, work[n, :n], np.sqrt(np.sum(columns * columns, axis=1))


def upper_part(work: Any, n: int) -> Any:
    each = np.arange(n)
    return np.where(each[:, None] <= each, work[:n, :n].T, 0.0)


def triangulated(work: Any, n: int, pivots: bool) -> tuple[Any, Any]:
    """Turn vectors, the rows of ``work``, by reflections that make the first ``n`` of them columns of a triangle.

    Returns the vectors, and the order of the first ones.
    """
    rows, each = np.arange(work.shape[1]), np.arange(work.shape[0])

    def step(j: Any, state: Any) -> Any:
        work, order = state
        if pivots:
            left = np.sum(np.where(rows >= j, work, 0.0) ** 2, axis=1)
            largest = np.argmax(np.where((each >= j) & (each < n), left, -1.0))
            swap = np.where(each == j, largest, np.where(each == largest, j, each))
            work, order = work[swap], order[swap[:n]]
        tail = np.where(rows >= j, work[j], 0.0)
        length = np.where(work[j, j] < 0.0, -1.0, 1.0) * norm(tail)
        u = tail / np.where(length == 0.0, 1.0, length) + np.where(rows == j, 1.0, 0.0)
        weights = np.sum(work * u, axis=1) / u[j]
        work = work - np.where((each > j) & (length != 0.0), weights, 0.0)[:, None] * u
        return np.where((each == j)[:, None] & (rows == j), -length, work), order

    return fori_loop(0, n, step, (work, lifted(np.arange(n))))
