"""Extrema of which the position is wanted: the search in a block, and what stands in memory so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from llvmlite import ir

from numbagraph.emit.hints import BLOCK, reads_along
from numbagraph.emit.tiles import Nest
from numbagraph.intrinsics.emitters.emitter import I1, I32, I64, Emitter, Operand, llvm_constant, llvm_type
from numbagraph.intrinsics.emitters.ir import Load
from numbagraph.loops.ir import Reduction, targets

AT_ONCE = 32
"""The elements that are compared with an extremum between two tests whether one is equal: a branch for each vector
would often be mispredicted."""

BITS = ir.IntType(AT_ONCE)

NOWHERE = ir.Constant(I64, -1)


class Searches:
    """The searches for the positions of extrema along the innermost loop of a nest, which runs in blocks.

    The loop over a block only computes its extremum, and is one that LLVM vectorises. What is merely read is found
    again, behind the last block, by comparing the elements of the best block with the extremum. What is computed need
    not be the same to the last bit in another loop, and what was copied for a block is gone: there each block that is
    better than all before it is searched at once.
    """

    def __init__(self, nest: Nest, depth: int, outer: Emitter, outputs: Iterable[Reduction]) -> None:
        self.nest = nest
        self.depth = depth
        self.known = dict(nest.scalars.values)
        found = [each for each in outputs if each in nest.peaks]
        waiting = [each for each in found if isinstance(each.value, Load) and not nest.choices.copied]
        self.best_blocks = {each: nest.allocate(I64) for each in waiting}
        """The slots that hold where the best blocks begin, as far as there are any."""
        for slot in self.best_blocks.values():
            outer.builder.store(NOWHERE, slot)

    def emit_block(
        self, start: ir.Value, stop: ir.Value, before: Emitter, emit: Callable[[ir.Value, ir.Value, Emitter], Emitter]
    ) -> Emitter:
        """Emit the accumulation of a block by the loop that ``emit`` makes. A single extremum of real numbers is taken
        of several vectors at once, so that NaN is looked for once, and not in each pair."""
        outputs = self.nest.kernel.outputs
        (output,) = self.best_blocks if len(self.best_blocks) == 1 else (None,)
        if output is None or len(outputs) > 1 or output.value.dtype.kind != "f" or not self.is_vector(output):
            return emit(start, stop, before)
        few, after = (self.nest.function.append_basic_block(name) for name in ("few", "peaked"))
        self.peak_vectors(start, stop, before.builder, output, few, after)
        emit(start, stop, Emitter(ir.IRBuilder(few))).builder.branch(after)
        return Emitter(ir.IRBuilder(after))

    def peak_vectors(
        self, start: ir.Value, stop: ir.Value, before: ir.IRBuilder, output: Reduction, few: ir.Block, after: ir.Block
    ) -> None:
        """Store the extremum of a block, and go on to ``after``; if it has too few elements for vectors, go on to
        another block."""
        nest, known, predicate = self.nest, dict(self.nest.scalars.values), output.reducer.predicate
        head, done = (nest.function.append_basic_block(name) for name in ("peak", "whole"))
        last = before.sub(stop, ir.Constant(I64, AT_ONCE), flags=("nsw",))
        worst = splat(before, output.reducer.initial(output.value.dtype)[0])
        nowhere = ir.Constant(ir.VectorType(I1, AT_ONCE), None)
        before.cbranch(before.icmp_signed("<=", start, last), head, few)
        body = Emitter(ir.IRBuilder(head))
        state = [body.builder.phi(each.type) for each in (start, worst, nowhere)]
        begin, best, nans = state
        first = body.builder.select(body.builder.icmp_signed("<", begin, last), begin, last)
        elements = self.load_vector(first, body, output)
        better = body.builder.fcmp_ordered(predicate, elements, best)
        following = (
            body.builder.add(begin, ir.Constant(I64, AT_ONCE), flags=("nsw",)),
            body.builder.select(better, elements, best),
            body.builder.or_(nans, body.builder.fcmp_unordered("uno", elements, elements)),
        )
        for phi, initial, each in zip(state, (start, worst, nowhere), following, strict=True):
            phi.add_incoming(initial, before.block)
            phi.add_incoming(each, head)
        body.builder.cbranch(body.builder.icmp_signed("<", following[0], stop), head, done)
        builder = ir.IRBuilder(done)
        peak = reduced(builder, following[1], lambda x, y: builder.select(builder.fcmp_ordered(predicate, x, y), x, y))
        any_nan = builder.icmp_unsigned("!=", builder.bitcast(following[2], BITS), ir.Constant(BITS, 0))
        nan = llvm_constant(np.nan, output.value.dtype)
        builder.store(builder.select(any_nan, nan, peak), nest.peaks[output])
        builder.branch(after)
        nest.scalars.values = known

    def load_vector(self, first: ir.Value, code: Emitter, output: Reduction) -> ir.Value:
        """The vector of the elements from ``first`` on."""
        load, builder = output.value, code.builder
        assert isinstance(load, Load)
        self.go_to(first, code)
        address = self.nest.scalars.address(code, load.buffer, load.indices, load.flat)
        pointer = builder.bitcast(address, ir.VectorType(llvm_type(load.dtype), AT_ONCE).as_pointer())
        return builder.load(pointer, align=load.dtype.itemsize)

    def look_up(self, start: ir.Value, stop: ir.Value, before: Emitter, output: Reduction) -> Emitter:
        """Emit the code behind a block: if it is better than all before, remember it, or search it at once."""
        nest, builder = self.nest, before.builder
        best, position = (builder.load(pointer) for pointer in nest.states[output])
        peak, dtype = builder.load(nest.peaks[output]), output.value.dtype
        better = output.reducer.combine(before, Operand(peak, dtype), Operand(best, dtype))
        slot = self.best_blocks.get(output)
        place = position if slot is None else builder.and_(position, builder.load(slot))
        better = builder.or_(better, builder.icmp_signed("<", place, ir.Constant(I64, 0)))
        if slot is None:
            first = (peak, NOWHERE) if isinstance(output.value, Load) else None
            return self.search(start, stop, before, better, output, first)
        with builder.if_then(better):
            builder.store(peak, nest.states[output][0])
            builder.store(start, slot)
        return before

    def finish(self, end: ir.Value, before: Emitter) -> Emitter:
        """Search the blocks that were remembered, once all blocks have run."""
        nest = self.nest
        for output, slot in self.best_blocks.items():
            builder = before.builder
            start = builder.load(slot)
            limit = builder.add(start, ir.Constant(I64, BLOCK), flags=("nsw",))
            stop = builder.select(builder.icmp_signed("<", limit, end), limit, end)
            nest.scalars.values = dict(self.known)
            found = builder.icmp_signed(">=", start, ir.Constant(I64, 0))
            before = self.search(start, stop, before, found, output, (builder.load(nest.states[output][0]), NOWHERE))
        return before

    def search(
        self,
        start: ir.Value,
        stop: ir.Value,
        before: Emitter,
        wanted: ir.Value,
        output: Reduction,
        known: tuple[ir.Value, ir.Value] | None,
    ) -> Emitter:
        """Look at each element of a block: for the first that is equal to an extremum, if that is known."""
        nest = self.nest
        enter, head, after = (nest.function.append_basic_block(name) for name in ("enter", "search", "searched"))
        before.builder.cbranch(wanted, enter, after)
        entry = ir.IRBuilder(enter)
        for pointer, each in zip(nest.states[output], known or (), strict=False):
            entry.store(each, pointer)
        if known is not None and self.is_vector(output):
            entry = self.search_vectors(start, stop, entry, output, after)
            enter = entry.block
        entry.branch(head)
        step = output.reducer.step if known is None else output.reducer.locate
        body = Emitter(ir.IRBuilder(head))
        index = nest.scalars.values[nest.kernel.loops[self.depth]] = body.builder.phi(I64)
        nest.preheaders[self.depth + 1 :] = [body]
        state = tuple(body.builder.load(pointer) for pointer in nest.states[output])
        value = nest.scalars.operand(output.value)
        assert output.position is not None
        following = step(body, state, value, nest.scalars.value(output.position))
        for pointer, each in zip(nest.states[output], following, strict=True):
            body.builder.store(each, pointer)
        next_index = body.builder.add(index, ir.Constant(I64, 1), flags=("nsw",))
        index.add_incoming(start, enter)
        index.add_incoming(next_index, body.builder.block)
        body.builder.cbranch(body.builder.icmp_signed("<", next_index, stop), head, after)
        return Emitter(ir.IRBuilder(after))

    def is_vector(self, output: Reduction) -> bool:
        """Whether elements of a block follow each other in memory, as numbers that one instruction compares."""
        load, loop = output.value, self.nest.kernel.loops[self.depth]
        return isinstance(load, Load) and load.dtype.kind in "fiu" and reads_along(loop, load)

    def search_vectors(
        self, start: ir.Value, stop: ir.Value, before: ir.IRBuilder, output: Reduction, after: ir.Block
    ) -> ir.IRBuilder:
        """Compare some elements at once, and go on to ``after`` with the first that is equal to the extremum. The last
        ones overlap those before. Returns where fewer elements are looked at."""
        nest, known, dtype = self.nest, dict(self.nest.scalars.values), output.value.dtype
        names = ("vectors", "hit", "next", "few")
        head, hit, onward, few = (nest.function.append_basic_block(name) for name in names)
        last = before.sub(stop, ir.Constant(I64, AT_ONCE), flags=("nsw",))
        extremum = Operand(splat(before, before.load(nest.states[output][0])), dtype)
        before.cbranch(before.icmp_signed("<=", start, last), head, few)
        body = Emitter(ir.IRBuilder(head))
        begin = body.builder.phi(I64)
        begin.add_incoming(start, before.block)
        first = body.builder.select(body.builder.icmp_signed("<", begin, last), begin, last)
        elements = Operand(self.load_vector(first, body, output), dtype)
        worse = body.builder.bitcast(output.reducer.combine(body, extremum, elements), BITS)
        equal = body.builder.not_(worse)
        body.builder.cbranch(body.builder.icmp_unsigned("!=", equal, ir.Constant(BITS, 0)), hit, onward)
        builder = ir.IRBuilder(onward)
        following = builder.add(begin, ir.Constant(I64, AT_ONCE), flags=("nsw",))
        begin.add_incoming(following, onward)
        builder.cbranch(builder.icmp_signed("<", following, stop), head, after)
        found = Emitter(ir.IRBuilder(hit))
        number = found.builder.zext(found.builder.cttz(equal, ir.Constant(I1, 1)), I64)
        nest.scalars.values = dict(known)
        self.go_to(found.builder.add(first, number, flags=("nsw",)), found)
        assert output.position is not None
        found.builder.store(nest.scalars.value(output.position), nest.states[output][1])
        found.builder.branch(after)
        nest.scalars.values = known
        return ir.IRBuilder(few)

    def go_to(self, place: ir.Value, code: Emitter) -> None:
        """Set the index of the element and the block to which the following code is emitted."""
        self.nest.scalars.values[self.nest.kernel.loops[self.depth]] = place
        self.nest.preheaders[self.depth + 1 :] = [code]


def reduced(builder: ir.IRBuilder, vector: ir.Value, combine: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """The elements of a vector combined, half with half."""
    count = AT_ONCE
    while count > 1:
        count //= 2
        halves = [
            ir.Constant(ir.VectorType(I32, count), [ir.Constant(I32, first + k) for k in range(count)])
            for first in (0, count)
        ]
        vector = combine(*(builder.shuffle_vector(vector, vector, half) for half in halves))
    return builder.extract_element(vector, ir.Constant(I32, 0))


def splat(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    """A vector of one number."""
    type_ = ir.VectorType(number.type, AT_ONCE)
    one = builder.insert_element(ir.Constant(type_, ir.Undefined), number, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, AT_ONCE), [ir.Constant(I32, 0)] * AT_ONCE)
    return builder.shuffle_vector(one, ir.Constant(type_, ir.Undefined), zeros)


def improve(nest: Nest, emitter: Emitter, output: Reduction, value: Operand) -> None:
    """Put a value and its position in the place of an extremum in memory and of its position, if it is better."""
    pointers = [nest.scalars.address(emitter, each, output.indices) for each in reversed(targets(output))]
    dtypes = value.dtype, output.reducer.result_dtype(value.dtype)
    state = tuple(emitter.load(*each) for each in zip(pointers, dtypes, strict=True))
    assert output.position is not None
    following = output.reducer.step(emitter, state, value, nest.scalars.value(output.position))
    for each in zip(following, pointers, dtypes, strict=True):
        emitter.store(*each)
