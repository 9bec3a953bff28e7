"""Copies of elements that are read with strides, a block at a time, for loops that are only fast along memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from numbagraph.intrinsics.emitter import I64, Emitter, memory_type
from numbagraph.intrinsics.hints import BLOCK, depending_on, loop_hints, reads_along
from numbagraph.intrinsics.vecmath.foundation import functions
from numbagraph.kernel import Apply, Kernel, Load

if TYPE_CHECKING:
    from numbagraph.intrinsics.loops import KernelEmitter

MOST_TILED = 8
"""Arrays that are copied: each takes a few kilobytes of the stack."""


def tiled_loads(kernel: Kernel) -> list[Load]:
    """What the innermost loop reads with strides, if it computes mathematical functions of it.

    LLVM widens a loop that reads with strides by gathering, and then each element takes five times as long. Where
    little is computed, a copy would take as long.
    """
    if not kernel.loops:
        return []
    loop, inside = kernel.loops[-1], depending_on(kernel.loops[-1], kernel)
    if not any(isinstance(each, Apply) and each.name in functions for each in inside):
        return []
    found = [each for each in kernel.scalars() if isinstance(each, Load) and each in inside]
    apart = [each for each in found if not reads_along(loop, each)]
    simple = all(each.indices.count(loop) == 1 and len(inside.intersection(each.indices)) == 1 for each in apart)
    return apart if simple and len(apart) <= MOST_TILED else []


def copy_tile(nest: KernelEmitter, depth: int, start: ir.Value, stop: ir.Value, before: Emitter) -> Emitter:
    """Copy the elements of one block, which is not empty, and let the code that follows read the copies."""
    loop, function = nest.kernel.loops[depth], nest.function
    body, after = (function.append_basic_block(f"{loop.name}.{name}") for name in ("copy", "copied"))
    known = dict(nest.values)
    emitter = Emitter(ir.IRBuilder(body))
    builder = emitter.builder
    index = nest.values[loop] = builder.phi(I64)
    nest.preambles[depth + 1 :] = [emitter]
    tiles: dict[Load, tuple[ir.Value, ir.Value]] = {}
    for load in nest.tiled:
        memory = nest.allocate(ir.ArrayType(memory_type(load.dtype), BLOCK))
        tiles[load] = memory, start
        place = builder.gep(memory, [ir.Constant(I64, 0), builder.sub(index, start)], inbounds=True)
        builder.store(builder.load(nest.address(emitter, load.buffer, load.indices, load.flat)), place)
    following = builder.add(index, ir.Constant(I64, 1), flags=("nsw",))
    index.add_incoming(start, before.builder.block)
    index.add_incoming(following, builder.block)
    latch = builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    latch.set_metadata("llvm.loop", loop_hints(function.module, vectorize_width=1, interleave_count=1))
    before.builder.branch(body)
    nest.values, nest.tiles = known, tiles
    return Emitter(ir.IRBuilder(after))
