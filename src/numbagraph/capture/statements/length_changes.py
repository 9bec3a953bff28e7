"""Arrays whose length changes from step to step of a loop: an array with room, and the number of its elements, are
carried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from numbagraph.capture.statements.array_aliases import Key
from numbagraph.capture.statements.length_bounds import bound, is_at_most
from numbagraph.capture.statements.roomy_arrays import (
    empty,
    first_of,
    is_made_up,
    length_of,
    put,
    require_room,
    room_of_unknown,
)
from numbagraph.capture.values.loop_state import Kind, converted, require_shape, shown
from numbagraph.capture.values.strings import Leaf
from numbagraph.ir import shapes
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Extent, Input, Node, Value, toposort
from numbagraph.ops.indexing.masks import is_count
from numbagraph.tracing.regions import dependents
from numbagraph.tracing.retrace import LengthChanges
from numbagraph.tracing.tracer import user_source


def lasts(end: Extent, start: Extent | None, parameters: Sequence[Value]) -> bool:
    """Whether a length after a step of a loop may be that before it."""
    end = shapes.resolve(end)
    if start is not None and shapes.same(start, end):
        return True
    if isinstance(end, Value) and (end in dependents(parameters, [end]) or any(map(is_late, toposort([end])))):
        return False
    lengths = [] if start is None else list(map(shapes.length_then, (start, end)))
    return None in lengths or len({*lengths}) < 2


def is_late(value: Value) -> bool:
    return isinstance(value, Node) and (is_count(value) or value.op.kind == "control")


def require_lasting(name: str, start: Value | None, end: Value, parameters: Sequence[Value], first: int = 0) -> None:
    """Raise where a length after a step is another than before it. The axes before ``first`` may change."""
    before = [None] * end.ndim if start is None or start.ndim != end.ndim else start.shape
    if all(lasts(*pair, parameters) for pair in [*zip(end.shape, before, strict=True)][first:]):
        return
    raise LengthChanges(
        f"the shape of {shown(name)} changes from step to step of a loop, or cannot be seen to stay: carry a mask and "
        f"take x[mask] or np.flatnonzero(mask) in the step, or a list\n  at {user_source()}"
    )


def made_up(name: str, leaf: Leaf, parameters: Sequence[Value]) -> Leaf:
    """Return a part of a variable that is absent before a loop, or after a step, in the type that it gets there."""
    if leaf.value is None:
        return leaf
    changes = leaf.value.ndim > 0 and not lasts(leaf.value.shape[0], None, parameters)
    require_lasting(name, None, leaf.value, parameters, int(changes))
    if not changes or not is_made_up(leaf):
        return leaf
    return Leaf(None, empty(Kind(leaf.value.dtype, False), 0, leaf.value))


class Changing(NamedTuple):
    """A carried array whose length changes."""

    group: object
    """The identity of the length, which all arrays share whose lengths are equal in each step."""
    room: Extent | None = None
    """The greatest length; None where it is the length before the loop."""
    is_checked: bool = False
    """Whether the array may become longer than there is room for."""


class Lengths:
    """The carried arrays of a loop whose lengths change."""

    def __init__(self) -> None:
        self.changing: dict[Key, Changing] = {}
        self.counts: dict[object, Input] = {}
        """The parameters for the numbers of elements."""
        self.stores: dict[Key, Input] = {}
        """The parameters for the arrays with room."""

    def recall(self, key: Key, known: Changing | None) -> None:
        """Start with what an earlier pass of a loop around this one has found."""
        if known is not None:
            self.changing[key] = Changing(known.group, None, known.is_checked)

    def changes(self, key: Key, start: Value, end: Value, parameters: Sequence[Value]) -> bool:
        """Whether only the length of an array changes."""
        is_array = start.ndim == end.ndim > 0
        return is_array and (key in self.changing or not lasts(end.shape[0], start.shape[0], parameters))

    def room(self, key: Key, start: Value) -> Extent:
        known = self.changing[key]
        if known.is_checked:
            return shapes.add(room_of_unknown(start), length_of(start))
        return length_of(start) if known.room is None else known.room

    def parameter(self, key: Key, name: str, kind: Kind, start: Value) -> tuple[Input, Value]:
        """Return the parameter for an array with room, and the array before a step."""
        store = self.stores[key] = Input(ArrayType(kind.dtype, (self.room(key, start), *start.shape[1:])), name)
        count = self.counts.setdefault(self.changing[key].group, Input(ArrayType(INT64, (), weak=True), "length"))
        return store, first_of(store, count)

    def initial(self, key: Key, kind: Kind, start: Value) -> Value:
        """The array with room before the loop."""
        room = self.room(key, start)
        return converted(start, kind) if shapes.same(room, length_of(start)) else put(empty(kind, room, start), start)

    def after_step(self, key: Key, end: Value, name: str) -> Value:
        """The array with room after a step."""
        store = self.stores[key]
        require_shape(end, (end.shape[0], *store.shape[1:]), name)
        if self.changing[key].is_checked:
            require_room(end, length_of(store))
        return put(store, end)

    def before_and_after(self, lengths: Mapping[Key, tuple[Extent, Extent]]) -> list[tuple[Value, ...]]:
        """Return the numbers of elements before the loop, and after a step, in the order of the parameters."""
        found = {self.changing[key].group: tuple(map(shapes.as_value, each)) for key, each in lengths.items()}
        return [found[group] for group in self.counts]

    def result(self, key: Key, store: Value, counts: Mapping[object, Value]) -> Value:
        """A part of a variable after the loop, as carried values give it."""
        if key not in self.changing:
            return store
        count = counts[self.changing[key].group]
        return first_of(store, shapes.minimum(count, length_of(store)))

    def note(self, key: Key, start: Value, end: Value, parameters: Sequence[Value]) -> None:
        """Note how long an array becomes in a step."""
        length, first = length_of(end), length_of(start)
        known = self.changing.get(key) or Changing((shapes.as_value(first), shapes.as_value(length)))
        count = self.counts.get(known.group)
        limits = [first] if count is None else [first, shapes.maximum(count, 0)]
        if not known.is_checked and not any(is_at_most(length, each) for each in limits):
            found = dependents(parameters, [shapes.as_value(length)])
            room = bound(length, lambda value: value not in found and not any(map(is_late, toposort([value]))))
            greatest = None if room is None else shapes.maximum(first, room)
            known = known._replace(room=greatest, is_checked=room is None)
        self.changing[key] = known

    def split(self, lengths: Mapping[Key, tuple[Extent, Extent]]) -> None:
        """Separate arrays of one group whose lengths before the loop, or after a step, differ."""
        first: dict[object, tuple[Extent, Extent]] = {}
        for key, each in lengths.items():
            known = self.changing[key]
            other = first.setdefault(known.group, each)
            if not all(map(shapes.same, each, other)):
                self.changing[key] = known._replace(group=(known.group, key))
