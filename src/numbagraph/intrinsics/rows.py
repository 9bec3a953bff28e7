"""Loop nests that run together, some rows at a time: what one nest reads or writes, the next one finds in cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llvmlite import ir

from numbagraph.graph import Value
from numbagraph.intrinsics.emitter import I1, I64, POINTER, Emitter
from numbagraph.intrinsics.ranges import RangeEmitter
from numbagraph.kernel import (
    Buffer,
    Compute,
    Kernel,
    Load,
    Output,
    Reduction,
    Register,
    Scalar,
    Scan,
    Scatter,
    Step,
    Store,
    targets,
    walk,
)

if TYPE_CHECKING:
    from numbagraph.intrinsics.program import ProgramEmitter

TILE_BYTES = 2**17
"""Memory of the rows that run together, which fits into any second-level cache."""

MOST_NESTS = 8
"""Nests that run together. More of them would read and write more than the caches' ways can hold."""


@dataclass
class Rows:
    """Nests with the same outermost loop, of which each iteration needs only its own row of what they write.

    What they accumulate over all rows, none of them needs.
    """

    kernels: list[Kernel] = field(default_factory=list)
    after: list[Compute] = field(default_factory=list)
    """What follows from the results of sums over all rows."""
    touched: set[Buffer] = field(default_factory=set)
    written: set[Buffer] = field(default_factory=set)
    read_elsewhere: set[Buffer] = field(default_factory=set)
    """Memory of which an iteration reads other rows, too."""
    totals: set[Buffer] = field(default_factory=set)
    """Memory in which rows are added up."""
    later: set[Value | None] = field(default_factory=set)
    """What has a value only when all rows have run."""

    def take(self, step: Step) -> bool:
        """Add a step, if it is a nest that can be one of them."""
        if not isinstance(step, Kernel) or not works_by_rows(step) or len(self.kernels) == MOST_NESTS:
            return False
        if self.awaited(step.scalars()) or not all(has_rows(step, like=each) for each in self.kernels[:1]):
            return False
        homes = {buffer.home for buffer in step.buffers()}
        totals = {buffer.home for output in step.outputs if adds_rows(output, step) for buffer in targets(output)}
        written = {buffer.home for output in step.outputs for buffer in targets(output)} - totals
        elsewhere = {load.buffer.home for load in loads(step) if not reads_row(load, step)}
        if self.totals & homes or totals & self.touched or (self.written | written) & (self.read_elsewhere | elsewhere):
            return False
        self.kernels.append(step)
        registers = {output.register for output in step.outputs if isinstance(output, Reduction)}
        self.later |= registers - {None}
        self.touched |= homes
        self.totals |= totals
        self.written |= written
        self.read_elsewhere |= elsewhere
        return True

    def awaited(self, scalars: Iterable[Scalar]) -> bool:
        """Whether any of the scalars is known only when all rows have run."""
        return any(isinstance(each, Register) and each.value in self.later for each in scalars)

    def delay(self, step: Step) -> bool:
        """Note a step to be done afterwards, if it does nothing but follow from sums over all rows."""
        if not isinstance(step, Compute) or reads_memory(step) or not self.awaited(walk([step.scalar])):
            return False
        self.after.append(step)
        self.later.add(step.value)
        return True

    def is_independent(self, step: Step) -> bool:
        """Whether a step can be done before the nests: what is computed from scalars, and what fills other memory."""
        if isinstance(step, Compute):
            return not reads_memory(step) and not self.awaited(walk([step.scalar]))
        is_fill = isinstance(step, Kernel) and step.is_fill
        return is_fill and self.touched.isdisjoint(buffer.home for buffer in step.buffers())

    def steps(self) -> list[Step | Rows]:
        """The nests, together where that saves reading memory, and what follows from them."""
        return [*([self] if len(self.kernels) > 1 and self.pays() else self.kernels), *self.after]

    def pays(self) -> bool:
        """Whether two of the nests use the same memory."""
        homes = [{buffer.home for buffer in kernel.buffers()} for kernel in self.kernels]
        return sum(map(len, homes)) > len(set().union(*homes))


def works_by_rows(kernel: Kernel) -> bool:
    """Whether each iteration of the outermost loop writes to its own row of each result, or adds to what all share."""
    if not kernel.loops or kernel.alternative is not None:
        return False
    return all(writes_row(output, kernel) or adds_rows(output, kernel) for output in kernel.outputs)


def has_rows(kernel: Kernel, *, like: Kernel) -> bool:
    return kernel.loops[0].extent is like.loops[0].extent


def writes_row(output: Output, kernel: Kernel) -> bool:
    row = kernel.loops[0]
    if isinstance(output, Scatter) or (isinstance(output, Store) and output.flat) or not output.indices:
        return False
    goes_on = isinstance(output, Scan) and len(kernel.loops) == 1
    return not goes_on and not adds_rows(output, kernel) and output.indices[0] is row


def adds_rows(output: Output, kernel: Kernel) -> bool:
    """Whether an output accumulates over the rows."""
    return isinstance(output, Reduction) and kernel.loops[0] in output.reduced and output.extrema is None


def loads(kernel: Kernel) -> Iterable[Load]:
    return (scalar for scalar in kernel.scalars() if isinstance(scalar, Load) and scalar.indices)


def reads_row(load: Load, kernel: Kernel) -> bool:
    return not load.flat and load.indices[0] is kernel.loops[0]


def reads_memory(step: Compute) -> bool:
    return any(isinstance(each, Load) for each in walk([step.scalar]))


def in_rows(steps: Iterable[Step]) -> list[Step | Rows]:
    """The steps of a program, with nests together where that saves reading memory.

    It depends on what memory the buffers share, so this comes after all decisions about memory.
    """
    result: list[Step | Rows] = []
    rows = Rows()
    for step in steps:
        if rows.is_independent(step):
            result.append(step)
        elif not rows.take(step) and not rows.delay(step):
            result += rows.steps()
            rows = Rows()
            if not rows.take(step):
                result.append(step)
    return result + rows.steps()


def emit_nests(module: ir.Module, rows: Rows, name: str) -> list[tuple[RangeEmitter, ir.Function]]:
    kernels = enumerate(rows.kernels)
    nests = [RangeEmitter(module, kernel, f"{name}.{number}.{kernel.name}") for number, kernel in kernels]
    return [(nest, nest.emit()) for nest in nests]


def run_rows(code: ProgramEmitter, rows: Rows, name: str) -> None:
    """Emit the nests, and a loop over tiles of rows which runs them one after the other."""
    nests, emitter = emit_nests(code.function.module, rows, name), code.code
    sums = [(nest, output) for nest, _ in nests for output in nest.slots]
    slots = {output: emitter.builder.alloca(nest.record_type(output)) for nest, output in sums}
    for nest, output in sums:
        nest.open_slot(emitter, output, slots[output])
    pointers = {output: emitter.builder.bitcast(slot, POINTER) for output, slot in slots.items()}
    calls = [(function, [*nest.arguments(code), *(pointers[each] for each in nest.slots)]) for nest, function in nests]
    length = code.scalar(rows.kernels[0].loops[0].extent)
    failed = run_tiles(emitter, calls, ir.Constant(I64, 0), length, rows_of_tile(code, rows))
    if any(nest.flag is not None for nest, _ in nests):
        code.check(emitter, failed)
    for nest, output in sums:
        code.keep(output, nest.result_of(emitter, output, nest.state_in(emitter, output, slots[output])))


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
