"""Tiling: loop nests and batched calls that run together, some rows at a time, so that what one of them writes is in
cache when the next one reads it. It depends on what memory the buffers share, so it is the last pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from numbagraph.intrinsics.emitters.ir import Buffer, Load, Scalar
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import Value
from numbagraph.loops.ir import (
    Block,
    Call,
    Compute,
    Kernel,
    Output,
    Program,
    Reduction,
    RowAccess,
    Scan,
    Scatter,
    Step,
    Store,
    TiledLoop,
    targets,
)

MOST_MEMBERS = 16
"""The largest number of nests and calls that run together. More of them would read and write more than the caches' ways
can hold."""


def tiled(program: Program) -> Program:
    """The program with steps together where that saves reading memory."""
    block = program.body
    return replace(program, body=Block(with_short_temporaries(tiled_steps(block.steps)), block.slots))


def tiled_steps(steps: Iterable[Step]) -> list[Step]:
    result: list[Step] = []
    group = Group()
    for step in steps:
        if group.is_independent(step):
            result.append(step)
        elif not group.take(step) and not group.delay(step):
            result += group.finished()
            group = Group()
            if not group.take(step):
                result.append(step)
    return result + group.finished()


def with_short_temporaries(steps: Sequence[Step]) -> list[Step]:
    """The steps, in which temporary memory that holds nothing between two tiles is as long as a tile."""
    result = []
    for step in steps:
        if isinstance(step, TiledLoop) and not step.is_split:
            elsewhere = {owner for other in steps if other is not step for owner in memory_of(other)}
            elsewhere |= {owner for use in step.accesses for owner in use.read_elsewhere | use.totals | use.scratch}
            elsewhere |= {
                owner
                for use in step.accesses
                for owner, length in use.lengths.items()
                if length != owner.extents[:1]  # a row has another size
            }
            own = {owner for use in step.accesses for owner in use.written if owner.temporary}
            short = frozenset(owner for owner in own - elsewhere if owner.extents[0] is step.length)
            result.append(replace(step, in_tile=short))
        else:
            result.append(step)
    return result


def memory_of(step: Step) -> set[Buffer]:
    if isinstance(step, TiledLoop):
        return {owner for use in step.accesses for owner in use.owners | use.scratch}
    return step.owners()


class Group(Struct, frozen=False):
    """Steps that may run together, as far as the steps of a program have been looked at."""

    steps: list[Kernel | Call] = field(default_factory=list)
    accesses: list[RowAccess] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)
    """The steps that use the results of sums over all rows."""
    later: set[Value] = field(default_factory=set)
    """The values that are known only when all rows have run."""

    def take(self, step: Step) -> bool:
        """Add a step, if it can be one of them."""
        access = access_of(step)
        if access is None or len(self.steps) == MOST_MEMBERS or not all(fit(each, access) for each in self.accesses):
            return False
        if any(conflict(step, each) for each in self.after):
            return False
        assert isinstance(step, (Kernel, Call))
        if self.awaits(step):
            return False
        if self.steps and self.steps[0].is_split != step.is_split:
            return False
        self.later.update(step.results())
        self.steps.append(step)
        self.accesses.append(access)
        return True

    def awaits(self, step: Step) -> bool:
        """Whether a step uses what is known only when all rows have run."""
        return bool(self.later) and not self.later.isdisjoint(step.registers())

    def delay(self, step: Step) -> bool:
        """Note a step to be done afterwards, if it follows from sums over all rows."""
        totals = {owner for access in self.accesses for owner in access.totals}
        follows = isinstance(step, Compute) and not step.reads() and self.awaits(step)
        if isinstance(step, Kernel):
            follows = not totals.isdisjoint(step.owners()) or self.awaits(step)
        if not follows:
            return False
        self.after.append(step)
        self.later.update(step.results())
        return True

    def is_independent(self, step: Step) -> bool:
        """Whether a step can be done before the others: what is computed from scalars, and what fills other memory."""
        if isinstance(step, Compute):
            return not step.reads() and not self.awaits(step)
        if not isinstance(step, Kernel) or not step.is_fill:
            return False
        touched = {owner for access in self.accesses for owner in access.owners | access.scratch}
        return touched.isdisjoint(step.owners()) and not any(conflict(step, each) for each in self.after)

    def finished(self) -> list[Step]:
        """The steps, together where that saves reading memory, and what follows from them."""
        if len(self.steps) > 1 and self.pays():
            return [TiledLoop(self.steps, self.accesses), *self.after]
        return [*map(by_itself, self.steps, self.accesses), *self.after]

    def pays(self) -> bool:
        """Whether two of the steps use the same memory."""
        owners = [access.owners for access in self.accesses]
        return sum(map(len, owners)) > len(set().union(*owners))


def by_itself(step: Kernel | Call, access: RowAccess) -> Step:
    """A step that does not run together with others; a call is cut into chunks as rows are."""
    return TiledLoop([step], [access]) if isinstance(step, Call) and step.is_split else step


def access_of(step: Step) -> RowAccess | None:
    """The access of a step to memory by rows; None if it does not work by rows, or if one memory has several lengths in
    it."""
    access = None
    if isinstance(step, Call):
        access = access_of_call(step)
    elif isinstance(step, Kernel):
        access = access_of_nest(step)
    if access is None:
        return None
    for each in step.buffers():
        if access.lengths.setdefault(each.owner, each.extents[:1]) != each.extents[:1]:
            return None
    return access


def access_of_nest(kernel: Kernel) -> RowAccess | None:
    """Each iteration of the outermost loop must write to its own row of each result, or add to what all share."""
    if not kernel.loops or kernel.alternative is not None:
        return None
    if not all(writes_row(output, kernel) or needs_all_rows(output, kernel) for output in kernel.outputs):
        return None
    totals = {buffer.owner for output in kernel.outputs if needs_all_rows(output, kernel) for buffer in targets(output)}
    written = {buffer.owner for buffer in kernel.writes()} - totals
    elsewhere = {load.buffer.owner for load in loads(kernel) if not is_row(load.indices, load.flat, kernel)}
    return RowAccess(kernel.rows, kernel.owners(), written, elsewhere, totals)


def access_of_call(call: Call) -> RowAccess | None:
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
            elsewhere.add(buffer.owner)
        elif own[0] is not batch[0]:
            return None  # it may have one row for all, which only lengths will tell
    unwanted = {each.owner for each in call.outputs} & elsewhere
    scratch = unwanted | {each.owner for each in call.scratch}
    written = {each.owner for each in call.outputs} - unwanted
    owners = {each.owner for each in (*call.inputs, *call.outputs)} - unwanted
    return RowAccess(batch[0], owners, written, elsewhere - unwanted, scratch=scratch)


def conflict(one: Step, other: Step) -> bool:
    """Whether the order of two steps makes a difference to memory."""
    written, others = ({buffer.owner for buffer in each.writes()} for each in (one, other))
    return not written.isdisjoint(other.owners()) or not others.isdisjoint(one.owners())


def fit(one: RowAccess, other: RowAccess) -> bool:
    """Whether two steps may run together: rows of memory that both use are the same ones."""
    if any(other.lengths.get(owner, length) != length for owner, length in one.lengths.items()):
        return False
    if one.rows is not other.rows or one.written & other.read_elsewhere or other.written & one.read_elsewhere:
        return False
    return not any(
        first.totals & (second.owners | second.scratch) or first.scratch & second.owners
        for first, second in ((one, other), (other, one))
    )


def writes_row(output: Output, kernel: Kernel) -> bool:
    if isinstance(output, Scatter) or not output.indices or needs_all_rows(output, kernel):
        return False
    goes_on = isinstance(output, Scan) and len(kernel.loops) == 1
    return not goes_on and is_row(output.indices, isinstance(output, Store) and output.flat, kernel)


def is_row(indices: tuple[Scalar, ...], flat: bool, kernel: Kernel) -> bool:
    """Whether an element stands in the row of the iteration that uses it."""
    return flat == bool(kernel.flattened) and indices[0] is kernel.loops[0]


def needs_all_rows(output: Output, kernel: Kernel) -> bool:
    """Whether an output is there only when all rows have run."""
    return adds_rows(output, kernel) or (isinstance(output, Store) and output.apart)


def adds_rows(output: Output, kernel: Kernel) -> bool:
    """Whether an output accumulates over the rows."""
    return isinstance(output, Reduction) and kernel.loops[0] in output.reduced and output.extrema is None


def loads(kernel: Kernel) -> Iterable[Load]:
    return (scalar for scalar in kernel.scalars() if isinstance(scalar, Load) and scalar.indices)
