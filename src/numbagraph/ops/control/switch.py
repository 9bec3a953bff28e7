"""Branches: one of several regions is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, guard_values, substitute, with_guard_values
from numbagraph.ir.op import load, registry
from numbagraph.ir.regions import Draft, opened, opened_guards, output_type, without_effects
from numbagraph.ir.structs import replace
from numbagraph.ir.values import ArrayType, Cotangents, Input, Op, Value
from numbagraph.ops.control.accumulation import accumulated, chosen
from numbagraph.ops.control.operands import (
    batch_size,
    batched_region,
    batches_of,
    cannot_fail,
    control_op,
    differentiable,
    element_type,
    held,
    implied,
    is_arithmetic,
    known_or_zero,
    region_guards,
    stand_ins,
    strong_type,
    with_lengths_known,
)
from numbagraph.ops.control.scan import over_elements
from numbagraph.transforms.autodiff import cotangents
from numbagraph.transforms.batching import batch_with_guards, results_of_call, spread
from numbagraph.transforms.interpret import evaluate

Branches = tuple[Graph, ...]


def infer(index: Value, *operands: Value, branches: Branches, result: int) -> ArrayType:
    found = output_type(branches[0], result, operands)
    return ArrayType(found.dtype, found.shape, all(each.outputs[result].type.weak for each in branches))


def reference(index: Any, *arrays: Any, branches: Branches, results: Sequence[int]) -> list[Any]:
    """Run the branch that is taken; its number is clamped to the last, as in JAX."""
    found = evaluate(branches[min(max(int(index), 0), len(branches) - 1)], arrays)
    return [found[number] for number in results]


def vjp(
    given: Mapping[int, Value],
    y: Value,
    index: Value,
    *operands: Value,
    branches: Branches,
    wanted: Sequence[bool],
    result: int,
) -> Cotangents:
    """Return the pullback of the branch that was taken."""
    points = stand_ins([each.type for each in operands], "point")
    numbers = sorted(given)
    seeds = {number: Input(strong_type(given[number]), "cotangent") for number in numbers}
    asked = moving = differentiable(operands, wanted[1:])
    opened_with = with_lengths_known(points, operands, [*seeds.values()])
    found, required = [], []
    for branch in branches:
        outputs = opened(without_effects(branch), opened_with)
        given_to = [seeds.get(number) for number in range(len(outputs))]
        with region_guards() as guards:
            found.append(cotangents(outputs, given_to, [points[number] for number in asked]))
        required.append(guards)
    moving = [number for place, number in enumerate(moving) if any(each[place] is not None for each in found)]
    places = [place for place, number in enumerate(asked) if number in moving]
    drafts = []
    for branch, each, guards in zip(branches, found, required, strict=True):
        pulled = [known_or_zero(each[place], points[number]) for place, number in zip(places, moving, strict=True)]
        with region_guards() as more:
            pulled = accumulated(pulled)
        drafts.append(Draft(f"{branch.name}_pullback", pulled, [*guards, *more]))
    results: list[Value | None] = [None] * len(operands)
    pulled_back = chosen(index, [*points, *seeds.values()], drafts, [*operands, *(given[each] for each in numbers)])
    for number, value in zip(moving, pulled_back, strict=True):
        results[number] = value
    return [None, *results]


def batched_alike(
    inputs: Sequence[Value], batched: Sequence[bool], branches: Branches, points: Sequence[Input]
) -> list[Value]:
    """Run one branch for the whole batch."""
    size = batch_size(inputs, batched)
    wholes = batches_of(points, batched[1:], size)
    drafts = []
    for each in branches:
        with region_guards() as guards:
            found, required = batched_region(each, points, wholes, size)
            outputs = [spread(one, size) for one in found]
        drafts.append(Draft(each.name, outputs, [*required, *guards]))
    return chosen(inputs[0], [wholes.get(point, point) for point in points], drafts, inputs[1:])


def batched_switch(
    op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, branches: Branches, result: int
) -> Value:
    """Run one branch for the whole batch. Where its elements take different ones, compute all branches, or, if that
    could raise an error, one element after the other."""
    points = stand_ins(map(element_type, inputs[1:], batched[1:]), "point")
    if not batched[0]:
        make = partial(batched_alike, inputs, batched, branches, points)
        return results_of_call(op, inputs, batched, {"branches": branches}, make)[result]
    if not all(is_arithmetic(each) or cannot_fail(each) for each in branches):
        numbers = stand_ins([element_type(inputs[0], True)], "index")
        bind, count = partial(op.bind, *numbers, *points, branches=branches), len(branches[0].outputs)
        own = [bind(result=each) for each in range(count)]  # in one loop: a branch is taken once
        return over_elements(inputs, batched, [*numbers, *points], own)[result]
    make = partial(each_selected, inputs, batched, branches, points)
    return results_of_call(op, inputs, batched, {"branches": branches}, make)[result]


def each_selected(
    inputs: Sequence[Value], batched: Sequence[bool], branches: Branches, points: Sequence[Input]
) -> list[Value]:
    """Compute all branches for the whole batch, and select for each element the results of its own branch, the only
    one whose checks count."""
    size, last = batch_size(inputs, batched), len(branches) - 1
    (number,) = stand_ins([element_type(inputs[0], True)], "index")
    given: dict[Value, Value] = dict(zip((number, *points), inputs, strict=True))
    stacks = {point: value for (point, value), flag in zip(given.items(), batched, strict=True) if flag}
    found = []
    for place, each in enumerate(branches):
        own = taken(number, place, last)
        still = held(own, points, batched[1:])
        checks = [replace(one, condition=implied(own, one.condition)) for one in opened_guards(each, still)]
        with region_guards() as guards:
            outputs, checks = batch_with_guards(opened(each, still), checks, dict(stacks), size)
            outputs = [spread(one, size) for one in outputs]
        checks = [*checks, *guards]
        outputs = substitute([*outputs, *guard_values(checks)], given)
        found.append(outputs[: len(each.outputs)])
        for one in with_guard_values(checks, outputs[len(each.outputs) :]):
            shapes.current_collector().add(one)
    return [selected(inputs[0], values) for values in zip(*found, strict=True)]


def taken(number: Value, place: int, last: int) -> Value:
    """Whether a number chooses the branch at a place."""
    if place == 0:
        return registry["less_equal"](number, 0)
    return registry["greater_equal"](number, place) if place == last else registry["equal"](number, place)


def selected(index: Value, values: Sequence[Value]) -> Value:
    """Return for each element of a batch the result of its own branch."""
    place = registry["expand_dims"](index, tuple(range(1, values[0].ndim))) if values[0].ndim > 1 else index
    result = values[-1]
    for number in range(len(values) - 2, -1, -1):
        result = registry["where"](registry["less_equal"](place, number), values[number], result)
    return result


def translate(index: Any, *arrays: Any, branches: Sequence[Any], results: Sequence[int]) -> tuple[list[Any], Any]:
    """Run the branch with `jax.lax.switch`; JAX hands the regions in as functions."""
    lax, integer = load("jax:lax"), load("jax.numpy:int32")
    # not as operands of the switch: numbers that lengths follow from would become unknown
    found, failed = lax.switch(integer(index), [partial(each, *arrays) for each in branches])
    return [found[number] for number in results], failed


switch = control_op("switch", evaluate=reference, infer=infer, vjp=vjp, batch=batched_switch, translate=translate)
"""One of several regions, chosen by a number: below 0 the first, beyond the last the last."""
