"""Products with the orthogonal factor of a matrix: by LAPACK's reflections, without the factor, where these are
many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import llvm_constant
from numbagraph.intrinsics.emitters.formula import Complex
from numbagraph.intrinsics.emitters.linalg.copies import columns_of
from numbagraph.intrinsics.emitters.linalg.spectral import BLOCK, MOST, TABLES, upper_part
from numbagraph.intrinsics.emitters.matrices import Index

FEW = 64
"""The number of reflections up to which it takes longer to apply them, block by block, than to compute Q and a product
with it, if there is much to multiply."""


def product_on_the_right(element: Element) -> None:
    """Compute ``c @ Q``, whose first columns are the result."""
    m, k, rows, fortran = element["m"], element["k"], element["p"], element.fortran
    *_, product = element.scratch
    with factorised(element) as (few, many):
        with few:
            width = fortran.width(m.register)
            place = element.results[0], fortran.width(k.register)
            fortran.blas(
                "gemm", adjoint(element), "N", k, rows, m, 1, *factor(element), element.operands[1], width, 0, *place
            )
        with many:
            element.copy(product, element.operands[1], rows * m)
            conjugate(element, product, rows * m)
            reflect(element, "L", product, m, rows)
            source, target, builder = element.matrix(product, m), element.result(0), element.builder
            element.code.each(
                rows, k, lambda i, j: builder.store(builder.load(source.address(i, j)), target.address(i, j))
            )
            conjugate(element, element.results[0], rows * k)


def product_on_the_left(element: Element) -> None:
    """Compute ``Q @ c``, which has more rows than c where Q has."""
    m, k, columns, fortran = element["m"], element["k"], element["p"], element.fortran
    product, used = element.results[0], k * columns
    with factorised(element) as (few, many):
        with few:
            width = fortran.width(columns.register)
            own = element.operands[1], width
            fortran.blas("gemm", "N", adjoint(element), columns, m, k, 1, *own, *factor(element), 0, product, width)
        with many:
            element.copy(product, element.operands[1], used)
            conjugate(element, product, used)
            zero, row = llvm_constant(0, element.code.dtype), element.matrix(product, m * columns)
            first = element.code.index(0)
            element.code.loop(used, m * columns, lambda i: element.builder.store(zero, row.address(first, i)))
            reflect(element, "R", product, columns, m)
            conjugate(element, product, m * columns)


@contextmanager
def factorised(element: Element) -> Iterator[tuple[Any, Any]]:
    """Factor the matrix, and open a context for two cases: few reflections, or many for the size of the product."""
    m, n, k = element["m"], element["n"], element["k"]
    matrix, factors, *_ = element.scratch
    columns_of(element, element.operand(0), matrix, m, n)
    element.fortran.lapack("geqrf", m, n, matrix, element.fortran.width(m.register), factors, *work_of(element))
    upper_part(element, matrix, element.result(1), m, k, n)
    is_short = element.builder.and_(k.compare("<=", FEW), k.compare("<=", element["p"] * 2))
    with element.builder.if_else(is_short) as both:
        yield both


def work_of(element: Element) -> tuple[ir.Value, Index]:
    return element.scratch[2], ((element["n"] + element["p"]) * BLOCK + TABLES).least(MOST)


def factor(element: Element) -> tuple[ir.Value, ir.Value]:
    """Compute Q in place of the reflections."""
    m, k, fortran = element["m"], element["k"], element.fortran
    matrix, factors, *_ = element.scratch
    width = fortran.width(m.register)
    fortran.lapack("orgqr", m, k, k, matrix, width, factors, *work_of(element))
    return matrix, width


def adjoint(element: Element) -> str:
    """Return LAPACK's letter for the adjoint of Q; LAPACK sees matrices transposed already."""
    return "C" if element.code.dtype.kind == "c" and element.attributes["conjugate"] else "T"


def reflect(element: Element, side: str, product: ir.Value, rows: Index, columns: Index) -> None:
    """Multiply with the conjugate of Q in place. A matrix that is row by row here is the transpose for LAPACK, so that
    it multiplies with the adjoint of Q on the other side."""
    fortran, k = element.fortran, element["k"]
    matrix, factors, *_ = element.scratch
    letter = "C" if element.code.dtype.kind == "c" else "T"
    own = matrix, fortran.width(element["m"].register), factors
    fortran.lapack(
        "ormqr", side, letter, rows, columns, k, *own, product, fortran.width(rows.register), *work_of(element)
    )


def conjugate(element: Element, target: ir.Value, size: Index) -> None:
    """Conjugate numbers in place, before and after c is multiplied with the conjugate of Q, where Q itself is
    wanted."""
    if element.code.dtype.kind == "f" or element.attributes["conjugate"]:
        return
    row, first = element.matrix(target, size), element.code.index(0)

    def one(i: Index) -> None:
        number = row[first, i]
        row[first, i] = Complex(number.real, -number.imag)

    element.code.loop(0, size, one)
