"""Chunks of a loop nest: whether it is long enough for threads, and the ranges of its outermost loop for them.

How a loop is cut depends on lengths alone. What a chunk accumulates is its own, and the partial results of all chunks
are merged in order. So a result has the same bits however many threads there are, and whichever of them ran a chunk.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from numbagraph.emit.ranges import RangeFunction
from numbagraph.emit.scalars import StraightCode
from numbagraph.intrinsics.emitters.emitter import I64
from numbagraph.loops.ir import Call, Kernel

GRAIN = 200_000
"""The work of a chunk, in additions, by the costs that ops declare."""

THRESHOLD = 1_000_000
"""The work from which on a loop is cut into chunks."""

MOST_CHUNKS = 256

LINE = 64
"""The number of elements of which a chunk of an innermost loop has a multiple, so that no two chunks write to one line
of cache."""


def work_of(code: StraightCode, members: Sequence[Kernel | Call]) -> ir.Value:
    """The work of nests and calls, in additions."""
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


def cut(builder: ir.IRBuilder, nest: RangeFunction, length: ir.Value, work: ir.Value) -> tuple[ir.Value, ir.Value]:
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
