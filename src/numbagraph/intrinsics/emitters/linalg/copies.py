"""Copies of matrices between C order and Fortran's, and unit matrices."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I64, llvm_constant, llvm_type
from numbagraph.intrinsics.emitters.lanes import Lanes, lanes_of
from numbagraph.intrinsics.emitters.matrices import Index, Matrix
from numbagraph.ir.types import FLOAT32, FLOAT64

ROWS = 4
"""The number of rows that are copied together where there are no vectors, so that not each row or column is written to
one by one."""
MOST_LANES = 8
"""The greatest length of the squares that are transposed in registers."""
MOVED_AS = {4: FLOAT32, 8: FLOAT64}
"""The dtype as which numbers are copied, by their size."""


def columns_of(element: Element, source: Matrix, target: ir.Value, rows: Index, columns: Index) -> None:
    """Copy a matrix in C order to one in Fortran's order."""
    transpose(element, source, element.matrix(target, rows, source.dtype), rows, columns)


def rows_of(element: Element, source: ir.Value, target: Matrix, rows: Index, columns: Index) -> None:
    """Copy a matrix in Fortran's order to one in C order."""
    transpose(element, element.matrix(source, rows, target.dtype), target, columns, rows)


def transpose(element: Element, source: Matrix, target: Matrix, rows: Index, columns: Index) -> None:
    """Copy the transpose of a matrix; a large one in squares, of which the last ones overlap others."""
    dtype = MOVED_AS.get(source.dtype.itemsize)
    if dtype is None:
        move(element, source, target.transposed, rows, columns)
        return
    length = min(MOST_LANES, lanes_of(dtype))
    small = rows.least(columns).compare("<", length)
    with element.builder.if_else(small) as (one_by_one, in_squares):
        with one_by_one:
            move(element, source, target.transposed, rows, columns)
        with in_squares:
            squares = SquareCopies(element, dtype, length)
            element.code.each(
                squares.count(rows),
                squares.count(columns),
                lambda i, j: squares.transpose(source, target, squares.begin(i, rows), squares.begin(j, columns)),
            )


class SquareCopies:
    """The copies of squares of a matrix, which are transposed in registers."""

    def __init__(self, element: Element, dtype: np.dtype, length: int) -> None:
        self.element = element
        self.length = length
        self.lanes = Lanes(element.builder, length)
        self.pointer = ir.VectorType(llvm_type(dtype), length).as_pointer()
        self.align = dtype.itemsize

    def count(self, extent: Index) -> Index:
        """Return the number of squares along a dimension."""
        length = ir.Constant(I64, self.length)
        return self.element.code.index(self.element.builder.udiv((extent + (self.length - 1)).register, length))

    def begin(self, number: Index, extent: Index) -> Index:
        return (number * self.length).least(extent - self.length)

    def transpose(self, source: Matrix, target: Matrix, i: Index, j: Index) -> None:
        builder = self.element.builder
        addresses = [builder.bitcast(source.address(i + row, j), self.pointer) for row in range(self.length)]
        found = self.lanes.transposed([builder.load(address, align=self.align) for address in addresses])
        for column, values in enumerate(found):
            address = builder.bitcast(target.address(j + column, i), self.pointer)
            builder.store(values, address, align=self.align)


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
