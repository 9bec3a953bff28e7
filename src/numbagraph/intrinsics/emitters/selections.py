"""Selection: the elements that would stand at some places of a sorted vector, and vectors parted there.

Two elements of a sorted sample are bounds, between which the one that is sought stands almost always. One pass leaves
the few candidates between them, without a branch that depends on elements. (Floyd and Rivest, "Expected time bounds for
selection", 1975.) Where the candidates do not become fewer, these are sorted, so no vector takes longer than sorting.
Equal elements are told apart by their positions: the order is that of a stable sort.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import F64, I1, I32, I64, llvm_constant, llvm_type
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.intrinsics.emitters.sorting import comes_before, sort_keys
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64, real_dtype

FEW = 128
"""The number of candidates up to which they are sorted."""
SAMPLE = 64, 4096
"""The least and the greatest length of a sample, which is a sixteenth of the candidates otherwise."""
GOLDEN = 0x9E3779B97F4A7C15
"""2⁶⁴ divided by the golden ratio, whose multiples are spread evenly (Knuth, Art of Computer Programming 3, 6.4)."""


def lanes_for(*dtypes: np.dtype) -> int:
    """Return the number of elements that one instruction can compress: the processor has one for each register, or
    none."""
    target = current_target()
    if not (target.is_x86 and target.has("avx512vl")) or min(each.itemsize for each in dtypes) < 4:
        return 1
    return 64 // max(each.itemsize for each in dtypes)


class Row(Struct):
    """Elements of a dtype one behind the other, which are read and written as vectors."""

    element: Element
    pointer: ir.Value
    dtype: np.dtype

    @classmethod
    def at(cls, element: Element, pointer: ir.Value, dtype: np.dtype) -> Row:
        return cls(element, element.builder.bitcast(pointer, llvm_type(dtype).as_pointer()), dtype)

    def place(self, k: Index, lanes: int = 1) -> ir.Value:
        address = self.element.builder.gep(self.pointer, [k.register], inbounds=True)
        if lanes == 1:
            return address
        return self.element.builder.bitcast(address, ir.VectorType(llvm_type(self.dtype), lanes).as_pointer())

    def load(self, k: Index, lanes: int = 1) -> ir.Value:
        return self.element.builder.load(self.place(k, lanes), align=real_dtype(self.dtype).itemsize)

    def store(self, value: ir.Value, k: Index, lanes: int = 1) -> None:
        self.element.builder.store(value, self.place(k, lanes), align=real_dtype(self.dtype).itemsize)


class Pairs(Struct):
    """Keys, and the position of each; without a row of positions, it is the number of the key."""

    keys: Row
    positions: Row | None = None

    def load(self, k: Index, lanes: int) -> tuple[ir.Value, ir.Value]:
        key = self.keys.load(k, lanes)
        if self.positions is not None:
            return key, self.positions.load(k, lanes)
        builder, first = self.keys.element.builder, spread(self.keys.element, k.register, lanes)
        if lanes == 1:
            return key, first
        return key, builder.add(first, ir.Constant(first.type, list(range(lanes))))


def spread(element: Element, value: ir.Value, lanes: int) -> ir.Value:
    """Return a vector with a value in each lane."""
    if lanes == 1:
        return value
    builder, vector = element.builder, ir.VectorType(value.type, lanes)
    none = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(none, value, ir.Constant(I32, 0))
    return builder.shuffle_vector(one, none, ir.Constant(ir.VectorType(I32, lanes), [0] * lanes))


def count(element: Element, mask: ir.Value, lanes: int) -> ir.Value:
    """Return the number of lanes in which a mask is true."""
    builder = element.builder
    if lanes == 1:
        return builder.zext(mask, I64)
    bits = builder.bitcast(mask, ir.IntType(lanes))
    return builder.zext(element.emitter.intrinsic("ctpop", bits), I64)


def append(element: Element, row: Row, k: Index, value: ir.Value, mask: ir.Value, lanes: int) -> None:
    """Write the elements that a mask chooses behind the ``k`` elements of a row, and anything behind that, ``lanes`` in
    all."""
    if lanes > 1:
        none = ir.Constant(value.type, ir.Undefined)
        value = element.emitter.intrinsic("experimental.vector.compress", value, mask, none)
    row.store(value, k, lanes)


def each_few(
    element: Element, n: Index, lanes: int, state: Sequence[ir.Value], body: Callable[..., list[ir.Value]]
) -> list[ir.Value]:
    """Emit ``state = body(k, lanes, *state)`` for as many elements at a time as there are lanes, then one by one."""
    code = element.code
    current: list[ir.Value] = [code.index(0).register, *state]
    for width in dict.fromkeys((lanes, 1)):

        def step(k: ir.Value, *state: ir.Value, width: int = width) -> list[ir.Value]:
            return [(code.index(k) + width).register, *body(code.index(k), width, *state)]

        def goes_on(k: ir.Value, *_: ir.Value, width: int = width) -> ir.Value:
            return (code.index(k) + width).compare("<=", n)

        current = list(element.emitter.repeat(current, goes_on, step))
    return current[1:]


def narrow(element: Element, given: Pairs, n: Index, low: ir.Value, high: ir.Value, target: Pairs) -> list[ir.Value]:
    """Keep the elements that do not stand before ``low`` nor behind ``high``.

    Return the number of elements before ``low``, and that of the elements that are kept. The target may be where the
    elements are.
    """
    builder, dtype, zero = element.builder, given.keys.dtype, ir.Constant(I64, 0)
    assert target.positions is not None
    positions = target.positions

    def body(k: Index, lanes: int, before: ir.Value, kept: ir.Value) -> list[ir.Value]:
        key, position = given.load(k, lanes)
        is_before = comes_before(builder, key, spread(element, low, lanes), dtype)
        is_behind = comes_before(builder, spread(element, high, lanes), key, dtype)
        inside = builder.not_(builder.or_(is_before, is_behind))
        append(element, target.keys, Index(element.emitter, kept), key, inside, lanes)
        append(element, positions, Index(element.emitter, kept), position, inside, lanes)
        return [
            builder.add(before, count(element, is_before, lanes)),
            builder.add(kept, count(element, inside, lanes)),
        ]

    return each_few(element, n, lanes_for(dtype, INT64), [zero, zero], body)


def ends(dtype: np.dtype) -> tuple[ir.Constant, ir.Constant]:
    """Return keys that no other one stands before, or behind."""
    if dtype.kind == "f":
        return llvm_constant(-np.inf, dtype), llvm_constant(np.nan, dtype)
    limits = np.iinfo(dtype)
    return llvm_constant(limits.min, dtype), llvm_constant(limits.max, dtype)


class Found(Struct):
    """An element: its key, and its position."""

    key: ir.Value
    position: ir.Value


class Selection:
    """A search for elements by their place in the sorted order of the first operand, in scratch memory (`scratch_of`).

    The first pass is kept, since the following places are often among the same candidates.
    """

    def __init__(self, element: Element, scratch: Sequence[ir.Value]) -> None:
        self.element = element
        dtype, zero = element.dtypes[0], ir.Constant(I64, 0)
        keys, positions, other_keys, other_positions, sample = scratch
        self.source = Pairs(Row.at(element, element.operands[0], dtype))
        self.first = Pairs(Row.at(element, keys, dtype), Row.at(element, positions, INT64))
        self.second = Pairs(Row.at(element, other_keys, dtype), Row.at(element, other_positions, INT64))
        self.sample = Row.at(element, sample, dtype)
        self.begin, self.size = (StackVariable(element.emitter, zero) for _ in range(2))
        """The number of elements before the candidates of the first pass, and the number of these."""
        self.alike = StackVariable(element.emitter, ir.Constant(I1, 0))
        """Whether all candidates are equal."""

    def index(self, value: int | ir.Value) -> Index:
        return self.element.code.index(value)

    def bounds(self, keys: Row, n: Index, place: Index) -> tuple[ir.Value, ir.Value]:
        """Return two keys, of a sample, between which the one at a place stands in 98.8 % of all cases: 2.5 standard
        deviations of its place in the sample are as much as 1.25 roots of the sample's length."""
        element, builder = self.element, self.element.builder
        sixteenth = self.index(builder.lshr(n.register, ir.Constant(I64, 4)))
        least, greatest = SAMPLE
        size = at_least(sixteenth.least(self.index(greatest)), self.index(least)).least(n)
        wide = ir.IntType(128)

        def take(k: Index) -> None:
            share = builder.zext(builder.mul(k.register, ir.Constant(I64, GOLDEN)), wide)
            product = builder.mul(share, builder.zext(n.register, wide))
            place = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), I64)
            self.sample.store(keys.load(self.index(place)), k)

        element.code.loop(0, size, take)
        sort_keys(element, self.sample.pointer, size)
        root = element.emitter.intrinsic("sqrt", builder.sitofp(size.register, F64))
        reach = self.index(builder.fptosi(builder.fmul(root, ir.Constant(F64, 1.25)), I64)) + 1
        middle = self.index(builder.udiv((place * size).register, n.register))
        low, high = middle - reach, middle + reach
        lowest, highest = ends(keys.dtype)
        first, last = self.index(0), size - 1
        return (
            builder.select(low.compare("<", 0), lowest, self.sample.load(at_least(low, first))),
            builder.select(high.compare(">", last), highest, self.sample.load(high.least(last))),
        )

    def are_alike(self, low: ir.Value, high: ir.Value) -> ir.Value:
        """Return whether all elements between two bounds are equal."""
        builder = self.element.builder
        return builder.not_(comes_before(builder, low, high, self.source.keys.dtype))

    def pass_over_all(self, place: Index) -> None:
        """Find candidates among all elements: those near the place, or all, where they are few or the sample
        misleads."""
        element, builder, n = self.element, self.element.builder, self.element["n"]

        def keep(low: ir.Value, high: ir.Value) -> None:
            self.begin.value, self.size.value = narrow(element, self.source, n, low, high, self.first)
            self.alike.value = self.are_alike(low, high)

        with builder.if_then(n.compare(">", FEW)):
            keep(*self.bounds(self.source.keys, n, place))
        with builder.if_then(builder.not_(self.has(place))):
            keep(*ends(self.source.keys.dtype))

    def has(self, place: Index) -> ir.Value:
        """Return whether the element at a place is among the candidates of the first pass."""
        inside = place - self.index(self.begin.value)
        return self.element.builder.icmp_unsigned("<", inside.register, self.size.value)

    def find(self, place: Index) -> Found:
        """Return the element at a place, which must exist."""
        element, builder, emitter = self.element, self.element.builder, self.element.emitter
        with builder.if_then(builder.not_(self.has(place))):
            self.pass_over_all(place)
        inside = StackVariable(emitter, (place - self.index(self.begin.value)).register)
        size, alike = StackVariable(emitter, self.size.value), StackVariable(emitter, self.alike.value)
        moved, goes_on = StackVariable(emitter, ir.Constant(I1, 0)), StackVariable(emitter, ir.Constant(I1, 1))

        def current() -> Pairs:
            """Return the place of the candidates: those of the first pass stay."""
            assert self.first.positions is not None
            assert self.second.positions is not None
            rows = zip((self.second.keys, self.second.positions), (self.first.keys, self.first.positions), strict=True)
            return Pairs(
                *(Row(element, builder.select(moved.value, two.pointer, one.pointer), one.dtype) for two, one in rows)
            )

        def many() -> ir.Value:
            enough = self.index(size.value).compare(">", FEW)
            return builder.and_(goes_on.value, builder.and_(enough, builder.not_(alike.value)))

        def step() -> list[ir.Value]:
            given, n = current(), self.index(size.value)
            low, high = self.bounds(given.keys, n, self.index(inside.value))
            before, kept = narrow(element, given, n, low, high, self.second)
            rest = builder.sub(inside.value, before)
            hit = builder.icmp_unsigned("<", rest, kept)
            fewer = builder.icmp_unsigned("<", builder.mul(kept, ir.Constant(I64, 2)), n.register)
            goes_on.value = builder.and_(hit, fewer)
            with builder.if_else(hit) as (found, missed):
                with found:
                    inside.value, size.value, alike.value = rest, kept, self.are_alike(low, high)
                    moved.value = ir.Constant(I1, 1)
                with missed:
                    inside.value, size.value = (place - self.index(self.begin.value)).register, self.size.value
                    moved.value = ir.Constant(I1, 0)
            return []

        emitter.repeat([], many, step)
        with builder.if_then(builder.not_(alike.value)):
            given, n = current(), self.index(size.value)
            key = self.key_at(given.keys, n, self.index(inside.value))
            before, _ = narrow(element, given, n, key, key, self.second)
            inside.value = builder.sub(inside.value, before)
            moved.value = ir.Constant(I1, 1)
        key, position = current().load(self.index(inside.value), 1)
        return Found(key, position)

    def key_at(self, keys: Row, n: Index, place: Index) -> ir.Value:
        """Return the key at a place of candidates that become no fewer. Many are equal, perhaps to one of their bounds;
        if they are not, they are sorted."""
        element, builder, emitter = self.element, self.element.builder, self.element.emitter
        key = StackVariable(emitter, ends(keys.dtype)[0])
        known = StackVariable(emitter, ir.Constant(I1, 0))
        with builder.if_then(n.compare(">", FEW)):
            for bound in self.bounds(keys, n, place):
                before, equal = rank(element, keys, n, bound)
                hit = builder.icmp_unsigned("<", builder.sub(place.register, before), equal)
                key.value = builder.select(hit, bound, key.value)
                known.value = builder.or_(known.value, hit)
        with builder.if_then(builder.not_(known.value)):
            element.copy(self.sample.pointer, keys.pointer, n)
            sort_keys(element, self.sample.pointer, n)
            key.value = self.sample.load(place)
        return key.value


def rank(element: Element, keys: Row, n: Index, key: ir.Value) -> list[ir.Value]:
    """Return the number of keys before one, and the number of keys that are equal to it."""
    builder, zero = element.builder, ir.Constant(I64, 0)

    def body(k: Index, lanes: int, before: ir.Value, equal: ir.Value) -> list[ir.Value]:
        each, other = keys.load(k, lanes), spread(element, key, lanes)
        less, greater = (comes_before(builder, *pair, keys.dtype) for pair in ((each, other), (other, each)))
        same = builder.not_(builder.or_(less, greater))
        return [builder.add(total, count(element, mask, lanes)) for total, mask in ((before, less), (equal, same))]

    return each_few(element, n, lanes_for(keys.dtype), [zero, zero], body)


def at_least(one: Index, other: Index) -> Index:
    return Index(one.emitter, one.emitter.builder.select(one.compare("<", other), other.register, one.register))
