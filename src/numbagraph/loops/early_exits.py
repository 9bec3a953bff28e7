"""The checks and signals that may end a loop before its last step. A loop that neither can end may write an argument
where it lies."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from numbagraph.intrinsics.emitters.ir import Buffer, Literal, Scalar
from numbagraph.ir.values import Constant, Dim, Node, Value
from numbagraph.loops import buffers
from numbagraph.loops.control_steps import Branch, Loop, Region, ReverseLoop
from numbagraph.loops.ir import Check, Compute, Kernel, Step


def region_fails(region: Region) -> bool:
    """Whether a check may fail in a region."""
    guards = any(not (isinstance(each, Literal) and each.value) for each in region.program.entry.guards)
    return guards or any(map(step_fails, region.program.body.members()))


def step_fails(step: Step) -> bool:
    match step:
        case Loop():
            regions = [each for each in (step.body, step.condition) if each is not None]
            return step.with_checks is not None or any(map(region_fails, regions))
        case Branch():
            return any(map(region_fails, step.regions))
        case ReverseLoop():
            return True
    return buffers.may_fail(step)


def is_of_numbers(step: Step) -> bool:
    """Whether a step runs no loop and calls nothing."""
    if isinstance(step, Branch):
        return all(is_of_numbers(each) for region in step.regions for each in region.program.body.members())
    return isinstance(step, (Compute, Check)) or (isinstance(step, Kernel) and not step.loops)


def is_over_a_row(step: Step, rows: Collection[Sequence[Scalar]]) -> bool:
    """Whether a step is a nest over as many elements as a row of a sequence has: all of them together take as long as
    one over that sequence."""
    return isinstance(step, Kernel) and tuple(loop.extent for loop in step.loops) in rows


def may_be_uninterruptible(value: Value) -> bool:
    """Whether a value is a loop that may turn out to be uninterruptible."""
    if not isinstance(value, Node) or value.op.kind != "control" or not is_bounded_by_length(value):
        return False
    inside = [each.op for each in value.attrs["body"].order if isinstance(each, Node)]
    return not any(each.kind == "control" and each.name != "switch" for each in inside)


def is_bounded_by_length(node: Node) -> bool:
    """Whether a loop is known to have at most as many steps as an array has elements along some dimension."""
    return node.op.name == "scan" and (node.attrs["sequences"] > 0 or is_at_most_a_length(node.inputs[0]))


def is_at_most_a_length(number: Value) -> bool:
    """Whether a number is seen to be at most the length of an array."""
    if isinstance(number, Dim):
        return True
    if not isinstance(number, Node) or number.ndim:
        return False
    if number.op.name == "minimum":
        return any(map(is_at_most_a_length, number.inputs))
    if number.op.name not in ("maximum", "subtract", "floor_divide"):
        return False
    first, second = number.inputs
    least = 1 if number.op.name == "floor_divide" else 0
    most = 0 if number.op.name == "maximum" else None
    return is_at_most_a_length(first) and is_between(second, least, most)


def is_between(number: Value, least: int, most: int | None) -> bool:
    if not isinstance(number, Constant) or number.ndim:
        return False
    found = int(number.data)
    return least <= found and (most is None or found <= most)


def can_be_uninterruptible(loop: Loop) -> bool:
    """Whether a loop need not poll for signals, since it takes as long as a nest over an array, and nothing else ends
    it once it has begun. Where its checks do not hold in all steps, it is another loop, on memory of its own."""
    program = loop.body.program
    temporaries = [buffer for slot in program.body.slots for buffer in slot]
    sequences = range(len(loop.carried), len(loop.carried) + len(loop.sequences))
    rows = {tuple(leaf.extents) for number, leaf in program.leaves.items() if number in sequences}
    return (
        loop.bounded_by_length
        and all(is_of_numbers(each) or is_over_a_row(each, rows) for each in program.body.members())
        and not any(each.extents for each in temporaries)
        and not region_fails(loop.body)
    )


def mark_uninterruptible(steps: Sequence[Step], written: Collection[Buffer]) -> None:
    """Mark the loops, from the first step on that writes to one of the memories, that need not poll for signals."""
    begun = False
    for step in steps:
        begun = begun or any(each.owner in written for each in step.writes())
        if begun and isinstance(step, Loop):
            step.uninterruptible = can_be_uninterruptible(step)
