"""Calls of mathematical functions that are compiled once per machine, one element or one vector at a time.

LLVM's loop vectoriser replaces calls of the former by calls of the latter: an attribute says which belong together.
"""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import POINTER, PURE, Emitter, Operand, llvm_type
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.intrinsics.emitters.target import current_target

MATH = "numbagraph.math."
"""The prefix of external symbols that are functions of the library: ``numbagraph.math.exp.float64``."""

VECTOR = ".vector"
"""The suffix of the symbol of a vector function."""


def library_call(name: str) -> Emit:
    """Return the emitter of a call of a mathematical function's compiled formula."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        values = [each.value for each in operands]
        symbol = f"{MATH}{name}.{operands[0].dtype.name}"
        function = emitter.function(symbol, values[0].type, [each.type for each in values])
        if emitter.inlining is not None:
            declare_vector(function, operands[0])
        return emitter.builder.call(function, values)

    return emit


def lanes(itemsize: int) -> int:
    """Return the number of elements that the vector functions of the current target take; 0 where it has none."""
    return (current_target().vector_bytes or 0) // itemsize


def declare_vector(function: ir.Function, operand: Operand) -> None:
    """Declare the vector function that belongs to ``function``, and attach it for LLVM."""
    module, width, name = function.module, lanes(operand.dtype.itemsize), f"{function.name}{VECTOR}"
    if not width or name in module.globals:
        return
    type_ = ir.VectorType(llvm_type(operand.dtype), width)
    vector = ir.Function(module, ir.FunctionType(type_, [type_] * len(function.args)), name)
    for attribute in PURE:
        set.add(vector.attributes, attribute)
    kinds = "v" * len(function.args)
    mapping = f'"vector-function-abi-variant"="_ZGV_LLVM_N{width}{kinds}_{function.name}({name})"'
    set.add(function.attributes, mapping)
    keep(module, vector)


def keep(module: ir.Module, function: ir.Function) -> None:
    """Keep a declaration that no code uses yet."""
    name = "llvm.compiler.used"
    found = module.globals.get(name)
    before = found.initializer if isinstance(found, ir.GlobalVariable) else None
    kept = [*(before.constant if before is not None else ()), function.bitcast(POINTER)]
    type_ = ir.ArrayType(POINTER, len(kept))
    if not isinstance(found, ir.GlobalVariable):
        found = ir.GlobalVariable(module, type_, name)
        found.linkage, found.section = "appending", "llvm.metadata"
    found.value_type, found.type = type_, type_.as_pointer()
    found.initializer = ir.Constant(type_, kept)
