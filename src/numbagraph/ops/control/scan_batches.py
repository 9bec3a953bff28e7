"""Batches of loops with a known number of steps: one loop for all elements, or one for each block of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.regions import close
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import ArrayType, Extent, Input, Op, Value
from numbagraph.ops.control.lanes import holds_lanes, is_one_block, lanes_of, over_blocks
from numbagraph.ops.control.loop import Loop, loop_of
from numbagraph.ops.control.operands import (
    batch_size,
    batched_region,
    batches_of,
    element_type,
    region_guards,
    stand_ins,
)
from numbagraph.transforms.batching import results_of_call, spread
from numbagraph.transforms.scalar_replacement import ShortArrays


def batched_scan(op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, result: int, **attrs: Any) -> Value:
    """Run one loop for the whole batch, or one for each block of it."""
    if batched[0]:
        raise NotImplementedError("the number of steps must be the same for all elements of a batch")
    make = partial(batched_results, inputs, batched, attrs)
    return results_of_call(op, inputs, batched, attrs, make)[result]


def batched_results(inputs: Sequence[Value], batched: Sequence[bool], attrs: Mapping[str, Any]) -> list[Value]:
    """Return the results of a loop for each element of a batch."""
    loop, flags, size = loop_of(*inputs, **attrs), list(batched[1:]), batch_size(inputs, batched)
    in_lanes = holds_lanes(loop.body, flags, loop.carries)
    if in_lanes and not is_one_block(size):
        points = stand_ins(map(element_type, inputs, batched), "point")
        return over_blocks(inputs, batched, points, partial(of_block, inputs[0], points, batched, attrs))
    while True:  # a carry is batched if it is so at the start, or after a step
        body = batched_body(loop, flags, size, in_lanes=in_lanes)
        after = body.flags[: loop.carries]
        if all(was or not now for was, now in zip(flags, after, strict=False)):
            break
        flags[: loop.carries] = [was or now for was, now in zip(flags, after, strict=False)]
    operands: list[Value] = []
    for number, value in enumerate(loop.operands):
        if number < loop.carries:
            operands.append(spread((value, batched[1 + number]), size) if flags[number] else value)
        elif number < loop.carries + loop.sequences and flags[number]:
            operands.append(registry["moveaxis"](value, 0, 1))
        else:
            operands.append(value)
    found, is_batched = body.results(loop, operands), (*body.flags, *flags[: loop.carries])
    return [each if flag else spread((each, False), size) for each, flag in zip(found, is_batched, strict=True)]


def of_block(
    length: Value,
    points: Sequence[Input],
    batched: Sequence[bool],
    attrs: Mapping[str, Any],
    blocks: Mapping[Value, Value],
    lanes: int,
) -> list[Value]:
    """Return the results of a loop for one block of a batch. How many steps there are is the same for all blocks, and
    often known."""
    return batched_results([length, *(blocks.get(each, each) for each in points[1:])], batched, attrs)


class BatchedBody(Struct, eq=False):
    """The region of a loop for whole batches, and what else it captures."""

    region: Graph
    captures: tuple[Value, ...]
    flags: Sequence[bool]
    """For each output of the region for one element: whether it has the batch's dimension."""
    short: ShortArrays

    def results(self, loop: Loop, operands: Sequence[Value]) -> list[Value]:
        """Return the results of the loop, with the batch's dimension first."""
        count = self.short.count(loop.carries)
        whole = replace(
            loop, operands=(*self.short.taken_apart(operands), *self.captures), body=self.region, carries=count
        )
        stacked = self.flags[loop.carries :]
        carried = self.short.for_inputs(self.flags[: loop.carries])
        last = self.short.put_together([whole.result(number) for number in range(count)])
        rows = [rows_of(whole.result(count + number), flag) for number, flag in enumerate(stacked)]
        before = [rows_of(whole.before(number), flag) for number, flag in enumerate(carried)]
        return [*last, *rows, *self.short.put_together(before)]


def rows_of(stacked: Value, is_batched: bool) -> Value:
    """What a loop has stacked, with the batch's dimension before that of the steps."""
    return registry["moveaxis"](stacked, 1, 0) if is_batched else stacked


def batched_body(loop: Loop, flags: Sequence[bool], size: Extent, *, in_lanes: bool) -> BatchedBody:
    """Return the region for whole batches of those inputs that have a flag."""
    types = loop.in_step()
    for number, flag in enumerate(flags):
        value = loop.operands[number]
        if flag and number >= loop.carries:
            inner = value.shape[2:] if number < loop.carries + loop.sequences else value.shape[1:]
            types[number] = ArrayType(value.dtype, inner)
        elif flag:
            types[number] = ArrayType(value.dtype, element_type(value, value.ndim > output_rank(loop, number)).shape)
    points = stand_ins(types, "point")
    wholes = batches_of(points, flags, size)
    with region_guards() as guards:
        found, required = batched_region(loop.body, points, wholes, size)
    out = [flag or (number < loop.carries and flags[number]) for number, (_, flag) in enumerate(found)]
    outputs = [spread(each, size) if flag else each[0] for each, flag in zip(found, out, strict=True)]
    parameters = [wholes.get(point, point) for point in points]
    lanes, batched = (lanes_of(size), set(wholes.values())) if in_lanes else (1, set[Input]())
    short = ShortArrays(parameters, loop.carries, batched, lanes, replaced=loop.carries)
    with region_guards() as more:
        outputs, required = short.computed(outputs, [*required, *guards])
    closed = close(short.inputs, outputs, name=loop.body.name, guards=[*required, *more])
    return BatchedBody(closed.region, closed.captures, out, short)


def output_rank(loop: Loop, carry: int) -> int:
    """Return the rank of a carry in the region, where it stands for one element."""
    return loop.body.inputs[carry].ndim
