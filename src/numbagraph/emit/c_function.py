"""A graph as a function of C, which takes numbers by value, arrays by address, and writes its results to memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from llvmlite import ir

from numbagraph.emit.call import ProgramCall
from numbagraph.intrinsics.emitters.emitter import I32, I64, POINTER, Emitter, memory_type
from numbagraph.ir.abi import OUT_OF_MEMORY, ArrayLeaf, Leaf
from numbagraph.ir.types import BOOL, real_dtype

REFUSED, CHECK_FAILED = 1, 2
"""The return codes of the function where its arguments do not fit each other, and where an index was out of bounds."""


def argument_types(leaf: Leaf) -> list[ir.Type]:
    """The C types of an argument. A complex number is two reals: how C passes it by value depends on the platform."""
    if isinstance(leaf, ArrayLeaf) and leaf.ndim:
        return [POINTER, *[I64] * leaf.ndim]
    part = memory_type(real_dtype(leaf.dtype))
    return [part, part] if leaf.dtype.kind == "c" else [part]


def emit_c_function(
    module: ir.Module, name: str, leaves: tuple[Leaf, ...], results: int, begin: Callable[[ir.IRBuilder], ProgramCall]
) -> None:
    """Emit ``int32 name(arguments..., results...)``; ``begin`` returns the call that it makes."""
    types = [each for leaf in leaves for each in argument_types(leaf)] + [POINTER] * results
    function = ir.Function(module, ir.FunctionType(I32, types), name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    call, arguments = begin(builder), iter(function.args)
    for position, leaf in enumerate(leaves):
        if isinstance(leaf, ArrayLeaf) and leaf.ndim:
            call.array(position, next(arguments), [next(arguments) for _ in range(leaf.ndim)], ())
        else:
            call.scalar(position, number(Emitter(builder), leaf, arguments))
    with builder.if_then(builder.icmp_signed("!=", call.prepare(), ir.Constant(I32, 0)), likely=False):
        builder.ret(ir.Constant(I32, REFUSED))
    code = call.run(list(arguments))
    out_of_memory = builder.icmp_signed("==", code, ir.Constant(I32, OUT_OF_MEMORY))
    failed = builder.select(out_of_memory, code, ir.Constant(I32, CHECK_FAILED))
    builder.ret(builder.select(builder.icmp_signed("==", code, ir.Constant(I32, 0)), code, failed))


def fixed_address(builder: ir.IRBuilder, number: int) -> ir.Value:
    """An address, in code that never leaves this process."""
    return ir.Constant(I64, number).inttoptr(POINTER)


def number(emitter: Emitter, leaf: Leaf, arguments: Iterator[ir.Value]) -> ir.Value:
    """A number in its register format."""
    value = next(arguments)
    if leaf.dtype.kind == "c":
        return emitter.pair(value, next(arguments))
    return emitter.builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0)) if leaf.dtype == BOOL else value
