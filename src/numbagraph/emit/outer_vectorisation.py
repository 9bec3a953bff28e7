"""Reductions of short rows, several rows at a time.

Where what the next row reads follows in memory (convolutions, sums of windows), vectors run across the rows: the loop
over rows is strip-mined, and the loop over a row stands between the two. Each lane adds up a row of its own, in the
order of its elements. Where the elements of a row follow in memory (products of a matrix and a vector), vectors run
along the rows, and the loop over a few rows is unrolled inside of the loop over their elements: one row alone would
wait for each of its sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from llvmlite import ir

from numbagraph.emit.tiles import Nest
from numbagraph.intrinsics.emitters.emitter import I64, Emitter, Inlining, loop_hints
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.loops.ir import Reduction
from numbagraph.loops.masked_tails import WITH_MASKS
from numbagraph.loops.outer_vectorisation import VECTORS, rows_of_strip

ROWS = 4
"""The number of rows that are reduced side by side, to hide that latency as well."""

SHORTEST = 16
"""The least number of elements of a row along which vectors run: masking the rest of a shorter one takes longer than it
gains."""

ZERO = ir.Constant(I64, 0)


class Strips:
    """The strips of a nest's loop over rows."""

    shortest = 0
    """The least length of a row that pays."""

    def __init__(self, nest: Nest, depth: int, inlining: Inlining) -> None:
        self.nest = nest
        self.depth = depth
        self.code = Emitter(ir.IRBuilder(nest.preheaders[depth].builder.block), inlining)
        self.outputs = [each for each in nest.kernel.outputs if isinstance(each, Reduction)]
        self.rows = self.count()

    def count(self) -> int:
        """The rows of a strip."""
        return rows_of_strip(self.nest.kernel)

    def emit(self, begin: ir.Value, end: ir.Value) -> ir.Value:
        """Emit the strips, and return the first row that is left. The last strip ends with the last row: some rows
        before it may be reduced twice."""
        nest, builder = self.nest, self.code.builder
        self.length = nest.scalars.value(nest.kernel.loops[-1].extent)
        self.known = dict(nest.scalars.values)
        self.memory = {each: self.accumulators(each) for each in self.outputs}
        last = builder.sub(end, ir.Constant(I64, self.rows), flags=("nsw",))
        # of a row that begins later, what is before that may be computed, too
        least = ZERO if nest.kernel.loops[self.depth] in nest.kernel.begins else begin
        end = builder.select(self.is_worth_it(least, last), end, begin)
        nest.preheaders[self.depth + 1 :] = [self.code, self.code]
        with self.loop("strip", begin, end, self.rows) as first:
            self.strip(builder.select(builder.icmp_signed("<", first, last), first, last))
        nest.scalars.values = self.known
        nest.preheaders[self.depth :] = [Emitter(ir.IRBuilder(builder.block))]
        for output in self.outputs:
            del nest.states[output]
        return end

    def is_worth_it(self, begin: ir.Value, last: ir.Value) -> ir.Value:
        """Whether there is a strip, rows are long enough, and what strips read has been packed."""
        builder, packed = self.code.builder, self.nest.kernel.packed
        found = builder.icmp_signed(">=", self.length, ir.Constant(I64, self.shortest))
        found = builder.and_(found, builder.icmp_signed("<=", begin, last))
        if packed is None:
            return found
        return builder.and_(found, builder.icmp_signed("!=", self.nest.scalars.value(packed.times), ZERO))

    def strip(self, first: ir.Value) -> None:
        """Emit the work on the rows from ``first`` on."""
        with self.lanes(first):
            self.open()
        with self.loop("column", ZERO, self.length) as column, self.lanes(first):
            self.step(column)
        with self.lanes(first):
            self.close()

    def step(self, column: ir.Value) -> None:
        """Add an element of the row that has been chosen."""
        scalars, packed = self.nest.scalars, self.nest.kernel.packed
        scalars.values[self.nest.kernel.loops[-1]] = column
        for load, place in packed.loads.items() if packed is not None else ():
            scalars.values[load] = scalars.value(place)
        self.nest.emit_body()

    def accumulators(self, output: Reduction) -> ir.Value:
        """Memory for the accumulators of a strip."""
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
        """Emit a loop over the rows of a strip, which LLVM vectorises, around the code that is emitted inside."""
        # one iteration of vectors is left of it; unrolled before there are vectors, it would stay scalar
        hints = {"unroll_disable": 1, "vectorize_width": self.rows // VECTORS, "interleave_count": VECTORS}
        with self.loop("lane", ZERO, ir.Constant(I64, self.rows), hints=hints) as lane:
            self.choose(first, lane)
            yield

    def choose(self, first: ir.Value, number: ir.Value) -> None:
        """Set the row that the following code works on."""
        nest, builder = self.nest, self.code.builder
        nest.scalars.values = dict(self.known)
        nest.scalars.values[nest.kernel.loops[-2]] = builder.add(first, number, flags=("nsw",))
        for output, memory in self.memory.items():
            nest.states[output] = [builder.gep(memory, [ZERO, number], inbounds=True)]

    @contextmanager
    def loop(
        self, name: str, start: ir.Value, stop: ir.Value, stride: int = 1, hints: Mapping[str, int] | None = None
    ) -> Iterator[ir.Value]:
        """Emit a loop with hints to LLVM around the code that is emitted inside, which gets the index."""
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
        latch = builder.branch(head)
        if hints:
            latch.set_metadata("llvm.loop", loop_hints(function.module, **hints))
        builder.position_at_end(after)


class FewRows(Strips):
    """Strips of few rows, with vectors along the rows."""

    shortest = SHORTEST

    def count(self) -> int:
        return ROWS

    def strip(self, first: ir.Value) -> None:
        masks = current_target().vector_bytes == WITH_MASKS
        hints = {"interleave_count": 1, "vectorize_predicate_enable": 1} if masks else {"interleave_count": 1}
        rows = [ir.Constant(I64, number) for number in range(self.rows)]
        for row in rows:
            self.choose(first, row)
            self.open()
        with self.loop("column", ZERO, self.length, hints=hints) as column:
            for row in rows:
                self.choose(first, row)
                self.step(column)
        for row in rows:
            self.choose(first, row)
            self.close()


def emit_strips(nest: Nest, depth: int, begin: ir.Value, end: ir.Value, inlining: Inlining) -> ir.Value:
    """Emit the strips that suit a nest, if there are any, and return the first row that is left."""
    kind = Strips if nest.choices.across else FewRows if nest.choices.several else None
    return begin if kind is None else kind(nest, depth, inlining).emit(begin, end)
