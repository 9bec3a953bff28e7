"""Insertion, removal and trimming of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.lengths import Cut, as_shape, cut
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.blockwise.storing import written
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.comparison import less, logical_not
from numbagraph.ops.creation import filled, iota, number_as
from numbagraph.ops.diagonals import diag
from numbagraph.ops.indexing.data_dependent_lengths import nonzero, truth
from numbagraph.ops.indexing.gathering import as_positions, gather_value, put_at
from numbagraph.ops.indexing.masks import selected
from numbagraph.ops.indexing.slicing import flip, narrow
from numbagraph.ops.selection import where
from numbagraph.ops.shape import broadcast_value, expand_at, move, permute, ravel, reshape_value
from numbagraph.ops.statistics.sorting import argsort, searchsorted


def with_axis(arr: Any, axis: Any) -> tuple[Value, int]:
    """Return an array, which is flattened if no axis is given, and the axis counted from the left."""
    value = ravel(arr) if axis is None else as_strong(arr)
    return value, shapes.normalise_axis(0 if axis is None else axis, value.ndim) + value.ndim


def from_left(positions: Value, length: Extent, end: int) -> Value:
    """Return positions counted from the left, and require them to be at most ``length - end``."""
    extent = shapes.as_value(length)
    inside = (positions >= -extent) & (positions <= extent - end)
    ok = registry["all"](inside) if inside.ndim else inside
    shapes.require(ok, f"index is out of bounds for an axis with size {shapes.resolve(length)}", IndexError)
    return where(less(positions, 0), positions + extent, positions)


def delete_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (5, 4))
    masks = [(array, rng.random(length) < 0.4, axis) for length, axis in ((5, 0), (4, 1), (20, None))]
    numbers = [(array, 1, 0), (array, -1, 1), (array, 3), (array, slice(None, None, 2), 0), (array, [1, 3, -1, 1], 0)]
    ends = ((60, None), (3, 1), (-60, -50), (-9, -9, -1), (1, 3, -1), (9, 3, 2))
    nothing = [(array, slice(*each), 0) for each in ends]
    return [*masks, *numbers, *nothing, (array, np.array([0, 3]), 1), (array, slice(3, None, -2), 0), (array, [], 0)]


@decomposition(np.delete, samples=delete_samples)
def delete(arr: Any, obj: Any, axis: Any = None) -> Value:
    value, first = with_axis(arr, axis)
    length = value.shape[first]
    if isinstance(obj, slice):
        return without_slice(value, cut(obj, length), first)
    if is_number(obj):
        place = place_of(obj, length, 1)
        return without_slice(value, Cut(place, 1, 1), first)
    given = as_value(obj)
    if given.dtype == BOOL and given.ndim:
        if given.ndim > 1:
            raise ValueError("boolean array argument obj to delete must be one dimensional")
        text = f"boolean array argument obj to delete must match the axis length of {shapes.resolve(length)}"
        shapes.require_same(length, given.shape[0], text, ValueError)
        return selected(value, logical_not(given), first)
    if isinstance(obj, (list, tuple)) and 0 < len(obj) <= MOST_PIECES and all(map(is_number, obj)):
        places = sorted({int(each) for each in obj})
        if places[0] >= 0 or places[-1] < 0:
            return without_places(value, [place_of(each, length, 1) for each in places], first)
    positions = from_left(as_positions(obj), length, 1)
    if not positions.ndim:
        return without_each(value, positions, 2, 1, first)
    kept = put_at(registry["ones"](length, bool), ravel(positions), False)
    return selected(value, kept, first)


MOST_PIECES = 8
"""The number of places up to which the pieces between them are copied one by one: each is a loop, which takes time to
compile."""


def without_places(value: Value, places: list[Extent], axis: int) -> Value:
    """Return an array without some places, given in ascending order, by joining the pieces between them."""
    starts = [0, *(shapes.add(each, 1) for each in places)]
    ends = [*places, value.shape[axis]]
    pairs = zip(starts, ends, strict=True)
    pieces = [narrow(value, axis - value.ndim, start, shapes.subtract(end, start)) for start, end in pairs]
    return registry["concatenate"](pieces, axis)


def is_number(obj: Any) -> bool:
    """Whether a position is known when the function is traced."""
    return isinstance(obj, (int, np.integer)) and not isinstance(obj, (bool, np.bool))


def place_of(number: int, length: Extent, end: int) -> Extent:
    """Return a known position counted from the left, and require it to be at most ``length - end``."""
    number = int(number)
    least = number + end if number >= 0 else -number
    text = f"index {number} is out of bounds for an axis with size {shapes.resolve(length)}"
    shapes.require(shapes.compare("greater_equal", length, least), text, IndexError)
    return number if number >= 0 else shapes.add(length, number)


def without_slice(value: Value, taken: Cut, axis: int) -> Value:
    """Return an array without the elements that a slice takes along an axis."""
    step, start = abs(taken.step), taken.start
    if taken.step < 0:
        start = shapes.add(start, shapes.multiply(taken.step, shapes.subtract(taken.length, 1)))
    if step > 1:
        return without_each(value, shapes.as_value(start), step, taken.length, axis)
    length = value.shape[axis]
    start = shapes.maximum(shapes.minimum(start, length), 0)  # a slice of nothing may start beyond the array
    end = shapes.add(start, taken.length)
    behind = narrow(value, axis - value.ndim, end, shapes.subtract(length, end))
    return registry["concatenate"]([narrow(value, axis - value.ndim, 0, start), behind], axis)


def without_each(value: Value, start: Value, step: int, count: Extent, axis: int) -> Value:
    """Return an array without ``count`` elements from ``start`` on, ``step`` apart."""
    numbers = iota(shapes.subtract(value.shape[axis], count))
    before = registry["floor_divide"](numbers - start, step - 1) + 1
    sources = numbers + registry["clip"](before, 0, shapes.as_value(count))
    return gather_value(value, [sources], axis - value.ndim, checked=False)


def insert_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array, row = draw(rng, dtype, (3, 4)), draw(rng, dtype, (4,))
    calls: list[tuple[Any, ...]] = [(array, 1, row[0]), (array, 1, row, 0), (array, -1, 1, 1), (row, [2, 2], row[:2])]
    calls += [(row, [3, 1], row[:2]), (row, slice(1, 3), row[:2]), (array, [1], row[:3, None], 1)]
    calls += [(array, [0, 2], row[:2], 1), (row, np.array([0, 4, 2]), 1), (row, 2, row), (row, [], row[0])]
    cube = draw(rng, dtype, (2, 3, 4))
    return [*calls, (cube, 1, cube[:, 0], 1), (cube, [1], cube[0], 0), (cube, -1, row, 0)]


@decomposition(np.insert, samples=insert_samples)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Value:
    value, first = with_axis(arr, axis)
    length = value.shape[first]
    given = written(values, value.dtype)
    if is_number(obj):
        return with_rows(value, given, place_of(obj, length, 0), first)
    if isinstance(obj, slice):
        taken = cut(obj, length)
        positions = shapes.as_value(taken.start) + iota(taken.length) * taken.step
    else:
        positions = as_value(obj)
        if positions.dtype == BOOL:
            positions = nonzero(positions)[0]
        elif isinstance(obj, (list, tuple)) and not obj:
            positions = convert(positions, INT64)
        positions = from_left(as_positions(positions), length, 0)
    if positions.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    is_one = not positions.ndim
    given = rows_given(given, value.ndim, first) if is_one else expand_at(given, range(value.ndim - given.ndim))
    if is_one or shapes.resolve(positions.shape[0]) == 1:
        count = given.shape[first]
        positions = broadcast_value(positions, (count,))
    count = positions.shape[0]
    target = list(value.shape)
    target[first] = count
    return woven(value, broadcast_value(given, target), positions, first)


def rows_given(given: Value, ndim: int, axis: int) -> Value:
    """Return the values to be inserted before one element along an axis, with their first dimension laid along that
    axis."""
    return move(expand_at(given, range(ndim - given.ndim)), [0], [axis])


def with_rows(value: Value, given: Value, place: Extent, axis: int) -> Value:
    """Return an array with others inserted before the element at a known place."""
    given, along, length = rows_given(given, value.ndim, axis), axis - value.ndim, value.shape[axis]
    target = list(value.shape)
    target[axis] = given.shape[axis]
    parts = (narrow(value, along, 0, place), narrow(value, along, place, shapes.subtract(length, place)))
    return registry["concatenate"]([parts[0], broadcast_value(given, target), parts[1]], axis)


def woven(value: Value, given: Value, positions: Value, axis: int) -> Value:
    """Insert elements before those at positions along an axis; several before one element stay in their order."""
    order = argsort(positions, kind="stable")
    ordered = gather_value(positions, [order], -1, checked=False)
    count, length = positions.shape[0], value.shape[axis]
    places = put_at.bind(filled(number_as(0, INT64), (count,)), ordered + iota(count), order, axis=-1, checked=(False,))
    old = iota(length) + searchsorted(ordered, iota(length), "right")
    shape = list(value.shape)
    shape[axis] = shapes.add(length, count)
    along = axis - value.ndim
    room = put_at.bind(filled(number_as(0, value.dtype), shape), value, old, axis=along, checked=(False,))
    return put_at.bind(room, given, places, axis=along, checked=(False,))


def resize_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (2, 3))
    return [(array, (3, 4)), (array, 4), (array, (0,)), (array, (6,)), (array[:, :0], (2,))]


@decomposition(np.resize, samples=resize_samples)
def resize(a: Any, new_shape: Any) -> Value:
    value, shape = ravel(a), as_shape(new_shape)
    count, size = value.shape[0], shapes.product(shape)
    repeats = shapes.floor_divide(size, shapes.maximum(count, 1))
    repeated = shapes.multiply(repeats, count)
    missing = shapes.subtract(size, repeated)
    rest = shapes.minimum(missing, count)
    zeros = filled(number_as(0, value.dtype), (shapes.subtract(missing, rest),))  # of an array without elements
    whole = reshape_value(broadcast_value(value, (repeats, count)), (repeated,))
    return reshape_value(registry["concatenate"]([whole, narrow(value, -1, 0, rest), zeros]), shape)


def trim_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "iu":
        return []  # of floats, a small step changes the length
    middle = draw(rng, dtype, (4,), (1.0, 3.0))
    padded = np.concatenate([np.zeros(2, dtype), middle, np.zeros(3, dtype)])
    framed = np.pad(draw(rng, dtype, (2, 3), (1.0, 3.0)), ((1, 2), (0, 1)))
    along = [(framed, "fb"), (framed, "b"), (framed, "fb", 0), (framed, "f", (-1, 0)), (framed, "fb", ())]
    return [(padded,), (padded, "f"), (padded, "b"), (np.zeros(3, dtype),), (np.zeros((2, 3), dtype),), *along]


def trimmed(filt: np.ndarray, trim: str = "fb", axis: Any = None) -> np.ndarray:
    """Return the result of `numpy.trim_zeros` along axes, which NumPy has had since 2.2."""
    axes = range(filt.ndim) if axis is None else [each % filt.ndim for each in np.atleast_1d(np.intp(axis))]
    key = [slice(None)] * filt.ndim
    for each, places in enumerate(filt.nonzero()):
        if each in axes:
            start, stop = (places.min(), places.max() + 1) if places.size else (filt.shape[each], 0)
            key[each] = slice(start if "f" in trim else None, stop if "b" in trim else None)
    return filt[tuple(key)]


@decomposition(trimmed, name="trim_zeros", implements=(np.trim_zeros,), samples=trim_samples)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Value:
    value = as_strong(filt)
    key: list[Any] = [slice(None)] * value.ndim
    for place in trimmed_axes(axis, value.ndim):
        key[place] = slice(*bounds_of_rest(value, trim, place))
    return registry["asarray"](value[tuple(key)])


def trimmed_axes(axis: Any, ndim: int) -> list[int]:
    """Return the axes along which zeros are cut off, counted from the left."""
    axes = range(ndim) if axis is None else np.atleast_1d(np.asarray(axis, np.intp)).tolist()
    places = [shapes.normalise_axis(each, ndim) + ndim for each in axes]
    if len(set(places)) < len(places):
        raise ValueError("repeated axis in `axis` argument")
    return places


def bounds_of_rest(value: Value, trim: str, axis: int) -> tuple[Value, Value]:
    """Return the start and the end of what is left along an axis when zeros are cut off in front, at the back, or
    both."""
    sides = trim.lower()
    if sides not in {"fb", "bf", "f", "b"}:
        raise ValueError(f"unexpected character(s) in `trim`: {sides!r}")
    rest = tuple(each for each in range(value.ndim) if each != axis)
    length = shapes.as_value(value.shape[axis])
    filled_places = nonzero(registry["any"](truth(value), rest))[0]
    first, last = registry["min"](filled_places, initial=2**62), registry["max"](filled_places, initial=-1)
    start = registry["minimum"](first, length) if "f" in sides else number_as(0, INT64)
    stop = last + 1 if "b" in sides else length
    return start, registry["maximum"](start, stop)


@decomposition(np.diagflat, samples=lambda rng, dtype: [(draw(rng, dtype, (2, 2)),), (draw(rng, dtype, (3,)), 1)])
def diagflat(v: Any, k: Any = 0) -> Value:
    return diag(ravel(v), k)


def rotation_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (2, 3, 4))
    return [*[(array[0], k) for k in (0, 1, 2, 3, -1, 5)], (array, 1, (1, 2)), (array, 3, (2, 0))]


@decomposition(np.rot90, samples=rotation_samples, view_of=True)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Value:
    value = as_strong(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (shapes.normalise_axis(axis, value.ndim) + value.ndim for axis in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    order = list(range(value.ndim))
    order[first], order[second] = second, first
    quarter = k % 4
    if quarter in (0, 2):
        return flip(flip(value, first), second) if quarter else value[:]
    return permute(flip(value, second), order) if quarter == 1 else flip(permute(value, order), second)
