"""Batching: the same function of arrays that have one more dimension, on the left."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Extent, Node, Value, at_source
from numbagraph.transforms.interpret import interpret

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
    return interpret(outputs, environment, lambda value: (value, False), batch_node)


def batch_node(node: Node, operands: Sequence[Batched]) -> Batched:
    """A node of which some operands have a batch dimension."""
    values, flags = [value for value, _ in operands], [batched for _, batched in operands]
    if not any(flags) and all(map(operator.is_, values, node.inputs)):
        return node, False
    with at_source(node.source):
        try:
            if not any(flags):  # after effects of a batch, which are no batch themselves
                return node.op.bind(*values, **node.attrs), False
            return node.op.batch(node.op, values, flags, **node.attrs), node.op.kind != "effect"
        except NotImplementedError as error:
            raise NotImplementedError(f"{node.op.name} cannot be batched: {error}\n  at {node.source}") from error


def spread(result: Batched, size: Extent) -> Value:
    """The result with a batch dimension, repeated along it if it is the same for all."""
    value, batched = result
    return value if batched else registry["broadcast_to"](value, (size, *value.shape))
