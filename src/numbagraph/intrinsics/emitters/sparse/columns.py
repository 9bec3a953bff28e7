"""Chosen columns of a matrix that is compressed by rows; the elements of each row stay in their order.

Columns that follow each other are found by a difference, others in a table of all columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I64, memory_type
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.intrinsics.emitters.sparse.compressed import Memory, Pattern, sum_over
from numbagraph.intrinsics.emitters.sparse.pairs import narrowed


class Chosen:
    """The columns that an operand names, if all of them are in bounds and few enough for integers of the indices'
    dtype, else none; and whether anything was wrong."""

    def __init__(self, element: Element, number: int) -> None:
        self.element, self.code, self.builder = element, element.code, element.builder
        self.columns = Memory.operand(element, number)
        self.indices = Memory.operand(element, 0)
        self.wrong = StackVariable(element.emitter, ir.Constant(I1, 0))
        self.follow = StackVariable(element.emitter, ir.Constant(I1, 1))
        """Whether the columns follow each other."""
        self.first = StackVariable(element.emitter, ir.Constant(I64, 0))
        code, builder, count = self.code, self.builder, element["r"]
        self.require(count.compare("<=", int(np.iinfo(self.indices.dtype).max)))
        with builder.if_then(count.compare(">", 0)):
            self.first.value = self.columns.position(code.index(0))

        def look(k: Index) -> None:
            column = code.index(self.columns.position(k))
            self.require(builder.icmp_unsigned("<", column.register, element["n"].register))
            follows = column.compare("==", code.index(self.first.value) + k)
            self.follow.value = builder.and_(self.follow.value, follows)

        code.loop(0, count, look)
        self.count = code.index(builder.select(self.wrong.value, ir.Constant(I64, 0), count.register))

    def require(self, condition: ir.Value) -> None:
        self.wrong.value = self.builder.or_(self.wrong.value, self.builder.not_(condition))

    def table(self, number: int) -> Memory:
        """Return a piece of scratch memory, with integers of the indices' dtype."""
        dtype = self.indices.dtype
        pointer = self.builder.bitcast(self.element.scratch[number], memory_type(dtype).as_pointer())
        return Memory(self.element.emitter, pointer, dtype, self.code.index(1))

    def difference(self, e: Index) -> tuple[ir.Value, ir.Value]:
        """Return which of the columns that follow each other an element is in, and whether it is in one."""
        k = self.builder.sub(self.indices.position(e), self.first.value)
        return k, self.builder.icmp_unsigned("<", k, self.count.register)

    def looked_up(self, table: Memory, e: Index) -> ir.Value:
        """Return the entry of a table of all columns for the column of an element."""
        column = self.indices.position(e)
        inside = self.builder.icmp_unsigned("<", column, self.element["n"].register)
        self.require(inside)
        return table.position(self.code.index(self.builder.select(inside, column, ir.Constant(I64, 0))))


def column_starts(element: Element) -> ir.Value:
    """Emit ``indices(d), starts(p), shape(z,m,n), columns(r) -> (p)``: the beginnings of rows of which only these
    columns are kept."""
    starts, code, builder, emitter = Memory.result(element), element.code, element.builder, element.emitter
    pattern, chosen = Pattern(element, 0, 1), Chosen(element, 3)
    pattern.check()
    total = StackVariable(emitter, ir.Constant(I64, 0))

    def count(term: Callable[[Index], ir.Value]) -> None:
        def row(i: Index) -> None:
            starts.store(total.value, i)
            add = lambda found, e: builder.add(found, term(e))  # noqa: E731
            # rows are short, and vectors of their columns take longer
            total.value = sum_over(element, total.value, *pattern.row(i), add, vectorize_enable=0)

        code.loop(0, pattern.rows, row)

    with builder.if_else(chosen.follow.value) as (follow, others):
        with follow:
            count(lambda e: builder.zext(chosen.difference(e)[1], I64))
        with others:
            counts = chosen.table(0)
            code.loop(0, element["n"], lambda j: counts.store(counts.zero(), j))

            def one_more(k: Index) -> None:
                column = code.index(chosen.columns.position(k))
                counts.store(narrowed(code.index(counts.position(column)) + 1, counts), column)

            code.loop(0, chosen.count, one_more)
            count(lambda e: counts.position(pattern.column(e)))
    code.loop(pattern.rows, element["p"], lambda i: starts.store(total.value, i))
    return builder.or_(pattern.wrong.value, chosen.wrong.value)


def column_elements(element: Element) -> ir.Value:
    """Emit ``indices(d), shape(z,m,n), columns(r), room(c) -> (c), (c)``: the numbers of the elements in these columns,
    and which of them each is in."""
    chosen, code, builder, emitter = Chosen(element, 2), element.code, element.builder, element.emitter
    targets, room = [Memory.result(element, number) for number in (0, 1)], element["c"]
    chosen.require(element["d"].compare("<=", int(np.iinfo(chosen.indices.dtype).max)))
    with builder.goto_entry_block():
        unused = [builder.alloca(memory_type(each.dtype)) for each in targets]
    count = StackVariable(emitter, ir.Constant(I64, 0))

    def put(e: Index, k: ir.Value, inside: ir.Value) -> None:
        """Store an element without a branch, which could not be predicted: one that is not inside is overwritten by the
        next."""
        place = code.index(count.value)
        is_room = place.compare("<", room)
        for target, value, elsewhere in zip(targets, (e, code.index(k)), unused, strict=True):
            here = builder.gep(target.pointer, [place.register])
            emitter.store(narrowed(value, target), builder.select(is_room, here, elsewhere), target.dtype)
        count.value = builder.add(count.value, builder.zext(inside, I64))

    def in_order(e: Index) -> None:
        put(e, *chosen.difference(e))

    with builder.if_else(chosen.follow.value) as (follow, others):
        with follow:
            code.loop(0, element["d"], in_order)
        with others:
            first, after = chosen.table(0), chosen.table(1)
            repeated = StackVariable(emitter, ir.Constant(I1, 0))
            code.loop(0, element["n"], lambda j: first.store(ir.Constant(memory_type(first.dtype), -1), j))

            def enter(k: Index) -> None:
                column = code.index(chosen.columns.position(k))
                before = first.load(column)
                after.store(before, k)
                first.store(narrowed(k, first), column)
                again = builder.icmp_signed(">=", before, ir.Constant(before.type, 0))
                repeated.value = builder.or_(repeated.value, again)

            code.backwards(chosen.count, enter)

            def single(e: Index) -> None:
                k = chosen.looked_up(first, e)
                put(e, k, builder.icmp_signed(">=", k, ir.Constant(I64, 0)))

            def several(e: Index) -> None:
                def step(k: ir.Value) -> list[ir.Value]:
                    put(e, k, ir.Constant(I1, 1))
                    return [after.position(code.index(k))]

                emitter.repeat(
                    [chosen.looked_up(first, e)], lambda k: builder.icmp_signed(">=", k, ir.Constant(I64, 0)), step
                )

            # of no columns, there may be none to look up
            elements = code.index(
                builder.select(chosen.count.compare(">", 0), element["d"].register, ir.Constant(I64, 0))
            )
            with builder.if_else(repeated.value) as (again, once):
                with again:
                    code.loop(0, elements, several)
                with once:
                    code.loop(0, elements, single)
    chosen.require(code.index(count.value).compare("==", room))
    return chosen.wrong.value
