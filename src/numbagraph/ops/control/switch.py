"""Branches: one of several regions is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.op import load, registry
from numbagraph.ir.regions import Draft, opened, output_type, without_effects
from numbagraph.ir.values import ArrayType, Cotangents, Input, Op, Value
from numbagraph.ops.control.accumulation import accumulated, chosen
from numbagraph.ops.control.operands import (
    batch_size,
    batched_guards,
    batches_of,
    control_op,
    differentiable,
    element_type,
    known_or_zero,
    region_guards,
    region_may_fail,
    stand_ins,
    strong_type,
    with_lengths_known,
)
from numbagraph.ops.control.scan import over_elements
from numbagraph.transforms.autodiff import cotangents
from numbagraph.transforms.batching import batch, results_of_call, spread
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
            outputs = [spread(one, size) for one in batch(opened(each, points), dict(wholes), size)]
            required = batched_guards(each, points, wholes, size)
        drafts.append(Draft(each.name, outputs, [*required, *guards]))
    return chosen(inputs[0], [wholes.get(point, point) for point in points], drafts, inputs[1:])


def batched_switch(
    op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, branches: Branches, result: int
) -> Value:
    """Run one branch for the whole batch. Where its elements take different ones, compute all branches, or, if that
    could raise an error, one element after the other."""
    size = batch_size(inputs, batched)
    points = stand_ins(map(element_type, inputs[1:], batched[1:]), "point")
    if not batched[0]:
        make = partial(batched_alike, inputs, batched, branches, points)
        return results_of_call(op, inputs, batched, {"branches": branches}, make)[result]
    if any(map(region_may_fail, branches)):
        numbers = stand_ins([element_type(inputs[0], True)], "index")
        bind, count = partial(op.bind, *numbers, *points, branches=branches), len(branches[0].outputs)
        own = [bind(result=each) for each in range(count)]  # in one loop: a branch is taken once
        return over_elements(inputs, batched, [*numbers, *points], own)[result]
    given = dict(zip(points, inputs[1:], strict=True))
    stacks: dict[Value, Value] = {point: given[point] for point, flag in zip(points, batched[1:], strict=True) if flag}
    found = [batch([opened(each, points)[result]], stacks, size)[0] for each in branches]
    return selected(inputs[0], [substituted(spread(each, size), points, inputs[1:]) for each in found])


def substituted(value: Value, points: Sequence[Value], operands: Sequence[Value]) -> Value:
    """Return a value with the stand-ins in it replaced by the values that they stand for."""
    return substitute([value], dict(zip(points, operands, strict=True)))[0]


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
