"""Eigenvalues of two matrices, ``a v = w b v``, by calls of SciPy from compiled code: for a singular ``b`` some are
infinite."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import called, known


def eigenvalues(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = load("scipy.linalg:eig")(a, b)
    return values, vectors.astype(values.dtype)


def eig(a: Any, b: Any) -> tuple[Any, Any]:
    """`scipy.linalg.eig` of square matrices: values and vectors, which are complex."""
    if known(a, "eig")[-1] != known(b, "eig")[-1]:
        raise ValueError("a and b must have the same shape")
    matrices = np.broadcast_arrays(a, b)
    like = matrices[0].astype(np.result_type(*matrices, np.complex64))
    return called(eigenvalues, (like[..., 0], like), *matrices, vjp=cotangents)


def cotangents(g: Any, found: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the cotangents of both matrices, from ``dw = diag(p)`` and ``dv = v @ (p / (w - w'))``, where
    ``p = inv(b v) (da - w db) v``; along a vector nothing changes, as its length is 1 and its phase is free."""
    (by_values, by_vectors), (values, vectors) = g, found
    across = by_vectors - np.conj(vectors) * np.sum(vectors * by_vectors, axis=-2, keepdims=True)
    unit = np.eye(known(a, "eig")[-1])
    gaps = values[..., None, :] - values[..., :, None] + unit
    back = np.swapaxes(vectors, -1, -2)
    inner = (1.0 - unit) * (back @ across) / gaps + unit * by_values[..., None, :]
    left = np.swapaxes(np.linalg.inv(b @ vectors), -1, -2)
    by_a, by_b = left @ inner @ back, -left @ (inner * values[..., None, :]) @ back
    return tuple(each if like.dtype.kind == "c" else each.real for each, like in ((by_a, a), (by_b, b)))  # type: ignore[return-value]
