"""The decision whether the rest of a row, behind whole vectors, is computed in masked vectors."""

from __future__ import annotations

from numbagraph.intrinsics.emitters.ir import Literal, LoopIndex, Scalar
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.loops.ir import Kernel, Reduction, Step, Store
from numbagraph.loops.parallel import cost_of_operation

COST_OF_MASKS = 12.0
"""The cost of an iteration from which on masks pay; an exponential costs as much."""

WITH_MASKS = 64
"""The size in bytes of vectors on processors that have registers for masks."""

LONG_ROW = 256
"""The number of elements of a row from which on it does not matter that the next row waits."""


def is_worth_masks(kernel: Kernel, *, is_repeated: bool) -> bool:
    """Whether an iteration of the innermost loop takes so long that masks are cheaper than a few iterations one by one.

    Where little is computed, LLVM's own rest is as fast. Without registers for masks it is faster in most cases. A loop
    that runs once has no rest that matters, unless it is repeated by the steps of another.
    """
    simple = all(isinstance(each, (Store, Reduction)) for each in kernel.outputs)
    if not simple or not kernel.loops or kernel.unrolled or current_target().vector_bytes != WITH_MASKS:
        return False
    if len(kernel.loops) == 1 and not is_repeated:
        return False
    # integers are divided one by one in masked vectors, too
    floating = (each for each in depending_on(kernel.loops[-1], kernel) if each.dtype.kind == "f")
    return sum(map(cost_of_operation, floating)) >= COST_OF_MASKS


def depending_on(loop: LoopIndex, kernel: Kernel) -> set[Scalar]:
    """The scalars that change with a loop."""
    found: set[Scalar] = {loop}
    for scalar in kernel.scalars():
        if any(operand in found for operand in scalar.operands):
            found.add(scalar)
    return found


def waits_in_place(step: Step) -> bool:
    """Whether a nest should not write where it reads. What is read of a row waits for the masked vector that has been
    written of the one before, if this reaches over its end, though nothing is written there: 15 ns a row."""
    if not isinstance(step, Kernel) or not is_worth_masks(step, is_repeated=False):
        return False
    length = step.loops[-1].extent
    return not (isinstance(length, Literal) and length.value >= LONG_ROW)
