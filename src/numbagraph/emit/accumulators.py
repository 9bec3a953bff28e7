"""The accumulators of a loop nest: the loops that a reduction is over, whether it sums in blocks, and partial
results."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I32, Emitter, Operand, llvm_constant
from numbagraph.intrinsics.emitters.reducers import State, Sum
from numbagraph.ir.structs import Struct
from numbagraph.loops.ir import Kernel, Output, Reduction, Scan


def first_reduced(kernel: Kernel, output: Reduction) -> int:
    """The depth at which the run of innermost loops that are all reduced begins."""
    depth = len(kernel.loops)
    while depth > 0 and kernel.loops[depth - 1] in output.reduced:
        depth -= 1
    return depth


def runs_in_blocks(kernel: Kernel, output: Output, *, sums: bool) -> bool:
    """Whether the innermost loop must run in blocks for an output. ``sums`` says whether sums are compensated."""
    if not isinstance(output, Reduction) or first_reduced(kernel, output) == len(kernel.loops):
        return False
    reducer = output.reducer
    return reducer.positional or (sums and isinstance(reducer, Sum) and reducer.blocked(output.value.dtype))


class Partial(Struct):
    """The partial result of a reduction over a range of a loop: a record of the state of its reducer, or where a sum
    runs in blocks, of its compensated total."""

    output: Reduction
    is_total: bool

    @property
    def initial(self) -> State:
        """The partial result of no elements."""
        dtype = self.output.value.dtype
        if not self.is_total:
            return self.output.reducer.initial(dtype)
        zero = llvm_constant(0, self.output.reducer.total_dtype(dtype))
        return zero, zero

    @property
    def type(self) -> ir.LiteralStructType:
        return ir.LiteralStructType([each.type for each in self.initial])

    def reset(self, emitter: Emitter, record: ir.Value) -> None:
        """Let a record be the partial result of no elements."""
        self.store(emitter, record, self.initial)

    def load(self, emitter: Emitter, record: ir.Value) -> State:
        builder, count = emitter.builder, len(self.type.elements)
        return tuple(builder.load(member(builder, record, position)) for position in range(count))

    def store(self, emitter: Emitter, record: ir.Value, state: State) -> None:
        for position, each in enumerate(state):
            emitter.builder.store(each, member(emitter.builder, record, position))

    def merge(self, emitter: Emitter, first: State, second: State) -> State:
        """The partial result of two ranges, from that of each."""
        reducer = self.output.reducer
        merge = reducer.merge_totals if self.is_total else reducer.merge
        return merge(emitter, first, second, self.output.value.dtype)

    def result(self, emitter: Emitter, state: State) -> ir.Value:
        """The result of the reduction from the partial result of all elements."""
        reducer = self.output.reducer
        return reducer.finish(emitter, state, self.output.value.dtype) if self.is_total else reducer.result(state)


def member(builder: ir.IRBuilder, record: ir.Value, position: int) -> ir.Value:
    """A pointer to one field of a record."""
    return builder.gep(record, [ir.Constant(I32, number) for number in (0, position)], inbounds=True)


def accumulate(nest: Any, emitter: Emitter, output: Reduction | Scan, value: Operand) -> None:
    """Take a value into the state of a reduction or a scan."""
    builder, pointers = emitter.builder, nest.states[output]
    if output in nest.peaks:
        peak = Operand(builder.load(nest.peaks[output]), value.dtype)
        builder.store(output.reducer.extremum(emitter, peak, value), nest.peaks[output])
        return
    state = tuple(builder.load(pointer) for pointer in pointers)
    extra = output.position if isinstance(output, Reduction) else output.factor
    following = output.reducer.step(emitter, state, value, None if extra is None else nest.scalars.value(extra))
    for pointer, each in zip(pointers, following, strict=True):
        builder.store(each, pointer)
    if isinstance(output, Scan):
        stored = state if output.exclusive else following
        nest.put(emitter, output, output.reducer.result(stored), combine=False)
