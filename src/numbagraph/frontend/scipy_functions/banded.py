"""Banded and tridiagonal matrices of `scipy.linalg`, by the functions of dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.frontend.scipy_functions.common import array, inexact, known, refuse

Pair = tuple[Any, Any]


def dense(bands: Any, lower: bool, symmetric: bool = True) -> Any:
    """The matrix whose diagonals are rows, the main one first (``lower``) or last."""
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
        mirrored = np.conj(part.T) if symmetric and number else 0
        total = total + part + mirrored
    return total


def of_diagonals(d: Any, e: Any) -> Any:
    main, other = array(d), array(e)
    if main.ndim != 1 or other.ndim != 1:
        raise ValueError("expected 1-D arrays")
    if "c" in (main.dtype.kind, other.dtype.kind):
        raise TypeError("Only real arrays currently supported")
    if known(main, "eigh_tridiagonal")[0] != known(other, "eigh_tridiagonal")[0] + 1:
        raise ValueError("d must have one more element than e")
    main, other = main.astype(np.float64), other.astype(np.float64)
    return np.diag(main) + np.diag(other, 1) + np.diag(other, -1)


def chosen(select: Any, select_range: Any) -> slice:
    if select in ("a", "all", 0):
        return slice(None)
    if select in ("i", "index", 2):
        return slice(int(select_range[0]), int(select_range[1]) + 1)
    return refuse("select='v'", "how many eigenvalues are in a range depends on the elements: select='a'")


def spectrum(matrix: Any, vectors: bool, select: Any, select_range: Any) -> Any:
    part = chosen(select, select_range)
    if not vectors:
        return np.linalg.eigvalsh(matrix)[part]
    values, columns = np.linalg.eigh(matrix)
    return values[part], columns[:, part]


def eigh_tridiagonal(
    d: Any, e: Any, eigvals_only: bool = False, select: Any = "a", select_range: Any = None, *_: Any, **__: Any
) -> Any:
    """`scipy.linalg.eigh_tridiagonal`. Vectors may have another sign."""
    return spectrum(of_diagonals(d, e), not eigvals_only, select, select_range)


def eigvalsh_tridiagonal(d: Any, e: Any, select: Any = "a", select_range: Any = None, *_: Any, **__: Any) -> Any:
    """`scipy.linalg.eigvalsh_tridiagonal`."""
    return spectrum(of_diagonals(d, e), False, select, select_range)


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
    """`scipy.linalg.eig_banded`. Vectors may have another sign."""
    del overwrite_a_band
    return spectrum(dense(a_band, lower), not eigvals_only, select, select_range)


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
    return spectrum(dense(a_band, lower), False, select, select_range)


def cholesky_banded(ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cholesky_banded`: the factor has the bands of the matrix."""
    del overwrite_ab, check_finite
    given = inexact(ab)
    count, length = known(given, "cholesky_banded")
    factor = np.linalg.cholesky(dense(ab, lower), upper=not lower)
    rows = []
    for number in range(count) if lower else range(count - 1, -1, -1):
        line = np.diagonal(factor, -number if lower else number)
        own = given[number if lower else count - 1 - number]  # what lies beyond the matrix stays what it was
        rows.append(np.concatenate([line, own[max(length - number, 0) :]] if lower else [own[:number], line]))
    return np.stack(rows)


def cho_solve_banded(cb_and_lower: Pair, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cho_solve_banded`."""
    del overwrite_b, check_finite
    bands, lower = cb_and_lower
    factor, right = dense(bands, lower, symmetric=False), inexact(b)
    first, second = (factor, np.conj(factor.T)) if lower else (np.conj(factor.T), factor)
    return np.linalg.solve(second, np.linalg.solve(first, right))


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> Pair:
    """`scipy.linalg.qr_multiply`. Columns of Q may have another sign."""
    del overwrite_a, overwrite_c
    if mode not in ("left", "right"):
        raise ValueError(f"Mode argument can only be 'left' or 'right' but not {mode!r}")
    if pivoting:
        refuse(
            "scipy.linalg.qr_multiply with pivoting", "scipy.linalg.qr(a, pivoting=True) by numbagraph.pure_callback"
        )
    factor, upper = np.linalg.qr(inexact(a))
    factor = np.conj(factor) if conjugate else factor
    other = inexact(c)
    return (factor @ other if mode == "left" else other @ factor), upper


FUNCTIONS = {
    each.__name__: each
    for each in (
        eigh_tridiagonal, eigvalsh_tridiagonal, eig_banded, eigvals_banded, cholesky_banded, cho_solve_banded,
        qr_multiply,
    )
}  # fmt: skip
