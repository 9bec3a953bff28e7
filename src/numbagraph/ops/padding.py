"""Padding of arrays by what is in them: their edges, reflections, statistics, and a ramp to a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.blockwise.lengths import as_length, both
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.creation import iota
from numbagraph.ops.gathering import gather_value
from numbagraph.ops.slicing import narrow

Widths = list[tuple[Extent, Extent]]


def padded(value: Value, widths: Widths, mode: str, options: dict[str, Any], pairs: Callable[..., Any]) -> Value:
    """An array with margins, one axis after the other, as NumPy does it."""
    expected = {
        "edge": set(), "wrap": set(), "empty": set(), "linear_ramp": {"end_values"}, "maximum": {"stat_length"},
        "mean": {"stat_length"}, "median": {"stat_length"}, "minimum": {"stat_length"},
        "reflect": {"reflect_type"}, "symmetric": {"reflect_type"},
    }  # fmt: skip
    if mode not in expected:
        raise ValueError(f"mode '{mode}' is not supported")
    surplus = set(options) - expected[mode]
    if surplus:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {surplus}")
    ends = pairs(options.get("end_values", 0), value.ndim)
    counts = pairs(options.get("stat_length"), value.ndim)
    for axis, (before, after) in enumerate(widths):
        place = axis - value.ndim
        if mode != "empty":
            require_some(value, place, before, after)
        if mode in ("edge", "wrap", "reflect", "symmetric", "empty"):
            value = moved(value, place, before, after, mode, options.get("reflect_type", "even"))
        elif mode == "linear_ramp":
            value = ramped(value, place, (before, after), ends[axis])
        else:
            value = summarised(value, place, (before, after), mode, counts[axis])
    return value


def moved(value: Value, axis: int, before: Extent, after: Extent, mode: str, kind: str) -> Value:
    """Margins of elements that stand elsewhere in the array."""
    length = shapes.as_value(value.shape[axis])
    total = shapes.add(shapes.add(before, value.shape[axis]), after)
    number = iota(total) - shapes.as_value(before)
    last = length - 1
    if mode in ("edge", "empty"):
        return gather_value(value, [clipped(number, last)], axis, checked=False)
    if mode == "wrap":
        return gather_value(value, [registry["remainder"](number, registry["maximum"](length, 1))], axis, checked=False)
    if kind == "odd":
        return mirrored(value, axis, number, mode == "symmetric")
    period = registry["maximum"](2 * last if mode == "reflect" else 2 * length, 1)
    inside = registry["remainder"](number, period)
    mirror = period - inside - (0 if mode == "reflect" else 1)
    position = clipped(registry["minimum"](inside, mirror), last)
    return gather_value(value, [position], axis, checked=False)


def mirrored(value: Value, axis: int, number: Value, with_edge: bool) -> Value:
    """Elements beyond an edge as far from it as their mirror images are, on the other side; beyond those again."""
    if value.dtype == BOOL:
        raise TypeError("pad with reflect_type='odd' of booleans is not supported: pad x.astype(int)")
    length = shapes.as_value(value.shape[axis])
    last, offset = length - 1, int(with_edge)
    period = registry["maximum"](2 * last + 2 * offset, 1)
    distance = registry["where"](number < 0, -number - offset, number)  # from the first element, to the right
    inside = registry["remainder"](distance, period)
    is_image = inside > last
    position = clipped(registry["where"](is_image, 2 * last + offset - inside, inside), last)
    first, end = narrow(value, axis, 0, 1), narrow(value, axis, shapes.subtract(value.shape[axis], 1), 1)
    spread = tuple(range(1 + axis, 0))
    rounds, is_image, is_left = (
        registry["expand_dims"].bind(each, axes=spread) if spread else each
        for each in (registry["floor_divide"](distance, period), is_image, number < 0)
    )
    found = gather_value(value, [position], axis, checked=False)
    found = registry["where"](is_image, 2 * end - found, found)
    found = registry["where"](rounds > 0, found + 2 * rounds * (end - first), found)
    return convert(registry["where"](is_left, 2 * first - found, found), value.dtype)


def require_some(value: Value, axis: int, before: Extent, after: Extent) -> None:
    """An empty axis has nothing that a margin could be made of."""
    some = shapes.compare("greater", value.shape[axis], 0)
    no_margins = shapes.compare("equal", shapes.add(before, after), 0)
    text = f"can't extend empty axis {axis + value.ndim} using modes other than 'constant' or 'empty'"
    shapes.require(both(some, no_margins, "logical_or"), text, ValueError)


def clipped(number: Value, last: Value) -> Value:
    return registry["maximum"](registry["minimum"](number, last), 0)


def ramped(value: Value, axis: int, widths: tuple[Extent, Extent], ends: tuple[Any, Any]) -> Value:
    """Margins on a line from the edge to a number."""
    sides = []
    for width, end, first in zip(widths, ends, (True, False), strict=True):
        edge = narrow(value, axis, 0 if first else shapes.subtract(value.shape[axis], 1), 1)
        number = iota(width) if first else shapes.as_value(width) - 1 - iota(width)
        number = registry["expand_dims"].bind(number, axes=tuple(range(1 + axis, 0))) if axis < -1 else number
        start = convert(as_value(end), value.dtype)
        step = (edge - start) / registry["maximum"](shapes.as_value(width), 1)
        line = start + number * step
        if value.dtype.kind in "iu":
            line = registry["floor"](line)
        sides.append(convert(line, value.dtype))
    return registry["concatenate"]([sides[0], value, sides[1]], axis)


def summarised(value: Value, axis: int, widths: tuple[Extent, Extent], mode: str, counts: tuple[Any, Any]) -> Value:
    """Margins of a statistic of the elements next to them."""
    length, sides = value.shape[axis], []
    for width, count, first in zip(widths, counts, (True, False), strict=True):
        taken = length if count is None else shapes.minimum(as_length(count), length)
        part = narrow(value, axis, 0 if first else shapes.subtract(length, taken), taken)
        name = {"maximum": "max", "minimum": "min"}.get(mode, mode)
        statistic = registry[name](part, axis=axis, keepdims=True)
        if value.dtype.kind in "iu" and statistic.dtype.kind == "f":
            statistic = registry["rint"](statistic)
        shape = list(value.shape)
        shape[axis] = width
        sides.append(registry["broadcast_to"](convert(statistic, value.dtype), tuple(shape)))
    return registry["concatenate"]([sides[0], value, sides[1]], axis)
