"""Loops that go on as long as a condition holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numbagraph.ir.graph import Graph
from numbagraph.ir.op import load
from numbagraph.ir.regions import Draft, close_together
from numbagraph.ir.values import ArrayType, Cotangents, Op, Value
from numbagraph.ops.control.lanes import Whole, by_lanes, runs_in_lanes
from numbagraph.ops.control.operands import (
    batch_size,
    batched_region,
    batches_of,
    control_op,
    element_type,
    in_step,
    region_guards,
    stand_ins,
)
from numbagraph.ops.control.scan import over_elements
from numbagraph.ops.control.segments import while_pulled_back_in_segments
from numbagraph.ops.control.while_pullback import pulled_back
from numbagraph.transforms.batching import results_of_call, spread
from numbagraph.transforms.interpret import evaluate


def infer(
    *operands: Value, condition: Graph, body: Graph, carries: int, result: int, checkpoint: bool = False
) -> ArrayType:
    return operands[result].type


def reference(
    *arrays: Any, condition: Graph, body: Graph, carries: int, results: Sequence[int], checkpoint: bool = False
) -> list[Any]:
    """Run the loop in Python."""
    carry, rest, number = list(arrays[:carries]), arrays[carries:], 0
    with in_step(lambda: number):
        while evaluate(condition, [*carry, *rest])[0]:
            carry = evaluate(body, [*carry, *rest])
            number += 1
    return [carry[each] for each in results]


def vjp(
    given: Mapping[int, Value],
    y: Value,
    *inputs: Value,
    condition: Graph,
    body: Graph,
    carries: int,
    wanted: Sequence[bool],
    result: int,
    checkpoint: bool = False,
) -> Cotangents:
    if checkpoint:
        return while_pulled_back_in_segments(inputs, condition, body, carries, given, wanted)
    return pulled_back(given, inputs, wanted, condition, body, carries)


def batched_while(
    op: Op,
    inputs: Sequence[Value],
    batched: Sequence[bool],
    *,
    condition: Graph,
    body: Graph,
    carries: int,
    result: int,
    checkpoint: bool = False,
) -> Value:
    """Run one loop for the whole batch, if its elements take the same number of steps; else one after the other."""
    make = partial(batched_results, op, inputs, batched, condition, body, carries, checkpoint)
    attrs = {"condition": condition, "body": body, "carries": carries, "checkpoint": checkpoint}
    return results_of_call(op, inputs, batched, attrs, make)[result]


def batched_results(
    op: Op,
    inputs: Sequence[Value],
    batched: Sequence[bool],
    condition: Graph,
    body: Graph,
    carries: int,
    checkpoint: bool,
) -> list[Value]:
    size, flags = batch_size(inputs, batched), list(batched)
    option = {"checkpoint": True} if checkpoint else {}
    points = stand_ins(map(element_type, inputs, batched), "point")
    while True:
        wholes = batches_of(points, flags, size)
        with region_guards():
            (goes_on,), looked = batched_region(condition, points, wholes, size)
        if goes_on[1]:
            if runs_in_lanes(condition, body, carries):
                return by_lanes(Whole(op, inputs, batched, points, condition, body, carries, option))
            bind = partial(op.bind, condition=condition, body=body, carries=carries, **option)
            results = [bind(*points, result=number) for number in range(carries)]
            return over_elements(inputs, batched, points, results)
        with region_guards() as guards:
            after, required = batched_region(body, points, wholes, size)
        now = [was or each for was, (_, each) in zip(flags, after, strict=False)]
        if now == flags[:carries]:
            break
        flags[:carries] = now
    outputs = [spread(each, size) if flag else each[0] for each, flag in zip(after, flags, strict=False)]
    parameters = [wholes.get(point, point) for point in points]
    drafts = [Draft(condition.name, [goes_on[0]], looked), Draft(body.name, outputs, [*required, *guards])]
    regions, captures = close_together(parameters, drafts)
    operands = [
        spread((value, was), size) if flag else value for value, was, flag in zip(inputs, batched, flags, strict=True)
    ]
    attrs = dict(zip(("condition", "body"), regions, strict=True))
    bind = partial(op.bind, *operands, *captures, **attrs, carries=carries, **option)
    found = [bind(result=number) for number in range(carries)]
    return [each if flag else spread((each, False), size) for each, flag in zip(found, flags, strict=False)]


def translate(
    *arrays: Any, condition: Any, body: Any, carries: int, results: Sequence[int], checkpoint: bool = False
) -> tuple[list[Any], Any]:
    """Run the loop with `jax.lax.while_loop`; JAX hands the regions in as functions."""
    lax, asarray = load("jax:lax"), load("jax.numpy:asarray")
    rest = arrays[carries:]

    def looked_at(found: Any, failed: Any) -> Any:
        (more,), fails = condition(*found, *rest)
        failed = failed | fails
        return found, failed, more & ~failed  # a step that failed is the last: what it stored may go on for ever

    def step(state: Any) -> Any:
        found, fails = body(*state[0], *rest)
        return looked_at(found, state[1] | fails)

    init = looked_at(tuple(map(asarray, arrays[:carries])), asarray(False))
    found, failed, _ = lax.while_loop(lambda state: state[2], step, init)
    return [found[each] for each in results], failed


while_loop = control_op(
    "while_loop",
    evaluate=reference,
    infer=infer,
    vjp=vjp,
    batch=batched_while,
    translate=translate,
)
"""A loop that ends when a condition does not hold."""
