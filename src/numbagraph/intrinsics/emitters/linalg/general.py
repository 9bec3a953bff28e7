"""Factors of general square matrices, with pivots, and systems that are solved with them."""

from __future__ import annotations

from typing import Protocol

from llvmlite import ir

from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I32, I64, Operand
from numbagraph.intrinsics.emitters.formula import INT32, Bits, Number, absolute, unwrap
from numbagraph.intrinsics.emitters.linalg.copies import columns_of, rows_of
from numbagraph.intrinsics.emitters.linalg.triangular import (
    Column,
    Triangle,
    raised_beside,
    store,
    triangular_by_blas,
    zero_on_diagonal,
)
from numbagraph.intrinsics.emitters.matrices import Grid, Index, Matrix, Registers, StackVariable, number_of


class Columns(Protocol):
    """Right-hand sides."""

    def __getitem__(self, index: tuple[Index, Index]) -> Number: ...


class Pivots:
    """The row that each row is exchanged with, in order, as 32-bit integers in memory."""

    def __init__(self, element: Element, rows: Matrix) -> None:
        self.element = element
        self.rows = rows

    def number(self, k: Index) -> Bits:
        return self.rows[self.element.code.index(0), k]

    def __getitem__(self, k: Index) -> Index:
        return self.element.code.index(self.element.builder.sext(self.number(k).value, I64))

    def __setitem__(self, k: Index, row: Index | Bits) -> None:
        number = row if isinstance(row, Bits) else as_number(self.element, row)
        self.rows[self.element.code.index(0), k] = number


def as_number(element: Element, index: Index) -> Bits:
    """Return an index in the form that pivots have."""
    if index.static is not None:
        return Bits(element.emitter, element.emitter.constant(index.static, INT32), INT32)
    return Bits(element.emitter, element.builder.trunc(index.register, I32), INT32)


def lu_loops(element: Element) -> None:
    """Factor by loops. The factors stand in memory as in LAPACK: column by column."""
    code, n = element.code, element["m"]
    target, pivots = element.result(0).transposed, Pivots(element, element.result(1))
    factors = factorised(element, target, pivots)
    if isinstance(factors, Registers):
        code.each(n, n, lambda i, j: target.__setitem__((i, j), factors[i, j]))
    write_determinant(element, factors, pivots)


def factorised(element: Element, target: Matrix, pivots: Pivots) -> Grid:
    """Return the factors of the first operand, in registers or in memory. The pivot of each column is the largest
    element of what is left of it."""
    code, n, source = element.code, element["m"], element.operand(0)
    factors = code.grid(source, n, n) if n.static is not None else target
    if n.static is None:
        code.each(n, n, lambda j, i: target.__setitem__((i, j), source[i, j]))

    def eliminate(k: Index) -> None:
        pivot = find_pivot(element, factors, k)
        pivots[k] = pivot
        exchange_rows(element, factors, k, pivot)
        diagonal = factors[k, k]
        raised = raised_beside(diagonal)
        inverse = diagonal.equals(0.0).where(diagonal.constant(0.0), 1.0 / raised(diagonal))
        code.loop(k + 1, n, lambda i: factors.__setitem__((i, k), raised(factors[i, k]) * inverse))

        def column(j: Index) -> None:
            number = factors[k, j]
            code.loop(k + 1, n, lambda i: factors.__setitem__((i, j), factors[i, j] - factors[i, k] * number))

        code.loop(k + 1, n, column)

    code.loop(0, n, eliminate)
    return factors


def write_determinant(element: Element, factors: Grid, pivots: Pivots) -> None:
    """Write the determinant: the product of the diagonal, whose sign every exchange of rows turns. It is 0 where an
    element of the diagonal is, also beside NaN and infinities."""
    code = element.code
    product = StackVariable(code.emitter, code.emitter.constant(1, code.dtype))
    singular = StackVariable(code.emitter, code.false)

    def take(k: Index) -> None:
        diagonal = unwrap(code.emitter, factors[k, k])
        value = scalar.multiply(code.emitter, Operand(product.value, code.dtype), Operand(diagonal, code.dtype))
        turned = scalar.negative(code.emitter, Operand(value, code.dtype))
        stays = pivots.number(k).compare("==", as_number(element, k))
        product.value = element.builder.select(stays.value, value, turned)
        nonzero = code.emitter.is_true(Operand(diagonal, code.dtype))
        singular.value = element.builder.or_(singular.value, element.builder.not_(nonzero))

    code.loop(0, element["m"], take)
    found = element.builder.select(singular.value, code.emitter.constant(0, code.dtype), product.value)
    element.result(2)[code.index(0), code.index(0)] = number_of(code.emitter, found, code.dtype)


def find_pivot(element: Element, factors: Grid, k: Index) -> Bits:
    """Return the first row, from row k on, with the largest element in column k."""
    code, builder = element.code, element.builder
    largest = StackVariable(code.emitter, absolute(factors[k, k]).value)
    best = StackVariable(code.emitter, as_number(element, k).value)

    def look(i: Index) -> None:
        size = absolute(factors[i, k])
        better = (size > Number(code.emitter, largest.value, code.dtype)).value
        largest.value = builder.select(better, size.value, largest.value)
        best.value = builder.select(better, as_number(element, i).value, best.value)

    code.loop(k + 1, element["m"], look)
    return Bits(code.emitter, best.value, INT32)


def exchange_rows(element: Element, factors: Grid, k: Index, pivot: Bits) -> None:
    """Exchange two rows; in registers by selection, since the number of the other row is known only at run time."""
    code, n = element.code, element["m"]

    def exchange(i: Index, chosen: Number, j: Index) -> None:
        first, second = factors[k, j], factors[i, j]
        factors[k, j], factors[i, j] = chosen.where(second, first), chosen.where(first, second)

    if isinstance(factors, Registers):
        for number in range((k + 1).static or 0, n.static or 0):
            i, chosen = code.index(number), pivot.compare("==", number)
            code.loop(0, n, lambda j, i=i, chosen=chosen: exchange(i, chosen, j))
        return

    other = code.index(element.builder.sext(pivot.value, I64))

    def swap(j: Index) -> None:
        first, second = factors[k, j], factors[other, j]
        factors[k, j], factors[other, j] = second, first

    with element.builder.if_then(k.compare("!=", other)):
        code.loop(0, n, swap)


def lu_by_lapack(element: Element) -> None:
    """Factor the matrix itself, column by column, and not its transpose, so that the pivots are NumPy's."""
    pivots = Pivots(element, element.result(1))
    factorise(element, element.results[0], element.results[1], pivots)
    write_determinant(element, element.result(0), pivots)


def factorise(element: Element, columns: ir.Value, memory: ir.Value, pivots: Pivots) -> None:
    """Put the factors of the first operand, and the pivots, into memory."""
    n, fortran = element["m"], element.fortran
    columns_of(element, element.operand(0), columns, n, n)
    fortran.lapack("getrf", n, n, columns, fortran.width(n.register), memory)
    element.code.loop(0, n, lambda k: pivots.__setitem__(k, pivots[k] - 1))


def solve_factored_loops(element: Element) -> ir.Value:
    trans = element.attributes["trans"]
    matrix = element.operand(1) if trans else element.operand(1).transposed
    return solve_by_factors(element, matrix, Pivots(element, element.operand(2)), element.operand(3), trans=trans)


def solve_by_factors(element: Element, matrix: Grid, pivots: Pivots, source: Columns, *, trans: int) -> ir.Value:
    """Solve by substitution with both factors. The rows of the right-hand side are exchanged first, or for the
    transposed matrix those of the solution last."""
    code, n, target = element.code, element["m"], element.result()
    systems = [Triangle(element, matrix, lower=True, unit=not trans), Triangle(element, matrix, False, bool(trans))]
    known = [pivots.number(k) for k in map(code.index, range(n.static))] if n.static is not None else None

    def permute(x: Grid) -> None:
        def exchange(k: Index) -> None:
            exchange_elements(element, x, k, known[k.static or 0] if known is not None else pivots.number(k))

        if trans:
            code.backwards(n, exchange)
        else:
            code.loop(0, n, exchange)

    def column(c: Index) -> None:
        x: Grid = Registers() if n.static is not None else Column(target, c)
        zero = code.index(0)
        code.loop(0, n, lambda i: x.__setitem__((i, zero), source[i, c]))
        if not trans:
            permute(x)
        for system in systems:
            system.solve(x, lambda i: x[i, zero])
        if trans:
            permute(x)
        store(systems[0], x, target, c)

    code.loop(0, element["n"], column)
    return systems[0 if trans else 1].singular


def exchange_elements(element: Element, x: Grid, k: Index, pivot: Bits) -> None:
    code, zero = element.code, element.code.index(0)
    if isinstance(x, Registers):
        for number in range((k + 1).static or 0, element["m"].static or 0):
            i, chosen = code.index(number), pivot.compare("==", number)
            first, second = x[k, zero], x[i, zero]
            x[k, zero], x[i, zero] = chosen.where(second, first), chosen.where(first, second)
        return
    other = code.index(element.builder.sext(pivot.value, I64))
    first, second = x[k, zero], x[other, zero]
    x[k, zero], x[other, zero] = second, first


def solve_factored_by_blas(element: Element) -> ir.Value:
    element.copy(element.results[0], element.operands[3], element["m"] * element["n"])
    pivots = Pivots(element, element.operand(2))
    return solve_in_place(element, element.operands[1], pivots, trans=element.attributes["trans"])


def solve_in_place(element: Element, factors: ir.Value, pivots: Pivots, *, trans: int) -> ir.Value:
    """Solve for the right-hand sides that stand where the solutions will be."""
    m, n, code, result, rows = element["m"], element["n"], element.code, element.results[0], element.result()

    def exchange(k: Index) -> None:
        other = pivots[k]
        with element.builder.if_then(k.compare("!=", other)):
            code.loop(0, n, lambda j: swap(element, rows.address(k, j), rows.address(other, j)))

    def lower() -> None:
        triangular_by_blas(element, factors, result, lower=True, trans=trans, unit=True, by_columns=True)

    def upper() -> None:
        triangular_by_blas(element, factors, result, lower=False, trans=trans, unit=False, by_columns=True)

    if trans:
        upper()
        lower()
        code.backwards(m, exchange)
    else:
        code.loop(0, m, exchange)
        lower()
        upper()
    return zero_on_diagonal(element, factors)


def swap(element: Element, first: ir.Value, second: ir.Value) -> None:
    """Exchange the numbers at two addresses."""
    numbers = [element.builder.load(each) for each in (first, second)]
    element.builder.store(numbers[1], first)
    element.builder.store(numbers[0], second)


def permutation_of_pivots(element: Element) -> ir.Value:
    """Exchange the numbers of the rows as the rows were exchanged, and return whether a pivot is no row."""
    code, n, builder = element.code, element["m"], element.builder
    failed = StackVariable(element.emitter, ir.Constant(I1, 0))
    rows, pivots = Pivots(element, element.result()), Pivots(element, element.operand(0))
    code.loop(0, n, lambda k: rows.__setitem__(k, k))

    def exchange(k: Index) -> None:
        given = pivots[k].register
        is_outside = builder.icmp_unsigned(">=", given, n.register)
        failed.value = builder.or_(failed.value, is_outside)
        other = code.index(builder.select(is_outside, k.register, given))
        first, second = rows[k], rows[other]
        rows[k], rows[other] = second, first

    code.loop(0, n, exchange)
    return failed.value


def tridiagonal_by_lapack(element: Element) -> ir.Value:
    """Solve a tridiagonal system. LAPACK overwrites the three diagonals, and takes the right-hand side column by
    column."""
    m, n, fortran = element["m"], element["n"], element.fortran
    diagonals, right = element.scratch
    rows = element.matrix(diagonals, m)
    copies = [rows.address(element.code.index(number), element.code.index(0)) for number in range(3)]
    lower = element.matrix(element.operands[0], m).address(element.code.index(0), element.code.index(1))
    with element.builder.if_then(m.compare(">", 0)):
        element.copy(copies[0], lower, m - 1)
        element.copy(copies[1], element.operands[1], m)
        element.copy(copies[2], element.operands[2], m - 1)
    columns_of(element, element.operand(3), right, m, n)
    # LAPACK's function writes to a first column where there is none
    info = element.emitter.choose(
        n.compare(">", 0),
        lambda: fortran.lapack("gtsv", m, n, *copies, right, fortran.width(m.register)),
        lambda: ir.Constant(I32, 0),
    )
    rows_of(element, right, element.result(), m, n)
    return element.positive(info)
