"""Copies of matrices whose rows become columns."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I32, I64, POINTER, llvm_type
from numbagraph.intrinsics.emitters.lanes import Lanes
from numbagraph.intrinsics.emitters.matrices import Code, Index, Matrix
from numbagraph.ir.types import real_dtype

TILE = 4
"""The number of rows and columns that go through registers at once; complex numbers of two doubles go one by one."""
LINE = 64
"""The bytes of a line of the cache."""


def in_blocks(element: Element, count: Index, width: int, body: Callable[[Index, Index], None]) -> None:
    """Emit ``body(first, width)`` for each block: those of the full width, which is static, and the rest."""
    code, builder = element.code, element.builder
    whole = code.index(builder.udiv(count.register, ir.Constant(I64, width)))
    code.loop(0, whole, lambda number: body(number * width, code.index(width)))
    rest = count - whole * width
    with builder.if_then(rest.compare(">", 0)):
        body(whole * width, rest)


def transpose(code: Code, source: Matrix, target: Matrix, rows: Index, columns: Index, *, ahead: bool = False) -> None:
    """Emit ``target[column, row] = source[row, column]``, where the elements of rows follow each other in both
    matrices.

    One of the lengths should be static, and a number of whole tiles. With ``ahead``, as many columns again are
    prefetched for the following ones: lines of rows that are far apart arrive one by one.
    """

    def one(i: Index, j: Index) -> None:
        move(source, (i, j), target, (j, i))

    tile = 1 if source.dtype.itemsize == 16 else TILE
    if rows.static is None and columns.static is None:
        code.each(rows, columns, one)
        return
    by_columns = rows.static is not None
    length, width = (columns, rows) if by_columns else (rows, columns)
    assert width.static is not None
    count = code.index(code.emitter.builder.udiv(length.register, ir.Constant(length.register.type, tile)))

    def place(far: Index, near: Index) -> tuple[Index, Index]:
        return (near, far) if by_columns else (far, near)

    def tiles(number: Index) -> None:
        for first in range(0, width.static or 0, tile):
            move_tile(source, place(number * tile, code.index(first)), target, tile)
        if ahead:
            for row in range(tile):
                for first in range(0, width.static or 0, LINE // source.dtype.itemsize):
                    prefetch(source, number * tile + row, columns + first)

    code.loop(0, count, tiles)
    code.loop(count * tile, length, lambda far: code.loop(0, width, lambda near: one(*place(far, near))))


def move_tile(source: Matrix, place: tuple[Index, Index], target: Matrix, tile: int) -> None:
    """Transpose as many rows as columns in registers."""
    row, column = place
    if tile == 1:
        move(source, place, target, (column, row))
        return
    builder, align = source.emitter.builder, part_of(source)
    vector = ir.VectorType(ir.IntType(8 * source.dtype.itemsize), tile).as_pointer()
    addresses = [builder.bitcast(source.address(row + k, column), vector) for k in range(tile)]
    columns = Lanes(builder, tile).transposed([builder.load(each, align=align) for each in addresses])
    for k, each in enumerate(columns):
        builder.store(each, builder.bitcast(target.address(column + k, row), vector), align=align)


def move(source: Matrix, place: tuple[Index, Index], target: Matrix, other: tuple[Index, Index]) -> None:
    """Copy an element, the two parts of a complex number at once."""
    builder, pointers = source.emitter.builder, [source.address(*place), target.address(*other)]
    if source.dtype.kind == "c":
        pair = ir.VectorType(llvm_type(real_dtype(source.dtype)), 2).as_pointer()
        pointers = [builder.bitcast(each, pair) for each in pointers]
    builder.store(builder.load(pointers[0], align=part_of(source)), pointers[1], align=part_of(source))


def part_of(matrix: Matrix) -> int:
    """Return the number of bytes of a part of an element."""
    return matrix.dtype.itemsize // (2 if matrix.dtype.kind == "c" else 1)


def prefetch(matrix: Matrix, row: Index, column: Index) -> None:
    """Prefetch a line of the cache that is soon to be read."""
    emitter = matrix.emitter
    pointer = emitter.builder.bitcast(matrix.address(row, column), POINTER)
    function = emitter.function("llvm.prefetch.p0i8", ir.VoidType(), [POINTER, I32, I32, I32], pure=False)
    emitter.builder.call(function, [pointer, *(ir.Constant(I32, each) for each in (0, 2, 1))])
