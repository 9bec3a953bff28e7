"""Sorting by the loops of NumPy's dtypes, and comparisons of keys."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I32, I64, POINTER, memory_type
from numbagraph.intrinsics.emitters.external import NUMPY_SORT
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.intrinsics.emitters.transposition import in_blocks, transpose
from numbagraph.ir.types import INT64

COLUMNS = 16
"""The number of columns that are sorted at a time: two lines of the cache have the doubles of a row of them."""


def comes_before(builder: ir.IRBuilder, x: ir.Value, y: ir.Value, dtype: np.dtype) -> ir.Value:
    """Return whether one key stands strictly before another one, or those in the lanes of vectors. NaN is the last of
    all."""
    if dtype.kind == "i":
        return builder.icmp_signed("<", x, y)
    if dtype.kind == "u":
        return builder.icmp_unsigned("<", x, y)
    only_y_is_nan = builder.and_(builder.fcmp_unordered("uno", y, y), builder.fcmp_ordered("ord", x, x))
    return builder.or_(builder.fcmp_ordered("<", x, y), only_y_is_nan)


def call_sort(element: Element, symbol: str, addresses: list[ir.Value], n: ir.Value) -> ir.Value:
    """Call one of NumPy's functions, on addresses and a length, and return whether it has failed for lack of memory."""
    builder = element.builder
    types = [*[POINTER] * len(addresses), I64, POINTER]
    function = element.emitter.function(f"{NUMPY_SORT}{symbol}", I32, types, pure=False)
    pointers = [builder.bitcast(each, POINTER) for each in addresses]
    found = builder.call(function, [*pointers, n, ir.Constant(POINTER, None)])
    return builder.icmp_signed("<", found, ir.Constant(I32, 0))


def sort_keys(element: Element, keys: ir.Value, n: Index) -> ir.Value:
    """Sort keys in place, by the kind of sorting that needs no memory."""
    return call_sort(element, f"sort.{element.code.dtype.name}.quicksort", [keys], n.register)


def sort(element: Element) -> ir.Value:
    element.copy(element.results[0], element.operands[0], element["n"])
    return sort_keys(element, element.results[0], element["n"])


def sort_columns(element: Element) -> ir.Value:
    """Emit ``(n,k) -> (n,k)``: some columns at a time become rows, which are sorted, and columns again."""
    code, n, source, result = element.code, element["n"], element.operand(0), element.result()
    zero, rows = code.index(0), element.matrix(element.scratch[0], n)
    failed = StackVariable(element.emitter, ir.Constant(I1, 0))

    def sort_row(row: Index) -> None:
        failed.value = element.builder.or_(failed.value, sort_keys(element, rows.address(row, zero), n))

    def block(first: Index, width: Index) -> None:
        transpose(code, source.from_(zero, first), rows, n, width)
        code.loop(0, code.index(width.register), sort_row)
        transpose(code, rows, result.from_(zero, first), width, n)

    in_blocks(element, element["k"], COLUMNS, block)
    return failed.value


def argsort(element: Element) -> ir.Value:
    """Write the positions of the elements in sorted order; with a stable kind, equal ones keep theirs."""
    code, builder, n = element.code, element.builder, element["n"]
    positions, zero = element.result(), code.index(0)
    code.loop(0, n, lambda k: builder.store(k.register, positions.address(zero, k)))
    kind = "stable" if element.attributes["stable"] else "quicksort"
    addresses = [element.operands[0], element.results[0]]
    return call_sort(element, f"argsort.{code.dtype.name}.{kind}", addresses, n.register)


def order_of_rows(element: Element) -> ir.Value:
    """Emit ``a(n,m) -> (n)``: rows in lexicographic order; equal ones keep theirs. From the last column to the first,
    each is sorted in the order that was found before."""
    code, builder, n = element.code, element.builder, element["n"]
    matrix, zero = element.operand(0), code.index(0)
    keys, steps, copied = (
        element.matrix(builder.bitcast(place, memory_type(dtype).as_pointer()), n, dtype)
        for place, dtype in zip(element.scratch, (element.dtypes[0], INT64, INT64), strict=True)
    )
    order = element.result()
    failed = StackVariable(element.emitter, ir.Constant(I1, 0))
    code.loop(0, n, lambda k: builder.store(k.register, order.address(zero, k)))

    def at(k: Index) -> Index:
        return code.index(builder.load(order.address(zero, k)))

    def sort_by(column: Index) -> None:
        def prepare(k: Index) -> None:
            builder.store(builder.load(matrix.address(at(k), column)), keys.address(zero, k))
            builder.store(k.register, steps.address(zero, k))
            builder.store(at(k).register, copied.address(zero, k))

        def follow(k: Index) -> None:
            step = code.index(builder.load(steps.address(zero, k)))
            builder.store(builder.load(copied.address(zero, step)), order.address(zero, k))

        code.loop(0, n, prepare)
        addresses = [keys.address(zero, zero), steps.address(zero, zero)]
        found = call_sort(element, f"argsort.{element.dtypes[0].name}.stable", addresses, n.register)
        failed.value = builder.or_(failed.value, found)
        code.loop(0, n, follow)

    code.backwards(element["m"], sort_by)
    return failed.value
