"""Extrema of which the position is wanted: the search in a block, and what stands in memory so far."""

from __future__ import annotations

from collections.abc import Iterable

from llvmlite import ir

from numbagraph.emit.hints import BLOCK
from numbagraph.emit.tiles import Nest
from numbagraph.intrinsics.emitter import I64, Emitter, Operand
from numbagraph.intrinsics.ir import Load
from numbagraph.loops.ir import Reduction, targets

NOWHERE = ir.Constant(I64, -1)


class Searches:
    """Those for the positions of extrema along the innermost loop of a nest, which runs in blocks.

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
        """Where the best blocks begin, as far as there are any."""
        for slot in self.best_blocks.values():
            outer.builder.store(NOWHERE, slot)

    def look_up(self, start: ir.Value, stop: ir.Value, before: Emitter, output: Reduction) -> Emitter:
        """Behind a block: remember it, or search it, if it is better than all before."""
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
        """Behind all blocks: search those that were remembered."""
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


def improve(nest: Nest, emitter: Emitter, output: Reduction, value: Operand) -> None:
    """Put a value and its position in the place of an extremum in memory and of its position, if it is better."""
    pointers = [nest.scalars.address(emitter, each, output.indices) for each in reversed(targets(output))]
    dtypes = value.dtype, output.reducer.result_dtype(value.dtype)
    state = tuple(emitter.load(*each) for each in zip(pointers, dtypes, strict=True))
    assert output.position is not None
    following = output.reducer.step(emitter, state, value, nest.scalars.value(output.position))
    for each in zip(following, pointers, dtypes, strict=True):
        emitter.store(*each)
