"""Loops in pieces: an index that wraps around does so at one place of a loop, and is linear before and behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from numbagraph.blockwise.lowering import parts, subtract
from numbagraph.emit.scalars import ScalarEmitter
from numbagraph.intrinsics.emitters import integers
from numbagraph.intrinsics.emitters.emitter import I64, Emitter
from numbagraph.intrinsics.emitters.ir import Apply, Scalar, walk
from numbagraph.loops.ir import Kernel

Wrap = tuple[Apply, Scalar]
"""An index that wraps around, and the first iteration in which it does not."""


def wraps_of(kernel: Kernel) -> list[Wrap]:
    """The indices that wrap around along the innermost loop."""
    if not kernel.loops or kernel.unrolled:
        return []
    loop, found = kernel.loops[-1], list[Wrap]()
    for each in kernel.scalars():
        if isinstance(each, Apply) and each.emit is integers.wrap and parts(each.arguments[0]).terms.get(loop) == 1:
            place = subtract(loop, each.arguments[0])
            if loop not in walk([place, each.arguments[1]]):
                found.append((each, place))
    return found


def emit_pieces(
    scalars: ScalarEmitter,
    wraps: Sequence[Wrap],
    bounds: tuple[ir.Value, ir.Value],
    outer: Emitter,
    emit: Callable[[ir.Value, ir.Value, Emitter], Emitter],
) -> Emitter:
    """Emit a loop around the pieces, each of which ``emit(start, stop, before)`` emits. Otherwise LLVM would gather the
    elements: it leaves the test where an index wraps inside the loop."""
    begin, end = bounds
    places = [scalars.value(place) for _, place in wraps]
    extents = [scalars.value(each.arguments[1]) for each, _ in wraps]
    known = dict(scalars.values)
    function = outer.builder.function
    head, body, after = (function.append_basic_block(name) for name in ("pieces", "piece", "whole"))
    builder = ir.IRBuilder(head)
    start = builder.phi(I64)
    builder.cbranch(builder.icmp_signed("<", start, end), body, after)
    builder, stop, zero = ir.IRBuilder(body), end, ir.Constant(I64, 0)
    for (each, _), place, extent in zip(wraps, places, extents, strict=True):
        is_before = builder.icmp_signed("<", start, place)
        scalars.offsets[each] = builder.select(is_before, extent, zero)
        ends_here = builder.and_(is_before, builder.icmp_signed("<", place, stop))
        stop = builder.select(ends_here, place, stop)
    last = emit(start, stop, Emitter(builder))
    start.add_incoming(stop, last.builder.block)
    last.builder.branch(head)
    start.add_incoming(begin, outer.builder.block)
    outer.builder.branch(head)
    scalars.values = known
    scalars.offsets.clear()
    return Emitter(ir.IRBuilder(after))
