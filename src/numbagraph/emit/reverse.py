"""The LLVM of a loop that is then run in reverse: the records of its steps are in memory that grows, since the number
of steps is not known."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from numbagraph.emit.control_flow import ONE, ZERO, LoopEmitter, RegionFunctions, Rows, bytes_of, copy_memory
from numbagraph.emit.straight_line import StraightLine
from numbagraph.intrinsics.emitters.emitter import I64, POINTER
from numbagraph.intrinsics.emitters.ir import Buffer
from numbagraph.loops.control_steps import Loop, ReverseLoop

ALIGNMENT = 16
"""The size of the longest number in bytes."""
FIRST_STEPS = 64
"""The number of steps for which there is memory to begin with; it doubles whenever it is full."""


class Records:
    """A record for each step, one after the other, of what it stores."""

    def __init__(self, line: StraightLine, stored: Sequence[Buffer]) -> None:
        self.line = line
        self.builder = line.code.builder
        self.stored = stored
        self.offsets: list[ir.Value] = []
        self.size: ir.Value = ZERO
        for buffer in stored:
            self.offsets.append(self.size)
            padded = self.builder.add(bytes_of(line, buffer, 1), ir.Constant(I64, ALIGNMENT - 1))
            self.size = self.builder.add(self.size, self.builder.and_(padded, ir.Constant(I64, -ALIGNMENT)))
        with self.builder.goto_entry_block():
            self.base, self.room = self.builder.alloca(POINTER), self.builder.alloca(I64)
        room = ir.Constant(I64, FIRST_STEPS)
        self.builder.store(room, self.room)
        self.builder.store(line.new_memory(self.builder.mul(room, self.size)), self.base)
        line.taken.append(self.base)

    def rows(self) -> dict[Buffer, Rows]:
        """The addresses of the stored buffers, and the bytes between the rows of two steps."""
        return {each: (self.place(ZERO, number), self.size) for number, each in enumerate(self.stored)}

    def place(self, step: ir.Value, number: int) -> ir.Value:
        """The address where a step stores one of its outputs."""
        offset = self.builder.add(self.builder.mul(step, self.size), self.offsets[number])
        return self.builder.gep(self.builder.load(self.base), [offset])

    def reserve(self, step: ir.Value) -> None:
        """Make room for the record of a step."""
        builder, room = self.builder, self.builder.load(self.room)
        with builder.if_then(builder.icmp_signed(">=", step, room), likely=False):
            twice, old = builder.shl(room, ONE), builder.load(self.base)
            new = self.line.new_memory(builder.mul(twice, self.size))
            copy_memory(self.line, new, old, builder.mul(room, self.size))
            self.line.give(self.base)
            self.line.taken.append(self.base)
            builder.store(new, self.base)
            builder.store(twice, self.room)


class RecordingEmitter(LoopEmitter):
    """Emits the loop that stores a record of each step."""

    def __init__(
        self, line: StraightLine, loop: Loop, body: RegionFunctions, condition: RegionFunctions, records: Records
    ) -> None:
        super().__init__(line, loop, body, condition)
        self.records = records
        self.places = {each: number for number, each in enumerate(loop.stacked)}
        self.step: ir.Value = ZERO
        """The number of the step, and, behind the loop, the number of all steps."""

    def place_step(self, step: ir.Value) -> None:
        self.step = step
        self.records.reserve(step)
        super().place_step(step)

    def row(self, buffer: Buffer, step: ir.Value) -> ir.Value:
        return self.records.place(step, self.places[buffer])


def run_reverse(
    line: StraightLine, loop: ReverseLoop, body: RegionFunctions, condition: RegionFunctions, back: RegionFunctions
) -> None:
    """Emit both loops; the function returns where a step fails."""
    records = Records(line, loop.forward.stacked)
    forward = RecordingEmitter(line, loop.forward, body, condition, records)
    forward.emit(stored=records.rows())
    LoopEmitter(line, loop.back, back, None).emit(forward.step, records.rows())
    line.give(records.base)
