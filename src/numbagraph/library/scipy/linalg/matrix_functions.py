"""Functions of matrices that SciPy computes: square roots, logarithms, Schur's form, and systems of Toeplitz matrices.

SciPy's own routines are called from compiled code, and derivatives are compiled. Trigonometric functions follow from
`scipy.linalg.expm`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.op import load, registry
from numbagraph.library.scipy.arguments import Function, bound, called, inexact, known, refuse
from numbagraph.tracing.tracer import apply


def square(a: Any) -> Any:
    value = inexact(a)
    shape = known(value, "a function of a matrix")
    if value.ndim < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"The input must be a square matrix, not {shape}")
    return value


def transposed(a: Any) -> Any:
    """Transpose, without conjugation: cotangents of complex numbers are multiplied by derivatives, not by their
    conjugates."""
    return np.swapaxes(a, -1, -2)


def of_kind(path: str) -> Function:
    """Return a function of a matrix whose result has the matrix's dtype; a complex result of a real matrix is an
    error."""
    plain = bound(path)

    def call(a: np.ndarray) -> np.ndarray:
        found = plain(a)
        if a.dtype.kind != "c" and found.dtype.kind == "c":
            raise ValueError(f"{plain.__name__} of this real matrix is complex: pass it as a.astype(complex)")
        return np.asarray(found, a.dtype)

    call.__name__ = plain.__name__
    return call


SQUARE_ROOT, LOGARITHM = of_kind("scipy.linalg:sqrtm"), of_kind("scipy.linalg:logm")


def sqrtm(A: Any, disp: Any = True, blocksize: Any = 64) -> Any:
    """`scipy.linalg.sqrtm`, of the dtype of the matrix. Its derivative X solves the equation of Sylvester
    ``root @ X + X @ root = dA``. [Higham, Functions of Matrices, 2008, problem 6.1]"""
    del disp, blocksize
    value = square(A)

    def vjp(g: Any, root: Any, a: Any) -> tuple[Any]:
        del a
        other = transposed(root)
        return (apply(registry["solve_sylvester"], other, other, g),)

    return called(SQUARE_ROOT, value, value, vjp=vjp)


def logm(A: Any, disp: Any = True) -> Any:
    """`scipy.linalg.logm`, of the dtype of the matrix. Its derivative is a block of the logarithm of a matrix of twice
    the length. [Higham, Functions of Matrices, 2008, theorem 3.6]"""
    del disp
    value = square(A)
    if value.ndim > 2:
        return np.stack([logm(each) for each in value])

    def vjp(g: Any, y: Any, a: Any) -> tuple[Any]:
        del y
        other = transposed(a)
        blocks = np.block([[other, g], [np.zeros_like(other), other]])
        count = other.shape[-1]
        return (logm(blocks)[:count, count:],)

    return called(LOGARITHM, value, value, vjp=vjp)


def schur(
    a: Any,
    output: str = "real",
    lwork: Any = None,
    overwrite_a: bool = False,
    sort: Any = None,
    check_finite: bool = True,
) -> Any:
    """`scipy.linalg.schur`."""
    del lwork, overwrite_a, check_finite
    if sort is not None:
        refuse("scipy.linalg.schur with sort=", "sort the eigenvalues of np.linalg.eig")
    if output not in ("real", "complex", "r", "c"):
        raise ValueError("argument must be 'real', or 'complex'")
    value = square(a)
    if output[0] == "c":
        value = value.astype(np.result_type(value.dtype, np.complex64))
    return apply(registry["schur_form"], value)


def hessenberg(a: Any, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.hessenberg`."""
    del overwrite_a, check_finite
    return apply(registry["hessenberg_pair" if calc_q else "hessenberg_form"], square(a))


def vectors(c_or_cr: Any) -> tuple[Any, Any]:
    """The first column and the first row of a Toeplitz matrix."""
    if isinstance(c_or_cr, tuple):
        return tuple(np.ravel(inexact(each)) for each in c_or_cr)  # type: ignore[return-value]
    column = np.ravel(inexact(c_or_cr))
    return column, np.conj(column)


def levinson(column: np.ndarray, row: np.ndarray, right: np.ndarray) -> np.ndarray:
    return load("scipy.linalg:solve_toeplitz")((column, row), right)


def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """`scipy.linalg.solve_toeplitz`, by Levinson's recursion."""
    del check_finite
    column, row = vectors(c_or_cr)
    right = inexact(b)
    if right.ndim > 2:
        refuse("scipy.linalg.solve_toeplitz of stacks of matrices", "numbagraph.vmap maps it over them")
    count = known(column, "solve_toeplitz")[0]
    if known(row, "solve_toeplitz") != (count,) or known(right, "solve_toeplitz")[:1] != (count,):
        raise ValueError("Incompatible dimensions.")
    wide = np.result_type(column.dtype, row.dtype, right.dtype, np.float64)
    if wide.kind == "f":
        columns = right if right.ndim > 1 else right[:, None]
        found = apply(registry["solve_toeplitz"], *(each.astype(wide) for each in (column, row, columns)))
        return found if right.ndim > 1 else found[:, 0]
    return solved_toeplitz(column.astype(wide), row.astype(wide), right.astype(wide))


def solved_toeplitz(column: Any, row: Any, right: Any) -> Any:
    """Solve a Toeplitz system of complex numbers. The adjoint of the solution solves the transposed system, and an
    element of the first column or row stands on a diagonal of the matrix."""

    def vjp(g: Any, y: Any, column: Any, row: Any, right: Any) -> tuple[Any, ...]:
        del right
        first = np.concatenate([column[:1], row[1:]])
        back = solved_toeplitz(first, column, g)
        count = known(y, "solve_toeplitz")[0]
        places = np.arange(count)
        pairs = np.reshape(-back, (count, -1)) @ transposed(np.reshape(y, (count, -1)))
        below = [np.sum(np.diagonal(pairs, -k)) for k in places.tolist()]
        above = [np.sum(np.diagonal(pairs, k)) for k in places.tolist()]
        return np.stack(below), np.stack([0.0 * above[0], *above[1:]]), back

    return called(levinson, right, column, row, right, vjp=vjp)


def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    """`scipy.linalg.matmul_toeplitz`, by Fourier transforms of a circulant matrix."""
    del check_finite, workers
    column, row = vectors(c_or_cr)
    right = inexact(x)
    rows, columns = known(column, "matmul_toeplitz")[0], known(row, "matmul_toeplitz")[0]
    if known(right, "matmul_toeplitz")[0] != columns:
        raise ValueError("Incompatible dimensions.")
    is_complex = "c" in (column.dtype.kind, row.dtype.kind, right.dtype.kind)
    dtype = np.complex128 if is_complex else np.float64  # of single precision, too
    column, row, matrix = (each.astype(dtype) for each in (column, row, right if right.ndim > 1 else right[:, None]))
    count = load("scipy.fft:next_fast_len")(rows + columns - 1, not is_complex)
    between = np.zeros(count - (rows + columns - 1), column.dtype)
    whole = np.concatenate([column, between, np.flip(row[1:])])
    if is_complex:
        found = np.fft.ifft(np.fft.fft(whole)[:, None] * np.fft.fft(matrix, count, axis=0), axis=0)[:rows]
    else:
        found = np.fft.irfft(np.fft.rfft(whole)[:, None] * np.fft.rfft(matrix, count, axis=0), count, axis=0)[:rows]
    return found if right.ndim > 1 else found[:, 0]


def solve_circulant(
    c: Any, b: Any, singular: str = "raise", tol: Any = None, caxis: int = -1, baxis: int = 0, outaxis: int = 0
) -> Any:
    """`scipy.linalg.solve_circulant`, by Fourier transforms."""
    if singular != "raise" or tol is not None:
        refuse("scipy.linalg.solve_circulant with singular= or tol=", "divide the Fourier transforms")
    column, right = np.moveaxis(inexact(c), caxis, -1), np.moveaxis(inexact(b), baxis, -1)
    found = np.fft.ifft(np.fft.fft(right) / np.fft.fft(column))
    real = "c" not in (column.dtype.kind, right.dtype.kind)
    return np.moveaxis(found.real if real else found, -1, outaxis)


def expm(a: Any) -> Any:
    return apply(registry["expm"], a)


def of_exponentials(name: str) -> Function:
    """Return a trigonometric or hyperbolic function of matrices. [Higham, Functions of Matrices, 2008, section 12.4]"""

    def call(A: Any) -> Any:
        value = square(A)
        if name in ("tanm", "tanhm"):
            below = FUNCTIONS["cosm" if name == "tanm" else "coshm"](value)
            return np.linalg.solve(below, FUNCTIONS["sinm" if name == "tanm" else "sinhm"](value))
        if name in ("coshm", "sinhm"):
            one, other = expm(value), expm(-value)
            return 0.5 * (one + other) if name == "coshm" else 0.5 * (one - other)
        if value.dtype.kind != "c":
            turned = expm(1j * value)
            return turned.real if name == "cosm" else turned.imag
        one, other = expm(1j * value), expm(-1j * value)
        return 0.5 * (one + other) if name == "cosm" else -0.5j * (one - other)

    call.__name__ = name
    return call


FUNCTIONS: dict[str, Function] = {
    **{
        each.__name__: each
        for each in (sqrtm, logm, schur, hessenberg, solve_toeplitz, matmul_toeplitz, solve_circulant)
    },
    **{name: of_exponentials(name) for name in ("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")},
}
