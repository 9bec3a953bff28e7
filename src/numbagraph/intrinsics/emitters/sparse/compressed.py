"""Products and solutions with compressed sparse matrices.

Such a matrix has a vector of elements, the column of each, and the beginnings of rows (with the end of the last one). A
row may hold its columns in any order, and several times. Nothing is read or written where a pattern points outside of
the matrix: results are not used then, since the call has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import CONTRACT, I1, I64, Emitter, Operand, llvm_constant, memory_type
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64

ROWS_AT_ONCE = 256
"""The number of rows whose columns are checked before they are read, so that they are in a cache then."""


class Memory(Struct):
    """Numbers that follow each other, or rows of them of a width."""

    emitter: Emitter
    pointer: ir.Value
    dtype: np.dtype
    width: Index

    @classmethod
    def of(cls, element: Element, place: ir.Value, number: int, names: Sequence[str] = ()) -> Memory:
        """Return the memory at an address, whose dtype is the element's ``number``-th."""
        dtype = element.dtypes[number]
        pointer = element.builder.bitcast(place, memory_type(dtype).as_pointer())
        return cls(element.emitter, pointer, dtype, element.size(tuple(names)))

    @classmethod
    def operand(cls, element: Element, number: int) -> Memory:
        return cls.of(element, element.operands[number], number, element.shapes[0][number][1:])

    @classmethod
    def result(cls, element: Element, number: int = 0) -> Memory:
        names = element.shapes[1][number][1:]
        return cls.of(element, element.results[number], len(element.operands) + number, names)

    def _address(self, row: Index, column: Index | int) -> ir.Value:
        return self.emitter.builder.gep(self.pointer, [(row * self.width + column).register], inbounds=True)

    def load(self, row: Index, column: Index | int = 0) -> ir.Value:
        return self.emitter.load(self._address(row, column), self.dtype)

    def store(self, value: ir.Value, row: Index, column: Index | int = 0) -> None:
        self.emitter.store(value, self._address(row, column), self.dtype)

    def position(self, row: Index) -> ir.Value:
        """Return an integer, as one of 64 bits."""
        value = self.load(row)
        return value if value.type == I64 else self.emitter.builder.sext(value, I64)

    def zero(self) -> ir.Constant:
        return llvm_constant(0, self.dtype)


def plus_product(emitter: Emitter, total: ir.Value, x: ir.Value, y: ir.Value, dtype: np.dtype) -> ir.Value:
    """Return ``total + x * y``, which real numbers may round once."""
    if dtype.kind == "f":
        term = emitter.builder.fmul(x, y, flags=CONTRACT)
        return emitter.builder.fadd(total, term, flags=CONTRACT)
    term = scalar.multiply(emitter, Operand(x, dtype), Operand(y, dtype))
    return scalar.add(emitter, Operand(total, dtype), Operand(term, dtype))


class Pattern:
    """The pattern of a compressed matrix: which elements belong to which rows. ``lengths`` names the lengths of the
    matrix and of the beginnings of its rows in the element's signature, ``count`` that of the elements. The pattern
    notes whether anything in it was found to be wrong."""

    def __init__(self, element: Element, indices: int, starts: int, count: str = "d", lengths: str = "mnp") -> None:
        self.element = element
        self.columns = Memory.operand(element, indices)
        self.starts = Memory.operand(element, starts)
        self.wrong = StackVariable(element.emitter, ir.Constant(I1, 0))
        builder, code = element.builder, element.code
        rows, width, beginnings = lengths
        m, n, d = (element[name] for name in (rows, width if width in element.lengths else rows, count))
        fits = element[beginnings].compare("==", m + 1)
        self.rows = code.index(builder.select(fits, m.register, ir.Constant(I64, 0)))
        self.width, self.count = n, d
        self.require(fits)
        with builder.if_then(fits):
            self.require(builder.icmp_signed("==", self.starts.position(code.index(0)), ir.Constant(I64, 0)))
            self.require(builder.icmp_signed("==", self.starts.position(m), d.register))

    def require(self, condition: ir.Value) -> None:
        builder = self.element.builder
        self.wrong.value = builder.or_(self.wrong.value, builder.not_(condition))

    def row(self, i: Index, first: Index | int = 0, last: Index | None = None) -> tuple[Index, Index]:
        """Return the beginning and the end of a row. It is empty unless it is a part of the elements from ``first`` to
        ``last``, whose columns have been checked."""
        builder, code = self.element.builder, self.element.code
        begin, end = code.index(self.starts.position(i)), code.index(self.starts.position(i + 1))
        inside = self._in_order(begin, end, first, self.count if last is None else last)
        return begin, code.index(builder.select(inside, end.register, begin.register))

    def _in_order(self, begin: Index, end: Index, first: Index | int, last: Index) -> ir.Value:
        builder = self.element.builder
        inside = builder.and_(begin.compare("<=", end), end.compare("<=", last))
        inside = builder.and_(inside, begin.compare(">=", first))
        self.require(inside)
        return inside

    def checked(self, first: Index, last: Index) -> tuple[Index, Index, Index]:
        """Return the beginning and the end of the elements of some rows, and the number of the row before which they
        are all valid: ``last``, or ``first``."""
        builder, code = self.element.builder, self.element.code
        begin, end = code.index(self.starts.position(first)), code.index(self.starts.position(last))
        inside = self._in_order(begin, end, 0, self.count)
        end = code.index(builder.select(inside, end.register, begin.register))
        type_, width = memory_type(self.columns.dtype), self.width.register
        if type_ != I64:
            width = builder.trunc(self.width.least(2 ** (8 * self.columns.dtype.itemsize) - 1).register, type_)
        zero, one = ir.Constant(type_, 0), ir.Constant(type_, 1)

        def is_outside(found: ir.Value, e: Index) -> ir.Value:
            outside = builder.icmp_unsigned(">=", self.columns.load(e), width)
            return builder.or_(found, builder.select(outside, one, zero))

        good = builder.icmp_unsigned("==", sum_over(self.element, zero, begin, end, is_outside), zero)
        self.require(good)
        good = builder.and_(good, inside)
        return begin, end, code.index(builder.select(good, last.register, first.register))

    def check(self) -> None:
        """Check all columns. If one is wrong, the matrix has no rows."""
        self.rows = self.checked(self.element.code.index(0), self.rows)[2]

    def column(self, e: Index) -> Index:
        """Return the column of an element."""
        return self.element.code.index(self.columns.position(e))

    def each_row(self, body: Callable[[Index, Index, Index], object]) -> None:
        """Emit ``body(row, begin, end)`` for every row. Columns are checked for as many rows at once as fit into a
        cache."""
        code = self.element.code

        def some(first: ir.Value) -> list[ir.Value]:
            last = (code.index(first) + ROWS_AT_ONCE).least(self.rows)
            begin, end, stop = self.checked(code.index(first), last)
            code.loop(code.index(first), stop, lambda i: body(i, *self.row(i, begin, end)))
            return [last.register]

        self.element.emitter.repeat([ir.Constant(I64, 0)], lambda i: code.index(i).compare("<", self.rows), some)

    def each(self, body: Callable[[Index, Index, Index], object]) -> None:
        """Emit ``body(row, number, column)`` for every element."""
        code = self.element.code
        self.each_row(lambda i, begin, end: code.loop(begin, end, lambda e: body(i, e, self.column(e))))


def sum_over(
    element: Element,
    first: ir.Value,
    begin: Index,
    end: Index,
    term: Callable[[ir.Value, Index], ir.Value],
    **hints: int,
) -> ir.Value:
    """Return the register that ``term(total, number)`` renews for each number."""
    code = element.code

    def step(e: ir.Value, total: ir.Value) -> list[ir.Value]:
        return [(code.index(e) + 1).register, term(total, code.index(e))]

    def goes_on(e: ir.Value, _: ir.Value) -> ir.Value:
        return code.index(e).compare("<", end)

    return element.emitter.repeat([begin.register, first], goes_on, step, **hints)[1]


def columns_of(element: Element) -> Index:
    return element.size(("k",) if "k" in element.lengths else ())


def by_width(element: Element, one: Callable[[], object], several: Callable[[], object]) -> None:
    """Emit one of two loops: ``one`` for vectors and for matrices of one column, ``several`` for matrices of more
    columns."""
    if "k" not in element.lengths:
        one()
        return
    with element.builder.if_else(element["k"].compare("==", 1)) as (single, others):
        with single:
            one()
        with others:
            several()


def product(element: Element) -> ir.Value:
    """Emit ``data(d), indices(d), starts(p), shape(z,m,n), x(n,k) -> (m,k)``: row by row."""
    data, x, y = Memory.operand(element, 0), Memory.operand(element, 4), Memory.result(element)
    emitter, code, k = element.emitter, element.code, columns_of(element)
    pattern = Pattern(element, 1, 2)

    def one_row(i: Index, begin: Index, end: Index) -> None:
        def term(total: ir.Value, e: Index) -> ir.Value:
            number = emitter.load(emitter.builder.gep(x.pointer, [pattern.column(e).register], inbounds=True), x.dtype)
            return plus_product(emitter, total, data.load(e), number, x.dtype)

        total = sum_over(element, y.zero(), begin, end, term)
        emitter.store(total, emitter.builder.gep(y.pointer, [i.register], inbounds=True), y.dtype)

    def row(i: Index, begin: Index, end: Index) -> None:
        code.loop(0, k, lambda j: y.store(y.zero(), i, j))

        def add(e: Index) -> None:
            number, column = data.load(e), pattern.column(e)
            code.loop(
                0,
                k,
                lambda j: y.store(plus_product(emitter, y.load(i, j), number, x.load(column, j), x.dtype), i, j),
            )

        code.loop(begin, end, add)

    by_width(element, lambda: pattern.each_row(one_row), lambda: pattern.each_row(row))
    return pattern.wrong.value


def transposed_product(element: Element) -> ir.Value:
    """Emit ``data(d), indices(d), starts(p), shape(z,m,n), x(m,k) -> (n,k)``: each row is spread over the result."""
    data, x, y = Memory.operand(element, 0), Memory.operand(element, 4), Memory.result(element)
    emitter, code, k = element.emitter, element.code, columns_of(element)
    pattern = Pattern(element, 1, 2)
    code.each(element["n"], k, lambda i, j: y.store(y.zero(), i, j))

    def one_row(i: Index, begin: Index, end: Index) -> None:
        number = emitter.load(emitter.builder.gep(x.pointer, [i.register], inbounds=True), x.dtype)

        def add(e: Index) -> None:
            place = emitter.builder.gep(y.pointer, [pattern.column(e).register], inbounds=True)
            before = emitter.load(place, y.dtype)
            emitter.store(plus_product(emitter, before, data.load(e), number, x.dtype), place, y.dtype)

        code.loop(begin, end, add)

    def add_row(i: Index, e: Index, column: Index) -> None:
        number = data.load(e)
        code.loop(
            0,
            k,
            lambda j: y.store(plus_product(emitter, y.load(column, j), number, x.load(i, j), x.dtype), column, j),
        )

    by_width(element, lambda: pattern.each_row(one_row), lambda: pattern.each(add_row))
    return pattern.wrong.value


def sampled_product(element: Element) -> ir.Value:
    """Emit ``x(m,k), y(n,k), indices(d), starts(p), shape(z,m,n) -> (d)``: elements of ``x @ y.T``."""
    x, y, target = Memory.operand(element, 0), Memory.operand(element, 1), Memory.result(element)
    emitter, code, k = element.emitter, element.code, columns_of(element)
    pattern = Pattern(element, 2, 3)

    def one_row(i: Index, begin: Index, end: Index) -> None:
        number = emitter.load(emitter.builder.gep(x.pointer, [i.register], inbounds=True), x.dtype)

        def put(e: Index) -> None:
            place = emitter.builder.gep(y.pointer, [pattern.column(e).register], inbounds=True)
            factors = Operand(number, x.dtype), Operand(emitter.load(place, y.dtype), x.dtype)
            target.store(scalar.multiply(emitter, *factors), e)

        code.loop(begin, end, put)

    def put_sum(i: Index, e: Index, column: Index) -> None:
        def term(total: ir.Value, j: Index) -> ir.Value:
            return plus_product(emitter, total, x.load(i, j), y.load(column, j), x.dtype)

        target.store(sum_over(element, target.zero(), code.index(0), k, term), e)

    by_width(element, lambda: pattern.each_row(one_row), lambda: pattern.each(put_sum))
    return pattern.wrong.value


def rows(element: Element) -> ir.Value:
    """Emit ``indices(d), starts(p), shape(z,m,n) -> (d)``: the row of each element."""
    target, builder = Memory.result(element), element.builder
    pattern = Pattern(element, 0, 1)
    type_ = memory_type(target.dtype)
    pattern.require(element["m"].compare("<=", int(np.iinfo(target.dtype).max)))

    def put(i: Index, e: Index, _: Index) -> None:
        number = i.register
        target.store(number if number.type == type_ else builder.trunc(number, type_), e)

    pattern.each(put)
    return pattern.wrong.value


def looked_up(element: Element) -> ir.Value:
    """Emit ``data(d), indices(d), starts(p), others(q), other_starts(p), shape(z,m,n) -> (q)``: the elements of one
    matrix where another one has its own, or zero. Each row is spread over scratch memory, and taken away again."""
    data, result, emitter, code = Memory.operand(element, 0), Memory.result(element), element.emitter, element.code
    dense = Memory.of(element, element.scratch[0], 0)
    own, other = Pattern(element, 1, 2), Pattern(element, 3, 4, "q")
    own.check()
    other.check()
    code.loop(0, element["n"], lambda j: dense.store(dense.zero(), j))

    def add(e: Index) -> None:
        column = own.column(e)
        values = Operand(dense.load(column), data.dtype), Operand(data.load(e), data.dtype)
        dense.store(scalar.add(emitter, *values), column)

    def row(i: Index, begin: Index, end: Index) -> None:
        first, last = other.row(i)
        code.loop(begin, end, add)
        code.loop(first, last, lambda e: result.store(dense.load(other.column(e)), e))
        code.loop(begin, end, lambda e: dense.store(dense.zero(), own.column(e)))

    code.loop(0, own.rows.least(other.rows), lambda i: row(i, *own.row(i)))
    return element.builder.or_(own.wrong.value, other.wrong.value)


def transposed(element: Element) -> ir.Value:
    """Emit ``indices(d), starts(p), shape(z,m,n) -> (d), (d), (q)``: the numbers of the elements column by column, the
    row of each, and the beginnings of the columns, by counting."""
    order, row, starts = (Memory.result(element, number) for number in range(3))
    code, builder, n = element.code, element.builder, element["n"]
    pattern = Pattern(element, 0, 1)
    largest = int(np.iinfo(order.dtype).max)
    pattern.require(element["m"].compare("<=", largest))
    pattern.require(element["d"].compare("<=", largest))

    def narrow(number: Index) -> ir.Value:
        type_ = memory_type(order.dtype)
        return number.register if type_ == I64 else builder.trunc(number.register, type_)

    def move(column: Index, by: int) -> Index:
        """Add a number to the counter of a column, and return its value before."""
        before = code.index(starts.position(column))
        starts.store(narrow(before + by), column)
        return before

    code.loop(0, n + 1, lambda j: starts.store(starts.zero(), j))
    pattern.each(lambda i, e, column: move(column + 1, 1))
    code.loop(
        1, n + 1, lambda j: starts.store(narrow(code.index(starts.position(j)) + code.index(starts.position(j - 1))), j)
    )

    def put(i: Index, e: Index, column: Index) -> None:
        place = move(column, 1)
        order.store(narrow(e), place)
        row.store(narrow(i), place)

    valid = builder.not_(pattern.wrong.value)
    with builder.if_then(valid):
        pattern.each(put)
        code.backwards(n, lambda j: starts.store(starts.load(j), j + 1))
        starts.store(starts.zero(), code.index(0))
    return pattern.wrong.value


def distinct(element: Element) -> ir.Value:
    """Emit ``data(d), indices(d), starts(p), shape(z,m,n) -> (d)``: the elements. It fails if two are at one place."""
    data, result, code, builder = Memory.operand(element, 0), Memory.result(element), element.code, element.builder
    pattern, pointer = Pattern(element, 1, 2), element.builder.bitcast(element.scratch[0], I64.as_pointer())
    seen = Memory(element.emitter, pointer, INT64, code.index(1))
    code.loop(0, element["n"], lambda j: seen.store(seen.zero(), j))

    def copy(i: Index, e: Index, column: Index) -> None:
        pattern.require(builder.icmp_signed("<=", seen.load(column), i.register))
        seen.store((i + 1).register, column)
        result.store(data.load(e), e)

    pattern.each(copy)
    return pattern.wrong.value


def solve_triangular(element: Element) -> ir.Value:
    """Emit ``data(d), indices(d), starts(p), shape(z,m,m), b(m,k) -> (m,k)``, by substitution. It fails if there is an
    element on the other side of the diagonal, or a zero on it."""
    attributes = element.attributes
    pattern, code = Pattern(element, 1, 2), element.code
    pattern.check()
    row = Triangle(element, pattern, **attributes).row(substitute_back if attributes["trans"] else substitute)
    if attributes["trans"] == attributes["lower"]:
        code.backwards(pattern.rows, lambda i: row(i, *pattern.row(i)))
    else:
        code.loop(0, pattern.rows, lambda i: row(i, *pattern.row(i)))
    return pattern.wrong.value


class Triangle:
    """A system whose solution takes the place of its right-hand side, row by row."""

    def __init__(self, element: Element, pattern: Pattern, *, lower: bool, trans: bool, unit_diagonal: bool) -> None:
        self.element, self.pattern, self.lower, self.unit = element, pattern, lower, unit_diagonal
        self.data, self.x = Memory.operand(element, 0), Memory.result(element)
        element.copy(element.results[0], element.operands[4], element["m"] * element["k"], self.x.dtype)

    def diagonal(self, i: Index, begin: Index, end: Index) -> ir.Value:
        """Return the element on the diagonal, of which there may be several parts; all others must be on one side of
        it."""
        element, builder, emitter = self.element, self.element.builder, self.element.emitter
        dtype = self.data.dtype

        def term(total: ir.Value, e: Index) -> ir.Value:
            column = self.pattern.column(e)
            self.pattern.require(column.compare("<=" if self.lower else ">=", i))
            number = builder.select(column.compare("==", i), self.data.load(e), self.data.zero())
            return scalar.add(emitter, Operand(total, dtype), Operand(number, dtype))

        total = sum_over(element, self.data.zero(), begin, end, term)
        if self.unit:
            return llvm_constant(1, dtype)
        self.pattern.require(emitter.is_true(Operand(total, dtype)))
        return total

    def row(self, solve: Callable[[Triangle, Index, Index, Index, ir.Value], None]) -> Callable[..., None]:
        return lambda i, begin, end: solve(self, i, begin, end, self.diagonal(i, begin, end))

    def subtract(self, target: Index, e: Index, source: Index, j: Index) -> None:
        """Emit ``x[target, j] -= data[e] * x[source, j]``."""
        emitter, dtype = self.element.emitter, self.data.dtype
        number = scalar.negative(emitter, Operand(self.data.load(e), dtype))
        found = plus_product(emitter, self.x.load(target, j), number, self.x.load(source, j), dtype)
        self.x.store(found, target, j)

    def divide(self, i: Index, diagonal: ir.Value) -> None:
        def one(j: Index) -> None:
            operands = Operand(self.x.load(i, j), self.x.dtype), Operand(diagonal, self.x.dtype)
            self.x.store(scalar.divide(self.element.emitter, *operands), i, j)

        if not self.unit:
            self.element.code.loop(0, self.element["k"], one)

    def each_other(self, i: Index, begin: Index, end: Index, body: Callable[[Index, Index, Index], None]) -> None:
        """Emit ``body(number, column, j)`` for each element beside the diagonal, and each column of the right-hand
        side."""
        code, builder = self.element.code, self.element.builder

        def one(e: Index) -> None:
            column = self.pattern.column(e)
            with builder.if_then(column.compare("!=", i)):
                code.loop(0, self.element["k"], lambda j: body(e, column, j))

        code.loop(begin, end, one)


def substitute(system: Triangle, i: Index, begin: Index, end: Index, diagonal: ir.Value) -> None:
    """Compute an element of the solution from a row of the matrix."""
    system.each_other(i, begin, end, lambda e, column, j: system.subtract(i, e, column, j))
    system.divide(i, diagonal)


def substitute_back(system: Triangle, i: Index, begin: Index, end: Index, diagonal: ir.Value) -> None:
    """Subtract an element of the solution, times a column of the matrix, from the others."""
    system.divide(i, diagonal)
    system.each_other(i, begin, end, lambda e, column, j: system.subtract(column, e, i, j))
