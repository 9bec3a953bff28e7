"""Early exits of reductions that a single element may decide, as a true one decides `any`: the loop ends behind the
strip that has it."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.emit.tiles import Nest
from numbagraph.intrinsics.emitters.emitter import I1, I64, Emitter, llvm_constant
from numbagraph.loops.ir import Kernel, Reduction

STRIP = 8192
"""The elements after which the loop tests for an early exit: so many that a strip runs in vectors, and that the test
takes no time."""


def may_end_early(kernel: Kernel) -> bool:
    """Whether a nest only reduces in one loop, by reducers that an element may decide, and nothing in it fails: where
    the loop ends, no later element is checked."""
    if len(kernel.loops) != 1 or kernel.unrolled or kernel.checks():
        return False
    return all(isinstance(each, Reduction) and each.reducer.absorbing is not None for each in kernel.outputs)


def emit_until_decided(nest: Nest, depth: int, begin: ir.Value, end: ir.Value) -> Emitter:
    """The innermost loop in strips, until all of its reductions are decided."""
    name, outer = nest.kernel.loops[depth].name, nest.preheaders[depth]
    head, body, after = (nest.function.append_basic_block(f"{name}.{each}") for each in ("strips", "strip", "decided"))
    head_builder = ir.IRBuilder(head)
    start = head_builder.phi(I64)
    head_builder.cbranch(head_builder.icmp_signed("<", start, end), body, after)
    strip = ir.IRBuilder(body)
    limit = strip.add(start, ir.Constant(I64, STRIP), flags=("nsw",))
    stop = strip.select(strip.icmp_signed("<", limit, end), limit, end)
    known = dict(nest.scalars.values)
    last = nest.emit_loop(depth, start, stop, Emitter(strip)).builder
    nest.scalars.values = known
    decided: ir.Value = ir.Constant(I1, 1)
    for output, (state,) in nest.states.items():
        wanted = llvm_constant(output.reducer.absorbing, output.value.dtype)
        decided = last.and_(decided, last.icmp_unsigned("==", last.load(state), wanted))
    start.add_incoming(begin, outer.builder.block)
    start.add_incoming(limit, last.block)
    outer.builder.branch(head)
    last.cbranch(decided, after, head)
    return Emitter(ir.IRBuilder(after))
