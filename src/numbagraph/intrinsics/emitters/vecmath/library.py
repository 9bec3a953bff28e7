"""The functions that `library_call` calls: the formulas, each compiled for one element and for one vector."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from numbagraph.forking import import_module, importing
from numbagraph.intrinsics.emitters.emitter import I64, Emitter, Inlining, Operand, llvm_type, loop_hints
from numbagraph.intrinsics.emitters.vecmath.calls import MATH, VECTOR, lanes
from numbagraph.intrinsics.emitters.vecmath.declare import MathFunction, functions

WHOLE = 2**31
"""A number of functions that no formula reaches: there is room for all inline."""


def parse(symbol: str) -> tuple[MathFunction, np.dtype]:
    """Return the function and the dtype that a symbol of the library names."""
    name, dtype = symbol.removeprefix(MATH).removesuffix(VECTOR).rsplit(".", 1)
    if name not in functions:
        with importing:
            import_module("numbagraph.intrinsics.emitters.vecmath.deferred")
    return functions[name], np.dtype(dtype)


def define(module: ir.Module, symbol: str) -> ir.Function:
    """Define a symbol of the library, which may be declared already."""
    function, dtype = parse(symbol)
    element = llvm_type(dtype)
    type_ = ir.VectorType(element, lanes(dtype.itemsize)) if symbol.endswith(VECTOR) else element
    target = module.globals.get(symbol)
    if target is None:
        target = ir.Function(module, ir.FunctionType(type_, [type_] * function.arity), symbol)
    assert isinstance(target, ir.Function)
    builder = ir.IRBuilder(target.append_basic_block("entry"))
    if isinstance(type_, ir.VectorType):
        builder.ret(each_lane(builder, function, dtype, target.args))
    else:
        operands = [Operand(each, dtype) for each in target.args]
        builder.ret(function.inlined(Emitter(builder, Inlining(WHOLE)), *operands))
    return target


def define_all(module: ir.Module) -> None:
    """Define all functions of the library that a module declares."""
    for name, declared in list(module.globals.items()):
        if name.startswith(MATH) and isinstance(declared, ir.Function) and declared.is_declaration:
            define(module, name).linkage = "internal"


def each_lane(
    builder: ir.IRBuilder, function: MathFunction, dtype: np.dtype, vectors: tuple[ir.Value, ...]
) -> ir.Value:
    """Emit a loop over the lanes, which LLVM makes into straight code: the formulas are written for one element."""
    width, element = lanes(dtype.itemsize), llvm_type(dtype)
    slots = [builder.alloca(each.type) for each in (*vectors, vectors[0])]
    for slot, each in zip(slots, vectors, strict=False):
        builder.store(each, slot)
    body, after = builder.append_basic_block("lane"), builder.append_basic_block("after")
    before = builder.block
    builder.branch(body)
    builder.position_at_end(body)
    lane = builder.phi(I64)
    pointers = [builder.gep(builder.bitcast(each, element.as_pointer()), [lane]) for each in slots]
    operands = [Operand(builder.load(each), dtype) for each in pointers[:-1]]
    builder.store(function.inlined(Emitter(builder, Inlining(WHOLE)), *operands), pointers[-1])
    following = builder.add(lane, ir.Constant(I64, 1))
    lane.add_incoming(ir.Constant(I64, 0), before)
    lane.add_incoming(following, builder.block)
    branch = builder.cbranch(builder.icmp_unsigned("<", following, ir.Constant(I64, width)), body, after)
    branch.set_metadata("llvm.loop", loop_hints(builder.module, vectorize_width=width, interleave_count=1))
    builder.position_at_end(after)
    return builder.load(slots[-1])
