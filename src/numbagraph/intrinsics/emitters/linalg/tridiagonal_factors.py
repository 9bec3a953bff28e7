"""Factors of tridiagonal matrices, with pivots, and systems that are solved with them."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I32, llvm_constant
from numbagraph.intrinsics.emitters.linalg.copies import columns_of, rows_of
from numbagraph.intrinsics.emitters.linalg.general import Pivots
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable


def factors(element: Element) -> None:
    """Factor in the memory of the results, as LAPACK does; it leaves out the last elements of three of them."""
    m, code, fortran = element["m"], element.code, element.fortran
    below, diagonal, above, beyond, pivots = element.results
    zero = llvm_constant(0, code.dtype)
    for result in (below, above, beyond):
        row = element.matrix(result, m)
        code.loop(0, m, lambda k, row=row: element.builder.store(zero, row.address(code.index(0), k)))
    with element.builder.if_then(m.compare(">", 0)):
        element.copy(below, element.operands[0], m - 1)
        element.copy(diagonal, element.operands[1], m)
        element.copy(above, element.operands[2], m - 1)
    fortran.lapack("gttrf", m, below, diagonal, above, beyond, pivots)


def solution(element: Element) -> ir.Value:
    """Solve with factors; the result tells whether a pivot is neither a row nor the next one: then nothing is read."""
    m, n, code, builder, fortran = element["m"], element["n"], element.code, element.builder, element.fortran
    (right,) = element.scratch
    failed = StackVariable(element.emitter, ir.Constant(I1, 0))
    pivots = Pivots(element, element.operand(4))

    def check(k: Index) -> None:
        given = pivots[k]
        is_row = builder.icmp_signed("==", given.register, (k + 1).register)
        is_next = builder.and_(builder.icmp_signed("==", given.register, (k + 2).register), (k + 1).compare("<", m))
        failed.value = builder.or_(failed.value, builder.not_(builder.or_(is_row, is_next)))

    code.loop(0, m, check)
    columns_of(element, element.operand(5), right, m, n)
    trans = "T" if element.attributes["trans"] else "N"
    element.emitter.choose(
        builder.or_(failed.value, n.compare("<", 1)),
        lambda: ir.Constant(I32, 0),
        lambda: fortran.lapack("gttrs", trans, m, n, *element.operands[:5], right, fortran.width(m.register)),
    )
    rows_of(element, right, element.result(), m, n)
    return failed.value
