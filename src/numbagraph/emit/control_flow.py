"""The LLVM of loops and branches. Their regions are functions with the arguments of a program, which LLVM inlines: the
tables that they take are on the stack and become registers, and so do the numbers that a loop carries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np
from llvmlite import ir

from numbagraph.emit.chunks import smaller
from numbagraph.emit.failing_steps import leaves_record
from numbagraph.emit.loop_variants import COPIES, is_worth_unrolling, leaves_in_steps
from numbagraph.emit.runtime_calls import record_function
from numbagraph.emit.signals import Patience
from numbagraph.emit.straight_line import CHECK_FAILED, StraightLine
from numbagraph.intrinsics.emitters.emitter import I8, I32, I64, POINTER, loop_hints, memory_type, opaque
from numbagraph.intrinsics.emitters.ir import Buffer, Scalar
from numbagraph.ir.structs import Struct
from numbagraph.loops.control_steps import Branch, Carried, Loop, Operand, Region
from numbagraph.loops.elimination import SHORT
from numbagraph.loops.ir import Call, Kernel

WORK_OF_STEP = 16
MOST_UNCOUNTED = 16
"""The number of steps up to which a loop does not count its work: they cost as much as one step of the loop around
them."""
WORK_OF_CALL = 64
"""The factor on the work of a step with calls: products of matrices take, for each element, as many operations as they
have rows."""

MOST_INLINED_FIRST = 1000
"""The number of instructions up to which a region is inlined before other optimisations."""

Rows = tuple[ir.Value, ir.Value]
"""The address of the first row of an array, and the bytes between two rows."""

ZERO, ONE = ir.Constant(I64, 0), ir.Constant(I64, 1)
NULL = ir.Constant(POINTER, None)


class RegionFunctions(Struct):
    """A region as native code."""

    region: Region
    run: ir.Function
    """``i32 run(data, meta, results, memory, patience)``: a program to which the caller passes memory for its
    temporaries, and the counter of its loops' work."""
    memory: ir.Function | None
    """``i64 memory(data, meta)``: the bytes that the temporaries need beyond the stack; -1 where that is no number of
    63 bits. None if they need none."""

    lasting: frozenset[int]
    """The inputs whose memory belongs to the caller of the program."""


def inline_first(region: RegionFunctions) -> RegionFunctions:
    """Have LLVM inline a region, which is called in one place, before it optimises anything. It would inline it later,
    too, but optimise what is inside of n loops n times."""
    if sum(len(block.instructions) for block in region.run.blocks) <= MOST_INLINED_FIRST:
        region.run.attributes.add("alwaysinline")
    return region


class Tables:
    """The tables that regions take: the addresses and lengths of operands, and the addresses of results."""

    def __init__(self, line: StraightLine, region: Region, results: int) -> None:
        self.line = line
        self.builder = line.code.builder
        self.signature = region.signature
        self.data = self._table(POINTER, len(self.signature.leaves))
        self.meta = self._table(I64, self.signature.meta_offsets[-1])
        self.results = self._table(POINTER, results)

    def _table(self, type_: ir.Type, count: int) -> ir.Value:
        with self.builder.goto_entry_block():
            table = self.builder.alloca(ir.ArrayType(type_, max(count, 1)))
            return self.builder.gep(table, [ir.Constant(I32, 0)] * 2, inbounds=True)

    def slot(self, dtype: np.dtype) -> ir.Value:
        """Room on the stack for a number."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(memory_type(dtype))

    def put(self, table: ir.Value, number: int, value: ir.Value) -> None:
        value = self.builder.bitcast(value, POINTER) if isinstance(value.type, ir.PointerType) else value
        self.builder.store(value, self.builder.gep(table, [ir.Constant(I64, number)], inbounds=True))

    def get(self, table: ir.Value, number: int) -> ir.Value:
        return self.builder.load(self.builder.gep(table, [ir.Constant(I64, number)], inbounds=True))

    def lengths(self, leaf: int, buffer: Buffer, first: int = 0) -> None:
        """Pass the lengths of an operand, from dimension ``first`` on."""
        for axis, extent in enumerate(buffer.extents[first:]):
            self.put(self.meta, self.signature.meta_offsets[leaf] + axis, self.line.scalar(extent))

    def constant(self, leaf: int, operand: Operand) -> None:
        """Pass an operand that stays."""
        if isinstance(operand, Buffer):
            self.lengths(leaf, operand)
            self.put(self.data, leaf, self.line.base(operand))
        else:
            self.put(self.data, leaf, self.number(operand))

    def number(self, scalar: Scalar) -> ir.Value:
        """A number on the stack, where nothing else writes."""
        slot = self.slot(scalar.dtype)
        self.line.code.store(self.line.scalar(scalar), slot, scalar.dtype)
        return slot

    def run(
        self,
        functions: RegionFunctions,
        memory: ir.Value,
        results: ir.Value | None = None,
        step: ir.Value | None = None,
    ) -> None:
        """Call a region, for a ``step`` if it is that of a loop; the enclosing function returns where it fails."""
        table, builder = self.results if results is None else results, self.builder
        code = self.line.call(functions.run, [self.data, self.meta, table, memory, self.line.patience])

        def leave_record() -> None:
            if step is not None and leaves_record(functions.region):
                with builder.if_then(builder.icmp_signed(">", code, ir.Constant(I32, 0))):
                    self.record(functions, step)

        self.line.leave_if(builder.icmp_signed("!=", code, ir.Constant(I32, 0)), code, leave_record)

    def record(self, functions: RegionFunctions, step: ir.Value) -> None:
        """Record a failed step, at a position that is reached once. The contents of the tables are passed, not their
        address: if another function knew it, carries could not be in registers."""
        operands: list[ir.Value] = [step]
        for number, leaf in enumerate(functions.region.graph.inputs):
            address = self.get(self.data, number)
            if leaf.ndim:
                first = self.signature.meta_offsets[number]
                operands += [address, *(self.get(self.meta, first + axis) for axis in range(leaf.ndim))]
            else:
                typed = self.builder.bitcast(address, memory_type(leaf.dtype).as_pointer())
                operands.append(self.line.code.load(typed, leaf.dtype))
        leaves = [(leaf, number in functions.lasting) for number, leaf in enumerate(functions.region.graph.inputs)]
        types = [each.type for each in operands]
        self.builder.call(record_function(self.line.function.module, functions.run.name, leaves, types), operands)

    def run_step(
        self, functions: RegionFunctions, memory: ir.Value, step: ir.Value, results: ir.Value | None = None
    ) -> None:
        """Call the region of a loop's step. Memory whose size changes from step to step is taken here."""
        if not functions.region.varies:
            self.run(functions, memory, results, step)
            return
        with self.memory(functions, True) as own:
            self.run(functions, own, results, step)

    def holds(self, condition: RegionFunctions, memory: ir.Value, step: ir.Value) -> ir.Value:
        """Whether the one output of a region is true."""
        with self.builder.goto_entry_block():
            slot, table = self.builder.alloca(I8), self.builder.alloca(POINTER)
        self.builder.store(slot, table)
        self.run_step(condition, memory, step, table)
        return self.builder.icmp_signed("!=", self.builder.load(slot), ir.Constant(I8, 0))

    @contextmanager
    def memory(self, functions: RegionFunctions, now: bool) -> Iterator[ir.Value]:
        """Memory for a region's temporaries, if it has any and they are to be made now."""
        if not now or functions.memory is None:
            yield NULL
            return
        size = self.builder.call(functions.memory, [self.data, self.meta])
        self.line.leave_if(self.builder.icmp_signed("<", size, ZERO), ir.Constant(I32, CHECK_FAILED))
        memory = self.line.take(size)
        yield memory
        self.line.give(memory)


def typed(line: StraightLine, address: ir.Value, buffer: Buffer) -> ir.Value:
    return line.code.builder.bitcast(address, memory_type(buffer.dtype).as_pointer())


def bytes_of(line: StraightLine, buffer: Buffer, first: int = 0) -> ir.Value:
    """The bytes of a buffer, or of one row of it."""
    size: ir.Value = ir.Constant(I64, buffer.dtype.itemsize)
    for extent in buffer.extents[first:]:
        size = line.code.builder.mul(size, line.scalar(extent))
    return size


def copy_memory(line: StraightLine, target: ir.Value, source: ir.Value, size: ir.Value) -> None:
    copy = line.code.function("memmove", POINTER, [POINTER, POINTER, I64], pure=False)
    line.code.builder.call(copy, [target, source, size])


class LoopEmitter:
    """Emits one loop."""

    def __init__(
        self, line: StraightLine, loop: Loop, body: RegionFunctions, condition: RegionFunctions | None
    ) -> None:
        self.line = line
        self.builder = line.code.builder
        self.loop = loop
        self.body = body
        self.condition = condition
        self.tables = Tables(line, loop.body, len(loop.carried) + len(loop.stacked))
        self.numbers: dict[int, ir.Value] = {}
        """The stack slots of carried numbers."""

    def emit(self, trips: ir.Value = ZERO, stored: Mapping[Buffer, Rows] | None = None) -> None:
        """Emit the loop; ``trips`` is for loops that do not say it, ``stored`` says where sequences are that have no
        memory of their own."""
        own = dict(stored or {})
        self.pass_operands()
        self.trips = self.line.scalar(self.loop.trips) if self.loop.trips is not None else trips
        self.rows = {each: bytes_of(self.line, each, 1) for each in self.along_steps() if each not in own}
        self.bases = {each: self.line.base(each) for each in self.loop.buffers() if each not in own}
        for buffer, rows in own.items():
            self.bases[buffer], self.rows[buffer] = rows
        self.sizes = [bytes_of(self.line, each.last) for each in self.loop.carried]
        tables = self.tables
        outer, patience = tables.memory(self.body, not self.loop.body.varies), Patience(self.line, self.work())
        with outer as memory, self.condition_memory() as other:
            self.keep_first()
            with self.steps(patience, other) if self.condition is not None else self.counted_steps(patience) as step:
                self.place_step(step)
                tables.run_step(self.body, memory, step)
                self.carry_on()
        self.finish()

    def work(self) -> ir.Value:
        """A rough cost of a step, in elements that it reads and writes. Inner loops count their own work."""
        members = list(self.loop.body.program.body.members())
        work: ir.Value = ir.Constant(I64, WORK_OF_STEP)
        if not any(isinstance(each, Call) or (isinstance(each, Kernel) and each.loops) for each in members):
            return work
        sizes = [bytes_of(self.line, each) for each in self.loop.captures if isinstance(each, Buffer)]
        for size in (*sizes, *self.sizes, *self.rows.values()):
            work = self.builder.add(work, self.builder.lshr(size, ir.Constant(I64, 3)))
        calls = any(isinstance(each, Call) for each in members)
        return self.builder.mul(work, ir.Constant(I64, WORK_OF_CALL)) if calls else work

    def along_steps(self) -> list[Buffer]:
        """The buffers of which each step has a row."""
        before = (each.before for each in self.loop.carried)
        return [*self.loop.sequences, *self.loop.stacked, *(each for each in before if each is not None)]

    def pass_operands(self) -> None:
        tables, loop = self.tables, self.loop
        for number, each in enumerate(loop.carried):
            if not isinstance(each.initial, Buffer):
                slot = tables.number(each.initial)
                self.numbers[number] = tables.slot(each.last.dtype)
                tables.put(tables.data, number, slot)
                tables.put(tables.results, number, self.numbers[number])
                continue
            tables.lengths(number, each.initial)
            if each.takes is not None:
                last, initial = self.line.base(each.last), self.line.base(each.initial)
                if last is not initial:
                    copy_memory(self.line, last, initial, bytes_of(self.line, each.last))
                tables.put(tables.data, number, last)
                tables.put(tables.results, number, last)
            else:
                tables.put(tables.data, number, self.line.base(each.initial))
        first = len(loop.carried)
        for number, buffer in enumerate(loop.sequences, first):
            tables.lengths(number, buffer, 1)
        for number, operand in enumerate(loop.captures, first + len(loop.sequences)):
            tables.constant(number, operand)

    @contextmanager
    def condition_memory(self) -> Iterator[ir.Value]:
        if self.condition is None:
            yield NULL
            return
        with self.tables.memory(self.condition, not self.condition.region.varies) as memory:
            yield memory

    def keep_first(self) -> None:
        """Store the values of arrays before the first step, where these are wanted."""
        for each, size in zip(self.loop.carried, self.sizes, strict=True):
            if each.before is not None and isinstance(each.initial, Buffer):
                row = self.row(each.before, ZERO)
                some = self.builder.icmp_signed(">", self.trips, ZERO)
                with self.builder.if_then(some):
                    copy_memory(self.line, row, self.bases[each.initial], size)

    @contextmanager
    def steps(self, patience: Patience, memory: ir.Value) -> Iterator[ir.Value]:
        """Emit the blocks of a loop around the code that is emitted inside, which gets the number of the step. The loop
        runs as long as a condition holds."""
        assert self.condition is not None
        counter = patience.counter()
        with self.blocks("step", ZERO, ONE) as (step, go_on):
            go_on(self.tables.holds(self.condition, memory, step))
            yield step
            patience.spend_step(step, counter)
        patience.spend_rest(step)

    def counted_steps(self, patience: Patience) -> AbstractContextManager[ir.Value]:
        """Emit the blocks of a loop with a known number of steps, around the code that is emitted inside."""
        most = self.loop.most
        if self.loop.uninterruptible:
            return self.few_steps(patience, 0)
        if most is None or most > SHORT or not isinstance(patience.work, ir.Constant):
            return self.strips(patience)
        return self.few_steps(patience, most)

    @contextmanager
    def few_steps(self, patience: Patience, most: int) -> Iterator[ir.Value]:
        """Emit a loop of so few steps that it does not poll for signals."""
        with self.blocks("step", ZERO, ONE) as (step, go_on):
            go_on(self.builder.icmp_signed("<", step, self.trips))
            yield step
        if most > MOST_UNCOUNTED:
            patience.spend(self.trips)

    @contextmanager
    def strips(self, patience: Patience) -> Iterator[ir.Value]:
        """Emit a loop of many steps. It is strip-mined: the inner one of two loops does not poll for signals, so LLVM
        sees a plain loop, and vectorises it."""
        builder, most = self.builder, patience.steps()
        with self.blocks("strip", ZERO, most) as (start, go_on):
            go_on(builder.icmp_signed("<", start, self.trips))
            end = smaller(builder, self.trips, builder.add(start, most, flags=["nsw"]))
            if is_worth_unrolling(self.loop):
                end = opaque(builder, end)
            with self.blocks("step", start, ONE, COPIES if leaves_in_steps(self.loop) else 1) as (step, go_on):
                go_on(builder.icmp_signed("<", step, end))
                yield step
            patience.spend(builder.sub(end, start))

    @contextmanager
    def blocks(
        self, name: str, start: ir.Value, stride: ir.Value, copies: int = 1
    ) -> Iterator[tuple[ir.Value, Callable[[ir.Value], None]]]:
        """Emit a loop around the code that is emitted inside, which gets an index and a function that emits the test
        whether the loop goes on."""
        builder, function = self.builder, self.line.function
        header, body, done = (function.append_basic_block(each) for each in (name, "body", "done"))
        before = builder.block
        builder.branch(header)
        builder.position_at_end(header)
        index = builder.phi(I64)
        index.add_incoming(start, before)

        def go_on(condition: ir.Value) -> None:
            builder.cbranch(condition, body, done)
            builder.position_at_end(body)

        yield index, go_on
        index.add_incoming(builder.add(index, stride, flags=["nsw"]), builder.block)
        latch = builder.branch(header)
        if copies > 1:
            latch.set_metadata("llvm.loop", loop_hints(function.module, unroll_count=copies))
        builder.position_at_end(done)

    def index(self, step: ir.Value) -> ir.Value:
        """The element of sequences that belongs to a step."""
        if not self.loop.reverse:
            return step
        return self.builder.sub(self.builder.sub(self.trips, ONE), step)

    def row(self, buffer: Buffer, step: ir.Value) -> ir.Value:
        offset = self.builder.mul(self.index(step), self.rows[buffer])
        return self.builder.gep(self.bases[buffer], [offset])

    def place_step(self, step: ir.Value) -> None:
        """Point the tables to what a step reads and writes."""
        tables, loop = self.tables, self.loop
        first = len(loop.carried)
        for number, buffer in enumerate(loop.sequences, first):
            tables.put(tables.data, number, self.row(buffer, step))
        for number, each in enumerate(loop.carried):
            if each.stride is not None:
                self.put_number(self.counted(each, step), tables.get(tables.data, number), each.last)
            if isinstance(each.initial, Buffer):
                if each.takes is None:
                    tables.put(tables.results, number, self.target(each, step))
                elif each.takes != number:
                    tables.put(tables.results, number, tables.get(tables.data, each.takes))
            elif each.before is not None:
                self.move_number(tables.get(tables.data, number), self.row(each.before, step), each.last)
        for number, buffer in enumerate(loop.stacked, first):
            tables.put(tables.results, number, self.row(buffer, step))

    def counted(self, each: Carried, step: ir.Value) -> ir.Value:
        """The value of a carried integer before a step, if each step adds a stride to it. The product wraps as the sums
        do.

        It is computed anew: LLVM does not see that a number which is carried through both of the strip-mined loops is
        an induction variable, and vectorises no remainder of a loop that leaves one behind.
        """
        assert isinstance(each.initial, Scalar)
        return self.builder.add(self.line.scalar(each.initial), self.builder.mul(step, ir.Constant(I64, each.stride)))

    def target(self, each: Carried, step: ir.Value) -> ir.Value:
        """The address where a step stores a carried array: in the last step the loop's result; before it one of two
        buffers, where the next step finds it, or the row of the array that stores every step."""
        builder, last, other = self.builder, self.bases[each.last], self.bases[each.other]
        if self.condition is not None:
            even = builder.icmp_signed("==", builder.and_(step, ONE), ZERO)
            return builder.select(even, last, other)
        left = builder.sub(builder.sub(self.trips, ONE), step)
        if each.before is not None:
            is_last = builder.icmp_signed("==", left, ZERO)
            following = self.row(each.before, builder.add(step, ONE))
            return builder.select(is_last, last, following)
        return builder.select(builder.icmp_signed("==", builder.and_(left, ONE), ZERO), last, other)

    def carry_on(self) -> None:
        """Let the next step take the results of this one."""
        tables = self.tables
        for number, each in enumerate(self.loop.carried):
            if each.takes == number or each.stride is not None:
                continue
            if isinstance(each.initial, Buffer):
                tables.put(tables.data, number, tables.get(tables.results, number))
            else:
                self.move_number(self.numbers[number], tables.get(tables.data, number), each.last)

    def move_number(self, source: ir.Value, target: ir.Value, like: Buffer) -> None:
        self.put_number(self.line.code.load(typed(self.line, source, like), like.dtype), target, like)

    def put_number(self, number: ir.Value, target: ir.Value, like: Buffer) -> None:
        self.line.code.store(number, typed(self.line, target, like), like.dtype)

    def finish(self) -> None:
        """Copy carried values to the memory of the results, where they are not there yet."""
        tables = self.tables
        self.keep_exchanged()
        for number, (each, size) in enumerate(zip(self.loop.carried, self.sizes, strict=True)):
            if each.takes == number or not each.is_result:
                continue
            found, last = tables.get(tables.data, number), self.bases[each.last]
            if each.stride is not None:
                self.put_number(self.counted(each, self.trips), last, each.last)
                continue
            if isinstance(each.initial, Buffer):
                with self.builder.if_then(self.builder.icmp_unsigned("!=", found, last)):
                    copy_memory(self.line, last, found, size)
            else:
                self.move_number(found, last, each.last)

    def keep_exchanged(self) -> None:
        """Copy results out of each other's memory, where arrays have changed places and several of them are wanted."""
        tables, builder = self.tables, self.builder
        for number, (each, size) in enumerate(zip(self.loop.carried, self.sizes, strict=True)):
            if each.takes in (None, number) or each.other is each.last:
                continue
            found, other = tables.get(tables.data, number), self.bases[each.other]
            elsewhere = builder.icmp_unsigned("!=", found, self.bases[each.last])
            with builder.if_then(elsewhere):
                copy_memory(self.line, other, found, size)
            tables.put(tables.data, number, builder.select(elsewhere, other, found))


def run_loop(line: StraightLine, loop: Loop, body: RegionFunctions, condition: RegionFunctions | None = None) -> None:
    """Emit a loop; the function returns where a step fails."""
    LoopEmitter(line, loop, body, condition).emit()


def run_branch(line: StraightLine, branch: Branch, regions: Sequence[RegionFunctions]) -> None:
    """Emit a branch. A number below 0 selects the first region, one that is too large the last."""
    builder, tables = line.code.builder, Tables(line, branch.regions[0], len(branch.outputs))
    for number, operand in enumerate(branch.operands):
        tables.constant(number, operand)
    for number, buffer in enumerate(branch.outputs):
        tables.put(tables.results, number, line.base(buffer))
    for number, place in branch.in_place:
        operand, output = branch.operands[number], branch.outputs[place]
        if isinstance(operand, Buffer):
            if line.base(output) is not line.base(operand):
                copy_memory(line, line.base(output), line.base(operand), bytes_of(line, output))
            tables.put(tables.data, number, line.base(output))
    index = line.scalar(branch.index)
    most = ir.Constant(I64, len(regions) - 1)
    index = builder.select(builder.icmp_signed(">", index, most), most, index)
    after = line.function.append_basic_block("after")
    first = line.function.append_basic_block("branch")
    choice = builder.switch(index, first)
    for number, functions in enumerate(regions):
        block = first if number == 0 else line.function.append_basic_block("branch")
        if number:
            choice.add_case(ir.Constant(I64, number), block)
        builder.position_at_end(block)
        with tables.memory(functions, True) as memory:
            tables.run(functions, memory)
        builder.branch(after)
    builder.position_at_end(after)
