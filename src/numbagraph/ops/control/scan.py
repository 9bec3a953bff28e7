"""Loops with a known number of steps, which carry values from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, Guard, guard_values, substitute, with_guard_values
from numbagraph.ir.op import load
from numbagraph.ir.regions import Closed, close, opened, opened_guards, without_effects, without_unused
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import ArrayType, Cotangents, Input, Node, Value
from numbagraph.ops.control.accumulation import accumulated
from numbagraph.ops.control.loop import Loop, loop_of
from numbagraph.ops.control.operands import (
    batch_size,
    control_op,
    differentiable,
    empty_output,
    given_or_zero,
    in_step,
    known_or_zero,
    region_guards,
    stand_ins,
    strong,
    strong_type,
    with_lengths_known,
    zeros,
)
from numbagraph.ops.control.partial_updates import inherited, updated_in_part
from numbagraph.ops.control.records import GoneBack, gone_back, records_of
from numbagraph.ops.control.scan_batches import batched_scan
from numbagraph.ops.control.segments import is_cut, pulled_back_in_segments
from numbagraph.ops.control.updates import Step, not_restored
from numbagraph.transforms.autodiff import cotangents, is_differentiable, sum_of
from numbagraph.transforms.interpret import evaluate


def infer(*inputs: Value, result: int, **attrs: Any) -> ArrayType:
    return loop_of(*inputs, **attrs).type_of(result)


def reference(
    length: Any,
    *arrays: Any,
    body: Graph,
    carries: int,
    sequences: int,
    reverse: bool,
    unroll: int,
    results: Sequence[int],
    checkpoint: bool = False,
) -> list[Any]:
    """Run the loop in Python."""
    carry, xs, rest = list(arrays[:carries]), arrays[carries : carries + sequences], arrays[carries + sequences :]
    count, outputs = int(length), len(body.outputs)
    like = [*carry, *(np.empty(np.shape(each)[1:], each.dtype) for each in xs), *rest]
    stacked = {
        number: np.empty((count, *np.shape(carry[number - outputs])), np.asarray(carry[number - outputs]).dtype)
        if number >= outputs
        else empty_output(body, number, like, count)
        for number in results
        if number >= carries
    }
    for number in range(count):
        place = count - 1 - number if reverse else number
        with in_step(lambda: number):  # noqa: B023  it is asked within the step
            found = evaluate(body, [*carry, *(each[place] for each in xs), *rest])
        for result, rows in stacked.items():
            rows[place] = carry[result - outputs] if result >= outputs else found[result]
        carry = found[:carries]
    return [stacked[result] if result in stacked else carry[result] for result in results]


def vjp(
    given: Mapping[int, Value], y: Value, *inputs: Value, wanted: Sequence[bool], result: int, **attrs: Any
) -> Cotangents:
    """A loop over the steps in the other direction, whose body is the pullback of the body: the numbers that are
    carried are stored before each step, with what is needed of arrays (`records_of`), and all else is computed again.

    Its own carries are the cotangents of the carries, and what the captures have received so far.
    """
    loop = loop_of(*inputs, **attrs)
    if is_cut(loop) and all(number < loop.outputs for number in given):
        return [None, *pulled_back_in_segments(loop, given, wanted[1:])]
    asked = differentiable(loop.operands, wanted[1:])
    moving = moving_carries(loop.body, loop.initial, asked)
    stacked = [number for number in range(loop.carries, loop.outputs) if number in given]
    read = [number for number in moving if loop.outputs + number in given]
    back = pulled_back(loop, asked, moving, stacked, read)
    with shapes.collect_guards():  # the loop, which is run first, requires the same
        forward = recording(loop, back.step)
        view = forward.view
        carried, slopes = view.seen_by(back.carried), view.seen_by(list(back.slopes.values()))
        required = view.seen_by(guard_values(back.guards))
    points, first = back.step.points, back.step.varying
    parameters = [
        *back.seeds,
        *back.sums.values(),
        *view.after.values(),
        *points[:first],
        *forward.logs,
        *back.of_steps,
    ]
    closed = close(
        [*parameters, *points[first:]],
        [*carried, *view.before.values(), *slopes],
        name=f"{loop.body.name}_pullback",
        guards=with_guard_values(back.guards, required),
    )
    initial = [given_or_zero(given, number, strong(loop.initial[number])) for number in moving]
    initial += [*(zeros(loop.operands[number]) for number in back.sums), *forward.last]
    xs = [*(forward.loop.before(number) for number in range(loop.carries)), *loop.xs]
    xs += [forward.loop.result(loop.outputs + place) for place in range(len(forward.logs))]
    xs += [*(given[number] for number in stacked), *(given[loop.outputs + number] for number in read)]
    operands = (*initial, *xs, *loop.captures, *captured_by(closed, back.step, loop))
    whole = Loop(loop.length, operands, closed.region, len(initial), len(xs), not loop.reverse, loop.unroll)
    pullback = reading_less(whole)
    places = dict(enumerate([*moving, *back.sums, *[None] * len(view.before), *back.slopes]))
    cotangent = {number: pullback.result(place) for place, number in places.items() if number in asked}
    return [None, *(cotangent.get(number) for number in range(len(loop.operands)))]


class PulledBack(Struct, eq=False):
    """The pullback of one step. Numbers are those of the loop's operands."""

    step: Step
    seeds: Sequence[Input]
    """Stand-ins for the cotangents of the carries after the step."""
    sums: Mapping[int, Input]
    """Stand-ins for the cotangents that the captures have received from later steps."""
    of_steps: Sequence[Input]
    """Stand-ins for the cotangents of this step's own results: of its stacked outputs, and of the carries before it."""
    carried: Sequence[Value]
    """The cotangents of the carries before the step, and those of the captures."""
    slopes: Mapping[int, Value]
    """The cotangents of the elements of sequences."""
    guards: Sequence[Guard]


def pulled_back(
    loop: Loop, asked: Sequence[int], moving: Sequence[int], stacked: Sequence[int], read: Sequence[int]
) -> PulledBack:
    """Return the pullback of a step to the wanted operands: from the carries that change with them, from the stacked
    outputs, and from the carries that are read before each step."""
    points = stand_ins(loop.in_step(), "point")
    first = loop.carries + loop.sequences
    given = [*points[:first], *with_lengths_known(points[first:], loop.captures, points[:first])]
    outputs = opened(without_effects(loop.body), given)
    cotangents_of: list[Input | None] = [None] * loop.outputs
    for number in (*moving, *stacked):
        like = points[number] if number in moving else outputs[number]
        cotangents_of[number] = Input(strong_type(like), "cotangent")
    added = {number: Input(strong_type(points[number]), "added") for number in read}
    active = dict.fromkeys([*moving, *(number for number in asked if number >= loop.carries)])
    in_part = inherited(points, loop.operands) | not_restored(points, outputs, loop.carries)
    with region_guards() as guards, updated_in_part(in_part):
        pulled = cotangents(outputs, cotangents_of, [points[number] for number in active])
    found = {number: each for number, each in zip(active, pulled, strict=True) if each is not None}
    sums = {number: Input(strong_type(points[number]), "sum") for number in found if number >= first}
    carried = [known_or_zero(found.get(number), points[number]) for number in moving]
    pairs = zip(moving, carried, strict=True)
    with region_guards() as more:
        carried = [sum_of(each, added[number]) if number in added else each for number, each in pairs]
        carried += [sum_of(each, found[number]) for number, each in sums.items()]
        of_elements = [number for number in found if loop.carries <= number < first]
        results = accumulated(carried, [found[number] for number in of_elements])
    guards, carried = [*guards, *more], results[: len(carried)]
    slopes = dict(zip(of_elements, results[len(carried) :], strict=True))
    own = [each for each in cotangents_of if each is not None]
    seeds, of_steps = own[: len(moving)], [*own[len(moving) :], *added.values()]
    back = [*carried, *slopes.values(), *guard_values(guards)]
    step = Step(points, outputs, loop.carries, first, back, [*seeds, *sums.values(), *of_steps], in_part)
    return PulledBack(step, seeds, sums, of_steps, carried, slopes, guards)


class Forward(Struct, eq=False):
    """A loop that gives what its pullback needs, beside its own results, and the pullback's view of its carries."""

    loop: Loop
    logs: Sequence[Input]
    """Stand-ins for the values that are stored for each step, which the loop stacks last."""
    view: GoneBack
    last: Sequence[Value]
    """The restored carries after the last step."""


def recording(loop: Loop, step: Step) -> Forward:
    """Return a loop that also stores what its pullback needs of its carries."""
    records = records_of(step)
    logs = stand_ins([each.type for each in records.stored], "stored")
    if records.stored:
        body = without_effects(loop.body)
        outputs = [*step.outputs, *records.stored]
        closed = close(step.points, outputs, name=body.name, guards=opened_guards(body, step.points))
        loop = replace(loop, operands=(*loop.operands, *captured_by(closed, step, loop)), body=closed.region)
    view = gone_back(step, records, logs)
    last = [
        loop.initial[number] + loop.length * view.strides[number] if number in view.strides else loop.result(number)
        for number in view.after
    ]
    return Forward(loop, logs, view, last)


def captured_by(closed: Closed, step: Step, loop: Loop) -> list[Value]:
    """Return the values that a region captures in addition. Lengths of stored values may follow from elements of the
    loop's captures, for which the pullback has stand-ins: these are replaced."""
    captured = zip(step.points[step.varying :], loop.captures, strict=True)
    return substitute(closed.captures, dict(captured))


def moving_carries(body: Graph, initial: Sequence[Value], asked: Sequence[int]) -> list[int]:
    """Return the carries that change with some operands: from the start, or after a step."""
    moving = {number for number in asked if number < len(initial)}
    others = [body.inputs[number] for number in asked if number >= len(initial)]
    candidates = differentiable(initial, [True] * len(initial))
    while True:
        varying: set[Value] = {*others, *(body.inputs[number] for number in moving)}
        for value in body.order:
            if isinstance(value, Node) and is_differentiable(value) and not varying.isdisjoint(value.inputs):
                varying.add(value)
        more = moving | {number for number in candidates if body.outputs[number] in varying}
        if more == moving:
            return sorted(moving)
        moving = more


def reading_less(loop: Loop) -> Loop:
    """Return a loop without the sequences and captures that its region does not read, so that it does not depend on
    them."""
    (region,), kept = without_unused([loop.body], loop.carries)
    sequences = sum(loop.carries <= number < loop.carries + loop.sequences for number in kept)
    return replace(loop, operands=tuple(loop.operands[number] for number in kept), body=region, sequences=sequences)


def over_elements(
    inputs: Sequence[Value],
    batched: Sequence[bool],
    points: Sequence[Input],
    results: Sequence[Value],
    guards: Sequence[Guard] = (),
) -> list[Value]:
    """Return ``results`` for each element of a batch, computed one after the other; ``points`` stand for the operands
    in ``results`` and in ``guards``, what these require."""
    pairs = list(zip(points, inputs, batched, strict=True))
    xs, shared = ([pair[:2] for pair in pairs if pair[2] is flag] for flag in (True, False))
    closed = close([point for point, _ in (*xs, *shared)], results, name="element", guards=guards)
    operands = (*(value for _, value in (*xs, *shared)), *closed.captures)
    length = shapes.as_value(batch_size(inputs, batched))
    loop = Loop(length, operands, closed.region, 0, len(xs), reverse=False)
    return [loop.result(number) for number in range(len(results))]


def translate(
    length: Any,
    *arrays: Any,
    body: Any,
    carries: int,
    sequences: int,
    reverse: bool,
    unroll: int,
    results: Sequence[int],
    checkpoint: bool = False,
) -> tuple[list[Any], Any]:
    """Run the loop with `jax.lax.scan`, or `fori_loop`; JAX hands the region in as a function."""
    lax, asarray = load("jax:lax"), load("jax.numpy:asarray")
    rest = arrays[carries + sequences :]

    def step(state: Any, x: Any) -> Any:
        carry, failed = state
        found, fails = body(*carry, *x, *rest)
        shown = [(*found, *carry)[number] for number in stacked]
        return (tuple(found[:carries]), failed | fails), shown

    stacked = [number for number in results if number >= carries]
    init = tuple(map(asarray, arrays[:carries])), asarray(False)
    xs = tuple(arrays[carries : carries + sequences])
    if not xs and not stacked:  # the number of steps may be known only when it runs
        last, failed = lax.fori_loop(0, length, lambda _, state: step(state, ())[0], init)
        return [last[number] for number in results], failed
    length = xs[0].shape[0] if xs else int(length)
    (last, failed), rows = lax.scan(step, init, xs, length=length, reverse=reverse, unroll=unroll)
    by_number = dict(zip(stacked, rows, strict=True))
    return [by_number[number] if number in by_number else last[number] for number in results], failed


scan = control_op("scan", evaluate=reference, infer=infer, vjp=vjp, batch=batched_scan, translate=translate)
"""A loop over the first dimension of arrays."""
