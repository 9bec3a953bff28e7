"""Fourier transforms of the rows or the columns of a matrix, by the loops of NumPy's own ufuncs (pocketfft).

These take addresses, lengths and steps, and no Python objects.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import F32, F64, I1, I64, POINTER
from numbagraph.intrinsics.emitters.external import NUMPY_LOOP
from numbagraph.intrinsics.emitters.matrices import Index, Matrix
from numbagraph.intrinsics.emitters.transposition import in_blocks, transpose
from numbagraph.ir.structs import Struct

BLOCK = 8
"""The number of columns that are transformed at once. The smallest number whose complex numbers fill a line of the
cache is 4."""

SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


def scale(element: Element) -> ir.Value:
    """Return the factor: 1, or the length to the power of -1/2 or -1."""
    builder, factor, norm = element.builder, ir.Constant(F64, 1.0), element.attributes["norm"]
    if norm:
        length = builder.sitofp(element["n"].register, F64)
        factor = builder.fdiv(factor, element.emitter.intrinsic("sqrt", length) if norm == 1 else length)
    return factor


class Loop(Struct):
    """The inner loop of a ufunc ``(n),()->(m)`` of `numpy.fft`, and the data that it is handed."""

    element: Element
    function: ir.Value
    data: ir.Value
    lengths: tuple[Index, Index]

    @classmethod
    def of(
        cls, element: Element, names: Sequence[str], lengths: tuple[Index, Index], chosen: ir.Value | None = None
    ) -> Loop:
        """Return the loop of a name; of two, the second where ``chosen`` is true."""
        emitter, place = element.emitter, 1 if element.dtypes[0] in SINGLE else 0
        found = []
        for name in names:
            loop = emitter.function(f"{NUMPY_LOOP}{name}.{place}.loop", ir.VoidType(), [POINTER] * 4, pure=False)
            data = emitter.function(f"{NUMPY_LOOP}{name}.{place}.data", ir.VoidType(), [], pure=False)
            found.append((loop, element.builder.bitcast(data, POINTER)))
        loop, data = found[0]
        if chosen is not None:
            loop, data = (element.builder.select(chosen, *pair) for pair in zip(found[1], found[0], strict=True))
        return cls(element, loop, data, lengths)

    def __call__(self, count: Index, source: Matrix, target: Matrix, factor: ir.Value) -> None:
        """Transform the first rows of a matrix into those of another one, which may be itself."""
        element, builder = self.element, self.element.builder
        single = element.dtypes[0] in SINGLE
        slot = array_of(element, [builder.fptrunc(factor, F32) if single else factor])
        args = array_of(element, [builder.bitcast(each, POINTER) for each in (source.pointer, slot, target.pointer)])
        apart, inside = (
            [length * each.dtype.itemsize for each, length in zip((source, target), lengths, strict=True)]
            for lengths in ((source.row, target.row), (source.column, target.column))
        )
        steps = [apart[0], element.code.index(0), apart[1], *inside]
        dimensions, strides = (
            array_of(element, [each.register for each in numbers]) for numbers in ([count, *self.lengths], steps)
        )
        builder.call(self.function, [args, dimensions, strides, self.data])


def array_of(element: Element, entries: list[ir.Value]) -> ir.Value:
    """Store some values, and return their address."""
    builder = element.builder
    with builder.goto_entry_block():
        place = builder.alloca(entries[0].type, len(entries))
    for number, each in enumerate(entries):
        builder.store(each, builder.gep(place, [ir.Constant(I64, number)]))
    return builder.bitcast(place, POINTER)


def call_loop(element: Element, loop: Loop) -> None:
    """Transform all rows or columns."""
    factor, count, (source, target) = scale(element), element["k"], (element.operand(0), element.result())
    if element.shapes[0][0][0] == "k":
        loop(count, source, target, factor)
        return
    with element.builder.if_else(collide(element, loop.lengths[0], source.row * source.dtype.itemsize)) as branches:
        with branches[0]:
            columns_as_rows(element, loop, factor)
        with branches[1]:
            loop(count, source.transposed, target.transposed, factor)


def collide(element: Element, length: Index, stride: Index) -> ir.Value:
    """Return whether the elements of a column share few sets of the first cache, as they do if their distance is a
    multiple of 4096 bytes: their lines are evicted before the next column needs them. Measured: from 64 elements a set
    on, and not where rows are so short that a line has several elements of a column."""
    builder = element.builder
    bits = builder.or_(stride.register, ir.Constant(I64, 4096))
    lowest = Index(element.emitter, builder.and_(bits, builder.neg(bits)))
    return builder.and_((length * lowest).compare(">", 64 * 4096), stride.compare(">", 1023))


def columns_as_rows(element: Element, loop: Loop, factor: ir.Value) -> None:
    """Transform columns block by block: those of a block become rows, and columns again, so that each line of the cache
    is read and written once for all columns that it holds a part of."""
    code, lengths, source, result = element.code, loop.lengths, element.operand(0), element.result()
    zero = code.index(0)
    before, after = (
        element.matrix(pointer, length, like.dtype)
        for pointer, length, like in zip(
            (element.scratch[0], element.scratch[-1]), lengths, (source, result), strict=True
        )
    )

    def block(first: Index, width: Index) -> None:
        transpose(code, source.from_(zero, first), before, lengths[0], width)
        loop(width, before, after, factor)
        transpose(code, after, result.from_(zero, first), width, lengths[1])

    in_blocks(element, element["k"], BLOCK, block)


def transform(element: Element) -> None:
    """Emit the transforms of complex rows or columns."""
    call_loop(element, whole_loop(element, element["n"], element.attributes["forward"]))


def half_transform(element: Element) -> None:
    """Emit the first halves of the transforms of real rows or columns; the rest is the conjugate."""
    call_loop(element, half_loop(element, element["n"], element["m"]))


def inverse_of_half(element: Element) -> None:
    """Emit the real rows or columns from half of their transforms."""
    call_loop(element, inverse_loop(element, element["n"], element["m"]))


def whole_loop(element: Element, length: Index, forward: bool) -> Loop:
    return Loop.of(element, ["fft" if forward else "ifft"], (length, length))


def half_loop(element: Element, length: Index, half: Index) -> Loop:
    is_odd = element.builder.trunc(length.register, I1)
    return Loop.of(element, ["rfft_n_even", "rfft_n_odd"], (length, half), is_odd)


def inverse_loop(element: Element, length: Index, half: Index) -> Loop:
    return Loop.of(element, ["irfft"], (half, length))
