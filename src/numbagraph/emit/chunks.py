"""Chunks of a loop nest: ranges of its outermost loop, each of which any thread may run.

How a loop is cut depends on lengths alone. What a chunk accumulates is its own, and the partial results of all chunks
are merged in order. So a result has the same bits however many threads there are, and whichever of them ran a chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llvmlite import ir

from numbagraph.emit.memory import ALIGNMENT, memory_function
from numbagraph.emit.ranges import RangeEmitter
from numbagraph.emit.rows import Run, call_run, emit_nests, row_bytes, rows_of_tile, run_tiles
from numbagraph.emit.scalars import StraightEmitter
from numbagraph.intrinsics.emitter import I1, I64, POINTER, Emitter, llvm_type
from numbagraph.intrinsics.ir import Buffer, LeafStride, Register, Scalar, walk
from numbagraph.loops.ir import Call, Kernel, Reduction, TiledLoop

GRAIN = 200_000
"""The work of a chunk, in additions by the costs that ops declare."""

THRESHOLD = 1_000_000
"""The work from which on a loop is cut."""

MOST_CHUNKS = 256

LINE = 64
"""Elements of which a chunk of an innermost loop has a multiple, so that no two chunks write to one line of cache."""


class Chunk(StraightEmitter):
    """Scalars in the function of a chunk, which is passed what they are made of."""

    def __init__(self, code: Emitter, passed: Mapping[object, ir.Value]) -> None:
        super().__init__()
        self.code = code
        self.passed = dict(passed)

    def external(self, scalar: Scalar) -> ir.Value:
        return self.passed[scalar]

    def base(self, buffer: Buffer) -> ir.Value:
        return self.passed[buffer.home]


class RowsEmitter:
    """Nests and calls that run together, as one function of a range of rows."""

    def __init__(self, module: ir.Module, rows: TiledLoop, name: str) -> None:
        self.module, self.rows, self.name = module, rows, name
        self.members = rows.steps
        self.length = rows.length
        self.nests = emit_nests(module, rows, name)
        self.calls = [each for each in rows.steps if isinstance(each, Call)]
        self.scratch = list(
            dict.fromkeys(home for access in rows.accesses for home in sorted(access.scratch, key=named))
        )
        homes = (home for nest, _ in self.nests for home in nest.homes)
        homes = dict.fromkeys([*homes, *(buffer.home for call in self.calls for buffer in call.arguments)])
        self.homes = [home for home in homes if home not in self.scratch]
        externals = [each for nest, _ in self.nests for each in nest.externals]
        extents = walk(extent for call in self.calls for buffer in call.arguments for extent in buffer.extents)
        externals += [each for each in extents if isinstance(each, (Register, LeafStride))]
        self.externals = list(dict.fromkeys(externals))
        self.slots = [output for nest, _ in self.nests for output in nest.slots]
        self.shared = [output for nest, _ in self.nests for output in nest.shared]
        flags = [nest.flag for nest, _ in self.nests if nest.flag is not None]
        self.flag = flags or self.calls or None

    def owner(self, output: Reduction) -> RangeEmitter:
        return next(nest for nest, _ in self.nests if output in nest.kernel.outputs)

    @property
    def in_lines(self) -> bool:
        nests = [nest.kernel for nest, _ in self.nests]
        return not self.calls and all(len(each.loops) == 1 and not each.flattened for each in nests)

    def arguments(self, code: StraightEmitter) -> list[ir.Value]:
        homes, externals = map(code.base, self.homes), map(code.external, self.externals)
        return [*homes, *externals, rows_of_tile(code, self.rows)]

    def emit(self) -> ir.Function:
        """``i1 rows(begin, end, buffers..., registers..., tile, slots...)``."""
        registers, pointers = [llvm_type(each.dtype) for each in self.externals], [POINTER] * len(self.homes)
        types = [I64, I64, *pointers, *registers, I64, *[POINTER] * len(self.slots)]
        function = ir.Function(self.module, ir.FunctionType(I1, types), f"{self.name}.rows")
        function.linkage = "internal"
        begin, end, *arguments = function.args
        keys = [*self.homes, *self.externals, "tile", *self.slots]
        passed = dict(zip(keys, arguments, strict=True))
        emitter = Emitter(ir.IRBuilder(function.append_basic_block("entry")))
        chunk, nests = Chunk(emitter, passed), iter(self.nests)
        memory = self.take_scratch(chunk) if self.scratch else None

        def nest_run(nest: RangeEmitter, called: ir.Function) -> Run:
            own = [passed[key] for key in (*nest.homes, *nest.externals, *nest.slots)]
            return lambda begin, end: emitter.builder.call(called, [begin, end, *own])

        runs = [
            call_run(chunk, each, access) if isinstance(each, Call) else nest_run(*next(nests))
            for each, access in zip(self.members, self.rows.accesses, strict=True)
        ]
        failed = run_tiles(emitter, runs, begin, end, passed["tile"])
        if memory is not None:
            emitter.builder.call(memory_function(emitter, "give"), [memory])
        emitter.builder.ret(failed)
        return function

    def take_scratch(self, chunk: Chunk) -> ir.Value:
        """Memory of a chunk's own for what calls need while they run. If there is none, the chunk has failed."""
        builder, total, offsets = chunk.code.builder, ir.Constant(I64, 0), []
        for home in self.scratch:
            offsets.append(total)
            padded = builder.add(row_bytes(chunk, home, first=0), ir.Constant(I64, ALIGNMENT - 1))
            total = builder.add(total, builder.and_(padded, ir.Constant(I64, -ALIGNMENT)))
        memory = builder.call(memory_function(chunk.code, "take"), [total])
        missing = builder.icmp_unsigned("==", builder.ptrtoint(memory, I64), ir.Constant(I64, 0))
        with builder.if_then(missing, likely=False):
            builder.ret(ir.Constant(I1, 1))
        chunk.passed |= {home: builder.gep(memory, [each]) for home, each in zip(self.scratch, offsets, strict=True)}
        return memory


def named(buffer: Buffer) -> str:
    return buffer.name


def work_of(code: StraightEmitter, members: Sequence[Kernel | Call]) -> ir.Value:
    """What nests and calls do, in additions."""
    builder, total = code.code.builder, ir.Constant(I64, 0)
    for each in members:
        if isinstance(each, Call):
            assert each.work is not None
            work = code.scalar(each.work)
        else:
            assert each.split is not None
            work = ir.Constant(I64, each.split.cost)
            for loop in each.loops:
                work = builder.mul(work, code.scalar(loop.extent))
        total = builder.add(total, work)
    return total


def cut(
    builder: ir.IRBuilder, nest: RangeEmitter | RowsEmitter, length: ir.Value, work: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """The length of a chunk of the outermost loop, and the number of chunks, which is at least 1."""
    splits = [each.split for each in nest.members if isinstance(each, Kernel)]
    one, least = ir.Constant(I64, 1), max((split.least for split in splits if split is not None), default=1)
    count = smaller(builder, builder.sdiv(work, ir.Constant(I64, GRAIN)), ir.Constant(I64, MOST_CHUNKS))
    count = smaller(builder, count, builder.sdiv(length, ir.Constant(I64, least)))
    is_small = builder.icmp_signed("<", work, ir.Constant(I64, THRESHOLD))
    count = builder.select(is_small, one, larger(builder, count, one))
    step = quotient_upwards(builder, length, count)
    if nest.in_lines:
        step = builder.and_(builder.add(step, ir.Constant(I64, LINE - 1)), ir.Constant(I64, -LINE))
    step = larger(builder, step, one)
    return step, larger(builder, quotient_upwards(builder, length, step), one)


def quotient_upwards(builder: ir.IRBuilder, dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    return builder.sdiv(builder.add(dividend, builder.sub(divisor, ir.Constant(I64, 1))), divisor)


def smaller(builder: ir.IRBuilder, left: ir.Value, right: ir.Value) -> ir.Value:
    return builder.select(builder.icmp_signed("<", left, right), left, right)


def larger(builder: ir.IRBuilder, left: ir.Value, right: ir.Value) -> ir.Value:
    return builder.select(builder.icmp_signed(">", left, right), left, right)
