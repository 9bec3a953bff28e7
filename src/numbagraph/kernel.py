"""The loop-nest IR: what fusion makes of a graph, and what the emitters turn into LLVM.

A `Program` is a list of steps. Rank-0 values are computed between loop nests and live in registers; a `Kernel` is
one loop nest: its body is a graph of scalars (`Scalar`), and each of its outputs is stored, reduced, scanned or
scattered. Buffers are the memory that kernels read and write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from numbagraph.graph import Source, Value
from numbagraph.structs import Struct
from numbagraph.types import INT64, ArrayType

Emit = Callable[..., Any]
"""``emit(emitter, *operands) -> llvmlite.ir.Value``: the LLVM of one scalar operation."""


class Scalar:
    """One number in the body of a loop nest."""

    __slots__ = ("__weakref__", "dtype")
    dtype: np.dtype

    @property
    def operands(self) -> tuple[Scalar, ...]:
        return ()


class Literal(Scalar):
    __slots__ = ("value",)

    def __init__(self, value: Any, dtype: np.dtype) -> None:
        self.value = value
        self.dtype = dtype

    def __repr__(self) -> str:
        return repr(self.value)


class Register(Scalar):
    """A rank-0 value of the graph, computed before the loop nest."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value
        self.dtype = value.dtype

    def __repr__(self) -> str:
        return str(self.value)


class LeafStride(Scalar):
    """The stride in bytes of one axis of a leaf that is not contiguous."""

    __slots__ = ("axis", "leaf")

    def __init__(self, leaf: int, axis: int) -> None:
        self.leaf = leaf
        self.axis = axis
        self.dtype = INT64

    def __repr__(self) -> str:
        return f"stride{self.leaf}.{self.axis}"


class LoopIndex(Scalar):
    """The running index of one loop; ``extent`` is its trip count."""

    __slots__ = ("extent", "name")

    def __init__(self, name: str, extent: Scalar) -> None:
        self.name = name
        self.extent = extent
        self.dtype = INT64

    def __repr__(self) -> str:
        return self.name


class Apply(Scalar):
    """A scalar operation, by its emitter."""

    __slots__ = ("arguments", "emit", "name")

    def __init__(self, name: str, emit: Emit, arguments: tuple[Scalar, ...], dtype: np.dtype) -> None:
        self.name = name
        self.emit = emit
        self.arguments = arguments
        self.dtype = dtype

    @property
    def operands(self) -> tuple[Scalar, ...]:
        return self.arguments

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.arguments))})"


class Load(Scalar):
    """An element of a buffer; ``flat`` reads a C-contiguous buffer by its linear index."""

    __slots__ = ("buffer", "flat", "indices")

    def __init__(self, buffer: Buffer, indices: tuple[Scalar, ...], flat: bool = False) -> None:
        self.buffer = buffer
        self.indices = indices
        self.flat = flat
        self.dtype = buffer.dtype

    @property
    def operands(self) -> tuple[Scalar, ...]:
        return self.indices

    def __repr__(self) -> str:
        return f"{self.buffer.name}[{', '.join(map(repr, self.indices))}]"


class CheckedIndex(Scalar):
    """A run-time index, wrapped when negative. Out of bounds, it raises the kernel's flag and reads element 0.

    The flag is tested once, after the loop: a branch inside it would keep LLVM from vectorising.
    """

    __slots__ = ("extent", "index", "inside")

    def __init__(self, index: Scalar, extent: Scalar, inside: tuple[Scalar, ...] = ()) -> None:
        self.index = index
        self.extent = extent
        self.inside = inside
        """Loops that it belongs into though it is the same in each of their iterations: there may be none."""
        self.dtype = INT64

    @property
    def operands(self) -> tuple[Scalar, ...]:
        return (self.index, self.extent, *self.inside)

    def __repr__(self) -> str:
        return f"checked({self.index!r} < {self.extent!r})"


class Buffer(Struct, frozen=False):
    """Memory of an array. ``leaf`` and ``result`` say whose it is; neither: a temporary of the program."""

    name: str
    type: ArrayType
    extents: tuple[Scalar, ...]
    strides: tuple[LeafStride, ...] | None = None
    """Strides in bytes; None where they follow from the extents."""
    fortran: bool = False
    """Whether the first index is the one along memory."""
    leaf: int | None = None
    result: int | None = None
    literal: np.ndarray | None = None
    shares: Buffer | None = None
    """The buffer whose memory this one lives in: the memory plan makes sure that their lives do not overlap."""

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def home(self) -> Buffer:
        """The buffer that stands for the memory."""
        buffer = self
        while buffer.shares is not None:
            buffer = buffer.shares
        return buffer

    @property
    def contiguous(self) -> bool:
        """Whether the elements follow each other in C order."""
        return self.strides is None and not self.fortran

    def along_memory(self, indices: Sequence[Scalar]) -> Scalar | None:
        """Which of an element's indices is the one along memory, as far as that is known."""
        if self.strides is not None or not indices:
            return None
        places = list(zip(indices, self.extents, strict=True))
        long = [index for index, extent in places if not (isinstance(extent, Literal) and extent.value == 1)]
        return (long or indices)[0 if self.fortran else -1]

    @property
    def temporary(self) -> bool:
        return self.leaf is None and self.result is None and self.literal is None


class Store(Struct, frozen=False):
    """Every iteration stores one element."""

    buffer: Buffer
    indices: tuple[Scalar, ...]
    value: Scalar
    source: Source | None = None
    flat: bool = False
    """Whether the one index is linear."""


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
    """What the accumulator is multiplied by before the value joins it, in a linear recurrence."""
    exclusive: bool = False
    """Whether an element is stored before its own value joins."""
    source: Source | None = None


class Scatter(Struct, frozen=False):
    """Combines each element into a place given by run-time indices; the buffer is filled beforehand."""

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
    """How the outermost loop of a nest is cut into chunks, which may run at the same time."""

    cost: int
    """Time for one iteration of all loops, relative to an addition."""
    least: int = 1
    """Iterations of the outermost loop that a chunk has at least."""


class Kernel(Struct, frozen=False):
    """One loop nest, outermost loop first."""

    name: str
    loops: tuple[LoopIndex, ...]
    outputs: list[Output]
    notes: list[str] = field(default_factory=list)
    """What fusion decided about this nest, for `explain`."""
    alternative: Alternative | None = None
    split: Split | None = None
    """None where the nest runs on one thread."""
    flattened: tuple[Scalar, ...] = ()
    """The lengths of the dimensions that the one loop stands for, if it stands for several."""
    unrolled: bool = False
    """Whether the innermost loop, which has few iterations, is code without a loop: then vectors run along the next."""

    @property
    def rows(self) -> Scalar:
        """The length of the first dimension."""
        return (self.flattened or tuple(loop.extent for loop in self.loops))[0]

    @property
    def is_fill(self) -> bool:
        """Whether a nest computes nothing."""
        return all(isinstance(output.value, Literal) for output in self.outputs)

    def scalars(self) -> Iterator[Scalar]:
        """Every scalar of the nest, operands first."""
        roots: list[Scalar] = [loop.extent for loop in self.loops]
        for output in self.outputs:
            roots.extend(output.indices)
            roots.append(output.value)
            if isinstance(output, Reduction) and output.position is not None:
                roots.append(output.position)
            if isinstance(output, Scan) and output.factor is not None:
                roots.append(output.factor)
            if output.buffer is not None:
                roots.extend(output.buffer.extents)
        yield from walk(roots)

    def buffers(self) -> list[Buffer]:
        """Every buffer that the nest reads or writes, in order of appearance."""
        found = dict.fromkeys(scalar.buffer for scalar in self.scalars() if isinstance(scalar, Load))
        found.update(dict.fromkeys(buffer for output in self.outputs for buffer in targets(output)))
        return list(found)


class Alternative(Struct, frozen=False):
    """A nest in another order of loops, which is the better one where ``near`` is a shorter stride than ``far``."""

    kernel: Kernel
    near: LeafStride
    far: LeafStride


class Compute(Struct, frozen=False):
    """A rank-0 value of the graph, computed into a register."""

    value: Value
    scalar: Scalar


class Call(Struct, frozen=False):
    """An opaque operation on whole buffers, such as a call of BLAS, or on each element of a batch in them."""

    name: str
    emit: Emit
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    attributes: dict[str, Any]
    scratch: tuple[Buffer, ...] = ()
    """Memory that is needed while it runs."""
    cores: tuple[int, ...] = ()
    """How many dimensions of each operand and result are not those of a batch; empty if there is no batch."""
    work: Scalar | None = None
    """What it costs, in additions, if several threads may compute parts of its batch."""

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return (*self.inputs, *self.outputs, *self.scratch)


Step = Compute | Kernel | Call


class Program(Struct, frozen=False):
    """The whole function: steps in order, and where the results are."""

    steps: list[Step]
    results: list[Buffer | Scalar]
    """What each result is stored from; a buffer with ``result`` set is the result's own memory."""
    guards: list[Scalar]
    extents: list[tuple[Scalar, ...]]
    """The extents of each result."""
    prologue: list[Compute] = field(default_factory=list)
    """Rank-0 values that the guards and the extents need."""
    arena: list[list[Buffer]] = field(default_factory=list)
    """Temporaries: each list of buffers shares one place, at different times."""
    donations: list[tuple[Buffer, Buffer]] = field(default_factory=list)
    """Arguments that live in the memory of a result."""
    work: list[Scalar] = field(default_factory=list)
    name: str = "program"
    notes: list[str] = field(default_factory=list)


def walk(roots: Iterable[Scalar]) -> Iterator[Scalar]:
    """Every scalar below ``roots``, operands first, each once."""
    seen: set[Scalar] = set()
    stack: list[tuple[Scalar, bool]] = [(root, False) for root in reversed(list(roots))]
    while stack:
        scalar, ready = stack.pop()
        if ready:
            yield scalar
        elif scalar not in seen:
            seen.add(scalar)
            stack.append((scalar, True))
            for operand in scalar.operands:
                if operand not in seen:
                    stack.append((operand, False))
            if isinstance(scalar, Load):
                layout = scalar.buffer.strides or scalar.buffer.extents
                stack.extend((each, False) for each in layout if each not in seen)


def step_scalars(step: Step) -> Iterable[Scalar]:
    """Every scalar that a step uses."""
    if isinstance(step, Compute):
        return walk([step.scalar])
    if isinstance(step, Kernel):
        return step.scalars()
    return walk(extent for buffer in step.buffers for extent in (buffer.strides or buffer.extents))


def literal(value: int) -> Literal:
    """An index or an extent. Interned, as is all index arithmetic: nests remember elements by their index."""
    return _interned((Literal, value), lambda: Literal(value, INT64))


def register(value: Value) -> Register:
    return _interned((Register, value), lambda: Register(value))


def index_operation(name: str, emit: Emit, *arguments: Scalar) -> Apply:
    return _interned((name, arguments), lambda: Apply(name, emit, arguments, INT64))


def checked(index: Scalar, extent: Scalar, inside: tuple[Scalar, ...] = ()) -> CheckedIndex:
    return _interned((CheckedIndex, index, extent, inside), lambda: CheckedIndex(index, extent, inside))


def _interned(key: Any, make: Callable[[], Any]) -> Any:
    found = _scalars.get(key)
    if found is None:
        found = _scalars[key] = make()
    return found


_scalars: WeakValueDictionary[Any, Scalar] = WeakValueDictionary()
