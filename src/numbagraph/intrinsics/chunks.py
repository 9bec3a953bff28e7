"""Chunks of a loop nest: ranges of its outermost loop, each of which any thread may run.

How a loop is cut depends on lengths alone. What a chunk accumulates is its own, and the partial results of all chunks
are merged in order. So a result has the same bits however many threads there are, and whichever of them ran a chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from numbagraph.intrinsics.emitter import I1, I64, POINTER, Emitter, llvm_type
from numbagraph.intrinsics.ranges import RangeEmitter
from numbagraph.intrinsics.rows import Rows, Run, emit_nests, rows_of_tile, run_tiles
from numbagraph.kernel import Kernel, Reduction

if TYPE_CHECKING:
    from numbagraph.intrinsics.program import ProgramEmitter

GRAIN = 200_000
"""The work of a chunk, in additions by the costs that ops declare."""

THRESHOLD = 1_000_000
"""The work from which on a loop is cut."""

MOST_CHUNKS = 256

LINE = 64
"""Elements of which a chunk of an innermost loop has a multiple, so that no two chunks write to one line of cache."""


class RowsEmitter:
    """Nests that run together, as one function of a range of rows."""

    def __init__(self, module: ir.Module, rows: Rows, name: str) -> None:
        self.module, self.rows, self.name = module, rows, name
        self.kernels = rows.kernels
        self.length = rows.length
        self.nests = emit_nests(module, rows, name)
        self.homes = list(dict.fromkeys(home for nest, _ in self.nests for home in nest.homes))
        self.externals = list(dict.fromkeys(each for nest, _ in self.nests for each in nest.externals))
        self.slots = [output for nest, _ in self.nests for output in nest.slots]
        self.shared = [output for nest, _ in self.nests for output in nest.shared]
        self.flag = next((nest.flag for nest, _ in self.nests if nest.flag is not None), None)

    def owner(self, output: Reduction) -> RangeEmitter:
        return next(nest for nest, _ in self.nests if output in nest.kernel.outputs)

    def arguments(self, code: ProgramEmitter) -> list[ir.Value]:
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

        def run(nest: RangeEmitter, called: ir.Function) -> Run:
            own = [passed[key] for key in (*nest.homes, *nest.externals, *nest.slots)]
            return lambda begin, end: emitter.builder.call(called, [begin, end, *own])

        runs = [run(*each) for each in self.nests]
        emitter.builder.ret(run_tiles(emitter, runs, begin, end, passed["tile"]))
        return function


def work_of(code: ProgramEmitter, kernels: Sequence[Kernel]) -> ir.Value:
    """What nests do, in additions."""
    builder, total = code.code.builder, ir.Constant(I64, 0)
    for kernel in kernels:
        assert kernel.split is not None
        work: ir.Value = ir.Constant(I64, kernel.split.cost)
        for loop in kernel.loops:
            work = builder.mul(work, code.scalar(loop.extent))
        total = builder.add(total, work)
    return total


def cut(
    builder: ir.IRBuilder, kernels: Sequence[Kernel], length: ir.Value, work: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """The length of a chunk of the outermost loop, and the number of chunks, which is at least 1."""
    one, least = ir.Constant(I64, 1), max(kernel.split.least for kernel in kernels if kernel.split is not None)
    count = smaller(builder, builder.sdiv(work, ir.Constant(I64, GRAIN)), ir.Constant(I64, MOST_CHUNKS))
    count = smaller(builder, count, builder.sdiv(length, ir.Constant(I64, least)))
    is_small = builder.icmp_signed("<", work, ir.Constant(I64, THRESHOLD))
    count = builder.select(is_small, one, larger(builder, count, one))
    step = quotient_upwards(builder, length, count)
    if all(len(kernel.loops) == 1 and not kernel.flattened for kernel in kernels) or len(kernels) == 1 == len(
        kernels[0].loops
    ):
        step = builder.and_(builder.add(step, ir.Constant(I64, LINE - 1)), ir.Constant(I64, -LINE))
    step = larger(builder, step, one)
    return step, larger(builder, quotient_upwards(builder, length, step), one)


def quotient_upwards(builder: ir.IRBuilder, dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    return builder.sdiv(builder.add(dividend, builder.sub(divisor, ir.Constant(I64, 1))), divisor)


def smaller(builder: ir.IRBuilder, left: ir.Value, right: ir.Value) -> ir.Value:
    return builder.select(builder.icmp_signed("<", left, right), left, right)


def larger(builder: ir.IRBuilder, left: ir.Value, right: ir.Value) -> ir.Value:
    return builder.select(builder.icmp_signed(">", left, right), left, right)
