"""The LLVM of a whole program: its ``shapes`` and ``program`` functions (see `numbagraph.ir.abi`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from llvmlite import ir

from numbagraph.emit.allocation import ALIGNMENT
from numbagraph.emit.nest import declare_nest
from numbagraph.emit.outlining import outline
from numbagraph.emit.sizes import too_big
from numbagraph.emit.straight_line import CHECK_FAILED, StraightLine
from numbagraph.emit.temporaries import temporaries
from numbagraph.intrinsics.emitters.emitter import I8, I32, I64, POINTER, Emitter, Inlining, memory_type
from numbagraph.intrinsics.emitters.ir import Buffer, Register, Scalar
from numbagraph.ir.abi import NO_SOLUTION, OUT_OF_MEMORY, NativeSignature
from numbagraph.ir.later import Later
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Dim, Input
from numbagraph.loops.control_steps import Branch, Loop, Operand, Region, ReverseLoop
from numbagraph.loops.ir import Call, Check, Compute, Kernel, Program, Reduction, Step, TiledLoop

if TYPE_CHECKING:
    from numbagraph.emit import checked_loops as checked_code
    from numbagraph.emit import chunks, ranges
    from numbagraph.emit import control_flow as control_code
    from numbagraph.emit import parallel_calls as chunk_code
    from numbagraph.emit import reverse as reverse_code
    from numbagraph.emit import tiled_loops as row_code
else:  # few programs have loops and branches, tiles, or chunks for threads
    checked_code, chunks, ranges, control_code, chunk_code, reverse_code, row_code = (
        Later("numbagraph.emit.checked_loops"),
        Later("numbagraph.emit.chunks"),
        Later("numbagraph.emit.ranges"),
        Later("numbagraph.emit.control_flow"),
        Later("numbagraph.emit.parallel_calls"),
        Later("numbagraph.emit.reverse"),
        Later("numbagraph.emit.tiled_loops"),
    )


class DeferredLoops(Struct):
    """The loops with checks of a program that compiles them on first use."""

    program: str
    """The name by which the program is loaded."""
    loops: dict[str, checked_code.CheckedLoop]
    """The loops by their symbols."""


class ProgramEmitter:
    """Emits ``program``: temporaries, rank-0 values, loop nests and calls, in order."""

    def __init__(
        self,
        line: StraightLine,
        program: Program,
        arena: ir.Value | None = None,
        deferred: DeferredLoops | None = None,
    ) -> None:
        self.line = line
        self.arena = arena
        """Memory for the temporaries, if the caller passes it."""
        self.deferred = deferred
        """The record of loops with checks that are compiled on first use; None if they are emitted here."""
        self.code = line.code
        self.module = line.function.module
        self.program = program
        self.placed = temporaries(program)
        tiled = (step for step in program.body.steps if isinstance(step, TiledLoop))
        self.loop_of = {owner: step for step in tiled for owner in step.in_tile}
        self.tiles: dict[TiledLoop, ir.Value] = {}

    def emit(self) -> None:
        if self.arena is None:  # a region is called with what it updates in its place
            self.copy_donated()
        for step in self.program.entry.prologue:
            self.line.define(step.value, step.scalar)
        if self.arena is not None:
            for condition in self.program.entry.guards:  # elsewhere `shapes` has checked them
                self.line.leave_if(self.code.builder.not_(self.line.scalar(condition)), ir.Constant(I32, CHECK_FAILED))
        self.place_temporaries()
        for number, step in enumerate(self.program.body.steps):
            self.run(step, number)
        for position, result in enumerate(self.program.results):
            if isinstance(result, Scalar):
                pointer = self.line.pointer(self.line.function.args[2], position)
                typed = self.code.builder.bitcast(pointer, memory_type(result.dtype).as_pointer())
                self.code.store(self.line.scalar(result), typed, result.dtype)
        self.line.leave(ir.Constant(I32, 0))
        outline(self.line.function)

    def run(self, step: Step, number: int) -> None:
        match step:
            case Compute():
                self.line.define(step.value, step.scalar)
            case Check():
                self.line.check(self.code, self.code.builder.not_(self.line.scalar(step.condition)))
            case Kernel():
                self.run_kernel(step, number)
            case Call():
                self.run_call(step)
            case TiledLoop():
                self.run_rows(step, f"{self.line.function.name}.{number}")
            case Loop():
                self.run_loop(step, f"{self.line.function.name}.{number}")
            case ReverseLoop():
                self.run_reverse(step, f"{self.line.function.name}.{number}")
            case Branch():
                names = [f"{self.line.function.name}.{number}.branch{k}" for k in range(len(step.regions))]
                moved = {number for number, _ in step.in_place}
                given = [None if number in moved else each for number, each in enumerate(step.operands)]
                arrays = [number for number, each in enumerate(step.operands) if self.is_carried(each)]
                control_code.run_branch(self.line, step, self.regions(given, step.regions, names, arrays))
            case _:
                raise NotImplementedError(f"no code for a step {type(step).__name__}")

    def run_loop(self, loop: Loop, name: str) -> None:
        counted = [None if each.stride is None else each.initial for each in loop.carried]  # no step waits for these
        given = [*counted, *loop.sequences, *loop.captures]
        condition = [loop.condition] if loop.condition is not None else []
        arrays = arrays_of(loop)
        regions = self.regions(given, [loop.body, *condition], [f"{name}.step", f"{name}.condition"], arrays)
        functions = [control_code.inline_first(each) for each in regions]
        if loop.safe is None or loop.with_checks is None:
            control_code.run_loop(self.line, loop, *functions)
            return
        self.line.compute(loop.buffers(), loop.scalars())
        with self.code.builder.if_else(self.line.scalar(loop.safe)) as (fast, slow):
            with fast:
                control_code.run_loop(self.line, loop, *functions)
            with slow:
                self.run_checked(loop, given, f"{name}.checked")

    def run_checked(self, loop: Loop, given: Sequence[Operand | None], name: str) -> None:
        """Run a loop with its checks."""

        def functions(module: ir.Module, region: Region) -> control_code.RegionFunctions:
            return self.region(given, region, name, module, arrays_of(loop))

        with checked_code.on_copies(self.line, loop if loop.uninterruptible else None) as moved:
            checked = checked_code.CheckedLoop(self.line, loop, functions, f"{name}.loop", moved)
            if self.deferred is not None:
                self.deferred.loops[checked.call_deferred(self.deferred.program)] = checked
                return
            with self.without_optimisation():
                function = checked.define(self.module)
            checked.call(function)

    def run_reverse(self, loop: ReverseLoop, name: str) -> None:
        forward, back = loop.forward, loop.back
        given = [*(None for _ in forward.carried), *forward.captures]
        assert forward.condition is not None
        body = self.region(given, forward.body, f"{name}.step")
        condition = self.region(given, forward.condition, f"{name}.condition")
        given = [*(None for _ in (*back.carried, *back.sequences)), *back.captures]
        reverse_code.run_reverse(self.line, loop, body, condition, self.region(given, back.body, f"{name}.back"))

    @contextmanager
    def without_optimisation(self) -> Iterator[None]:
        """Mark the functions that are emitted inside as not to be optimised: they run where a check will fail, and may
        be slow, but must compile fast."""
        before = set(self.module.functions)
        yield
        for each in self.module.functions:
            if each not in before and each.blocks and "alwaysinline" not in each.attributes:
                each.attributes.add("noinline")
                each.attributes.add("optnone")

    def regions(
        self,
        given: Sequence[Operand | None],
        regions: Sequence[Region],
        names: Sequence[str],
        arrays: Collection[int] = (),
    ) -> list[control_code.RegionFunctions]:
        return [self.region(given, *each, arrays=arrays) for each in zip(regions, names, strict=False)]

    def region(
        self,
        given: Sequence[Operand | None],
        region: Region,
        name: str,
        module: ir.Module | None = None,
        arrays: Collection[int] = (),
    ) -> control_code.RegionFunctions:
        """The functions of a region, whose operands are ``given``. None stands for those that lie elsewhere in each
        step, and for numbers that follow from those of the step before. ``arrays``: the operands that are arrays which
        a loop carries."""
        module = module or self.module
        buffers = {number: each.owner for number, each in enumerate(given) if isinstance(each, Buffer)}
        lasting = frozenset(number for number, each in buffers.items() if each.leaf in self.line.lasting)
        table, leaves = POINTER.as_pointer(), region.graph.inputs
        run_type = ir.FunctionType(I32, [table, I64.as_pointer(), table, POINTER, I64.as_pointer()])
        run = ir.Function(module, run_type, f"{name}.program")
        carried = [leaf for leaf, each in zip(leaves, given, strict=True) if not leaf.ndim and self.is_chained(each)]
        line = StraightLine(run, region.signature, leaves, carried)
        line.lasting, line.work_left, line.placement.carried_arrays = lasting, run.args[4], arrays
        inner = self.inside(line, region, run.args[3])
        run.linkage = "internal"
        inner.emit()
        memory = self.memory_of(region, f"{name}.memory", module) if inner.placed.in_arena else None
        return control_code.RegionFunctions(region, run, memory, lasting)

    def is_chained(self, given: Operand | None) -> bool:
        """Whether a region's operand is a number that a loop carries, or that follows from one."""
        return given is None or (isinstance(given, Scalar) and self.line.placement.is_chained(given))

    def is_carried(self, operand: Operand) -> bool:
        return isinstance(operand, Buffer) and self.line.placement.is_carried(operand)

    def memory_of(self, region: Region, name: str, module: ir.Module) -> ir.Function:
        """The function that says how much memory the temporaries of a region need."""
        table = POINTER.as_pointer()
        memory = ir.Function(module, ir.FunctionType(I64, [table, I64.as_pointer()]), name)
        memory.linkage = "internal"
        line = StraightLine(memory, region.signature, region.graph.inputs)
        # what guards alone need may follow from elements, which no table has before the first step
        line.when_used = {step.value: step.scalar for step in region.program.entry.prologue}
        size, failed = ProgramEmitter(line, region.program).temporaries(), too_big(line, region.program)
        if failed is not None:
            size = line.code.builder.select(failed, ir.Constant(I64, -1), size)
        line.code.builder.ret(size)
        return memory

    def inside(self, line: StraightLine, region: Region, arena: ir.Value) -> ProgramEmitter:
        """The emitter of a region's program."""
        return ProgramEmitter(line, region.program, arena, self.deferred)

    def copy_donated(self) -> None:
        """Copy an argument to the memory of a result in which it should live. Mostly it is there already, since the
        entry uses the argument's own memory for the result; where the entry could not (the argument is read-only, say),
        it is copied."""
        for leaf, result in self.program.donations:
            assert leaf.leaf is not None
            source, target = self.line.pointer(self.line.function.args[0], leaf.leaf), self.line.base(result)
            size = self.slot_size([leaf])
            copy = self.code.function("memmove", POINTER, [POINTER, POINTER, I64], pure=False)
            builder = self.code.builder
            with builder.if_then(builder.icmp_unsigned("!=", source, target), likely=False):
                builder.call(copy, [target, source, size])

    def temporaries(self) -> ir.Value:
        """Bytes of all temporaries that are not on the stack; the memory plan says which share memory."""
        return self.offsets()[-1]

    def place_temporaries(self) -> None:
        """Let small temporaries be on the stack, and the others in one allocation."""
        builder = self.code.builder
        for slot, size in self.placed.on_stack:
            with builder.goto_entry_block():
                memory = builder.alloca(ir.ArrayType(I8, size))
            memory.align = ALIGNMENT
            self.line.buffers[slot[0]] = builder.bitcast(memory, POINTER)
        if self.placed.in_arena:
            arena = self.line.take(self.temporaries()) if self.arena is None else self.arena
            for slot, offset in zip(self.placed.in_arena, self.offsets(), strict=False):
                self.line.buffers[slot[0]] = builder.gep(arena, [offset])

    def offsets(self) -> list[ir.Value]:
        """The offset of each slot of the allocation, and the size of all of them."""
        builder = self.code.builder
        offsets: list[ir.Value] = [ir.Constant(I64, 0)]
        for slot in self.placed.in_arena:
            size = self.slot_size(slot)
            padded = builder.add(size, ir.Constant(I64, ALIGNMENT - 1))
            offsets.append(builder.add(offsets[-1], builder.and_(padded, ir.Constant(I64, -ALIGNMENT))))
        return offsets

    def slot_size(self, slot: Sequence[Buffer]) -> ir.Value:
        """Bytes for the largest buffer of a slot."""
        builder = self.code.builder
        rows = self.loop_of.get(slot[0])
        if rows is not None:  # all buffers of a slot are alike
            return builder.mul(self.tile_of(rows), row_code.row_bytes(self.line, slot[0]))
        size: ir.Value | None = None
        for buffer in slot:
            each: ir.Value = ir.Constant(I64, buffer.dtype.itemsize)
            for extent in buffer.extents:
                each = builder.mul(each, self.line.scalar(extent))
            size = each if size is None else builder.select(builder.icmp_signed(">", each, size), each, size)
        assert size is not None
        return size

    def tile_of(self, rows: TiledLoop) -> ir.Value:
        """The number of rows of a tile."""
        if rows not in self.tiles:
            self.tiles[rows] = row_code.rows_of_tile(self.line, rows)
        return self.tiles[rows]

    def run_kernel(self, kernel: Kernel, number: int) -> None:
        name, other = f"{self.line.function.name}.{number}.{kernel.name}", kernel.alternative
        slots = self.stack_slots([kernel])
        may_fail, call = self.nest_call(kernel, name, slots)
        if other is None:
            failed = call()
        else:
            _, interchanged = self.nest_call(other.kernel, f"{name}.interchanged", slots)
            near, far = (self.length_of(self.line.external(stride)) for stride in (other.near, other.far))
            failed = self.code.choose(self.code.builder.icmp_signed("<", near, far), interchanged, call)
        if may_fail:
            self.line.check(self.code, failed)
        self.load_results(slots)

    def stack_slots(self, kernels: Iterable[Kernel]) -> dict[Reduction, ir.Value]:
        """Memory for the results that nests leave for registers."""
        outputs = (output for kernel in kernels for output in kernel.outputs if isinstance(output, Reduction))
        return {output: self.stack_slot(output) for output in outputs if output.register is not None}

    def load_results(self, slots: dict[Reduction, ir.Value]) -> None:
        for output, slot in slots.items():
            dtype = output.reducer.result_dtype(output.value.dtype)
            self.line.registers[output.register] = self.code.load(slot, dtype)

    def nest_call(
        self, kernel: Kernel, name: str, slots: dict[Reduction, ir.Value]
    ) -> tuple[bool, Callable[[], ir.Value]]:
        """Emit a nest. Return whether a check may fail in it, and a function that emits its call later, from the values
        that are available by then."""
        if kernel.split is not None:
            nest = ranges.emit_range(self.module, kernel, name)
            return nest.may_fail, self.region_call(nest, name, slots)
        emitter = declare_nest(self.module, kernel, name, in_region=self.arena is not None)
        function = emitter.emit()
        arguments = [*emitter.arguments(self.line), *(slots[each] for each in emitter.slots)]
        return emitter.flag is not None, lambda: self.line.call(function, arguments)

    def region_call(
        self, nest: ranges.RangeFunction, name: str, slots: dict[Reduction, ir.Value]
    ) -> Callable[[], ir.Value]:
        """Return a function that emits the call of a nest in chunks."""
        arguments = nest.arguments(self.line)
        region = chunk_code.emit_region(nest, arguments, name)
        outputs = [each.output for each in nest.slots]
        results = [slots.get(each) or self.result_address(each) for each in outputs]
        arguments = [
            *(self.line.scalar(nest.length), chunks.work_of(self.line, nest.members), *arguments),
            *(self.code.builder.bitcast(each, POINTER) for each in results),
            *(self.slot_size([chunk_code.shared_buffer(each)]) for each in nest.shared),
        ]

        def call() -> ir.Value:
            code = self.line.call(region, arguments)
            if nest.shared:
                missing = self.code.builder.icmp_signed("==", code, ir.Constant(I32, OUT_OF_MEMORY))
                self.line.leave_if(missing, code)
            return self.code.builder.icmp_signed("!=", code, ir.Constant(I32, 0))

        return call

    def run_rows(self, rows: TiledLoop, name: str) -> None:
        if not rows.is_split:
            self.run_tiles(rows, name)
            return
        nest, slots = row_code.emit_rows(self.module, rows, name), self.stack_slots(rows.kernels)
        failed = self.region_call(nest, name, slots)()
        if nest.may_fail:
            self.line.check(self.code, failed)
        self.load_results(slots)

    def run_tiles(self, rows: TiledLoop, name: str) -> None:
        """Emit the nests of a tiled loop, and a loop over tiles of rows which runs the members one after the other."""
        nests, emitter = row_code.emit_nests(self.module, rows, name), self.code
        partials = [partial for nest in nests for partial in nest.slots]
        records = [emitter.builder.alloca(each.type) for each in partials]
        for partial, record in zip(partials, records, strict=True):
            partial.reset(emitter, record)
        pointers = [emitter.builder.bitcast(each, POINTER) for each in records]
        slots = {each.output: pointer for each, pointer in zip(partials, pointers, strict=True)}
        rest = iter(nests)
        runs = [
            self.run_in_tile(
                each,
                row_code.call_run(self.line, each, access, rows.in_tile)
                if isinstance(each, Call)
                else row_code.nest_run(self.line, next(rest), slots, rows.in_tile),
            )
            for each, access in zip(rows.steps, rows.accesses, strict=True)
        ]
        failed = row_code.run_tiles(
            emitter, runs, ir.Constant(I64, 0), self.line.scalar(rows.length), self.tile_of(rows)
        )
        if any(nest.may_fail for nest in nests) or len(nests) < len(runs):
            self.line.check(emitter, failed)
        for partial, record in zip(partials, records, strict=True):
            self.keep(partial.output, partial.result(emitter, partial.load(emitter, record)))

    def run_in_tile(self, step: Step, run: row_code.Run) -> row_code.Run:
        """Return the ``run`` of a member of a tiled loop; a subclass may wrap it."""
        return run

    def keep(self, output: Reduction, result: ir.Value) -> None:
        """Keep the result of a reduction over all loops."""
        if output.register is not None:
            self.line.registers[output.register] = result
        else:
            self.code.store(result, self.result_address(output), output.reducer.result_dtype(output.value.dtype))

    def result_address(self, output: Reduction) -> ir.Value:
        """The address of an array of one element, which is the result of a reduction over all loops."""
        return self.line.scalars.address(self.code, chunk_code.shared_buffer(output), output.indices)

    def length_of(self, stride: ir.Value) -> ir.Value:
        builder = self.code.builder
        return builder.select(builder.icmp_signed("<", stride, ir.Constant(I64, 0)), builder.neg(stride), stride)

    def stack_slot(self, output: Reduction) -> ir.Value:
        type_ = memory_type(output.reducer.result_dtype(output.value.dtype))
        return self.code.builder.alloca(type_)

    def run_call(self, call: Call) -> None:
        extents = [[self.line.scalar(extent) for extent in buffer.extents] for buffer in call.arguments]
        addresses = [self.line.base(buffer) for buffer in call.arguments]
        dtypes = [buffer.dtype for buffer in call.arguments]
        code = self.code if self.arena is None else Emitter(self.code.builder, Inlining(0))  # of a region
        failed = call.emit(code, addresses, extents, dtypes, **call.attributes)
        if failed is None:
            return
        if failed.type == I32:  # a code of its own
            self.line.leave_if(self.code.builder.icmp_signed("!=", failed, ir.Constant(I32, 0)), failed)
        else:
            self.line.leave_if(failed, ir.Constant(I32, NO_SOLUTION))


def arrays_of(loop: Loop) -> list[int]:
    """The numbers of the operands that are arrays which a loop carries."""
    return [number for number, each in enumerate(loop.carried) if isinstance(each.initial, Buffer)]


def emit_program(
    module: ir.Module,
    program: Program,
    signature: NativeSignature,
    leaves: Sequence[Input],
    name: str,
    emitter: Callable[[StraightLine, Program], ProgramEmitter] = ProgramEmitter,
) -> tuple[ir.Function, ir.Function]:
    """Emit the pair (``shapes``, ``program``) of functions into ``module``, named after ``name``."""
    table = POINTER.as_pointer()
    shapes = ir.Function(module, ir.FunctionType(I32, [table, I64.as_pointer(), I64.as_pointer()]), f"{name}.shapes")
    emit_shapes(StraightLine(shapes, signature, leaves), program)
    function = ir.Function(module, ir.FunctionType(I32, [table, I64.as_pointer(), table]), f"{name}.program")
    emitter(StraightLine(function, signature, leaves), program).emit()
    return shapes, function


def emit_shapes(code: StraightLine, program: Program) -> None:
    """Check the guards, then write the extents of all results and the estimate of the work."""
    for leaf, _ in program.donations:  # what will live in the memory of a result is still an argument
        assert leaf.leaf is not None
        code.buffers[leaf.owner] = code.pointer(code.function.args[0], leaf.leaf)
    for step in program.entry.prologue:
        code.registers[step.value] = code.scalar(step.scalar)
    builder, number = code.code.builder, 0
    for guard in declared_equalities(code):
        number += 1
        code.leave_if(builder.not_(guard), ir.Constant(I32, number))
    for condition in program.entry.guards:
        number += 1
        code.leave_if(builder.not_(code.scalar(condition)), ir.Constant(I32, number))
    failed = too_big(code, program)
    if failed is not None:
        code.leave_if(failed, ir.Constant(I32, number + 1))
    lengths = [extent for extents in program.entry.extents for extent in extents]
    for position, extent in enumerate((*lengths, *program.entry.work)):
        slot = builder.gep(code.function.args[2], [ir.Constant(I64, position)], inbounds=True)
        builder.store(code.scalar(extent), slot)
    code.leave(ir.Constant(I32, 0))


def repeated_dims(leaves: Sequence[Input]) -> Iterator[tuple[int, int, Dim]]:
    """The places (leaf and axis) among the arguments' extents of lengths that must equal an earlier one."""
    seen: set[Dim] = set()
    for position, leaf in enumerate(leaves):
        for axis, extent in enumerate(leaf.shape):
            if isinstance(extent, Dim):
                representative = extent.representative
                if not isinstance(representative, Dim) or representative in seen:
                    yield position, axis, extent
                else:
                    seen.add(representative)


def declared_equalities(code: StraightLine) -> list[ir.Value]:
    """Conditions that lengths which were unified are equal in the arguments, too."""
    return [
        code.code.builder.icmp_signed("==", code.meta(position, axis), code.external(Register(dim)))
        for position, axis, dim in repeated_dims(code.leaves)
    ]
