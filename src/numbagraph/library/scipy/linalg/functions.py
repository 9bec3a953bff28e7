"""`scipy.linalg`: NumPy's functions with SciPy's arguments, and matrices made of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.library.scipy.arguments import Function, array, inexact, known, refuse, require
from numbagraph.library.scipy.linalg import (
    banded_solvers,
    factorisations,
    generalised_eigenvalues,
    matrix_functions,
    riccati,
)
from numbagraph.tracing.tracer import apply

LinAlgError = np.linalg.LinAlgError


def matrix(a: Any, name: str = "a") -> Any:
    """Return a matrix, or a stack of them, of inexact numbers. Raise for arrays of fewer than two dimensions."""
    found = inexact(a)
    if found.ndim < 2:
        raise ValueError(f"Expected a matrix or a batch of them: {name} has {found.ndim} dimensions")
    return found


def square(a: Any, name: str = "a") -> Any:
    found = matrix(a, name)
    rows, columns = known(found, "a square matrix")[-2:]
    if rows != columns:
        raise ValueError(f"Expected square matrix: {name} has {rows} rows and {columns} columns")
    return found


def adjoint(a: Any) -> Any:
    return np.conj(np.swapaxes(a, -1, -2))


POSITIVE = ("pos", "positive definite")


def triangle(a: Any, lower: bool) -> Any:
    return np.tril(a) if lower else np.triu(a)


# ---- factorisations and solutions ----


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cholesky`."""
    del overwrite_a, check_finite
    return np.linalg.cholesky(square(a), upper=not lower)


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cho_factor`: the other triangle is kept."""
    del overwrite_a, check_finite
    value = square(a)
    rest = value - triangle(value, lower)
    return np.linalg.cholesky(value, upper=not lower) + rest, lower


def inv(
    a: Any, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: str | None = None, lower: bool = False
) -> Any:
    """`scipy.linalg.inv`."""
    del overwrite_a, check_finite
    value = square(a)
    if assume_a in POSITIVE:
        return solve(value, np.eye(known(value, "inv")[-1], dtype=value.dtype), lower, assume_a=assume_a)
    return np.linalg.inv(assumed(value, assume_a, lower))


def assumed(a: Any, assume_a: str | None, lower: bool) -> Any:
    """Return the matrix of the assumed structure, of which SciPy reads one part alone."""
    if assume_a in (None, "gen", "general"):
        return a
    if assume_a == "diagonal":
        return np.triu(np.tril(a))
    if assume_a in ("upper triangular", "lower triangular"):
        return triangle(a, assume_a.startswith("lower"))
    if assume_a == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    part, rest = triangle(a, lower), np.tril(a, -1) if lower else np.triu(a, 1)
    if assume_a in ("sym", "symmetric"):
        return part + np.swapaxes(rest, -1, -2)
    if assume_a in ("her", "hermitian", *POSITIVE):
        return np.triu(np.tril(np.real(a))) + rest + adjoint(rest)
    return refuse(f"assume_a={assume_a!r}", "leave assume_a out")


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Any:
    """`scipy.linalg.solve`: of a positive definite matrix by Cholesky's factors."""
    del overwrite_a, overwrite_b, check_finite
    value, right = square(a), inexact(b)
    vector = right.ndim == 1
    columns = right[..., None] if vector else right
    whole = assumed(value, assume_a, lower)
    if assume_a in POSITIVE:
        factor = np.linalg.cholesky(whole)
        options = {"lower": True}
        half = apply(registry["solve_triangular"], factor, columns, **options)
        found = apply(registry["solve_triangular"], np.swapaxes(np.conj(factor), -1, -2), half, lower=False)
    else:
        found = np.linalg.solve(np.swapaxes(whole, -1, -2) if transposed else whole, columns)
    return found[..., 0] if vector else found


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.det`: float64 of single precision, too."""
    del overwrite_a, check_finite
    value = square(a)
    return np.linalg.det(value.astype(np.complex128 if value.dtype.kind == "c" else np.float64))


def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.norm`."""
    del check_finite
    value = array(a)
    return np.linalg.norm(value if value.dtype.kind in "fc" else value.astype(np.float64), ord, axis, keepdims)


def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    """`scipy.linalg.eigh`; of two matrices by Cholesky's factor of the second."""
    del overwrite_a, overwrite_b, check_finite, driver
    if subset_by_value is not None:
        refuse("scipy.linalg.eigh with subset_by_value=", "select from all eigenvalues")
    if type != 1:
        refuse("scipy.linalg.eigh with type=", "multiply by b, or solve with it")
    value, side = square(a), "L" if lower else "U"
    first, last = (0, known(value, "eigh")[-1] - 1) if subset_by_index is None else subset_by_index
    part = (..., slice(int(first), int(last) + 1))
    if b is None:
        if eigvals_only:
            return np.linalg.eigvalsh(value, side)[part]
        values, vectors = np.linalg.eigh(value, side)
        return values[part], vectors[part]
    factor = np.linalg.cholesky(assumed(square(b, "b"), "her", lower))
    triangular = registry["solve_triangular"]
    half = apply(triangular, factor, assumed(value, "her", lower), lower=True)
    values, inner = np.linalg.eigh(apply(triangular, factor, adjoint(half), lower=True))
    if eigvals_only:
        return values[part]
    return values[part], apply(triangular, adjoint(factor), inner, lower=False)[part]


def eigvalsh(a: Any, b: Any = None, **options: Any) -> Any:
    """`scipy.linalg.eigvalsh`."""
    return eigh(a, b, eigvals_only=True, **options)


def eig(
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """`scipy.linalg.eig`."""
    del overwrite_a, overwrite_b, check_finite
    if left or homogeneous_eigvals:
        refuse(
            "scipy.linalg.eig with left or homogeneous_eigvals", "numpy.linalg.eig of the adjoint matrix has the left"
        )
    values, vectors = np.linalg.eig(square(a)) if b is None else generalised_eigenvalues.eig(square(a), square(b, "b"))
    return (values, vectors) if right else values


def eigvals(
    a: Any, b: Any = None, overwrite_a: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False
) -> Any:
    """`scipy.linalg.eigvals`."""
    del overwrite_a, check_finite
    return eig(a, b, right=False, homogeneous_eigvals=homogeneous_eigvals)


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """`scipy.linalg.svd`."""
    del overwrite_a, check_finite, lapack_driver
    found = np.linalg.svd(matrix(a), full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.svdvals`."""
    del overwrite_a, check_finite
    return np.linalg.svdvals(matrix(a))


def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """`scipy.linalg.qr`."""
    del overwrite_a, lwork, check_finite
    if pivoting or mode == "raw":
        refuse("scipy.linalg.qr with pivoting or mode='raw'", "np.linalg.svd tells the rank")
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    value = matrix(a)
    if mode == "r":
        return (np.linalg.qr(value, "complete").R,)
    return tuple(np.linalg.qr(value, "complete" if mode == "full" else "reduced"))


def precision(value: Any) -> Any:
    return np.finfo(value.dtype).eps


def lstsq(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: str | None = None,
) -> Any:
    """`scipy.linalg.lstsq`."""
    del overwrite_a, overwrite_b, check_finite
    if lapack_driver == "gelsy":
        refuse("scipy.linalg.lstsq with lapack_driver='gelsy'", "leave lapack_driver out")
    value, right = matrix(a), inexact(b)
    found, residuals, rank, s = np.linalg.lstsq(value, right, precision(value) if cond is None else cond)
    return found, residuals.reshape(()) if right.ndim == 1 else residuals, rank, s


def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.pinv`."""
    del check_finite
    value = matrix(a)
    rows, columns = known(value, "pinv")[-2:]
    ratio = max(rows, columns) * precision(value) if rtol is None and atol is None else 0.0 if rtol is None else rtol
    if atol is None and not return_rank:
        return np.linalg.pinv(value, rtol=ratio)
    s = np.linalg.svdvals(value)
    if atol is not None:
        ratio = ratio + atol / s[..., 0]
    found = np.linalg.pinv(value, rtol=ratio)
    return (found, np.sum(s > ratio * s[..., :1], axis=-1)) if return_rank else found


def cut(s: Any, rcond: Any, shape: tuple[int, ...]) -> Any:
    """Return which singular values count as not zero."""
    ratio = precision(s) * max(shape) if rcond is None else rcond
    return s > np.max(s, initial=0.0) * ratio


def null_space(
    A: Any, rcond: Any = None, *, overwrite_a: bool = False, check_finite: bool = True, lapack_driver: str = "gesdd"
) -> Any:
    """`scipy.linalg.null_space`: the right singular vectors of values that are zero, to rounding."""
    del overwrite_a, check_finite, lapack_driver
    value = matrix(A)
    rows, columns = known(value, "null_space")
    _, s, vh = np.linalg.svd(value)
    inside = cut(s, rcond, (rows, columns))
    outside = np.concatenate([~inside, np.ones(columns - min(rows, columns), bool)])
    return np.conj(vh[outside].T)


def orth(A: Any, rcond: Any = None) -> Any:
    """`scipy.linalg.orth`: the left singular vectors of values that are not zero."""
    value = matrix(A)
    shape = known(value, "orth")
    u, s, _ = np.linalg.svd(value, full_matrices=False)
    return u.T[cut(s, rcond, shape)].T


def polar(a: Any, side: str = "right") -> Any:
    """`scipy.linalg.polar`."""
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    w, s, vh = np.linalg.svd(matrix(a), full_matrices=False)
    u = w @ vh
    p = (adjoint(vh) * s[..., None, :]) @ vh if side == "right" else (w * s[..., None, :]) @ adjoint(w)
    return u, p


def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> Any:
    """`scipy.linalg.orthogonal_procrustes`."""
    del check_finite
    one, other = inexact(A), inexact(B)
    if one.ndim != 2:
        raise ValueError(f"expected ndim to be 2, but observed {one.ndim}")
    u, w, vt = np.linalg.svd((other.T @ np.conj(one)).T, full_matrices=False)
    return u @ vt, np.sum(w)


# ---- matrices made of vectors ----


def line(c: Any) -> Any:
    return np.ravel(array(c))


def row(c: Any) -> Any:
    found = array(c)
    return found if found.ndim else found[None]


def circulant(c: Any) -> Any:
    """`scipy.linalg.circulant`."""
    vector = row(c)
    count = known(vector, "circulant")[-1]
    if not count:
        return np.zeros((*known(vector, "circulant"), 0), vector.dtype)
    backwards = np.flip(vector, -1)
    twice = np.concatenate([backwards, backwards[..., :-1]], -1)
    return np.flip(np.lib.stride_tricks.sliding_window_view(twice, count, -1), -2)


def hankel(c: Any, r: Any = None) -> Any:
    """`scipy.linalg.hankel`."""
    first = line(c)
    last = np.zeros_like(first) if r is None else line(r)
    rows, columns = known(first, "hankel")[0], known(last, "hankel")[0]
    if not rows or not columns:
        return np.zeros((rows, columns), np.result_type(first.dtype, last.dtype))
    return np.lib.stride_tricks.sliding_window_view(np.concatenate([first, last[1:]]), columns)


def companion(a: Any) -> Any:
    """`scipy.linalg.companion`."""
    vector = row(a)
    count = known(vector, "companion")[-1]
    if count < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    require(np.all(vector[..., 0] != 0), "The first coefficient in `a` must not be zero.")
    first = -vector[..., 1:] / (1.0 * vector[..., :1])
    below = np.broadcast_to(np.eye(count - 2, count - 1, dtype=first.dtype), (*vector.shape[:-1], count - 2, count - 1))
    return np.concatenate([first[..., None, :], below], -2)


def leslie(f: Any, s: Any) -> Any:
    """`scipy.linalg.leslie`."""
    top, survival = row(f), row(s)
    count = known(top, "leslie")[-1]
    if count != known(survival, "leslie")[-1] + 1:
        raise ValueError(
            "Incorrect lengths for f and s. The length of s along the last axis must be one less than the length of f."
        )
    if count < 2:
        raise ValueError("The length of s must be at least 1.")
    dtype = (np.zeros((), top.dtype) + np.zeros((), survival.dtype)).dtype
    below = survival[..., None, :] * np.eye(count - 1, dtype=survival.dtype)
    below = np.concatenate([below, np.zeros_like(below[..., :1])], -1)
    return np.concatenate([top[..., None, :].astype(dtype), below.astype(dtype)], -2)


def fiedler(a: Any) -> Any:
    """`scipy.linalg.fiedler`."""
    vector = row(a)
    return np.abs(vector[..., :, None] - vector[..., None, :])


def khatri_rao(a: Any, b: Any) -> Any:
    """`scipy.linalg.khatri_rao`."""
    left, right = array(a), array(b)
    if left.ndim < 2 or right.ndim < 2:
        raise ValueError("The both arrays should be at least 2-dimensional.")
    if known(left, "khatri_rao")[-1] != known(right, "khatri_rao")[-1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    found = left[..., :, None, :] * right[..., None, :, :]
    return found.reshape((*found.shape[:-3], found.shape[-3] * found.shape[-2], found.shape[-1]))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """`scipy.linalg.convolution_matrix`."""
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    vector = array(a)
    count = known(vector, "convolution_matrix")[-1]
    if not count:
        raise ValueError("len(a) must be at least 1.")
    begin, rows = {
        "full": (0, count + n - 1),
        "valid": (min(count, n) - 1, max(count, n) - min(count, n) + 1),
        "same": ((min(count, n) - 1) // 2, max(count, n)),
    }[mode]
    places = np.arange(rows)[:, None] + begin - np.arange(n)
    found = vector[..., np.clip(places, 0, count - 1)]
    return np.where((places >= 0) & (places < count), found, np.zeros((), found.dtype))


def of_one(name: str, own: Function, ndim: int) -> Function:
    """Return a function that takes one matrix, or one vector, where SciPy's takes stacks, too."""

    def call(*args: Any, **kwargs: Any) -> Any:
        first = [*args, *kwargs.values()][0]
        if any(array(each).ndim > ndim for each in (first if isinstance(first, tuple) else (first,))):
            refuse(f"scipy.linalg.{name} of stacks of matrices", "numbagraph.vmap maps it over them")
        return own(*args, **kwargs)

    return call


FUNCTIONS: dict[str, Function] = {
    each.__name__: each
    for each in (
        cholesky, cho_factor, inv, solve, det, norm, eigh, eigvalsh, eig, eigvals, svd, svdvals, qr, lstsq, pinv,
        null_space, orth, polar, orthogonal_procrustes, circulant, hankel, companion, leslie, fiedler, khatri_rao,
        convolution_matrix,
    )
} | matrix_functions.FUNCTIONS | banded_solvers.FUNCTIONS | factorisations.FUNCTIONS | riccati.FUNCTIONS  # fmt: skip

ALONE = {
    **dict.fromkeys(("lstsq", "null_space", "orth", "orthogonal_procrustes"), 2),
    **dict.fromkeys(("solve_toeplitz", "matmul_toeplitz", "eigh_tridiagonal", "eigvalsh_tridiagonal"), 1),
}
FUNCTIONS |= {name: of_one(name, FUNCTIONS[name], ndim) for name, ndim in ALONE.items()}

OBJECTS: dict[str, Any] = {}
