"""Sorting, and looking up in what is sorted.

Merging takes positions along with the keys: these are compared where they stand, one behind the other, and no branch
depends on them. (Knuth, The Art of Computer Programming 3, 5.2.4.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.matrices import Index, Matrix
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64

RUN = 8
"""Elements that are sorted by insertion, before runs of them are merged."""


def comes_before(builder: ir.IRBuilder, x: ir.Value, y: ir.Value, dtype: np.dtype) -> ir.Value:
    """Whether one key stands strictly before another one. NaN is the last of all."""
    if dtype.kind == "i":
        return builder.icmp_signed("<", x, y)
    if dtype.kind == "u":
        return builder.icmp_unsigned("<", x, y)
    only_y_is_nan = builder.and_(builder.fcmp_unordered("uno", y, y), builder.fcmp_ordered("ord", x, x))
    return builder.or_(builder.fcmp_ordered("<", x, y), only_y_is_nan)


class Keyed(Struct):
    """Keys one behind the other, and the position that each of them had."""

    keys: Matrix
    positions: Matrix

    @classmethod
    def at(cls, element: Element, keys: ir.Value, positions: ir.Value) -> Keyed:
        one = element.code.index(1)
        return cls(element.matrix(keys, one), element.matrix(positions, one, INT64))

    @property
    def addresses(self) -> list[ir.Value]:
        return [self.keys.pointer, self.positions.pointer]

    def load(self, k: Index) -> list[ir.Value]:
        return [loaded(each, k) for each in (self.keys, self.positions)]

    def store(self, k: Index, pair: Sequence[ir.Value]) -> None:
        for row, value in zip((self.keys, self.positions), pair, strict=True):
            row.emitter.builder.store(value, address(row, k))


def address(row: Matrix, k: Index) -> ir.Value:
    return row.address(k, Index(row.emitter, 0))


def loaded(row: Matrix, k: Index) -> ir.Value:
    return row.emitter.builder.load(address(row, k))


def argsort(element: Element) -> None:
    """The positions of the elements in sorted order; equal ones keep theirs."""
    code, builder, n = element.code, element.builder, element["n"]
    keys, other_keys, other_positions = element.scratch
    result = element.results[0]
    source, first = element.operand(0), Keyed.at(element, keys, result)
    zero = code.index(0)
    code.loop(0, n, lambda k: first.store(k, [builder.load(source.address(zero, k)), k.register]))
    each_run(element, code.index(RUN), lambda begin, end: insert(element, first, begin, end))

    def merge_all(width: ir.Value, *addresses: ir.Value) -> list[ir.Value]:
        given, target = (Keyed.at(element, *pair) for pair in (addresses[:2], addresses[2:]))
        half = code.index(width)
        each_run(
            element, half * 2, lambda begin, end: merge(element, given, target, begin, (begin + half).least(end), end)
        )
        return [(half * 2).register, *addresses[2:], *addresses[:2]]

    state = [*first.addresses, *Keyed.at(element, other_keys, other_positions).addresses]
    final = element.emitter.repeat(
        [code.index(RUN).register, *state], lambda width, *_: code.index(width).compare("<", n), merge_all
    )
    positions = element.matrix(final[2], code.index(1), INT64)
    with builder.if_then(builder.icmp_unsigned("!=", positions.pointer, first.positions.pointer)):
        element.copy(result, final[2], n, INT64)


def each_run(element: Element, width: Index, body: Callable[[Index, Index], None]) -> None:
    """``body(begin, end)`` for every run of a width, of which the last one may be shorter."""
    n = element["n"]

    def step(begin: ir.Value) -> list[ir.Value]:
        end = (element.code.index(begin) + width).least(n)
        body(element.code.index(begin), end)
        return [end.register]

    element.emitter.repeat([element.code.index(0).register], lambda k: element.code.index(k).compare("<", n), step)


def insert(element: Element, run: Keyed, begin: Index, end: Index) -> None:
    """Sort a short run: each element moves in front of those that it stands before."""
    code, builder, dtype = element.code, element.builder, run.keys.dtype

    def one(number: ir.Value) -> list[ir.Value]:
        pair = run.load(code.index(number))

        def left_of(k: ir.Value) -> Index:
            """The neighbour, or where there is none the first element, which is none that another one stands before."""
            return code.index(builder.select(code.index(k).compare(">", begin), (code.index(k) - 1).register, k))

        def moves(k: ir.Value) -> ir.Value:
            before = comes_before(builder, pair[0], loaded(run.keys, left_of(k)), dtype)
            return builder.and_(code.index(k).compare(">", begin), before)

        def move(k: ir.Value) -> list[ir.Value]:
            run.store(code.index(k), run.load(code.index(k) - 1))
            return [(code.index(k) - 1).register]

        (position,) = element.emitter.repeat([number], moves, move)
        run.store(code.index(position), pair)
        return [(code.index(number) + 1).register]

    element.emitter.repeat([(begin + 1).register], lambda number: code.index(number).compare("<", end), one)


def merge(element: Element, given: Keyed, target: Keyed, begin: Index, middle: Index, end: Index) -> None:
    """Merge two runs that follow each other."""
    code, builder, dtype = element.code, element.builder, given.keys.dtype

    def step(i: ir.Value, j: ir.Value) -> list[ir.Value]:
        left, right = given.load(code.index(i).least(middle - 1)), given.load(code.index(j).least(end - 1))
        earlier = builder.and_(code.index(j).compare("<", end), comes_before(builder, right[0], left[0], dtype))
        from_right = builder.or_(code.index(i).compare(">=", middle), earlier)
        taken = [builder.select(from_right, one, other) for one, other in zip(right, left, strict=True)]
        target.store(code.index(i) + code.index(j) - middle, taken)
        moved = code.index(builder.zext(from_right, i.type))
        return [(code.index(i) + 1 - moved).register, (code.index(j) + moved).register]

    def goes_on(i: ir.Value, j: ir.Value) -> ir.Value:
        return (code.index(i) + code.index(j) - middle).compare("<", end)

    element.emitter.repeat([begin.register, middle.register], goes_on, step)


def search(element: Element) -> None:
    """How many elements of a sorted vector stand before each number, or from the right: not behind it. By halving."""
    code, builder = element.code, element.builder
    source, numbers, target = element.operand(0), element.operand(1), element.result()
    zero = code.index(0)

    def one(k: Index) -> None:
        key = builder.load(numbers.address(zero, k))

        def halve(begin: ir.Value, end: ir.Value) -> list[ir.Value]:
            both = (code.index(begin) + code.index(end)).register
            middle = code.index(builder.lshr(both, ir.Constant(both.type, 1)))
            other = builder.load(source.address(zero, middle))
            if element.attributes["right"]:
                behind = builder.not_(comes_before(builder, key, other, source.dtype))
            else:
                behind = comes_before(builder, other, key, source.dtype)
            return [
                builder.select(behind, (middle + 1).register, begin),
                builder.select(behind, end, middle.register),
            ]

        def goes_on(begin: ir.Value, end: ir.Value) -> ir.Value:
            return code.index(begin).compare("<", code.index(end))

        found, _ = element.emitter.repeat([zero.register, element["n"].register], goes_on, halve)
        builder.store(found, target.address(zero, k))

    code.loop(0, element["m"], one)
