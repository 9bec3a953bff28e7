"""Matrix equations, by Schur's form of the matrices."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I32, POINTER, llvm_type
from numbagraph.intrinsics.emitters.linalg.spectral import BLOCK, nonzero, not_finite
from numbagraph.intrinsics.emitters.matrices import Index
from numbagraph.ir.types import real_dtype


def sylvester(element: Element) -> ir.Value:
    """Solve ``a x + x b = q``: Bartels and Stewart, Solution of the matrix equation AX + XB = C (1972).

    LAPACK sees the transposed matrices, so the first factor is b. Its scaling against overflow is kept.
    """
    m, n, fortran, builder = element["m"], element["n"], element.fortran, element.builder
    first, first_vectors, second, second_vectors, middle, work, values, real_work = element.scratch
    element.copy(first, element.operands[1], n * n)
    element.copy(second, element.operands[0], m * m)
    failed = not_finite(element, 0, m * m)
    for number, size in ((1, n * n), (2, m * n)):
        failed = builder.or_(failed, not_finite(element, number, size))
    for matrix, vectors, length in ((first, first_vectors, n), (second, second_vectors, m)):
        info = schur(element, matrix, vectors, length, work, values, real_work)
        failed = builder.or_(failed, nonzero(element, info))
    wide, tall, result = fortran.width(n.register), fortran.width(m.register), element.results[0]
    one, zero = fortran.number(1), fortran.number(0)
    fortran.blas("gemm", "C", "N", n, m, n, one, first_vectors, wide, element.operands[2], wide, zero, middle, wide)
    fortran.blas("gemm", "N", "N", n, m, m, one, middle, wide, second_vectors, tall, zero, result, wide)
    scale = fortran.slot(ir.Constant(llvm_type(real_dtype(element.code.dtype)), 1.0))
    sign = fortran.slot(ir.Constant(I32, 1))
    fortran.lapack("trsyl", "N", "N", sign, n, m, first, wide, second, tall, result, wide, scale)
    fortran.blas("gemm", "N", "N", n, m, n, one, first_vectors, wide, result, wide, zero, middle, wide)
    fortran.blas("gemm", "N", "C", n, m, m, one, middle, wide, second_vectors, tall, zero, result, wide)
    return failed


def lyapunov(element: Element) -> ir.Value:
    """Solve ``a x + x a^H = q``, by one Schur form: LAPACK sees ``y m + m^H y``, where y and m are transposed."""
    m, fortran, builder = element["m"], element.fortran, element.builder
    form, vectors, middle, work, values, real_work = element.scratch
    element.copy(form, element.operands[0], m * m)
    failed = builder.or_(not_finite(element, 0, m * m), not_finite(element, 1, m * m))
    info = schur(element, form, vectors, m, work, values, real_work)
    failed = builder.or_(failed, nonzero(element, info))
    width, result = fortran.width(m.register), element.results[0]
    one, zero = fortran.number(1), fortran.number(0)

    def product(first: str, left: ir.Value, second: str, right: ir.Value, target: ir.Value) -> None:
        fortran.blas("gemm", first, second, m, m, m, one, left, width, right, width, zero, target, width)

    product("C", vectors, "N", element.operands[1], middle)
    product("N", middle, "N", vectors, result)
    scale = fortran.slot(ir.Constant(llvm_type(real_dtype(element.code.dtype)), 1.0))
    sign = fortran.slot(ir.Constant(I32, 1))
    fortran.lapack("trsyl", "C", "N", sign, m, m, form, width, form, width, result, width, scale)
    product("N", vectors, "N", result, middle)
    product("N", middle, "C", vectors, result)
    return failed


def schur(
    element: Element,
    matrix: ir.Value,
    vectors: ir.Value,
    n: Index,
    work: ir.Value,
    values: ir.Value,
    real_work: ir.Value,
) -> ir.Value:
    """Compute Schur's form of a matrix in its place, with the vectors, and return whether LAPACK has failed."""
    fortran = element.fortran
    width, nothing = fortran.width(n.register), ir.Constant(POINTER, None)
    count = fortran.slot(ir.Constant(I32, 0))
    found = [values, real_work] if element.code.dtype.kind == "f" else [values]
    rest = [real_work] if element.code.dtype.kind == "c" else []
    spaces = [work, n * BLOCK + 1, *rest, nothing]
    return fortran.lapack("gees", "V", "N", nothing, n, matrix, width, count, *found, vectors, width, *spaces)
