"""Assignment through views: the array after a view of it has been given other elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numbagraph.blockwise.lengths import Cut, is_known_at_entry
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.graph import substitute
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Input, Node, Value
from numbagraph.ops.creation import along, iota
from numbagraph.ops.indexing.gathering import OutOfBounds, gather, put_at
from numbagraph.ops.indexing.slicing import put_slice, set_slice, slice_cuts, take_slice, taken_apart
from numbagraph.ops.indexing.subscripts import index, set_index
from numbagraph.ops.shape import expand_at, expand_dims, full_order, inverse, permute, reshape_value, squeeze

Rule = Callable[[Node, Value, Value], Value]
"""``rule(view, base, update)``: the base once its view is the update. The view is a node whose first input has the
shape of the base."""


def through_transpose(view: Node, base: Value, update: Value) -> Value:
    order = full_order(view.ndim, view.attrs["axes"])
    if isinstance(update, Node) and is_view_of(update.inputs[0], view, base):
        if update.op is set_slice:
            return with_slices(base, update, order)
        if update.op is put_at:
            found = with_positions(base, update, order)
            if found is not None:
                return found
    return permute(update, inverse(order))


def is_view_of(value: Value, view: Node, base: Value) -> bool:
    """Whether a value is the view of the base itself."""
    if not isinstance(value, Node) or value.op is not view.op or value.attrs != view.attrs:
        return False
    return value.inputs == (base, *view.inputs[1:])


def with_slices(base: Value, update: Node, order: list[int] | tuple[int, ...]) -> Value:
    """Return an array after an assignment to slices of its transpose, as an assignment to slices of the array: nothing
    else is copied."""
    ndim = base.ndim
    for piece, cuts in taken_apart(update)[1]:
        own = {order[axis + ndim] - ndim: each for axis, each in cuts.items()}
        base = put_slice(base, permute(piece, inverse(order)), own)
    return base


def with_positions(base: Value, update: Node, order: list[int] | tuple[int, ...]) -> Value | None:
    """Return an array after an assignment at positions of its transpose, as one at positions of the array. None unless
    the positions are of neighbouring dimensions of the array, too."""
    _, values, *positions = update.inputs
    first, count = update.attrs["axis"] + base.ndim, len(positions)
    axes = list(order[first : first + count])
    begin = min(axes)
    if max(axes) - begin != count - 1:
        return None
    chosen = values.ndim - (base.ndim - count)
    """The dimensions of the positions, which lie together."""
    places = [axis if axis < first else axis - count + chosen for axis in range(base.ndim)]
    source = [places[each] for each in inverse(order) if each not in range(first, first + count)]
    moved = [*source[:begin], *range(first, first + chosen), *source[begin:]]
    numbers = inverse(axes)
    return put_at.bind(
        base,
        permute(values, moved),
        *(positions[number] for number in numbers),
        axis=begin - base.ndim,
        checked=tuple(update.attrs["checked"][number] for number in numbers),
    )


def through_reshape(view: Node, base: Value, update: Value) -> Value:
    if isinstance(update, Node) and update.op is put_at and view.ndim == 1 and base.ndim > 1:
        own, value, position = update.inputs
        if not position.ndim and is_view_of(own, view, base):
            return with_element(base, value, position, update.attrs["checked"][0])
    return reshape_value(update, base.shape)


def with_element(base: Value, value: Value, position: Value, checked: bool) -> Value:
    """Return an array after an assignment to one element, given by its number among all: nothing else is copied."""
    given, size = convert(position, INT64), shapes.as_value(shapes.product(base.shape))
    where, divide = registry["where"], registry["floor_divide"]
    number = where(given < 0, given + size, given)
    inside = registry["logical_and"](registry["greater_equal"](number, 0), registry["less"](number, size))
    if checked and is_known_at_entry(given):
        text = f"index {given} is out of bounds for axis 0 with size {size}"
        shapes.require_of(inside, text, IndexError, OutOfBounds(0), (given, size))
    places: list[Value] = []
    rest = number
    for extent in reversed(base.shape[1:]):
        places.insert(0, registry["remainder"](rest, shapes.as_value(extent)))
        rest = divide(rest, shapes.as_value(extent))
    first = where(inside, rest, shapes.as_value(base.shape[0]))  # beyond the last one, if there is no such element
    flags = (checked, *(False for _ in places))
    return put_at.bind(base, value, first, *places, axis=-base.ndim, checked=flags)


def through_slice(view: Node, base: Value, update: Value) -> Value:
    cuts = slice_cuts(view.inputs[1:], **view.attrs)
    if isinstance(update, Node) and is_view_of(update.inputs[0], view, base):
        if update.op is put_at:
            return with_placed(base, update, {axis + base.ndim: each for axis, each in cuts.items()}, None)
        if update.op is set_slice:
            return with_inner_slices(base, update, cuts)
    return put_slice(base, update, cuts)


def through_pick(view: Node, base: Value, update: Value) -> Value:
    position, attrs = view.inputs[1], view.attrs
    if isinstance(update, Node) and update.op is put_at and is_view_of(update.inputs[0], view, base):
        return with_placed(base, update, {}, Picked(attrs["axis"] + base.ndim, position, attrs["checked"]))
    return put_at.bind(base, update, position, axis=attrs["axis"], checked=(attrs["checked"],))


class Picked(Struct):
    """One position of an axis, which a view consists of."""

    axis: int
    position: Value
    checked: bool


def with_placed(base: Value, update: Node, cuts: Mapping[int, Cut], picked: Picked | None) -> Value:
    """Return an array after an assignment at positions of a view (slices of some axes, or one position of an axis), as
    one at positions of the array: nothing else is copied."""
    _, values, *positions = update.inputs
    first = update.attrs["axis"] + update.ndim
    own = [axis for axis in range(base.ndim) if picked is None or axis != picked.axis]
    flags = dict(zip(own[first : first + len(positions)], update.attrs["checked"], strict=True))
    given = dict(zip(flags, positions, strict=True))
    changed: list[int] = [*given, *cuts, *([] if picked is None else [picked.axis])]
    axes = range(min(changed), max(changed) + 1)
    before = [axis for axis in axes if axis in own and axis < min(given)]
    after = [axis for axis in axes if axis in own and axis > max(given)]
    chosen = max(each.ndim for each in positions)
    places = {axis: len(before) + chosen + number for number, axis in enumerate(after)}
    places.update(zip(before, range(len(before)), strict=True))

    def placed(axis: int) -> tuple[Value, bool]:
        if picked is not None and axis == picked.axis:
            return picked.position, picked.checked
        numbers = iota(base.shape[axis])
        numbers = take_slice(numbers, {-1: cuts[axis]}) if axis in cuts else numbers
        if axis not in given:
            return along(numbers, places[axis], len(before) + chosen + len(after)), False
        place, flag = given[axis], flags[axis]
        if axis in cuts:  # what is out of bounds is so for the view
            place, flag = gather.bind(numbers, place, axis=-1, checked=(flag,)), False
        return (expand_at(place, range(place.ndim, place.ndim + len(after))) if place.ndim else place), flag

    found = [placed(axis) for axis in axes]
    checked = tuple(flag for _, flag in found)
    return put_at.bind(base, values, *(place for place, _ in found), axis=axes[0] - base.ndim, checked=checked)


def through_diagonal(view: Node, base: Value, update: Value) -> Value:
    places = iota(view.shape[-1])
    if isinstance(update, Node) and update.op is put_at and is_view_of(update.inputs[0], view, base):
        _, values, *positions = update.inputs
        if update.attrs["axis"] == -1:  # these elements alone
            places = gather.bind(places, *positions, axis=-1, checked=update.attrs["checked"])
            update = values
    return put_at.bind(base, update, places, places, axis=-2, checked=(False, False))


def with_inner_slices(base: Value, update: Node, cuts: Mapping[int, Cut]) -> Value:
    """Return an array after an assignment to slices of a slice, as one to slices of the array."""
    for piece, inner in taken_apart(update)[1]:
        own = dict(cuts)
        for axis, each in inner.items():
            outer = cuts.get(axis, Cut(0, 1, base.shape[axis]))
            start = shapes.add(outer.start, shapes.multiply(each.start, outer.step))
            own[axis] = Cut(start, outer.step * each.step, each.length)
        base = put_slice(base, piece, own)
    return base


def through_real(view: Node, base: Value, update: Value) -> Value:
    return registry["complex_of"](update, registry["imag"](base)) if base.dtype.kind == "c" else update


RULES: dict[str, Rule] = {
    "asarray": lambda view, base, update: update,
    "expand_dims": lambda view, base, update: squeeze.bind(update, axes=view.attrs["axes"]),
    "imag": lambda view, base, update: registry["complex_of"](registry["real"](base), update),
    "main_diagonal": through_diagonal,
    "pick": through_pick,
    "real": through_real,
    "reshape": through_reshape,
    "slice": through_slice,
    "squeeze": lambda view, base, update: expand_dims.bind(update, axes=view.attrs["axes"]),
    "transpose": through_transpose,
}


def written_through(derive: Callable[[Value], Value], base: Value, update: Value) -> Value | None:
    """Return the array whose view is an update, or None where it is not known how the view lies in the array.

    Parameters
    ----------
    derive
        What makes the view of the array.
    base
        The array before.
    update
        What the view has become.
    """
    stand_in = Input(base.type, "base")
    views, value = [], derive(stand_in)
    while value is not stand_in:
        if not isinstance(value, Node) or value.op.name not in RULES:
            return None
        views.append(value)
        value = value.inputs[0]
    if not views:
        return convert(update, base.dtype)
    bases = [base]
    for view in reversed(views[1:]):
        (inner,) = substitute([view], {view.inputs[0]: bases[-1]})
        bases.append(inner)
    for view, own in zip(views, reversed(bases), strict=True):
        update = RULES[view.op.name](view, own, convert(update, view.dtype))
    return update


def set_view(value: Value, key: Any, changed: Value) -> Value:
    """Return ``value`` after ``value[key]``, a view, has become ``changed``."""
    if isinstance(changed, Node) and changed.op in (put_at, set_slice):
        found = written_through(lambda base: index(base, key), value, changed)
        if found is not None:
            return found
    return set_index(value, key, changed)
