"""Products with the orthogonal factor of a matrix, as LAPACK's reflections: the factor itself is not made."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import llvm_constant
from numbagraph.intrinsics.formula import Complex
from numbagraph.intrinsics.linalg.copies import columns_of
from numbagraph.intrinsics.linalg.spectral import BLOCK, MOST, TABLES, upper_part
from numbagraph.intrinsics.matrices import Index


def product_on_the_right(element: Element) -> None:
    """``c @ Q``, whose first columns are the result."""
    m, k, rows = element["m"], element["k"], element["p"]
    *_, product = element.scratch
    element.copy(product, element.operands[1], rows * m)
    conjugate(element, product, rows * m)
    reflect(element, "L", product, m, rows)
    source, target = element.matrix(product, m), element.result(0)
    builder = element.builder
    element.code.each(rows, k, lambda i, j: builder.store(builder.load(source.address(i, j)), target.address(i, j)))
    conjugate(element, element.results[0], rows * k)


def product_on_the_left(element: Element) -> None:
    """``Q @ c``, which has more rows than c where Q has."""
    m, k, columns = element["m"], element["k"], element["p"]
    product, used = element.results[0], k * columns
    element.copy(product, element.operands[1], used)
    conjugate(element, product, used)
    zero, row = llvm_constant(0, element.code.dtype), element.matrix(product, m * columns)
    first = element.code.index(0)
    element.code.loop(used, m * columns, lambda i: element.builder.store(zero, row.address(first, i)))
    reflect(element, "R", product, columns, m)
    conjugate(element, product, m * columns)


def reflect(element: Element, side: str, product: ir.Value, rows: Index, columns: Index) -> None:
    """Factor the matrix, and multiply with the conjugate of Q in place: what is row by row here is the transpose for
    LAPACK, so that it multiplies with the adjoint of Q on the other side."""
    m, n, k, fortran = element["m"], element["n"], element["k"], element.fortran
    matrix, factors, work, *_ = element.scratch
    columns_of(element, element.operand(0), matrix, m, n)
    width = fortran.width(m.register)
    size = ((n + element["p"]) * BLOCK + TABLES).least(MOST)
    fortran.lapack("geqrf", m, n, matrix, width, factors, work, size)
    upper_part(element, matrix, element.result(1), m, k, n)
    adjoint = "C" if element.code.dtype.kind == "c" else "T"
    place = product, fortran.width(rows.register), work, size
    fortran.lapack("ormqr", side, adjoint, rows, columns, k, matrix, width, factors, *place)


def conjugate(element: Element, target: ir.Value, size: Index) -> None:
    """Conjugate numbers in place, before and after c is multiplied with the conjugate of Q where Q itself is wanted."""
    if element.code.dtype.kind == "f" or element.attributes["conjugate"]:
        return
    row, first = element.matrix(target, size), element.code.index(0)

    def one(i: Index) -> None:
        number = row[first, i]
        row[first, i] = Complex(number.real, -number.imag)

    element.code.loop(0, size, one)
