"""Fourier transforms of the rows or the columns of a matrix, by the loops of NumPy's own ufuncs (pocketfft).

These take addresses, lengths and steps, and no Python objects.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import F64, I64, POINTER, llvm_type
from numbagraph.intrinsics.external import NUMPY_LOOP
from numbagraph.intrinsics.matrices import Index
from numbagraph.ir.types import FLOAT32, FLOAT64

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
    place = builder.alloca(type_, len(entries))
    for number, each in enumerate(entries):
        builder.store(each, builder.gep(place, [ir.Constant(I64, number)]))
    return builder.bitcast(place, POINTER)


def call_loop(element: Element, names: list[str], chosen: ir.Value | None, lengths: tuple[Index, Index]) -> None:
    """Call the loop of a ufunc ``(n),()->(m)`` on all rows or columns; of two, the second where ``chosen`` says so."""
    builder, emitter = element.builder, element.emitter
    place = 1 if element.dtypes[0] in SINGLE else 0
    widths = [element.dtypes[0].itemsize, element.dtypes[len(element.operands)].itemsize]
    pointers = [element.operands[0], scale(element, element.attributes["norm"]), element.results[0]]
    args = array_of(element, POINTER, [builder.bitcast(each, POINTER) for each in pointers])
    count, is_rows = element["k"], element.shapes[0][0][0] == "k"
    dimensions = array_of(element, I64, [each.register for each in (count, *lengths)])
    near = [ir.Constant(I64, width) for width in widths]
    rows = [(length * width).register for length, width in zip(lengths, widths, strict=True)]
    apart, inside = (rows, near) if is_rows else (near, [(count * width).register for width in widths])
    steps = array_of(element, I64, [apart[0], ir.Constant(I64, 0), apart[1], *inside])
    found = []
    for name in names:
        loop = emitter.function(f"{NUMPY_LOOP}{name}.{place}.loop", ir.VoidType(), [POINTER] * 4, pure=False)
        data = emitter.function(f"{NUMPY_LOOP}{name}.{place}.data", ir.VoidType(), [], pure=False)
        found.append((loop, builder.bitcast(data, POINTER)))
    loop, data = found[0]
    if chosen is not None:
        loop, data = (builder.select(chosen, second, first) for first, second in zip(*found, strict=True))
    builder.call(loop, [args, dimensions, steps, data])


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
