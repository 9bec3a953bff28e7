"""Batching: the same function of arrays that have one more dimension, on the left."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard, guard_values
from numbagraph.ir.op import registry
from numbagraph.ir.sources import text_of
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import Extent, Node, Op, Value, at_source
from numbagraph.transforms.interpret import extended, interpret

Batched = tuple[Value, bool]
"""A value, and whether its first dimension is the batch."""


def batch(outputs: Sequence[Value], batched_inputs: Mapping[Value, Value], size: Extent) -> list[Batched]:
    """``outputs`` as functions of a whole batch of some values.

    Parameters
    ----------
    outputs
        Values of a graph.
    batched_inputs
        For each value that differs along the batch, the one that takes its place, with a leading dimension.
    size
        The length of that dimension.

    Returns
    -------
    list
        Each output's replacement, and whether it has the leading dimension: what does not depend on the batch is
        computed once, and stays the very value that it is.
    """
    for original, replacement in batched_inputs.items():
        subject = (
            f"a batch of {shapes.shape_text(original.shape)} cannot have shape {shapes.shape_text(replacement.shape)}"
        )
        if replacement.ndim != original.ndim + 1:
            raise shapes.ShapeError(subject)
        for extent, expected in zip(replacement.shape, (size, *original.shape), strict=True):
            shapes.require_same(extent, expected, subject)
    environment = {original: (replacement, True) for original, replacement in batched_inputs.items()}
    token = _calls.set({})
    try:
        return interpret(outputs, environment, lambda value: (value, False), batch_node)
    finally:
        _calls.reset(token)


def results_of_call(
    op: Op, inputs: Sequence[Value], batched: Sequence[bool], attrs: Mapping[str, Any], make: Callable[[], list[Value]]
) -> list[Value]:
    """Return all results of a batch of a call with several results, which is made once for all of them: each would
    batch the regions of the call again, and so would each result of a call in these."""
    known = _calls.get()
    key = (op.name, tuple(map(id, inputs)), tuple(batched), tuple((name, id(each)) for name, each in attrs.items()))
    if key not in known:
        known[key] = (inputs, attrs, make())  # what the key speaks of lives as long as it
    found: list[Value] = known[key][2]
    return found


_calls: ContextVar[dict[Any, Any]] = ContextVar("calls")
"""The calls of the graph that is batched now, whose results have been made."""


def batch_node(node: Node, operands: Sequence[Batched]) -> Batched:
    """A node of which some operands have a batch dimension."""
    values, flags = [value for value, _ in operands], [batched for _, batched in operands]
    if not any(flags) and all(map(operator.is_, values, node.inputs)):
        return node, False
    with at_source(node.source):
        try:
            if not any(flags):  # after effects of a batch, which are no batch themselves
                return node.op.bind(*values, **node.attrs), False
            found = node.op.batch(node.op, values, flags, **node.attrs)
            single = unspread(found) if node.op.kind == "control" else None
            return (found, node.op.kind != "effect") if single is None else (single, False)
        except NotImplementedError as error:
            raise NotImplementedError(f"{node.op.name} cannot be batched: {error}\n  {text_of(node.source)}") from error


def batch_with_guards(
    outputs: Sequence[Value], guards: Sequence[Guard], batched_inputs: Mapping[Value, Value], size: Extent
) -> tuple[list[Batched], list[Guard]]:
    """Return values of a whole batch, and its guards, given those of one element: each must hold for all elements. Both
    may be computed from the same loops and branches, which are batched once."""
    found = iter(batch([*outputs, *guard_values(guards)], batched_inputs, size))
    values = list(islice(found, len(outputs)))
    return values, [for_all(guard, list(islice(found, 1 + len(guard.arguments)))) for guard in guards]


def for_all(guard: Guard, values: Sequence[Batched]) -> Guard:
    """Return the guard with ``values`` as its condition and its arguments; a batched condition must hold for all
    elements."""
    conditions, *arguments = (value for value, _ in values)
    is_batched = tuple(flag for _, flag in values)
    condition = registry["all"](conditions) if is_batched[0] else conditions
    if guard.failure is None or not any(is_batched):
        return replace(guard, condition=condition, arguments=tuple(arguments))
    return replace(
        guard,
        condition=condition,
        failure=FailureOfElement(guard.failure, is_batched),
        arguments=(conditions, *arguments),
    )


class FailureOfElement(Struct):
    """A function that makes the error of the first element of a batch for which a condition does not hold."""

    failure: Callable[..., Exception]
    is_batched: tuple[bool, ...]
    """For the condition, and for each argument: whether it has the batch dimension."""

    def __call__(self, condition: Any, *arguments: Any) -> Exception:
        number = int(np.argmin(condition)) if self.is_batched[0] else 0
        pairs = zip(arguments, self.is_batched[1:], strict=True)
        if not self.is_batched[0]:
            return self.failure(*(each for each, _ in pairs))
        before = elements_before.get()
        with behind(0):
            error = self.failure(*(each[number] if flag else each for each, flag in pairs))
        return extended(error, f"in element {before + number} of the batch")


elements_before: ContextVar[int] = ContextVar("elements_before", default=0)
"""The number of elements of a batch before those of which an error is made now: a batch may run in blocks."""


@contextmanager
def behind(count: int) -> Iterator[None]:
    """Make errors that name an element of a batch count those before it."""
    token = elements_before.set(count)
    try:
        yield
    finally:
        elements_before.reset(token)


def unspread(value: Value) -> Value | None:
    """Return the value that a batch repeats for all of its elements; None if there is none."""
    if not isinstance(value, Node) or value.op.name != "broadcast_to":
        return None
    (inner, *_) = value.inputs
    is_widened = isinstance(inner, Node) and inner.op.name == "expand_dims" and inner.attrs["axes"] == (-value.ndim,)
    return inner.inputs[0] if isinstance(inner, Node) and is_widened else None


def spread(result: Batched, size: Extent) -> Value:
    """The result with a batch dimension, repeated along it if it is the same for all."""
    value, batched = result
    return value if batched else registry["broadcast_to"](value, (size, *value.shape))
