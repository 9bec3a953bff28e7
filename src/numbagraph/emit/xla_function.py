"""A graph as a function that XLA calls on the CPU: a handler of its foreign function interface.

The structs are those of ``xla/ffi/api/c_api.h`` (OpenXLA), whose layout stays within one major version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from numbagraph.emit.call import ProgramCall
from numbagraph.intrinsics.emitters.emitter import I32, I64, POINTER, Emitter, memory_type
from numbagraph.ir.abi import OUT_OF_MEMORY, ArrayLeaf, Leaf
from numbagraph.ir.structs import Struct

EXTENSION, API, STAGE, ARGUMENTS, RESULTS = 8, 16, 32, 72, 112
"""The offsets of fields of ``XLA_FFI_CallFrame``, in bytes: the last two are tables of addresses of buffers."""
EXTENSION_TYPE, METADATA = 8, 24
MAJOR, MINOR, TRAITS = 24, 28, 32
"""The offsets of fields of ``XLA_FFI_Metadata``: the version begins at 8, and has a size and an address before its
numbers."""
CREATE_ERROR = 48
DATA = 24
EXECUTE, IS_METADATA = 3, 1
INVALID_ARGUMENT, RESOURCE_EXHAUSTED = 3, 8


class Texts(Struct):
    """The texts of errors."""

    refused: tuple[str, ...]
    """The texts of failed guards, by the number that `ProgramCall.prepare` returns, from 1 on."""
    failed: str
    out_of_memory: str


class Handler:
    """Emits ``XLA_FFI_Error* name(XLA_FFI_CallFrame*)``, in parts."""

    def __init__(self, module: ir.Module, name: str) -> None:
        self.module = module
        function = ir.Function(module, ir.FunctionType(POINTER, [POINTER]), name)
        self.frame = function.args[0]
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.null = ir.Constant(POINTER, None)

    def field(self, base: ir.Value, offset: int, type_: ir.Type) -> ir.Value:
        """The address of a struct's field at an offset."""
        place = self.builder.gep(base, [ir.Constant(I64, offset)])
        return self.builder.bitcast(place, type_.as_pointer())

    def read(self, base: ir.Value, offset: int, type_: ir.Type = POINTER) -> ir.Value:
        return self.builder.load(self.field(base, offset, type_))

    def buffer(self, table: ir.Value, position: int) -> ir.Value:
        """The address of the elements of an argument or a result."""
        return self.read(self.read(table, 8 * position), DATA)

    def answer_metadata(self, version: tuple[int, int]) -> None:
        """Answer XLA's query, which it sends to a new handler, for the version of the interface that the handler was
        made for."""
        builder, extension = self.builder, self.read(self.frame, EXTENSION)
        with builder.if_then(builder.icmp_unsigned("!=", extension, self.null), likely=False):
            asked = builder.icmp_signed("==", self.read(extension, EXTENSION_TYPE, I32), ir.Constant(I32, IS_METADATA))
            with builder.if_then(asked):
                metadata = self.read(extension, METADATA)
                for offset, number in zip((MAJOR, MINOR, TRAITS), (*version, 0), strict=True):
                    builder.store(ir.Constant(I32, number), self.field(metadata, offset, I32))
                builder.ret(self.null)
        executes = builder.icmp_signed("==", self.read(self.frame, STAGE, I32), ir.Constant(I32, EXECUTE))
        with builder.if_then(builder.not_(executes), likely=False):
            builder.ret(self.null)

    def text(self, text: str) -> ir.Value:
        content = bytearray(text.encode() + b"\0")
        kind = ir.ArrayType(ir.IntType(8), len(content))
        found = ir.GlobalVariable(self.module, kind, self.module.get_unique_name("text"))
        found.initializer, found.global_constant, found.linkage = ir.Constant(kind, content), True, "private"
        return self.builder.bitcast(found, POINTER)

    def fail(self, text: ir.Value, code: int) -> None:
        """Return an error with a text."""
        builder = self.builder
        with builder.goto_entry_block():
            given = builder.bitcast(builder.alloca(ir.ArrayType(I64, 4)), POINTER)
        fields = {0: ir.Constant(I64, 32), 8: self.null, 16: text, 24: ir.Constant(I32, code)}
        for offset, value in fields.items():
            builder.store(value, self.field(given, offset, value.type))
        create = self.read(self.read(self.frame, API), CREATE_ERROR, ir.FunctionType(POINTER, [POINTER]).as_pointer())
        builder.ret(builder.call(create, [given]))

    def fail_if(self, condition: ir.Value, text: str, code: int) -> None:
        with self.builder.if_then(condition, likely=False):
            self.fail(self.text(text), code)


def emit_xla_function(
    module: ir.Module,
    name: str,
    leaves: Sequence[Leaf],
    shapes: Sequence[tuple[int, ...]],
    results: Sequence[tuple[int, ...]],
    version: tuple[int, int],
    texts: Texts,
    begin: Callable[[ir.IRBuilder], ProgramCall],
) -> None:
    """Emit the handler for arguments and results of these shapes, as XLA knows them too; ``begin`` gives the call."""
    handler = Handler(module, name)
    handler.answer_metadata(version)
    builder = handler.builder
    call = begin(builder)
    arguments = handler.read(handler.frame, ARGUMENTS)
    for position, (leaf, shape) in enumerate(zip(leaves, shapes, strict=True)):
        data = handler.buffer(arguments, position)
        if isinstance(leaf, ArrayLeaf) and leaf.ndim:
            call.array(position, data, [ir.Constant(I64, extent) for extent in shape], ())
        else:
            pointer = builder.bitcast(data, memory_type(leaf.dtype).as_pointer())
            call.scalar(position, Emitter(builder).load(pointer, leaf.dtype))
    refused = call.prepare()
    for number, text in enumerate(texts.refused, 1):
        handler.fail_if(builder.icmp_signed("==", refused, ir.Constant(I32, number)), text, INVALID_ARGUMENT)
    for position, shape in enumerate(results):
        for extent, wanted in zip(call.extents(position), shape, strict=True):
            differs = builder.icmp_signed("!=", extent, ir.Constant(I64, wanted))
            handler.fail_if(differs, texts.failed, INVALID_ARGUMENT)
    given = handler.read(handler.frame, RESULTS)
    code = call.run([handler.buffer(given, position) for position in range(len(results))])
    is_memory = builder.icmp_signed("==", code, ir.Constant(I32, OUT_OF_MEMORY))
    handler.fail_if(is_memory, texts.out_of_memory, RESOURCE_EXHAUSTED)
    handler.fail_if(builder.icmp_signed("!=", code, ir.Constant(I32, 0)), texts.failed, INVALID_ARGUMENT)
    builder.ret(handler.null)
