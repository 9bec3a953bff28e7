"""Inverse matrices whose factors nothing else uses: a symmetric one may have Cholesky's."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I32
from numbagraph.intrinsics.emitters.formula import INT32, Number, absolute
from numbagraph.intrinsics.emitters.linalg.copies import unit
from numbagraph.intrinsics.emitters.linalg.general import (
    Pivots,
    factorise,
    factorised,
    solve_by_factors,
    solve_in_place,
)
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.ir.structs import replace

FACTORS, PIVOTS = range(2)
"""Pieces of scratch memory, by number."""


class Unit:
    """The columns of a unit matrix."""

    def __init__(self, element: Element) -> None:
        self.code = element.code

    def __getitem__(self, index: tuple[Index, Index]) -> Number:
        i, j = index
        if i.static is not None and j.static is not None:
            return self.code.number(float(i.static == j.static))
        one, zero = (self.code.number(each).value for each in (1.0, 0.0))
        chosen = self.code.emitter.builder.select(i.compare("==", j), one, zero)
        return Number(self.code.emitter, chosen, self.code.dtype)


def with_columns(element: Element) -> Element:
    """Return an element with as many right-hand sides as a unit matrix has columns."""
    return replace(element, lengths={**element.lengths, "n": element["m"]})


def inverse_loops(element: Element) -> ir.Value:
    element = with_columns(element)
    memory = element.memory(FACTORS, ("m", "m"), element.code.dtype).transposed
    pivots = Pivots(element, element.memory(PIVOTS, ("m",), INT32))
    factors = factorised(element, memory, pivots)
    return solve_by_factors(element, factors, pivots, Unit(element), trans=0)


def inverse_by_lapack(element: Element) -> ir.Value:
    """Invert a matrix. To see whether it is symmetric takes a hundredth of the time, and then Cholesky's factor takes
    half of it; if it has none, this is found out after a small part."""
    element = with_columns(element)
    if element.code.dtype.kind != "f":
        return by_exchanges(element)
    done, failed = (StackVariable(element.emitter, element.code.false) for _ in range(2))
    with element.builder.if_then(is_symmetric(element)):
        done.value = by_cholesky(element)
    with element.builder.if_then(element.builder.not_(done.value)):
        failed.value = by_exchanges(element)
    return failed.value


def is_symmetric(element: Element) -> ir.Value:
    """Return whether a matrix is equal to its transpose, its elements are finite, and it is not diagonal, since a
    diagonal one has an exact inverse. Rows behind the first that decides are not read."""
    code, builder, matrix = element.code, element.builder, element.operand(0)
    symmetric = StackVariable(element.emitter, ir.Constant(I1, 1))
    diagonal = StackVariable(element.emitter, ir.Constant(I1, 1))

    def row(i: Index) -> None:
        def look(j: Index) -> None:
            number, other = matrix[i, j], matrix[j, i]
            good = builder.and_(number.equals(other).value, (absolute(number) < float("inf")).value)
            symmetric.value = builder.and_(symmetric.value, good)
            is_zero = builder.or_(number.equals(0.0).value, i.compare("==", j))
            diagonal.value = builder.and_(diagonal.value, is_zero)

        with builder.if_then(symmetric.value):
            code.loop(0, i + 1, look)

    code.loop(0, element["m"], row)
    return builder.and_(symmetric.value, builder.not_(diagonal.value))


def by_cholesky(element: Element) -> ir.Value:
    """Invert by Cholesky's factor, and return whether there is one. LAPACK sees the other triangle of the same
    matrix."""
    n, fortran, code = element["m"], element.fortran, element.code
    result, width = element.result(), fortran.width(n.register)
    element.copy(element.results[0], element.operands[0], n * n)
    info = fortran.lapack("potrf", "U", n, element.results[0], width)
    found = element.builder.icmp_signed("==", info, ir.Constant(I32, 0))
    with element.builder.if_then(found):
        fortran.lapack("potri", "U", n, element.results[0], width)
        code.loop(0, n, lambda i: code.loop(0, i, lambda j: result.__setitem__((j, i), result[i, j])))
    return found


def by_exchanges(element: Element) -> ir.Value:
    """Invert by triangular factors with pivots, which are NumPy's, so the numbers are, too."""
    pivots = Pivots(element, element.memory(PIVOTS, ("m",), INT32))
    factorise(element, element.scratch[FACTORS], element.scratch[PIVOTS], pivots)
    unit(element, element.results[0], element["m"])
    return solve_in_place(element, element.scratch[FACTORS], pivots, trans=0)
