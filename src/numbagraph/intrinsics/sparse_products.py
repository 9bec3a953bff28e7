"""Sparse matrices that are made of two: where products and sums of two have elements, and what these are.

Each row of a result is made in scratch memory that is as long as a row, as Gustavson does it (Two fast algorithms for
sparse matrices, 1978).
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import I64, memory_type
from numbagraph.intrinsics.matrices import Index
from numbagraph.intrinsics.sparse import Memory, Pattern, plus_product
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
    """The patterns of two factors, of which the indices are operands of these numbers, and the beginnings follow."""
    pair = Pattern(element, left, left + 1, "d", "mlp"), Pattern(element, right, right + 1, "e", "lnq")
    for each in pair:
        each.check()
    return pair


def terms(element: Element) -> tuple[Pattern, Pattern]:
    """The patterns of two terms of one shape."""
    pair = Pattern(element, 0, 1), Pattern(element, 2, 3, "e")
    for each in pair:
        each.check()
    return pair


def wrong(*patterns: Pattern) -> ir.Value:
    found = patterns[0].wrong.value
    for each in patterns[1:]:
        found = patterns[0].element.builder.or_(found, each.wrong.value)
    return found


def each_new(element: Element, rows: Index, row: Row, begin: Callable[[Index], None], body: Visit) -> None:
    """``body(column)`` for each column of each row, once; before a row ``begin(i)``."""
    builder, code = element.builder, element.code
    pointer = builder.bitcast(element.scratch[0], I64.as_pointer())
    seen = Memory(element.emitter, pointer, INT64, code.index(1))
    code.loop(0, element["n"], lambda j: seen.store(seen.zero(), j))

    def one(i: Index) -> None:
        def visit(column: Index) -> None:
            with builder.if_then(builder.icmp_signed("<=", seen.load(column), i.register)):
                seen.store((i + 1).register, column)
                body(column)

        begin(i)
        row(i, visit)

    code.loop(0, rows, one)


def count_rows(element: Element, row: Row, patterns: tuple[Pattern, Pattern], rows: Index) -> ir.Value:
    """Where the rows of a result begin."""
    starts, code, builder = Memory.result(element), element.code, element.builder
    code.loop(0, element["p"], lambda i: starts.store(starts.zero(), i))

    def visit_in(i: Index) -> None:
        starts.store(starts.load(i), i + 1)
        current.store(i.register, code.index(0))

    pointer = builder.bitcast(element.scratch[1], I64.as_pointer())
    current = Memory(element.emitter, pointer, INT64, code.index(1))

    def add(_: Index) -> None:
        end = code.index(current.load(code.index(0))) + 1
        starts.store((code.index(starts.load(end)) + 1).register, end)

    each_new(element, rows, row, visit_in, add)
    return wrong(*patterns)


def put_rows(element: Element, row: Row, patterns: tuple[Pattern, Pattern], rows: Index, beginnings: int) -> ir.Value:
    """The columns of a result's elements, in the order in which they are found. There must be as many as counted."""
    target, code, builder = Memory.result(element), element.code, element.builder
    starts = Memory.operand(element, beginnings)
    pointer = builder.bitcast(element.scratch[1], I64.as_pointer())
    place, type_ = Memory(element.emitter, pointer, INT64, code.index(1)), memory_type(target.dtype)
    zero, failed = code.index(0), patterns[0]
    code.loop(0, element["c"], lambda k: target.store(target.zero(), k))

    def put(column: Index) -> None:
        number = column.register
        where = code.index(place.load(zero))
        inside = builder.and_(where.compare(">=", 0), where.compare("<", element["c"]))
        failed.require(inside)
        with builder.if_then(inside):
            target.store(number if number.type == type_ else builder.trunc(number, type_), where)
            place.store((where + 1).register, zero)

    each_new(element, rows, row, lambda i: place.store(starts.load(i), zero), put)
    return wrong(*patterns)


def product_starts(element: Element) -> ir.Value:
    """``indices(d), starts(p), shape(z,m,l), indices(e), starts(q), shape(z,l,n) -> (p)``."""
    left, right = factors(element, 0, 3)
    return count_rows(element, product_row(left, right), (left, right), left.rows.least(valid(left, right)))


def product_indices(element: Element) -> ir.Value:
    """The same, ``starts(p), room(c) -> (c)``."""
    left, right = factors(element, 0, 3)
    rows = left.rows.least(valid(left, right))
    return put_rows(element, product_row(left, right), (left, right), rows, 6)


def valid(left: Pattern, right: Pattern) -> Index:
    """The rows of a product: none where the right factor has columns out of bounds."""
    builder, code = left.element.builder, left.element.code
    zero = ir.Constant(I64, 0)
    return code.index(builder.select(right.wrong.value, zero, left.rows.register))


def union_starts(element: Element) -> ir.Value:
    """``indices(d), starts(p), indices(e), starts(p), shape(z,m,n) -> (p)``."""
    left, right = terms(element)
    return count_rows(element, union_row(left, right), (left, right), left.rows.least(right.rows))


def union_indices(element: Element) -> ir.Value:
    """The same, ``starts(p), room(c) -> (c)``."""
    left, right = terms(element)
    return put_rows(element, union_row(left, right), (left, right), left.rows.least(right.rows), 5)


def product_at(element: Element) -> ir.Value:
    """``x(d), indices(d), starts(p), shape(z,m,l), y(e), indices(e), starts(q), shape(z,l,n), indices(c), starts(p) ->
    (c)``: the elements that a pattern has of a product."""
    x, y, target = Memory.operand(element, 0), Memory.operand(element, 4), Memory.result(element)
    left, right = factors(element, 1, 5)
    wanted, code, emitter = Pattern(element, 8, 9, "c"), element.code, element.emitter
    wanted.check()
    dense = Memory.of(element, element.scratch[0], 0)
    code.loop(0, element["n"], lambda j: dense.store(dense.zero(), j))

    def row(i: Index) -> None:
        begin, end = left.row(i)

        def spread(e: Index, put: Callable[[Index], None]) -> None:
            code.loop(*right.row(left.column(e)), put)

        def add(e: Index) -> None:
            number = x.load(e)

            def put(f: Index) -> None:
                column = right.column(f)
                found = plus_product(emitter, dense.load(column), number, y.load(f), x.dtype)
                dense.store(found, column)

            spread(e, put)

        code.loop(begin, end, add)
        code.loop(*wanted.row(i), lambda k: target.store(dense.load(wanted.column(k)), k))
        code.loop(begin, end, lambda e: spread(e, lambda f: dense.store(dense.zero(), right.column(f))))

    code.loop(0, valid(left, right).least(wanted.rows), row)
    return wrong(left, right, wanted)
