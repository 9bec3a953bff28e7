"""Arrays of which the steps of a loop update parts, in loops of their own: to restore one would take all of it in each
step, so that loops inside store what their pullbacks need of its elements."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from numbagraph.ir.values import Input, Node, Value
from numbagraph.ops.control.dependence import reached
from numbagraph.ops.control.rows import is_op

_active = threading.local()


def enclosing() -> frozenset[Value]:
    """What stands for such arrays in the steps whose pullbacks are being made."""
    return getattr(_active, "arrays", frozenset())


@contextmanager
def updated_in_part(arrays: Collection[Value]) -> Iterator[None]:
    """What is differentiated inside belongs to a step that updates parts of some arrays."""
    before = enclosing()
    _active.arrays = before | frozenset(arrays)
    try:
        yield
    finally:
        _active.arrays = before


def inherited(points: Sequence[Input], operands: Sequence[Value]) -> set[Input]:
    """The stand-ins for operands that are such arrays, after some updates or before."""
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
    """The array that a value is an update of, and along how many dimensions they differ at most."""
    dimensions = 0
    while isinstance(value, Node):
        found = one_update(value)
        if found is None:
            break
        value, more = found
        dimensions = max(dimensions, more)
    return value, dimensions


def one_update(node: Node) -> tuple[Value, int] | None:
    """The same of the last update, if it is one."""
    if is_op(node, "put_at"):
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
