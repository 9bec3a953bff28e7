"""One LLVM function a loop nest.

Each loop level has a preheader block. A scalar is emitted into the preheader of the innermost loop that it depends
on, so what does not change inside a loop is computed outside it, whatever LLVM can prove about the operation.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from numbagraph.emit.accumulators import Partial, accumulate, first_reduced, runs_in_blocks
from numbagraph.emit.exits import emit_until_decided, may_end_early
from numbagraph.emit.extrema import Searches, improve
from numbagraph.emit.hints import BLOCK, LANES, copies_apart, hints_of_sums, hints_outside, preferred_bits
from numbagraph.emit.interface import WHOLE, Interface
from numbagraph.emit.lazy_select import ways_of
from numbagraph.emit.loop_variants import MOST_INLINED, Choices, choices_for, stretches_of
from numbagraph.emit.outer_vectorisation import emit_strips
from numbagraph.emit.scalars import Outside, ScalarEmitter
from numbagraph.emit.tiles import allocate_kept, copy_tile, keep_for_later, scatter_tile
from numbagraph.emit.wrapped_indices import emit_pieces, wraps_of
from numbagraph.intrinsics.emitters.emitter import (
    I1,
    I8,
    I64,
    POINTER,
    Emitter,
    Inlining,
    Operand,
    llvm_type,
    loop_hints,
)
from numbagraph.intrinsics.emitters.ir import Buffer, LeafStride, Literal, Load, LoopIndex, Register, Scalar
from numbagraph.intrinsics.emitters.reducers import Sum
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.loops.ir import Kernel, Output, Reduction, Scan, Scatter, Store

WHOLE_VECTORS = 64
"""A number of elements that fills whole vectors of any dtype: the rest of a row has fewer."""

ALIGNED = "align 64"
"""A nest begins a line of the cache: the speed of a short loop must not depend on the code before it in the module."""


def declare_nest(
    module: ir.Module, kernel: Kernel, name: str, interface: Interface = WHOLE, *, in_region: bool = False
) -> KernelEmitter:
    """Declare the function of a nest, and return the emitter of its body."""
    owners = list(dict.fromkeys(buffer.owner for buffer in kernel.buffers()))
    externals: list[Scalar] = [each for each in kernel.scalars() if isinstance(each, (Register, LeafStride))]
    reductions = [each for each in kernel.outputs if isinstance(each, Reduction)]
    slots = [each for each in reductions if interface.has_slot(kernel, each)]
    types = [*interface.range_types, *[POINTER] * len(owners), *(llvm_type(each.dtype) for each in externals)]
    types += [interface.slot_type(each) for each in slots]
    function = ir.Function(module, ir.FunctionType(I1, types), name)
    function.linkage = "internal"
    # a call of an element without a loop around it would take longer than the element
    for attribute in ("noinline", "nounwind", ALIGNED) if kernel.loops else ("nounwind",):
        set.add(function.attributes, attribute)  # LLVM knows more attributes than llvmlite lists
    if current_target().vector_bytes == 64:
        set.add(function.attributes, f'"prefer-vector-width"="{preferred_bits(kernel)}"')
    return KernelEmitter(
        function, kernel, interface, choices_for(kernel, in_region=in_region), owners, externals, slots
    )


class KernelEmitter:
    """Emits the body of a nest's function, whose arguments its `Interface` describes."""

    def __init__(
        self,
        function: ir.Function,
        kernel: Kernel,
        interface: Interface,
        choices: Choices,
        owners: list[Buffer],
        externals: list[Scalar],
        slots: list[Reduction],
    ) -> None:
        self.function = function
        self.kernel = kernel
        self.interface = interface
        self.choices = choices
        self.owners = owners
        self.externals = externals
        self.slots = slots
        self.depth = {loop: depth for depth, loop in enumerate(kernel.loops)}
        self.levels: dict[Scalar, int] = {}
        self.scalars = ScalarEmitter(self, self, ways_of(kernel.roots(), self.level))
        self.preheaders: list[Emitter] = []
        self.flag: ir.Value | None = None
        self.in_blocks = not kernel.unrolled
        self.has_vectors = not copies_apart(kernel)
        self.stretches = stretches_of(kernel) if self.has_vectors else []
        self.wraps = wraps_of(kernel)
        self.inlining = Inlining(MOST_INLINED)
        self.states: dict[Reduction | Scan, list[ir.Value]] = {}
        self.totals: dict[Reduction | Scan, list[ir.Value]] = {}
        self.peaks: dict[Reduction | Scan, ir.Value] = {}
        self.tiles: dict[Load, tuple[ir.Value, ir.Value]] = {}
        """For each load with strides, memory for the elements of one block, and the index of the first."""
        self.kept: dict[Scatter, tuple[dict[Scalar, ir.Value], ir.Value]] = {}
        self.hidden_zero: ir.Value | None = None
        self._bind_arguments()

    def _bind_arguments(self) -> None:
        """One argument for each piece of memory: LLVM knows then that two of them never overlap."""
        arguments = iter(self.function.args)
        written = {buffer.owner for buffer in self.kernel.writes()}
        self.range: list[ir.Value] = [next(arguments) for _ in self.interface.range_types]
        self.addresses: dict[Buffer, ir.Value] = {}
        for owner in self.owners:
            argument = next(arguments)
            argument.name = owner.name
            if self.kernel.loops:  # in a loop of steps, LLVM would forget what is known of all of them
                argument.add_attribute("noalias")
            if owner not in written:
                set.add(argument.attributes, "readonly")  # LLVM knows it, llvmlite's list of attributes does not
            self.addresses[owner] = argument
        for external in self.externals:
            self.scalars.values[external] = next(arguments)
        self.slot_pointers = dict(zip(self.slots, arguments, strict=True))

    def arguments(self, code: Outside) -> list[ir.Value]:
        """The arguments of a call of the function, up to the slots, from ``code``, which makes the call."""
        return [*(code.base(owner) for owner in self.owners), *(code.external(each) for each in self.externals)]

    def partial(self, output: Reduction) -> Partial:
        """The partial result of a reduction, in the variant of the loops that is being emitted."""
        return Partial(output, is_total=self.is_blocked(output) and not output.reducer.positional)

    def accumulator(self, output: Reduction) -> list[ir.Value]:
        """The slots of a reduction's partial result while the loops run."""
        return self.totals.get(output) or self.states[output]

    # ---- what scalars use, and where they are emitted ----

    def external(self, scalar: Scalar) -> ir.Value:
        return self.scalars.values[scalar]

    def base(self, buffer: Buffer) -> ir.Value:
        return self.addresses[buffer.owner]

    def label(self, buffer: Buffer) -> None:
        return None  # what a nest writes has no alias in it

    def copied(self, emitter: Emitter, load: Load) -> ir.Value | None:
        if load not in self.tiles:
            return None
        memory, first = self.tiles[load]
        position = emitter.builder.sub(self.scalars.values[self.kernel.loops[-1]], first, flags=("nsw",))
        return emitter.builder.gep(memory, [ir.Constant(I64, 0), position], inbounds=True)

    def emitter(self, scalar: Scalar) -> Emitter:
        return self.preheaders[self.level(scalar)]

    def level(self, scalar: Scalar) -> int:
        """The number of loops that must have been entered before the scalar has a value."""
        if scalar not in self.levels:
            if isinstance(scalar, LoopIndex):
                self.levels[scalar] = self.depth[scalar] + 1
            else:
                operands = scalar.operands
                self.levels[scalar] = max(
                    (self.levels.get(each, 0) or self.level(each) for each in operands), default=0
                )
        return self.levels[scalar]

    def position(self, emitter: Emitter, index: ir.Value, extent: ir.Value, signed: bool) -> ir.Value:
        """Compute a position without branches: a flag records a failed check, and the first position is read then."""
        builder, first = emitter.builder, ir.Constant(I64, 0)
        if signed:
            wrapped = builder.add(index, extent)
            index = builder.select(builder.icmp_signed("<", index, first), wrapped, index)
        failed = builder.icmp_unsigned(">=", index, extent)
        if not self.kernel.in_bounds:  # else it fails only if another thread changes the indices meanwhile
            if self.flag is None:
                self.flag = self.allocate(I8)
                self.stack.store(ir.Constant(I8, 0), self.flag)
            builder.store(builder.or_(builder.load(self.flag), builder.zext(failed, I8)), self.flag)
        return builder.select(failed, first, index)

    def allocate(self, type_: ir.Type) -> ir.Value:
        """Stack memory, which LLVM turns into registers."""
        return self.stack.alloca(type_)

    def emit(self) -> ir.Function:
        entry = self.function.append_basic_block("stack")
        start = self.function.append_basic_block("start")
        self.stack = ir.IRBuilder(entry)
        self.preheaders = [Emitter(ir.IRBuilder(start))]
        if self.kernel.packed is not None and self.kernel.packed.interchanged is not None:
            self.call_interchanged(self.kernel.packed.interchanged, self.kernel.packed.times)
        builder = (self.emit_for_lengths() if self.stretches else self.emit_in_order()).builder
        result = builder.load(self.flag) if self.flag is not None else ir.Constant(I8, 0)
        builder.ret(builder.icmp_unsigned("!=", result, ir.Constant(I8, 0)))
        self.stack.branch(start)
        return self.function

    def call_interchanged(self, kernel: Kernel, times: Scalar) -> None:
        """Where operands have been packed, leave the rest to the nest that reads them."""
        nest = declare_nest(self.function.module, kernel, f"{self.function.name}.interchanged", self.interface)
        nest.emit()
        builder = self.preheaders[0].builder
        with builder.if_then(builder.icmp_signed("!=", self.scalars.value(times), ir.Constant(I64, 0))):
            builder.ret(builder.call(nest.function, [*self.range, *nest.arguments(self)]))

    def distance(self, emitter: Emitter, step: ir.Value) -> ir.Value:
        """Hide a stride from LLVM, which would only make the loop fast for a stride of one byte if it saw it."""
        if not self.choices.strided or isinstance(step, ir.Constant):
            return step
        if self.hidden_zero is None:
            self.hidden_zero = self.stack.asm(ir.FunctionType(I64, [I64]), "", "=r,0", [ir.Constant(I64, 0)], False)
        return emitter.builder.add(step, self.hidden_zero)

    def emit_in_order(self) -> Emitter:
        first = self.first_summed()
        return self.emit_level(0) if first is None else self.emit_versions(first)

    def emit_for_lengths(self) -> Emitter:
        """The nest twice: for computed lengths that are none of them 1, and for all others, which need no vectors.

        LLVM does not take the question out of the loop, and gathers what may be one element or a row of them.
        """
        outer, before = self.preheaders[0], dict(self.scalars.values)
        lengths = dict.fromkeys(self.scalars.value(each.arguments[1]) for each in self.stretches)
        plain: ir.Value = ir.Constant(I1, 1)
        for length in lengths:
            plain = outer.builder.and_(plain, outer.builder.icmp_signed("!=", length, ir.Constant(I64, 1)))
        full, other, after = (self.function.append_basic_block(name) for name in ("full", "other", "after"))
        outer.builder.cbranch(plain, full, other)
        for block, is_full in ((full, True), (other, False)):
            self.scalars.values, self.totals, self.states = dict(before), {}, {}
            self.scalars.stretches, self.has_vectors, self.in_blocks = not is_full, is_full, not self.kernel.unrolled
            self.preheaders = [Emitter(ir.IRBuilder(block))]
            (self.emit_in_order() if is_full else self.emit_level(0)).builder.branch(after)
        return Emitter(ir.IRBuilder(after))

    def first_summed(self) -> int | None:
        """The depth from which on all loops are summed in blocks; None for one loop, whose short sums the bookkeeping
        would slow down. A reduction that goes on in another range has the form of a sum in blocks."""
        reductions = [each for each in self.kernel.outputs if isinstance(each, Reduction) and self.is_blocked(each)]
        found = {first_reduced(self.kernel, each) for each in reductions if isinstance(each.reducer, Sum)}
        if len(found) != 1 or len(self.kernel.loops) < 2 or (self.range and 0 in found):
            return None
        return found.pop()

    def emit_versions(self, first: int) -> Emitter:
        """The nest twice: for sums of few terms from a loop on, each one vector or a few, and for longer ones."""
        outer, before = self.preheaders[0], dict(self.scalars.values)
        length: ir.Value = ir.Constant(I64, 1)
        for loop in self.kernel.loops[first:]:
            length = outer.builder.mul(length, self.scalars.value(loop.extent))
        long, short, after = (self.function.append_basic_block(name) for name in ("long", "short", "after"))
        outer.builder.cbranch(
            outer.builder.icmp_signed(">", length, ir.Constant(I64, self.choices.short_row)), long, short
        )
        for block, blocked in ((long, True), (short, False)):
            self.scalars.values, self.totals, self.states, self.in_blocks = dict(before), {}, {}, blocked
            self.has_vectors = blocked or first == len(self.kernel.loops) - 1
            self.preheaders = [Emitter(ir.IRBuilder(block))]
            self.emit_level(0).builder.branch(after)
        return Emitter(ir.IRBuilder(after))

    def emit_level(self, depth: int) -> Emitter:
        """Emit loops ``depth`` and below; returns an emitter at the point after them."""
        if depth == len(self.kernel.loops):
            return self.emit_body() if depth else self.emit_single()
        if depth == len(self.kernel.loops) - 2 and self.choices.joined and self.has_vectors:
            return self.emit_joined(depth)
        reductions = [each for each in self.kernel.outputs if isinstance(each, Reduction)]
        starting = [each for each in reductions if first_reduced(self.kernel, each) == depth]
        scans = [each for each in self.kernel.outputs if isinstance(each, Scan)] if self.innermost(depth) else []
        begin, end = self.interface.bounds(self.kernel, depth, self.range, self.scalars)
        for output in (*starting, *scans):
            self.open_accumulator(self.preheaders[depth], output)
        if depth == len(self.kernel.loops) - 2 and self.is_across():
            begin = emit_strips(self, depth, begin, end, self.inlining)
        blocked = [each for each in self.kernel.outputs if self.innermost(depth) and self.is_blocked(each)]
        if self.kernel.unrolled and self.innermost(depth):
            after = self.emit_unrolled(depth)
        elif self.wraps and self.innermost(depth):

            def piece(start: ir.Value, stop: ir.Value, before: Emitter) -> Emitter:
                self.preheaders[depth] = before
                return self.emit_iterations(depth, start, stop, blocked)

            outer = self.preheaders[depth]
            after = emit_pieces(self.scalars, self.wraps, (begin, end), outer, piece)
        else:
            after = self.emit_iterations(depth, begin, end, blocked)
        for output in starting:
            self.close_accumulator(after, output)
        return after

    def emit_joined(self, depth: int) -> Emitter:
        """The two innermost loops as one, which goes on from one row to the next as if they were one row."""
        outer, (rows, columns) = self.preheaders[depth], self.kernel.loops[-2:]
        length = self.scalars.value(columns.extent)
        bounds = self.interface.bounds(self.kernel, depth, self.range, self.scalars)
        begin, end = (outer.builder.mul(each, length, flags=("nsw",)) for each in bounds)
        self.scalars.values[rows] = ir.Constant(I64, 0)
        self.preheaders[depth + 1 :] = [outer]
        return self.emit_loop(depth + 1, begin, end, outer)

    def emit_iterations(self, depth: int, begin: ir.Value, end: ir.Value, blocked: list[Any]) -> Emitter:
        if blocked or ((self.choices.copied or self.choices.delayed) and self.innermost(depth)):
            return self.emit_blocks(depth, begin, end, blocked)
        if may_end_early(self.kernel):
            return emit_until_decided(self, depth, begin, end)
        if self.innermost(depth) and self.has_vectors and self.choices.masked:
            return self.emit_with_masked_rest(depth, begin, end, self.preheaders[depth])
        return self.emit_loop(depth, begin, end, self.preheaders[depth])

    def innermost(self, depth: int) -> bool:
        return depth == len(self.kernel.loops) - 1

    def is_across(self) -> bool:
        """Whether short rows are reduced here: no sum is compensated."""
        return self.has_vectors and not any(map(self.is_blocked, self.kernel.outputs))

    def is_blocked(self, output: Output) -> bool:
        return runs_in_blocks(self.kernel, output, sums=self.in_blocks)

    def emit_with_masked_rest(self, depth: int, begin: ir.Value, end: ir.Value, outer: Emitter) -> Emitter:
        """The innermost loop, and one of masked vectors for what is left of whole ones: of a short row, that is all."""
        if not self.in_blocks:  # each row is short
            return self.emit_loop(depth, begin, end, outer, masked=True)
        whole = outer.builder.and_(outer.builder.sub(end, begin, flags=("nsw",)), ir.Constant(I64, -WHOLE_VECTORS))
        middle = outer.builder.add(begin, whole, flags=("nsw",))
        self.preheaders[depth] = after = self.emit_loop(depth, begin, middle, outer)
        self.forget_inside(depth)
        return self.emit_loop(depth, middle, end, after, masked=True)

    def emit_loop(
        self, depth: int, start: ir.Value, stop: ir.Value, before: Emitter, *, masked: bool = False
    ) -> Emitter:
        """``for index in range(start, stop)`` around the levels below."""
        function, loop = self.function, self.kernel.loops[depth]
        head = function.append_basic_block(f"{loop.name}.head")
        body = function.append_basic_block(f"{loop.name}.body")
        after = function.append_basic_block(f"{loop.name}.end")
        head_builder = ir.IRBuilder(head)
        index = head_builder.phi(I64, name=loop.name)
        head_builder.cbranch(head_builder.icmp_signed("<", index, stop), body, after)
        self.scalars.values[loop] = index
        del self.preheaders[depth + 1 :]
        self.preheaders.append(Emitter(ir.IRBuilder(body), self.inlining if self.innermost(depth) else None))
        end = self.emit_level(depth + 1)
        following = end.builder.add(index, ir.Constant(I64, 1), flags=("nsw",))
        index.add_incoming(following, end.builder.block)
        latch = end.builder.branch(head)
        plain = self.inlining.left == MOST_INLINED
        if hints := self.hints(masked) if self.innermost(depth) else hints_outside(self.kernel, plain=plain):
            latch.set_metadata("llvm.loop", loop_hints(function.module, **hints))
        index.add_incoming(start, before.builder.block)
        before.builder.branch(head)
        return Emitter(ir.IRBuilder(after))

    def hints(self, masked: bool) -> dict[str, int]:
        """The hints to LLVM for the innermost loop."""
        if not self.has_vectors:
            return {"vectorize_enable": 0}
        if self.choices.strided:  # scalar lanes: vectors would have to be gathered
            return {"vectorize_width": 1, "interleave_count": LANES}
        if masked:
            return {"vectorize_predicate_enable": 1, "interleave_count": 1}
        if self.in_blocks:
            return hints_of_sums(self.kernel, self.function, plain=self.inlining.left == MOST_INLINED)
        return {"interleave_count": 1}  # a short row would be over before a loop of several interleaved vectors began

    def emit_unrolled(self, depth: int) -> Emitter:
        """The levels below a loop, once for each of its iterations."""
        loop, after = self.kernel.loops[depth], self.preheaders[depth]
        assert isinstance(loop.extent, Literal)
        for number in range(loop.extent.value):
            self.forget_inside(depth)
            self.scalars.values[loop] = ir.Constant(I64, number)
            self.preheaders[depth + 1 :] = [Emitter(after.builder, self.inlining)]
            after = self.emit_level(depth + 1)
        return after

    def forget_inside(self, depth: int) -> None:
        """Keep the values of scalars that are the same in each iteration of a loop alone."""
        known = self.scalars.values.items()
        self.scalars.values = {scalar: value for scalar, value in known if self.level(scalar) <= depth}

    def emit_blocks(self, depth: int, begin: ir.Value, end: ir.Value, blocked: list[Any]) -> Emitter:
        """The innermost loop in blocks: the sum of each is added to its compensated total, its extremum looked up."""
        function, name = self.function, self.kernel.loops[depth].name
        head, body, after = (function.append_basic_block(f"{name}.{each}") for each in ("blocks", "block", "done"))
        head_builder, outer = ir.IRBuilder(head), self.preheaders[depth]
        start, searches = head_builder.phi(I64), Searches(self, depth, outer, blocked)
        head_builder.cbranch(head_builder.icmp_signed("<", start, end), body, after)
        block = Emitter(ir.IRBuilder(body))
        limit = block.builder.add(start, ir.Constant(I64, BLOCK), flags=("nsw",))
        stop = block.builder.select(block.builder.icmp_signed("<", limit, end), limit, end)
        for output in blocked:
            identity = output.reducer.initial(output.value.dtype)[0]
            block.builder.store(identity, self.peaks.get(output) or self.states[output][0])
        block = copy_tile(self, depth, start, stop, block) if self.choices.copied else block
        allocate_kept(self, start)
        known = dict(self.scalars.values)
        emit = self.emit_with_masked_rest if self.choices.masked_sums else self.emit_loop
        last = searches.emit_block(start, stop, block, lambda *part: emit(depth, *part))
        if self.choices.delayed:
            self.scalars.values = dict(known)
            last = scatter_tile(self, depth, start, stop, last)
        for output in blocked:
            if output in self.peaks:
                self.scalars.values = dict(known)
                last = searches.look_up(start, stop, last, output)
            else:
                self.add_block(last, output)
        start.add_incoming(limit, last.builder.block)
        last.builder.branch(head)
        self.tiles, self.kept = {}, {}  # they are those of a block
        done = searches.finish(end, Emitter(ir.IRBuilder(after)))
        start.add_incoming(begin, outer.builder.block)
        outer.builder.branch(head)
        return done

    def open_accumulator(self, emitter: Emitter, output: Reduction | Scan) -> None:
        dtype = output.value.dtype
        initial = output.reducer.initial(dtype)
        self.states[output] = [self.allocate(each.type) for each in initial]
        for pointer, value in zip(self.states[output], initial, strict=True):
            emitter.builder.store(value, pointer)
        if output.reducer.positional and self.is_blocked(output):
            self.peaks[output] = self.allocate(initial[0].type)
        elif self.is_blocked(output):
            zero = emitter.constant(0, output.reducer.total_dtype(dtype))
            self.totals[output] = [self.allocate(zero.type) for _ in range(2)]
            for pointer in self.totals[output]:
                emitter.builder.store(zero, pointer)
        if output in self.slot_pointers:
            assert isinstance(output, Reduction)
            slot = self.slot_pointers[output]
            self.interface.resume(emitter, self.partial(output), self.accumulator(output), slot)

    def add_block(self, emitter: Emitter, output: Reduction) -> None:
        builder = emitter.builder
        total = tuple(builder.load(pointer) for pointer in self.totals[output])
        block = builder.load(self.states[output][0])
        updated = output.reducer.add_block(emitter, total, block, output.value.dtype)
        for pointer, value in zip(self.totals[output], updated, strict=True):
            builder.store(value, pointer)

    def close_accumulator(self, emitter: Emitter, output: Reduction) -> None:
        """Store an accumulator's result, or combine it into memory where outer loops are reduced as well."""
        partial, accumulator = self.partial(output), self.accumulator(output)
        if output in self.slot_pointers:
            self.interface.leave(emitter, partial, accumulator, self.slot_pointers[output])
            return
        result = partial.result(emitter, tuple(emitter.builder.load(each) for each in accumulator))
        outer_reduced = any(self.depth[loop] < first_reduced(self.kernel, output) for loop in output.reduced)
        self.put(emitter, output, result, combine=outer_reduced)

    def put(self, emitter: Emitter, output: Any, value: ir.Value, *, combine: bool) -> None:
        """Write one element of an output's buffer; with ``combine``, combine it with the element that is there."""
        if combine and output.reducer.positional:
            improve(self, emitter, output, Operand(value, output.value.dtype))
            return
        pointer = self.scalars.address(emitter, output.buffer, output.indices, getattr(output, "flat", False))
        dtype = output.buffer.dtype
        if combine:
            old = Operand(emitter.load(pointer, dtype), dtype)
            value = output.reducer.combine(emitter, old, Operand(value, dtype))
        emitter.store(value, pointer, dtype)

    def emit_single(self) -> Emitter:
        """A nest without loops: every extent is 1."""
        accumulating = [each for each in self.kernel.outputs if isinstance(each, (Reduction, Scan))]
        for output in accumulating:
            self.open_accumulator(self.preheaders[0], output)
        emitter = self.emit_body()
        for output in accumulating:
            if isinstance(output, Reduction):
                self.close_accumulator(emitter, output)
        return emitter

    def emit_body(self) -> Emitter:
        """Emit the body of the innermost loop."""
        values = [self.scalars.value(output.value) for output in self.kernel.outputs]
        emitter = self.preheaders[-1]
        for output, value in zip(self.kernel.outputs, values, strict=True):
            operand = Operand(value, output.value.dtype)
            if isinstance(output, Store):
                self.put(emitter, output, value, combine=False)
            elif isinstance(output, Scatter) and output in self.kept:
                keep_for_later(self, emitter, output)
            elif output in self.states:
                assert isinstance(output, (Reduction, Scan))
                accumulate(self, emitter, output, operand)
            else:
                self.put(emitter, output, value, combine=True)
        return emitter
