"""Memory that a program takes while it runs: from a pool, or where that has no address, from C's allocator."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I64, POINTER, Emitter

MEMORY = "numbagraph.memory."
"""The prefix of external symbols that are functions of the pool of memory."""

ALIGNMENT = 64

_TYPES = {"take": ir.FunctionType(POINTER, [I64]), "give": ir.FunctionType(ir.VoidType(), [POINTER])}


def memory_function(emitter: Emitter, name: str) -> ir.Function:
    """Declare a function of the pool: ``take(size)`` returns aligned memory, or null; ``give(pointer)`` returns it to
    the pool."""
    type_ = _TYPES[name]
    return emitter.function(f"{MEMORY}{name}", type_.return_type, list(type_.args), pure=False)


def define_with_malloc(module: ir.Module) -> None:
    """Define the pool's functions that a module declares by malloc and free, for code that must not hold addresses."""
    for name, define in (("take", _define_take), ("give", _define_give)):
        function = module.globals.get(f"{MEMORY}{name}")
        if isinstance(function, ir.Function) and function.is_declaration:
            function.linkage = "internal"
            define(Emitter(ir.IRBuilder(function.append_basic_block("entry"))), *function.args)


def _define_take(emitter: Emitter, size: ir.Value) -> None:
    """Emit the body of ``take``. The pointer that malloc returned is kept right before the memory that is handed
    out."""
    builder = emitter.builder
    room = builder.add(size, ir.Constant(I64, 2 * ALIGNMENT))
    block = builder.call(emitter.function("malloc", POINTER, [I64], pure=False), [room])
    address = builder.ptrtoint(block, I64)
    with builder.if_then(builder.icmp_unsigned("==", address, ir.Constant(I64, 0)), likely=False):
        builder.ret(block)
    after = builder.add(address, ir.Constant(I64, 2 * ALIGNMENT - 1))
    start = builder.inttoptr(builder.and_(after, ir.Constant(I64, -ALIGNMENT)), POINTER)
    builder.store(block, _block_before(builder, start))
    builder.ret(start)


def _define_give(emitter: Emitter, start: ir.Value) -> None:
    builder = emitter.builder
    free = emitter.function("free", ir.VoidType(), [POINTER], pure=False)
    builder.call(free, [builder.load(_block_before(builder, start))])
    builder.ret_void()


def _block_before(builder: ir.IRBuilder, start: ir.Value) -> ir.Value:
    return builder.gep(builder.bitcast(start, POINTER.as_pointer()), [ir.Constant(I64, -1)])
