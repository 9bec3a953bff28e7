"""The pullback of loops whose number of steps is not known before they have run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close, close_together, opened, without_effects
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import ArrayType, Cotangents, Input, Op, Unsupported, Value, toposort
from numbagraph.ops.control.common import (
    control_op,
    differentiable,
    element_type,
    given_or_zero,
    in_step,
    known_or_zero,
    stand_ins,
    strong,
    strong_type,
    zeros,
)
from numbagraph.ops.control.rows import added_by_rows
from numbagraph.ops.control.scan import moving_carries, over_elements
from numbagraph.transforms.autodiff import cotangents
from numbagraph.transforms.interpret import evaluate


class Pullback(Struct):
    """The operands of a pullback, by what they are: those of the loop, the cotangents of its carries and sums of those
    of its captures, both of which it carries from the last step to the first, and what its own region captures."""

    condition: Graph
    body: Graph
    pullback: Graph
    """From carried cotangents, the carries before a step, and captures to carried cotangents."""
    carries: int
    """Of the loop."""
    captures: int
    carried: int
    """Of the pullback."""

    def split(self, operands: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """The loop's carries and captures, what is carried, and what else is captured."""
        ends = [self.carries, self.carries + self.captures, self.carries + self.captures + self.carried]
        return list(operands[: ends[0]]), list(operands[ends[0] : ends[1]]), list(operands[ends[1] : ends[2]]), list(
            operands[ends[2] :]
        )  # fmt: skip

    @property
    def attrs(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__fields__}


def infer(*operands: Value, result: int, **attrs: Any) -> ArrayType:
    return strong_type(Pullback(**attrs).split(operands)[2][result])


def reference(*arrays: Any, results: Sequence[int], **attrs: Any) -> list[Any]:
    """The loop as Python runs it, and then its pullback."""
    pullback = Pullback(**attrs)
    carry, captures, carried, others = pullback.split(arrays)
    before: list[list[Any]] = []
    with in_step(lambda: len(before)):
        while evaluate(pullback.condition, [*carry, *captures])[0]:
            carry, last = evaluate(pullback.body, [*carry, *captures]), carry
            before.append(last)
    for each in reversed(before):
        carried = evaluate(pullback.pullback, [*carried, *each, *captures, *others])
    return [carried[each] for each in results]


def pulled_back(
    given: Mapping[int, Value],
    inputs: Sequence[Value],
    wanted: Sequence[bool],
    condition: Graph,
    body: Graph,
    carries: int,
) -> Cotangents:
    """The cotangents of the operands of a while loop, given those of its results."""
    body = without_effects(body)
    asked = differentiable(inputs, wanted)
    moving = moving_carries(body, inputs[:carries], asked)
    points = stand_ins([each.type for each in inputs], "point")
    seeds = {number: Input(strong_type(points[number]), "cotangent") for number in moving}
    active = [*moving, *(number for number in asked if number >= carries)]
    outputs = opened(body, points)
    pulled = cotangents(outputs, [seeds.get(number) for number in range(carries)], [points[each] for each in active])
    found = {number: each for number, each in zip(active, pulled, strict=True) if each is not None}
    sums = {number: Input(strong_type(points[number]), "sum") for number in found if number >= carries}
    results = [known_or_zero(found.get(number), points[number]) for number in moving]
    results += [each + found[number] for number, each in sums.items()]
    parameters = [*seeds.values(), *sums.values(), *points]
    closed = close(parameters, list(map(added_by_rows, results)), name=f"{body.name}_pullback")
    pullback = Pullback(condition, body, closed.region, carries, len(inputs) - carries, len(results))
    starts = [given_or_zero(given, number, strong(inputs[number])) for number in moving]
    starts += [zeros(inputs[number]) for number in sums]
    operands = (*inputs, *starts, *closed.captures)
    cotangent = {
        number: while_pullback.bind(*operands, **pullback.attrs, result=place)
        for place, number in enumerate([*moving, *sums])
        if number in asked
    }
    return [cotangent.get(number) for number in range(len(inputs))]


def vjp(
    given: Mapping[int, Value], y: Value, *inputs: Value, wanted: Sequence[bool], result: int, **attrs: Any
) -> Cotangents:
    """By what is carried alone, in which it is linear: the transpose goes forward, with the loop itself.

    So forward mode goes through while loops. By the rest it has no derivative: that would be one of second order.
    """
    pullback = Pullback(**attrs)
    carry, captures, carried, others = pullback.split(inputs)
    flags = pullback.split(wanted)
    if any(flags[0]) or any(flags[1]) or any(flags[3]):
        raise NotImplementedError(
            "the derivative of a gradient through a while loop: use scan or fori_loop, or jvp of jvp"
        )
    steps = stand_ins([each.type for each in carry], "carry")
    tangents = stand_ins(map(strong_type, carried), "tangent")
    shared = stand_ins([each.type for each in (*captures, *others)], "capture")
    seeds = stand_ins(map(strong_type, carried), "cotangent")
    outputs = opened(pullback.pullback, [*seeds, *steps, *shared])
    moved = cotangents(outputs, tangents, seeds)
    pushed = [known_or_zero(each, point) for each, point in zip(moved, tangents, strict=True)]
    if not set(toposort(pushed)).isdisjoint(seeds):
        raise NotImplementedError("forward mode through a custom_vjp whose backward rule is not linear")
    own = [*steps, *shared[: len(captures)]]
    drafts = (
        Draft(pullback.condition.name, opened(pullback.condition, own)),
        Draft(f"{pullback.body.name}_pushforward", [*opened(pullback.body, own), *pushed]),
    )
    (condition, body), more = close_together([*steps, *tangents, *shared], drafts)
    starts = [given_or_zero(given, number, each) for number, each in enumerate(carried)]
    operands = (*carry, *starts, *captures, *others, *more)
    count = len(carry) + len(carried)
    bind = registry["while_loop"].bind
    found = [
        bind(*operands, condition=condition, body=body, carries=count, result=len(carry) + number)
        for number in range(len(carried))
    ]
    return [*[None] * (len(carry) + len(captures)), *found, *[None] * len(others)]


def batched(op: Op, inputs: Sequence[Value], flags: Sequence[bool], *, result: int, **attrs: Any) -> Value:
    """One element after the other."""
    points = stand_ins(map(element_type, inputs, flags), "point")
    return over_elements(inputs, flags, points, [op.bind(*points, result=result, **attrs)])[0]


while_pullback = control_op(
    "while_pullback",
    evaluate=reference,
    infer=infer,
    vjp=vjp,
    batch=batched,
    translate=Unsupported("JAX has no memory for a number of steps that is not known: use scan, or jvp"),
)
"""A while loop, whose carries before each step are stored, and the pullbacks of its steps, the last first."""
