"""Lists that loops and branches on traced values read, make longer and make shorter: arrays with room for more
elements, and the places where the list begins and ends, which are storage. Changes are seen under any name of the
list."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import optree

from numbagraph.blockwise.promotion import as_value, weak_constant
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.iterables import whole_number
from numbagraph.capture.values.loop_state import Kind, fitted, is_number, joined, kind, kind_of
from numbagraph.capture.values.optional import placeholder, required
from numbagraph.capture.values.raised_errors import Raised, is_caught
from numbagraph.capture.values.stacked_list import Kept, Stacked
from numbagraph.capture.values.written_arrays import Lent
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Constant, Dim, Value
from numbagraph.ops.indexing.masks import is_late
from numbagraph.runtime.arguments import flatten, register_node
from numbagraph.tracing.retrace import LengthsNeeded, ListFull, WiderElements
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, apply, to_value, user_source

SPARE = 64
"""The number of elements, beyond those of arguments, for which there is room at first."""


class Elements:
    """The types of the elements of a list, as far as they are known."""

    def __init__(self, what: str = "a list that a loop or a branch on traced values changes") -> None:
        self.what = what
        self.spec: Any = None
        self.kinds: list[Kind] = []
        self.shapes: list[tuple[Any, ...]] = []

    def admit(self, element: Any) -> tuple[list[Value], bool]:
        """Return the parts of an element, and whether it has widened the known types."""
        leaves, spec = flatten(optree.tree_map(required, element, none_is_leaf=True))  # type: ignore[arg-type]
        bad = next((each for each in leaves if not is_number(each)), None)
        if bad is not None or not leaves or self.has_lists(element):
            what = "a list" if self.has_lists(element) else kind_of(bad)
            raise CaptureError(
                f"{self.what} holds something that is {what}: numbers, "
                f"arrays, and tuples and dicts of them can be\n  at {user_source()}"
            )
        note_shared(element)
        values = [as_value(to_value(each)) for each in leaves]
        if self.spec is None:
            self.require_lengths(values)
            self.spec, self.kinds = spec, [kind(each.type) for each in values]
            self.shapes = [each.shape for each in values]
            return values, True
        if spec != self.spec or any(len(shape) != each.ndim for shape, each in zip(self.shapes, values, strict=True)):
            raise CaptureError(
                f"the elements of {self.what} have several structures: give them one\n  at {user_source()}"
            )
        before = self.kinds
        self.kinds = [joined(one, kind(each.type)) for one, each in zip(before, values, strict=True)]
        return values, self.kinds != before

    @staticmethod
    def has_lists(element: Any) -> bool:
        pending = [element]
        while pending:
            each = pending.pop()
            if isinstance(each, list):
                return True
            if isinstance(each, tuple):
                pending += each
            elif isinstance(each, dict):
                pending += each.values()
        return False

    @staticmethod
    def require_lengths(values: Sequence[Value]) -> None:
        for extent in (shapes.resolve(each) for value in values for each in value.shape):
            if not isinstance(extent, (int, Dim)):
                raise CaptureError(
                    f"a list that a loop or a branch on traced values changes holds arrays whose length is computed: "
                    f"use an array that is long enough\n  at {user_source()}"
                )


def dicts_in(element: Any) -> Iterator[dict[Any, Any]]:
    if isinstance(element, dict):
        yield element
    if isinstance(element, (tuple, dict)):
        for each in element.values() if isinstance(element, dict) else element:
            yield from dicts_in(each)


def note_shared(element: Any) -> None:
    """Note that the list has copies of dicts, which must not change from now on."""
    trace = current_trace()
    if trace is not None:
        trace.bound.update({id(each): each for each in dicts_in(element)})


def picked(element: Any) -> Any:
    """Return an element of the list; its dicts are copies, which must not change."""
    trace = current_trace()
    if trace is not None:
        trace.picked.update({id(each): each for each in dicts_in(element)})
    return element


class Named(NamedTuple):
    """The Python class of a list: a list or a deque, with its greatest length."""

    name: str
    """The name of the class in errors: list or deque."""
    most: int | None
    """The greatest number of elements; beyond it, the first ones are lost. None for no limit."""

    @classmethod
    def of(cls, held: Any) -> Named:
        return cls("deque", held.maxlen) if type(held) is deque else cls("list", None)

    def made(self, found: list[Any]) -> Any:
        return found if self.name == "list" else deque(found, self.most)


class Buffered(Stacked):
    """One list."""

    advice = "make an array of it, np.array(...)"

    def __init__(self, held: Sequence[Any], known: Elements, steps: Value | None, named: Named) -> None:
        self.known = known
        self.named = named
        self.depth = 1
        parts = [known.admit(each)[0] for each in held]
        self.spec, self.kinds = known.spec, tuple(known.kinds)
        self.lent = Lent()
        self.room = room_for(len(held), steps)
        self.first, self.end = storage(0), storage(len(held))
        self.stores = [
            Tracer(placeholder(ArrayType(each.dtype, (self.room, *shape))))
            for each, shape in zip(self.kinds, known.shapes, strict=True)
        ]
        for number, values in enumerate(parts):
            self.put(weak_constant(number), values, held[number])

    @classmethod
    def of_stacked(cls, held: Stacked, known: Elements) -> Buffered:
        """Return a list with room that has the elements of one whose length had been taken to stay."""
        array, count = held.array, held.count()
        are_pythons = held.kept.are_pythons
        first = placeholder(ArrayType(array.dtype, array.value.shape[1:], weak=are_pythons and array.ndim == 1))
        known.admit(Tracer(first))
        found = cls((), known, count, Named("list", None))
        if is_late(count):
            found.require_room(registry["less_equal"](count, found.room))
        found.stores[0][: Tracer(count)] = array
        found.lent = held.kept.lent
        found.end[...] = Tracer(count)
        return found

    # ---- what it holds ----

    @property
    def kept(self) -> Kept:  # type: ignore[override]
        return Kept(1, 1 + len(self.known.shapes[0]) if self.known.shapes else 1, self.are_pythons)

    @property
    def are_pythons(self) -> bool:
        return all(each.weak for each in self.kinds)

    @property
    def array(self) -> Any:  # type: ignore[override]
        """The elements as they are now."""
        if self.spec is None:
            return Tracer(as_value(to_value(np.zeros(0))))
        if not self.spec.is_leaf():
            raise LengthsNeeded(
                f"a list of tuples whose length is traced is used as a whole: loop over it, or keep a list for each "
                f"part\n  at {user_source()}"
            )
        return self.columns()[0]

    def as_tuple(self) -> Any:
        """Return the tuple of the elements; the list itself where these are tuples."""
        if self.spec is None or not self.spec.is_leaf():
            return self
        return Stacked(self.array, are_pythons=self.are_pythons).as_tuple()

    def columns(self) -> list[Any]:
        """An array for each part of the elements."""
        first, end = (Tracer(each) for each in (held_by(self.first), held_by(self.end)))
        return [each[first:end].copy() for each in self.stores]

    def table(self) -> Any:
        """The array that `np.array` makes of the list."""
        if self.spec is None or self.spec.is_leaf():
            return self.array
        if any(self.known.shapes) or self.spec.num_nodes != self.spec.num_leaves + 1:
            raise CaptureError(f"np.array of a list of tuples in tuples, or of arrays\n  at {user_source()}")
        return np.stack(self.columns(), axis=1)

    def count(self) -> Value:
        found: Value = registry["subtract"].bind(held_by(self.end), held_by(self.first))
        return found

    def at(self, number: Tracer) -> Any:
        return self.read(registry["add"].bind(held_by(self.first), whole_number(number)))

    def read(self, place: Value) -> Any:
        """The element at a place of the arrays."""
        if self.spec is None:
            self.require(False, f"{self.named.name} index out of range")
        assert self.spec is not None
        found = []
        for array, each in zip(self.stores, self.kinds, strict=True):
            part = array[Tracer(place)]
            if part.ndim:
                part = self.lent.lend(part.copy())
            elif each.weak:
                part = Tracer(registry["cast"].bind(as_value(to_value(part)), dtype=part.dtype, weak=True))
            found.append(part)
        return picked(optree.tree_unflatten(self.spec, found))

    def example(self) -> Any:
        """An element of the same type."""
        kinds = zip(self.kinds, self.known.shapes, strict=True)
        parts = [Tracer(placeholder(ArrayType(each.dtype, shape, weak=each.weak))) for each, shape in kinds]
        return optree.tree_unflatten(self.spec, parts)

    def part(self, key: Any) -> Any:
        if self.spec is None or not self.spec.is_leaf() or not self.known.shapes[0]:
            return self[key]
        self.lent.take_back()
        return self.stores[0][Tracer(self.place(key))]

    def place(self, key: Any, message: str = "") -> Value:
        """The place of an element in the arrays."""
        position, count = whole_number(key), self.count()
        if not isinstance(position, Constant):
            negative = registry["less"](position, 0)
            position = registry["where"](negative, registry["add"].bind(position, count), position)
        elif int(position.data) < 0:
            position = registry["add"].bind(count, position)
        inside = registry["logical_and"](registry["greater_equal"](position, 0), registry["less"](position, count))
        self.require(inside, message or f"{self.named.name} index out of range")
        return registry["add"].bind(held_by(self.first), whole_number(Tracer(position)))

    def python_class(self) -> type:
        return deque if self.named.name == "deque" else list

    def require(self, condition: Value | bool, message: str) -> None:
        raised = Raised(IndexError, (message,))
        if self.spec is None:  # nothing has been appended so far
            raise raised.marked() if is_caught() else raised.error()
        raised.require(condition)

    def require_room(self, condition: Value) -> None:
        Raised(ListFull, (f"a {self.named.name} has no room for more elements here",)).require(condition)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            return self.read(self.place(key))
        return super().__getitem__(key) if self.spec is None or self.spec.is_leaf() else self.rows(key)

    def rows(self, key: slice) -> Buffered:
        """A list of some of its elements, which are tuples."""
        found, columns = self.as_list(), [each[key] for each in self.columns()]
        count = Tracer(shapes.as_value(columns[0].value.shape[0]))
        for store, column in zip(found.stores, columns, strict=True):
            store[:count] = column
        found.first[...], found.end[...] = 0, count
        return found

    # ---- changes ----

    def parts_of(self, element: Any) -> list[Value]:
        values, is_wider = self.known.admit(element)
        if is_wider or tuple(self.known.kinds) != self.kinds:
            raise WiderElements(f"the elements of a list are of several types\n  at {user_source()}")
        return values

    def put(self, place: Value, values: Sequence[Value], element: Any) -> None:
        whole = zip(self.stores, values, self.kinds, self.known.shapes, flatten(element)[0], strict=True)
        for array, value, each, shape, leaf in whole:
            new = fitted(value, Kind(each.dtype, False), shape, "an element of a list")
            array[Tracer(place)] = Tracer(new)
            self.lent.keep(array, leaf)

    def append(self, element: Any) -> None:
        values, end = self.parts_of(element), held_by(self.end)
        self.require_room(registry["less"](end, self.room))
        self.put(end, values, element)
        end = registry["add"].bind(end, weak_constant(1))
        self.end[...] = Tracer(end)
        if self.named.most is not None:
            kept = registry["subtract"](end, self.named.most)
            self.first[...] = Tracer(registry["maximum"](held_by(self.first), kept))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            raise CaptureError(
                f"assignment to a part of a list whose length is traced: assign to its elements, or use an array"
                f"\n  at {user_source()}"
            )
        place = self.place(key, f"{self.named.name} assignment index out of range")
        self.put(place, self.parts_of(value), value)

    def pop(self, key: Any = -1) -> Any:
        is_empty = "pop from an empty deque" if self.named.name == "deque" else "pop from empty list"
        self.require(registry["greater"](self.count(), 0), is_empty)
        if isinstance(key, int) and key in (0, -1):
            place = held_by(self.first) if key == 0 else registry["add"].bind(held_by(self.end), weak_constant(-1))
            found = self.read(place)
            if key == 0:
                self.first[...] = Tracer(registry["add"].bind(place, weak_constant(1)))
            else:
                self.end[...] = Tracer(place)
            return found
        place = self.place(key, "pop index out of range")
        found = self.read(place)
        self.close_up(place)
        return found

    def popleft(self) -> Any:
        return self.pop(0)

    def __delitem__(self, key: Any) -> None:
        if isinstance(key, slice):
            raise CaptureError(f"del of a part of a list whose length is traced\n  at {user_source()}")
        self.close_up(self.place(key, f"{self.named.name} assignment index out of range"))

    def close_up(self, place: Value) -> None:
        """Remove an element, and close the gap."""
        every = self.places()
        self.move(every + (every >= Tracer(place)))
        self.end[...] = Tracer(registry["add"].bind(held_by(self.end), weak_constant(-1)))

    def insert(self, key: Any, element: Any) -> None:
        if self.named.most is not None:
            self._not_yet()
        values, count, position = self.parts_of(element), self.count(), whole_number(key)
        negative = registry["less"](position, 0)
        position = registry["where"](negative, registry["add"].bind(position, count), position)
        position = registry["minimum"](registry["maximum"](position, 0), count)
        place = registry["add"].bind(held_by(self.first), whole_number(Tracer(position)))
        self.append(element)
        every = self.places()
        self.move(every - (every > Tracer(place)))
        self.put(place, values, element)

    def appendleft(self, element: Any) -> None:
        self.insert(0, element)

    def rotate(self, n: Any = 1) -> None:
        first, count = Tracer(held_by(self.first)), np.maximum(Tracer(self.count()), 1)
        every = self.places()
        is_held: Any = (every >= first) & (every < Tracer(held_by(self.end)))
        self.move(np.where(is_held, first + (every - first - Tracer(whole_number(n))) % count, every))

    def reverse(self) -> None:
        first: Any = Tracer(held_by(self.first))
        end: Any = Tracer(held_by(self.end))
        every = self.places()
        self.move(np.where((every >= first) & (every < end), first + end - 1 - every, every))

    def arrange(self, order: Any) -> None:
        first, end = (Tracer(each) for each in (held_by(self.first), held_by(self.end)))
        for each, column in zip(self.stores, self.columns(), strict=True):
            each[first:end] = column[order]

    def copy(self) -> Buffered:
        found = Buffered.__new__(Buffered)
        vars(found).update(vars(self))
        found.lent = Lent()
        found.first, found.end, found.stores = self.first.copy(), self.end.copy(), [each.copy() for each in self.stores]
        return found

    def as_list(self) -> Buffered:
        """A list of the same elements."""
        found = self.copy()
        found.named = Named("list", None)
        return found

    def clear(self) -> None:
        self.end[...] = Tracer(held_by(self.first))

    def places(self) -> Any:
        return apply(registry["arange"], Tracer(shapes.as_value(self.room)))

    def move(self, sources: Any) -> None:
        """Move elements: each place takes the element at its source."""
        last = Tracer(registry["subtract"](self.room, 1))
        sources = np.clip(sources, 0, last)
        for each in self.stores:
            each[...] = each[sources]

    def _not_yet(self, *_: Any, **__: Any) -> Any:
        raise CaptureError(f"this method of a list whose length is traced: use an array\n  at {user_source()}")

    extendleft = __imul__ = _not_yet

    def result(self) -> Any:
        """The list as a result of the function."""
        spec = flatten(0)[1] if self.spec is None else self.spec
        arrays = [self.array] if self.spec is None else self.columns()
        return Listed(arrays, (spec, tuple(each.weak for each in self.kinds), self.named))


def storage(start: int) -> Any:
    return Tracer(registry["asarray"](weak_constant(start))).copy()


def held_by(place: Any) -> Value:
    """The integer in a storage."""
    found: Value = registry["cast"].bind(as_value(to_value(place[()])), dtype=INT64, weak=True)
    return found


def room_for(held: int, steps: Value | None) -> Value:
    """The number of elements for which there is room: as many as arguments have, and some more. Where that is not
    enough, the call fails, and the function is traced again with more room."""
    trace = current_trace()
    assert trace is not None
    # how many a mask selects is known too late for the length of an array that loops and branches carry
    found: Any = SPARE + held if steps is None or is_late(steps) else shapes.add(steps, SPARE + held)
    for value in trace.inputs:
        if value.shape:
            found = shapes.add(found, functools.reduce(shapes.multiply, value.shape))
    return shapes.as_value(shapes.multiply(found, trace.room))


class Listed:
    """A list as a result: arrays of its elements' parts."""

    def __init__(self, arrays: list[Any], data: tuple[Any, tuple[bool, ...], Named]) -> None:
        self.arrays, self.data = arrays, data


def _put_together(data: Any, children: Any) -> Any:
    arrays = list(children)
    if not all(isinstance(each, np.ndarray) for each in arrays):
        return Listed(arrays, data)
    spec, weak, named = data
    columns = [each.tolist() if flag else list(each) for each, flag in zip(arrays, weak or (False,), strict=True)]
    columns = [
        [part.copy() if part.ndim else part for part in column]
        if isinstance(array, np.ndarray) and array.ndim > 1
        else column
        for array, column in zip(arrays, columns, strict=True)
    ]
    found = [optree.tree_unflatten(spec, parts) for parts in zip(*columns, strict=True)]
    return named.made(found)


register_node(Listed, lambda node: (tuple(node.arrays), node.data), _put_together)
