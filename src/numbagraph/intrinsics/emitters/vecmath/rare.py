"""Arguments that are too rare for vector code to handle: a library's function takes them one by one."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I32, Emitter, Operand
from numbagraph.intrinsics.emitters.formula import Number
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.intrinsics.emitters.target import current_target

SHORTEST_VECTOR = 16
"""The number of bytes of the vectors of a processor whose vectors may be longer; loops with calls then have short
ones."""


def by_call(name: str, function: Emit) -> Emit:
    """Return ``function`` as one of the module that is not inlined: LLVM's vectoriser replaces calls alone."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        call = emitter.define(name, function, *operands)
        assert isinstance(call, ir.CallInstr)
        assert isinstance(call.callee, ir.Function)
        set.add(call.callee.attributes, "noinline")
        return call

    return emit


def only_where(rare: Number, function: Emit, x: Number, *others: Number) -> Number:
    """Return ``function(x, *others)`` where ``rare`` holds, which it does for no x that is zero. Call it first, since a
    call leaves nothing in the vector registers.

    It is a call of the library's function, with zero for what is not rare, and ones behind it. LLVM's vectoriser finds
    that there is a version of it for vectors, which does nothing for a vector of zeros. That adds a fifth to the time
    of a sine; to reduce all arguments exactly, without a branch, would more than double it.
    """
    emitter = x.emitter
    size = current_target().vector_bytes or SHORTEST_VECTOR
    numbers = [rare.where(x, 0.0), *(rare.where(each, 1.0) for each in others)]
    call = function(emitter, *(each.operand for each in numbers))
    assert isinstance(call, ir.CallInstr)
    callee, lanes = call.callee, size // x.dtype.itemsize
    assert isinstance(callee, ir.Function)
    version = _vector_version(emitter, callee, lanes)
    mapping = f"_ZGV_LLVM_N{lanes}{'v' * len(numbers)}_{callee.name}({version.name})"
    set.add(call.attributes, f'"vector-function-abi-variant"="{mapping}"')
    # What outlives the call goes to the stack, and there vectors across two cache lines take four times as long.
    set.add(emitter.builder.function.attributes, f"alignstack({size})")
    return Number(emitter, call, x.dtype)


def _vector_version(emitter: Emitter, function: ir.Function, lanes: int) -> ir.Function:
    """Define ``function`` for vectors: on each number of a vector, or of several, unless all of the first are zero. The
    result for zeros is zero."""
    module, type_ = emitter.module, ir.VectorType(function.args[0].type, lanes)
    name = f"{function.name}.rare{lanes}"
    version = module.globals.get(name)
    if isinstance(version, ir.Function):
        return version
    version = ir.Function(module, ir.FunctionType(type_, [type_] * len(function.args)), name)
    version.linkage = "weak_odr"  # nothing refers to it until loops are vectorised, and so long it must stay
    for attribute in ("noinline", "optnone", "nounwind"):
        set.add(version.attributes, attribute)
    x, zero = version.args[0], ir.Constant(type_, [ir.Constant(type_.element, 0.0)] * lanes)
    emitter = Emitter(ir.IRBuilder(version.append_basic_block("entry")))
    builder = emitter.builder

    def goes_on(lane: ir.Value, _: ir.Value) -> ir.Value:
        return builder.icmp_unsigned("<", lane, ir.Constant(I32, lanes))

    def step(lane: ir.Value, result: ir.Value) -> list[ir.Value]:
        value = builder.call(function, [builder.extract_element(each, lane) for each in version.args])
        return [builder.add(lane, ir.Constant(I32, 1)), builder.insert_element(result, value, lane)]

    is_rare = builder.bitcast(builder.fcmp_unordered("!=", x, zero), ir.IntType(lanes))
    with builder.if_then(builder.icmp_unsigned("!=", is_rare, ir.Constant(is_rare.type, 0)), likely=False):
        builder.ret(emitter.repeat([ir.Constant(I32, 0), x], goes_on, step)[1])
    builder.ret(x)
    return version
