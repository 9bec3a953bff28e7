"""The interfaces that the function of a loop nest may have: all iterations, or a range of its outermost loop."""

from __future__ import annotations

from typing import Protocol

from llvmlite import ir

from numbagraph.emit.accumulators import Partial, first_reduced, member
from numbagraph.emit.scalars import ScalarEmitter
from numbagraph.intrinsics.emitters.emitter import I64, POINTER, Emitter, memory_type
from numbagraph.ir.structs import Struct
from numbagraph.loops.ir import Kernel, Reduction


class Interface(Protocol):
    """The part of a nest function's arguments that stands before the buffers and after the registers."""

    @property
    def range_types(self) -> tuple[ir.Type, ...]:
        """The types of the bounds of the outermost loop, if they are arguments."""
        ...

    def has_slot(self, kernel: Kernel, output: Reduction) -> bool:
        """Whether a reduction leaves its partial result at an address that is an argument."""
        ...

    def slot_type(self, output: Reduction) -> ir.Type:
        """The type of a reduction's slot."""
        ...

    def bounds(self, kernel: Kernel, depth: int, arguments: list[ir.Value], scalars: ScalarEmitter) -> list[ir.Value]:
        """The bounds of a loop: its first index, and its end."""
        ...

    def resume(self, emitter: Emitter, partial: Partial, accumulator: list[ir.Value], slot: ir.Value) -> None:
        """Initialise an accumulator from a slot."""
        ...

    def leave(self, emitter: Emitter, partial: Partial, accumulator: list[ir.Value], slot: ir.Value) -> None:
        """Store the content of an accumulator in a slot."""
        ...


class Whole(Struct):
    """``i1 kernel(buffers..., registers..., slots...)`` runs all iterations.

    A reduction of rank 0 has a slot, for its result.
    """

    @property
    def range_types(self) -> tuple[ir.Type, ...]:
        return ()

    def has_slot(self, kernel: Kernel, output: Reduction) -> bool:
        return output.register is not None

    def slot_type(self, output: Reduction) -> ir.Type:
        return memory_type(output.reducer.result_dtype(output.value.dtype)).as_pointer()

    def bounds(self, kernel: Kernel, depth: int, arguments: list[ir.Value], scalars: ScalarEmitter) -> list[ir.Value]:
        loop = kernel.loops[depth]
        begin = scalars.value(kernel.begins[loop]) if loop in kernel.begins else ir.Constant(I64, 0)
        return [begin, scalars.value(loop.extent)]

    def resume(self, emitter: Emitter, partial: Partial, accumulator: list[ir.Value], slot: ir.Value) -> None:
        """Do nothing: the accumulator begins anew."""

    def leave(self, emitter: Emitter, partial: Partial, accumulator: list[ir.Value], slot: ir.Value) -> None:
        output = partial.output
        result = partial.result(emitter, tuple(emitter.builder.load(each) for each in accumulator))
        emitter.store(result, slot, output.reducer.result_dtype(output.value.dtype))


class Range(Struct):
    """``i1 kernel(begin, end, buffers..., registers..., slots...)`` runs a range of the outermost loop.

    A reduction over all loops has a slot, which holds its partial result before the range and after it.
    """

    by_rows: bool = False
    """Whether the range is one of rows, where a single loop runs over the elements of all rows."""

    @property
    def range_types(self) -> tuple[ir.Type, ...]:
        return I64, I64

    def has_slot(self, kernel: Kernel, output: Reduction) -> bool:
        return first_reduced(kernel, output) == 0

    def slot_type(self, output: Reduction) -> ir.Type:
        return POINTER

    def bounds(self, kernel: Kernel, depth: int, arguments: list[ir.Value], scalars: ScalarEmitter) -> list[ir.Value]:
        if depth:
            return WHOLE.bounds(kernel, depth, [], scalars)
        for extent in kernel.flattened[1:] if self.by_rows else ():
            length = scalars.value(extent)
            arguments = [scalars.placement.emitter(extent).builder.mul(each, length) for each in arguments]
        return arguments

    def resume(self, emitter: Emitter, partial: Partial, accumulator: list[ir.Value], slot: ir.Value) -> None:
        record = emitter.builder.bitcast(slot, partial.type.as_pointer())
        for pointer, each in zip(accumulator, partial.load(emitter, record), strict=True):
            emitter.builder.store(each, pointer)

    def leave(self, emitter: Emitter, partial: Partial, accumulator: list[ir.Value], slot: ir.Value) -> None:
        record = emitter.builder.bitcast(slot, partial.type.as_pointer())
        for position, each in enumerate(accumulator):
            emitter.builder.store(emitter.builder.load(each), member(emitter.builder, record, position))


WHOLE = Whole()
