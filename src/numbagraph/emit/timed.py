"""The LLVM of a program that measures itself: around each loop nest, call, loop and branch it reads a clock, and adds
up times, runs, bytes and iterations in a record of the step's own."""

from __future__ import annotations

import time
from collections.abc import Sequence

from llvmlite import ir

from numbagraph.emit.program import ProgramEmitter, emit_program
from numbagraph.emit.straight_line import StraightLine
from numbagraph.emit.tiled_loops import Run
from numbagraph.intrinsics.emitters.emitter import I32, I64, Emitter
from numbagraph.intrinsics.emitters.ir import Buffer, Load
from numbagraph.ir.abi import NativeSignature
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Input
from numbagraph.loops.control_steps import Branch, Loop, Region, ReverseLoop
from numbagraph.loops.ir import Call, Kernel, Program, Step, TiledLoop

FIELDS = ("nanoseconds", "runs", "bytes", "iterations")
"""The fields of a record, each of 64 bits."""

PAIRS = 32
"""The number of pairs of readings of the clock, the quickest of which gives the cost of a reading."""

BILLION = ir.Constant(I64, 10**9)


class Watched(Struct):
    """A step that is measured."""

    step: Step
    symbol: str
    """The name of the step's record."""
    depth: int
    """The number of enclosing steps, all of which stand before it in the list."""
    region: str
    """The name of the region of a loop or a branch that the step is part of; empty in the program itself."""


class TimedEmitter(ProgramEmitter):
    """Emits a program in which steps are measured, those of regions too."""

    def __init__(
        self,
        line: StraightLine,
        program: Program,
        arena: ir.Value | None = None,
        found: list[Watched] | None = None,
        depth: int = 0,
        region: str = "",
    ) -> None:
        super().__init__(line, program, arena)
        self.found: list[Watched] = [] if found is None else found
        self.depth = depth
        self.region_name = region

    def inside(self, line: StraightLine, region: Region, arena: ir.Value) -> ProgramEmitter:
        return TimedEmitter(line, region.program, arena, self.found, self.depth, region.graph.name)

    def run(self, step: Step, number: int) -> None:
        if not isinstance(step, (Kernel, Call, TiledLoop, Loop, ReverseLoop, Branch)):
            super().run(step, number)
            return
        record = self.record(step)
        self.count(record, step)
        self.depth += 1
        begin = now(self.code)
        super().run(step, number)
        self.add(record, 0, self.code.builder.sub(now(self.code), begin))
        self.add(record, 1, ir.Constant(I64, 1))
        self.depth -= 1

    def run_in_tile(self, step: Step, run: Run) -> Run:
        record = self.record(step)
        self.count(record, step)

        def timed(begin: ir.Value, end: ir.Value) -> ir.Value:
            first = now(self.code)
            failed = run(begin, end)
            self.add(record, 0, self.code.builder.sub(now(self.code), first))
            self.add(record, 1, ir.Constant(I64, 1))
            return failed

        return timed

    def record(self, step: Step) -> ir.GlobalVariable:
        symbol = f"{self.line.function.name}.record{len(self.found)}"
        self.found.append(Watched(step, symbol, self.depth, self.region_name))
        type_ = ir.ArrayType(I64, len(FIELDS))
        record = ir.GlobalVariable(self.line.function.module, type_, symbol)
        record.initializer = ir.Constant(type_, None)
        return record

    def add(self, record: ir.Value, field: int, amount: ir.Value) -> None:
        builder = self.code.builder
        slot = builder.gep(record, [ir.Constant(I32, 0), ir.Constant(I32, field)], inbounds=True)
        builder.store(builder.add(builder.load(slot), amount), slot)

    def count(self, record: ir.Value, step: Step) -> None:
        """Add what a step moves and how often its innermost loop runs, as its lengths are now."""
        if isinstance(step, Kernel):
            iterations = self.product(step.lengths)
            self.add(record, 3, iterations)
            for buffer in step.buffers():
                self.add(record, 2, self.touched(buffer, accesses(step, buffer), iterations))
        elif isinstance(step, Call):
            for buffer in dict.fromkeys((*step.inputs, *step.outputs)):
                self.add(record, 2, self.size(buffer))
        elif isinstance(step, TiledLoop) and step.is_split:  # its members run as one function
            for each in step.steps:
                self.count(record, each)

    def touched(self, buffer: Buffer, count: int, iterations: ir.Value) -> ir.Value:
        """The bytes of a buffer, or of the elements that a nest can have read or written if these are fewer."""
        builder, whole = self.code.builder, self.size(buffer)
        most = builder.mul(iterations, ir.Constant(I64, count * buffer.dtype.itemsize))
        return builder.select(builder.icmp_signed("<", most, whole), most, whole)

    def size(self, buffer: Buffer) -> ir.Value:
        return self.code.builder.mul(self.product(buffer.extents), ir.Constant(I64, buffer.dtype.itemsize))

    def product(self, lengths: Sequence) -> ir.Value:
        found: ir.Value = ir.Constant(I64, 1)
        for each in lengths:
            found = self.code.builder.mul(found, self.line.scalar(each))
        return found


def accesses(kernel: Kernel, buffer: Buffer) -> int:
    """The number of elements of a buffer that one iteration reads or writes."""
    loads = {each for each in kernel.scalars() if isinstance(each, Load) and each.buffer is buffer}
    return len(loads) + kernel.writes().count(buffer)


def now(code: Emitter) -> ir.Value:
    """Nanoseconds of a clock that only goes forward."""
    builder, pair = code.builder, ir.ArrayType(I64, 2)
    with builder.goto_entry_block():
        slot = builder.alloca(pair)
    read = code.function("clock_gettime", I32, [I32, pair.as_pointer()], pure=False)
    builder.call(read, [ir.Constant(I32, time.CLOCK_MONOTONIC), slot])
    parts = [builder.load(builder.gep(slot, [ir.Constant(I32, 0), ir.Constant(I32, each)])) for each in range(2)]
    return builder.add(builder.mul(parts[0], BILLION), parts[1])


def emit_reading(module: ir.Module, name: str) -> None:
    """Emit ``i64 name.reading()``: the nanoseconds that two readings of the clock lie apart at least."""
    function = ir.Function(module, ir.FunctionType(I64, []), f"{name}.reading")
    code = Emitter(ir.IRBuilder(function.append_basic_block("entry")))
    builder, least = code.builder, BILLION
    for _ in range(PAIRS):
        begin = now(code)
        apart = builder.sub(now(code), begin)
        least = builder.select(builder.icmp_signed("<", apart, least), apart, least)
    builder.ret(least)


def emit_timed(
    module: ir.Module, program: Program, signature: NativeSignature, leaves: Sequence[Input], name: str
) -> list[Watched]:
    """Emit a program's functions, as `emit_program` does, but measured; give what is measured, in order."""
    found: list[Watched] = []
    emit_program(
        module, program, signature, leaves, name, lambda line, program: TimedEmitter(line, program, found=found)
    )
    emit_reading(module, name)
    return found
