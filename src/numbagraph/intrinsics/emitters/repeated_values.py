"""Values that are repeated, written where a mask is true: at each position its own one, or one after the other.

Flags are looked at in blocks of as many as a register has bits: where none of them is true, nothing else is read, and
where all are, vectors are copied.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I8, I32, I64, POINTER, llvm_constant, llvm_type, type_name
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.intrinsics.emitters.selections import Row, lanes_for
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import real_dtype

FLAGS = np.dtype(np.uint8)
BLOCK = 64
"""The number of flags that are looked at together."""
FEW = 4
"""The number of elements of a block up to which they are written one after the other: no memory of the others is
read."""
BITS = ir.IntType(BLOCK)


class Words(Struct):
    """Elements in memory as unsigned integers, of which a complex number may need two."""

    row: Row
    each: int
    """The number of integers of an element."""

    @classmethod
    def at(cls, element: Element, pointer: ir.Value, dtype: np.dtype) -> Words:
        word = np.dtype(f"u{min(dtype.itemsize, 8)}")
        return cls(Row.at(element, pointer, word), dtype.itemsize // word.itemsize)

    @property
    def lanes(self) -> int:
        """The number of elements of a vector."""
        return 64 // (self.each * self.row.dtype.itemsize)

    def load(self, k: Index, lanes: int) -> ir.Value:
        return self.row.load(k * self.each, lanes * self.each)

    def store(self, value: ir.Value, k: Index, lanes: int) -> None:
        self.row.store(value, k * self.each, lanes * self.each)

    def expanded(self, k: Index, mask: ir.Value, lanes: int) -> ir.Value:
        """Load as many elements as a mask selects, each into one of its lanes."""
        emitter, width = self.row.element.emitter, lanes * self.each
        vector = ir.VectorType(llvm_type(self.row.dtype), width)
        address = self.row.place(k * self.each)
        types = [address.type, ir.VectorType(I1, width), vector]
        function = emitter.function(f"llvm.masked.expandload.{type_name(vector)}", vector, types, pure=False)
        return emitter.builder.call(function, [address, mask, ir.Constant(vector, ir.Undefined)])


class Values(Struct):
    """Values of which a block may be read from each place on, or from all but the last ones."""

    words: Words
    period: Index
    """The number of values after which they begin again: at least as many as a block has, if there is one."""
    room: Index
    """The number of values in memory."""

    def after(self, k: Index) -> Index:
        """Return a place as one within the period; it may be one behind the last of a block that began before the end
        of the period."""
        rest = k - self.period
        builder = k.emitter.builder
        return Index(k.emitter, builder.select(rest.compare("<", 0), k.register, rest.register))


def repeated(element: Element, pointer: ir.Value, m: Index) -> Values:
    """Copy few values, one behind the other, until a block can be read from the last of them on."""
    builder, emitter, dtype = element.builder, element.emitter, element.dtypes[0]
    few = builder.and_(builder.and_(m.compare("<", BLOCK), m.compare(">", 0)), element["n"].compare(">=", BLOCK))
    with builder.goto_entry_block():
        memory = builder.alloca(I8, ir.Constant(I64, 4 * BLOCK * dtype.itemsize))
        memory.align = 64
    chosen = StackVariable(emitter, builder.bitcast(pointer, POINTER))
    period, room = StackVariable(emitter, m.register), StackVariable(emitter, m.register)
    with builder.if_then(few):
        target = builder.bitcast(memory, POINTER)
        element.copy(target, pointer, m, dtype)

        def twice(size: ir.Value) -> list[ir.Value]:
            own = element.code.index(size)
            end = builder.gep(memory, [(own * dtype.itemsize).register])
            element.copy(end, target, own, dtype)
            return [(own + own).register]

        (size,) = emitter.repeat([m.register], lambda size: element.code.index(size).compare("<", 2 * BLOCK), twice)
        chosen.value, room.value = target, size
        period.value = builder.lshr(size, ir.Constant(I64, 1))
    index = element.code.index
    return Values(Words.at(element, chosen.value, dtype), index(period.value), index(room.value))


def put_repeated(element: Element) -> None:
    """Write values where the mask is true: into the first operand, or a copy of it."""
    builder, code = element.builder, element.code
    own, flags, values = element.operands
    result, n, m = element.results[0], element["n"], element["m"]
    with builder.if_then(builder.icmp_unsigned("!=", own, result)):
        element.copy(result, own, n)
    written = code.index(builder.select(m.compare("==", 0), ir.Constant(I64, 0), n.register))
    target, mask = Words.at(element, result, element.dtypes[0]), Row.at(element, flags, FLAGS)
    Writing(element, target, mask, repeated(element, values, m), element.attributes["packed"]).run(written)


class Writing(Struct):
    """The loops of `put_repeated`."""

    element: Element
    target: Words
    flags: Row
    values: Values
    packed: bool
    """Whether the values are written one after the other; else each position has its own."""

    def run(self, n: Index) -> None:
        code, builder = self.element.code, self.element.builder

        def step(i: ir.Value, k: ir.Value) -> list[ir.Value]:
            here, place = code.index(i), code.index(k)
            bits = builder.bitcast(self.mask(here, BLOCK), BITS)
            number = self.element.emitter.intrinsic("ctpop", bits)
            used = code.index(number if self.packed else BLOCK)
            with builder.if_then(builder.icmp_unsigned("!=", bits, ir.Constant(BITS, 0))):
                inside = (place + used).compare("<=", self.values.room)
                few = builder.icmp_unsigned("<=", number, ir.Constant(BITS, FEW))
                with builder.if_else(inside) as (at_once, across):
                    with at_once, builder.if_else(few) as (each, all_lanes):
                        with each:
                            self.each_selected(here, place, bits)
                        with all_lanes:
                            self.block(here, place, bits)
                    with across:
                        self.one_by_one(here, here + BLOCK, place)
            return [(here + BLOCK).register, self.values.after(place + used).register]

        zero = code.index(0).register
        i, k = self.element.emitter.repeat([zero, zero], lambda i, k: (code.index(i) + BLOCK).compare("<=", n), step)
        self.one_by_one(code.index(i), n, code.index(k))

    def mask(self, i: Index, lanes: int, each: int = 1) -> ir.Value:
        """Return which flags from one on are true; each of them ``each`` times."""
        builder, given = self.element.builder, self.flags.load(i, lanes)
        if each > 1:
            order = [lane for lane in range(lanes) for _ in range(each)]
            none = ir.Constant(given.type, ir.Undefined)
            given = builder.shuffle_vector(given, none, ir.Constant(ir.VectorType(I32, len(order)), order))
        zero = 0 if lanes == 1 else [0] * (lanes * each)
        return builder.icmp_unsigned("!=", given, ir.Constant(given.type, zero))

    def each_selected(self, i: Index, k: Index, bits: ir.Value) -> None:
        """Write the elements of a block where bits are set, one after the other."""
        code, builder, emitter = self.element.code, self.element.builder, self.element.emitter
        none, one = ir.Constant(BITS, 0), ir.Constant(BITS, 1)

        def step(rest: ir.Value, k: ir.Value) -> list[ir.Value]:
            lane, place = code.index(emitter.intrinsic("cttz", rest, ir.Constant(I1, 1))), code.index(k)
            self.target.store(self.values.words.load(place if self.packed else place + lane, 1), i + lane, 1)
            return [builder.and_(rest, builder.sub(rest, one)), (place + int(self.packed)).register]

        emitter.repeat([bits, k.register], lambda rest, _: builder.icmp_unsigned("!=", rest, none), step)

    def block(self, i: Index, k: Index, bits: ir.Value) -> None:
        """Write the elements of a block, by vectors, if there is an instruction for it."""
        builder, target, words = self.element.builder, self.target, self.values.words
        with builder.if_else(builder.icmp_unsigned("==", bits, ir.Constant(BITS, -1))) as (every, some):
            with every:
                for lane in range(0, BLOCK, target.lanes):
                    target.store(words.load(k + lane, target.lanes), i + lane, target.lanes)
            with some:
                if self.packed and lanes_for(target.row.dtype) == 1:
                    self.each_selected(i, k, bits)
                    return
                mixed = []
                for lane in range(0, BLOCK, target.lanes):
                    mask = self.mask(i + lane, target.lanes, target.each)
                    found = self.expanded(k, bits, lane, mask) if self.packed else words.load(k + lane, target.lanes)
                    mixed.append(builder.select(mask, found, target.load(i + lane, target.lanes)))
                # a choice that is stored at once becomes a masked store, which takes twice as long
                for lane, each in zip(range(0, BLOCK, target.lanes), mixed, strict=True):
                    target.store(each, i + lane, target.lanes)

    def expanded(self, k: Index, bits: ir.Value, lane: int, mask: ir.Value) -> ir.Value:
        """Return the values of the lanes from one on, where these are selected."""
        before = self.element.builder.and_(bits, ir.Constant(BITS, (1 << lane) - 1))
        place = k + Index(self.element.emitter, self.element.emitter.intrinsic("ctpop", before))
        return self.values.words.expanded(place, mask, self.target.lanes)

    def one_by_one(self, i: Index, end: Index, k: Index) -> None:
        code, builder = self.element.code, self.element.builder

        def step(i: ir.Value, k: ir.Value) -> list[ir.Value]:
            here, place = code.index(i), code.index(k)
            flag = self.mask(here, 1)
            chosen = builder.select(flag, self.values.words.load(place, 1), self.target.load(here, 1))
            self.target.store(chosen, here, 1)
            used = code.index(builder.zext(flag, I64)) if self.packed else code.index(1)
            return [(here + 1).register, self.values.after(place + used).register]

        self.element.emitter.repeat([i.register, k.register], lambda i, k: code.index(i).compare("<", end), step)


def sum_repeated(element: Element) -> None:
    """Add up, for each value, the elements where it is written."""
    code, builder, dtype = element.code, element.builder, real_dtype(element.dtypes[0])
    parts = element.dtypes[0].itemsize // dtype.itemsize
    x, found = (Row.at(element, each, dtype) for each in (element.operands[0], element.results[0]))
    flags, n, m = Row.at(element, element.operands[1], FLAGS), element["n"], element["m"]
    nothing = llvm_constant(0, dtype)
    code.loop(0, m * parts, lambda k: found.store(nothing, k))

    def step(i: ir.Value, k: ir.Value) -> list[ir.Value]:
        here, place = code.index(i), code.index(k)
        flag = builder.icmp_unsigned("!=", flags.load(here), ir.Constant(I8, 0))
        for part in range(parts):
            own = place * parts + part
            chosen = builder.select(flag, x.load(here * parts + part), nothing)
            found.store(builder.fadd(found.load(own), chosen), own)
        following = place + (code.index(builder.zext(flag, I64)) if element.attributes["packed"] else 1)
        begins = following.compare("==", m)
        return [(here + 1).register, builder.select(begins, code.index(0).register, following.register)]

    end = code.index(builder.select(m.compare("==", 0), code.index(0).register, n.register))
    element.emitter.repeat([code.index(0).register] * 2, lambda i, _: code.index(i).compare("<", end), step)
