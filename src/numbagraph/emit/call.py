"""Calls of a compiled graph from other native code: its tables on the stack, then ``shapes``, then ``program``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

from numbagraph.emit.allocation import define_with_malloc
from numbagraph.emit.runtime_calls import define_without_failures
from numbagraph.emit.signals import define_without_signals
from numbagraph.intrinsics.emitters.emitter import I1, I32, I64, POINTER, PURE, Emitter, memory_type
from numbagraph.intrinsics.emitters.vecmath.library import define_all
from numbagraph.ir.abi import ArrayLeaf, NativeSignature
from numbagraph.ir.structs import Struct

EXTERNAL = "numbagraph."
"""The prefix of external symbols that numbagraph binds; all others are the process's own."""

THREADS = "numbagraph.threads."
"""The prefix of external symbols that are functions of the pool of threads."""

Address = Callable[[ir.IRBuilder, int], ir.Value]
"""``address(builder, number)``: a pointer into this process, as the caller's code may hold one."""


class LinkedVersion(Struct):
    """A compiled graph whose functions stand in the caller's module, and the arrays that it captured."""

    signature: NativeSignature
    shapes: ir.Function
    program: ir.Function
    captured: Sequence[np.ndarray]
    guards: int
    """The number of conditions that ``shapes`` checks."""


class ProgramCall:
    """Emits a call. Of two versions, the first is for arguments without a length of 1, the second for any lengths.

    With ``refuses_one`` the only version is like the first: ``prepare`` fails where a length is 1.
    """

    def __init__(
        self, builder: ir.IRBuilder, versions: Sequence[LinkedVersion], address: Address, *, refuses_one: bool = False
    ) -> None:
        self.builder = builder
        self.versions = versions
        self.address = address
        self.refuses_one = refuses_one
        self.signature = versions[0].signature
        self.ranks = [result.ndim for result in self.signature.results]
        self.data = self._table(POINTER, max(len(each.signature.leaves) for each in versions))
        self.meta = self._table(I64, max(each.signature.meta_offsets[-1] for each in versions))
        self.lengths = self._table(I64, sum(self.ranks) + 1)
        self.results = self._table(POINTER, len(self.ranks))
        self.any_one: ir.Value = ir.Constant(I1, 0)

    def _table(self, type_: ir.Type, count: int) -> ir.Value:
        """Allocate a table on the stack, in the entry block, so that a call inside a loop allocates it only once."""
        table = self._slot(ir.ArrayType(type_, max(count, 1)))
        zero = ir.Constant(I32, 0)
        return self.builder.gep(table, [zero, zero], inbounds=True)

    def _slot(self, type_: ir.Type) -> ir.Value:
        with self.builder.goto_entry_block():
            return self.builder.alloca(type_)

    def _entry(self, table: ir.Value, position: int) -> ir.Value:
        return self.builder.gep(table, [ir.Constant(I64, position)], inbounds=True)

    def _put(self, table: ir.Value, position: int, value: ir.Value) -> None:
        self.builder.store(value, self._entry(table, position))

    def scalar(self, leaf: int, value: ir.Value) -> None:
        """Pass a number that is in a register."""
        dtype = self.signature.leaves[leaf].dtype
        slot = self._slot(memory_type(dtype))
        Emitter(self.builder).store(value, slot, dtype)
        self._put(self.data, leaf, self.builder.bitcast(slot, POINTER))

    def array(self, leaf: int, pointer: ir.Value, extents: Sequence[ir.Value], strides: Sequence[ir.Value]) -> None:
        """Pass an array; ``strides`` (in bytes) are only needed if the leaf is strided."""
        layout = self.signature.leaves[leaf]
        assert isinstance(layout, ArrayLeaf)
        assert len(extents) == layout.ndim
        self._put(self.data, leaf, self.builder.bitcast(pointer, POINTER))
        offset = self.signature.meta_offsets[leaf]
        for position, number in enumerate([*extents, *(strides if layout.strided else ())]):
            self._put(self.meta, offset + position, number)
        for extent in extents:
            is_one = self.builder.icmp_signed("==", extent, ir.Constant(I64, 1))
            self.any_one = self.builder.or_(self.any_one, is_one)

    def prepare(self) -> ir.Value:
        """Check the guards and compute the lengths of the results. Return 0, or a number from 1 on that identifies the
        failed guard, counted through all versions."""
        code = self._of_version(self._shapes)
        if self.refuses_one:
            refused = ir.Constant(I32, 1 + self.versions[0].guards)
            code = self.builder.select(self.any_one, refused, code)
        return code

    def extents(self, result: int) -> list[ir.Value]:
        begin = sum(self.ranks[:result])
        return [self.builder.load(self._entry(self.lengths, begin + axis)) for axis in range(self.ranks[result])]

    def run(self, pointers: Sequence[ir.Value]) -> ir.Value:
        """Run the program with the results' memory; return its return code."""
        for position, pointer in enumerate(pointers):
            self._put(self.results, position, self.builder.bitcast(pointer, POINTER))
        return self._of_version(
            lambda version: self.builder.call(version.program, [self.data, self.meta, self.results])
        )

    def _of_version(self, emit: Callable[[LinkedVersion], ir.Value]) -> ir.Value:
        """Emit the code of each version, of which the one that fits the arguments runs, and return its value."""
        if len(self.versions) == 1:
            return emit(self.versions[0])
        general, usual = self.builder.append_basic_block("general"), self.builder.append_basic_block("usual")
        after = self.builder.append_basic_block("after")
        self.builder.cbranch(self.any_one, general, usual)
        incoming = []
        for block, version in zip((usual, general), self.versions, strict=True):
            self.builder.position_at_end(block)
            incoming.append((emit(version), self.builder.block))
            self.builder.branch(after)
        self.builder.position_at_end(after)
        code = self.builder.phi(I32)
        for value, block in incoming:
            code.add_incoming(value, block)
        return code

    def _shapes(self, version: LinkedVersion) -> ir.Value:
        self._pass_captured(version)
        code = self.builder.call(version.shapes, [self.data, self.meta, self.lengths])
        if version is self.versions[0]:
            return code
        failed = self.builder.icmp_signed("!=", code, ir.Constant(I32, 0))
        return self.builder.select(failed, self.builder.add(code, ir.Constant(I32, self.versions[0].guards)), code)

    def _pass_captured(self, version: LinkedVersion) -> None:
        signature = version.signature
        first = len(signature.arguments)
        for leaf, (layout, array) in enumerate(zip(signature.captured, version.captured, strict=True), first):
            self._put(self.data, leaf, self.address(self.builder, array.ctypes.data))
            for position, number in enumerate(array.shape + array.strides if layout.strided else array.shape):
                self._put(self.meta, signature.meta_offsets[leaf] + position, ir.Constant(I64, number))


def external_functions(module: ir.Module) -> dict[str, ir.Function]:
    """The external symbols of a module that numbagraph binds."""
    return {each.name: each for each in module.functions if each.is_declaration and each.name.startswith(EXTERNAL)}


def bind_externals(module: ir.Module, symbols: Callable[[list[str]], dict[str, int]], address: Address) -> None:
    """Give every external symbol that numbagraph binds a body, which calls the function at its address in this process.

    Mathematical functions bring their code with them: the caller's code can be kept on disk then.
    """
    define_all(module)
    define_with_malloc(module)
    define_without_signals(module)
    define_without_failures(module)
    missing = external_functions(module)
    for name, number in symbols(list(missing)).items():
        function = missing[name]
        function.linkage = "internal"
        for attribute in PURE:
            set.discard(function.attributes, attribute)  # it reads where to go from memory
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        target = builder.bitcast(address(builder, number), function.function_type.as_pointer())
        result = builder.call(target, function.args)
        builder.ret_void() if isinstance(result.type, ir.VoidType) else builder.ret(result)
