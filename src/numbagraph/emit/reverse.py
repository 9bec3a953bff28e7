"""The LLVM of a loop that is run to be gone through in reverse: its carries before each step are stored, in memory that
grows, since nobody knows how many steps there are."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.emit.control import ONE, ZERO, LoopEmitter, RegionFunctions, Tables, bytes_of, copy_memory
from numbagraph.emit.memory import ALIGNMENT
from numbagraph.emit.signals import Patience
from numbagraph.emit.straight_line import StraightLine
from numbagraph.intrinsics.emitter import I64, POINTER
from numbagraph.intrinsics.ir import Buffer
from numbagraph.loops.control_steps import ReverseLoop

FIRST_STEPS = 64
"""Steps for which there is memory to begin with; it doubles whenever there is no more."""


class Records:
    """A record of all carries for each step, one after the other."""

    def __init__(self, line: StraightLine, loop: ReverseLoop) -> None:
        self.line = line
        self.builder = line.code.builder
        self.offsets: list[ir.Value] = []
        self.size: ir.Value = ZERO
        for buffer in loop.back.sequences:
            self.offsets.append(self.size)
            padded = self.builder.add(bytes_of(line, buffer, 1), ir.Constant(I64, ALIGNMENT - 1))
            self.size = self.builder.add(self.size, self.builder.and_(padded, ir.Constant(I64, -ALIGNMENT)))
        with self.builder.goto_entry_block():
            self.base, self.room = self.builder.alloca(POINTER), self.builder.alloca(I64)
        room = ir.Constant(I64, FIRST_STEPS)
        self.builder.store(room, self.room)
        self.builder.store(line.new_memory(self.builder.mul(room, self.size)), self.base)
        line.taken.append(self.base)

    def place(self, step: ir.Value, number: int) -> ir.Value:
        """Where a carry is before a step."""
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


def run_reverse(
    line: StraightLine, loop: ReverseLoop, body: RegionFunctions, condition: RegionFunctions, back: RegionFunctions
) -> None:
    """Emit both loops; the function returns where a step fails."""
    records = Records(line, loop)
    trips = run_forward(line, loop, body, condition, records)
    stored = {each: (records.place(ZERO, number), records.size) for number, each in enumerate(loop.back.sequences)}
    LoopEmitter(line, loop.back, back, None).emit(trips, stored)
    line.give(records.base)


def run_forward(
    line: StraightLine, loop: ReverseLoop, body: RegionFunctions, condition: RegionFunctions, records: Records
) -> ir.Value:
    """Emit the loop that stores; gives the number of its steps."""
    builder, tables, carries = line.code.builder, Tables(line, loop.body, len(loop.initial)), range(len(loop.initial))
    for number, operand in enumerate(loop.initial):
        if isinstance(operand, Buffer):
            tables.lengths(number, operand)
            copy_memory(line, records.place(ZERO, number), line.base(operand), bytes_of(line, operand))
        else:
            slot = builder.bitcast(records.place(ZERO, number), tables.slot(operand.dtype).type)
            line.code.store(line.scalar(operand), slot, operand.dtype)
        tables.put(tables.data, number, records.place(ZERO, number))
    for number, operand in enumerate(loop.captures, len(loop.initial)):
        tables.constant(number, operand)
    patience = Patience(line, builder.add(records.size, ONE))
    fixed = (tables.memory(each, not each.region.varies) for each in (body, condition))
    with next(fixed) as memory, next(fixed) as other:
        header, step_block, done = (line.function.append_basic_block(name) for name in ("step", "body", "done"))
        before = builder.block
        builder.branch(header)
        builder.position_at_end(header)
        step = builder.phi(I64)
        step.add_incoming(ZERO, before)
        for number in carries:
            tables.put(tables.data, number, records.place(step, number))
        builder.cbranch(tables.holds(condition, other, step), step_block, done)
        builder.position_at_end(step_block)
        following = builder.add(step, ONE)
        records.reserve(following)
        for number in carries:
            tables.put(tables.data, number, records.place(step, number))
            tables.put(tables.results, number, records.place(following, number))
        tables.run_step(body, memory, step)
        patience.spend()
        step.add_incoming(following, builder.block)
        builder.branch(header)
        builder.position_at_end(done)
    return step
