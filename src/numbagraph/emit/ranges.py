"""Loop nests as functions of a range of their outermost loop, which go on from what earlier ranges have accumulated."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.emit.nest import KernelEmitter
from numbagraph.intrinsics.emitter import I32, I64, POINTER, Emitter
from numbagraph.intrinsics.reducers import State
from numbagraph.loops.ir import Kernel, Reduction, Scan


class RangeEmitter(KernelEmitter):
    """Emits one kernel as ``i1 kernel(begin, end, buffers..., registers..., slots...)``.

    A reduction over all loops has a slot. There its accumulator stands before the range and after it.
    """

    range_types = (I64, I64)

    def __init__(self, module: ir.Module, kernel: Kernel, name: str) -> None:
        super().__init__(module, kernel, name)
        self.members = [kernel]
        self.length = kernel.loops[0].extent

    def bounds(self, depth: int) -> tuple[ir.Value, ir.Value]:
        begin, end = self.range
        return super().bounds(depth) if depth else (begin, end)

    def has_slot(self, output: Reduction) -> bool:
        return self.suffix(output) == 0

    def slot_type(self, output: Reduction) -> ir.Type:
        return POINTER

    def owner(self, output: Reduction) -> RangeEmitter:
        """The nest that an output belongs to."""
        assert output in self.kernel.outputs
        return self

    @property
    def in_lines(self) -> bool:
        """Whether chunks may begin in the middle of a line of cache, unless they are cut with care."""
        return len(self.kernel.loops) == 1

    @property
    def shared(self) -> list[Reduction]:
        """Those outputs to whose elements in memory several ranges add."""
        reductions = [each for each in self.kernel.outputs if isinstance(each, Reduction) and not self.has_slot(each)]
        return [each for each in reductions if self.kernel.loops[0] in each.reduced]

    def initial_state(self, emitter: Emitter, output: Reduction) -> State:
        dtype = output.value.dtype
        if not (self.is_blocked(output) and not output.reducer.positional):
            return output.reducer.initial(dtype)
        zero = emitter.constant(0, output.reducer.total_dtype(dtype))
        return zero, zero

    def record_type(self, output: Reduction) -> ir.LiteralStructType:
        """What a slot holds."""
        state = self.initial_state(self.preambles[0], output)
        return ir.LiteralStructType([each.type for each in state])

    def open_slot(self, emitter: Emitter, output: Reduction, slot: ir.Value) -> None:
        """Let the accumulator in a slot be that of no elements."""
        for position, each in enumerate(self.initial_state(emitter, output)):
            emitter.builder.store(each, member(emitter.builder, slot, position))

    def state_in(self, emitter: Emitter, output: Reduction, slot: ir.Value) -> State:
        builder, count = emitter.builder, len(self.record_type(output).elements)
        return tuple(builder.load(member(builder, slot, position)) for position in range(count))

    def join(self, emitter: Emitter, output: Reduction, first: State, second: State) -> State:
        """The accumulator after two ranges, from that after each."""
        merge = output.reducer.merge_totals if output in self.totals else output.reducer.merge
        return merge(emitter, first, second, output.value.dtype)

    def result_of(self, emitter: Emitter, output: Reduction, state: State) -> ir.Value:
        reducer = output.reducer
        return reducer.finish(emitter, state, output.value.dtype) if output in self.totals else reducer.result(state)

    def accumulator(self, output: Reduction) -> list[ir.Value]:
        return self.totals.get(output) or self.states[output]

    def open_accumulator(self, emitter: Emitter, output: Reduction | Scan) -> None:
        super().open_accumulator(emitter, output)
        if output in self.slot_pointers:
            assert isinstance(output, Reduction)
            slot = self.typed_slot(emitter, output)
            for pointer, each in zip(self.accumulator(output), self.state_in(emitter, output, slot), strict=True):
                emitter.builder.store(each, pointer)

    def close_accumulator(self, emitter: Emitter, output: Reduction) -> None:
        if output not in self.slot_pointers:
            super().close_accumulator(emitter, output)
            return
        builder, slot = emitter.builder, self.typed_slot(emitter, output)
        for position, pointer in enumerate(self.accumulator(output)):
            builder.store(builder.load(pointer), member(builder, slot, position))

    def typed_slot(self, emitter: Emitter, output: Reduction) -> ir.Value:
        return emitter.builder.bitcast(self.slot_pointers[output], self.record_type(output).as_pointer())


def member(builder: ir.IRBuilder, record: ir.Value, position: int) -> ir.Value:
    """A pointer to one field of a record."""
    return builder.gep(record, [ir.Constant(I32, number) for number in (0, position)], inbounds=True)
