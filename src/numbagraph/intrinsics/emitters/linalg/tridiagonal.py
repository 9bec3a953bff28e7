"""Eigenvalues of symmetric tridiagonal matrices."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I32, llvm_type
from numbagraph.intrinsics.emitters.formula import Number
from numbagraph.intrinsics.emitters.linalg.spectral import nonzero
from numbagraph.intrinsics.emitters.matrices import Index


def eigenvalues(element: Element) -> ir.Value:
    """Compute all eigenvalues by the QL method, or some by bisection. For operands that are not finite, LAPACK's result
    is undefined."""
    n, builder, fortran = element["m"], element.builder, element.fortran
    main, other, found, work, integers = element.scratch
    element.copy(main, element.operands[0], n)
    element.copy(other, element.operands[1], n)
    first, count = element.attributes["first"], element.attributes["count"]
    if not count:
        info = fortran.lapack("sterf", n, main, other)
        element.copy(element.results[0], main, n)
    else:
        places = [integer(element, integers, n * number + 2) for number in range(3)]
        counts = [integer(element, integers, element.code.index(number)) for number in range(2)]
        low, high = (element.code.index(each) for each in (first + 1, first + count))
        info = fortran.lapack(
            *("stebz", "I", "E", n, 0.0, 0.0, low, high, 0.0, main, other, *counts, found, places[0], places[1]),
            *(work, places[2]),
        )
        element.copy(element.results[0], found, element["k"])
    return builder.or_(nonzero(element, info), builder.not_(are_finite(element)))


def integer(element: Element, pointer: ir.Value, place: Index) -> ir.Value:
    """Return the address of one of LAPACK's integers."""
    return element.builder.gep(element.builder.bitcast(pointer, I32.as_pointer()), [place.register])


def are_finite(element: Element) -> ir.Value:
    """Return whether all elements are finite, by a sum of zeros, which is not zero otherwise."""
    code, builder = element.code, element.builder
    total = code.number(0.0)
    for pointer in element.operands[:2]:
        row = builder.bitcast(pointer, llvm_type(code.dtype).as_pointer())

        def term(k: Index, row: ir.Value = row) -> Number:
            return Number(element.emitter, builder.load(builder.gep(row, [k.register])), code.dtype) * 0.0

        total = code.total(total, 0, element["m"], term)
    return builder.fcmp_ordered("==", total.value, total.value)
