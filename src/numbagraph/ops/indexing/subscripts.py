"""NumPy's indexing: ``x[key]``, and ``x[key] = v``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.lengths import Cut, cut
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.blockwise.storing import written
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Constant, Extent, Node, Value
from numbagraph.ops.creation import along, iota
from numbagraph.ops.indexing.gathering import (
    as_positions,
    gather_value,
    pick_at,
    put_at,
    scatter_add,
    scatter_increments,
    scattered_by,
    static_position,
)
from numbagraph.ops.indexing.masks import put_selected, require_mask_length, selected
from numbagraph.ops.indexing.slicing import put_slice, set_slice, take_slice
from numbagraph.ops.indexing.strided_slices import has_strided, is_strided, positions_of, without_strided
from numbagraph.ops.shape import broadcast_value, expand_at, inverse, permute, squeeze_at

INVALID = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)


class Item(Struct):
    """One part of a key: a slice, a position, an array of positions, or (with no axis) a new dimension."""

    kind: str
    axis: int = -1
    content: Any = None


class KnownMask(Struct):
    """A mask whose elements are known while a function is traced."""

    shape: tuple[int, ...]
    positions: tuple[Value, ...]
    """The positions at which it is true, for each of its dimensions."""


def is_late_mask(part: Any) -> bool:
    """Whether part of a key is a mask that is known only when the function runs."""
    return isinstance(part, Value) and part.ndim > 0 and part.dtype.kind == "b"


def simplify(part: Any) -> Any:
    """Return a part of a key as None, Ellipsis, a slice, an int, a mask, or a value of integers."""
    if part is None or part is Ellipsis or isinstance(part, (slice, KnownMask)):
        return part
    if isinstance(part, (bool, np.bool_, Value, np.ndarray, list, tuple)):
        value = as_positions(part)
        return value if value.ndim else shapes.resolve(value)
    try:
        return operator.index(part)
    except TypeError:
        raise IndexError(INVALID) from None


def is_basic(key: Any) -> bool:
    """Whether NumPy gives a view for a key: it has no arrays."""
    parts = key if isinstance(key, tuple) else (key,)
    copying = (bool, np.bool_, list, tuple, np.ndarray, KnownMask)
    return not any(isinstance(part, copying) or getattr(part, "ndim", 0) or is_truth(part) for part in parts)


def is_truth(part: Any) -> bool:
    """Whether part of a key is one truth value, static or not: a mask without dimensions."""
    if isinstance(part, (bool, np.bool_)):
        return True
    dtype = getattr(part, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind == "b" and getattr(part, "ndim", 1) == 0


def with_truths(value: Value, key: Any) -> tuple[Value, Any, list[int]]:
    """Return an array with a dimension of length 1 for each truth value in a key, the key without truth values, and
    these dimensions. Of its dimension, a truth value takes all or nothing."""
    parts = list(key) if isinstance(key, tuple) else [key]
    places = [number for number, part in enumerate(parts) if is_truth(part)]
    if not places:
        return value, key, []
    gap = next((number for number, part in enumerate(parts) if part is Ellipsis), len(parts))
    total = value.ndim + len(places)
    axes = []
    for place in places:
        before = sum(map(consumed, parts[:place])) if place < gap else total - sum(map(consumed, parts[place:]))
        axes.append(before)
        truth = parts[place]
        parts[place] = np.arange(int(truth)) if isinstance(truth, (bool, np.bool_)) else as_value(truth)
    value = expand_at(value, axes)
    parts = [expand_at(part, (0,)) if number in places and isinstance(part, Value) else part
             for number, part in enumerate(parts)]  # fmt: skip
    return value, tuple(parts), axes


def consumed(part: Any) -> int:
    """Return the number of dimensions that a part of a key stands for, with the one that a truth value is given."""
    if isinstance(part, KnownMask):
        return len(part.shape)
    return part.ndim if is_late_mask(part) else int(part is not None and part is not Ellipsis)


def parse(value: Value, key: Any) -> list[Item]:
    """Return the parts of a key, with the slices that it leaves out."""
    parts = [simplify(part) for part in (key if isinstance(key, tuple) else (key,))]
    taken = sum(map(dimensions_of, parts))
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if taken > value.ndim:
        text = f"too many indices for array: array is {value.ndim}-dimensional, but {taken} were indexed"
        raise IndexError(text)
    if all(part is not Ellipsis for part in parts):
        parts.append(Ellipsis)
    items: list[Item] = []
    axis = 0
    for part in parts:
        if part is None:
            items.append(Item("new"))
            continue
        if part is Ellipsis:
            rest = value.ndim - taken
            items.append(Item("gap"))
            items.extend(Item("slice", axis + step, slice(None)) for step in range(rest))
            axis += rest
            continue
        if isinstance(part, KnownMask):
            for number, position in enumerate(part.positions):
                if 0 not in part.shape:  # NumPy takes a mask without elements for any length
                    require_mask_length(value.shape[axis], part.shape[number], axis)
                items.append(Item("array", axis, position))
                axis += 1
            continue
        kind = "slice" if isinstance(part, slice) else "array" if isinstance(part, Value) and part.ndim else "number"
        items.append(Item(kind, axis, part))
        axis += 1
    return items


def dimensions_of(part: Any) -> int:
    """Return the number of dimensions of the array that a part of a key indexes."""
    if isinstance(part, KnownMask):
        return len(part.shape)
    return int(part is not None and part is not Ellipsis)


def has_ellipsis(key: Any) -> bool:
    """Whether ``...`` is in a key: NumPy then gives a 0-d array where it would give a scalar."""
    return any(part is Ellipsis for part in (key if isinstance(key, tuple) else (key,)))


class Layout(Struct):
    """The origin of the dimensions of ``x[key]``: slices and new dimensions, and arrays of positions."""

    kept: list[Item]
    """Slices and new dimensions, in their order."""
    arrays: list[Item]
    first: int
    """The number of ``kept`` items that stand before the dimensions of the positions."""

    @property
    def new(self) -> list[int]:
        return [number for number, item in enumerate(self.kept) if item.kind == "new"]


def layout_of(items: Sequence[Item]) -> Layout:
    """Return the order of the dimensions of a result, by NumPy's rule: where positions stand side by side (numbers
    count as such next to arrays), their dimensions stand in their place; otherwise they come first."""
    arrays = [item for item in items if item.kind == "array"]
    advanced = [number for number, item in enumerate(items) if item.kind in ("array", "number")]
    kept = [item for item in items if item.kind in ("slice", "new")]
    first = 0
    if arrays and advanced[-1] - advanced[0] == len(advanced) - 1:
        first = sum(item.kind in ("slice", "new") for item in items[: advanced[0]])
    return Layout(kept, arrays, first)


def index(value: Any, key: Any) -> Value:
    """Return ``value[key]``.

    Parameters
    ----------
    value
        An array.
    key
        Integers (static or not), slices, ``None``, ``...`` and arrays of integers. The bounds of what is only known at
        run time are checked when it is. One part may be a boolean mask.
    """
    value, key, _ = with_truths(as_value(value), key)
    if has_strided(key):
        for axis, positions in strided(value, key):
            value = gather_value(value, [positions], axis, checked=False)
        key = without_strided(key)
    found = with_late_mask(value, key)
    if found is not None:
        value, mask, first = found
        return selected(value, mask, first)
    items = parse(value, key)
    layout = layout_of(items)
    ndim = value.ndim
    assembled = isinstance(value, Node) and value.op is set_slice  # a number may be that of a piece: read it as a slice
    sliced = [item for item in items if item.kind == "slice" or (assembled and is_static(item))]
    numbers = [item for item in items if item.kind == "number"]
    cuts = {item.axis: taken_by(item, value.shape[item.axis]) for item in sliced}
    if assembled:
        value = take_slice(value, {axis - ndim: cut for axis, cut in cuts.items()})
    for item in reversed(numbers):
        if item in sliced:
            value = squeeze_at(value, [item.axis])
        else:
            value = pick_at(value, item.axis - value.ndim, item.content)
    if not assembled:  # behind positions: what a derivative adds to a part of a row is about this row alone
        places = {axis: axis - sum(each.axis < axis for each in numbers) for axis in cuts}
        value = take_slice(value, {places[axis] - value.ndim: cut for axis, cut in cuts.items()})
    if not layout.arrays:
        result = expand_at(value, layout.new)
        if result.ndim:
            return result
        return registry["asarray"](result) if has_ellipsis(key) else scalar_result(result)
    order, first = grouped(layout, {item.axis for item in numbers})
    positions = [item.content for item in layout.arrays]
    value = permute(value, order)
    result = gather_value(value, positions, first - value.ndim)
    rank = result.ndim - value.ndim + len(positions)
    return expand_at(result, [number if number < layout.first else number + rank for number in layout.new])


def with_late_mask(value: Value, key: Any) -> tuple[Value, Value, int] | None:
    """If a key has a mask that is known only at run time: return the array after the rest of the key, the mask, and the
    first dimension of that array that the mask stands for. Else None."""
    parts = list(key) if isinstance(key, tuple) else [key]
    place = next((number for number, part in enumerate(parts) if is_late_mask(part)), None)
    if place is None:
        return None
    mask, others = parts[place], parts[:place] + parts[place + 1 :]
    numbers = [number for number, part in enumerate(parts) if is_number(part)]
    if not all(is_number(part) or part is None or part is Ellipsis or isinstance(part, slice) for part in others):
        raise NotImplementedError(
            "a boolean mask beside arrays in an index: take those first or afterwards, as in x[mask][:, i]"
        )
    if numbers and max(place, *numbers) - min(place, *numbers) != len(numbers):
        raise NotImplementedError(
            "a boolean mask and a number with a slice between them in an index: NumPy puts the selected elements "
            "first. Take the number first, as in x[0][:, mask], and use np.moveaxis"
        )
    rest = around_mask(tuple(parts))
    first = sum(part is not Ellipsis and number not in numbers for number, part in enumerate(parts[:place]))
    if any(part is Ellipsis for part in parts[:place]):
        first += value.ndim - sum(map(dimensions_of, rest))
    trivial = all(part is Ellipsis or part == slice(None) for part in rest)
    return value if trivial else index(value, rest), mask, first


def is_number(part: Any) -> bool:
    """Whether part of a key is one position."""
    if isinstance(part, Value):
        return not part.ndim and part.dtype.kind in "iu"
    return hasattr(part, "__index__") and not isinstance(part, (bool, np.bool_, np.ndarray))


def is_static(item: Item) -> bool:
    return item.kind == "number" and not isinstance(item.content, Value)


def grouped(layout: Layout, dropped: set[int]) -> tuple[list[int], int]:
    """Return the order of dimensions (those of numbers are gone) that puts the indexed ones side by side, and their
    first place."""
    axes = sorted(item.axis for item in (*layout.kept, *layout.arrays) if item.kind != "new")
    moved = {axis: number for number, axis in enumerate(axis for axis in axes if axis not in dropped)}
    kept = [moved[item.axis] for item in layout.kept if item.kind == "slice"]
    first = sum(item.kind == "slice" for item in layout.kept[: layout.first])
    return [*kept[:first], *(moved[item.axis] for item in layout.arrays), *kept[first:]], first


Combine = Callable[[Value, Value, list[Value], int], Value]
"""``combine(part, update, positions, axis)``: the part with the update at these positions (all of it without any)."""


def set_index(value: Any, key: Any, update: Any) -> Value:
    """Return a copy of ``value`` after ``value[key] = update``; of updates at one position the last one stays."""
    value, key, axes = with_truths(as_value(value), key)
    if axes:
        return squeeze_at(set_index(value, key, update), axes)
    if has_strided(key):
        return with_strided(value, key, update)
    found = with_late_mask(value, key)
    if found is not None:
        part, mask, first = found
        if part is not value:
            return set_index(value, around_mask(key), put_selected(part, mask, written(update, value.dtype), first))
        return put_selected(value, mask, written(update, value.dtype), first)
    return update_index(value, key, update, replace)


def strided(value: Value, key: Any) -> list[tuple[int, Value]]:
    """The dimensions, counted from the right, of which a key takes slices whose step is not known yet, and the
    positions that these select."""
    return [
        (item.axis - value.ndim, positions_of(item.content, value.shape[item.axis]))
        for item in parse(value, key)
        if is_strided(item.content)
    ]


def with_strided(value: Value, key: Any, update: Any) -> Value:
    """Return a copy of ``value`` after an assignment to slices whose step is not known yet."""
    (axis, positions), *_ = strided(value, key)
    taken = gather_value(value, [positions], axis, checked=False)
    parts = key if isinstance(key, tuple) else (key,)
    first = next(number for number, part in enumerate(parts) if is_strided(part))
    changed = set_index(taken, (*parts[:first], slice(None), *parts[first + 1 :]), update)
    return put_at.bind(value, changed, positions, axis=axis, checked=(False,))


def add_index(value: Any, key: Any, update: Any) -> Value:
    """Return a copy of ``value`` after ``np.add.at(value, key, update)``: updates at one position are all added."""
    value = as_value(value)
    if not is_zeros(value) and all(item.kind != "array" for item in parse(value, key)):  # no position stands twice
        return set_index(value, key, registry["add"](index(value, key), convert(as_value(update), value.dtype)))
    return update_index(value, key, update, accumulate)


def replace(part: Value, update: Value, positions: list[Value], axis: int) -> Value:
    if not positions:
        return update
    return put_at.bind(part, update, *positions, axis=axis, checked=(True,) * len(positions))


def accumulate(part: Value, update: Value, positions: list[Value], axis: int) -> Value:
    if not positions:
        return registry["add"](part, update)
    checked = (True,) * len(positions)
    op = scatter_add if is_zeros(part) or part.dtype.kind not in "fc" else scatter_increments
    return registry["add"](part, scattered_by(op, update, positions, part.shape, axis, checked))


def is_zeros(value: Value) -> bool:
    """Whether all elements are the constant 0 (and none is -0.0, to which 0.0 cannot be added)."""
    while isinstance(value, Node) and value.op.name in ("full", "broadcast", "cast", "copy", "identity"):
        value = value.inputs[0]
    if not isinstance(value, Constant):
        return False
    parts = np.real(value.data), np.imag(value.data)
    return not any(np.any(part) or np.any(np.signbit(part)) for part in parts)


def update_index(value: Value, key: Any, update: Any, combine: Combine) -> Value:
    """Cut out the part of ``value`` that the key's slices and static numbers describe, change it, put it back."""
    items = parse(value, key)
    whole = any(item.kind == "number" and not is_static(item) for item in items)
    is_basic = all(item.kind != "array" for item in items)
    given = written(update, value.dtype, alone=is_basic)
    if whole and combine is replace and is_basic:
        return replaced_in_place(value, items, given)
    items = [positioned(item, whole) for item in items]
    layout, ndim = layout_of(items), value.ndim
    cuts = {
        item.axis - ndim: taken_by(item, value.shape[item.axis]) for item in items if item.kind in ("slice", "number")
    }
    part = take_slice(value, cuts)
    numbers = [item.axis for item in items if item.kind == "number"]
    order, first = grouped(layout, set(numbers))
    positions = [item.content for item in layout.arrays]
    core = permute(squeeze_at(part, numbers), order)
    changed = combine(core, fitted(given, core, layout, first), positions, first - core.ndim)
    part_changed = expand_at(permute(changed, inverse(order)), numbers)
    return part_changed if part is value else put_slice(value, part_changed, cuts)


def replaced_in_place(value: Value, items: Sequence[Item], update: Value) -> Value:
    """Return ``value`` after an assignment at numbers that are only known at run time, and to slices beside them. All
    of these become positions of the array itself: the part that the slices describe would be a copy, and each
    assignment in a loop would cost as much as that part instead of what it writes."""
    ndim, layout = value.ndim, layout_of(items)
    cuts = {item.axis: taken_by(item, value.shape[item.axis]) for item in items if item.kind == "slice"}
    shape = [1 if item.kind == "new" else cuts[item.axis].length for item in layout.kept]
    surplus = update.ndim - len(shape)
    if surplus > 0 and all(shapes.resolve(extent) == 1 for extent in update.shape[:surplus]):
        update = squeeze_at(update, range(surplus))
    update = squeeze_at(broadcast_value(update, shape), layout.new)
    partial = [axis for axis in range(ndim) if axis not in cuts or not cuts[axis].whole(value.shape[axis])]
    axes = range(partial[0], partial[-1] + 1)
    sliced = [axis for axis in axes if axis in cuts]
    numbers = {item.axis: as_positions(item.content) for item in items if item.kind == "number"}
    positions = [
        along(take_slice(iota(value.shape[axis]), {-1: cuts[axis]}), sliced.index(axis), len(sliced))
        if axis in cuts
        else numbers[axis]
        for axis in axes
    ]
    return put_at.bind(value, update, *positions, axis=axes[0] - ndim, checked=tuple(axis not in cuts for axis in axes))


def positioned(item: Item, whole: bool) -> Item:
    """Return a number that is only known at run time as an array of positions, and with ``whole`` a static number, too:
    a part of the array would be a copy, and the assignment would cost as much as that."""
    if item.kind != "number" or not (whole or not is_static(item)):
        return item
    return Item("array", item.axis, as_positions(item.content))


def taken_by(item: Item, extent: Extent) -> Cut:
    if item.kind == "slice":
        return cut(item.content, extent)
    return Cut(static_position(item.content, shapes.resolve(extent), item.axis), 1, 1)


def fitted(update: Value, core: Value, layout: Layout, first: int) -> Value:
    """Return the update, broadcast to the shape of ``x[key]``, without the key's new dimensions."""
    positions = [item.content.shape for item in layout.arrays]
    chosen = shapes.broadcast_shapes(positions, "indexing arrays", IndexError) if positions else ()
    shape = (*core.shape[:first], *chosen, *core.shape[first + len(positions) :])
    new = [number if number < layout.first else number + len(chosen) for number in layout.new]
    wanted = list(shape)
    for number in new:
        wanted.insert(number, 1)
    surplus = update.ndim - len(wanted)
    if surplus > 0 and all(shapes.resolve(extent) == 1 for extent in update.shape[:surplus]):
        update = squeeze_at(update, range(surplus))
    return squeeze_at(broadcast_value(update, wanted), new)


def around_mask(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a key that has a mask, with full slices in the place of the mask."""
    return tuple(each for part in key for each in ([slice(None)] * part.ndim if is_late_mask(part) else [part]))


def key_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array, positions = draw(rng, dtype, (4, 5, 6)), rng.integers(-4, 4, (3,))
    keys: list[Any] = [
        2,
        -1,
        ...,
        (),
        (1, ..., -2),
        (slice(1, None), None, slice(None, None, -2)),
        (None, slice(-3, -1), 0),
        positions,
        (slice(None), positions),
        (positions, slice(1, 4), positions[:, None]),
        (positions, positions, None, slice(2)),
        (0, slice(None), positions),
        (..., positions, 2),
        [0, 2, -1],
    ]
    return [(array, key) for key in keys]


def indexed(value: Any, key: Any) -> Any:
    return value if is_basic(key) else None


getitem = decomposition(operator.getitem, samples=key_samples, view_of=indexed)(index)


def _getitem(self: Value, key: Any) -> Value:
    return index(self, key)


Value.__getitem__ = _getitem
