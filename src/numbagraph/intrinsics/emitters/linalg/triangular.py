"""Cholesky's factor, and systems with a triangular matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I32, I64, POINTER, Operand
from numbagraph.intrinsics.emitters.formula import Number, absolute, sqrt
from numbagraph.intrinsics.emitters.matrices import Grid, Index, Matrix, Registers, StackVariable
from numbagraph.ir.types import real_dtype

FLIPPED = {"L": "U", "U": "L"}


def cholesky_loops(element: Element) -> ir.Value:
    """Compute Cholesky's factor column by column; NaN passes, as in LAPACK."""
    code, n = element.code, element["m"]
    source, target = element.operand(0), element.result()
    if element.attributes["upper"]:
        source, target = source.transposed, target.transposed
    factor = code.grid(target, n, n, read=False)
    failed = StackVariable(code.emitter, code.false)

    def put(i: Index, j: Index, number: Number) -> None:
        factor[i, j] = number
        if isinstance(factor, Registers):
            target[i, j] = number

    def entry(i: Index, j: Index) -> Number:
        return code.total(source[i, j], 0, j, lambda k: factor[i, k] * factor[j, k])

    def column(j: Index) -> None:
        pivot = entry(j, j)
        failed.value = code.emitter.builder.or_(failed.value, (pivot <= 0.0).value)
        root = sqrt(pivot)
        put(j, j, root)
        inverse = 1.0 / root
        code.loop(j + 1, n, lambda i: put(i, j, entry(i, j) * inverse))
        code.loop(0, j, lambda i: target.__setitem__((i, j), code.number(0.0)))

    code.loop(0, n, column)
    return failed.value


def cholesky_by_lapack(element: Element) -> ir.Value:
    """Compute Cholesky's factor by LAPACK, which sees the transposed matrix, whose other triangle is the same."""
    n, result = element["m"], element.results[0]
    element.copy(result, element.operands[0], n * n)
    upper = element.attributes["upper"]
    info = element.fortran.lapack("potrf", "L" if upper else "U", n, result, element.fortran.width(n.register))
    clear_triangle(element, element.result(), n, upper=not upper)
    return element.positive(info)


def clear_triangle(element: Element, matrix: Matrix, n: Index, *, upper: bool) -> None:
    """Set to zero the elements strictly above, or below, the diagonal of a square matrix in C order."""
    builder = element.builder
    clear = element.emitter.function("memset", POINTER, [POINTER, I32, I64], pure=False)

    def row(i: Index) -> None:
        first, count = (i + 1, n - 1 - i) if upper else (element.code.index(0), i)
        start = builder.bitcast(matrix.address(i, first), POINTER)
        builder.call(clear, [start, ir.Constant(I32, 0), (count * matrix.dtype.itemsize).register])

    element.code.loop(0, n, row)


def solve_loops(element: Element) -> ir.Value:
    """Solve column by column of the right-hand side."""
    trans, lower, unit = (element.attributes[each] for each in ("trans", "lower", "unit_diagonal"))
    matrix = element.operand(0).transposed if trans else element.operand(0)
    system = Triangle(element, matrix, lower != bool(trans), unit)
    source, target = element.operand(1), element.result()

    def column(c: Index) -> None:
        x = system.vector(target, c)
        system.solve(x, lambda i: source[i, c])
        store(system, x, target, c)

    element.code.loop(0, element["n"], column)
    return system.singular


def store(system: Triangle, x: Grid, target: Matrix, c: Index) -> None:
    """Store the numbers that were computed in registers into a column."""
    if isinstance(x, Registers):
        zero = system.code.index(0)
        system.code.loop(0, system.n, lambda i: target.__setitem__((i, c), x[i, zero]))


class Column:
    """A column of a matrix as a matrix of its own."""

    def __init__(self, matrix: Matrix, c: Index) -> None:
        self.matrix = matrix
        self.c = c

    def __getitem__(self, index: tuple[Index, Index]) -> Number:
        return self.matrix[index[0], self.c]

    def __setitem__(self, index: tuple[Index, Index], number: Number) -> None:
        self.matrix[index[0], self.c] = number


RAISED = 2.0**64


def raised_beside(divisor: Number) -> Callable[[Number], Number]:
    """Return a function for both sides of a quotient whose divisor may be subnormal: it scales them so that the
    reciprocal is finite."""
    small = absolute(divisor) < float(np.finfo(real_dtype(divisor.dtype)).tiny)
    return lambda number: small.where(number * RAISED, number)


class Triangle:
    """A triangular matrix to solve with: in registers where its length is static, with the reciprocals of its diagonal
    computed."""

    def __init__(self, element: Element, matrix: Grid, lower: bool, unit: bool) -> None:
        self.code = element.code
        self.n = element["m"]
        self.lower = lower
        self.unit = unit
        self.matrix = matrix
        self.inverse: dict[int, Number] = {}
        self.raised: dict[int, Callable[[Number], Number]] = {}
        if self.n.static is not None:
            self.matrix = Registers()
            for i in map(self.code.index, range(self.n.static)):
                begin, end = (self.code.index(0), i) if lower else (i + 1, self.n)
                self.code.loop(begin, end, lambda k, i=i: self.matrix.__setitem__((i, k), matrix[i, k]))
                if not unit:
                    diagonal = self.matrix[i, i] = matrix[i, i]
                    raised = self.raised[i.static or 0] = raised_beside(diagonal)
                    self.inverse[i.static or 0] = 1.0 / raised(diagonal)
        self.singular = self.find_zero()

    def find_zero(self) -> ir.Value:
        """Return whether there is a zero on the diagonal."""
        builder = self.code.emitter.builder
        found = StackVariable(self.code.emitter, self.code.false)
        if not self.unit:

            def look(i: Index) -> None:
                found.value = builder.or_(found.value, self.matrix[i, i].equals(0.0).value)

            self.code.loop(0, self.n, look)
        return found.value

    def vector(self, target: Matrix, c: Index) -> Grid:
        """Return the place of a solution while it is computed: registers, or a column of the target."""
        return Registers() if self.n.static is not None else Column(target, c)

    def solve(self, x: Grid, right: Callable[[Index], Number]) -> None:
        """Solve by substitution; ``right(i)`` is an element of the right-hand side."""
        zero = self.code.index(0)

        def row(i: Index) -> None:
            begin, end = (zero, i) if self.lower else (i + 1, self.n)
            rest = self.code.total(right(i), begin, end, lambda k: self.matrix[i, k] * x[k, zero])
            x[i, zero] = rest if self.unit else self.divided(rest, i)

        if self.lower:
            self.code.loop(0, self.n, row)
        else:
            self.code.backwards(self.n, row)

    def divided(self, number: Number, i: Index) -> Number:
        if i.static is not None and self.inverse:
            return self.raised[i.static](number) * self.inverse[i.static]
        return number / self.matrix[i, i]


def solve_by_blas(element: Element) -> ir.Value:
    """Solve by BLAS, which sees the transposed matrices, so the solution multiplies from the left."""
    trans, lower, unit = (element.attributes[each] for each in ("trans", "lower", "unit_diagonal"))
    m, n = element["m"], element["n"]
    element.copy(element.results[0], element.operands[1], m * n)
    triangular_by_blas(element, element.operands[0], element.results[0], lower=lower, trans=trans, unit=unit)
    return ir.Constant(I1, 0) if unit else zero_on_diagonal(element, element.operands[0])


def triangular_by_blas(
    element: Element,
    matrix: ir.Value,
    target: ir.Value,
    *,
    lower: bool,
    trans: int,
    unit: bool,
    by_columns: bool = False,
) -> None:
    """Solve by BLAS; ``by_columns`` says whether the matrix is stored column by column, as in BLAS, rather than
    transposed."""
    m, n, fortran = element["m"], element["n"], element.fortran
    name, diagonal = "L" if lower else "U", "U" if unit else "N"
    triangle = name if by_columns else FLIPPED[name]
    several, one = ("TN", "NT") if by_columns else ("NTC", "TN")
    width = fortran.width(m.register)

    def columns() -> None:
        factor, apart = fortran.number(1), fortran.width(n.register)
        fortran.blas("trsm", "R", triangle, several[trans], diagonal, n, m, factor, matrix, width, target, apart)

    if trans == 2:  # of a single column, BLAS has no such system
        columns()
        return
    with element.builder.if_else(n.compare("==", 1)) as (single, more):
        with single:
            fortran.blas("trsv", triangle, one[trans], diagonal, m, matrix, width, target, element.code.index(1))
        with more:
            columns()


def zero_on_diagonal(element: Element, pointer: ir.Value) -> ir.Value:
    """Return whether a matrix, perhaps a complex one, has a zero on its diagonal."""
    builder, found = element.builder, StackVariable(element.emitter, ir.Constant(I1, 0))
    matrix = element.matrix(pointer, element["m"])

    def look(i: Index) -> None:
        value = builder.load(matrix.address(i, i))
        nonzero = element.emitter.is_true(Operand(value, matrix.dtype))
        found.value = builder.or_(found.value, builder.not_(nonzero))

    element.code.loop(0, element["m"], look)
    return found.value
