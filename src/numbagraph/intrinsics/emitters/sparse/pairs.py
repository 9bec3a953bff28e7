"""Combinations of two sparse matrices: the positions of the elements of products and sums, and these elements.

Each row of a result is made in scratch memory that is as long as a row, as Gustavson does it (Two fast algorithms for
sparse matrices, 1978).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from llvmlite import ir

from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I64, Operand, memory_type
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.intrinsics.emitters.sparse.compressed import Memory, Pattern, plus_product
from numbagraph.ir.types import INT64

Visit = Callable[[Index], None]
Row = Callable[[Index, Visit], None]
"""``row(i, visit)`` calls ``visit(column)`` for each column of a row of a result, perhaps several times."""


def product_row(left: Pattern, right: Pattern) -> Row:
    code = left.element.code

    def row(i: Index, visit: Visit) -> None:
        def of_right(e: Index) -> None:
            begin, end = right.row(left.column(e))
            code.loop(begin, end, lambda f: visit(right.column(f)))

        code.loop(*left.row(i), of_right)

    return row


def union_row(left: Pattern, right: Pattern) -> Row:
    code = left.element.code

    def row(i: Index, visit: Visit) -> None:
        for pattern in (left, right):
            begin, end = pattern.row(i)
            code.loop(begin, end, lambda e, pattern=pattern: visit(pattern.column(e)))

    return row


def factors(element: Element, left: int, right: int) -> tuple[Pattern, Pattern]:
    """Return the patterns of two factors. The numbers are those of the operands that have the indices; the beginnings
    follow."""
    pair = Pattern(element, left, left + 1, "d", "mlp"), Pattern(element, right, right + 1, "e", "lnq")
    for each in pair:
        each.check()
    return pair


def terms(element: Element, first: int = 0) -> tuple[Pattern, Pattern]:
    """Return the patterns of two terms of one shape, which are operands from the number ``first`` on."""
    pair = Pattern(element, first, first + 1), Pattern(element, first + 2, first + 3, "e")
    for each in pair:
        each.check()
    return pair


def wrong(*patterns: Pattern) -> ir.Value:
    found = patterns[0].wrong.value
    for each in patterns[1:]:
        found = patterns[0].element.builder.or_(found, each.wrong.value)
    return found


def integers(element: Element, number: int) -> Memory:
    """Return a piece of scratch memory, with integers of 64 bits."""
    pointer = element.builder.bitcast(element.scratch[number], I64.as_pointer())
    return Memory(element.emitter, pointer, INT64, element.code.index(1))


def count_rows(element: Element, row: Row, patterns: tuple[Pattern, Pattern], rows: Index) -> ir.Value:
    """Write the beginnings of the rows of a result."""
    starts, code, builder = Memory.result(element), element.code, element.builder
    seen, total = integers(element, 0), StackVariable(element.emitter, ir.Constant(I64, 0))
    code.loop(0, element["n"], lambda j: seen.store(seen.zero(), j))

    def one(i: Index) -> None:
        def visit(column: Index) -> None:
            with builder.if_then(builder.icmp_signed("<=", seen.load(column), i.register)):
                seen.store((i + 1).register, column)
                total.value = (code.index(total.value) + 1).register

        starts.store(total.value, i)
        row(i, visit)

    code.loop(0, rows, one)
    code.loop(rows, element["p"], lambda i: starts.store(total.value, i))
    return wrong(*patterns)


class Elements:
    """The elements of a result row by row, in the order in which they are found. Their number must be the counted
    one."""

    def __init__(self, element: Element, columns: int, patterns: tuple[Pattern, Pattern]) -> None:
        """Prepare the elements; ``columns`` is the number of the result for the column of each."""
        self.element, self.columns, self.patterns = element, Memory.result(element, columns), patterns
        self.places, self.count = integers(element, 0), StackVariable(element.emitter, ir.Constant(I64, 0))
        self.begin = element.code.index(0)
        element.code.loop(0, element["n"], lambda j: self.places.store(ir.Constant(I64, -1), j))

    def start_row(self) -> None:
        self.begin = self.element.code.index(self.count.value)

    def place(self, column: Index, first: Callable[[Index], None], then: Callable[[Index], None]) -> None:
        """Look up the place of a column in this row: call ``first`` if the column is found for the first time, else
        ``then``."""
        builder, code = self.element.builder, self.element.code
        place = code.index(self.places.load(column))
        with builder.if_else(place.compare("<", self.begin)) as (new, known):
            with new:
                end = code.index(self.count.value)
                is_room = end.compare("<", self.element["c"])
                self.patterns[0].require(is_room)
                with builder.if_then(is_room):
                    self.places.store(end.register, column)
                    self.columns.store(narrowed(column, self.columns), end)
                    first(end)
                    self.count.value = (end + 1).register
            with known:
                then(place)

    def close(self) -> ir.Value:
        """Return whether anything was wrong."""
        self.patterns[0].require(self.element.code.index(self.count.value).compare("==", self.element["c"]))
        return wrong(*self.patterns)


def narrowed(number: Index, target: Memory) -> ir.Value:
    type_ = memory_type(target.dtype)
    return number.register if type_ == I64 else target.emitter.builder.trunc(number.register, type_)


def product_starts(element: Element) -> ir.Value:
    """Emit ``indices(d), starts(p), shape(z,m,l), indices(e), starts(q), shape(z,l,n) -> (p)``."""
    left, right = factors(element, 0, 3)
    return count_rows(element, product_row(left, right), (left, right), left.rows.least(valid(left, right)))


def product_elements(element: Element) -> ir.Value:
    """Emit ``x(d), indices(d), starts(p), shape(z,m,l), y(e), indices(e), starts(q), shape(z,l,n), room(c) -> (c),
    (c)``: the elements of a product, and the column of each."""
    x, y, target, emitter = (
        Memory.operand(element, 0),
        Memory.operand(element, 4),
        Memory.result(element),
        element.emitter,
    )
    (left, right), code = factors(element, 1, 5), element.code
    found = Elements(element, 1, (left, right))

    def row(i: Index) -> None:
        found.start_row()

        def multiply(e: Index) -> None:
            number = x.load(e)

            def put(f: Index) -> None:
                def add(k: Index, before: ir.Value) -> None:
                    target.store(plus_product(emitter, before, number, y.load(f), x.dtype), k)

                found.place(right.column(f), lambda k: add(k, target.zero()), lambda k: add(k, target.load(k)))

            code.loop(*right.row(left.column(e)), put)

        code.loop(*left.row(i), multiply)

    code.loop(0, valid(left, right), row)
    return found.close()


def valid(left: Pattern, right: Pattern) -> Index:
    """Return the number of rows of a product: none where the right factor has columns out of bounds."""
    builder, code = left.element.builder, left.element.code
    zero = ir.Constant(I64, 0)
    return code.index(builder.select(right.wrong.value, zero, left.rows.register))


def union_starts(element: Element) -> ir.Value:
    """Emit ``indices(d), starts(p), indices(e), starts(p), shape(z,m,n) -> (p)``."""
    left, right = terms(element)
    return count_rows(element, union_row(left, right), (left, right), left.rows.least(right.rows))


def union_places(element: Element) -> ir.Value:
    """Emit ``indices(d), starts(p), indices(e), starts(p), shape(z,m,n), room(c) -> (c), (d), (e)``: the column of each
    element of a union, and the numbers in it of the elements of both matrices."""
    found = Elements(element, 0, terms(element))
    places = [Memory.result(element, number) for number in (1, 2)]

    def put(term: int, e: Index, k: Index) -> None:
        places[term].store(narrowed(k, places[term]), e)

    return each_of_union(found, put, put)


def sum_elements(element: Element) -> ir.Value:
    """Emit ``x(d), y(e), indices(d), starts(p), indices(e), starts(p), shape(z,m,n), room(c) -> (c), (c)``: the
    elements of a sum, and the column of each."""
    found, target = Elements(element, 1, terms(element, 2)), Memory.result(element)
    numbers = [Memory.operand(element, number) for number in (0, 1)]

    def add(before: ir.Value, term: int, e: Index, k: Index) -> None:
        pair = Operand(before, target.dtype), Operand(numbers[term].load(e), target.dtype)
        target.store(scalar.add(element.emitter, *pair), k)

    return each_of_union(found, partial(add, target.zero()), lambda term, e, k: add(target.load(k), term, e, k))


def each_of_union(
    found: Elements, first: Callable[[int, Index, Index], None], then: Callable[[int, Index, Index], None]
) -> ir.Value:
    """Emit ``first(term, e, k)`` or ``then(term, e, k)`` for the elements ``e`` of both terms, whose place is ``k``."""
    code, (left, right) = found.element.code, found.patterns

    def row(i: Index) -> None:
        found.start_row()
        for term, pattern in enumerate(found.patterns):

            def visit(e: Index, term: int = term, pattern: Pattern = pattern) -> None:
                found.place(pattern.column(e), lambda k: first(term, e, k), lambda k: then(term, e, k))

            code.loop(*pattern.row(i), visit)

    code.loop(0, left.rows.least(right.rows), row)
    return found.close()


def chosen_rows(element: Element) -> ir.Value:
    """Emit ``x(d), indices(d), starts(p), shape(z,m,n), rows(r), room(c) -> (c), (c)``: the elements of some rows, and
    the column of each."""
    pairs = [(Memory.operand(element, number), Memory.result(element, number)) for number in (0, 1)]

    def copy(e: Index, k: Index) -> None:
        for source, target in pairs:
            target.store(source.load(e), k)

    return each_of_rows(element, Pattern(element, 1, 2), Memory.operand(element, 4), copy)


def row_elements(element: Element) -> ir.Value:
    """Emit ``indices(d), starts(p), shape(z,m,n), rows(r), room(c) -> (c)``: the numbers of the elements of some
    rows."""
    target = Memory.result(element)
    put = lambda e, k: target.store(narrowed(e, target), k)  # noqa: E731
    return each_of_rows(element, Pattern(element, 0, 1), Memory.operand(element, 3), put)


def each_of_rows(element: Element, pattern: Pattern, rows: Memory, body: Callable[[Index, Index], None]) -> ir.Value:
    """Emit ``body(e, k)`` for each element of some rows. Their number must be the counted one."""
    code, builder, count = element.code, element.builder, StackVariable(element.emitter, ir.Constant(I64, 0))

    def one(number: Index) -> None:
        row, place = code.index(rows.position(number)), code.index(count.value)
        inside = builder.and_(row.compare(">=", 0), row.compare("<", pattern.rows))
        pattern.require(inside)
        with builder.if_then(inside):
            begin, end = pattern.row(row)
            is_room = (place + (end - begin)).compare("<=", element["c"])
            pattern.require(is_room)
            with builder.if_then(is_room):
                code.loop(begin, end, lambda e: body(e, place + (e - begin)))
                count.value = (place + (end - begin)).register

    code.loop(0, element["r"], one)
    pattern.require(code.index(count.value).compare("==", element["c"]))
    return pattern.wrong.value


def product_at(element: Element) -> ir.Value:
    """Emit ``x(d), indices(d), starts(p), shape(z,m,l), y(e), indices(e), starts(q), shape(z,l,n), indices(c),
    starts(p) -> (c)``: the elements that a pattern has of a product."""
    x, y, target = Memory.operand(element, 0), Memory.operand(element, 4), Memory.result(element)
    left, right = factors(element, 1, 5)
    wanted, code, emitter = Pattern(element, 8, 9, "c"), element.code, element.emitter
    wanted.check()
    places, builder = integers(element, 0), element.builder
    repeated = StackVariable(emitter, ir.Constant(I1, 0))
    code.loop(0, element["n"], lambda j: places.store(ir.Constant(I64, -1), j))

    def row(i: Index) -> None:
        first, last = wanted.row(i)

        def mark(k: Index) -> None:
            column = wanted.column(k)
            is_new = code.index(places.load(column)).compare("<", first)
            target.store(target.zero(), k)
            with builder.if_else(is_new) as (new, again):
                with new:
                    places.store(k.register, column)
                with again:
                    repeated.value = ir.Constant(I1, 1)

        def add(e: Index) -> None:
            number = x.load(e)

            def put(f: Index) -> None:
                k = code.index(places.load(right.column(f)))
                with builder.if_then(k.compare(">=", first)):
                    target.store(plus_product(emitter, target.load(k), number, y.load(f), x.dtype), k)

            code.loop(*right.row(left.column(e)), put)

        def repeat(k: Index) -> None:
            target.store(target.load(code.index(places.load(wanted.column(k)))), k)

        code.loop(first, last, mark)
        code.loop(*left.row(i), add)
        with builder.if_then(repeated.value):
            code.loop(first, last, repeat)

    code.loop(0, valid(left, right).least(wanted.rows), row)
    return wrong(left, right, wanted)
