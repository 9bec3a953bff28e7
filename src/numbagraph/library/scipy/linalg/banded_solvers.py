"""Banded and tridiagonal matrices of `scipy.linalg`, by the functions of dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.library.scipy.arguments import array, inexact, known, refuse
from numbagraph.tracing.tracer import apply

Pair = tuple[Any, Any]


def dense(bands: Any, lower: bool) -> Any:
    """The Hermitian matrix whose diagonals are rows, the main one first (``lower``) or last."""
    values = inexact(bands)
    if values.ndim != 2:
        raise ValueError("expected a 2-D array of diagonals")
    count, length = known(values, "a banded matrix")
    total = np.zeros((length, length), values.dtype)
    for number in range(min(count, length)):
        if lower:
            part = np.diag(values[number, : length - number], -number)
        else:
            part = np.diag(values[count - 1 - number, number:], number)
        total = total + part + (np.conj(part.T) if number else 0)
    return total


def diagonals(d: Any, e: Any) -> Pair:
    main, other = array(d), array(e)
    if main.ndim != 1 or other.ndim != 1:
        raise ValueError("expected 1-D arrays")
    if "c" in (main.dtype.kind, other.dtype.kind):
        raise TypeError("Only real arrays currently supported")
    if known(main, "eigh_tridiagonal")[0] != known(other, "eigh_tridiagonal")[0] + 1:
        raise ValueError("d must have one more element than e")
    single = main.dtype == other.dtype == np.float32
    main, other = (each.astype(np.float32 if single else np.float64) for each in (main, other))
    return main, other


def of_diagonals(d: Any, e: Any) -> Any:
    main, other = diagonals(d, e)
    return np.diag(main) + np.diag(other, 1) + np.diag(other, -1)


def tridiagonal_values(d: Any, e: Any, select: Any, select_range: Any) -> Any:
    main, other = diagonals(d, e)
    part, length = chosen(select, select_range), known(main, "eigvalsh_tridiagonal")[0]
    first, last = part.start or 0, part.stop - 1 if part.stop is not None else None
    if last is not None and not 0 <= first <= last < length:
        raise ValueError(f"select_range must have 0 <= first <= last < {length}, not {tuple(select_range)}")
    padded = np.concatenate([other, np.zeros(1, other.dtype)])
    return apply(registry["tridiagonal_values"], main, padded, first, 0 if last is None else last - first + 1)


def chosen(select: Any, select_range: Any) -> slice:
    if select in ("a", "all", 0):
        return slice(None)
    if select in ("i", "index", 2):
        return slice(int(select_range[0]), int(select_range[1]) + 1)
    return refuse("select='v'", "how many eigenvalues are in a range depends on the elements: select='a'")


def banded_values(bands: Any, lower: bool, select: Any, select_range: Any) -> Any:
    """Return eigenvalues alone; those of two real diagonals without a dense matrix."""
    values = inexact(bands)
    shape = known(values, "a banded matrix")
    if values.dtype.kind == "c" or shape[0] != 2 or len(shape) != 2 or not shape[1]:
        return spectrum(dense(values, lower), False, select, select_range)
    main, other = (values[0], values[1, :-1]) if lower else (values[1], values[0, 1:])
    return tridiagonal_values(main, other, select, select_range)


def spectrum(matrix: Any, vectors: bool, select: Any, select_range: Any) -> Any:
    part = chosen(select, select_range)
    if not vectors:
        return np.linalg.eigvalsh(matrix)[part]
    values, columns = np.linalg.eigh(matrix)
    return values[part], columns[:, part]


def eigh_tridiagonal(
    d: Any, e: Any, eigvals_only: bool = False, select: Any = "a", select_range: Any = None, *_: Any, **__: Any
) -> Any:
    """`scipy.linalg.eigh_tridiagonal`. The vectors' signs may differ from SciPy's."""
    if eigvals_only:
        return tridiagonal_values(d, e, select, select_range)
    return spectrum(of_diagonals(d, e), True, select, select_range)


def eigvalsh_tridiagonal(d: Any, e: Any, select: Any = "a", select_range: Any = None, *_: Any, **__: Any) -> Any:
    """`scipy.linalg.eigvalsh_tridiagonal`."""
    return tridiagonal_values(d, e, select, select_range)


def eig_banded(
    a_band: Any,
    lower: bool = False,
    eigvals_only: bool = False,
    overwrite_a_band: bool = False,
    select: Any = "a",
    select_range: Any = None,
    *_: Any,
    **__: Any,
) -> Any:
    """`scipy.linalg.eig_banded`. The vectors' signs may differ from SciPy's."""
    del overwrite_a_band
    if eigvals_only:
        return banded_values(a_band, lower, select, select_range)
    return spectrum(dense(a_band, lower), True, select, select_range)


def eigvals_banded(
    a_band: Any,
    lower: bool = False,
    overwrite_a_band: bool = False,
    select: Any = "a",
    select_range: Any = None,
    *_: Any,
    **__: Any,
) -> Any:
    """`scipy.linalg.eigvals_banded`."""
    del overwrite_a_band
    return banded_values(a_band, lower, select, select_range)


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> Pair:
    """`scipy.linalg.qr_multiply`."""
    del overwrite_a, overwrite_c
    if mode not in ("left", "right"):
        raise ValueError(f"Mode argument can only be 'left' or 'right' but not {mode!r}")
    if pivoting:
        refuse(
            "scipy.linalg.qr_multiply with pivoting", "scipy.linalg.qr(a, pivoting=True) by numbagraph.pure_callback"
        )
    matrix, other = inexact(a), inexact(c)
    if np.result_type(matrix.dtype, other.dtype) == matrix.dtype and other.ndim:
        return product_and_factor(matrix, other, mode == "left", bool(conjugate))
    factor, upper = np.linalg.qr(matrix)
    factor = np.conj(factor) if conjugate else factor
    return (factor @ other if mode == "left" else other @ factor), upper


def product_and_factor(matrix: Any, other: Any, left: bool, conjugate: bool) -> Pair:
    """The product with Q, and R, in one dtype."""
    is_vector, axis = other.ndim == 1, -1 if left else -2
    other = np.expand_dims(other, axis) if is_vector else other
    found, upper = apply(registry["product_of_q" if left else "product_with_q"], matrix, other, conjugate)
    return np.squeeze(found, axis) if is_vector else found, upper


FUNCTIONS = {
    each.__name__: each
    for each in (
        eigh_tridiagonal, eigvalsh_tridiagonal, eig_banded, eigvals_banded, qr_multiply,
    )
}  # fmt: skip
