"""Least squares, by LAPACK's divide and conquer: no singular vectors are made."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import llvm_constant
from numbagraph.intrinsics.emitters.linalg.copies import columns_of, transpose
from numbagraph.intrinsics.emitters.linalg.spectral import BLOCK, MOST, none_if, nonzero, not_finite
from numbagraph.intrinsics.emitters.matrices import Index

LEAF, LEVELS = 25, 28
"""The size of the largest problem that LAPACK does not divide, and the greatest number of times that it divides
others."""
REAL_PER_VALUE = 13 + 2 * LEAF + 8 * LEVELS
INTEGERS_PER_VALUE = 11 + 3 * LEVELS


def least_squares(element: Element) -> ir.Value:
    """Write the solutions in the rows of a matrix, the singular values and the rank. Without rows, the solution is
    zero."""
    m, n, k, fortran = element["m"], element["n"], element["k"], element.fortran
    matrix, right, work, real_work, integers = element.scratch
    columns_of(element, element.operand(0), matrix, m, n)
    height = m + n + 1
    zero_all(element, right, height * (k + 1))
    columns = element.matrix(right, height)
    transpose(element, element.operand(1), columns, m, k)
    wrong = not_finite(element, 0, m * n)  # LAPACK may not return
    lengths = none_if(element, wrong, m), none_if(element, wrong, n), k + 1
    spaces = [work, work_of(m, n, k)]
    if element.code.dtype.kind == "c":
        spaces.append(real_work)
    values, rank = element.results[1:]
    info = fortran.lapack(
        "gelsd", *lengths, matrix, fortran.width(m.register), right, height, values, element.operands[2], rank, *spaces,
        integers,
    )  # fmt: skip
    transpose(element, columns, element.result(0), k, n)
    return element.builder.or_(wrong, nonzero(element, info))


def zero_all(element: Element, target: ir.Value, size: Index) -> None:
    zero, builder = llvm_constant(0, element.code.dtype), element.builder
    row = element.matrix(target, size)
    element.code.loop(0, size, lambda i: builder.store(zero, row.address(element.code.index(0), i)))


def work_of(m: Index, n: Index, k: Index) -> Index:
    """Return the size of work memory, which is more than LAPACK asks for: the square of the smaller length, memory for
    each value, and blocks of rows."""
    few = m.least(n)
    return (few * (few + k + (REAL_PER_VALUE + 1)) + (m + n + k + 1) * BLOCK + (LEAF + 1) ** 2).least(MOST)
