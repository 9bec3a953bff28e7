"""A program as a function of a flattened point: one vector of doubles, of which each argument is a part.

Its parts are never copied: the program is given addresses inside the vector, and inside the vectors for its results.
Whatever else it reads is found through a record, the address of which every function takes last. So the code holds no
address, and can be kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from llvmlite import ir

from numbagraph.emit.call import LinkedVersion, ProgramCall
from numbagraph.emit.parallel_calls import for_each
from numbagraph.intrinsics.emitters.emitter import F64, I32, I64, POINTER, Emitter
from numbagraph.ir.abi import INTERRUPTED, NativeSignature
from numbagraph.ir.structs import Struct
from numbagraph.ops.callback import CALLBACKS, REPORT

VECTOR = F64.as_pointer()
TABLE = POINTER.as_pointer()
WRONG_SIZE, GOOD, FAILED, BAD_GRADIENT, BAD_VALUE, FATAL = -1, 0, 1, 3, 4, -2
"""The status codes for a sampler. Those above 0 concern one point: another point may be tried."""
UNHEARD, REJECTED, ENDED = 0, 1, 2
"""The answers of a watcher: there is no sampler, the point is rejected, or the sampler is ended from outside."""


class VectorPart(Struct):
    """An argument, or a result, that is a part of a vector: of which one, where it begins, and its shape."""

    vector: int
    begin: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


class HeldArgument(Struct):
    """An argument whose address stands in the record, and its lengths if they may change: at which bytes."""

    address: int
    lengths: int
    shape: tuple[int, ...]


class PointLayout(Struct):
    """The layout of a program's arguments and results in vectors."""

    size: int
    """The length of the vector of arguments."""
    arguments: tuple[VectorPart | HeldArgument, ...]
    results: tuple[VectorPart, ...]
    sizes: tuple[int, ...]
    """The lengths of the vectors of results; a number is one of length 1."""
    copies: tuple[tuple[VectorPart, VectorPart], ...] = ()
    """The parts of results that repeat other parts: pairs of the original and the copy."""
    with_point: bool = False
    """Whether the first vector of results begins with the arguments."""
    varying: tuple[int, ...] = ()
    """The results whose lengths follow from those of arguments, so that there may be no room for them."""

    @property
    def work(self) -> int:
        """The number of elements to be read: an estimate of the time that a call takes."""
        return self.size + sum(prod(each.shape) for each in self.arguments if isinstance(each, HeldArgument))


def emit_run(module: ir.Module, name: str, signature: NativeSignature, layout: PointLayout) -> ir.Function:
    """Emit ``int32 name.run(x, results..., record)`` behind ``name.shapes`` and ``name.program``."""
    function = ir.Function(
        module, ir.FunctionType(I32, [VECTOR, *[VECTOR] * len(layout.sizes), POINTER]), f"{name}.run"
    )
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    point, *vectors, record = function.args
    shapes, program = (module.globals[f"{name}.{part}"] for part in ("shapes", "program"))
    assert isinstance(shapes, ir.Function)
    assert isinstance(program, ir.Function)
    version = LinkedVersion(signature, shapes, program, (), 0)
    call = ProgramCall(builder, [version], lambda *_: record)
    for leaf, argument in enumerate(layout.arguments):
        pass_argument(builder, call, leaf, argument, point, record)
    with builder.if_then(builder.icmp_signed("!=", call.prepare(), ir.Constant(I32, 0)), likely=False):
        builder.ret(ir.Constant(I32, FAILED))
    for result in layout.varying:
        for extent, length in zip(call.extents(result), layout.results[result].shape, strict=True):
            with builder.if_then(builder.icmp_signed("!=", extent, ir.Constant(I64, length)), likely=False):
                builder.ret(ir.Constant(I32, FAILED))
    code = call.run([address(builder, vectors, each) for each in layout.results])
    if layout.with_point:
        copy(builder, point, vectors[0], layout.size)
    for source, target in layout.copies:
        copy(builder, address(builder, vectors, source), address(builder, vectors, target), source.size)
    builder.ret(code)
    return function


def pass_argument(
    builder: ir.IRBuilder,
    call: ProgramCall,
    leaf: int,
    argument: VectorPart | HeldArgument,
    point: ir.Value,
    record: ir.Value,
) -> None:
    if isinstance(argument, VectorPart):
        extents = [ir.Constant(I64, length) for length in argument.shape]
        call.array(leaf, address(builder, [point], argument), extents, ())
        return
    word = builder.bitcast(builder.gep(record, [ir.Constant(I64, argument.address)]), TABLE)
    lengths = builder.bitcast(builder.gep(record, [ir.Constant(I64, argument.lengths)]), I64.as_pointer())
    extents = [builder.load(builder.gep(lengths, [ir.Constant(I64, axis)])) for axis in range(len(argument.shape))]
    call.array(leaf, builder.load(word), extents, ())


def address(builder: ir.IRBuilder, vectors: Sequence[ir.Value], part: VectorPart) -> ir.Value:
    return builder.gep(vectors[part.vector], [ir.Constant(I64, part.begin)])


def copy(builder: ir.IRBuilder, source: ir.Value, target: ir.Value, count: int) -> None:
    function = builder.module.declare_intrinsic("llvm.memcpy", [POINTER, POINTER, I64])
    source, target = builder.bitcast(source, POINTER), builder.bitcast(target, POINTER)
    builder.call(function, [target, source, ir.Constant(I64, 8 * count), ir.Constant(ir.IntType(1), 0)])


def default_record(module: ir.Module, name: str) -> ir.GlobalVariable:
    """The global variable with the address of the record that is used when a caller passes none."""
    found = module.globals.get(f"{name}.record")
    if found is None:
        found = ir.GlobalVariable(module, POINTER, f"{name}.record")
        found.initializer = ir.Constant(POINTER, None)
    return found  # type: ignore[return-value]


def record_or_default(builder: ir.IRBuilder, name: str, record: ir.Value) -> ir.Value:
    missing = builder.icmp_unsigned("==", builder.ptrtoint(record, I64), ir.Constant(I64, 0))
    return builder.select(missing, builder.load(default_record(builder.module, name)), record)


def call_watcher(builder: ir.IRBuilder, name: str, code: ir.Value, size: ir.Value, x: ir.Value) -> ir.Value:
    """Report a failed call to a sampler's watcher, ``int32 name.watcher(int32 code, uint64 size, double *x)``, and
    return the watcher's answer."""
    kind = ir.FunctionType(I32, [I32, I64, VECTOR]).as_pointer()
    found = ir.GlobalVariable(builder.module, kind, f"{name}.watcher")
    found.initializer = ir.Constant(kind, None)
    return builder.call(builder.load(found), [code, size, x])


def is_answer(builder: ir.IRBuilder, answer: ir.Value, expected: int) -> ir.Value:
    return builder.icmp_signed("==", answer, ir.Constant(I32, expected))


def emit_sampled(module: ir.Module, name: str, run: ir.Function, layout: PointLayout) -> None:
    """Emit the function that a sampler calls.

    With a value and its gradient as results, that is ``int64 name.sampled(uint64 size, x, gradient, value, record)``;
    with one vector of results, ``int64 name.sampled(uint64 size, uint64 count, x, out, record)``.
    """
    if layout.with_point:
        emit_function(module, name, [I64, I64, VECTOR, VECTOR, POINTER], expander(name, run, layout))
    else:
        emit_function(module, name, [I64, VECTOR, VECTOR, VECTOR, POINTER], density(name, run, layout))


Body = Callable[..., ir.Value]


def emit_function(module: ir.Module, name: str, types: Sequence[ir.Type], body: Body) -> None:
    function = ir.Function(module, ir.FunctionType(I64, types), f"{name}.sampled")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    builder.ret(body(builder, *function.args))


def leave_unless(builder: ir.IRBuilder, number: ir.Value, expected: int) -> None:
    with builder.if_then(builder.icmp_unsigned("!=", number, ir.Constant(I64, expected)), likely=False):
        builder.ret(ir.Constant(I64, WRONG_SIZE))


def density(name: str, run: ir.Function, layout: PointLayout) -> Body:
    def body(
        builder: ir.IRBuilder, size: ir.Value, x: ir.Value, gradient: ir.Value, value: ir.Value, record: ir.Value
    ) -> ir.Value:
        leave_unless(builder, size, layout.size)
        vectors = [value, gradient][: len(layout.sizes)]
        code = builder.call(run, [x, *vectors, record_or_default(builder, name, record)])
        report(builder, code)
        with builder.if_then(builder.icmp_signed("<", code, ir.Constant(I32, 0)), likely=False):
            answer = call_watcher(builder, name, code, size, x)
            with builder.if_then(is_answer(builder, answer, ENDED)):
                # nutpie panics where a point that had a density is rejected, or has no gradient: chains go on for the
                # moment that is left
                for vector, length in zip(vectors, layout.sizes, strict=True):
                    store_ones(builder, vector, length)
                builder.ret(ir.Constant(I64, GOOD))
            rejected = is_answer(builder, answer, REJECTED)
            builder.ret(builder.select(rejected, ir.Constant(I64, FAILED), ir.Constant(I64, FATAL)))
        status = error_of(builder, code)
        if len(vectors) > 1:
            with builder.if_then(builder.icmp_signed("!=", status, ir.Constant(I64, GOOD)), likely=False):
                builder.ret(status)
            status = builder.select(all_finite(builder, gradient, layout.size), status, ir.Constant(I64, BAD_GRADIENT))
        good = builder.icmp_signed("==", status, ir.Constant(I64, GOOD))
        bad = builder.and_(good, builder.not_(is_finite(builder, builder.load(value))))
        return builder.select(bad, ir.Constant(I64, BAD_VALUE), status)

    return body


def expander(name: str, run: ir.Function, layout: PointLayout) -> Body:
    def body(
        builder: ir.IRBuilder, size: ir.Value, count: ir.Value, x: ir.Value, out: ir.Value, record: ir.Value
    ) -> ir.Value:
        leave_unless(builder, size, layout.size)
        leave_unless(builder, count, layout.sizes[0])
        code = builder.call(run, [x, out, record_or_default(builder, name, record)])
        report(builder, code)
        with builder.if_then(builder.icmp_signed("!=", code, ir.Constant(I32, 0)), likely=False):
            ended = is_answer(builder, call_watcher(builder, name, code, size, x), ENDED)
            builder.ret(builder.select(ended, ir.Constant(I64, GOOD), ir.Constant(I64, FATAL)))
        return ir.Constant(I64, GOOD)

    return body


def store_ones(builder: ir.IRBuilder, vector: ir.Value, size: int) -> None:
    def body(number: ir.Value) -> None:
        builder.store(ir.Constant(F64, 1.0), builder.gep(vector, [number]))

    for_each(Emitter(builder), ir.Constant(I64, size), body)


def error_of(builder: ir.IRBuilder, code: ir.Value) -> ir.Value:
    """Convert a program's return code, which is not below 0, to a status code for a sampler."""
    good = builder.icmp_signed("==", code, ir.Constant(I32, 0))
    return builder.select(good, ir.Constant(I64, GOOD), ir.Constant(I64, FAILED))


def report(builder: ir.IRBuilder, code: ir.Value) -> None:
    """Let an exception that a Python function has set be printed: a sampler cannot raise it."""
    if any(name.startswith(CALLBACKS) for name in builder.module.globals):
        raised = builder.icmp_signed("==", code, ir.Constant(I32, INTERRUPTED))
        with builder.if_then(raised, likely=False):
            builder.call(Emitter(builder).function(REPORT, ir.VoidType(), [], pure=False), [])


def is_finite(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    return builder.fcmp_ordered("==", builder.fsub(number, number), ir.Constant(F64, 0.0))


def all_finite(builder: ir.IRBuilder, vector: ir.Value, count: int) -> ir.Value:
    """Whether a vector has no infinite element and no NaN: a loop that LLVM makes a vector loop of."""
    if not count:
        return ir.Constant(ir.IntType(1), 1)
    before, function = builder.block, builder.function
    loop, after = function.append_basic_block("element"), function.append_basic_block("elements")
    builder.branch(loop)
    builder.position_at_end(loop)
    number, finite = builder.phi(I64), builder.phi(ir.IntType(1))
    each = is_finite(builder, builder.load(builder.gep(vector, [number])))
    all_so_far = builder.and_(finite, each)
    following = builder.add(number, ir.Constant(I64, 1), flags=("nuw", "nsw"))
    for phi, first, then in ((number, 0, following), (finite, 1, all_so_far)):
        phi.add_incoming(ir.Constant(phi.type, first), before)
        phi.add_incoming(then, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, ir.Constant(I64, count)), loop, after)
    builder.position_at_end(after)
    return all_so_far


def emit_entry(module: ir.Module, name: str, run: ir.Function, layout: PointLayout) -> None:
    """Emit ``name.vector.shapes`` and ``name.vector.program``: the interface of `numbagraph.ir.abi` for a flattened
    point.

    The only argument is the vector. The first result is a number, and the others are vectors.
    """
    numbers = I64.as_pointer()
    shapes = ir.Function(module, ir.FunctionType(I32, [TABLE, numbers, numbers]), f"{name}.vector.shapes")
    builder = ir.IRBuilder(shapes.append_basic_block("entry"))
    length = builder.load(shapes.args[1])
    with builder.if_then(builder.icmp_signed("!=", length, ir.Constant(I64, layout.size)), likely=False):
        builder.ret(ir.Constant(I32, 1))
    for position, extent in enumerate((*layout.sizes[1:], layout.work)):
        builder.store(ir.Constant(I64, extent), builder.gep(shapes.args[2], [ir.Constant(I64, position)]))
    builder.ret(ir.Constant(I32, 0))
    program = ir.Function(module, ir.FunctionType(I32, [TABLE, numbers, TABLE]), f"{name}.vector.program")
    builder = ir.IRBuilder(program.append_basic_block("entry"))
    point = load_vector(builder, program.args[0], 0)
    vectors = [load_vector(builder, program.args[2], number) for number in range(len(layout.sizes))]
    builder.ret(builder.call(run, [point, *vectors, builder.load(default_record(module, name))]))


def load_vector(builder: ir.IRBuilder, table: ir.Value, number: int) -> ir.Value:
    return builder.bitcast(builder.load(builder.gep(table, [ir.Constant(I64, number)])), VECTOR)
