"""Systems whose matrices are zero but for a few diagonals, which are the rows of an array."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.linalg.copies import columns_of, rows_of


def general(element: Element) -> ir.Value:
    """Solve a system whose diagonals are the rows of an array. LAPACK has the diagonals in the rows of a matrix, column
    by column, below as many rows as there are diagonals below the main one: exchanging rows fills these."""
    m, n, d, fortran = element["m"], element["n"], element["d"], element.fortran
    lower, upper, trans = (element.attributes[each] for each in ("lower", "upper", "trans"))
    bands, pivots, right = element.scratch
    rows = d + lower
    own = element.matrix(bands, rows)
    first = own.address(element.code.index(0), element.code.index(lower))
    target = element.matrix(first, rows).transposed
    code, source = element.code, element.operand(0)
    code.each(
        m, d, lambda j, i: element.builder.store(element.builder.load(source.address(i, j)), target.address(i, j))
    )
    columns_of(element, element.operand(1), right, m, n)
    below, above = code.index(lower), code.index(upper)
    width, height = fortran.width(m.register), fortran.width(rows.register)
    info = fortran.lapack("gbtrf", m, m, below, above, bands, height, pivots)
    fortran.lapack("gbtrs", "NT"[trans], m, below, above, n, bands, height, pivots, right, width)
    rows_of(element, right, element.result(), m, n)
    return element.positive(info)


def positive_definite(element: Element) -> ir.Value:
    """Solve a system, given by the diagonals of one triangle, by Cholesky's factor."""
    m, n, d, fortran = element["m"], element["n"], element["d"], element.fortran
    bands, right = element.scratch
    columns_of(element, element.operand(0), bands, d, m)
    columns_of(element, element.operand(1), right, m, n)
    width = fortran.width(m.register)
    info = fortran.lapack("pbsv", triangle_of(element), m, d - 1, n, bands, fortran.width(d.register), right, width)
    rows_of(element, right, element.result(), m, n)
    return element.positive(info)


def factor(element: Element) -> ir.Value:
    """Compute Cholesky's factor, in the triangle that is given. Elements beyond the matrix stay as they were."""
    m, d, fortran = element["m"], element["d"], element.fortran
    (bands,) = element.scratch
    columns_of(element, element.operand(0), bands, d, m)
    some = d.least(1)  # if there are no diagonals at all, there is nothing to factor
    width = fortran.width(d.register)
    info = fortran.lapack("pbtrf", triangle_of(element), m * some, d - some, bands, width)
    rows_of(element, bands, element.result(), d, m)
    return element.positive(info)


def factored(element: Element) -> None:
    """Solve a system whose matrix is given by Cholesky's factor."""
    m, n, d, fortran = element["m"], element["n"], element["d"], element.fortran
    bands, right = element.scratch
    columns_of(element, element.operand(0), bands, d, m)
    columns_of(element, element.operand(1), right, m, n)
    spaces = [fortran.width(each.register) for each in (d, m)]
    fortran.lapack("pbtrs", triangle_of(element), m, d - d.least(1), n, bands, spaces[0], right, spaces[1])
    rows_of(element, right, element.result(), m, n)


def triangle_of(element: Element) -> str:
    return "L" if element.attributes["lower"] else "U"
