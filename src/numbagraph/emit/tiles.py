"""Memory for one block of a loop that is only fast along memory: copies of elements that are read with strides, and
values to be scattered."""

from __future__ import annotations

from typing import Any, Protocol

from llvmlite import ir

from numbagraph.emit.hints import BLOCK
from numbagraph.emit.loop_variants import Choices
from numbagraph.emit.scalars import ScalarEmitter
from numbagraph.intrinsics.emitters.emitter import I64, Emitter, loop_hints, memory_type
from numbagraph.intrinsics.emitters.ir import Load, Scalar
from numbagraph.loops.ir import Kernel, Reduction, Scan, Scatter


class Nest(Protocol):
    """The emitter of a loop nest, as far as its blocks are concerned."""

    kernel: Kernel
    function: ir.Function
    choices: Choices
    scalars: ScalarEmitter
    preheaders: list[Emitter]
    """For each depth, the emitter of code that does not depend on inner loops."""
    tiles: dict[Load, tuple[ir.Value, ir.Value]]
    """The memory of each copy, and the index of its first element."""
    kept: dict[Scatter, tuple[dict[Scalar, ir.Value], ir.Value]]
    """For each delayed scatter, the memory of the scalars that are kept of one block, and the index of the first
    element."""
    states: dict[Reduction | Scan, list[ir.Value]]
    """The state so far of each accumulator."""
    peaks: dict[Reduction | Scan, ir.Value]
    """The extremum of one block, for each extremum whose position is wanted."""

    def allocate(self, type_: ir.Type) -> ir.Value: ...

    def put(self, emitter: Emitter, output: Any, value: ir.Value, *, combine: bool) -> None: ...

    def emit_loop(
        self, depth: int, start: ir.Value, stop: ir.Value, before: Emitter, *, masked: bool = False
    ) -> Emitter: ...

    def emit_body(self) -> Emitter: ...


def copy_tile(nest: Nest, depth: int, start: ir.Value, stop: ir.Value, before: Emitter) -> Emitter:
    """Copy the elements of one block, which is not empty, and let the code that follows read the copies."""
    loop, function = nest.kernel.loops[depth], nest.function
    body, after = (function.append_basic_block(f"{loop.name}.{name}") for name in ("copy", "copied"))
    known = dict(nest.scalars.values)
    emitter = Emitter(ir.IRBuilder(body))
    builder = emitter.builder
    index = nest.scalars.values[loop] = builder.phi(I64)
    nest.preheaders[depth + 1 :] = [emitter]
    tiles: dict[Load, tuple[ir.Value, ir.Value]] = {}
    for load in nest.choices.copied:
        memory = nest.allocate(ir.ArrayType(memory_type(load.dtype), BLOCK))
        tiles[load] = memory, start
        element = builder.load(nest.scalars.address(emitter, load.buffer, load.indices, load.flat))
        builder.store(element, address_in(emitter, memory, index, start))
    following = builder.add(index, ir.Constant(I64, 1), flags=("nsw",))
    index.add_incoming(start, before.builder.block)
    index.add_incoming(following, builder.block)
    latch = builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    latch.set_metadata("llvm.loop", loop_hints(function.module, vectorize_width=1, interleave_count=1))
    before.builder.branch(body)
    nest.scalars.values, nest.tiles = known, tiles
    return Emitter(ir.IRBuilder(after))


def allocate_kept(nest: Nest, start: ir.Value) -> None:
    """Allocate room for the kept scalars of a block's elements."""
    for output, scalars in nest.choices.delayed.items():
        room = {each: nest.allocate(ir.ArrayType(memory_type(each.dtype), BLOCK)) for each in scalars}
        nest.kept[output] = room, start


def keep_for_later(nest: Nest, emitter: Emitter, output: Scatter) -> None:
    """Store the value and the indices of a delayed scatter in memory of its own."""
    room, first = nest.kept[output]
    index = nest.scalars.values[nest.kernel.loops[-1]]
    for scalar, memory in room.items():
        emitter.store(nest.scalars.value(scalar), address_in(emitter, memory, index, first), scalar.dtype)


def scatter_tile(nest: Nest, depth: int, start: ir.Value, stop: ir.Value, before: Emitter) -> Emitter:
    """Scatter the kept elements of one block, which is not empty, in their order."""
    loop, function = nest.kernel.loops[depth], nest.function
    body, after = (function.append_basic_block(f"{loop.name}.{name}") for name in ("scatter", "scattered"))
    emitter = Emitter(ir.IRBuilder(body))
    builder = emitter.builder
    index = nest.scalars.values[loop] = builder.phi(I64)
    nest.preheaders[depth + 1 :] = [emitter]
    for output, (room, first) in nest.kept.items():
        for scalar, memory in room.items():
            nest.scalars.values[scalar] = emitter.load(address_in(emitter, memory, index, first), scalar.dtype)
        nest.put(emitter, output, nest.scalars.value(output.value), combine=True)
    following = builder.add(index, ir.Constant(I64, 1), flags=("nsw",))
    index.add_incoming(start, before.builder.block)
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    before.builder.branch(body)
    return Emitter(ir.IRBuilder(after))


def address_in(emitter: Emitter, memory: ir.Value, index: ir.Value, first: ir.Value) -> ir.Value:
    """A pointer to an element of a block's own memory, which begins with the element of index ``first``."""
    return emitter.builder.gep(memory, [ir.Constant(I64, 0), emitter.builder.sub(index, first)], inbounds=True)
