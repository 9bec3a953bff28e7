"""Decompositions by LAPACK: of symmetric matrices, into singular values, and into orthogonal and triangular factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I32, I64, llvm_constant
from numbagraph.intrinsics.emitters.formula import Complex
from numbagraph.intrinsics.emitters.fortran import Fortran
from numbagraph.intrinsics.emitters.linalg.copies import columns_of, move, rows_of, transpose, unit
from numbagraph.intrinsics.emitters.matrices import Code, Index, Matrix, StackVariable
from numbagraph.ir.types import real_dtype


def nonzero(element: Element, info: ir.Value) -> ir.Value:
    """Return whether LAPACK has given no result; NaN is an argument that some routines refuse."""
    return element.builder.icmp_signed("!=", info, ir.Constant(I32, 0))


def symmetric(vectors: bool) -> Callable[[Element], ir.Value]:
    """Compute eigenvalues, and eigenvectors in columns. With the least work memory, LAPACK would work column by
    column."""

    def emit(element: Element) -> ir.Value:
        n, fortran = element["m"], element.fortran
        matrix, work, real_work, integers = element.scratch
        columns_of(element, element.operand(0), matrix, n, n)
        triangle = "L" if element.attributes["lower"] else "U"
        sizes = [element.code.index(1), element.code.index(1), element.code.index(1)]
        if vectors:
            is_complex = element.code.dtype.kind == "c"
            sizes[0] = 1 + n * (n + 2) if is_complex else 1 + n * 6 + n * n * 2
            sizes[1] = 1 + n * 5 + n * n * 2
            sizes[2] = 3 + n * 5
        elif element.code.dtype.kind == "c":
            sizes[0], sizes[1] = n * (BLOCK + 1) + 1, n + 1
        else:
            sizes[0] = n * (BLOCK + 2) + 1
        spaces = [work, sizes[0]]
        if element.code.dtype.kind == "c":
            spaces += [real_work, sizes[1]]
        spaces += [integers, sizes[2]]
        job = "V" if vectors else "N"
        info = fortran.lapack("syevd", job, triangle, n, matrix, fortran.width(n.register), element.results[0], *spaces)
        if vectors:
            rows_of(element, matrix, element.result(1), n, n)
        return nonzero(element, info)

    return emit


def orthogonal_triangular(element: Element) -> None:
    """Compute Q and R by Householder's reflections. Q gets as many columns as the result has."""
    m, n, k, fortran = element["m"], element["n"], element["k"], element.fortran
    matrix, factors, work = element.scratch
    columns_of(element, element.operand(0), matrix, m, n)
    size = ((n + k) * BLOCK + 1).least(MOST)
    width = fortran.width(m.register)
    fortran.lapack("geqrf", m, n, matrix, width, factors, work, size)
    upper_part(element, matrix, element.result(1), m, k, n)
    reflections = m.least(n).least(k)
    fortran.lapack("orgqr", m, k, reflections, matrix, width, factors, work, size)
    rows_of(element, matrix, element.result(0), m, k)


def upper_part(element: Element, matrix: ir.Value, target: Matrix, m: Index, rows: Index, columns: Index) -> None:
    """Write the first rows of a matrix in Fortran's order, which has m of them, and zeros below the diagonal."""
    transpose(element, element.matrix(matrix, m, target.dtype), target, columns, rows)
    zero = llvm_constant(0, target.dtype)

    def clear(i: Index) -> None:
        element.code.loop(0, columns.least(i), lambda j: element.builder.store(zero, target.address(i, j)))

    element.code.loop(0, rows, clear)


def hessenberg(vectors: bool) -> Callable[[Element], None]:
    """Compute the Hessenberg form of a matrix, and the unitary matrix that leads to it. A matrix of two rows is its own
    form."""

    def emit(element: Element) -> None:
        n, fortran, code = element["m"], element.fortran, element.code
        matrix, factors, work = element.scratch
        columns_of(element, element.operand(0), matrix, n, n)
        place = matrix, fortran.width(n.register), factors, work, (n * BLOCK + TABLES).least(MOST)
        is_long = n.compare(">", 2)
        with element.builder.if_then(is_long, likely=True):
            fortran.lapack("gehrd", n, code.index(1), n, *place)
        form, source = element.result(), element.matrix(matrix, n).transposed
        zero = llvm_constant(0, code.dtype)

        def put(i: Index, j: Index) -> None:
            builder = element.builder
            value = builder.select(i.compare("<=", j + 1), builder.load(source.address(i, j)), zero)
            builder.store(value, form.address(i, j))

        code.each(n, n, put)
        if vectors:
            with element.builder.if_else(is_long, likely=True) as (long, short):
                with long:
                    fortran.lapack("orghr", n, code.index(1), n, *place)
                    rows_of(element, matrix, element.result(1), n, n)
                with short:
                    unit(element, element.results[1], n)

    return emit


TABLES = 65 * 64
"""The number of elements of work memory for the triangular factors of blocks of reflections."""
BLOCK = 64
"""The number of columns that LAPACK takes at a time."""
MOST = 2**31 - 1
"""The greatest number of elements of work memory that LAPACK's integers hold."""


def singular(vectors: bool) -> Callable[[Element], ir.Value]:
    """Compute singular values, from the largest, and singular vectors: the left ones in columns, the right ones in
    rows."""

    def emit(element: Element) -> ir.Value:
        m, n, fortran, code = element["m"], element["n"], element.fortran, element.code
        matrix, left, right, work, real_work, integers = element.scratch
        columns_of(element, element.operand(0), matrix, m, n)
        width = fortran.width(m.register)
        rows, columns = (element["p"], element["q"]) if vectors else (code.index(1), code.index(1))
        if vectors:
            with element.builder.if_then(m.least(n).compare("==", 0), likely=False):
                unit(element, left, rows)
                unit(element, right, columns)
        job = "N" if not vectors else "A" if element.attributes["full_matrices"] else "S"
        spaces = [work, work_of_singular(m, n, rows, columns)]
        if code.dtype.kind == "c":
            spaces.append(real_work)
        values = element.results[1 if vectors else 0]
        outputs = values, left, width, right, fortran.width(columns.register)
        wrong = not_finite(element, 0, m * n)  # LAPACK may not return
        lengths = none_if(element, wrong, m), none_if(element, wrong, n)
        info = fortran.lapack("gesdd", job, *lengths, matrix, width, *outputs, *spaces, integers)
        if vectors:
            rows_of(element, left, element.result(0), m, rows)
            rows_of(element, right, element.result(2), columns, n)
        return element.builder.or_(wrong, nonzero(element, info))

    return emit


def work_of_singular(m: Index, n: Index, rows: Index, columns: Index) -> Index:
    """Return the size of work memory, which is more than LAPACK asks for: ``4 k**2 + 7 k`` for the smaller length k,
    the larger one, and blocks of vectors."""
    k = m.least(n)
    return (k * k * 4 + k * (7 + 2 * BLOCK) + (rows + columns) * BLOCK + m + n + 1).least(MOST)


def general(vectors: bool) -> Callable[[Element], ir.Value]:
    """Compute eigenvalues of a complex matrix, and right eigenvectors in columns."""

    def emit(element: Element) -> ir.Value:
        return (general_of_real if element.attributes["real"] else general_of_complex)(element, vectors)

    return emit


def general_of_complex(element: Element, vectors: bool) -> ir.Value:
    n, fortran = element["m"], element.fortran
    matrix, columns, work, real_work = element.scratch
    columns_of(element, element.operand(0), matrix, n, n)
    width = fortran.width(n.register)
    wrong = not_finite(element, 0, n * n)
    outputs = element.results[0], columns, width, columns, width
    order = none_if(element, wrong, n)  # LAPACK would print
    jobs = "N", "V" if vectors else "N"
    info = fortran.lapack("geev", *jobs, order, matrix, width, *outputs, work, n * BLOCK + 1, real_work)
    if vectors:
        rows_of(element, columns, element.result(1), n, n)
    return element.builder.or_(wrong, nonzero(element, info))


def general_of_real(element: Element, vectors: bool) -> ir.Value:
    """Compute the eigenvalues of a complex matrix without imaginary parts, by the routine for real ones, whose order
    NumPy has."""
    n, dtype = element["m"], real_dtype(element.code.dtype)
    code, fortran = Code(element.emitter, dtype), Fortran(element.emitter, dtype)
    matrix, columns, parts, work = element.scratch
    source = Matrix(element.emitter, element.operands[0], dtype, n * 2, code.index(2))
    move(element, source, element.matrix(matrix, n, dtype).transposed, n, n)
    width = fortran.width(n.register)
    wrong = not_finite(element, 0, n * n)
    both = element.matrix(parts, n, dtype)
    real, imaginary = (both.address(code.index(each), code.index(0)) for each in (0, 1))
    outputs = real, imaginary, columns, width, columns, width
    order, jobs = none_if(element, wrong, n), ("N", "V" if vectors else "N")
    info = fortran.lapack("geev", *jobs, order, matrix, width, *outputs, work, n * BLOCK + 1)
    values = element.result(0)

    def put(k: Index) -> None:
        value = Complex(both[code.index(0), k], both[code.index(1), k])
        values[code.index(0), k] = value
        if vectors:
            put_vector(element, code, element.matrix(columns, n, dtype).transposed, value, k)

    code.loop(0, n, put)
    return element.builder.or_(wrong, nonzero(element, info))


def put_vector(element: Element, code: Code, found: Matrix, value: Complex, k: Index) -> None:
    """Write the vectors of a pair of conjugates: the sum and the difference of two columns, the second one times i."""
    zero, target = code.number(0.0), element.result(1)
    first, second = value.imag > zero, value.imag < zero
    left = k + code.index(element.builder.sext(second.value, I64))
    right = k + code.index(element.builder.zext(first.value, I64))

    def one(i: Index) -> None:
        part: Any = found[i, right]
        turned: Any = first.where(part, second.where(-part, zero))
        target[i, k] = Complex(found[i, left], turned)

    code.loop(0, element["m"], one)


def not_finite(element: Element, operand: int, size: Index) -> ir.Value:
    """Return whether an element of an operand is infinite or NaN, in one of its parts."""
    code, builder, dtype = element.code, element.builder, real_dtype(element.code.dtype)
    count = size * (2 if element.code.dtype.kind == "c" else 1)
    parts = Matrix(element.emitter, element.operands[operand], dtype, count, code.index(1))
    found = StackVariable(element.emitter, ir.Constant(I1, 0))

    def look(i: Index) -> None:
        number = parts[code.index(0), i]
        found.value = builder.or_(found.value, (number - number).is_nan().value)

    code.loop(0, count, look)
    return found.value


def none_if(element: Element, condition: ir.Value, length: Index) -> Index:
    """Return a length, or 0 where LAPACK must not see the matrix."""
    return Index(element.emitter, element.builder.select(condition, ir.Constant(I64, 0), length.register))
