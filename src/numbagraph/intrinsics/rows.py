"""Loop nests and batched calls that run together, some rows at a time: what one of them writes, the next one finds in
cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from llvmlite import ir

from numbagraph.graph import Value
from numbagraph.intrinsics.emitter import I1, I64, POINTER, Emitter
from numbagraph.intrinsics.ranges import RangeEmitter
from numbagraph.intrinsics.scalars import StraightEmitter
from numbagraph.kernel import (
    Buffer,
    Call,
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
from numbagraph.structs import Struct

if TYPE_CHECKING:
    from numbagraph.intrinsics.program import ProgramEmitter

TILE_BYTES = 2**17
"""Memory of the rows that run together, which fits into any second-level cache."""

MOST_LANES = 16
"""Numbers in the longest vectors: calls on small matrices take as many elements at a time."""

MOST_MEMBERS = 16
"""Nests and calls that run together. More of them would read and write more than the caches' ways can hold."""

Run = Callable[[ir.Value, ir.Value], ir.Value]
"""``run(begin, end)`` emits what computes some rows; gives whether a check has failed."""


class Use(Struct, frozen=False):
    """What a step reads and writes, seen by rows: parts of the memory that belong to one iteration or element."""

    rows: Scalar
    """How many there are."""
    homes: set[Buffer]
    """All memory."""
    written: set[Buffer]
    """Memory of which each iteration writes its own row."""
    read_elsewhere: set[Buffer] = field(default_factory=set)
    """Memory of which an iteration reads other rows, too."""
    totals: set[Buffer] = field(default_factory=set)
    """Memory in which rows are added up."""
    scratch: set[Buffer] = field(default_factory=set)
    """Memory that holds nothing before and after a row."""


def use_of(step: Step) -> Use | None:
    """How a step works by rows; None if it does not."""
    if isinstance(step, Call):
        return use_of_call(step)
    return use_of_nest(step) if isinstance(step, Kernel) else None


def use_of_nest(kernel: Kernel) -> Use | None:
    """Each iteration of the outermost loop must write to its own row of each result, or add to what all share."""
    if not kernel.loops or kernel.alternative is not None:
        return None
    if not all(writes_row(output, kernel) or adds_rows(output, kernel) for output in kernel.outputs):
        return None
    homes = {buffer.home for buffer in kernel.buffers()}
    totals = {buffer.home for output in kernel.outputs if adds_rows(output, kernel) for buffer in targets(output)}
    written = {buffer.home for output in kernel.outputs for buffer in targets(output)} - totals
    elsewhere = {load.buffer.home for load in loads(kernel) if not is_row(load.indices, load.flat, kernel)}
    return Use(kernel.rows, homes, written, elsewhere, totals)


def use_of_call(call: Call) -> Use | None:
    """Each element of the batch must write to its own row of each result."""
    if not call.cores:
        return None
    batches = [
        buffer.extents[: len(buffer.extents) - core]
        for buffer, core in zip((*call.inputs, *call.outputs), call.cores, strict=True)
    ]
    batch = max(batches[len(call.inputs) :], key=len)
    if not batch:
        return None
    elsewhere = set()
    for buffer, own in zip((*call.inputs, *call.outputs), batches, strict=True):
        if len(own) < len(batch):
            elsewhere.add(buffer.home)
        elif own[0] is not batch[0]:
            return None  # it may have one row for all, which only lengths will tell
    unwanted = {each.home for each in call.outputs} & elsewhere
    scratch = unwanted | {each.home for each in call.scratch}
    written = {each.home for each in call.outputs} - unwanted
    homes = {each.home for each in (*call.inputs, *call.outputs)} - unwanted
    return Use(batch[0], homes, written, elsewhere - unwanted, scratch=scratch)


class Rows(Struct, frozen=False):
    """Nests and calls of which each iteration, or element, needs only its own row of what they write.

    What they accumulate over all rows, none of them needs.
    """

    members: list[Kernel | Call] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)
    """What follows from the results of sums over all rows."""
    later: set[Value | None] = field(default_factory=set)
    """What has a value only when all rows have run."""

    @property
    def kernels(self) -> list[Kernel]:
        return [each for each in self.members if isinstance(each, Kernel)]

    @property
    def length(self) -> Scalar:
        return self.uses[0].rows

    @property
    def split(self) -> bool:
        """Whether the rows may be cut into chunks that run at the same time."""
        return all(map(is_split, self.members))

    def take(self, step: Step) -> bool:
        """Add a step, if it can be one of them."""
        use = use_of(step)
        if use is None or len(self.members) == MOST_MEMBERS or not all(fit(each, use) for each in self.uses):
            return False
        if any(conflict(step, each) for each in self.after):
            return False
        assert isinstance(step, (Kernel, Call))
        if isinstance(step, Kernel):
            if self.awaited(step.scalars()):
                return False
            self.later |= results_of(step)
        if self.members and self.split != is_split(step):
            return False
        self.members.append(step)
        self.uses.append(use)
        return True

    def awaited(self, scalars: Iterable[Scalar]) -> bool:
        """Whether any of the scalars is known only when all rows have run."""
        return any(isinstance(each, Register) and each.value in self.later for each in scalars)

    def delay(self, step: Step) -> bool:
        """Note a step to be done afterwards, if it follows from sums over all rows."""
        totals = {home for use in self.uses for home in use.totals}
        follows = isinstance(step, Compute) and not reads_memory(step) and self.awaited(walk([step.scalar]))
        if isinstance(step, Kernel):
            follows = not totals.isdisjoint(homes_of(step)) or self.awaited(step.scalars())
        if not follows:
            return False
        self.after.append(step)
        self.later |= results_of(step)
        return True

    def is_independent(self, step: Step) -> bool:
        """Whether a step can be done before the others: what is computed from scalars, and what fills other memory."""
        if isinstance(step, Compute):
            return not reads_memory(step) and not self.awaited(walk([step.scalar]))
        if not isinstance(step, Kernel) or not step.is_fill:
            return False
        touched = {home for use in self.uses for home in use.homes | use.scratch}
        return touched.isdisjoint(homes_of(step)) and not any(conflict(step, each) for each in self.after)

    def steps(self) -> list[Step | Rows]:
        """The members, together where that saves reading memory, and what follows from them."""
        if len(self.members) > 1 and self.pays():
            return [self, *self.after]
        return [*map(by_itself, self.members, self.uses), *self.after]

    def pays(self) -> bool:
        """Whether two of the members use the same memory."""
        return sum(len(use.homes) for use in self.uses) > len(set().union(*(use.homes for use in self.uses)))


def by_itself(step: Kernel | Call, use: Use) -> Step | Rows:
    """A step that does not run together with others; a call is cut into chunks as rows are."""
    return Rows([step], [use]) if isinstance(step, Call) and is_split(step) else step


def is_split(step: Kernel | Call) -> bool:
    """Whether a step may be cut into chunks."""
    return (step.work if isinstance(step, Call) else step.split) is not None


def homes_of(step: Step) -> set[Buffer]:
    """The memory that a step reads or writes."""
    if isinstance(step, Compute):
        return {each.buffer.home for each in walk([step.scalar]) if isinstance(each, Load)}
    return {buffer.home for buffer in (step.buffers() if isinstance(step, Kernel) else step.buffers)}


def written_homes(step: Step) -> set[Buffer]:
    if isinstance(step, Call):
        return {buffer.home for buffer in (*step.outputs, *step.scratch)}
    outputs = step.outputs if isinstance(step, Kernel) else ()
    return {buffer.home for output in outputs for buffer in targets(output)}


def conflict(one: Step, other: Step) -> bool:
    """Whether the order of two steps makes a difference to memory."""
    return not written_homes(one).isdisjoint(homes_of(other)) or not written_homes(other).isdisjoint(homes_of(one))


def results_of(step: Step) -> set[Value | None]:
    """The registers that a step leaves values in."""
    if isinstance(step, Compute):
        return {step.value}
    outputs = step.outputs if isinstance(step, Kernel) else ()
    return {each.register for each in outputs if isinstance(each, Reduction)} - {None}


def fit(one: Use, other: Use) -> bool:
    """Whether two steps may run together."""
    if one.rows is not other.rows or one.written & other.read_elsewhere or other.written & one.read_elsewhere:
        return False
    return not any(
        first.totals & (second.homes | second.scratch) or first.scratch & second.homes
        for first, second in ((one, other), (other, one))
    )


def writes_row(output: Output, kernel: Kernel) -> bool:
    if isinstance(output, Scatter) or not output.indices or adds_rows(output, kernel):
        return False
    goes_on = isinstance(output, Scan) and len(kernel.loops) == 1
    return not goes_on and is_row(output.indices, isinstance(output, Store) and output.flat, kernel)


def is_row(indices: tuple[Scalar, ...], flat: bool, kernel: Kernel) -> bool:
    """Whether an element stands in the row of the iteration that uses it."""
    return flat == bool(kernel.flattened) and indices[0] is kernel.loops[0]


def adds_rows(output: Output, kernel: Kernel) -> bool:
    """Whether an output accumulates over the rows."""
    return isinstance(output, Reduction) and kernel.loops[0] in output.reduced and output.extrema is None


def loads(kernel: Kernel) -> Iterable[Load]:
    return (scalar for scalar in kernel.scalars() if isinstance(scalar, Load) and scalar.indices)


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


def of_one_tile(steps: Sequence[Step | Rows]) -> dict[Buffer, Rows]:
    """Temporary memory that holds nothing between two tiles, so that it may be as long as a tile is."""
    found: dict[Buffer, Rows] = {}
    for rows in steps:
        if isinstance(rows, Rows) and not rows.split:
            elsewhere = {home for step in steps if step is not rows for home in memory_of(step)}
            elsewhere |= {home for use in rows.uses for home in use.read_elsewhere | use.totals | use.scratch}
            own = {home for use in rows.uses for home in use.written if home.temporary}
            found |= {home: rows for home in own - elsewhere if home.extents[0] is rows.length}
    return found


def memory_of(step: Step | Rows) -> set[Buffer]:
    if isinstance(step, Rows):
        return {home for use in step.uses for home in use.homes | use.scratch}
    return homes_of(step)


class RowEmitter(RangeEmitter):
    """The same for a range of rows, even if one loop runs over the elements of all rows."""

    def bounds(self, depth: int) -> tuple[ir.Value, ir.Value]:
        begin, end = super().bounds(depth)
        for extent in self.kernel.flattened[1:] if not depth else ():
            begin, end = (self.preambles[0].builder.mul(each, self.scalar(extent)) for each in (begin, end))
        return begin, end


def emit_nests(module: ir.Module, rows: Rows, name: str) -> list[tuple[RangeEmitter, ir.Function]]:
    kernels = enumerate(rows.kernels)
    nests = [RowEmitter(module, kernel, f"{name}.{number}.{kernel.name}") for number, kernel in kernels]
    return [(nest, nest.emit()) for nest in nests]


def run_rows(code: ProgramEmitter, rows: Rows, name: str) -> None:
    """Emit the nests, and a loop over tiles of rows which runs the members one after the other."""
    nests, emitter = emit_nests(code.function.module, rows, name), code.code
    sums = [(nest, output) for nest, _ in nests for output in nest.slots]
    slots = {output: emitter.builder.alloca(nest.record_type(output)) for nest, output in sums}
    for nest, output in sums:
        nest.open_slot(emitter, output, slots[output])
    pointers = {output: emitter.builder.bitcast(slot, POINTER) for output, slot in slots.items()}
    rest = iter(nests)
    runs = [
        call_run(code, each) if isinstance(each, Call) else nest_run(code, *next(rest), pointers)
        for each in rows.members
    ]
    failed = run_tiles(emitter, runs, ir.Constant(I64, 0), code.scalar(rows.length), code.tile_of(rows))
    if any(nest.flag is not None for nest, _ in nests) or len(nests) < len(runs):
        code.check(emitter, failed)
    for nest, output in sums:
        code.keep(output, nest.result_of(emitter, output, nest.state_in(emitter, output, slots[output])))


def nest_run(code: ProgramEmitter, nest: RangeEmitter, function: ir.Function, slots: dict[Reduction, ir.Value]) -> Run:
    builder, arguments = code.code.builder, [*nest.arguments(code), *(slots[each] for each in nest.slots)]

    def place(home: Buffer, address: ir.Value, begin: ir.Value) -> ir.Value:
        """Where the first row would be: memory of one tile begins with the first row of the tile."""
        if home not in code.of_one_tile:
            return address
        return builder.gep(address, [builder.neg(builder.mul(begin, row_bytes(code, home)))])

    def run(begin: ir.Value, end: ir.Value) -> ir.Value:
        places = [place(home, address, begin) for home, address in zip(nest.homes, arguments, strict=False)]
        return builder.call(function, [begin, end, *places, *arguments[len(places) :]])

    return run


def call_run(code: StraightEmitter, call: Call) -> Run:
    """A call on some elements of its batch: all but these are passed over."""
    use, builder = use_of_call(call), code.code.builder
    assert use is not None
    extents = [[code.scalar(extent) for extent in buffer.extents] for buffer in call.buffers]
    addresses = [code.base(buffer) for buffer in call.buffers]
    dtypes = [buffer.dtype for buffer in call.buffers]
    own = [buffer.home in use.homes - use.read_elsewhere for buffer in call.buffers]
    widths = [row_bytes(code, each) if flag else None for each, flag in zip(call.buffers, own, strict=True)]
    in_tile = [buffer.home in code.of_one_tile for buffer in call.buffers]

    def run(begin: ir.Value, end: ir.Value) -> ir.Value:
        count, lengths, places = builder.sub(end, begin), [], []
        for address, each, width, stays in zip(addresses, extents, widths, in_tile, strict=True):
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


def rows_of_tile(code: StraightEmitter, rows: Rows) -> ir.Value:
    """How many rows run together: as many as fit into a tile and fill vectors, and one at least."""
    builder, one = code.code.builder, ir.Constant(I64, 1)
    size: ir.Value = one
    for home in dict.fromkeys(home for use in rows.uses for home in sorted(use.homes, key=lambda each: each.name)):
        if home.extents and home.extents[0] is rows.length:
            size = builder.add(size, row_bytes(code, home))
    count = builder.sdiv(ir.Constant(I64, TILE_BYTES), size)
    full = builder.and_(count, ir.Constant(I64, -MOST_LANES))
    count = builder.select(builder.icmp_signed(">", full, ir.Constant(I64, 0)), full, count)
    return builder.select(builder.icmp_signed(">", count, one), count, one)
