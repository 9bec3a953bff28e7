"""Arrays with room, whose first elements are those of an array that has another length on each path of a branch, or in
each step of a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from numbagraph.blockwise.lengths import Cut
from numbagraph.blockwise.promotion import weak_constant
from numbagraph.capture.statements.length_bounds import bound, is_at_most, known_by
from numbagraph.capture.values.list_buffer import room_for
from numbagraph.capture.values.loop_state import Kind, converted, require_shape
from numbagraph.capture.values.optional import placeholder
from numbagraph.capture.values.raised_errors import Raised
from numbagraph.capture.values.strings import Leaf
from numbagraph.ir import shapes
from numbagraph.ir.values import ArrayType, Dim, Extent, Node, Value
from numbagraph.ops.indexing.slicing import narrow, put_slice, slice_cuts, slices
from numbagraph.tracing.retrace import ListFull


def length_of(value: Value) -> Extent:
    return shapes.resolve(value.shape[0])


def is_made_up(leaf: Leaf) -> bool:
    """Whether a part of a variable is a placeholder, where the variable is absent."""
    return leaf.object is None


def may_be_equal(one: Extent, other: Extent) -> bool:
    """Whether two lengths may be equal, as far as is known. Those of arguments are compared as they are in the call for
    which the function is traced."""
    if shapes.same(one, other):
        return True
    first, second = map(shapes.length_then, (one, other))
    if first is None or second is None:  # lengths of arguments are required to be equal
        return isinstance(one, Dim) and isinstance(other, Dim)
    return first == second


def stored_in(value: Value) -> Value:
    """The array with room of which an array is the first elements, or the array itself."""
    if not isinstance(value, Node) or value.op is not slices:
        return value
    (axis, cut), *others = slice_cuts(value.inputs[1:], **value.attrs).items()
    is_first = not others and axis == -value.ndim and shapes.same(cut.start, 0) and cut.step == 1
    return value.inputs[0] if is_first else value


def first_of(store: Value, count: Extent) -> Value:
    """The elements that an array with room holds."""
    return narrow(store, -store.ndim, 0, shapes.maximum(count, 0))


def put(store: Value, value: Value) -> Value:
    """Put an array into the first elements of one with room."""
    whole = stored_in(value)
    if whole.dtype == store.dtype and shapes.same(length_of(whole), length_of(store)):
        return whole
    return put_slice(store, converted(value, Kind(store.dtype, False)), {-store.ndim: Cut(0, 1, length_of(value))})


def empty(kind: Kind, room: Extent, like: Value) -> Value:
    """An array with room for the elements of another one."""
    return placeholder(ArrayType(kind.dtype, (room, *like.shape[1:])))


def room_of_unknown(like: Value) -> Extent:
    """The room for an array of which it is not known how long it may become."""
    rows, found = shapes.product(like.shape[1:]), shapes.resolve(room_for(0, None))
    return shapes.floor_divide(found, rows) if isinstance(rows, int) and rows > 1 else found


def require_room(value: Value, room: Extent) -> None:
    fits = shapes.compare("less_equal", length_of(value), room)
    if isinstance(fits, Value):
        Raised(ListFull, ("an array has no room for more elements here",)).require(fits)


class Room(NamedTuple):
    """The room for an array that has one length on one path of a branch, and another on the other."""

    base: Value | None
    """The array in whose memory both paths may put their elements."""
    room: Extent
    limit: Extent
    """A length that neither path exceeds."""
    is_checked: bool
    """Whether there may be more elements than there is room for."""

    @classmethod
    def of(cls, leaves: Sequence[Leaf], used: Callable[[], frozenset[Value]]) -> Room | None:
        """Return the room for what is at the end of both paths, which use certain values from outside; None where both
        have a length that is known before."""
        values = [each.value for each in leaves if each.value is not None and not is_made_up(each)]
        if not values or not all(each.ndim for each in values):
            return None
        lengths = list(map(length_of, values))
        may_be_one = may_be_equal(lengths[0], lengths[-1])
        if may_be_one and not any(isinstance(each, Node) for each in lengths):
            return None
        outer = used()
        is_known = known_by(outer)
        are_known = [not isinstance(each, Value) or is_known(each) for each in lengths]
        if all(are_known) and may_be_one:
            return None
        for value, limit, known in zip(values, lengths, are_known, strict=True):
            if known and all(is_at_most(each, limit) for each in lengths):
                base = stored_in(value) if value in outer else None
                return cls(base, limit if base is None else length_of(base), limit, False)
        found = [bound(each, is_known) for each in lengths]
        bounds = [each for each in found if each is not None]
        is_checked = len(bounds) < len(found)
        room = room_of_unknown(values[0]) if is_checked else shapes.maximum(bounds[0], bounds[-1])
        return cls(None, room, room, is_checked)

    def bases(self) -> list[Value]:
        return [] if self.base is None else [self.base]

    def filled(self, leaf: Leaf, value: Value, kind: Kind, shape: Sequence[Extent], name: str) -> list[Value]:
        """Return the array with room at the end of a path, and the number of its elements."""
        base = empty(kind, self.room, value) if self.base is None else converted(self.base, kind)
        if is_made_up(leaf):
            return [base, weak_constant(0)]
        require_shape(value, (value.shape[0], *shape[1:]), name)
        if self.is_checked:
            require_room(value, self.room)
        return [put(base, value), shapes.as_value(length_of(value))]

    def held(self, store: Value, count: Value) -> Value:
        """The elements at the end of the path that was taken."""
        return first_of(store, shapes.minimum(count, self.limit))
