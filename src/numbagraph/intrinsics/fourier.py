"""Fourier transforms of the rows or the columns of a matrix, by the loops of NumPy's own ufuncs (pocketfft).

These take addresses, lengths and steps, and no Python objects.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import F64, I64, POINTER, llvm_type
from numbagraph.intrinsics.external import NUMPY_LOOP
from numbagraph.intrinsics.matrices import Index, Matrix
from numbagraph.ir.types import FLOAT32, FLOAT64

BLOCK = 8
"""How many columns are transformed at once. The smallest number whose complex numbers fill a line of the cache is 4."""

SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


def scale(element: Element, norm: int) -> ir.Value:
    """The address of the factor: 1, or the length to the power of -1/2 or -1."""
    builder, real = element.builder, FLOAT32 if element.dtypes[0] in SINGLE else FLOAT64
    factor = ir.Constant(F64, 1.0)
    if norm:
        length = builder.sitofp(element["n"].register, F64)
        factor = builder.fdiv(factor, element.emitter.intrinsic("sqrt", length) if norm == 1 else length)
    slot = builder.alloca(llvm_type(real))
    builder.store(factor if real == FLOAT64 else builder.fptrunc(factor, llvm_type(real)), slot)
    return builder.bitcast(slot, POINTER)


def array_of(element: Element, type_: ir.Type, entries: list[ir.Value]) -> ir.Value:
    """The address of some values that stand in memory."""
    builder = element.builder
    with builder.goto_entry_block():
        place = builder.alloca(type_, len(entries))
    for number, each in enumerate(entries):
        builder.store(each, builder.gep(place, [ir.Constant(I64, number)]))
    return builder.bitcast(place, POINTER)


def loop_of(element: Element, names: list[str], chosen: ir.Value | None) -> tuple[ir.Value, ir.Value]:
    """The loop of a ufunc and what it is handed; of two, those of the second where ``chosen`` says so."""
    emitter, place = element.emitter, 1 if element.dtypes[0] in SINGLE else 0
    found = []
    for name in names:
        loop = emitter.function(f"{NUMPY_LOOP}{name}.{place}.loop", ir.VoidType(), [POINTER] * 4, pure=False)
        data = emitter.function(f"{NUMPY_LOOP}{name}.{place}.data", ir.VoidType(), [], pure=False)
        found.append((loop, element.builder.bitcast(data, POINTER)))
    if chosen is None:
        return found[0]
    first, second = found
    loop, data = (element.builder.select(chosen, *pair) for pair in zip(second, first, strict=True))
    return loop, data


def call_loop(element: Element, names: list[str], chosen: ir.Value | None, lengths: tuple[Index, Index]) -> None:
    """Call the loop of a ufunc ``(n),()->(m)`` on all rows or columns; of two, the second where ``chosen`` says so."""
    builder, (loop, data) = element.builder, loop_of(element, names, chosen)
    widths = [element.dtypes[0].itemsize, element.dtypes[len(element.operands)].itemsize]
    near = [element.code.index(width) for width in widths]
    whole = [length * width for length, width in zip(lengths, widths, strict=True)]
    across = [element["k"] * width for width in widths]
    factor = scale(element, element.attributes["norm"])

    def call(count: Index, source: ir.Value, result: ir.Value, apart: list[Index], inside: list[Index]) -> None:
        args = array_of(element, POINTER, [builder.bitcast(each, POINTER) for each in (source, factor, result)])
        dimensions = array_of(element, I64, [each.register for each in (count, *lengths)])
        strides = [apart[0], element.code.index(0), apart[1], *inside]
        builder.call(loop, [args, dimensions, array_of(element, I64, [each.register for each in strides]), data])

    def rows(count: Index, source: ir.Value, result: ir.Value) -> None:
        call(count, source, result, whole, near)

    if element.shapes[0][0][0] == "k":
        rows(element["k"], element.operands[0], element.results[0])
        return
    with builder.if_else(collide(element, lengths[0], across[0])) as (then, otherwise):
        with then:
            columns_as_rows(element, lengths, rows)
        with otherwise:
            call(element["k"], element.operands[0], element.results[0], near, across)


def collide(element: Element, length: Index, stride: Index) -> ir.Value:
    """Whether the elements of a column share few sets of the first cache, as those do whose distance is a multiple of
    4096 bytes: their lines are gone before the next column needs them. Measured: from 64 elements a set on, and not
    where rows are so short that a line has several elements of a column."""
    builder = element.builder
    bits = builder.or_(stride.register, ir.Constant(I64, 4096))
    lowest = Index(element.emitter, builder.and_(bits, builder.neg(bits)))
    return builder.and_((length * lowest).compare(">", 64 * 4096), stride.compare(">", 1023))


def columns_as_rows(
    element: Element, lengths: tuple[Index, Index], rows: Callable[[Index, ir.Value, ir.Value], None]
) -> None:
    """Transform columns block by block: those of a block become rows, and back, so that each line of the cache is read
    and written once for all columns that it holds a part of."""
    code, count = element.code, element["k"]
    source, result = element.operand(0), element.result()
    before, after = (
        element.matrix(pointer, length, like.dtype)
        for pointer, length, like in zip(
            (element.scratch[0], element.scratch[-1]), lengths, (source, result), strict=True
        )
    )

    def block(first: Index, width: Index) -> None:
        code.each(lengths[0], width, lambda i, j: move(source, (i, first + j), before, (j, i)))
        rows(width, before.pointer, after.pointer)
        code.each(lengths[1], width, lambda i, j: move(after, (j, i), result, (i, first + j)))

    def move(source: Matrix, place: tuple[Index, Index], target: Matrix, other: tuple[Index, Index]) -> None:
        element.builder.store(element.builder.load(source.address(*place)), target.address(*other))

    whole = Index(element.emitter, element.builder.udiv(count.register, ir.Constant(I64, BLOCK)))
    code.loop(0, whole, lambda number: block(number * BLOCK, code.index(BLOCK)))
    rest = count - whole * BLOCK
    with element.builder.if_then(rest.compare(">", 0)):
        block(whole * BLOCK, rest)


def transform(element: Element) -> None:
    """The transforms of complex rows or columns."""
    n = element["n"]
    call_loop(element, ["fft" if element.attributes["forward"] else "ifft"], None, (n, n))


def half_transform(element: Element) -> None:
    """The first halves of the transforms of real rows or columns, of which the rest is the conjugate."""
    n, builder = element["n"], element.builder
    is_odd = builder.trunc(n.register, ir.IntType(1))
    call_loop(element, ["rfft_n_even", "rfft_n_odd"], is_odd, (n, element["m"]))


def inverse_of_half(element: Element) -> None:
    """The real rows or columns of whose transforms a half is given."""
    call_loop(element, ["irfft"], None, (element["m"], element["n"]))
