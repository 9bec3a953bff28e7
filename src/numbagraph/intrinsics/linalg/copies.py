"""Copies of matrices between C order and Fortran's, and unit matrices."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import llvm_constant
from numbagraph.intrinsics.matrices import Index, Matrix

ROWS = 4
"""Rows that are copied together, so that neither the rows nor the columns are written to one by one."""


def columns_of(element: Element, source: Matrix, target: ir.Value, rows: Index, columns: Index) -> None:
    """Copy a matrix in C order to one in Fortran's order."""
    move(element, source, element.matrix(target, rows, source.dtype).transposed, rows, columns)


def rows_of(element: Element, source: ir.Value, target: Matrix, rows: Index, columns: Index) -> None:
    """Copy a matrix in Fortran's order to one in C order."""
    move(element, element.matrix(source, rows, target.dtype).transposed, target, rows, columns)


def move(element: Element, source: Matrix, target: Matrix, rows: Index, columns: Index) -> None:
    builder, code = element.builder, element.code
    blocks = code.index(builder.sdiv(rows.register, ir.Constant(rows.register.type, ROWS)))

    def one(i: Index, j: Index) -> None:
        builder.store(builder.load(source.address(i, j)), target.address(i, j))

    def together(block: Index, j: Index) -> None:
        for row in range(ROWS):
            one(block * ROWS + row, j)

    code.each(blocks, columns, together)
    code.loop(blocks * ROWS, rows, lambda i: code.loop(0, columns, lambda j: one(i, j)))


def unit(element: Element, target: ir.Value, n: Index) -> None:
    """Write a unit matrix."""
    matrix, builder = element.matrix(target, n), element.builder
    zero, one = (llvm_constant(each, matrix.dtype) for each in (0, 1))

    def put(i: Index, j: Index) -> None:
        builder.store(builder.select(i.compare("==", j), one, zero), matrix.address(i, j))

    element.code.each(n, n, put)
