"""Schur's form, reflections that make a matrix triangular, and the order of columns by what is left of them."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.linalg.copies import columns_of, rows_of
from numbagraph.intrinsics.emitters.linalg.equations import schur
from numbagraph.intrinsics.emitters.linalg.general import Pivots
from numbagraph.intrinsics.emitters.linalg.spectral import BLOCK, MOST, TABLES, nonzero, not_finite


def schur_form(element: Element) -> ir.Value:
    n = element["m"]
    matrix, vectors, work, values, real_work = element.scratch
    columns_of(element, element.operand(0), matrix, n, n)
    failed = not_finite(element, 0, n * n)
    info = schur(element, matrix, vectors, n, work, values, real_work)
    for number, source in enumerate((matrix, vectors)):
        rows_of(element, source, element.result(number), n, n)
    return element.builder.or_(failed, nonzero(element, info))


def reflections(element: Element) -> None:
    """Compute the vectors of reflections below the diagonal, the triangular factor above, and the reflections'
    scales."""
    m, n, fortran = element["m"], element["n"], element.fortran
    matrix, work = element.scratch
    columns_of(element, element.operand(0), matrix, m, n)
    size = (n * BLOCK + TABLES).least(MOST)
    fortran.lapack("geqrf", m, n, matrix, fortran.width(m.register), element.results[1], work, size)
    rows_of(element, matrix, element.result(0), m, n)


def order_of_columns(element: Element) -> None:
    m, n, code, fortran = element["m"], element["n"], element.code, element.fortran
    matrix, scales, work, real_work = element.scratch
    order = Pivots(element, element.result())
    code.loop(0, n, lambda j: order.__setitem__(j, code.index(0)))  # all columns may move
    columns_of(element, element.operand(0), matrix, m, n)
    size = (n * BLOCK + TABLES).least(MOST)
    spaces = [work, size, *([real_work] if code.dtype.kind == "c" else [])]
    fortran.lapack("geqp3", m, n, matrix, fortran.width(m.register), element.results[0], scales, *spaces)
    code.loop(0, n, lambda j: order.__setitem__(j, order[j] - 1))
