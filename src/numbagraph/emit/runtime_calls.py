"""The external functions that loops call: one records a step that failed, one loads a loop with checks."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I8, I64, POINTER, Emitter, memory_type
from numbagraph.ir.abi import FAILURES
from numbagraph.ir.values import Input

RECORD = f"{FAILURES}record"
LOAD_CHECKED = "numbagraph.load_checked"
"""The function that loads a loop with checks. It takes the name of the loop's program, the loop's own name, and the
slot for its address."""
RECORD_TYPE = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64, I64.as_pointer()])


def record_function(
    module: ir.Module, name: str, leaves: Sequence[tuple[Input, bool]], types: Sequence[ir.Type]
) -> ir.Function:
    """A function that records a failed step of the region ``name``. It takes the number of the step and, for each leaf,
    the number itself, or its address and lengths. The flag of a leaf says whether the caller has its memory.

    It runs once, and LLVM need not look at it. For each leaf there are its address, its size in bytes, whether the
    caller has the memory, and its lengths, behind how many there are.
    """
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), module.get_unique_name(f"{name}.record"))
    function.linkage = "internal"
    for attribute in ("cold", "noinline", "optnone"):
        function.attributes.add(attribute)
    code = Emitter(ir.IRBuilder(function.append_basic_block("entry")))
    builder, (step, *given) = code.builder, function.args
    numbers: list[ir.Value] = []
    for leaf, is_lasting in leaves:
        address, size = given.pop(0), ir.Constant(I64, leaf.dtype.itemsize)
        lengths = [given.pop(0) for _ in range(leaf.ndim)]
        if not leaf.ndim:
            number, address = address, builder.alloca(memory_type(leaf.dtype))
            code.store(number, address, leaf.dtype)
        for length in lengths:
            size = builder.mul(size, length)
        fixed = (ir.Constant(I64, each) for each in (int(is_lasting), leaf.ndim))
        numbers += [builder.ptrtoint(address, I64), size, *fixed, *lengths]
    entries = builder.bitcast(builder.alloca(ir.ArrayType(I64, max(len(numbers), 1))), I64.as_pointer())
    for place, number in enumerate(numbers):
        builder.store(number, builder.gep(entries, [ir.Constant(I64, place)], inbounds=True))
    external = code.function(RECORD, RECORD_TYPE.return_type, list(RECORD_TYPE.args), pure=False)
    builder.call(external, [text(module, name), step, ir.Constant(I64, len(numbers)), entries])
    builder.ret_void()
    return function


def text(module: ir.Module, content: str) -> ir.Value:
    """A text, as C has it, as data of the module."""
    data = bytearray(content.encode() + b"\0")
    name = f"{content}.name"
    variable = module.globals.get(name)
    if variable is None:
        type_ = ir.ArrayType(I8, len(data))
        variable = ir.GlobalVariable(module, type_, name)
        variable.linkage, variable.global_constant = "internal", True
        variable.initializer = ir.Constant(type_, data)
    return variable.bitcast(POINTER)


def define_without_failures(module: ir.Module) -> None:
    """Give the function a body that does nothing, for code that other callers than Python run."""
    function = module.globals.get(RECORD)
    if isinstance(function, ir.Function) and function.is_declaration:
        function.linkage = "internal"
        Emitter(ir.IRBuilder(function.append_basic_block("entry"))).builder.ret_void()
