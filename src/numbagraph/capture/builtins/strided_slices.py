"""Slices whose step is traced, ``x[i::p]``, where something is assigned to them."""

from __future__ import annotations

from typing import Any

from numbagraph.blockwise.lengths import cut
from numbagraph.blockwise.promotion import as_value
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.tracing.tracer import TraceError, Tracer, to_value, user_source


def with_positions(holder: Any, key: Any) -> Any:
    """Return a key of an assignment, with positions in place of a slice whose step is traced. A read by positions would
    be a copy, so that a view of such a slice is still refused."""
    if not isinstance(key, slice) or not isinstance(key.step, Tracer) or not isinstance(holder, Tracer):
        return key
    if not holder.ndim or isinstance(shapes.resolve(key.step.value), int):
        return key
    step = as_value(to_value(key.step))
    shapes.require(registry["not_equal"](step, 0), "slice step cannot be zero", ValueError)
    text = (
        f"the step of a slice that is assigned to is negative, and traced: write a loop over its elements"
        f"\n  at {user_source()}"
    )
    shapes.require(registry["greater_equal"](step, 0), text, TraceError)
    taken = cut(to_value(slice(key.start, key.stop)), holder.value.shape[0])
    apart = registry["maximum"](step, 1)
    last = registry["floor_divide"](registry["subtract"](shapes.as_value(taken.length), 1), apart)
    positions = registry["multiply"](registry["arange"](registry["add"](last, 1)), apart)
    return Tracer(registry["add"](positions, shapes.as_value(taken.start)))
