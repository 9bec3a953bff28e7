"""Draws of NumPy's `Generator` that give a row of numbers each: permutations, and counts that have a given sum."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Algorithm, Element
from numbagraph.intrinsics.emitters.emitter import F64, I1, I32, I64
from numbagraph.intrinsics.emitters.matrices import Index
from numbagraph.intrinsics.emitters.random.bit_generators import WORDS, State, functions_of, record_of
from numbagraph.intrinsics.emitters.random.distributions import call, zeros
from numbagraph.intrinsics.emitters.random.ziggurats import copied, own_state
from numbagraph.ir.types import UINT64

MOST = 10**9
"""The sum from which on draws are left to NumPy, which refuses such sums, or takes much memory."""


def started(element: Element) -> ir.Value:
    """Copy the state to the last result, where the draws advance it, and return the address of NumPy's record of it."""
    element.copy(element.results[1], element.operands[0], element["s"], UINT64)
    return record_of(element.builder, element.attributes["source"], element.results[1])


def orders(element: Element) -> None:
    """Emit ``(s), (r), (n) -> (r,n), (s)``: for each row the positions of an array that is shuffled, from the last one
    on (Fisher and Yates)."""
    builder, n, record = element.builder, element["n"], started(element)
    swap_by_numpy = partial(swap_beyond_32_bits, element, record)

    def fill(row: Index) -> None:
        positions = builder.gep(builder.bitcast(element.results[0], I64.as_pointer()), [(row * n).register])
        element.code.loop(0, n, lambda k: builder.store(k.register, builder.gep(positions, [k.register])))
        last = element.emitter.repeat(
            [(n - 1).register],
            lambda k: builder.icmp_signed(">", k, ir.Constant(I64, 2**32 - 1)),
            lambda k: [swap_by_numpy(positions, k)],
        )
        swap_rest(element, positions, *last)

    element.code.loop(0, element["r"], fill)


def swap_beyond_32_bits(element: Element, record: ir.Value, positions: ir.Value, k: ir.Value) -> ir.Value:
    """Exchange an element with one that NumPy draws of it and those before."""
    swap(element.builder, positions, k, call(element.emitter, "random_interval", I64, [record, k]))
    return element.builder.sub(k, ir.Constant(I64, 1))


def swap_rest(element: Element, positions: ir.Value, last: ir.Value) -> None:
    """Exchange each element, from the last one on to the second, with one of it and those before.

    NumPy draws 32 bits, and takes as many of them as the place of the element has, until the number is no larger than
    the place. No branch depends on that: if it is larger, the element is exchanged with itself, and is the next one,
    too.
    """
    builder, kind = element.builder, element.attributes["source"]
    own, shared = own_state(element, kind), State(builder, element.results[1])
    next_uint32 = functions_of(builder.module, kind).next_uint32

    def step(k: ir.Value) -> list[ir.Value]:
        unused = element.emitter.intrinsic("ctlz", k, ir.Constant(I1, 1))
        mask = builder.lshr(ir.Constant(I64, -1), unused)
        drawn = builder.and_(builder.zext(builder.call(next_uint32, [own.address]), I64), mask)
        is_taken = builder.icmp_unsigned("<=", drawn, k)
        swap(builder, positions, k, builder.select(is_taken, drawn, k))
        return [builder.sub(k, builder.zext(is_taken, I64))]

    copied(shared, own, WORDS[kind])
    element.emitter.repeat([last], lambda k: builder.icmp_signed(">", k, ir.Constant(I64, 0)), step)
    copied(own, shared, WORDS[kind])


def swap(builder: ir.IRBuilder, positions: ir.Value, one: ir.Value, other: ir.Value) -> None:
    """Exchange two elements."""
    places = [builder.gep(positions, [each]) for each in (one, other)]
    found = [builder.load(each) for each in places]
    for place, each in zip(places, reversed(found), strict=True):
        builder.store(each, place)


def multinomial(element: Element) -> ir.Value:
    """Emit ``(s), (r), (r,d) -> (r,d), (s)``, from numbers of trials, and probabilities. It fails where these are
    none."""
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
    """Emit ``(s), (d), (m), (r) -> (r,d), (s)``, from the numbers of things of each colour, and the numbers that are
    taken of all."""

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
    """Return the addresses of the operands after the state."""
    pairs = zip(element.operands[1:], types, strict=False)
    return [element.builder.bitcast(address, type_.as_pointer()) for address, type_ in pairs]


class Flag:
    """A flag for whether any condition was violated."""

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
