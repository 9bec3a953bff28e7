"""Slices whose step is known only at run time, as positions, which all differ."""

from __future__ import annotations

from typing import Any

from numbagraph.blockwise.lengths import as_extent, cut
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Extent, Value


def is_strided(part: Any) -> bool:
    """Whether part of a key is a slice whose step is not known yet."""
    return isinstance(part, slice) and isinstance(part.step, Value) and not isinstance(shapes.resolve(part.step), int)


def has_strided(key: Any) -> bool:
    return any(map(is_strided, key)) if isinstance(key, tuple) else is_strided(key)


def without_strided(key: Any) -> Any:
    """Return a key with whole dimensions in place of slices whose step is not known yet."""
    if isinstance(key, tuple):
        return tuple(map(without_strided, key))
    return slice(None) if is_strided(key) else key


def positions_of(part: slice, length: Extent) -> Value:
    """Return the positions of the elements that a slice of a dimension selects."""
    step = shapes.as_value(as_extent(part.step, "the step of a slice"))
    shapes.require(registry["not_equal"](step, 0), "slice step cannot be zero", ValueError)
    forth, back = (cut(slice(part.start, part.stop, way), length) for way in (1, -1))
    is_forth, where = registry["greater"](step, 0), registry["where"]
    first, count = (
        where(is_forth, shapes.as_value(one), shapes.as_value(other))
        for one, other in ((forth.start, back.start), (forth.length, back.length))
    )
    apart = registry["maximum"](where(is_forth, step, registry["negative"](step)), 1)
    taken = registry["add"](registry["floor_divide"](registry["subtract"](count, 1), apart), 1)
    return registry["add"](first, registry["multiply"](registry["arange"](taken), step))
