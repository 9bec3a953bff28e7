"""Extrema of which the position is wanted: the search in a block, and what stands in memory so far."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.emit.tiles import Nest
from numbagraph.intrinsics.emitter import I64, Emitter, Operand
from numbagraph.intrinsics.ir import Load
from numbagraph.loops.ir import Reduction, targets


def search_block(
    nest: Nest, depth: int, start: ir.Value, stop: ir.Value, before: Emitter, output: Reduction
) -> Emitter:
    """Look for the position of an extremum, in a block whose extremum is better than all before it.

    The loop before, which only computes the extremum, is one that LLVM vectorises; few blocks are searched. What is
    merely read is found again by comparing with the extremum. What is computed need not be the same to the last
    bit in another loop, so there the search compares each element with the best.
    """
    best, position = (before.builder.load(pointer) for pointer in nest.states[output])
    peak, dtype = before.builder.load(nest.peaks[output]), output.value.dtype
    better = output.reducer.combine(before, Operand(peak, dtype), Operand(best, dtype))
    nothing_yet = before.builder.icmp_signed("<", position, ir.Constant(I64, 0))
    enter, head, after = (nest.function.append_basic_block(name) for name in ("enter", "search", "searched"))
    before.builder.cbranch(before.builder.or_(better, nothing_yet), enter, after)
    entry, step = ir.IRBuilder(enter), output.reducer.step
    if isinstance(output.value, Load):
        step = output.reducer.locate
        for pointer, each in zip(nest.states[output], (peak, ir.Constant(I64, -1)), strict=True):
            entry.store(each, pointer)
    entry.branch(head)
    body = Emitter(ir.IRBuilder(head))
    index = nest.scalars.values[nest.kernel.loops[depth]] = body.builder.phi(I64)
    nest.preheaders[depth + 1 :] = [body]
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
