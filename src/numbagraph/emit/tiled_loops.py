"""The LLVM of a tiled loop: a loop over tiles of rows, which runs nests and calls one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from llvmlite import ir

from numbagraph.emit.allocation import ALIGNMENT, memory_function
from numbagraph.emit.ranges import BY_ROWS, RangeFunction, emit_range
from numbagraph.emit.scalars import FixedPlacement, ScalarEmitter, StraightCode
from numbagraph.intrinsics.emitters.emitter import I1, I64, POINTER, Emitter, llvm_type
from numbagraph.intrinsics.emitters.ir import Buffer, LeafStride, Register, Scalar, walk
from numbagraph.loops.ir import Call, Reduction, RowAccess, TiledLoop

TILE_BYTES = 2**17
"""The memory in bytes of the rows that run together: it fits into any second-level cache."""

MOST_LANES = 16
"""The number of elements of the longest vectors: calls on small matrices take as many elements at a time."""

Run = Callable[[ir.Value, ir.Value], ir.Value]
"""``run(begin, end)`` emits the computation of some rows, and returns whether a check has failed."""


class Passed:
    """The code of a function whose arguments are the leaves of scalars and the addresses of buffers."""

    def __init__(self, code: Emitter, passed: Mapping[object, ir.Value]) -> None:
        self.code = code
        self.passed = dict(passed)
        self.scalars = ScalarEmitter(self, FixedPlacement(code))

    def external(self, scalar: Scalar) -> ir.Value:
        return self.passed[scalar]

    def base(self, buffer: Buffer) -> ir.Value:
        return self.passed[buffer.owner]

    def position(self, emitter: Emitter, index: ir.Value, extent: ir.Value, signed: bool) -> ir.Value:
        raise TypeError("a length or a size has no index to check")

    def label(self, buffer: Buffer) -> None:
        return None

    def scalar(self, scalar: Scalar) -> ir.Value:
        return self.scalars.value(scalar)


def emit_nests(module: ir.Module, rows: TiledLoop, name: str) -> list[RangeFunction]:
    """Emit each nest of a tiled loop as a function of a range of rows."""
    kernels = enumerate(rows.kernels)
    return [emit_range(module, each, f"{name}.{number}.{each.name}", BY_ROWS) for number, each in kernels]


def nest_run(
    code: StraightCode, nest: RangeFunction, slots: dict[Reduction, ir.Value], in_tile: frozenset[Buffer]
) -> Run:
    builder = code.code.builder
    arguments = [*nest.arguments(code), *(slots[each.output] for each in nest.slots)]

    def base_of(owner: Buffer, address: ir.Value, begin: ir.Value) -> ir.Value:
        """The address where the first row would be: memory of one tile begins with the first row of the tile."""
        if owner not in in_tile:
            return address
        return builder.gep(address, [builder.neg(builder.mul(begin, row_bytes(code, owner)))])

    def run(begin: ir.Value, end: ir.Value) -> ir.Value:
        bases = [base_of(owner, address, begin) for owner, address in zip(nest.owners, arguments, strict=False)]
        return builder.call(nest.function, [begin, end, *bases, *arguments[len(bases) :]])

    return run


def call_run(code: StraightCode, call: Call, access: RowAccess, in_tile: frozenset[Buffer] = frozenset()) -> Run:
    """A call on some elements of its batch: all but these are passed over."""
    builder = code.code.builder
    extents = [[code.scalar(extent) for extent in buffer.extents] for buffer in call.arguments]
    addresses = [code.base(buffer) for buffer in call.arguments]
    dtypes = [buffer.dtype for buffer in call.arguments]
    own = [buffer.owner in access.owners - access.read_elsewhere for buffer in call.arguments]
    widths = [row_bytes(code, each) if flag else None for each, flag in zip(call.arguments, own, strict=True)]
    short = [buffer.owner in in_tile for buffer in call.arguments]

    def run(begin: ir.Value, end: ir.Value) -> ir.Value:
        count, lengths, starts = builder.sub(end, begin), [], []
        for address, each, width, stays in zip(addresses, extents, widths, short, strict=True):
            lengths.append(each if width is None else [count, *each[1:]])
            skipped = None if width is None or stays else builder.mul(begin, width)
            starts.append(address if skipped is None else builder.gep(address, [skipped]))
        failed = call.emit(code.code, starts, lengths, dtypes, **call.attributes)
        return ir.Constant(I1, 0) if failed is None else failed

    return run


def run_tiles(emitter: Emitter, runs: Iterable[Run], begin: ir.Value, end: ir.Value, tile: ir.Value) -> ir.Value:
    """Run everything for one tile after the other; return whether a check has failed."""
    builder = emitter.builder

    def run(begin: ir.Value, failed: ir.Value) -> list[ir.Value]:
        following = builder.add(begin, tile)
        stop = builder.select(builder.icmp_signed("<", following, end), following, end)
        for each in runs:
            failed = builder.or_(failed, each(begin, stop))
        return [following, failed]

    _, failed = emitter.repeat([begin, ir.Constant(I1, 0)], lambda begin, _: builder.icmp_signed("<", begin, end), run)
    return failed


def row_bytes(code: StraightCode, buffer: Buffer, *, first: int = 1) -> ir.Value:
    """The size of a row, or from another dimension on."""
    width: ir.Value = ir.Constant(I64, buffer.dtype.itemsize)
    for extent in buffer.extents[first:]:
        width = code.code.builder.mul(width, code.scalar(extent))
    return width


def rows_of_tile(code: StraightCode, rows: TiledLoop) -> ir.Value:
    """The number of rows that run together: as many as fit into a tile and fill vectors, but at least as many as a call
    should have."""
    builder, one = code.code.builder, ir.Constant(I64, 1)
    size: ir.Value = one
    for owner in dict.fromkeys(
        owner for access in rows.accesses for owner in sorted(access.owners, key=lambda each: each.name)
    ):
        if owner.extents and owner.extents[0] is rows.length:
            size = builder.add(size, row_bytes(code, owner))
    count = builder.sdiv(ir.Constant(I64, TILE_BYTES), size)
    full = builder.and_(count, ir.Constant(I64, -MOST_LANES))
    count = builder.select(builder.icmp_signed(">", full, ir.Constant(I64, 0)), full, count)
    least = ir.Constant(I64, max((each.least_rows for each in rows.steps if isinstance(each, Call)), default=1))
    return builder.select(builder.icmp_signed(">", count, least), count, least)


def emit_rows(module: ir.Module, rows: TiledLoop, name: str) -> RangeFunction:
    """Emit nests and calls that run together as ``i1 rows(begin, end, owners..., externals..., tile, slots...)``."""
    nests = emit_nests(module, rows, name)
    calls = [each for each in rows.steps if isinstance(each, Call)]
    own = {owner for access in rows.accesses for owner in access.scratch}
    called = dict.fromkeys(buffer.owner for call in calls for buffer in call.arguments)
    scratch = [owner for owner in called if owner in own]
    owned = dict.fromkeys([*(owner for nest in nests for owner in nest.owners), *called])
    owners = [owner for owner in owned if owner not in own]
    extents = walk(extent for call in calls for buffer in call.arguments for extent in buffer.extents)
    externals = [each for nest in nests for each in nest.externals]
    externals += [each for each in extents if isinstance(each, (Register, LeafStride))]
    externals = list(dict.fromkeys(externals))
    slots = [each for nest in nests for each in nest.slots]
    outputs = [each.output for each in slots]
    registers, pointers = [llvm_type(each.dtype) for each in externals], [POINTER] * len(owners)
    types = [I64, I64, *pointers, *registers, I64, *[POINTER] * len(slots)]
    function = ir.Function(module, ir.FunctionType(I1, types), f"{name}.rows")
    function.linkage = "internal"
    begin, end, *arguments = function.args
    passed: dict[object, ir.Value] = dict(zip([*owners, *externals, "tile", *outputs], arguments, strict=True))
    code = Passed(Emitter(ir.IRBuilder(function.append_basic_block("entry"))), passed)
    emit_tiles(code, rows, nests, scratch, begin, end)
    return RangeFunction(
        function,
        members=rows.steps,
        length=rows.length,
        owners=owners,
        externals=externals,
        slots=slots,
        shared=[output for nest in nests for output in nest.shared],
        may_fail=bool(calls) or any(nest.may_fail for nest in nests),
        in_lines=not calls and all(len(each.loops) == 1 and not each.flattened for each in rows.kernels),
        rows_of_tile=lambda code: rows_of_tile(code, rows),
    )


def emit_tiles(
    code: Passed, rows: TiledLoop, nests: list[RangeFunction], scratch: list[Buffer], begin: ir.Value, end: ir.Value
) -> None:
    """Emit the body of a function of a range of rows."""
    builder, passed, rest = code.code.builder, code.passed, iter(nests)
    memory = take_scratch(code, scratch) if scratch else None

    def run_of(nest: RangeFunction) -> Run:
        own = [passed[key] for key in (*nest.owners, *nest.externals, *(each.output for each in nest.slots))]
        return lambda begin, end: builder.call(nest.function, [begin, end, *own])

    runs = [
        call_run(code, each, access) if isinstance(each, Call) else run_of(next(rest))
        for each, access in zip(rows.steps, rows.accesses, strict=True)
    ]
    failed = run_tiles(code.code, runs, begin, end, passed["tile"])
    if memory is not None:
        builder.call(memory_function(code.code, "give"), [memory])
    builder.ret(failed)


def take_scratch(code: Passed, scratch: list[Buffer]) -> ir.Value:
    """Take memory for a chunk's scratch buffers. If there is none, the chunk has failed."""
    builder, total, offsets = code.code.builder, ir.Constant(I64, 0), []
    for owner in scratch:
        offsets.append(total)
        padded = builder.add(row_bytes(code, owner, first=0), ir.Constant(I64, ALIGNMENT - 1))
        total = builder.add(total, builder.and_(padded, ir.Constant(I64, -ALIGNMENT)))
    memory = builder.call(memory_function(code.code, "take"), [total])
    missing = builder.icmp_unsigned("==", builder.ptrtoint(memory, I64), ir.Constant(I64, 0))
    with builder.if_then(missing, likely=False):
        builder.ret(ir.Constant(I1, 1))
    code.passed |= {owner: builder.gep(memory, [each]) for owner, each in zip(scratch, offsets, strict=True)}
    return memory
