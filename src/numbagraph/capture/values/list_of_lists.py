"""Lists of lists that become longer at traced places (``groups[k].append(v)``): all elements in one list with room for
more, each with the places of its neighbours in its row."""

from __future__ import annotations

from typing import Any

import numpy as np
import optree

from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.polyfills import linked_rows
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.containers import made
from numbagraph.capture.values.iterables import whole_number
from numbagraph.capture.values.list_buffer import Buffered, Named, held_by
from numbagraph.capture.values.objects import Picked
from numbagraph.capture.values.raised_errors import Raised
from numbagraph.capture.values.stacked_list import Kept, Stacked
from numbagraph.capture.values.traced_keys import place_of
from numbagraph.capture.values.types_by_line import Types
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Value
from numbagraph.runtime.arguments import flatten, register_node
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import Tracer, apply, to_value, user_source

WHAT = "one of the lists in a list"


def integers(count: Any, start: int) -> Any:
    """Storage for integers."""
    return apply(registry["full"], (Tracer(shapes.as_value(count)),), start, np.int64).copy()


def number_at(array: Any, place: Any) -> Tracer:
    return Tracer(registry["cast"].bind(as_value(to_value(array[place])), dtype=INT64, weak=True))


def require_rows(holder: Any) -> None:
    """Raise where Python's list of lists is read at a traced place: the function is traced again, with `Lists` in its
    place."""
    place = place_of(holder)
    if place is not None:
        Types(place, "rows", WHAT).begin()


class Lists(Stacked):
    """A list of lists that were empty at first."""

    def __init__(self, place: Any, count: Value) -> None:
        self.types = Types(place, "rows", WHAT)
        self.pool = Buffered((), self.types.known, None, Named("list", None))
        self.depth = 2
        self.begins, self.ends, self.sizes = integers(count, -1), integers(count, -1), integers(count, 0)
        self.after, self.before, self.owner = (integers(self.pool.room, -1) for _ in range(3))

    @property
    def kept(self) -> Kept:  # type: ignore[override]
        return Kept(2, 2, self.pool.are_pythons)

    @property
    def array(self) -> Any:  # type: ignore[override]
        raise CaptureError(
            f"lists of several lengths are used as one array: np.array(rows[k]) is one of them\n  at {user_source()}"
        )

    def count(self) -> Value:
        return shapes.as_value(self.sizes.value.shape[0])

    def at(self, number: Tracer) -> Row:
        return Row(self, number)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._refuse()
        count, number = self.count(), whole_number(key)
        inside = [registry["greater_equal"](number, registry["negative"](count)), registry["less"](number, count)]
        Raised(IndexError, ("list index out of range",)).require(registry["logical_and"](*inside))
        from_end = registry["add"].bind(number, count)
        return self.at(Tracer(registry["where"](registry["less"](number, 0), from_end, number)))

    part = __getitem__

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(value) is not list or value:
            self._refuse()
        self[key].clear()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise CaptureError(
            f"this use of a list of lists that become longer at traced places: append to its lists, loop over them, "
            f"and empty them (rows[k] = [])\n  at {user_source()}"
        )

    append = extend = insert = pop = reverse = arrange = sort = _refuse
    __add__ = __radd__ = __iadd__ = __mul__ = __rmul__ = __imul__ = __delitem__ = _refuse

    def result(self) -> Nested:
        """The list as a result of the function."""
        end = Tracer(held_by(self.pool.end))
        columns = [each[:end] for each in self.pool.stores]
        spec = flatten(0)[1] if self.pool.spec is None else self.pool.spec
        weak = tuple(each.weak for each in self.pool.kinds)
        return Nested([self.owner[:end], self.sizes.copy(), *columns], (spec, weak))


class Row(Stacked, Picked["Lists"]):
    """One of these lists."""

    def __init__(self, lists: Lists, number: Tracer) -> None:
        self.holder, self.number, self.depth = lists, number, 1

    @property
    def kept(self) -> Kept:  # type: ignore[override]
        return Kept(1, 1, self.holder.pool.are_pythons)

    @property
    def array(self) -> Any:  # type: ignore[override]
        return self.listed().array

    def listed(self) -> Any:
        """Return the elements as a list of their own."""
        return converted(list)(self.steps())

    def table(self) -> Any:
        return self.listed().table()

    def steps(self) -> Any:
        """Return the iterable for a loop over the elements."""
        return converted(linked_rows.walked)(self)

    def count(self) -> Value:
        return number_at(self.holder.sizes, self.number).value

    def begin(self) -> Tracer:
        return number_at(self.holder.begins, self.number)

    def following(self, place: Tracer) -> Tracer:
        return number_at(self.holder.after, place)

    def disown(self, place: Tracer) -> None:
        self.holder.owner[place] = -1

    def value(self, place: Tracer) -> Any:
        return self.holder.pool.read(whole_number(place))

    def place(self, key: Any) -> Tracer:
        """The place of an element."""
        count, number = self.count(), whole_number(key)
        if self.holder.pool.spec is None:
            self.holder.pool.require(False, "list index out of range")
        inside = [registry["greater_equal"](number, registry["negative"](count)), registry["less"](number, count)]
        Raised(IndexError, ("list index out of range",)).require(registry["logical_and"](*inside))
        if isinstance(key, int) and key == -1:
            return number_at(self.holder.ends, self.number)
        from_end = registry["add"].bind(number, count)
        number = registry["where"](registry["less"](number, 0), from_end, number)
        found: Tracer = converted(linked_rows.reached)(self, Tracer(number))
        return found

    def at(self, number: Any) -> Any:
        return self.value(self.place(number))

    def __getitem__(self, key: Any) -> Any:
        return self.listed()[key] if isinstance(key, slice) else self.at(key)

    part = __getitem__

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            self.holder._refuse()
        self.holder.types.admit(value)
        place = whole_number(self.place(key))
        self.holder.pool.put(place, self.holder.pool.parts_of(value), value)

    def append(self, element: Any) -> None:
        lists, number = self.holder, self.number
        lists.types.admit(element)
        end: Any = Tracer(held_by(lists.pool.end))
        lists.pool.append(element)
        last = lists.ends[number]
        near, is_first = np.maximum(last, 0), last < 0
        lists.begins[number] = np.where(is_first, end, lists.begins[number])
        lists.after[near] = np.where(is_first, lists.after[near], end)
        lists.before[end], lists.owner[end], lists.ends[number] = last, number, end
        lists.sizes[number] += 1

    def extend(self, elements: Any) -> None:
        converted(linked_rows.extended)(self, elements)

    def pop(self, key: Any = -1) -> Any:
        if not isinstance(key, int) or key != -1:
            self.holder._refuse()
        Raised(IndexError, ("pop from empty list",)).require(registry["greater"](self.count(), 0))
        place = self.place(-1)
        found = self.value(place)
        lists, number = self.holder, self.number
        last = lists.before[place]
        near, is_empty = np.maximum(last, 0), last < 0
        lists.begins[number] = np.where(is_empty, -1, lists.begins[number])
        lists.after[near] = np.where(is_empty, lists.after[near], -1)
        lists.after[place], lists.owner[place], lists.ends[number] = -1, -1, last
        lists.sizes[number] -= 1
        return found

    def clear(self) -> None:
        lists, number = self.holder, self.number
        converted(linked_rows.disowned)(self)
        lists.begins[number], lists.ends[number], lists.sizes[number] = -1, -1, 0

    def _refuse(self, *_: Any, **__: Any) -> Any:
        return self.holder._refuse()

    insert = reverse = arrange = sort = remove = index = __delitem__ = __imul__ = _refuse

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def result(self) -> Any:
        return self.listed().result()


class Nested:
    """A list of lists as a result: the number of each element's list, the lengths of the lists, and the elements'
    parts."""

    def __init__(self, arrays: list[Any], data: tuple[Any, tuple[bool, ...]]) -> None:
        self.arrays, self.data = arrays, data


def _put_together(data: Any, children: Any) -> Any:
    arrays = list(children)
    if not all(isinstance(each, np.ndarray) for each in arrays):
        return Nested(arrays, data)
    owner, sizes, *columns = arrays
    spec, weak = data
    found: list[list[Any]] = [[] for _ in sizes]
    parts = [each.tolist() if flag else list(each) for each, flag in zip(columns, weak, strict=True)]
    for row, *leaves in zip(owner.tolist(), *parts, strict=True):
        if row >= 0:
            found[row].append(optree.tree_unflatten(spec, leaves))
    return found


register_node(Nested, lambda node: (tuple(node.arrays), node.data), _put_together)


def begun(place: Any, count: Value) -> Any:
    return made(Lists(place, count))
