"""Hints to LLVM's loop vectoriser, for loops in which it would choose badly or take long to choose."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.emit.scalars import is_stretch
from numbagraph.intrinsics.emitters.ir import Apply, Literal, Load, LoopIndex, walk
from numbagraph.intrinsics.emitters.reducers import Sum
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.loops.ir import Kernel, Reduction, Store
from numbagraph.loops.masked_tails import depending_on
from numbagraph.loops.parallel import cost_of_operation

BLOCK = 512
"""The number of elements in a block of a compensated sum: long enough to hide the compensation, short enough to be
about as accurate as NumPy's pairwise sum."""

LANES = 8
"""The number of accumulators of a reduction that reads with strides: as many as NumPy has."""

INTERLEAVED = 4
"""The number of vectors of accumulators of a plain sum: as many as hide the latency of an addition."""

LITTLE = 1.25
"""The number of operations for each load or store that take less time than the access, where that waits for memory."""

SHORTEST_ROW = 6
"""The least number of elements of a row for which a vector along the row pays. Shorter rows are faster in vectors
across them."""


def reduces_with_strides(kernel: Kernel) -> bool:
    """Whether the innermost loop only accumulates, and reads elements that do not follow each other in memory."""
    if not kernel.loops or not all(isinstance(each, Reduction) for each in kernel.outputs):
        return False
    loop = kernel.loops[-1]
    scalars = list(kernel.scalars())
    if sum(isinstance(each, Apply) for each in scalars) > LANES:
        return False  # what takes its time to compute gains nothing, and eight copies of it take long to compile
    loads = [each for each in scalars if isinstance(each, Load) and loop in each.indices]
    apart = any(not reads_along(loop, each) for each in loads)
    return apart and all(loop in each.reduced for each in kernel.outputs if isinstance(each, Reduction))


def preferred_bits(kernel: Kernel) -> int:
    """The width of vectors with AVX-512, of which LLVM of itself uses half on some processors, and all on others."""
    return 256 if waits_for_memory(kernel) else 512


def waits_for_memory(kernel: Kernel) -> bool:
    """Whether a nest computes little of what it reads and writes. Vectors as wide as a line of the cache lie in two
    lines each, since arrays begin anywhere, and are no faster where the elements come from the next cache. (Of wider
    ones truth values are packed more quickly.)"""
    if not kernel.loops or not all(isinstance(each, Store) and each.value.dtype.kind != "b" for each in kernel.outputs):
        return False
    inside = depending_on(kernel.loops[-1], kernel)
    accesses = [*kernel.outputs, *(each for each in inside if isinstance(each, Load))]
    places = {*walk(index for each in accesses for index in each.indices)}
    if any(isinstance(each, Load) for each in places):
        return False
    return sum(map(cost_of_operation, inside - places)) <= LITTLE * len(accesses)


def copies_apart(kernel: Kernel) -> bool:
    """Whether a nest only copies elements that lie apart in memory: vectors, which LLVM would gather, are no faster
    there, and take their time to compile."""
    return bool(kernel.loops) and all(
        isinstance(each, Store) and isinstance(each.value, Load) and is_apart(kernel.loops[-1], each.value)
        for each in kernel.outputs
    )


def is_apart(loop: LoopIndex, load: Load) -> bool:
    """Whether a loop moves along a dimension whose elements do not follow each other in memory."""
    moved = [each for each in load.indices if each is loop or (is_stretch(each) and each.operands[0] is loop)]
    return bool(moved) and not load.flat and load.buffer.along_memory(load.indices) not in moved


def reads_short_rows(kernel: Kernel) -> bool:
    """Whether the innermost loop, of a known length, reads along memory, and the loops around it across."""
    *outer, loop = kernel.loops
    length = loop.extent
    if not isinstance(length, Literal) or length.value < SHORTEST_ROW:
        return False
    loads = [each for each in kernel.scalars() if isinstance(each, Load) and reads_along(loop, each)]
    return any(index in outer for each in loads for index in walk(each.indices))


def hints_outside(kernel: Kernel, *, plain: bool) -> dict[str, int]:
    """The hints for the loops around the innermost one; ``plain``: their bodies call no mathematical function."""
    if plain and reads_short_rows(kernel):
        return {"vectorize_enable": 0}  # once the inner loop is unrolled, LLVM would gather vectors across the rows
    return {}


def hints_of_sums(kernel: Kernel, function: ir.Function, *, plain: bool) -> dict[str, int]:
    """The hints for an innermost loop that only sums. Unless it is ``plain``, it needs no interleaving: the formulas of
    functions have latency of their own."""
    lanes = lanes_of_sums(kernel, function)
    return {"vectorize_width": lanes, "interleave_count": INTERLEAVED if plain else 1} if lanes else {}


def lanes_of_sums(kernel: Kernel, function: ir.Function) -> int:
    """The number of elements in a vector of the innermost loop, if that does nothing but plain sums along memory;
    otherwise 0, which leaves the choice to LLVM.

    LLVM would find the same number, and then add a second vector loop for the rest of a block: the hint saves a fifth
    of the time to compile.
    """
    width, dtypes = current_target().vector_bytes, {each.value.dtype for each in kernel.outputs}
    if width is None or len(dtypes) > 1 or not sums_along_memory(kernel) or calls_functions(function):
        return 0
    lanes, length = width // dtypes.pop().itemsize, kernel.loops[-1].extent
    # a loop of a few iterations is unrolled: nothing is left of it for LLVM to widen, and it would complain
    return 0 if isinstance(length, Literal) and length.value < lanes * INTERLEAVED else lanes


def sums_along_memory(kernel: Kernel) -> bool:
    """Whether a nest only sums, and all that its innermost loop reads is of one dtype and follows in memory."""
    loop = kernel.loops[-1]
    for output in kernel.outputs:
        if not isinstance(output, Reduction) or not isinstance(output.reducer, Sum) or loop not in output.reduced:
            return False
    dtype = kernel.outputs[0].value.dtype
    inside = depending_on(loop, kernel)
    loads = [each for each in inside if isinstance(each, Load)]
    along = all(reads_along(loop, each) for each in loads)
    return dtype.kind == "f" and along and {each.dtype for each in inside if each is not loop} == {dtype}


def reads_along(loop: LoopIndex, load: Load) -> bool:
    """Whether the elements that a load reads in a loop follow each other in memory."""
    index = load.indices[0] if load.flat else load.buffer.along_memory(load.indices)
    return index is loop and load.indices.count(loop) == 1


def calls_functions(function: ir.Function) -> bool:
    """Whether the code has calls other than those of LLVM's intrinsics."""
    instructions = (each for block in function.blocks for each in block.instructions)
    callees = (each.callee for each in instructions if isinstance(each, ir.CallInstr))
    return any(isinstance(each, ir.Function) and not each.name.startswith("llvm.") for each in callees)
