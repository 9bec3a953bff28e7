"""Loops of a batch whose elements take different numbers of steps: blocks of elements go on together, masked, until the
last of a block is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, Guard, guard_values, substitute, with_guard_values
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close, close_together, opened, opened_guards
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import ArrayType, Extent, Input, Node, Op, Value, constant
from numbagraph.ops.control import loop
from numbagraph.ops.control.operands import (
    batch_size,
    batches_of,
    held,
    is_arithmetic,
    region_guards,
)
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.transforms.batching import batch, behind, elements_before, spread
from numbagraph.transforms.interpret import evaluate, extended
from numbagraph.transforms.scalar_replacement import ShortArrays

LANES = 64
"""The number of elements of a block: their carried values stay in the first-level cache."""
LARGEST_ELEMENT = 16
"""The largest number of elements of a carried array."""


class Whole(Struct, eq=False):
    """A loop of a batch. ``points`` stand for the operands of one element."""

    op: Op
    inputs: Sequence[Value]
    batched: Sequence[bool]
    points: Sequence[Input]
    condition: Graph
    body: Graph
    carries: int
    option: Mapping[str, bool]

    @property
    def guards(self) -> tuple[Guard, ...]:
        return (*self.condition.guards, *self.body.guards)


def runs_in_lanes(condition: Graph, body: Graph, carries: int) -> bool:
    """Whether a masked loop over a block costs less than one for each element: a step is arithmetic on few floats."""
    carried = body.outputs[:carries]
    lengths = [extent for each in carried for extent in map(shapes.resolve, each.shape)]
    if not all(isinstance(each, int) for each in lengths) or not any(each.dtype.kind in "fc" for each in carried):
        return False
    if any(prod(map(int, each.shape)) > LARGEST_ELEMENT for each in carried):  # type: ignore[arg-type]
        return False
    return is_arithmetic(condition) and is_arithmetic(body)


def holds_lanes(region: Graph, flags: Sequence[bool], carries: int) -> bool:
    """Whether a loop in the step of another will run in lanes, if the operands with a flag vary along the batch: then
    blocks run the whole, so that what they carry stays in the first-level cache from one loop to the next."""
    found, carried = False, any(flags)
    pairs = enumerate(zip(region.inputs, flags, strict=True))
    vary: set[Value] = {each for number, (each, flag) in pairs if flag or (carried and number < carries)}
    for node in region.order:
        if not isinstance(node, Node) or vary.isdisjoint(node.inputs):
            continue
        if node.op.kind == "effect":
            return False
        vary.add(node)
        attrs = node.attrs
        if node.op.name == "while_loop":
            found = found or runs_in_lanes(attrs["condition"], attrs["body"], attrs["carries"])
        elif node.op.name == "scan":
            flags = [each in vary for each in node.inputs[1:]]
            found = found or holds_lanes(attrs["body"], flags, attrs["carries"])
    return found


def by_lanes(whole: Whole) -> list[Value]:
    """Return the results of a loop for each element of a batch."""
    size = batch_size(whole.inputs, whole.batched)
    if is_one_block(size):
        pairs = list(zip(whole.points, whole.inputs, whole.batched, strict=True))
        blocks, shared = (dict[Value, Value](pair[:2] for pair in pairs if pair[2] is flag) for flag in (True, False))
        with region_guards() as guards:
            results = of_block(whole, blocks, lanes_of(size))
        found = substitute([*results, *guard_values(guards)], shared)
        for each in with_guard_values(guards, found[len(results) :]):
            shapes.current_collector().add(each)
        return found[: len(results)]
    return over_blocks(whole.inputs, whole.batched, whole.points, partial(of_block, whole))


def over_blocks(
    inputs: Sequence[Value],
    batched: Sequence[bool],
    points: Sequence[Input],
    make: Callable[[Mapping[Value, Value], int], list[Value]],
) -> list[Value]:
    """Compute values for a batch, block after block. ``make`` gives them for one block, from what takes the places of
    those points that have a flag, and from the number of elements in a block."""
    size = batch_size(inputs, batched)
    lanes = lanes_of(size)
    count = shapes.floor_divide(shapes.add(size, lanes - 1), lanes)
    pairs = list(zip(points, inputs, batched, strict=True))
    blocks: dict[Value, Input] = {
        point: Input(ArrayType(point.dtype, (lanes, *point.shape)), "block") for point, _, flag in pairs if flag
    }
    number = Input(ArrayType(INT64, ()), "block")
    with region_guards() as found:
        results = make(blocks, lanes)
    guards = [in_block(each, number, lanes) for each in found]
    xs, shared = ([pair[:2] for pair in pairs if pair[2] is flag] for flag in (True, False))
    parameters = [number, *(blocks[point] for point, _ in xs), *(point for point, _ in shared)]
    closed = close(parameters, [registry["add"](number, 1), *results], name="block", guards=guards)
    places = in_blocks(size, count, lanes)
    elements = [gather_value(value, [places], -value.ndim, checked=False) for _, value in xs]
    first = constant(0, dtype=INT64)
    operands = (first, *elements, *(value for _, value in shared), *closed.captures)
    run = loop.Loop(shapes.as_value(count), operands, closed.region, 1, len(xs), reverse=False)
    return [flattened(run.result(1 + result), count, size, lanes) for result in range(len(results))]


def in_block(guard: Guard, number: Value, lanes: int) -> Guard:
    """Return a guard of a block, whose error names an element of the whole batch."""
    if guard.failure is None:
        return guard
    return replace(guard, failure=FailureInBlock(guard.failure, lanes), arguments=(number, *guard.arguments))


class FailureInBlock(Struct):
    """A function that makes the error of an element of a block."""

    failure: Callable[..., Exception]
    lanes: int

    def __call__(self, number: Any, *arguments: Any) -> Exception:
        with behind(int(number) * self.lanes):
            return self.failure(*arguments)


def is_one_block(size: Extent) -> bool:
    """Whether a batch is known to be no larger than a block."""
    size = shapes.resolve(size)
    return isinstance(size, int) and 0 < size <= LANES


def lanes_of(size: Extent) -> int:
    """The number of elements of a block: all of them, if they are known to be few."""
    size = shapes.resolve(size)
    return min(max(size, 1), LANES) if isinstance(size, int) else LANES


def in_blocks(size: Extent, count: Extent, lanes: int) -> Value:
    """The places of the elements in blocks; the last element fills what is left of the last block."""
    places = registry["arange"](shapes.as_value(shapes.multiply(count, lanes)))
    last = shapes.as_value(shapes.subtract(size, 1))
    return registry["reshape"](registry["minimum"](places, last), (count, lanes))


def flattened(stacked: Value, count: Extent, size: Extent, lanes: int) -> Value:
    rows = registry["reshape"](stacked, (shapes.multiply(count, lanes), *stacked.shape[2:]))
    return narrow(rows, -rows.ndim, 0, size)


def of_block(whole: Whole, blocks: Mapping[Value, Value], lanes: int) -> list[Value]:
    """Return the results of a masked loop for a block. It carries which elements go on, too, and which have failed.
    What has failed stays as it was before the step."""
    points, carries = whole.points, whole.carries
    active, failed = (Input(ArrayType(BOOL, ()), name) for name in ("active", "failed"))
    masks = [active, failed] if whole.guards else [active]
    begin = looked_at(whole.condition, points)[: len(masks)]
    with region_guards() as guards:
        after = step(whole, active, failed)
        flags = [*[True] * carries, *whole.batched[carries:]]
        wholes = {**batches_of(points, flags, lanes), **batches_of(masks, [True] * len(masks), lanes)}
        outputs = [spread(each, lanes) for each in batch(after, dict(wholes), lanes)]
    parameters = [wholes.get(each, each) for each in (*points[:carries], *masks, *points[carries:])]
    given = [blocks[each] if flag else each for each, flag in zip(points, whole.batched, strict=True)]
    starts = [(each, flag) for each, flag in zip(given[:carries], whole.batched, strict=False)]
    starts += batch(begin, dict(blocks), lanes)
    operands = [*(spread(each, lanes) for each in starts), *given[carries:]]
    short = ShortArrays(parameters, carries, set(wholes.values()), lanes)
    with region_guards() as more:
        outputs, guards = short.computed(outputs, guards)
    drafts = (
        Draft(whole.condition.name, [goes_on(*(wholes[each] for each in masks))]),
        Draft(whole.body.name, outputs, [*guards, *more]),
    )
    regions, captures = close_together(short.inputs, drafts)
    attrs = dict(zip(("condition", "body"), regions, strict=True))
    carried = short.count(carries + len(masks))
    bind = partial(whole.op.bind, *short.taken_apart(operands), *captures, **attrs, carries=carried, **whole.option)
    results = short.put_together([bind(result=each) for each in range(short.count(carries))])
    if whole.guards:
        has_failed = bind(result=carried - 1)
        shapes.current_collector().add(first_failure(whole, has_failed, [*results, *given[carries:]]))
    return results


def step(whole: Whole, active: Value, failed: Value) -> list[Value]:
    """Return what an element carries after a step, which counts where it is active."""
    points, carries = whole.points, whole.carries
    still = held(active, points, [*[True] * carries, *whole.batched[carries:]])
    new = opened(whole.body, still)
    takes_place = conjunction([active, *(each.condition for each in opened_guards(whole.body, still))])
    pairs = zip(new, points[:carries], strict=True)
    kept = [registry["where"](takes_place, fitted(each, old), old) for each, old in pairs]
    continues, fails = looked_at(whole.condition, [*kept, *points[carries:]])
    if not whole.guards:
        return [*kept, registry["logical_and"](takes_place, continues)]
    stopped = registry["logical_and"](active, registry["logical_not"](takes_place))
    stopped = reduce(registry["logical_or"], [failed, stopped, registry["logical_and"](takes_place, fails)])
    return [*kept, registry["logical_and"](takes_place, continues), stopped]


def looked_at(condition: Graph, operands: Sequence[Value]) -> list[Value]:
    """Return whether a loop goes on, and whether looking fails."""
    (continues,) = opened(condition, operands)
    holds = conjunction([each.condition for each in opened_guards(condition, operands)])
    return [registry["logical_and"](continues, holds), registry["logical_not"](holds)]


def conjunction(conditions: Sequence[Value]) -> Value:
    return reduce(registry["logical_and"], conditions, constant(True, dtype=BOOL))


def goes_on(active: Value, failed: Value | None = None) -> Value:
    """Whether a block goes on: there is an active element, and none before it has failed."""
    if failed is None:
        return registry["any"](active)
    (lanes,) = active.shape
    assert isinstance(lanes, int)
    order = constant(np.arange(lanes, 0, -1, dtype=np.int8))
    first, other = (registry["max"](registry["where"](each, order, np.int8(0))) for each in (active, failed))
    return registry["greater"](first, other)


def first_failure(whole: Whole, failed: Value, operands: Sequence[Value]) -> Guard:
    """The guard of a block, whose error is that of the first element that has failed."""
    like = next((each for each in whole.guards if each.ordered), whole.guards[0])
    flags = tuple([True] * whole.carries + list(whole.batched[whole.carries :]))
    return Guard(
        registry["logical_not"](registry["any"](failed)),
        like.subject,
        like.source,
        like.error,
        FailureOfLane(whole.condition, whole.body, flags),
        (failed, *operands),
        True,
    )


class FailureOfLane(Struct):
    """A function that makes the error of the first element of a block that has failed."""

    condition: Graph
    body: Graph
    is_batched: tuple[bool, ...]
    """For each operand of the loop: whether it has the lanes' dimension."""

    def __call__(self, failed: Any, *operands: Any) -> Exception:
        lane, before = int(np.argmax(failed)), elements_before.get()
        arrays = [each[lane] if flag else each for each, flag in zip(operands, self.is_batched, strict=True)]
        try:
            with behind(0):
                for region in (self.condition, self.body):
                    evaluate(region, [as_given(*pair) for pair in zip(region.inputs, arrays, strict=True)])
        except Exception as error:  # noqa: BLE001  the error of the user's function
            return extended(error, f"in element {before + lane} of the batch")
        guard = (*self.condition.guards, *self.body.guards)[0]
        return guard.error(guard.subject)


def as_given(value: Value, array: Any) -> Any:
    """Return an operand as a region takes it: a Python number where it has no dtype of its own."""
    return array.item() if value.type.weak and isinstance(array, (np.ndarray, np.generic)) else array


def fitted(value: Value, like: Value) -> Value:
    return convert(value, like.dtype) if value.dtype != like.dtype else value
