"""Padding of arrays: by numbers, or by values from the array: its edges, reflections, statistics, and a ramp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.lengths import as_length, both
from numbagraph.blockwise.promotion import as_strong, convert
from numbagraph.blockwise.storing import written
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Constant, Extent, Value
from numbagraph.ops.borders import with_margins
from numbagraph.ops.creation import filled, iota, linspace
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.indexing.slicing import flip, narrow
from numbagraph.ops.joining import join, pieces_of, total
from numbagraph.ops.shape import copy, squeeze_at

Widths = list[tuple[Extent, Extent]]
ODD = Keywords(reflect_type="odd")
EVEN = "edge", "wrap", "reflect", "symmetric"
"""Modes whose margins are elements of the array, unless ``reflect_type`` is "odd"."""


def pad_widths(pad_width: Any, ndim: int) -> Widths:
    """Return the widths of the margins before and after each axis."""
    pad_width = listed(pad_width)
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            widths[axis] = tuple(width) if isinstance(width, (tuple, list)) else (width, width)
    else:
        widths = pairs_of(pad_width, ndim)
    return [(as_length(before), as_length(after)) for before, after in widths]


def listed(widths: Any) -> Any:
    """Return an array of widths as lists of them."""
    known = widths.data if isinstance(widths, Constant) else widths
    if isinstance(known, np.ndarray):
        return known.tolist()
    if isinstance(known, Value) and known.ndim:
        return [listed(each) for each in pieces_of(known)]
    return known


def pairs_of(given: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Return a pair for each axis, from a number, a pair, or a pair for each axis, as NumPy reads them."""
    if not isinstance(given, (tuple, list)):
        return [(given, given)] * ndim
    pairs = [tuple(each) if isinstance(each, (tuple, list)) else each for each in given]
    lengths = {len(each) for each in pairs if isinstance(each, tuple)} or {len(pairs)}
    if not lengths <= {1, 2}:
        raise ValueError(f"pad: a number, a pair, or a pair for each axis is expected, not {given}")
    if not any(isinstance(each, tuple) for each in pairs):
        return [(pairs[0], pairs[-1])] * ndim
    pairs = [(each[0], each[-1]) for each in pairs]
    return pairs * ndim if len(pairs) == 1 else pairs


@decomposition(
    np.pad,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3,)), 2),
        (draw(rng, dtype, (3, 4)), ((1, 0), (2, 3))),
        (draw(rng, dtype, (3, 4)), (1, 2)),
        (draw(rng, dtype, ()), 2),
        *[(draw(rng, dtype, (3, 4)), ((3, 9), (0, 7)), mode) for mode in ("edge", "wrap", "reflect", "symmetric")],
        *[(draw(rng, dtype, (3, 4)), (2, 9), mode, ODD) for mode in ("reflect", "symmetric") if dtype.kind != "b"],
        *[(draw(rng, dtype, (3, 4)), (2, 3), mode) for mode in ("maximum", "mean") if dtype.kind in "iuf"],
        *[(draw(rng, dtype, (4,)), (2, 3), mode) for mode in ("linear_ramp", "median") if dtype.kind in "iuf"],
        *[(draw(rng, dtype, (3, 4)), (3, 2), "linear_ramp", Keywords(end_values=9)) for _ in "1" if dtype.kind != "b"],
    ],
    ulp=8,
)
def pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, **options: Any) -> Value:
    value = as_strong(array)
    widths = pad_widths(pad_width, value.ndim)
    if len(widths) != value.ndim:
        raise ValueError(f"operands could not be broadcast together with shapes ({len(widths)},2) ({value.ndim},2)")
    if mode != "constant":
        return padded(value, widths, mode, options)
    if options:
        raise ValueError(f"unsupported keyword arguments for mode 'constant': {set(options)}")
    if not value.ndim:
        return registry["asarray"](value)
    if isinstance(constant_values, np.ndarray):
        constant_values = constant_values.tolist()
    if not isinstance(constant_values, (tuple, list)):
        return pad_evenly(value, widths, constant_values)
    for axis, ((before, after), fills) in enumerate(zip(widths, pairs_of(constant_values, value.ndim), strict=True)):
        pieces = [pad_piece(value, axis, width, fill) for width, fill in zip((before, after), fills, strict=True)]
        value = join([pieces[0], value, pieces[1]], axis - value.ndim)
    return value


def pad_evenly(value: Value, widths: Widths, fill: Any) -> Value:
    number = margin_number(fill, value.dtype)

    def margins(axis: int, before: Sequence[int]) -> Value:
        shape = [
            total([*widths[other], length]) if other in before else length for other, length in enumerate(value.shape)
        ]
        shape[axis] = total(widths[axis])
        return filled(number, shape)

    return surrounded(value, widths, margins)


def surrounded(value: Value, widths: Widths, margins: Callable[[int, Sequence[int]], Value]) -> Value:
    """Return an array with the margins that a function gives for each axis; these span the margins of some axes before
    it."""
    axes = [axis for axis, width in enumerate(widths) if width != (0, 0)]
    found = [margins(axis, axes[:number]) for number, axis in enumerate(axes)]
    places = tuple(axis - value.ndim for axis in axes)
    return with_margins(value, places, found, [widths[axis][0] for axis in axes]) if axes else copy(value)


def pad_piece(value: Value, axis: int, width: Extent, fill: Any) -> Value:
    shape = list(value.shape)
    shape[axis] = width
    return filled(margin_number(fill, value.dtype), shape)


def margin_number(fill: Any, dtype: np.dtype) -> Value:
    """Return a number that `numpy.pad` writes. NumPy makes an array of the numbers of all margins first, and numbers
    out of it wrap around in unsigned integers."""
    if dtype.kind == "u":
        fill = as_strong(fill) if isinstance(fill, Value) else np.asarray(fill)[()]
    return written(fill, dtype, alone=True)


def padded(value: Value, widths: Widths, mode: str, options: dict[str, Any]) -> Value:
    """Return an array with margins, added along one axis after the other, as NumPy does it."""
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
    if mode in EVEN and options.get("reflect_type", "even") != "odd":
        return repeated(value, widths, mode)
    targets = pairs_of(options.get("end_values", 0), value.ndim)
    counts = pairs_of(options.get("stat_length"), value.ndim)
    if all(width == (0, 0) for width in widths):
        return copy(value)
    for axis, (before, after) in enumerate(widths):
        if (before, after) == (0, 0):
            continue
        place = axis - value.ndim
        if mode != "empty":
            require_some(value, place, before, after)
        if mode in (*EVEN, "empty"):
            value = margin(value, place, numbers_along(value, place, (before, after)), mode, "odd")
        elif mode == "linear_ramp":
            value = ramped(value, place, (before, after), targets[axis])
        else:
            value = summarised(value, place, (before, after), mode, counts[axis])
    return value


def repeated(value: Value, widths: Widths, mode: str) -> Value:
    """Return an array with margins of elements that stand elsewhere in it."""
    for axis, width in enumerate(widths):
        require_some(value, axis - value.ndim, *width)

    def margins(axis: int, before: Sequence[int]) -> Value:
        first, last = (iota(each) for each in widths[axis])
        length = shapes.as_value(value.shape[axis])
        numbers = registry["concatenate"]([first - shapes.as_value(widths[axis][0]), last + length])
        found = margin(value, axis - value.ndim, numbers, mode, "even")
        for other in before:
            place = other - value.ndim
            found = margin(found, place, numbers_along(value, place, widths[other]), mode, "even")
        return found

    return surrounded(value, widths, margins)


def numbers_along(value: Value, axis: int, width: tuple[Extent, Extent]) -> Value:
    """Return the numbers along an axis of the margins and the elements; the first element has 0."""
    before, after = width
    return iota(total([before, value.shape[axis], after])) - shapes.as_value(before)


def margin(value: Value, axis: int, number: Value, mode: str, kind: str) -> Value:
    """Return the elements at some numbers, which may lie outside of the array."""
    length = shapes.as_value(value.shape[axis])
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
    """Return elements beyond an edge by odd reflection: each is as far from the value at the edge as its mirror image,
    on the other side; beyond those, again."""
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
    if value.dtype.kind in "iu":  # in which numbers wrap around; of uint64 and int64, the sum would be one of floats
        rounds = convert(rounds, value.dtype)
    found = gather_value(value, [position], axis, checked=False)
    found = registry["where"](is_image, 2 * end - found, found)
    found = registry["where"](rounds > 0, found + 2 * rounds * (end - first), found)
    return convert(registry["where"](is_left, 2 * first - found, found), value.dtype)


def require_some(value: Value, axis: int, before: Extent, after: Extent) -> None:
    """Require that an axis is not empty: an empty one has nothing that a margin could be made of."""
    some = shapes.compare("greater", value.shape[axis], 0)
    no_margins = shapes.compare("equal", shapes.add(before, after), 0)
    text = f"can't extend empty axis {axis + value.ndim} using modes other than 'constant' or 'empty'"
    shapes.require(both(some, no_margins, "logical_or"), text, ValueError)


def clipped(number: Value, last: Value) -> Value:
    return registry["maximum"](registry["minimum"](number, last), 0)


def ramped(value: Value, axis: int, widths: tuple[Extent, Extent], ends: tuple[Any, Any]) -> Value:
    """Return margins on a line from the edge to a number."""
    sides = []
    for width, end, first in zip(widths, ends, (True, False), strict=True):
        edge = narrow(value, axis, 0 if first else shapes.subtract(value.shape[axis], 1), 1)
        edge = squeeze_at(edge, [axis + value.ndim])
        line = linspace(as_strong(end), edge, width, endpoint=False, dtype=value.dtype, axis=axis)
        sides.append(line if first else flip(line, axis))
    return registry["concatenate"]([sides[0], value, sides[1]], axis)


def summarised(value: Value, axis: int, widths: tuple[Extent, Extent], mode: str, counts: tuple[Any, Any]) -> Value:
    """Return margins of a statistic of the elements next to them."""
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
