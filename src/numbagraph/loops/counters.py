"""Carried integers that only small constants are added to.

None of them leaves 62 bits: at a step in a nanosecond that takes weeks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from numbagraph.ir.graph import Graph
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Input, Node, Value

LARGEST_STEP = 2**10
FARTHEST = 2**60
"""The largest magnitude that all steps together may add."""


class Increments(Struct):
    """The least and the greatest sum that may have been added to a number."""

    least: float = 0
    largest: float = 0

    def joined(self, other: Increments) -> Increments:
        return Increments(min(self.least, other.least), max(self.largest, other.largest))

    def then(self, other: Increments) -> Increments:
        return Increments(self.least + other.least, self.largest + other.largest)

    @property
    def repeated(self) -> Increments:
        """The increments after any number of repetitions."""
        return Increments(-math.inf if self.least < 0 else 0, math.inf if self.largest > 0 else 0)


def increments(body: Graph, number: int) -> Increments | None:
    """The increments that a step adds to a carried integer; None if it does anything else to it."""
    own = body.inputs[number]
    if own.ndim or own.dtype != INT64:
        return None
    return added(body.outputs[number], {own: Increments()})


def added(value: Value, known: Mapping[Value, Increments]) -> Increments | None:
    """The increments by which a value differs from one of the ``known`` numbers; None if it is computed in any other
    way."""
    if value in known or not isinstance(value, Node):
        return known.get(value)
    name, parts = value.op.name, value.inputs
    if name == "cast" and value.dtype == INT64:
        return added(parts[0], known)
    if name in ("add", "subtract"):
        return of_sum(parts[0], parts[1], -1 if name == "subtract" else 1, known)
    if name == "where":
        return of_choice([added(each, known) for each in parts[1:]])
    if name == "switch":
        return of_choice([of_region(each, value, known) for each in value.attrs["branches"]])
    if name in ("scan", "while_loop") and value.attrs["result"] < value.attrs["carries"]:
        result = value.attrs["result"]
        before, step = added(parts[result + (name == "scan")], known), increments(value.attrs["body"], result)
        return None if before is None or step is None else before.then(step.repeated)
    return None


def of_sum(left: Value, right: Value, sign: int, known: Mapping[Value, Increments]) -> Increments | None:
    if isinstance(left, Constant) and sign == 1:
        left, right = right, left
    before = added(left, known)
    if before is None or not isinstance(right, Constant) or right.ndim or right.dtype != INT64:
        return None
    step = sign * int(right.data)
    return before.then(Increments(step, step)) if abs(step) <= LARGEST_STEP else None


def of_choice(found: list[Increments | None]) -> Increments | None:
    first, *others = found
    for each in others:
        first = None if first is None or each is None else first.joined(each)
    return first


def of_region(region: Graph, node: Node, known: Mapping[Value, Increments]) -> Increments | None:
    """The increments of a branch: those of its operands, and then those that the branch adds."""
    operands = zip(region.inputs, node.inputs[1:], strict=True)
    inside: dict[Value, Increments] = {}
    for own, operand in operands:
        found = added(operand, known) if isinstance(operand, (Input, Node)) and not operand.ndim else None
        if found is not None:
            inside[own] = found
    return added(region.outputs[node.attrs["result"]], inside)
