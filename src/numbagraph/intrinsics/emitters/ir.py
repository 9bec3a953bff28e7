"""Scalar expressions, the body of a loop nest, and the buffers that they read.

An `Apply` names the emitter that turns it into LLVM; a `Load` is an element of a `Buffer`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Value

if TYPE_CHECKING:
    from llvmlite import ir

    from numbagraph.intrinsics.emitters.emitter import Emitter


class Emit(Protocol):
    """A function that emits one scalar operation at the emitter's position.

    Each of ``operands`` is an `Operand`: a register, and its dtype, which is that of the loop that NumPy would choose.
    ``attributes`` are those of the node. It returns a register of the result's dtype, which the caller knows from
    `Apply`. A bool is one bit there, a complex number a pair. An emitter has a fixed number of operands, which is why
    their types are open here.
    """

    def __call__(self, emitter: Emitter, /, *operands: Any, **attributes: Any) -> ir.Value: ...


class EmitCall(Protocol):
    """A function that emits an operation on whole buffers: those of the operands, of the results, and scratch memory.

    ``addresses`` point to the first byte of each buffer, ``extents`` are the lengths of all its dimensions (which
    include those of a batch), ``dtypes`` the dtypes of its elements. ``attributes`` are those of the node. The code
    writes the results. The function returns one bit, whether that has failed; or None where it cannot fail; or the code
    that the program returns then, a number of 32 bits, which is 0 where it has not failed.
    """

    def __call__(
        self,
        emitter: Emitter,
        addresses: Sequence[ir.Value],
        extents: Sequence[Sequence[ir.Value]],
        dtypes: Sequence[np.dtype],
        /,
        *_: Any,
        **attributes: Any,
    ) -> ir.Value | None: ...


class Scalar:
    """A scalar in the body of a loop nest."""

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
        """Loops that the check belongs into though the index is the same in each of their iterations: they may take no
        step."""
        self.dtype = INT64

    @property
    def operands(self) -> tuple[Scalar, ...]:
        return (self.index, self.extent, *self.inside)

    def __repr__(self) -> str:
        return f"checked({self.index!r} < {self.extent!r})"


class Buffer(Struct, frozen=False, eq=False):
    """The memory of an array: of a ``leaf`` or of a ``result``; if it is neither, of a temporary of the program."""

    name: str
    type: ArrayType
    extents: tuple[Scalar, ...]
    strides: tuple[LeafStride | Literal, ...] | None = None
    """Strides in bytes, of which that of the last axis may be known; None where they follow from the extents."""
    fortran: bool = False
    """Whether the first index is the one along memory."""
    leaf: int | None = None
    result: int | None = None
    literal: np.ndarray | None = None
    shares: Buffer | None = None
    """The buffer whose memory this one lives in: the memory plan makes sure that their lives do not overlap."""
    value: Value | None = None
    """The value of the graph that is stored there, if it is one: for errors."""

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def owner(self) -> Buffer:
        """The buffer whose memory this one lives in, itself if it has its own."""
        buffer = self
        while buffer.shares is not None:
            buffer = buffer.shares
        return buffer

    def allocation(self) -> Iterator[Buffer]:
        """The buffer, and those that it lives in, up to the owner of the memory."""
        buffer: Buffer | None = self
        while buffer is not None:
            yield buffer
            buffer = buffer.shares

    @property
    def contiguous(self) -> bool:
        """Whether the elements follow each other in C order."""
        return self.strides is None and not self.fortran

    @property
    def rows(self) -> bool:
        """Whether the elements of a row follow each other, and the rows do not."""
        return self.strides is not None and isinstance(self.strides[-1], Literal)

    def along_memory(self, indices: Sequence[Scalar]) -> Scalar | None:
        """Return the one of an element's indices that runs along memory, as far as that is known."""
        if not indices:
            return None
        if self.strides is not None:
            return indices[-1] if self.rows else None
        along = zip(indices, self.extents, strict=True)
        long = [index for index, extent in along if not (isinstance(extent, Literal) and extent.value == 1)]
        return (long or indices)[0 if self.fortran else -1]

    @property
    def temporary(self) -> bool:
        return self.leaf is None and self.result is None and self.literal is None


def walk(roots: Iterable[Scalar]) -> Iterator[Scalar]:
    """Yield every scalar below ``roots``, operands first, each once."""
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


def literal(value: int) -> Literal:
    """An index or an extent. Interned, as is all index arithmetic: nests remember elements by their index."""
    return _interned((Literal, value), lambda: Literal(value, INT64))


def register(value: Value) -> Register:
    return _interned((Register, value), lambda: Register(value))


def index_operation(name: str, emit: Emit, *arguments: Scalar) -> Apply:
    return _interned((name, arguments), lambda: Apply(name, emit, arguments, INT64))


def checked(index: Scalar, extent: Scalar, inside: tuple[Scalar, ...] = ()) -> CheckedIndex:
    return _interned((CheckedIndex, index, extent, inside), lambda: CheckedIndex(index, extent, inside))


def _interned(key: Hashable, make: Callable[[], Any]) -> Any:
    found = _scalars.get(key)
    if found is None:
        found = _scalars[key] = make()
    return found


_scalars: WeakValueDictionary[Any, Scalar] = WeakValueDictionary()
