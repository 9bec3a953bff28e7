"""Stores into parts of arrays whose values are first computed into a buffer of their own.

``A[j, 1:-1] = A[j - 1, :-2] + A[j, 2:]`` reads the array that it changes. If that were a copy of the whole array, it
would not matter in which order; where the part has fewer dimensions than the array, or is a few of its rows, memory for
the part costs less. So it does of an argument that is written where it lies, if an index array says which part:
``x[i] += v`` has few elements as a rule, and the argument many.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from numbagraph.intrinsics.emitters.ir import Buffer, CheckedIndex, Literal, Load, Register, Scalar, walk
from numbagraph.ir.values import ArrayType, Extent, Value
from numbagraph.loops.copies import copied, reads_before
from numbagraph.loops.ir import Kernel, Step, Store

FEW = 16
"""The number of rows up to which memory for them costs less than a copy of the array."""


def with_buffered_parts(steps: Sequence[Step], given: Mapping[int, int]) -> list[Step]:
    """The steps, where one that changes the copy of an array, and reads the array elsewhere, has become two. ``given``
    says which arguments may live in the memory of which result."""
    sources = {target: source for source, target in filter(None, map(copied, steps))}
    written = {target for target in sources if origin(target, sources).leaf in given}
    return [part for step in steps for part in buffered(step, sources, written)]


def origin(buffer: Buffer, sources: Mapping[Buffer, Buffer]) -> Buffer:
    """Return the array that a copy, or a chain of copies, was made from."""
    while buffer in sources:
        buffer = sources[buffer]
    return buffer


def buffered(step: Step, sources: Mapping[Buffer, Buffer], written: Collection[Buffer]) -> list[Step]:
    store = step.outputs[0] if isinstance(step, Kernel) and len(step.outputs) == 1 else None
    if not isinstance(step, Kernel) or not isinstance(store, Store) or store.buffer not in sources:
        return [step]
    source, loops = sources[store.buffer], step.loops
    extents = [extent_of(each.extent) for each in loops]
    long = sum(not isinstance(each, int) or each > FEW for each in extents)
    chosen = store.buffer in written and any(isinstance(each, CheckedIndex) for each in store.indices)
    if (long >= store.buffer.type.ndim and not chosen) or None in extents or reads(store.indices, source):
        return [step]
    if not reads([store.value], source) or reads_before(step, source, store.buffer):
        return [step]
    shape = tuple(each for each in extents if each is not None)
    part = Buffer(
        f"{store.buffer.name}_part", ArrayType(store.buffer.dtype, shape), tuple(each.extent for each in loops)
    )
    return [
        Kernel(step.name, loops, [Store(part, loops, store.value, store.source)]),
        Kernel(step.name, loops, [Store(store.buffer, store.indices, Load(part, loops), store.source, store.flat)]),
    ]


def reads(scalars: Sequence[Scalar], buffer: Buffer) -> bool:
    return any(isinstance(each, Load) and each.buffer is buffer for each in walk(scalars))


def extent_of(scalar: Scalar) -> Extent | None:
    """The length that a scalar stands for, if it is one that a value of the graph is known to have."""
    if isinstance(scalar, Literal):
        return int(scalar.value)
    return scalar.value if isinstance(scalar, Register) and isinstance(scalar.value, Value) else None
