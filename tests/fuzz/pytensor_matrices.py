"""Applications of PyTensor's ops on matrices to drawn operands, and all applications together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor
import pytensor.tensor as pt
from pymc.distributions import multivariate
from pytensor.tensor import blas

from numbagraph.pymc_bridge.compatibility import blas as blas_names
from numbagraph.pymc_bridge.compatibility import math
from numbagraph.pymc_bridge.translations import linalg, scalar_ops
from tests.fuzz.pytensor_ops import INSTANCES, MAKERS, Draw, Make, elementwise_maker, label, makes


def makers() -> dict[str, Make]:
    """How each op is applied."""
    found = {label(each): elementwise_maker(each) for each in scalar_ops.TRANSLATED if each in INSTANCES}
    return found | MAKERS


@makes("Dot", "Dot22")
def dot(draw: Draw) -> Any:
    x = draw.any(least=1, kinds="fciu")
    last = draw.shape(x)[-1]
    if x.ndim == 2 and x.dtype.startswith("float") and draw.chance(0.4):
        return blas.Dot22()(x, draw.new((last, draw.integer(1, 4)), x.dtype))
    return pt.matmul(x, draw.new((last, draw.integer(1, 4))[: draw.integer(1, 3)], x.dtype))


@makes("BatchedDot")
def batched_dot(draw: Draw) -> Any:
    x = draw.any(ndim=3, kinds="f")
    count, _, length = draw.shape(x)
    return blas.BatchedDot()(x, draw.new((count, length, 2), x.dtype))


@makes("Gemv", "Gemm", "Ger")
def product_and_sum(draw: Draw) -> Any:
    a = draw.any(ndim=2, kinds="f")
    count, length = draw.shape(a)
    alpha, beta = (draw.new((), a.dtype) for _ in range(2))
    kind = draw.choose(["gemv", "gemm", "ger"])
    if kind == "gemv":
        return blas.gemv_no_inplace(draw.new((count,), a.dtype), alpha, a, draw.new((length,), a.dtype), beta)
    if kind == "gemm":
        return blas.gemm_no_inplace(draw.new((count, 2), a.dtype), alpha, a, draw.new((length, 2), a.dtype), beta)
    return blas_names.Ger(destructive=False)(a, alpha, draw.new((count,), a.dtype), draw.new((length,), a.dtype))


def square(draw: Draw) -> Any:
    """A matrix whose functions are well determined."""
    dtype = draw.choose(["float64", "float64", "float32", "complex128"])
    length = draw.integer(1, 4)
    batch = (2,) if draw.chance(0.2) else ()
    x = draw.new((*batch, length, length), dtype, name="n")
    return x + pt.cast(pt.eye(length) * 3, dtype) if draw.chance(0.7) else x


def hermitian(draw: Draw) -> Any:
    x = square(draw)
    other = x.mT.conj() if x.dtype.startswith("complex") else x.mT
    return x @ other + pt.cast(pt.eye(x.shape[-1]), x.dtype)


def right(draw: Draw, a: Any) -> dict[str, Any]:
    length = draw.shape(draw.take(a))[-1]
    columns = draw.integer(0, 3)
    return {"b": draw.new((length, columns) if columns else (length,), a.dtype), "b_ndim": 2 if columns else 1}


@makes("Cholesky", "CholeskySolve", "PosDefMatrix")
def cholesky(draw: Draw) -> Any:
    a = hermitian(draw)
    factor = pt.linalg.cholesky(a, lower=draw.chance(0.7))
    given = right(draw, a)
    if a.ndim > 2:
        return factor
    lower = pt.linalg.cholesky(a)
    return [factor, pt.linalg.cho_solve((lower, True), **given), multivariate.posdef(a)]


@makes("Solve", "SolveLUFactorTridiagonal")
def solve(draw: Draw) -> Any:
    kind = draw.choose(["gen", "sym", "her", "pos", "tridiagonal"])
    a = hermitian(draw) if kind in ("her", "pos") else square(draw)
    return pt.linalg.solve(a, assume_a=kind, lower=draw.chance(0.5), **right(draw, a))


@makes("SolveTriangular")
def solve_triangular(draw: Draw) -> Any:
    a = square(draw)
    options = {"lower": draw.chance(0.5), "trans": draw.choose([0, 1, 2]), "unit_diagonal": draw.chance(0.3)}
    return pt.linalg.solve_triangular(a, **options, **right(draw, a))


@makes("SolveSylvester", "SolveBilinearDiscreteLyapunov")
def equations(draw: Draw) -> Any:
    a = square(draw)
    if a.ndim > 2:
        return None
    if draw.chance(0.5):
        return pt.linalg.solve_sylvester(a, a + pt.cast(pt.eye(a.shape[-1]), a.dtype), a * 2)
    return pt.linalg.solve_discrete_lyapunov(a / 10, a @ a.T, method="bilinear")


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "Expm": lambda a: pt.linalg.expm(a / 4),
    "MatrixInverse": pt.linalg.inv,
    "MatrixPinv": pt.linalg.pinv,
    "Det": pt.linalg.det,
    "SLogDet": lambda a: list(pt.linalg.slogdet(a)),
    "LogDet": lambda a: math.LogDet()(a),
    "Eig": lambda a: pt.sort(abs(pt.linalg.eig(a)[0])),
    "SVD": lambda a: pt.linalg.svd(a, compute_uv=False),
    "QR": lambda a: list(pt.linalg.qr(a)),
    "Schur": lambda a: again(*pt.linalg.schur(a)),
    "LU": lambda a: list(pt.linalg.lu(a)),
    "LUFactor": lambda a: list(pt.linalg.lu_factor(a)),
    "PivotToPermutations": lambda a: pt.linalg.pivot_to_permutation(pt.linalg.lu_factor(a)[1]),
}


def again(triangle: Any, vectors: Any) -> Any:
    """Return the matrix of its parts, whose signs are for the library to choose."""
    return vectors @ triangle @ pt.conj(pt.swapaxes(vectors, -1, -2))


def function_of_matrices(name: str) -> Make:
    return lambda draw: FUNCTIONS[name](square(draw))


MAKERS |= {name: function_of_matrices(name) for name in FUNCTIONS}


@makes("Eigvalsh", "Eigh", "EighGrad")
def spectrum(draw: Draw) -> Any:
    a = hermitian(draw)
    values, vectors = pt.linalg.eigh(a)
    if a.ndim == 2 and a.dtype == "float64" and draw.chance(0.5):
        return [values, pytensor.grad(pt.sum(values**2) + pt.sum(vectors**2), a)]
    return draw.choose([[values, abs(vectors)], linalg.ops.eigvalsh(a, None) if a.ndim == 2 else values])


@makes("BlockDiagonal")
def block_diagonal(draw: Draw) -> Any:
    return pt.linalg.block_diag(draw.any(ndim=2), draw.any(ndim=2))
