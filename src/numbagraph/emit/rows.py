"""The LLVM of a tiled loop: a loop over tiles of rows, which runs nests and calls one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from llvmlite import ir

from numbagraph.emit.ranges import RangeEmitter
from numbagraph.emit.scalars import StraightEmitter
from numbagraph.intrinsics.emitter import I1, I64, Emitter
from numbagraph.intrinsics.ir import Buffer
from numbagraph.loops.ir import Call, Reduction, RowAccess, TiledLoop

TILE_BYTES = 2**17
"""Memory of the rows that run together, which fits into any second-level cache."""

MOST_LANES = 16
"""Numbers in the longest vectors: calls on small matrices take as many elements at a time."""

Run = Callable[[ir.Value, ir.Value], ir.Value]
"""``run(begin, end)`` emits what computes some rows; gives whether a check has failed."""


class RowEmitter(RangeEmitter):
    """The same for a range of rows, even if one loop runs over the elements of all rows."""

    def bounds(self, depth: int) -> tuple[ir.Value, ir.Value]:
        begin, end = super().bounds(depth)
        for extent in self.kernel.flattened[1:] if not depth else ():
            begin, end = (self.preambles[0].builder.mul(each, self.scalar(extent)) for each in (begin, end))
        return begin, end


def emit_nests(module: ir.Module, rows: TiledLoop, name: str) -> list[tuple[RangeEmitter, ir.Function]]:
    kernels = enumerate(rows.kernels)
    nests = [RowEmitter(module, kernel, f"{name}.{number}.{kernel.name}") for number, kernel in kernels]
    return [(nest, nest.emit()) for nest in nests]


def nest_run(
    code: StraightEmitter,
    nest: RangeEmitter,
    function: ir.Function,
    slots: dict[Reduction, ir.Value],
    in_tile: frozenset[Buffer],
) -> Run:
    builder, arguments = code.code.builder, [*nest.arguments(code), *(slots[each] for each in nest.slots)]

    def place(home: Buffer, address: ir.Value, begin: ir.Value) -> ir.Value:
        """Where the first row would be: memory of one tile begins with the first row of the tile."""
        if home not in in_tile:
            return address
        return builder.gep(address, [builder.neg(builder.mul(begin, row_bytes(code, home)))])

    def run(begin: ir.Value, end: ir.Value) -> ir.Value:
        places = [place(home, address, begin) for home, address in zip(nest.homes, arguments, strict=False)]
        return builder.call(function, [begin, end, *places, *arguments[len(places) :]])

    return run


def call_run(code: StraightEmitter, call: Call, access: RowAccess, in_tile: frozenset[Buffer] = frozenset()) -> Run:
    """A call on some elements of its batch: all but these are passed over."""
    builder = code.code.builder
    extents = [[code.scalar(extent) for extent in buffer.extents] for buffer in call.arguments]
    addresses = [code.base(buffer) for buffer in call.arguments]
    dtypes = [buffer.dtype for buffer in call.arguments]
    own = [buffer.home in access.homes - access.read_elsewhere for buffer in call.arguments]
    widths = [row_bytes(code, each) if flag else None for each, flag in zip(call.arguments, own, strict=True)]
    short = [buffer.home in in_tile for buffer in call.arguments]

    def run(begin: ir.Value, end: ir.Value) -> ir.Value:
        count, lengths, places = builder.sub(end, begin), [], []
        for address, each, width, stays in zip(addresses, extents, widths, short, strict=True):
            lengths.append(each if width is None else [count, *each[1:]])
            moved = width is not None and not stays
            places.append(builder.gep(address, [builder.mul(begin, width)]) if moved else address)
        failed = call.emit(code.code, places, lengths, dtypes, **call.attributes)
        return ir.Constant(I1, 0) if failed is None else failed

    return run


def run_tiles(emitter: Emitter, runs: Iterable[Run], begin: ir.Value, end: ir.Value, tile: ir.Value) -> ir.Value:
    """Run everything for one tile after the other; whether a check has failed."""
    builder = emitter.builder

    def run(begin: ir.Value, failed: ir.Value) -> list[ir.Value]:
        following = builder.add(begin, tile)
        stop = builder.select(builder.icmp_signed("<", following, end), following, end)
        for each in runs:
            failed = builder.or_(failed, each(begin, stop))
        return [following, failed]

    _, failed = emitter.repeat([begin, ir.Constant(I1, 0)], lambda begin, _: builder.icmp_signed("<", begin, end), run)
    return failed


def row_bytes(code: StraightEmitter, buffer: Buffer, *, first: int = 1) -> ir.Value:
    """The size of a row, or from another dimension on."""
    width: ir.Value = ir.Constant(I64, buffer.dtype.itemsize)
    for extent in buffer.extents[first:]:
        width = code.code.builder.mul(width, code.scalar(extent))
    return width


def rows_of_tile(code: StraightEmitter, rows: TiledLoop) -> ir.Value:
    """How many rows run together: as many as fit into a tile and fill vectors, and one at least."""
    builder, one = code.code.builder, ir.Constant(I64, 1)
    size: ir.Value = one
    for home in dict.fromkeys(
        home for access in rows.accesses for home in sorted(access.homes, key=lambda each: each.name)
    ):
        if home.extents and home.extents[0] is rows.length:
            size = builder.add(size, row_bytes(code, home))
    count = builder.sdiv(ir.Constant(I64, TILE_BYTES), size)
    full = builder.and_(count, ir.Constant(I64, -MOST_LANES))
    count = builder.select(builder.icmp_signed(">", full, ir.Constant(I64, 0)), full, count)
    return builder.select(builder.icmp_signed(">", count, one), count, one)
