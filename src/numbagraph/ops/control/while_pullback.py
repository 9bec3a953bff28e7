"""The pullback of loops whose number of steps is not known before they have run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from numbagraph.ir.graph import Graph, Guard, guard_values, with_guard_values
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close, close_together, opened, opened_guards, without_effects
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import ArrayType, Cotangents, Input, Op, Unsupported, Value, toposort
from numbagraph.ops.control.accumulation import with_elements_added
from numbagraph.ops.control.affine import at_zero
from numbagraph.ops.control.operands import (
    control_op,
    differentiable,
    element_type,
    given_or_zero,
    in_step,
    known_or_zero,
    region_guards,
    stand_ins,
    strong,
    strong_type,
    zeros,
)
from numbagraph.ops.control.partial_updates import inherited, updated_in_part
from numbagraph.ops.control.scan import moving_carries, over_elements
from numbagraph.ops.control.updates import not_restored
from numbagraph.transforms.autodiff import cotangents
from numbagraph.transforms.interpret import evaluate


class Pullback(Struct):
    """The operands of a pullback, by their roles: those of the loop; the cotangents of the loop's carries, and sums of
    the cotangents of its captures, both carried from the last step to the first; and the captures of the pullback's own
    region."""

    condition: Graph
    body: Graph
    pullback: Graph
    """The region that maps carried cotangents, the carries before a step, and captures to carried cotangents."""
    carries: int
    """The number of carries of the loop."""
    captures: int
    carried: int
    """The number of carries of the pullback."""

    def split(self, operands: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Return the loop's carries, its captures, the carries of the pullback, and its other captures."""
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
    """Run the loop in Python, and then its pullback."""
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


class Carry(Struct, eq=False):
    """A carry of a loop that is being made: its stand-in, its value before the first step, and its value after a step
    in terms of stand-ins."""

    point: Input
    start: Value
    following: Value


class Back(Struct, eq=False):
    """A loop over the steps of another one, from the last to the first, in terms of stand-ins."""

    carries: Sequence[Carry]
    guards: Sequence[Guard]
    name: str


class Forward(Struct, eq=False):
    """A while loop in terms of stand-ins."""

    carries: Sequence[Carry]
    goes_on: Value
    guards: tuple[Sequence[Guard], Sequence[Guard]]
    """The guards of the condition, and those of a step."""
    name: str

    def closed(
        self, used: Collection[Value], shared: Mapping[Input, Value]
    ) -> tuple[tuple[Graph, ...], list[Carry], dict[Input, Value]]:
        """Return the regions of condition and step for the carries that are used; these carries; and the captures of
        both by their stand-ins: the used ones of ``shared``, and more."""
        carries = [each for each in self.carries if each.point in used]
        captures = {point: value for point, value in shared.items() if point in used}
        drafts = (
            Draft(f"{self.name}_condition", [self.goes_on], self.guards[0]),
            Draft(self.name, [each.following for each in carries], self.guards[1]),
        )
        regions, more = close_together([*(each.point for each in carries), *captures], drafts)
        extra = stand_ins([each.type for each in more], "capture")
        return regions, carries, captures | dict(zip(extra, more, strict=True))

    def used(self, asked: Collection[Value], back: Sequence[Carry] = ()) -> set[Value]:
        """Return the values that the last values of the stand-ins ``asked`` are computed from, and those that decide
        whether the loop goes on or fails."""
        guards = [guard for each in self.guards for guard in each]
        return reached_by(
            [self.goes_on, *guard_values(guards), *asked],
            {each.point: each.following for each in (*self.carries, *back)},
        )


def gone_back(
    forward: Forward, back: Back, asked: Collection[Value], shared: Mapping[Input, Value]
) -> dict[Value, Value]:
    """Return the last values of a loop that goes over the steps of another one, from the last to the first.

    Neither loop carries a value that has no part in these: a cotangent whose transpose is taken next must not seem to
    have one.

    Parameters
    ----------
    forward
        The loop that is run first. Its carries before each step are stored.
    back
        The other loop, in terms of the stand-ins of both.
    asked
        The stand-ins of those of its carries that are wanted.
    shared
        What both capture, by its stand-ins.
    """
    used = forward.used([*asked, *guard_values(back.guards)], back.carries)
    (condition, body), carries, captures = forward.closed(used, shared)
    others = [each for each in back.carries if each.point in used]
    steps = [each.point for each in carries]
    parameters = [*(each.point for each in others), *steps, *captures]
    with region_guards() as guards:
        # sums are not continued in inner loops: the transpose that follows must not seem to depend on all of these
        results = with_elements_added([each.following for each in others])
    closed = close(parameters, results, name=back.name, guards=[*back.guards, *guards])
    pullback = Pullback(condition, body, closed.region, len(steps), len(captures), len(others))
    operands = (*(each.start for each in carries), *captures.values(), *(each.start for each in others))
    bind = partial(while_pullback.bind, *operands, *closed.captures, **pullback.attrs)
    return {each.point: bind(result=place) for place, each in enumerate(others) if each.point in asked}


def reached_by(roots: Sequence[Value], following: Mapping[Input, Value]) -> set[Value]:
    """Return the values that ``roots`` are computed from, where a stand-in is computed from the value that
    ``following`` has for it."""
    found: set[Value] = set()
    pending = list(roots)
    while pending:
        new = toposort(pending, known=found)
        found.update(new)
        pending = [following[each] for each in new if each in following]  # type: ignore[index]
    return found


def pulled_back(
    given: Mapping[int, Value],
    inputs: Sequence[Value],
    wanted: Sequence[bool],
    condition: Graph,
    body: Graph,
    carries: int,
) -> Cotangents:
    """Return the cotangents of the operands of a while loop, given those of its results."""
    body = without_effects(body)
    asked = differentiable(inputs, wanted)
    moving = moving_carries(body, inputs[:carries], asked)
    points = stand_ins([each.type for each in inputs], "point")
    ends = {number: Input(strong_type(points[number]), "cotangent") for number in moving}
    outputs = opened(body, points)
    forward = Forward(
        [Carry(*each) for each in zip(points, inputs, outputs, strict=False)],
        opened(condition, points)[0],
        (opened_guards(condition, points), opened_guards(body, points)),
        body.name,
    )
    starts = {number: given_or_zero(given, number, strong(inputs[number])) for number in moving}
    seeds = [ends.get(number) for number in range(carries)]
    active = [*moving, *(number for number in asked if number >= carries)]
    in_part = inherited(points, inputs) | not_restored(points, outputs, carries)
    with region_guards() as guards, updated_in_part(in_part):
        pulled = cotangents(outputs, seeds, [points[each] for each in active])
    found = {number: each for number, each in zip(active, pulled, strict=True) if each is not None}
    carried = cotangent_carries(points, inputs, ends, starts, found)
    shared = dict(zip(points[carries:], inputs[carries:], strict=True))
    chosen = [each.point for number, each in carried.items() if number in asked]
    last = gone_back(forward, Back(list(carried.values()), guards, f"{body.name}_pullback"), chosen, shared)
    return [last.get(carried[number].point) if number in carried else None for number in range(len(inputs))]


def cotangent_carries(
    points: Sequence[Input],
    inputs: Sequence[Value],
    ends: Mapping[int, Input],
    starts: Mapping[int, Value],
    found: Mapping[int, Value],
) -> dict[int, Carry]:
    """Return the cotangents of a loop's carries, and sums of those of its captures, as carries of its pullback, by the
    number of the operand. ``found`` are a step's cotangents, given ``ends``, which begin as ``starts``."""
    back = {
        number: Carry(point, starts[number], known_or_zero(found.get(number), points[number]))
        for number, point in ends.items()
    }
    for number in found.keys() - ends.keys():
        point = Input(strong_type(points[number]), "sum")
        back[number] = Carry(point, zeros(inputs[number]), point + found[number])
    return back


def vjp(
    given: Mapping[int, Value], y: Value, *inputs: Value, wanted: Sequence[bool], result: int, **attrs: Any
) -> Cotangents:
    """Return the cotangents of the operands of a pullback.

    The pullback B of a step is linear in what it carries. So the cotangents u of its carries go forward, with the loop
    itself: u' = Bᵀ u. That loop gives the cotangents of the values that the pullback starts from.

    The other cotangents are found on the way back through it, from the last step to the first, where B is at work once
    more: the derivative of ⟨u, B s⟩ by a step's carries and captures, and what goes through the carries after it. This
    is a loop of the same kind, which is linear in what it carries, so derivatives of any order follow.
    """
    pullback = Pullback(**attrs)
    carry, captures, carried, others = pullback.split(inputs)
    by_carry, by_capture, by_carried, by_other = pullback.split(wanted)
    flat = [*carry, *captures, *others]
    points = stand_ins([each.type for each in flat], "point")
    tangents, seeds = (stand_ins(map(strong_type, carried), name) for name in ("tangent", "cotangent"))
    steps, shared = points[: len(carry)], dict(zip(points[len(carry) :], flat[len(carry) :], strict=True))
    own = points[: len(carry) + len(captures)]
    outputs, after = opened(pullback.pullback, [*seeds, *points]), opened(pullback.body, own)
    with region_guards() as guards:
        moved = cotangents(outputs, tangents, seeds)
    transposed = [known_or_zero(each, point) for each, point in zip(moved, tangents, strict=True)]
    pushed, guards = independent(transposed, guards, outputs, seeds)
    with region_guards() as more:
        pushed = with_elements_added(pushed)
    forward = Forward(
        [
            *(Carry(*each) for each in zip(steps, carry, after, strict=True)),
            *(
                Carry(point, given_or_zero(given, number, carried[number]), following)
                for number, (point, following) in enumerate(zip(tangents, pushed, strict=True))
            ),
        ],
        opened(pullback.condition, own)[0],
        (opened_guards(pullback.condition, own), [*opened_guards(pullback.body, own), *guards, *more]),
        f"{pullback.body.name}_pushforward",
    )
    found = gone_forward(forward, [each for each, flag in zip(tangents, by_carried, strict=True) if flag], shared)
    asked = differentiable(flat, [*by_carry, *by_capture, *by_other])
    moving = moving_carries(pullback.body, carry, [number for number in asked if number < len(own)])
    ends = {number: Input(strong_type(points[number]), "cotangent") for number in moving}
    active = [*moving, *(number for number in asked if number >= len(carry))]
    given_to = [*tangents, *(ends.get(number) for number in range(len(carry)))]
    with region_guards() as guards:
        pulled = cotangents([*outputs, *after], given_to, [points[each] for each in active])
    parts = {number: each for number, each in zip(active, pulled, strict=True) if each is not None}
    starts = {number: zeros(strong(carry[number])) for number in moving}
    rest = cotangent_carries(points, flat, ends, starts, parts)
    chosen = [each.point for number, each in rest.items() if number in asked]
    required = [*opened_guards(pullback.pullback, [*seeds, *points]), *guards]
    back = Back([*map(Carry, seeds, carried, outputs), *rest.values()], required, f"{pullback.pullback.name}_pullback")
    last = gone_back(forward, back, chosen, shared) if chosen else {}
    of_rest = [last.get(rest[number].point) if number in rest else None for number in range(len(flat))]
    return [*of_rest[: len(own)], *(found.get(each) for each in tangents), *of_rest[len(own) :]]


def independent(
    pushed: Sequence[Value], guards: Sequence[Guard], outputs: Sequence[Value], seeds: Sequence[Value]
) -> tuple[list[Value], list[Guard]]:
    """Return the transpose of a pullback, without the cotangents that it was taken at."""
    found = at_zero([*pushed, *guard_values(guards)], outputs, seeds)
    if found is None:
        raise NotImplementedError(
            "forward mode over reverse mode cannot pass this while loop: a loop in its step, or the backward rule of a "
            "custom_vjp, is not seen to be linear. Take jacrev(grad(f)) instead of hessian(f)"
        )
    return found[: len(pushed)], list(with_guard_values(guards, found[len(pushed) :]))


def gone_forward(forward: Forward, asked: Collection[Value], shared: Mapping[Input, Value]) -> dict[Value, Value]:
    """Return the last values of the wanted carries of a while loop."""
    (condition, body), carries, captures = forward.closed(forward.used(asked), shared)
    operands = (*(each.start for each in carries), *captures.values())
    bind = partial(registry["while_loop"].bind, *operands, condition=condition, body=body, carries=len(carries))
    return {each.point: bind(result=place) for place, each in enumerate(carries) if each.point in asked}


def batched(op: Op, inputs: Sequence[Value], flags: Sequence[bool], *, result: int, **attrs: Any) -> Value:
    """Run the pullback for one element after the other."""
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
