"""The external functions that loops call: one takes the record of a step that failed, one loads a loop with checks."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitter import I64, POINTER, Emitter
from numbagraph.ir.abi import FAILURES

RECORD = f"{FAILURES}record"
LOAD_CHECKED = "numbagraph.load_checked"
"""It is called with the name of a loop's program and its own, and with the slot for its address."""
RECORD_TYPE = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64, I64.as_pointer()])


def define_without_failures(module: ir.Module) -> None:
    """Give the function a body that does nothing, for code that other callers than Python run."""
    function = module.globals.get(RECORD)
    if isinstance(function, ir.Function) and function.is_declaration:
        function.linkage = "internal"
        Emitter(ir.IRBuilder(function.append_basic_block("entry"))).builder.ret_void()
