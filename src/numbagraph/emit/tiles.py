"""Memory for one block of a loop that is only fast along memory: copies of what is read with strides, and what is to be
scattered."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, Protocol

from llvmlite import ir

from numbagraph.emit.hints import BLOCK, depending_on, reads_along
from numbagraph.intrinsics.emitter import I64, Emitter, loop_hints, memory_type
from numbagraph.intrinsics.ir import Apply, Buffer, Load, LoopIndex, Scalar
from numbagraph.intrinsics.vecmath.foundation import functions
from numbagraph.loops.ir import Kernel, Scatter

MOST_TILED = 8
"""Arrays that are copied: each takes a few kilobytes of the stack."""


class Nest(Protocol):
    """What emits a loop nest, as far as its blocks are concerned."""

    kernel: Kernel
    function: ir.Function
    values: dict[Scalar, ir.Value]
    """The scalars whose values are known where code is emitted."""
    preambles: list[Emitter]
    """For each depth, where code stands that does not depend on inner loops."""
    tiled: list[Load]
    tiles: dict[Load, tuple[ir.Value, ir.Value]]
    """The memory of each copy, and the index of its first element."""
    kept: dict[Scatter, tuple[ir.Value, ir.Value]]

    def allocate(self, type: ir.Type) -> ir.Value: ...

    def address(self, emitter: Emitter, buffer: Buffer, indices: Sequence[Scalar], flat: bool = ...) -> ir.Value: ...

    def put(self, emitter: Emitter, output: Any, value: ir.Value, *, combine: bool) -> None: ...


def tiled_loads(kernel: Kernel) -> list[Load]:
    """What the innermost loop reads with strides, if it computes mathematical functions of it.

    LLVM widens a loop that reads with strides by gathering, and then each element takes five times as long. Where
    little is computed, a copy would take as long.
    """
    if not kernel.loops:
        return []
    loop, inside = kernel.loops[-1], depending_on(kernel.loops[-1], kernel)
    if not computes_functions(inside):
        return []
    found = [each for each in kernel.scalars() if isinstance(each, Load) and each in inside]
    apart = [each for each in found if not reads_along(loop, each)]
    simple = all(each.indices.count(loop) == 1 and len(inside.intersection(each.indices)) == 1 for each in apart)
    return apart if simple and len(apart) <= MOST_TILED else []


def computes_functions(scalars: Iterable[Scalar]) -> bool:
    return any(isinstance(each, Apply) and each.name in functions for each in scalars)


def delayed_scatters(kernel: Kernel) -> list[Scatter]:
    """Scatters of a nest that wait until a block of the innermost loop has been computed.

    Places that are known at run time only may be equal, so LLVM widens no loop that adds to them, nor what else it
    computes: mathematical functions take five times as long.
    """
    if not kernel.loops:
        return []
    loop, inside = kernel.loops[-1], depending_on(kernel.loops[-1], kernel)
    found = [each for each in kernel.outputs if isinstance(each, Scatter) and scatters_along(loop, each, inside)]
    return found if len(found) <= MOST_TILED and computes_functions(inside) else []


def scatters_along(loop: LoopIndex, output: Scatter, inside: Container[Scalar]) -> bool:
    """Whether the places that a scatter goes to in a loop are known at run time only."""
    return output.value in inside and any(each in inside and each is not loop for each in output.indices)


def copy_tile(nest: Nest, depth: int, start: ir.Value, stop: ir.Value, before: Emitter) -> Emitter:
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
        element = builder.load(nest.address(emitter, load.buffer, load.indices, load.flat))
        builder.store(element, place_in(emitter, memory, index, start))
    following = builder.add(index, ir.Constant(I64, 1), flags=("nsw",))
    index.add_incoming(start, before.builder.block)
    index.add_incoming(following, builder.block)
    latch = builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    latch.set_metadata("llvm.loop", loop_hints(function.module, vectorize_width=1, interleave_count=1))
    before.builder.branch(body)
    nest.values, nest.tiles = known, tiles
    return Emitter(ir.IRBuilder(after))


def keep_for_later(nest: Nest, emitter: Emitter, output: Scatter, value: ir.Value) -> None:
    """Put what is to be scattered into memory of its own."""
    memory, first = nest.kept[output]
    emitter.store(value, place_in(emitter, memory, nest.values[nest.kernel.loops[-1]], first), output.value.dtype)


def scatter_tile(nest: Nest, depth: int, start: ir.Value, stop: ir.Value, before: Emitter) -> Emitter:
    """Scatter what has been kept of one block, which is not empty, in its order."""
    loop, function = nest.kernel.loops[depth], nest.function
    body, after = (function.append_basic_block(f"{loop.name}.{name}") for name in ("scatter", "scattered"))
    emitter = Emitter(ir.IRBuilder(body))
    builder = emitter.builder
    index = nest.values[loop] = builder.phi(I64)
    nest.preambles[depth + 1 :] = [emitter]
    for output, (memory, first) in nest.kept.items():
        value = emitter.load(place_in(emitter, memory, index, first), output.value.dtype)
        nest.put(emitter, output, value, combine=True)
    following = builder.add(index, ir.Constant(I64, 1), flags=("nsw",))
    index.add_incoming(start, before.builder.block)
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    before.builder.branch(body)
    return Emitter(ir.IRBuilder(after))


def place_in(emitter: Emitter, memory: ir.Value, index: ir.Value, first: ir.Value) -> ir.Value:
    """A pointer to an element of a block's own memory, where that of ``first`` stands in front."""
    return emitter.builder.gep(memory, [ir.Constant(I64, 0), emitter.builder.sub(index, first)], inbounds=True)
