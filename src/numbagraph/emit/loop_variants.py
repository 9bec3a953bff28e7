"""The variants of the innermost loop of a nest, chosen by what it reads and accumulates."""

from __future__ import annotations

from collections.abc import Container, Iterable

from numbagraph.emit.collapsed_loops import has_joined_rows, innermost_loops
from numbagraph.emit.hints import BLOCK, reads_along, reduces_with_strides, sums_along_memory
from numbagraph.emit.scalars import is_stretch
from numbagraph.intrinsics.emitters.ir import Apply, Buffer, Load, LoopIndex, Scalar, walk
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.intrinsics.emitters.vecmath.declare import has_formulas
from numbagraph.ir.structs import Struct
from numbagraph.loops.control_steps import Branch, Loop
from numbagraph.loops.early_exits import is_of_numbers
from numbagraph.loops.ir import Check, Kernel, Scatter, Step
from numbagraph.loops.masked_tails import WITH_MASKS, depending_on, is_worth_masks
from numbagraph.loops.outer_vectorisation import reduces_rows, runs_across

MOST_COPIED = 8
"""The largest number of arrays that are copied: each takes a few kilobytes of the stack."""


SHORT_ROW, SHORT_ROW_ACROSS = 32, 256
"""The number of elements of a row up to which it is summed without blocks: in vectors along the row, and across
rows."""

MOST_INLINED = 6
"""The number of mathematical functions of a nest whose code stands in its loop; further ones are called. Inlined, each
takes up to 6 ms to compile, and a call next to none, but one exponential takes 0.7 ns an element in a loop and 1.3 ns
by calls."""

MOST_COPIES = 4
"""The number of operations of an iteration up to which it stands several times in a loop, for several rows."""

DIVISIONS = ("remainder", "floor_divide")

COPIES = 4
"""The number of copies of a step, one after the other, in a loop that cannot be vectorised."""


class Choices(Struct):
    """The decisions about the innermost loop of a nest."""

    copied: tuple[Load, ...]
    """The loads with strides whose elements are copied into memory of their own for each block."""
    delayed: dict[Scatter, tuple[Scalar, ...]]
    """The scatters that wait until a block has been computed, and the scalars that are kept for each of its
    elements."""
    strided: bool
    """Whether the loop only accumulates elements that it reads with strides, and so runs in scalar lanes."""
    masked: bool
    """Whether the rest of a row, behind whole vectors, is computed in masked vectors, and not one by one."""
    joined: bool
    """Whether the innermost loop goes on from one row to the next."""
    across: bool
    """Whether short rows are reduced in vectors across them."""
    several: bool
    """Whether several short rows are summed at a time, in vectors along them."""
    masked_sums: bool
    """Whether the rest of a row, behind whole blocks of vectors, is summed in masked vectors."""

    @property
    def short_row(self) -> int:
        """Terms up to which a sum is not compensated."""
        return BLOCK if self.several else SHORT_ROW_ACROSS if self.across else SHORT_ROW


def choices_for(kernel: Kernel, *, in_region: bool) -> Choices:
    copied = () if kernel.unrolled else tuple(strided_loads(kernel))
    strided = not copied and not kernel.unrolled and reduces_with_strides(kernel)
    masked = not strided and is_worth_masks(kernel, is_repeated=in_region)
    of_rows = len(kernel.loops) > 1 and not kernel.unrolled and sums_along_memory(kernel)
    joined, across = has_joined_rows(kernel), runs_across(kernel) or reads_packed(kernel)
    # inside of a further loop, it would be asked each time whether there are several
    several = of_rows and len(kernel.loops) == 2 and not across and reduces_rows(kernel) and is_worth_copies(kernel)
    masked_sums = of_rows and current_target().vector_bytes == WITH_MASKS
    return Choices(copied, delayed_scatters(kernel), strided, masked, joined, across, several, masked_sums)


def reads_packed(kernel: Kernel) -> bool:
    """Whether strips of a nest read packed copies."""
    return kernel.packed is not None and kernel.packed.interchanged is None


def is_worth_copies(kernel: Kernel) -> bool:
    """Whether the innermost loop computes little: copies of more take long to compile, and hide no latency."""
    inside = depending_on(kernel.loops[-1], kernel)
    return sum(isinstance(each, Apply) for each in inside) <= MOST_COPIES and not computes_functions(inside)


def is_worth_unrolling(loop: Loop) -> bool:
    """Whether a loop carries numbers alone, some of which branches choose, and runs nothing long in a step.

    LLVM does not unroll it by itself, since the number of steps in a strip takes long to compute.
    """
    if loop.stacked or any(isinstance(each.initial, Buffer) for each in loop.carried):
        return False
    steps = list(loop.body.program.body.members())
    return any(isinstance(each, Branch) for each in steps) and all(map(is_of_numbers, steps))


def leaves_in_steps(loop: Loop) -> bool:
    """Whether steps may end a loop, since something is checked in them, and nothing long runs in a step.

    LLVM vectorises no such loop, and does not unroll it: of its copies each asks whether there is another step, too.
    """
    steps = list(loop.body.program.body.members())
    return any(map(may_leave, steps)) and all(map(is_of_numbers, steps))


def may_leave(step: Step) -> bool:
    if isinstance(step, Branch):
        return any(may_leave(each) for region in step.regions for each in region.program.body.members())
    return isinstance(step, Check) or step.checks()


def strided_loads(kernel: Kernel) -> list[Load]:
    """The loads with strides in the innermost loop, if mathematical functions are computed of them.

    LLVM widens a loop that reads with strides by gathering, and then each element takes five times as long. Where
    little is computed, a copy would take as long.
    """
    if not kernel.loops:
        return []
    loop, inside = kernel.loops[-1], depending_on(kernel.loops[-1], kernel)
    if not computes_functions(inside):
        return []
    found = [each for each in kernel.scalars() if isinstance(each, Load) and each in inside]
    apart = [each for each in found if not reads_along(loop, each)]
    simple = all(each.indices.count(loop) == 1 and len(inside.intersection(each.indices)) == 1 for each in apart)
    return apart if simple and len(apart) <= MOST_COPIED else []


def stretches_of(kernel: Kernel) -> list[Apply]:
    """The positions along dimensions whose lengths may turn out to be 1, if the innermost loop moves any of them."""
    found = [each for each in kernel.scalars() if isinstance(each, Apply) and is_stretch(each)]
    moves = any(loop in walk([each]) for loop in innermost_loops(kernel) for each in found)
    return found if moves and not kernel.unrolled else []


def computes_functions(scalars: Iterable[Scalar]) -> bool:
    return any(isinstance(each, Apply) and has_formulas(each.name) for each in scalars)


def delayed_scatters(kernel: Kernel) -> dict[Scatter, tuple[Scalar, ...]]:
    """Scatters of a nest that wait until a block of the innermost loop has been computed.

    Indices that are known at run time only may be equal, so LLVM widens no loop that adds to them, nor what else it
    computes: mathematical functions take five times as long, and the bins of real numbers four times.
    """
    if not kernel.loops:
        return {}
    loop, inside = kernel.loops[-1], depending_on(kernel.loops[-1], kernel)
    found = [each for each in kernel.outputs if isinstance(each, Scatter) and scatters_along(loop, each, inside)]
    if len(found) > MOST_COPIED:
        return {}
    if computes_functions(inside):
        return {each: kept_of(each, inside) for each in found}
    return {each: kept for each in found if len(kept := kept_of(each, inside)) > (each.value in inside)}


def kept_of(output: Scatter, inside: Container[Scalar]) -> tuple[Scalar, ...]:
    """The scalars to be kept for a delayed scatter, among those that change along the loop: its value, and the indices
    that take long."""
    values = [output.value] if output.value in inside else []
    return (*values, *(each for each in output.indices if each in inside and is_faster_in_vectors(each)))


def is_faster_in_vectors(index: Scalar) -> bool:
    """Whether an index follows from real numbers, or from a division."""
    applied = [each for each in walk([index]) if isinstance(each, Apply)]
    reals = any(operand.dtype.kind == "f" for each in applied for operand in each.operands)
    return reals or any(each.name in DIVISIONS for each in applied)


def scatters_along(loop: LoopIndex, output: Scatter, inside: Container[Scalar]) -> bool:
    """Whether the indices that a scatter goes to in a loop are known at run time only."""
    return any(each in inside and each is not loop for each in output.indices)
