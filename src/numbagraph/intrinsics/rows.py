"""Loop nests that run together, some rows at a time: what one nest reads or writes, the next one finds in cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llvmlite import ir

from numbagraph.intrinsics.emitter import I1, I64, Emitter
from numbagraph.intrinsics.loops import KernelEmitter
from numbagraph.kernel import Buffer, Compute, Kernel, Load, Reduction, Scan, Scatter, Step, Store, targets, walk

if TYPE_CHECKING:
    from numbagraph.intrinsics.program import ProgramEmitter

TILE_BYTES = 2**17
"""Memory of the rows that run together, which fits into any second-level cache."""

MOST_NESTS = 8
"""Nests that run together. More of them would read and write more than the caches' ways can hold."""


class RangeEmitter(KernelEmitter):
    """Emits one kernel as a function of a range of its outermost loop: ``i1 kernel(begin, end, buffers..., ...)``."""

    range_types = (I64, I64)

    def bounds(self, depth: int) -> tuple[ir.Value, ir.Value]:
        begin, end = self.range
        return super().bounds(depth) if depth else (begin, end)


@dataclass
class Rows:
    """Nests with the same outermost loop, of which each iteration needs only its own row of what they write."""

    kernels: list[Kernel] = field(default_factory=list)
    written: set[Buffer] = field(default_factory=set)
    read_elsewhere: set[Buffer] = field(default_factory=set)
    """Memory of which an iteration reads other rows, too."""

    def take(self, kernel: Kernel) -> bool:
        """Add a nest, if it can be one of them."""
        if not writes_rows(kernel) or len(self.kernels) == MOST_NESTS:
            return False
        if self.kernels and self.kernels[0].loops[0].extent is not kernel.loops[0].extent:
            return False
        written = self.written | {buffer.home for output in kernel.outputs for buffer in targets(output)}
        elsewhere = self.read_elsewhere | {load.buffer.home for load in loads(kernel) if not reads_row(load, kernel)}
        if written & elsewhere:
            return False
        self.kernels.append(kernel)
        self.written, self.read_elsewhere = written, elsewhere
        return True

    def pays(self) -> bool:
        """Whether two of the nests use the same memory."""
        homes = [{buffer.home for buffer in kernel.buffers()} for kernel in self.kernels]
        return sum(map(len, homes)) > len(set().union(*homes))


def writes_rows(kernel: Kernel) -> bool:
    """Whether each iteration of the outermost loop writes to its own row of each result, and to nothing else."""
    if not kernel.loops or kernel.alternative is not None:
        return False
    row = kernel.loops[0]
    for output in kernel.outputs:
        if isinstance(output, Scatter) or (isinstance(output, Store) and output.flat) or not output.indices:
            return False
        goes_on = isinstance(output, Scan) and len(kernel.loops) == 1
        if goes_on or (isinstance(output, Reduction) and row in output.reduced) or output.indices[0] is not row:
            return False
    return True


def loads(kernel: Kernel) -> Iterable[Load]:
    return (scalar for scalar in kernel.scalars() if isinstance(scalar, Load) and scalar.indices)


def reads_row(load: Load, kernel: Kernel) -> bool:
    return not load.flat and load.indices[0] is kernel.loops[0]


def in_rows(steps: Iterable[Step]) -> list[Step | Rows]:
    """The steps of a program, with nests together where that saves reading memory.

    It depends on what memory the buffers share, so this comes after all decisions about memory.
    """
    result: list[Step | Rows] = []
    rows = Rows()
    for step in steps:
        if isinstance(step, Compute) and not any(isinstance(each, Load) for each in walk([step.scalar])):
            result.append(step)  # nests that write rows leave nothing that it could need
            continue
        if isinstance(step, Kernel) and rows.take(step):
            continue
        result += finished(rows)
        rows = Rows()
        if not isinstance(step, Kernel) or not rows.take(step):
            result.append(step)
    return result + finished(rows)


def finished(rows: Rows) -> Sequence[Step | Rows]:
    return [rows] if len(rows.kernels) > 1 and rows.pays() else rows.kernels


def emit_nests(module: ir.Module, rows: Rows, name: str) -> list[tuple[RangeEmitter, ir.Function]]:
    kernels = enumerate(rows.kernels)
    nests = [RangeEmitter(module, kernel, f"{name}.{number}.{kernel.name}") for number, kernel in kernels]
    return [(nest, nest.emit()) for nest in nests]


def run_rows(code: ProgramEmitter, rows: Rows, name: str) -> None:
    """Emit the nests, and a loop over tiles of rows which runs them one after the other."""
    nests = emit_nests(code.function.module, rows, name)
    calls = [(function, nest.arguments(code)) for nest, function in nests]
    length = code.scalar(rows.kernels[0].loops[0].extent)
    failed = run_tiles(code.code, calls, ir.Constant(I64, 0), length, rows_of_tile(code, rows))
    if any(nest.flag is not None for nest, _ in nests):
        code.check(code.code, failed)


def run_tiles(
    emitter: Emitter,
    calls: Iterable[tuple[ir.Function, list[ir.Value]]],
    begin: ir.Value,
    end: ir.Value,
    tile: ir.Value,
) -> ir.Value:
    """Call functions of ranges for one tile after the other; whether a check has failed."""
    builder = emitter.builder

    def run(begin: ir.Value, failed: ir.Value) -> list[ir.Value]:
        following = builder.add(begin, tile)
        stop = builder.select(builder.icmp_signed("<", following, end), following, end)
        for function, arguments in calls:
            failed = builder.or_(failed, builder.call(function, [begin, stop, *arguments]))
        return [following, failed]

    _, failed = emitter.repeat([begin, ir.Constant(I1, 0)], lambda begin, _: builder.icmp_signed("<", begin, end), run)
    return failed


def rows_of_tile(code: ProgramEmitter, rows: Rows) -> ir.Value:
    """How many rows run together: as many as fit into a tile, and one at least."""
    builder, one = code.code.builder, ir.Constant(I64, 1)
    extent = rows.kernels[0].loops[0].extent
    homes = dict.fromkeys(buffer.home for kernel in rows.kernels for buffer in kernel.buffers())
    size: ir.Value = one
    for home in homes:
        if home.extents and home.extents[0] is extent:
            each: ir.Value = ir.Constant(I64, home.dtype.itemsize)
            for length in home.extents[1:]:
                each = builder.mul(each, code.scalar(length))
            size = builder.add(size, each)
    count = builder.sdiv(ir.Constant(I64, TILE_BYTES), size)
    return builder.select(builder.icmp_signed(">", count, one), count, one)
