"""Reductions of short rows in vectors across the rows: convolutions, and sums of windows.

The loop over rows is strip-mined, and the loop over a row stands between the two: each lane adds up a row of its own,
in the order of its elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

from numbagraph.emit.tiles import Nest
from numbagraph.intrinsics.emitter import I64, Emitter, Inlining
from numbagraph.intrinsics.lanes import lanes_of
from numbagraph.loops.ir import Reduction

VECTORS = 8
"""Vectors of accumulators, which hide the latency of what is added to them."""


class Strips:
    """Whole strips of a nest's loop over rows."""

    def __init__(self, nest: Nest, depth: int, inlining: Inlining) -> None:
        self.nest = nest
        self.depth = depth
        self.code = Emitter(ir.IRBuilder(nest.preheaders[depth].builder.block), inlining)
        self.outputs = [each for each in nest.kernel.outputs if isinstance(each, Reduction)]
        self.rows = VECTORS * min(lanes_of(each.value.dtype) for each in self.outputs)

    def emit(self, begin: ir.Value, end: ir.Value) -> ir.Value:
        """Emit them, and return the first row that is left."""
        nest, builder = self.nest, self.code.builder
        length = nest.scalars.value(nest.kernel.loops[-1].extent)
        self.known = dict(nest.scalars.values)
        self.memory = {each: self.accumulators(each) for each in self.outputs}
        last = builder.sub(end, ir.Constant(I64, self.rows - 1), flags=("nsw",))
        nest.preheaders[self.depth + 1 :] = [self.code, self.code]
        with self.loop("strip", begin, last, self.rows) as first:
            with self.lanes(first):
                self.open()
            with self.loop("column", ir.Constant(I64, 0), length) as column, self.lanes(first):
                nest.scalars.values[nest.kernel.loops[-1]] = column
                nest.emit_body()
            with self.lanes(first):
                self.close()
        nest.scalars.values = self.known
        nest.preheaders[self.depth :] = [Emitter(ir.IRBuilder(builder.block))]
        for output in self.outputs:
            del nest.states[output]
        return first

    def accumulators(self, output: Reduction) -> ir.Value:
        """Memory for those of a strip."""
        (identity,) = output.reducer.initial(output.value.dtype)
        return self.nest.allocate(ir.ArrayType(identity.type, self.rows))

    def open(self) -> None:
        for output in self.outputs:
            (identity,) = output.reducer.initial(output.value.dtype)
            self.code.builder.store(identity, self.nest.states[output][0])

    def close(self) -> None:
        for output in self.outputs:
            state = tuple(self.code.builder.load(each) for each in self.nest.states[output])
            self.nest.put(self.code, output, output.reducer.result(state), combine=False)

    @contextmanager
    def lanes(self, first: ir.Value) -> Iterator[None]:
        """A loop over the rows of a strip, which LLVM vectorises, around what is emitted inside."""
        nest, builder, zero = self.nest, self.code.builder, ir.Constant(I64, 0)
        with self.loop("lane", zero, ir.Constant(I64, self.rows)) as lane:
            nest.scalars.values = dict(self.known)
            nest.scalars.values[nest.kernel.loops[-2]] = builder.add(first, lane, flags=("nsw",))
            for output, memory in self.memory.items():
                nest.states[output] = [builder.gep(memory, [zero, lane], inbounds=True)]
            yield

    @contextmanager
    def loop(self, name: str, start: ir.Value, stop: ir.Value, stride: int = 1) -> Iterator[ir.Value]:
        """A loop around what is emitted inside, which is given the index."""
        builder, function = self.code.builder, self.nest.function
        head, body, after = (function.append_basic_block(f"{name}.{each}") for each in ("head", "body", "end"))
        before = builder.block
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(I64)
        index.add_incoming(start, before)
        builder.cbranch(builder.icmp_signed("<", index, stop), body, after)
        builder.position_at_end(body)
        yield index
        index.add_incoming(builder.add(index, ir.Constant(I64, stride), flags=("nsw",)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)
