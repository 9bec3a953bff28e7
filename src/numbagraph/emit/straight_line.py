"""Straight-line code of a function that has the arguments of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from llvmlite import ir

from numbagraph.emit.aliases import scope
from numbagraph.emit.allocation import ALIGNMENT, memory_function
from numbagraph.emit.scalars import ChainedPlacement, ScalarEmitter
from numbagraph.intrinsics.emitters.emitter import I8, I32, I64, POINTER, Emitter, Label, memory_type
from numbagraph.intrinsics.emitters.ir import Buffer, LeafStride, Register, Scalar
from numbagraph.ir.abi import OUT_OF_MEMORY, NativeSignature
from numbagraph.ir.structs import cached_property
from numbagraph.ir.values import Dim, Input, Value

CHECK_FAILED = 1
RESULTS = 2
"""The place of the results among the arguments of a function."""
BETWEEN = 2**25
"""The work between two polls for signals, in elements: some 10 ms. A poll takes 50 ns, and the GIL, which others may
have for 5 ms."""


class StraightLine:
    """Scalars outside of any loop, in one function's straight-line code.

    Knows where the arguments are: lengths and strides in ``meta``, scalars behind ``data``.
    """

    def __init__(
        self,
        function: ir.Function,
        signature: NativeSignature,
        leaves: Sequence[Input],
        carried: Iterable[Input] = (),
    ) -> None:
        """``carried``: in a step of a loop, the leaves that are numbers which it carries, or follow from these."""
        self.function = function
        self.signature = signature
        self.leaves = leaves
        self.code = Emitter(ir.IRBuilder(function.append_basic_block("entry")))
        self.placement = ChainedPlacement(self.code, carried)
        self.scalars = ScalarEmitter(self, self.placement)
        self.taken: list[ir.Value] = []
        """Memory that is given back wherever the function returns; for memory that grows, the stack slot of its
        address."""
        self.buffers: dict[Buffer, ir.Value] = {}
        self.registers: dict[object, ir.Value] = {}
        self.lasting: frozenset[int] = frozenset(range(len(leaves)))
        """The leaves whose memory belongs to the caller of the program."""
        self.work_left: ir.Value | None = None
        self.when_used: dict[object, Scalar] = {}
        """The scalars that are computed only if they are used."""
        self.positions: dict[Dim, tuple[int, int]] = {}
        self.rank0 = {leaf: position for position, leaf in enumerate(leaves) if leaf.ndim == 0}
        for position, leaf in enumerate(leaves):
            for axis, extent in enumerate(leaf.shape):
                if isinstance(extent, Dim):
                    self.positions.setdefault(extent, (position, axis))
                    if isinstance(extent.representative, Dim):
                        self.positions.setdefault(extent.representative, (position, axis))

    @property
    def patience(self) -> ir.Value:
        """The counter of the work that is left until the next poll for signals; a region gets it as an argument."""
        if self.work_left is None:
            builder = self.code.builder
            with builder.goto_entry_block():
                self.work_left = builder.alloca(I64)
                builder.store(ir.Constant(I64, BETWEEN), self.work_left)
        return self.work_left

    def check(self, emitter: Emitter, failed: ir.Value) -> None:
        self.leave_if(failed, ir.Constant(I32, CHECK_FAILED))

    def position(self, emitter: Emitter, index: ir.Value, extent: ir.Value, signed: bool) -> ir.Value:
        """Compute a position with branches: an index that counts from the end is rare, and no address waits for the
        test."""
        builder = emitter.builder
        if not signed:
            self.check(emitter, builder.icmp_unsigned(">=", index, extent))
            return index
        blocks = ("elsewhere", "from_end", "stop", "position")
        elsewhere, from_end, stop, go_on = (self.function.append_basic_block(each) for each in blocks)
        before = builder.block
        builder.cbranch(builder.icmp_unsigned("<", index, extent), go_on, elsewhere).set_weights([99, 1])
        builder.position_at_end(elsewhere)
        builder.cbranch(builder.icmp_signed("<", index, ir.Constant(I64, 0)), from_end, stop)
        builder.position_at_end(from_end)
        wrapped = builder.add(index, extent)
        builder.cbranch(builder.icmp_unsigned("<", wrapped, extent), go_on, stop)
        builder.position_at_end(stop)
        self.leave(ir.Constant(I32, CHECK_FAILED))
        builder.position_at_end(go_on)
        position = builder.phi(I64)
        position.add_incoming(index, before)
        position.add_incoming(wrapped, from_end)
        return position

    def leave_if(self, failed: ir.Value, code: ir.Value, first: Callable[[], None] | None = None) -> None:
        """Return ``code`` from the function when ``failed``, after what ``first`` emits."""
        builder = self.code.builder
        stop, go_on = self.function.append_basic_block("stop"), self.function.append_basic_block("go_on")
        builder.cbranch(failed, stop, go_on)
        builder.position_at_end(stop)
        if first is not None:
            first()
        self.leave(code)
        builder.position_at_end(go_on)

    def leave(self, code: ir.Value) -> None:
        """Return ``code`` from the function; a function that returns a size of memory returns -1 for all failures."""
        for memory in self.taken:
            self.code.builder.call(memory_function(self.code, "give"), [self.address_of(memory)])
        self.code.builder.ret(code if self.function.ftype.return_type == code.type else ir.Constant(I64, -1))

    def address_of(self, memory: ir.Value) -> ir.Value:
        return memory if memory.type == POINTER else self.code.builder.load(memory)

    def take(self, size: ir.Value) -> ir.Value:
        """Take memory, until it is given back."""
        memory = self.new_memory(size)
        self.taken.append(memory)
        return memory

    def new_memory(self, size: ir.Value) -> ir.Value:
        memory = self.code.builder.call(memory_function(self.code, "take"), [size])
        missing = self.code.builder.icmp_unsigned("==", self.code.builder.ptrtoint(memory, I64), ir.Constant(I64, 0))
        self.leave_if(missing, ir.Constant(I32, OUT_OF_MEMORY))
        return memory

    def give(self, memory: ir.Value) -> None:
        """Give memory back before the function returns."""
        self.code.builder.call(memory_function(self.code, "give"), [self.address_of(memory)])
        self.taken.remove(memory)

    def scalar(self, scalar: Scalar) -> ir.Value:
        return self.scalars.value(scalar)

    def define(self, value: Value, scalar: Scalar) -> None:
        """Compute a value of the graph, which is a register from then on."""
        self.registers[value] = self.scalar(scalar)
        if self.placement.is_chained(scalar):
            self.placement.carried.add(value)

    def external(self, scalar: Scalar) -> ir.Value:
        if isinstance(scalar, LeafStride):
            return self.meta(scalar.leaf, len(self.leaves[scalar.leaf].shape) + scalar.axis)
        assert isinstance(scalar, Register)
        value = scalar.value
        if value not in self.registers:
            known = self.when_used.get(value)
            self.registers[value] = self._argument(value) if known is None else self.scalar(known)
        return self.registers[value]

    def _argument(self, value: object) -> ir.Value:
        if isinstance(value, Dim):
            representative = value.representative
            if isinstance(representative, int):
                return ir.Constant(I64, representative)
            assert isinstance(representative, Dim)
            return self.meta(*self.positions[representative])
        assert isinstance(value, Input), f"{value!r} was not computed before its use"
        position = self.rank0[value]
        pointer = self.pointer(self.function.args[0], position)
        typed = self.code.builder.bitcast(pointer, memory_type(value.dtype).as_pointer())
        return self.code.load(typed, value.dtype)

    def meta(self, leaf: int, entry: int) -> ir.Value:
        builder, offset = self.code.builder, self.signature.meta_offsets[leaf] + entry
        return builder.load(builder.gep(self.function.args[1], [ir.Constant(I64, offset)], inbounds=True))

    def pointer(self, table: ir.Value, position: int) -> ir.Value:
        builder = self.code.builder
        return builder.load(builder.gep(table, [ir.Constant(I64, position)], inbounds=True))

    def base(self, buffer: Buffer) -> ir.Value:
        owner = buffer.owner
        if owner.result is not None and buffer.leaf is not None and not self.has_results:
            return self._locate(buffer)
        if owner not in self.buffers:
            self.buffers[owner] = self._locate(owner)
        return self.buffers[owner]

    @property
    def has_results(self) -> bool:
        """Whether the function gets the addresses of its results. One that computes a size of memory does not: an
        argument in the memory of a result is then read where arguments are."""
        return len(self.function.args) > RESULTS

    @cached_property
    def scope(self) -> ir.MDValue:
        """The alias scope of this function. Its writes and its calls belong to it, and its loads from arrays that it
        only reads do not alias with it."""
        return scope(self.function)

    def label(self, buffer: Buffer) -> Label:
        return ("noalias" if buffer.owner.leaf in self.lasting else "alias.scope"), self.scope

    def call(self, function: ir.Value, arguments: Sequence[ir.Value]) -> ir.Value:
        """Call a function of the program."""
        result = self.code.builder.call(function, arguments)
        result.set_metadata("alias.scope", self.scope)
        return result

    def compute(self, buffers: Iterable[Buffer], scalars: Iterable[Scalar]) -> None:
        """Compute the addresses of buffers and the values of scalars here, so that several blocks can use them."""
        for buffer in buffers:
            self.base(buffer)
        for scalar in scalars:
            self.scalar(scalar)

    def _locate(self, buffer: Buffer) -> ir.Value:
        if buffer.leaf is not None:
            return self.pointer(self.function.args[0], buffer.leaf)
        if buffer.result is not None:
            return self.pointer(self.function.args[2], buffer.result)
        assert buffer.literal is not None, f"{buffer.name} has no memory"
        return self._literal(buffer)

    def _literal(self, buffer: Buffer) -> ir.Value:
        """A small constant array, as data of the module."""
        assert buffer.literal is not None
        content = bytearray(buffer.literal.tobytes())
        type_ = ir.ArrayType(I8, len(content))
        variable = ir.GlobalVariable(
            self.function.module, type_, self.function.module.get_unique_name(f"{self.function.name}.literal")
        )
        variable.linkage, variable.global_constant, variable.align = "internal", True, ALIGNMENT
        variable.initializer = ir.Constant(type_, content)
        return self.code.builder.bitcast(variable, POINTER)
