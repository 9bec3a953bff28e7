"""The choice of loop nests that may run on several threads: those whose iterations of the outermost loop are
independent, or only accumulate results that can be merged."""

from __future__ import annotations

from collections.abc import Iterable

from numbagraph.blockwise.lowering import add, linear_index, multiply, parts
from numbagraph.intrinsics.emitters.ir import Apply, Buffer, Load, LoopIndex, Scalar, literal, walk
from numbagraph.ir.op import registry
from numbagraph.loops.ir import Call, Kernel, Output, Reduction, Scan, Scatter, Split, Step, Store
from numbagraph.loops.nests import element_count
from numbagraph.loops.order import needs_fill

LEAST_ROWS = 64
"""The least number of iterations for which a chunk may have a copy of the elements that all chunks add to."""


COST_OF_CALL = 4
"""The cost of a call for each element of its operands and results, and for each row of the longest of them: 100,000
factors of 3 by 3 take the time of 30 million additions, 1,000 of 50 by 50 that of 500 million."""


def split_nests(steps: Iterable[Step]) -> None:
    """Mark the nests and calls of a program that may run on several threads, and note of the other nests why not."""
    for step in steps:
        if isinstance(step, Call) and step.cores:
            step.work = work_of_call(step)
        if isinstance(step, Kernel) and step.loops and not step.is_fill:
            for kernel in (step, *([step.alternative.kernel] if step.alternative is not None else ())):
                kernel.notes.append(split_nest(kernel))


def work_of_call(call: Call) -> Scalar:
    work: Scalar = literal(0)
    for buffer in (*call.inputs, *call.outputs):
        rows = buffer.extents[-1] if buffer.extents else literal(1)
        work = add(work, multiply(element_count(buffer.extents), rows))
    return multiply(literal(COST_OF_CALL), work)


def split_nest(kernel: Kernel) -> str:
    obstacle = next(filter(None, (obstacle_of(output, kernel) for output in kernel.outputs)), None)
    if obstacle is not None:
        return f"one thread runs all of {kernel.loops[0]}: {obstacle}"
    copies = any(adds_to_shared(output, kernel) for output in kernel.outputs)
    kernel.split = Split(cost_of(kernel), LEAST_ROWS if copies else 1)
    return f"several threads run parts of {kernel.loops[0]}, where it is long enough"


def obstacle_of(output: Output, kernel: Kernel) -> str | None:
    """The reason why the iterations of the outermost loop cannot run in any order; None if they can."""
    loop = kernel.loops[0]
    if isinstance(output, Scatter):
        return "several iterations may write to one element"
    if isinstance(output, Scan) and len(kernel.loops) == 1:
        return "each iteration goes on from the one before"
    if isinstance(output, Reduction) and loop in output.reduced:
        if output.extrema is not None:
            return "positions of extrema in memory are found in order"
        is_ordered = output.reducer.ordered and output.value.dtype.kind in "fc"
        return f"a {output.reducer.name} is taken in order" if is_ordered else None
    if isinstance(output, Store) and (output.apart or (output.flat and stores_in_order(output, kernel))):
        return "an iteration reads what another one has written" if loads_of(output.buffer, kernel) else None
    axis = next((axis for axis, index in enumerate(output.indices) if follows(index, loop)), None)
    if axis is None:
        return "several iterations may write to one element"
    index = output.indices[axis]
    if any(load.indices[axis] is not index for load in loads_of(output.buffer, kernel)):
        return "an iteration reads what another one has written"
    return None


def stores_in_order(store: Store, kernel: Kernel) -> bool:
    """Whether the nest stores all elements one after the other."""
    return store.indices[0] is linear_index(kernel.loops, [loop.extent for loop in kernel.loops])


def follows(index: Scalar, loop: LoopIndex) -> bool:
    """Whether two iterations of a loop never have the same index, whatever the other loops do."""
    terms = dict(parts(index).terms)
    return terms.pop(loop, 0) != 0 and not any(isinstance(each, LoopIndex) for each in walk(terms))


def loads_of(buffer: Buffer | None, kernel: Kernel) -> list[Load]:
    return [each for each in kernel.scalars() if isinstance(each, Load) and each.buffer is buffer]


def adds_to_shared(output: Output, kernel: Kernel) -> bool:
    return isinstance(output, Reduction) and kernel.loops[0] in output.reduced and needs_fill(output, kernel)


def cost_of(kernel: Kernel) -> int:
    """The cost of what an iteration of the innermost loop computes, reads and writes."""
    depth: dict[Scalar, int] = {loop: number for number, loop in enumerate(kernel.loops, 1)}
    cost = float(len(kernel.outputs))
    for scalar in kernel.scalars():
        depth.setdefault(scalar, max((depth[each] for each in scalar.operands), default=0))
        if depth[scalar] == len(kernel.loops):
            cost += 1.0 if isinstance(scalar, Load) else cost_of_operation(scalar)
    return max(1, round(cost))


def cost_of_operation(scalar: Scalar) -> float:
    if not isinstance(scalar, Apply):
        return 0.0
    return registry[scalar.name].cost if scalar.name in registry else 1.0
