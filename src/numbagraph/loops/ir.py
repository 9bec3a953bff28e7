"""The loop-nest IR: what fusion makes of a graph, and what the emitters turn into LLVM.

A `Block` is a list of steps and the temporaries that they need; a `Program` is a block and what its entry must know.
Rank-0 values are computed between loop nests and live in registers; a `Kernel` is one loop nest: its body is a graph of
scalars (`numbagraph.intrinsics.emitters.ir`), and each of its outputs is stored, reduced, scanned or scattered.
Loops and branches are in `numbagraph.loops.control_steps`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from numbagraph.intrinsics.emitters.ir import (
    Buffer,
    CheckedIndex,
    EmitCall,
    LeafStride,
    Literal,
    Load,
    LoopIndex,
    Register,
    Scalar,
    walk,
)
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.values import Source, Value


class Store(Struct, frozen=False):
    """Every iteration stores one element."""

    buffer: Buffer
    indices: tuple[Scalar, ...]
    value: Scalar
    source: Source | None = None
    flat: bool = False
    """Whether the one index is linear."""
    apart: bool = False
    """Whether no two iterations store to one place, though that is not the place of the iteration."""


class Reduction(Struct, frozen=False):
    """Accumulates over ``reduced`` loops, then stores at ``indices`` (or into ``register`` when it is rank 0)."""

    reducer: Any
    value: Scalar
    reduced: frozenset[LoopIndex]
    indices: tuple[Scalar, ...]
    buffer: Buffer | None = None
    register: Value | None = None
    position: Scalar | None = None
    source: Source | None = None
    extrema: Buffer | None = None
    """The extrema that belong to the positions in ``buffer``, where these are found over outer loops."""


class Scan(Struct, frozen=False):
    """Stores the running value of a reducer along the innermost loop."""

    reducer: Any
    value: Scalar
    buffer: Buffer
    indices: tuple[Scalar, ...]
    factor: Scalar | None = None
    """The factor by which the accumulator is multiplied before the value joins it, in a linear recurrence."""
    exclusive: bool = False
    """Whether an element is stored before its own value joins."""
    source: Source | None = None


class Scatter(Struct, frozen=False):
    """Combines each element into one given by run-time indices; the buffer is filled beforehand."""

    reducer: Any
    value: Scalar
    buffer: Buffer
    indices: tuple[Scalar, ...]
    source: Source | None = None


Output = Store | Reduction | Scan | Scatter


def targets(output: Output) -> list[Buffer]:
    """The buffers that an output of a nest is written to."""
    extrema = output.extrema if isinstance(output, Reduction) else None
    return [each for each in (output.buffer, extrema) if each is not None]


class Split(Struct):
    """The way in which the outermost loop of a nest is cut into chunks that may run at the same time."""

    cost: int
    """The time of one iteration of all loops, relative to an addition."""
    least: int = 1
    """The least number of iterations of the outermost loop in a chunk."""


class Step(Struct, frozen=False):
    """One step of a block. It reads and writes buffers, and it uses scalars and leaves rank-0 values in registers."""

    def scalars(self) -> Iterator[Scalar]:
        """Every scalar that the step uses, operands first."""
        raise NotImplementedError

    def reads(self) -> list[Buffer]:
        """The buffers that it reads, in order of appearance."""
        return list(dict.fromkeys(scalar.buffer for scalar in self.scalars() if isinstance(scalar, Load)))

    def writes(self) -> list[Buffer]:
        """The buffers that it writes, its scratch memory among them."""
        return []

    def results(self) -> list[Value]:
        """The rank-0 values that it leaves in registers."""
        return []

    def members(self) -> Sequence[Step]:
        """The steps that it runs: itself, if it is not made of others."""
        return [self]

    def buffers(self) -> list[Buffer]:
        """The buffers that it reads or writes, each once."""
        return list(dict.fromkeys([*self.reads(), *self.writes()]))

    def owners(self) -> set[Buffer]:
        """The memory that it reads or writes."""
        return {buffer.owner for buffer in self.buffers()}

    def registers(self) -> set[Value]:
        """The rank-0 values that it uses."""
        return {scalar.value for scalar in self.scalars() if isinstance(scalar, Register)}

    def checks(self) -> bool:
        """Whether the program may end at it: a run-time index is out of bounds, or a condition does not hold."""
        return any(isinstance(scalar, CheckedIndex) for scalar in self.scalars())


class Packed(Struct):
    """The packed copies that a nest reads where its vectors run across rows. They are made before the nest."""

    times: Scalar
    """The number of times that copies are made: 1 or 0."""
    loads: dict[Load, Load]
    """The loads from the original memory, and the loads from the copies that replace them."""
    interchanged: Kernel | None = None
    """The nest that reads the copies, if its two innermost loops change places."""


class Kernel(Step, frozen=False):
    """One loop nest, outermost loop first."""

    name: str
    loops: tuple[LoopIndex, ...]
    outputs: list[Output]
    notes: list[str] = field(default_factory=list)
    """The notes of fusion on this nest, for `explain`."""
    alternative: Alternative | None = None
    split: Split | None = None
    """The way in which the nest is cut into chunks; None where it runs on one thread."""
    flattened: tuple[Scalar, ...] = ()
    """The lengths of the dimensions that the one loop stands for, if it stands for several."""
    unrolled: bool = False
    """Whether the innermost loop, which has few iterations, is code without a loop: then vectors run along the next."""
    reshapes: Buffer | None = None
    """The buffer whose elements the nest stores in the order in which they lie in memory, if it does nothing else."""
    in_bounds: bool = False
    """Whether all of its run-time indices have been checked before."""
    packed: Packed | None = None
    """The packed copies that vectors across rows read, if there are any."""
    begins: dict[LoopIndex, Scalar] = field(default_factory=dict)
    """The first index of each loop that does not begin at 0. It may follow from the loops around."""

    @property
    def lengths(self) -> tuple[Scalar, ...]:
        """The lengths of the nest's dimensions, whose product is the number of iterations."""
        return self.flattened or tuple(loop.extent for loop in self.loops)

    @property
    def rows(self) -> Scalar:
        """The length of the first dimension."""
        return self.lengths[0]

    def checks(self) -> bool:
        return not self.in_bounds and super().checks()

    @property
    def is_fill(self) -> bool:
        """Whether a nest computes nothing."""
        return all(isinstance(output.value, Literal) for output in self.outputs)

    @property
    def is_split(self) -> bool:
        """Whether it may be cut into chunks."""
        return self.split is not None

    def scalars(self) -> Iterator[Scalar]:
        return walk(self.roots())

    def roots(self) -> list[Scalar]:
        """The scalars that the nest uses directly, without those that they are computed from."""
        roots: list[Scalar] = [*(loop.extent for loop in self.loops), *self.begins.values()]
        for output in self.outputs:
            roots.extend(output.indices)
            roots.append(output.value)
            if isinstance(output, Reduction) and output.position is not None:
                roots.append(output.position)
            if isinstance(output, Scan) and output.factor is not None:
                roots.append(output.factor)
            if output.buffer is not None:
                roots.extend(output.buffer.extents)
        return roots

    def reads(self) -> list[Buffer]:
        copies = [each.buffer for each in self.packed.loads.values()] if self.packed is not None else []
        return [*super().reads(), *copies]

    def writes(self) -> list[Buffer]:
        other = self.packed.interchanged if self.packed is not None else None
        packed = other.writes() if other is not None else []
        return [*(buffer for output in self.outputs for buffer in targets(output)), *packed]

    def results(self) -> list[Value]:
        found = (output.register for output in self.outputs if isinstance(output, Reduction))
        return [value for value in found if value is not None]


class Alternative(Struct, frozen=False):
    """A nest in another order of loops, which is the better one where ``near`` is a shorter stride than ``far``."""

    kernel: Kernel
    near: LeafStride
    far: LeafStride


class Compute(Step, frozen=False):
    """A rank-0 value of the graph, computed into a register."""

    value: Value
    scalar: Scalar

    def scalars(self) -> Iterator[Scalar]:
        return walk([self.scalar])

    @cached_property
    def _reads(self) -> list[Buffer]:
        return super().reads()

    @cached_property
    def _registers(self) -> set[Value]:
        return super().registers()

    def reads(self) -> list[Buffer]:
        return self._reads  # passes ask for it many times

    def registers(self) -> set[Value]:
        return self._registers

    def results(self) -> list[Value]:
        return [self.value]


class Check(Step, frozen=False):
    """A condition that must hold: the program fails where it does not."""

    condition: Scalar

    def scalars(self) -> Iterator[Scalar]:
        return walk([self.condition])

    def checks(self) -> bool:
        return True


class Call(Step, frozen=False):
    """An opaque operation on whole buffers, such as a call of BLAS, or on each element of a batch in them."""

    name: str
    emit: EmitCall
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    attributes: dict[str, Any]
    scratch: tuple[Buffer, ...] = ()
    """Memory that the call needs while it runs."""
    cores: tuple[int, ...] = ()
    """The number of core dimensions of each operand and result, which are not those of the batch; empty if there is no
    batch."""
    work: Scalar | None = None
    """The cost of the call in additions, if several threads may compute parts of its batch."""
    in_place: bool = False
    """Whether the call may write its one result to the memory of its first operand."""
    fails_first: bool = False
    """Whether the call can only fail before it writes anything."""
    least_rows: int = 1
    """The number of rows below which the fixed cost of a call prevails."""

    @property
    def arguments(self) -> tuple[Buffer, ...]:
        """The buffers that the emitter takes, in its order."""
        return (*self.inputs, *self.outputs, *self.scratch)

    @property
    def has_batch(self) -> bool:
        """Whether the call computes several elements of a batch."""
        cores = self.cores[len(self.inputs) :]
        return any(len(each.extents) > core for each, core in zip(self.outputs, cores, strict=bool(cores)))

    @property
    def is_split(self) -> bool:
        """Whether it may be cut into chunks."""
        return self.work is not None

    def scalars(self) -> Iterator[Scalar]:
        return walk(extent for buffer in self.arguments for extent in (buffer.strides or buffer.extents))

    def reads(self) -> list[Buffer]:
        return list(dict.fromkeys(self.inputs))

    def writes(self) -> list[Buffer]:
        return [*self.outputs, *self.scratch]


class RowAccess(Struct, frozen=False):
    """The memory that a step reads and writes, by rows: the parts that belong to one iteration of its outermost loop,
    or to one element of its batch."""

    rows: Scalar
    """The number of rows."""
    owners: set[Buffer]
    """All memory that the step reads or writes."""
    written: set[Buffer]
    """Memory of which each iteration writes its own row."""
    read_elsewhere: set[Buffer] = field(default_factory=set)
    """Memory of which an iteration reads other rows, too."""
    totals: set[Buffer] = field(default_factory=set)
    """Memory in which rows are added up."""
    scratch: set[Buffer] = field(default_factory=set)
    """Memory that holds nothing before and after a row."""
    lengths: dict[Buffer, tuple[Scalar, ...]] = field(default_factory=dict)
    """The first extent of each memory as this step uses it; the memory may have another shape elsewhere. Numbers have
    none."""


class TiledLoop(Step, frozen=False):
    """Nests and calls over the same rows, which run one after the other for a tile of rows at a time.

    Each iteration, or element, needs only its own row of what they write, and nothing that they add up over all rows.
    """

    steps: list[Kernel | Call]
    accesses: list[RowAccess]
    """The memory of each step."""
    in_tile: frozenset[Buffer] = frozenset()
    """Temporary memory that holds nothing between two tiles: it is as long as a tile is."""

    @property
    def kernels(self) -> list[Kernel]:
        return [each for each in self.steps if isinstance(each, Kernel)]

    @property
    def length(self) -> Scalar:
        return self.accesses[0].rows

    @property
    def is_split(self) -> bool:
        """Whether the rows may be cut into chunks that run at the same time."""
        return all(each.is_split for each in self.steps)

    def scalars(self) -> Iterator[Scalar]:
        for each in self.steps:
            yield from each.scalars()

    def reads(self) -> list[Buffer]:
        return list(dict.fromkeys(buffer for each in self.steps for buffer in each.reads()))

    def writes(self) -> list[Buffer]:
        return [buffer for each in self.steps for buffer in each.writes()]

    def results(self) -> list[Value]:
        return [value for each in self.steps for value in each.results()]

    def members(self) -> Sequence[Step]:
        return self.steps


class Block(Struct, frozen=False):
    """Steps in order, and the temporaries that they need."""

    steps: list[Step]
    slots: list[list[Buffer]] = field(default_factory=list)
    """The temporaries: each list of buffers shares one slot, at different times."""

    def members(self) -> Iterator[Step]:
        """The steps, those of tiled loops one by one."""
        for step in self.steps:
            yield from step.members()


class Entry(Struct, frozen=False):
    """The data that a program computes and checks before it runs."""

    guards: list[Scalar]
    extents: list[tuple[Scalar, ...]]
    """The extents of each result."""
    prologue: list[Compute] = field(default_factory=list)
    """Rank-0 values that the guards and the extents need."""
    work: list[Scalar] = field(default_factory=list)


class Program(Struct, frozen=False):
    """The whole function: what it runs, what its entry must know, and where the results are."""

    body: Block
    entry: Entry
    results: list[Buffer | Scalar]
    """The source of each result. A buffer with ``result`` set is the result's own memory."""
    donations: list[tuple[Buffer, Buffer]] = field(default_factory=list)
    """Arguments that live in the memory of a result."""
    leaves: dict[int, Buffer] = field(default_factory=dict)
    """The array arguments by number, including those that no step reads."""
    name: str = "program"
    notes: list[str] = field(default_factory=list)
