"""QR factors of a matrix to which a product of two vectors is added, by MINPACK's plane rotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.loops import fori_loop


def rotation(kept: Any, removed: Any) -> tuple[Any, Any]:
    """The cosine and sine that turn a pair to one number; that of the larger one is positive."""
    length = np.hypot(kept, removed)
    larger = np.where(np.abs(kept) < np.abs(removed), removed, kept)
    divisor = np.where(removed == 0.0, 1.0, np.copysign(length, larger))
    return np.where(removed == 0.0, 1.0, kept / divisor), np.where(removed == 0.0, 0.0, removed / divisor)


def updated(upper: Any, others: Any, v: Any, u: Any) -> tuple[Any, Any]:
    """Return the triangle of ``upper + v u^T``, and the rows of ``others`` turned as those of the triangle are."""
    n = upper.shape[0]
    work = np.concatenate((upper, others), axis=1)
    places = np.arange(n)

    def gathered(count: Any, state: Any) -> Any:
        work, v = state
        j = n - 2 - count
        cosine, sine = rotation(v[n - 1], v[j])
        v = np.where(places == n - 1, sine * v[j] + cosine * v[n - 1], v)
        return turned(work, j, cosine, -sine), v

    def restored(j: Any, work: Any) -> Any:
        cosine, sine = rotation(work[j, j], work[n - 1, j])
        work = turned(work, j, cosine, sine)
        is_removed = (places == n - 1)[:, None] & (np.arange(work.shape[1]) == j)
        return np.where(is_removed, 0.0, work)

    def turned(work: Any, j: Any, cosine: Any, sine: Any) -> Any:
        row, last = work[j], work[n - 1]
        is_row, is_last = (places == j)[:, None], (places == n - 1)[:, None]
        return np.where(is_row, cosine * row + sine * last, np.where(is_last, cosine * last - sine * row, work))

    work, v = fori_loop(0, n - 1, gathered, (work, v))
    added = np.concatenate((v[n - 1] * u, np.zeros(others.shape[1])))
    work = work + np.where((places == n - 1)[:, None], added, 0.0)
    work = fori_loop(0, n - 1, restored, work)
    return work[:, :n], work[:, n:]
