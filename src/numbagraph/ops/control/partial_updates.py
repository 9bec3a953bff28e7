"""Arrays of which the steps of a loop update parts, in loops of their own. To restore such an array would take the
whole of it in each step, so the inner loops store the elements that their pullbacks need."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from numbagraph.ir.values import Input, Node, Value
from numbagraph.ops.control.dependence import reached
from numbagraph.ops.control.rows import is_op

_active = threading.local()


def enclosing() -> frozenset[Value]:
    """Return the stand-ins for partly updated arrays in the steps whose pullbacks are being made on this thread."""
    return getattr(_active, "arrays", frozenset())


@contextmanager
def updated_in_part(arrays: Collection[Value]) -> Iterator[None]:
    """Mark arrays, inside the context, as partly updated by the step whose derivative is taken there."""
    before = enclosing()
    _active.arrays = before | frozenset(arrays)
    try:
        yield
    finally:
        _active.arrays = before


def inherited(points: Sequence[Input], operands: Sequence[Value]) -> set[Input]:
    """Return the stand-ins for operands that are partly updated arrays of an enclosing step, after some updates or
    before."""
    arrays = enclosing()
    types = {(each.dtype, each.shape) for each in arrays}
    return {
        point
        for point, operand in zip(points, operands, strict=True)
        if (operand.dtype, operand.shape) in types and not arrays.isdisjoint(reached([operand]))
    }


def is_in_part(output: Value, point: Value) -> bool:
    """Whether a step updates no more than a part of an array."""
    root, dimensions = updated(output)
    return root is point and dimensions < point.ndim


def updated(value: Value) -> tuple[Value, int]:
    """Return the array that a value is an update of, and the number of dimensions along which they differ at most."""
    dimensions = 0
    while isinstance(value, Node):
        found = one_update(value)
        if found is None:
            break
        value, more = found
        dimensions = max(dimensions, more)
    return value, dimensions


def one_update(node: Node) -> tuple[Value, int] | None:
    """Return the array that an assignment, a loop or a branch updates, and the number of dimensions along which they
    differ at most; None if the node is no update."""
    if is_op(node, "put_at") or is_op(node, "add_at"):
        return node.inputs[0], node.ndim - len(node.inputs[2:])
    if is_op(node, "set_slice"):
        return node.inputs[0], node.ndim
    if node.op.name == "scan" and node.attrs["result"] < node.attrs["carries"]:
        body, number = node.attrs["body"], node.attrs["result"]
        root, inner = updated(body.outputs[number])
        return (node.inputs[1 + number], min(inner + 1, node.ndim)) if root is body.inputs[number] else None
    if node.op.name == "switch":
        branches, number = node.attrs["branches"], node.attrs["result"]
        found = [updated(each.outputs[number]) for each in branches]
        roots = {root for root, _ in found}
        places = {number for each in branches for number, point in enumerate(each.inputs) if point in roots}
        return (node.inputs[1 + places.pop()], max(inner for _, inner in found)) if len(places) == 1 else None
    return None
