"""Derivatives that a user wrote: results of a function that have a rule of their own for differentiation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Closed, opened, opened_guards
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Input, Value
from numbagraph.ops.identity import GradientRule
from numbagraph.transforms.batching import batch, spread

Backward = Callable[[Sequence[Value], Sequence[Value]], Sequence[Value | None]]


def with_rule(results: Sequence[Value], arguments: Sequence[Value], backward: Backward) -> list[Value]:
    """Return ``results``, computed from ``arguments``, with a reverse rule in place of their derivative.

    ``backward(arguments, cotangents of the results)`` gives the cotangents of the arguments, None where zero. It runs
    only when something is differentiated.
    """
    rule, count = CustomRule(backward), len(results)
    bind = registry["with_rule"].bind
    return [bind(*results, *arguments, rule=rule, result=number, results=count) for number in range(count)]


def with_closed_rule(
    results: Sequence[Value], arguments: Sequence[Value], closed: Closed, flags: Sequence[bool]
) -> list[Value]:
    """Return ``results`` with a rule that is a region of the arguments and the cotangents of the results, and of what
    it uses beside these. ``flags`` says which arguments the region gives cotangents of."""
    rule, count = ClosedRule(closed.region, tuple(flags), len(closed.captures)), len(results)
    bind, operands = registry["with_rule"].bind, (*results, *arguments, *closed.captures)
    return [bind(*operands, rule=rule, result=number, results=count) for number in range(count)]


class ClosedRule(Struct):
    """A user's backward rule as a region, whose last operands are what it uses of the functions around it."""

    region: Graph
    flags: tuple[bool, ...]
    captured: int

    def __repr__(self) -> str:
        return "rule"

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        count = len(self.flags)
        operands = (*arguments[:count], *given, *arguments[count:])
        for guard in opened_guards(self.region, operands):
            shapes.current_collector().add(guard)
        found = iter(opened(self.region, operands))
        return [*(next(found) if flag else None for flag in self.flags), *[None] * self.captured]

    def batched(self, batched: Sequence[bool]) -> GradientRule:
        return BatchedRule(self, tuple(batched))


class CustomRule(Struct):
    """A user's backward rule."""

    backward: Backward
    captured: int = 0

    def __repr__(self) -> str:
        return "rule"  # the hash of a graph depends on what it computes, which no rule changes

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        found = list(self.backward(arguments, given))
        if len(found) != len(arguments):
            raise TypeError(f"a custom_vjp backward rule gave {len(found)} cotangents for {len(arguments)} arguments")
        return found

    def batched(self, batched: Sequence[bool]) -> GradientRule:
        return BatchedRule(self, tuple(batched))


class BatchedRule(Struct):
    """A rule for arguments some of which are batched: the user's rule for one element, which is traced once and
    batched."""

    rule: GradientRule
    flags: tuple[bool, ...]

    @property
    def captured(self) -> int:
        return self.rule.captured

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        flags = (*self.flags, *[True] * len(given))
        batches = (*arguments, *given)
        singles = [single(value) if flag else value for value, flag in zip(batches, flags, strict=True)]
        found = self.rule.cotangents(singles[: len(arguments)], singles[len(arguments) :])
        replaced = {one: many for one, many, flag in zip(singles, batches, flags, strict=True) if flag}
        size = given[0].shape[0]
        known = [each for each in found if each is not None]
        results = iter(batch(known, replaced, size))
        return [
            None if each is None else self._fit(spread(next(results), size), flag)
            for each, flag in zip(found, self.flags, strict=True)
        ]

    @staticmethod
    def _fit(cotangent: Value, flag: bool) -> Value:
        """Return the cotangent of an argument; one that all elements of the batch share takes the sum over the
        batch."""
        return cotangent if flag else registry["sum"].bind(cotangent, axes=(-cotangent.ndim,))

    def batched(self, batched: Sequence[bool]) -> GradientRule:
        return BatchedRule(self, tuple(batched))


def single(value: Value) -> Input:
    """Return a stand-in for one element of a batch."""
    return Input(value.type.with_shape(value.shape[1:]), "element")
