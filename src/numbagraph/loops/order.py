"""The order of loops: along memory, as far as it is known, and both ways where it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from numbagraph.intrinsics.emitters.ir import Apply, LeafStride, Literal, Load, LoopIndex, Register, Scalar
from numbagraph.loops.ir import Alternative, Kernel, Reduction

CHEAP = 8
"""The number of operations up to which the body of a nest may be compiled in two orders."""

SHORT = 32
"""The number of terms of the longest sum that is unrolled."""

MOST_UNROLLED = 256
"""The number of operations, of all terms together, up to which a sum is unrolled: code takes its time to compile."""


def along_memory(kernel: Kernel) -> Kernel:
    """A nest that only accumulates, in the order in which it reads memory: the order of its terms is free."""
    if len(kernel.loops) < 2 or not all(map(is_free, kernel.outputs)):
        return kernel
    along = (load.buffer.along_memory(load.indices) for load in largest(kernel))
    fastest = Counter(loop for loop in map(growing_with, along) if loop is not None)
    candidates = [loop for loop in kernel.loops if loop in fastest]
    if candidates and kernel.loops[-1] not in fastest:
        if unrolls(kernel):
            kernel.unrolled = True
            kernel.notes.append(f"{kernel.loops[-1]} is unrolled, since memory is contiguous along the loop outside")
            return kernel
        kernel = with_innermost(kernel, max(candidates, key=fastest.__getitem__))
        kernel.notes.append(f"{kernel.loops[-1]} runs innermost, since memory is contiguous along it")
    kernel.alternative = alternative(kernel)
    return kernel


def growing_with(index: Scalar | None) -> LoopIndex | None:
    """The one loop with each step of which an index grows by one. Others, and numbers, may be added or subtracted."""
    rising: list[LoopIndex] = []
    parts = [(index, True)]
    while parts:
        part, is_added = parts.pop()
        if isinstance(part, Apply) and part.name in ("add", "subtract"):
            left, right = part.arguments
            parts += [(left, is_added), (right, is_added is (part.name == "add"))]
        elif isinstance(part, LoopIndex):
            rising += [part] if is_added else []
        elif not isinstance(part, (Literal, Register)):
            return None
    return rising[0] if len(rising) == 1 else None


def unrolls(kernel: Kernel) -> bool:
    """Whether each result is one short sum. Vectors of such results need no memory for what is added up so far.

    The position of an extremum is looked up in a loop of its own.
    """
    *outer, last = kernel.loops
    if not isinstance(last.extent, Literal) or last.extent.value > SHORT:
        return False
    reductions = [output for output in kernel.outputs if isinstance(output, Reduction)]
    alone = all(last in each.reduced and each.reduced.isdisjoint(outer) for each in reductions)
    alone = alone and not any(each.reducer.positional for each in reductions)
    return alone and operations(kernel) * last.extent.value <= MOST_UNROLLED


def operations(kernel: Kernel) -> int:
    return sum(isinstance(scalar, Apply) for scalar in kernel.scalars())


def is_free(output: object) -> bool:
    """Whether the order of loops makes no difference: of several extrema, the first along all axes is to be found."""
    return isinstance(output, Reduction) and (not output.reducer.positional or len(output.reduced) == 1)


def loads(kernel: Kernel) -> Iterator[Load]:
    return (scalar for scalar in kernel.scalars() if isinstance(scalar, Load) and scalar.indices and not scalar.flat)


def largest(kernel: Kernel) -> list[Load]:
    """The loads that most of the loops index: beside a matrix, the vector that it is multiplied with does not
    matter."""
    counts = {load: len(set(load.indices).intersection(kernel.loops)) for load in loads(kernel)}
    most = max(counts.values(), default=0)
    return [load for load, count in counts.items() if count == most]


def with_innermost(kernel: Kernel, loop: LoopIndex) -> Kernel:
    others = tuple(each for each in kernel.loops if each is not loop)
    return Kernel(kernel.name, (*others, loop), kernel.outputs, list(kernel.notes))


def alternative(kernel: Kernel) -> Alternative | None:
    """The nest in the other order, for an array whose strides say only at run time which order is along memory."""
    if operations(kernel) > CHEAP:
        return None
    last = kernel.loops[-1]
    for load in loads(kernel):
        strides, indices = load.buffer.strides, load.indices
        if strides is None or last not in indices:
            continue
        far = strides[indices.index(last)]
        for loop in reversed(kernel.loops[:-1]):
            near = strides[indices.index(loop)] if loop in indices else None
            if not (isinstance(near, LeafStride) and isinstance(far, LeafStride)):
                continue  # or the order along memory is known
            if fills_suffice(kernel, other := with_innermost(kernel, loop)):
                return Alternative(other, near, far)
    return None


def fills_suffice(kernel: Kernel, other: Kernel) -> bool:
    """Whether what is filled beforehand for one order is all that the other accumulates into."""
    reductions = [output for output in kernel.outputs if isinstance(output, Reduction)]
    return all(needs_fill(output, kernel) or not needs_fill(output, other) for output in reductions)


def needs_fill(output: Reduction, kernel: Kernel) -> bool:
    """Whether a reduction accumulates into memory: then the identity must stand there first."""
    if output.buffer is None:
        return False
    depth = len(kernel.loops)
    while depth and kernel.loops[depth - 1] in output.reduced:
        depth -= 1
    return any(loop in output.reduced for loop in kernel.loops[:depth])
