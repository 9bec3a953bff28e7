"""Draws of NumPy's `Generator` that give a row of numbers each: orders, and counts that have a sum."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from numbagraph.intrinsics.bit_generators import record_of
from numbagraph.intrinsics.core import Algorithm, Element
from numbagraph.intrinsics.distributions import call, zeros
from numbagraph.intrinsics.emitter import F64, I1, I32, I64
from numbagraph.intrinsics.matrices import Index
from numbagraph.ir.types import UINT64

MOST = 10**9
"""Sums of as many are left to NumPy, which refuses them, or takes much memory."""


def started(element: Element) -> ir.Value:
    """The state goes on in the last result; the address of NumPy's record of it."""
    element.copy(element.results[1], element.operands[0], element["s"], UINT64)
    return record_of(element.builder, element.attributes["source"], element.results[1])


def orders(element: Element) -> None:
    """``(s), (r), (n) -> (r,n), (s)``: for each row the positions of an array that is shuffled, from behind (Fisher and
    Yates)."""
    builder, n, record = element.builder, element["n"], started(element)

    def fill(row: Index) -> None:
        positions = builder.gep(builder.bitcast(element.results[0], I64.as_pointer()), [(row * n).register])

        def at(k: Index) -> ir.Value:
            return builder.gep(positions, [k.register])

        def swap(k: Index) -> None:
            last = k + 1
            other = element.code.index(call(element.emitter, "random_interval", I64, [record, last.register]))
            mine, its = builder.load(at(last)), builder.load(at(other))
            builder.store(its, at(last))
            builder.store(mine, at(other))

        element.code.loop(0, n, lambda k: builder.store(k.register, at(k)))
        element.code.backwards(n - 1, swap)

    element.code.loop(0, element["r"], fill)


def multinomial(element: Element) -> ir.Value:
    """``(s), (r), (r,d) -> (r,d), (s)``: of a number of trials, and of probabilities. It fails where these are none."""
    builder, d, record = element.builder, element["d"], started(element)
    trials, chances, found = places(element, I64, F64), element["r"] * d, element.results[0]
    binomial = zeros(builder, 256)
    target = builder.bitcast(found, I64.as_pointer())
    element.code.loop(0, chances, lambda k: builder.store(ir.Constant(I64, 0), builder.gep(target, [k.register])))
    bad = Flag(element)

    def is_chance(value: ir.Value) -> ir.Value:
        above = builder.fcmp_ordered(">=", value, ir.Constant(F64, 0.0))
        return builder.and_(above, builder.fcmp_ordered("<=", value, ir.Constant(F64, 1.0)))

    bad.unless_all(trials[0], element["r"], lambda value: builder.icmp_signed(">=", value, ir.Constant(I64, 0)))
    bad.unless_all(trials[1], chances, is_chance)

    def fill(row: Index) -> None:
        count = builder.load(builder.gep(trials[0], [row.register]))
        own = (builder.gep(each, [(row * d).register]) for each in (target, trials[1]))
        call(element.emitter, "random_multinomial", ir.VoidType(), [record, count, *own, d.register, binomial])

    with builder.if_then(builder.not_(bad.value)):
        element.code.loop(0, element["r"], fill)
    return bad.value


def multivariate_hypergeometric(method: str) -> Algorithm:
    """``(s), (d), (m), (r) -> (r,d), (s)``: of the numbers of things of each colour, and how many of all are taken."""

    def draw(element: Element) -> ir.Value:
        builder, d, record = element.builder, element["d"], started(element)
        colours, taken = places(element, I64, I64)
        target = builder.bitcast(element.results[0], I64.as_pointer())
        cells = element["r"] * d
        element.code.loop(0, cells, lambda k: builder.store(ir.Constant(I64, 0), builder.gep(target, [k.register])))
        bad, nsample = Flag(element), builder.load(taken)
        bad.unless_all(colours, d, lambda value: builder.icmp_unsigned("<", value, ir.Constant(I64, MOST)))
        with builder.goto_entry_block():
            total = builder.alloca(I64)
        builder.store(ir.Constant(I64, 0), total)

        def add(k: Index) -> None:
            value = builder.load(builder.gep(colours, [k.register]))
            builder.store(builder.add(builder.load(total), value), total)

        element.code.loop(0, d, add)
        sum_ = builder.load(total)
        bad.unless(builder.icmp_unsigned("<", sum_, ir.Constant(I64, MOST)))
        bad.unless(builder.icmp_unsigned("<=", nsample, sum_))
        name, result = f"random_multivariate_hypergeometric_{method}", I32 if method == "count" else ir.VoidType()
        arguments = [record, sum_, d.register, colours, nsample, element["r"].register, target]
        with builder.if_then(builder.not_(bad.value)):
            failed = call(element.emitter, name, result, arguments)
            if method == "count":
                bad.unless(builder.icmp_signed("==", failed, ir.Constant(I32, 0)))
        return bad.value

    return draw


def places(element: Element, *types: ir.Type) -> list[ir.Value]:
    """The addresses of the operands after the state."""
    pairs = zip(element.operands[1:], types, strict=False)
    return [element.builder.bitcast(address, type_.as_pointer()) for address, type_ in pairs]


class Flag:
    """Whether anything is not as it must be."""

    def __init__(self, element: Element) -> None:
        self.element = element
        with element.builder.goto_entry_block():
            self.place = element.builder.alloca(I1)
        element.builder.store(ir.Constant(I1, 0), self.place)

    @property
    def value(self) -> ir.Value:
        return self.element.builder.load(self.place)

    def unless(self, holds: ir.Value) -> None:
        builder = self.element.builder
        builder.store(builder.or_(self.value, builder.not_(holds)), self.place)

    def unless_all(self, address: ir.Value, count: Index, check: Callable[[ir.Value], ir.Value]) -> None:
        builder = self.element.builder
        self.element.code.loop(0, count, lambda k: self.unless(check(builder.load(builder.gep(address, [k.register])))))
