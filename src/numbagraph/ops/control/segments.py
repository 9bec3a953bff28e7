"""Loops in segments, for derivatives that store little: what is carried into each segment, and, within one segment at a
time, what is carried into its steps, which are computed again.

n steps are about √n segments of √n steps, and a loop over those that are left. How long a while loop takes is not known
before, so each of its segments may have one step more than the one before it: k segments have k (k + 1) / 2 steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close, close_together, opened, opened_guards, without_effects
from numbagraph.ir.structs import replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Extent, Input, Value, constant
from numbagraph.ops.control.accumulation import accumulated
from numbagraph.ops.control.loop import Loop
from numbagraph.ops.control.operands import (
    differentiable,
    known_or_zero,
    region_guards,
    stand_ins,
    with_lengths_known,
)
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.transforms.autodiff import cotangents

FEWEST = 4
"""The number of steps from which on a loop is cut."""


def is_cut(loop: Loop) -> bool:
    """Whether derivatives take a loop in segments."""
    count = shapes.resolve(loop.length)
    return loop.checkpoint and not (isinstance(count, int) and count < FEWEST)


def steps_in_segment(count: Extent) -> Extent:
    """Return the number of steps in a segment: for a known length a divisor near its square root, if there is one."""
    if isinstance(count, int):
        root = math.isqrt(count - 1) + 1
        near = [each for each in range(max(1, root // 2), 2 * root) if count % each == 0]
        return min(near, key=lambda each: each + count // each, default=root)
    root = registry["ceil"](registry["sqrt"](shapes.as_value(count)))
    return shapes.maximum(registry["cast"].bind(root, dtype=INT64, weak=True), 1)


class Cut:
    """The places at which the steps of a loop are cut, and what is cut there."""

    def __init__(self, loop: Loop) -> None:
        count = shapes.resolve(loop.length)
        self.size = steps_in_segment(count)
        self.segments = shapes.floor_divide(count, self.size)
        self.whole = shapes.multiply(self.segments, self.size)
        """The number of steps in whole segments."""
        self.left = shapes.subtract(count, self.whole)
        """The number of the steps that are left, which the loop takes last."""
        self.reverse = loop.reverse

    @property
    def is_exact(self) -> bool:
        return isinstance(self.left, int) and not self.left

    def rows(self, value: Value) -> Value:
        """Return what an array has for the whole segments, one row for each."""
        part = value if self.is_exact else narrow(value, -value.ndim, self.left if self.reverse else 0, self.whole)
        return registry["reshape"](part, (self.segments, self.size, *value.shape[1:]))

    def rest(self, value: Value) -> Value:
        """Return what an array has for the steps that are left."""
        return narrow(value, -value.ndim, 0 if self.reverse else self.whole, self.left)

    def joined(self, rows: Value, rest: Value | None) -> Value:
        """Return the array for all steps."""
        steps = registry["reshape"](rows, (self.whole, *rows.shape[2:]))
        if rest is None:
            return steps
        return registry["concatenate"]((rest, steps) if self.reverse else (steps, rest))


def over_segments(loop: Loop, rows: Sequence[Value], cut: Cut) -> Loop:
    """Return a loop over segments; ``rows`` are its sequences."""
    types = [each.type for each in loop.initial]
    types += [each.type.with_shape(each.shape[1:]) for each in rows]
    types += [each.type for each in loop.captures]
    points = stand_ins(types, "point")
    first = loop.carries + loop.sequences
    inside = (*points[:first], *with_lengths_known(points[first:], loop.captures, points[:first]))
    inner = replace(loop, length=shapes.as_value(cut.size), operands=inside)
    with region_guards() as guards:
        outputs = [inner.result(number) for number in range(loop.outputs)]
    closed = close(points, outputs, name=f"{loop.body.name}s", guards=guards)
    operands = (*loop.initial, *rows, *loop.captures, *closed.captures)
    return replace(loop, length=shapes.as_value(cut.segments), operands=operands, body=closed.region, unroll=1)


def pulled_back_in_segments(loop: Loop, given: Mapping[int, Value], wanted: Sequence[bool]) -> list[Value | None]:
    """Return the cotangents of the operands of a loop, given those of its results. Each sum goes on from one segment to
    the next, so that its terms are added in the order in which the loop in one piece adds them."""
    cut, asked = Cut(loop), differentiable(loop.operands, wanted)
    rests = [] if cut.is_exact else [cut.rest(each) for each in loop.xs]
    operands = (*loop.initial, *map(cut.rows, loop.xs), *loop.captures, *rests)
    points = stand_ins([each.type for each in operands], "point")
    inside, count = with_lengths_known(points, operands), len(loop.operands)
    loop = replace(loop, operands=tuple(inside[:count]), body=without_effects(loop.body), checkpoint=False)
    stacked = [number for number in given if number >= loop.carries]
    seeds = [cut.rows(given[number]) for number in stacked]
    main = over_segments(loop, loop.xs, cut)
    outputs = [main.result(number) for number in (*range(loop.carries), *stacked)]
    if not cut.is_exact:
        last = (*outputs[: loop.carries], *inside[count:], *loop.captures)
        rest = replace(loop, length=shapes.as_value(cut.left), operands=last)
        ends = [rest.result(number) for number in range(loop.carries)]
        outputs = [*ends, *outputs[loop.carries :], *(rest.result(number) for number in stacked)]
        seeds += [cut.rest(given[number]) for number in stacked]
    of_rest = {loop.carries + number: count + number for number in range(len(rests)) if loop.carries + number in asked}
    places = [*asked, *of_rest.values()]
    found = cotangents(outputs, [*map(given.get, range(loop.carries)), *seeds], [points[each] for each in places])
    known = {place: each for place, each in zip(places, found, strict=True) if each is not None}
    pulled = substitute(accumulated([*known.values()]), dict(zip(points, operands, strict=True)))
    by_place: dict[int, Value] = dict(zip(known, pulled, strict=True))
    for number in set(by_place).intersection(range(loop.carries, loop.carries + loop.sequences)):
        other = of_rest.get(number)
        both = None if other is None else known_or_zero(by_place.get(other), operands[other])
        by_place[number] = cut.joined(by_place[number], both)
    return [by_place.get(number) for number in range(count)]


def while_pulled_back_in_segments(
    operands: Sequence[Value],
    condition: Graph,
    body: Graph,
    carries: int,
    given: Mapping[int, Value],
    wanted: Sequence[bool],
) -> list[Value | None]:
    """Return the cotangents of the operands of a while loop, given those of its results."""
    points, asked = stand_ins([each.type for each in operands], "point"), differentiable(operands, wanted)
    outputs = while_over_segments(with_lengths_known(points, operands), condition, without_effects(body), carries)
    found = cotangents(outputs, [given.get(number) for number in range(carries)], [points[each] for each in asked])
    known = {number: each for number, each in zip(asked, found, strict=True) if each is not None}
    pulled = substitute([*known.values()], dict(zip(points, operands, strict=True)))
    by_number = dict(zip(known, pulled, strict=True))
    return [by_number.get(number) for number in range(len(operands))]


def while_over_segments(operands: Sequence[Value], condition: Graph, body: Graph, carries: int) -> list[Value]:
    """Return the results of a while loop, as those of a loop over segments."""
    points = stand_ins([each.type for each in operands], "point")
    initial, given = points[:carries], [*points[:carries], *with_lengths_known(points[carries:], operands[carries:])]
    limit, number = (Input(ArrayType(INT64, ()), name) for name in ("limit", "number"))
    zero, one = (constant(each, dtype=INT64) for each in (0, 1))
    (holds,) = opened(condition, given)
    goes_on = registry["logical_and"].bind(registry["less"].bind(number, limit), holds)
    guards = opened_guards(condition, given), opened_guards(body, given)
    steps = [*opened(body, given), registry["add"].bind(number, one)]
    drafts = Draft(condition.name, [goes_on], guards[0]), Draft(body.name, steps, guards[1])
    inner = while_results(*close_together([*initial, number], drafts), [*initial, zero])
    after = [*inner[:carries], registry["add"].bind(limit, one)]
    drafts = Draft(condition.name, [holds], guards[0]), Draft(f"{body.name}s", after)
    regions, captures = close_together([*initial, limit], drafts)
    captures = substitute(captures, dict(zip(points[carries:], operands[carries:], strict=True)))
    return while_results(regions, captures, [*operands[:carries], one])[:carries]


def while_results(regions: Sequence[Graph], captures: Sequence[Value], initial: Sequence[Value]) -> list[Value]:
    """Return the results of a while loop, given its condition and its step."""
    (condition, body), carries = regions, len(initial)
    attrs = {"condition": condition, "body": body, "carries": carries}
    return [registry["while_loop"].bind(*initial, *captures, **attrs, result=each) for each in range(carries)]
