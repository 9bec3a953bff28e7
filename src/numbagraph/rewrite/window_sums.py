"""Sums of what belongs to windows: the pullback of reading windows of a few elements, as one sum for each element.

The pullback of ``x[i + j]`` adds a number for each window ``i`` and each place ``j`` to element ``i + j``: windows that
follow each other add to the same elements, which no vector does. An element ``k`` that has a window for each place is
the sum over ``j`` of what belongs to window ``k - j``. The windows at both ends are added one after the other: there
are elements among theirs that have fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from numbagraph.blockwise.lengths import Cut
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Extent, Node, Value
from numbagraph.ops.control.operands import may_fail
from numbagraph.ops.control.rows import is_op
from numbagraph.ops.indexing.gathering import gather, scatter_add
from numbagraph.ops.indexing.slicing import put_slice
from numbagraph.ops.reduction import sum as sum_over
from numbagraph.ops.shape import broadcast_value, expand_at, full_order, move, permute, squeeze_at
from numbagraph.rewrite.engine import RuleSet, node_rule
from numbagraph.rewrite.shorter_gathers import iota_of

SHORT = 32
"""The largest length of windows that are summed: sums of so few terms are unrolled (`numbagraph.loops.order`)."""
MOST = 32
"""The largest number of operations between what is added and what belongs to windows."""


class Windows(Struct):
    """Windows along an axis: how many there are, how long they are, and the positions of their elements."""

    count: Extent
    length: int
    positions: Value


class Places(Struct, frozen=False):
    """Places in windows: for each, the number of its window and its position."""

    windows: Windows
    numbers: Value
    positions: Value
    known: dict[tuple[Value, int, int], Value | None] = field(default_factory=dict)

    def part(self, value: Value, row: int, place: int) -> Value | None:
        """Return what a value is at these places; None where it is not computed from windows element by element. The
        axes of windows and of their places are counted from the right."""
        key = value, row, place
        if key not in self.known:
            self.known[key] = self.found(value, row, place) if len(self.known) < MOST else None
        return self.known[key]

    def found(self, value: Value, row: int, place: int) -> Value | None:
        if -row > value.ndim or shapes.resolve(value.shape[row]) == 1:
            return value
        if not shapes.same(value.shape[row], self.windows.count):
            return None
        if -place > value.ndim:
            value = expand_at(value, range(-place - value.ndim))
        if shapes.resolve(value.shape[place]) == 1:
            source = squeeze_at(value, [place + value.ndim])
            return read(source, self.numbers, row + (place > row), row, place)
        if not isinstance(value, Node) or may_fail(value):
            return None
        if value.op.kind == "elementwise":
            inputs = [self.part(each, row, place) for each in value.inputs]
            found = [each for each in inputs if each is not None]
            return value.op.bind(*found, **value.attrs) if len(found) == len(inputs) else None
        part = PARTS.get(value.op.name)
        return part(self, value, row, place) if part else None


def read(source: Value, positions: Value, axis: int, row: int, place: int) -> Value:
    """Return elements at two-dimensional positions along an axis, with these dimensions at ``row`` and ``place``."""
    first = axis + source.ndim
    found = gather.bind(source, positions, axis=axis, checked=(False,))
    return move(found, [first, first + 1], [row + found.ndim, place + found.ndim])


def of_gather(places: Places, value: Node, row: int, place: int) -> Value | None:
    """Elements of the windows themselves."""
    source, *positions = value.inputs
    axis = value.attrs["axis"]
    if positions != [places.windows.positions] or (row, place) != (axis - 1, axis):
        return None
    return read(source, places.positions, axis, row, place)


def of_broadcast(places: Places, value: Node, row: int, place: int) -> Value | None:
    found = places.part(value.inputs[0], row, place)
    if found is None:
        return None
    target = list(value.shape)
    target[row], target[place] = places.numbers.shape[0], shapes.maximum(1, value.shape[place])
    return broadcast_value(found, target)


def of_expansion(places: Places, value: Node, row: int, place: int) -> Value | None:
    axes = value.attrs["axes"]
    kept = [axis for axis in range(-value.ndim, 0) if axis not in axes]
    within = [kept.index(each) - len(kept) for each in (row, place)]
    found = places.part(value.inputs[0], *within)
    return None if found is None else value.op.bind(found, axes=axes)


def of_transpose(places: Places, value: Node, row: int, place: int) -> Value | None:
    order = full_order(value.ndim, value.attrs["axes"])
    within = [order[each + value.ndim] - value.ndim for each in (row, place)]
    found = places.part(value.inputs[0], *within)
    return None if found is None else permute(found, order)


PARTS: dict[str, Callable[[Places, Node, int, int], Value | None]] = {
    "gather": of_gather,
    "broadcast_to": of_broadcast,
    "expand_dims": of_expansion,
    "transpose": of_transpose,
}


@node_rule(lambda op: op is scatter_add, lambda heads: True)
def sum_over_windows(node: Node) -> Value | None:
    """Sum what belongs to windows for each element, rather than add it window by window."""
    updates, positions, *_ = node.inputs
    axis, attrs = node.attrs["axis"], node.attrs
    windows = windows_of(positions) if attrs["checked"] == (False,) else None
    if windows is None:
        return None
    lost = windows.length - 1
    few = shapes.minimum(windows.count, 2 * lost)
    middle = shapes.maximum(shapes.subtract(windows.count, lost), 0)
    if isinstance(middle, int) and middle <= lost:
        return None
    ends = at_ends(windows, lost, few)
    inside = in_the_middle(windows, lost, middle)
    parts = [each.part(updates, axis - 1, axis) for each in (ends, inside)]
    if parts[0] is None or parts[1] is None:
        return None
    few_elements = scatter_add.bind(parts[0], ends.positions, *node.inputs[2:], **attrs)
    return put_slice(few_elements, sum_over.bind(parts[1], axes=(axis,)), {axis: Cut(lost, 1, middle)})


def windows_of(positions: Value) -> Windows | None:
    """The windows of which positions are those of the elements, one window in each row."""
    if not is_op(positions, "add") or positions.ndim != 2:
        return None
    starts, places = positions.inputs
    is_column = is_op(starts, "expand_dims") and starts.attrs["axes"] == (-1,) and is_op(starts.inputs[0], "iota")
    length = shapes.resolve(places.shape[-1]) if is_op(places, "iota") else None
    if not is_column or not isinstance(length, int) or not 1 < length <= SHORT:
        return None
    return Windows(starts.shape[0], length, positions)


def at_ends(windows: Windows, lost: int, few: Extent) -> Places:
    """All places of the first windows and of the last ones."""
    number = iota_of(few)
    others = registry["subtract"].bind(shapes.as_value(windows.count), shapes.as_value(few))
    in_order = registry["where"].bind(registry["less"](number, lost), number, registry["add"](number, others))
    column = expand_at(in_order, (1,))
    return Places(windows, column, registry["add"].bind(column, iota_of(windows.length)))


def in_the_middle(windows: Windows, lost: int, middle: Extent) -> Places:
    """For each element that has a window for each place, these places: one row for each element."""
    element = registry["add"](expand_at(iota_of(middle), (1,)), lost)
    return Places(windows, registry["subtract"].bind(element, iota_of(windows.length)), element)


WINDOW_SUMS = RuleSet("sums of windows", [sum_over_windows])
