"""The call of a loop nest in chunks, from several threads where there are several chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from numbagraph.emit.accumulators import Partial, member
from numbagraph.emit.allocation import memory_function
from numbagraph.emit.call import THREADS
from numbagraph.emit.chunks import MOST_CHUNKS, cut, smaller
from numbagraph.emit.ranges import RangeFunction
from numbagraph.intrinsics.emitters.emitter import I32, I64, POINTER, Emitter, Operand, memory_type
from numbagraph.intrinsics.emitters.ir import Buffer
from numbagraph.intrinsics.emitters.reducers import State
from numbagraph.ir.abi import OUT_OF_MEMORY
from numbagraph.ir.structs import Struct
from numbagraph.loops.ir import Reduction

Values = Mapping[str, ir.Value]


def emit_region(nest: RangeFunction, arguments: Sequence[ir.Value], name: str) -> ir.Function:
    """Emit the call of a nest, or of nests that run together, in chunks: ``i32 region(length, work, arguments...,
    results..., sizes...)``, and a task that runs the chunks.

    ``arguments`` are those that the nest's function has between its range and its slots. The region returns 0, or 1
    where a check has failed, or `OUT_OF_MEMORY`.
    """
    argument_types: dict[str, ir.Type] = {
        **dict.fromkeys(("length", "work"), I64),
        **numbered("argument", (each.type for each in arguments)),
        **numbered("result", [POINTER] * len(nest.slots)),
        **numbered("size", [I64] * len(nest.shared)),
    }
    record = {
        **dict.fromkeys(("next", "failed", "chunks", "step"), I64),
        **argument_types,
        **numbered("slots", (each.type.as_pointer() for each in nest.slots)),
        **numbered("copies", [POINTER] * len(nest.shared)),
    }
    region = Region(nest, argument_types, record)
    return region.emit_region(f"{name}.region", region.emit_task(f"{name}.task"))


class Region(Struct, frozen=False):
    """A nest that is called in chunks.

    The task takes one chunk after the other until none is left, on each thread that calls it. What it must know stands
    in a record. Where several chunks add to the same elements, each has a copy of these. A nest that is cut into one
    chunk only is called as any other nest is.

    What is not inside the chunks is left as it is emitted, since it would take longer to optimise than a chunk.
    """

    nest: RangeFunction
    argument_types: Mapping[str, ir.Type]
    record: Mapping[str, ir.Type]
    """The fields of the record."""

    @property
    def record_type(self) -> ir.LiteralStructType:
        return ir.LiteralStructType(list(self.record.values()))

    def new_function(self, name: str, result: ir.Type, arguments: Iterable[ir.Type]) -> tuple[ir.Function, Emitter]:
        function = ir.Function(self.nest.function.module, ir.FunctionType(result, list(arguments)), name)
        function.linkage = "internal"
        for attribute in ("noinline", "optnone"):
            function.attributes.add(attribute)
        return function, Emitter(ir.IRBuilder(function.append_basic_block("entry")))

    def fields(self, builder: ir.IRBuilder, record: ir.Value) -> dict[str, ir.Value]:
        """A pointer to each field of a record."""
        return {name: member(builder, record, position) for position, name in enumerate(self.record)}

    # ---- the region ----

    def emit_region(self, name: str, task: ir.Function) -> ir.Function:
        function, emitter = self.new_function(name, I32, self.argument_types.values())
        builder = emitter.builder
        values: dict[str, ir.Value] = dict(zip(self.argument_types, function.args, strict=True))
        values["step"], values["chunks"] = cut(builder, self.nest, values["length"], values["work"])
        values |= numbered("slots", (builder.alloca(each.type, MOST_CHUNKS) for each in self.nest.slots))
        failed = builder.alloca(I64)
        with builder.if_else(builder.icmp_signed("==", values["chunks"], ir.Constant(I64, 1))) as (alone, together):
            with alone:
                self.open_slots(emitter, values)
                outcome = self.call_chunk(builder, ir.Constant(I64, 0), values["length"], values)
                builder.store(builder.zext(outcome, I64), failed)
            with together:
                builder.store(self.run(emitter, values, task), failed)
        for position, partial in enumerate(self.nest.slots):
            result, output = self.merged(emitter, partial, values[f"slots{position}"], values["chunks"]), partial.output
            dtype = output.reducer.result_dtype(output.value.dtype)
            target = builder.bitcast(values[f"result{position}"], memory_type(dtype).as_pointer())
            emitter.store(result, target, dtype)
        builder.ret(builder.trunc(builder.load(failed), I32))
        return function

    def merged(self, emitter: Emitter, partial: Partial, slots: ir.Value, chunks: ir.Value) -> ir.Value:
        """The result of a reduction from the accumulators of all chunks, which stand one after the other."""
        builder = emitter.builder

        def state_of(number: ir.Value) -> State:
            return partial.load(emitter, builder.gep(slots, [number]))

        def join(number: ir.Value, *state: ir.Value) -> list[ir.Value]:
            following = partial.merge(emitter, state, state_of(number))
            return [builder.add(number, ir.Constant(I64, 1)), *following]

        start = [ir.Constant(I64, 1), *state_of(ir.Constant(I64, 0))]
        _, *state = emitter.repeat(start, lambda number, *_: builder.icmp_signed("<", number, chunks), join)
        return partial.result(emitter, tuple(state))

    def open_slots(self, emitter: Emitter, values: Values) -> None:
        for position, partial in enumerate(self.nest.slots):
            partial.reset(emitter, values[f"slots{position}"])

    def run(self, emitter: Emitter, values: dict[str, ir.Value], task: ir.Function) -> ir.Value:
        """Run the chunks, on several threads if there are several; return whether a check has failed, as a number."""
        builder = emitter.builder
        memory = self.allocate_copies(emitter, values) if self.nest.shared else None
        record = builder.alloca(self.record_type)
        fields = self.fields(builder, record)
        for key, field in fields.items():
            builder.store(values.get(key, ir.Constant(I64, 0)), field)
        run = emitter.function(f"{THREADS}run", ir.VoidType(), [POINTER, POINTER, I64], pure=False)
        builder.call(run, [*(builder.bitcast(each, POINTER) for each in (task, record)), values["chunks"]])
        if memory is not None:
            for position, output in enumerate(self.nest.shared):
                self.add_copies(emitter, position, output, values)
            builder.call(memory_function(emitter, "give"), [memory])
        return builder.load(fields["failed"])

    def allocate_copies(self, emitter: Emitter, values: dict[str, ir.Value]) -> ir.Value:
        """Memory for the buffers that chunks must not share."""
        builder, total, offsets = emitter.builder, ir.Constant(I64, 0), []
        for position in range(len(self.nest.shared)):
            offsets.append(total)
            total = builder.add(total, builder.mul(values[f"size{position}"], values["chunks"]))
        memory = builder.call(memory_function(emitter, "take"), [total])
        missing = builder.icmp_unsigned("==", builder.ptrtoint(memory, I64), ir.Constant(I64, 0))
        with builder.if_then(missing, likely=False):
            builder.ret(ir.Constant(I32, OUT_OF_MEMORY))
        values |= numbered("copies", (builder.gep(memory, [offset]) for offset in offsets))
        return memory

    def add_copies(self, emitter: Emitter, position: int, output: Reduction, values: Values) -> None:
        """Combine the copies of every chunk with the elements that were there, in the order of the chunks."""
        builder, buffer = emitter.builder, shared_buffer(output)
        target = elements(builder, values[self.argument_of(buffer)], buffer)

        def add_copy(number: ir.Value) -> None:
            copy = elements(builder, copy_of(builder, values, position, number), buffer)

            def add(index: ir.Value) -> None:
                pointer = builder.gep(target, [index])
                pair = [emitter.load(each, buffer.dtype) for each in (pointer, builder.gep(copy, [index]))]
                old, new = (Operand(each, buffer.dtype) for each in pair)
                emitter.store(output.reducer.combine(emitter, old, new), pointer, buffer.dtype)

            for_each(emitter, element_count(builder, values, position, buffer), add)

        for_each(emitter, values["chunks"], add_copy)

    def argument_of(self, buffer: Buffer) -> str:
        return f"argument{self.nest.owners.index(buffer.owner)}"

    # ---- the task ----

    def emit_task(self, name: str) -> ir.Function:
        """``void task(record)``."""
        task, emitter = self.new_function(name, ir.VoidType(), [POINTER])
        builder = emitter.builder
        fields = self.fields(builder, builder.bitcast(task.args[0], self.record_type.as_pointer()))
        values = {key: builder.load(each) for key, each in fields.items() if key not in ("next", "failed")}

        def claim() -> ir.Value:
            return builder.atomic_rmw("add", fields["next"], ir.Constant(I64, 1), "monotonic")

        def run(number: ir.Value) -> list[ir.Value]:
            failed = self.run_chunk(emitter, number, values)
            if self.nest.may_fail:
                builder.atomic_rmw("or", fields["failed"], builder.zext(failed, I64), "monotonic")
            return [claim()]

        emitter.repeat([claim()], lambda number: builder.icmp_signed("<", number, values["chunks"]), run)
        builder.ret_void()
        return task

    def run_chunk(self, emitter: Emitter, number: ir.Value, values: Values) -> ir.Value:
        """Run one chunk, with its own slots, and its own copies, which it fills first."""
        builder, own = emitter.builder, dict(values)
        begin = builder.mul(number, values["step"])
        end = smaller(builder, builder.add(begin, values["step"]), values["length"])
        for position in range(len(self.nest.slots)):
            own[f"slots{position}"] = builder.gep(values[f"slots{position}"], [number])
        self.open_slots(emitter, own)
        for position, output in enumerate(self.nest.shared):
            copy = copy_of(builder, values, position, number)
            own[self.argument_of(shared_buffer(output))] = copy
            self.fill(emitter, position, output, copy, values)
        return self.call_chunk(builder, begin, end, own)

    def fill(self, emitter: Emitter, position: int, output: Reduction, copy: ir.Value, values: Values) -> None:
        builder, buffer = emitter.builder, shared_buffer(output)
        first = elements(builder, copy, buffer)
        identity = emitter.constant(output.reducer.identity_of(buffer.dtype), buffer.dtype)
        count = element_count(builder, values, position, buffer)
        for_each(emitter, count, lambda index: emitter.store(identity, builder.gep(first, [index]), buffer.dtype))

    def call_chunk(self, builder: ir.IRBuilder, begin: ir.Value, end: ir.Value, values: Values) -> ir.Value:
        arguments = [each for key, each in values.items() if key.startswith("argument")]
        slots = [builder.bitcast(values[f"slots{position}"], POINTER) for position in range(len(self.nest.slots))]
        return builder.call(self.nest.function, [begin, end, *arguments, *slots])


def numbered(name: str, values: Iterable[Any]) -> dict[str, Any]:
    return {f"{name}{number}": each for number, each in enumerate(values)}


def shared_buffer(output: Reduction) -> Buffer:
    assert output.buffer is not None
    return output.buffer


def elements(builder: ir.IRBuilder, pointer: ir.Value, buffer: Buffer) -> ir.Value:
    return builder.bitcast(pointer, memory_type(buffer.dtype).as_pointer())


def copy_of(builder: ir.IRBuilder, values: Values, position: int, number: ir.Value) -> ir.Value:
    """The copy of a buffer that a chunk has."""
    return builder.gep(values[f"copies{position}"], [builder.mul(number, values[f"size{position}"])])


def element_count(builder: ir.IRBuilder, values: Values, position: int, buffer: Buffer) -> ir.Value:
    return builder.udiv(values[f"size{position}"], ir.Constant(I64, buffer.dtype.itemsize))


def for_each(emitter: Emitter, count: ir.Value, body: Callable[[ir.Value], None]) -> None:
    """``for index in range(count): body(index)``."""

    def step(index: ir.Value) -> list[ir.Value]:
        body(index)
        return [emitter.builder.add(index, ir.Constant(I64, 1))]

    emitter.repeat([ir.Constant(I64, 0)], lambda index: emitter.builder.icmp_signed("<", index, count), step)
