"""Dicts and sets whose keys are traced integers, or tuples of them: hash tables in storage.

A dict holds its keys in a list with room for more, and its values in another one, in the order in which they came. An
open hash table, ``slots``, has the places of keys in these lists. Python's own dict becomes such a table when it gets a
traced key: the function is traced again, and the dict of that line is a table from the beginning.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.blockwise.promotion import as_value, weak_constant
from numbagraph.capture.builtins.sets import WHAT, SetOperators
from numbagraph.capture.polyfills import hash_table as written
from numbagraph.capture.statements.control_flow import if_expression
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.containers import made
from numbagraph.capture.values.iterables import Rows, whole_number
from numbagraph.capture.values.list_buffer import Buffered, Elements, Listed, Named, held_by
from numbagraph.capture.values.loop_state import Kind, fitted
from numbagraph.capture.values.raised_errors import Raised, is_caught
from numbagraph.capture.values.traced_keys import place_of
from numbagraph.capture.values.types_by_line import Types
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Value
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import Tracer, apply, to_value, user_source

UINT64 = np.dtype(np.uint64)
MIX = 0x9E3779B97F4A7C15
"""2⁶⁴ divided by the golden ratio: products with it spread over all bits."""


class Made(NamedTuple):
    """The Python class that a table stands for, with the factory of a `defaultdict`."""

    name: str
    factory: Any = None
    most: None = None

    def made(self, found: list[Any]) -> Any:
        if self.name == "set":
            return set(found)
        held = dict(found)
        if self.name == "Counter":
            return collections.Counter(held)
        return collections.defaultdict(self.factory, held) if self.name == "defaultdict" else held


def require_key(key: Any) -> None:
    """Raise for an object that no table takes as a key."""
    for each in flatten(key)[0]:
        dtype = as_value(to_value(each)).dtype if isinstance(each, (Tracer, int, float, np.generic)) else None
        if dtype is None or dtype.kind not in "biu" or dtype == np.uint64:
            what = type(each).__name__ if dtype is None else str(dtype)
            raise CaptureError(
                f"a key of type {what} in a dict or a set that has traced keys: these are integers and tuples of them; "
                f"np.unique(x, return_inverse=True) numbers others\n  at {user_source()}"
            )


def require_table(holder: Any, key: Any, *value: Any) -> None:
    """Raise where a dict or a set of Python's gets a traced key: the function is traced again, with a table in its
    place."""
    place = place_of(holder)
    if place is None:
        return
    require_key(key)
    if value and type(holder) is not set:
        require_numbers(place, *value)
    Types(place, "keys", WHAT).admit(key)


def require_numbers(place: Any, value: Any) -> None:
    """Raise where a value is a list: the function is traced again, with a dict of lists."""
    if type(value) is list:
        Types(place, "rows", WHAT).begin()
    else:
        Types(place, "values", WHAT).known.admit(value)


class Walked(Rows):
    """The keys of a table, for a loop, which must not make it longer or shorter."""

    def __init__(self, table: Table) -> None:
        self.table, self.held = table, table.listed()

    def count(self) -> Value:
        return self.held.count()

    def at(self, number: Tracer) -> Any:
        self.table.require_order()
        is_same = registry["equal"](self.table.count(), self.held.count())
        Raised(RuntimeError, ("dictionary changed size during iteration",)).require(is_same)
        return self.held.at(number)


class Table(SetOperators, Buffered):  # type: ignore[misc]
    """One dict or set, as the list of its keys."""

    advice = "return its keys and values, list(x.items())"

    def __init__(self, place: Any, kind: Made) -> None:
        self.made_at = place
        self.keys_known, self.values_known = Types(place, "keys", WHAT), Types(place, "values", WHAT)
        super().__init__((), self.keys_known.known, None, Named("dict", None))
        self.stands_for = kind
        default = [] if self.default is None else [self.default()]
        for each in default:
            self.values_known.admit(each)
        self.held = Buffered((), self.values_known.known, None, Named("list", None))
        self.held.room, self.held.first, self.held.end = self.room, self.first, self.end
        extent = Tracer(shapes.as_value(shapes.multiply(self.room, 2)))
        self.slots: Any = apply(registry["full"], (extent,), -1, np.int64).copy()

    @property
    def default(self) -> Callable[[], Any] | None:
        """The function that makes the value for a missing key; None if there is none."""
        if self.stands_for.name == "Counter":
            return int
        factory = self.stands_for.factory
        return None if factory is None else converted(factory)

    # ---- where keys lie ----

    def parts(self, key: Any) -> list[Value]:
        """A key's numbers, in the type in which they are compared."""
        require_key(key)
        self.keys_known.admit(key)
        return [registry["cast"].bind(as_value(to_value(each)), dtype=INT64) for each in flatten(key)[0]]

    def stored(self, key: Any) -> list[Value]:
        """A key's numbers, as they are stored."""
        values = [as_value(to_value(each)) for each in flatten(key)[0]]
        for each, kind in zip(values, self.kinds, strict=True):
            if each.type.weak and not kind.weak and kind.dtype != INT64:
                raise CaptureError(
                    f"integers of Python's, and NumPy's of {kind.dtype}, which may not hold them, are keys of one dict "
                    f"or set: make them of one kind, int(k)\n  at {user_source()}"
                )
        kinds = zip(values, self.kinds, strict=True)
        return [fitted(each, Kind(kind.dtype, False), (), "a key") for each, kind in kinds]

    def begin(self, key: Any) -> Any:
        """The slot where the search for a key begins."""
        mixed: Any = np.uint64(0)
        for each in self.parts(key):
            whole: Any = Tracer(registry["cast"].bind(each, dtype=UINT64))
            mixed = (mixed ^ whole) * np.uint64(MIX)
            mixed = mixed ^ (mixed >> np.uint64(32))
        extent = Tracer(registry["cast"].bind(as_value(self.slots.value.shape[0]), dtype=UINT64))
        return Tracer(registry["cast"].bind(to_value(mixed % extent), dtype=INT64, weak=True))

    def following(self, at: Tracer) -> Tracer:
        after = registry["add"].bind(at.value, weak_constant(1))
        is_last = registry["equal"](after, self.slots.value.shape[0])
        return Tracer(registry["where"](is_last, weak_constant(0), after))

    def differs(self, at: Tracer, key: Any) -> Tracer:
        """Whether a slot has another key."""
        place = self.slots[at]
        here = np.maximum(place, 0)
        found: Any = Tracer(weak_constant(False))
        for store, each in zip(self.stores, self.parts(key), strict=True):
            found = found | (store[here] != Tracer(each))
        return Tracer(registry["cast"].bind(to_value((place >= 0) & found), dtype=BOOL, weak=True))

    def find(self, key: Any) -> Any:
        """The slot of a key, or the one that it gets."""
        found = converted(written.find)(self, key)
        return found if isinstance(found, Tracer) else Tracer(weak_constant(found))

    def place_of(self, key: Any) -> Value:
        """The place of a key among the keys, or a negative number."""
        return registry["cast"].bind(to_value(self.slots[self.find(key)]), dtype=INT64, weak=True)

    def has(self, key: Any) -> Tracer:
        found = registry["greater_equal"](self.place_of(key), 0)
        return Tracer(registry["cast"].bind(found, dtype=BOOL, weak=True))

    def file(self, place: Any) -> None:
        """Note the place of a key."""
        self.slots[self.find(self.read(whole_number(place)))] = place

    # ---- what a dict does ----

    def __getitem__(self, key: Any) -> Any:
        if self.default is None:
            return self.value_at(self.required(key))
        found = self.get(key, self.default())
        if self.stands_for.name != "Counter":
            self[key] = found
        return found

    part = __getitem__

    def value_at(self, place: Value) -> Any:
        return self.held.read(place)

    def required(self, key: Any) -> Value:
        """The place of a key that must be there; raises in the program if it is not."""
        if self.held.spec is None and self.stands_for.name != "set":  # no value has been put into it so far
            raised = Raised(KeyError, (key,))
            raise raised.marked() if is_caught() else raised.error()
        place = self.place_of(key)
        Raised(KeyError, (key,)).require(registry["greater_equal"](place, 0))
        return place

    def get(self, key: Any, default: Any = None) -> Any:
        if self.held.spec is None:
            self.parts(key)
            return default
        place = self.place_of(key)
        is_there = Tracer(registry["cast"].bind(registry["greater_equal"](place, 0), dtype=BOOL, weak=True))
        return if_expression(is_there, lambda: self.value_at(place), lambda: default)

    def __setitem__(self, key: Any, value: Any) -> None:
        require_numbers(self.made_at, value)
        self.values_known.admit(value)
        self.enter(key, value)

    def add(self, key: Any) -> None:
        self.enter(key)

    def enter(self, key: Any, *value: Any) -> Value:
        """Put a key into the table that may be there, and give its place."""
        slot, end = self.find(key), held_by(self.end)
        place = registry["cast"].bind(to_value(self.slots[slot]), dtype=INT64, weak=True)
        is_new = registry["less"](place, 0)
        self.require_room(registry["logical_or"](registry["logical_not"](is_new), registry["less"](end, self.room)))
        target = registry["where"](is_new, end, place)
        self.put(target, self.stored(key), key)
        for each in value:
            self.held.put(target, self.held.parts_of(each), each)
        self.slots[slot] = Tracer(target)
        self.end[...] = Tracer(registry["add"].bind(end, registry["cast"].bind(is_new, dtype=INT64, weak=True)))
        return target

    def setdefault(self, key: Any, default: Any = None) -> Any:
        found = self.get(key, default)
        self[key] = found
        return found

    def update(self, *given: Any, **named: Any) -> None:
        if self.is_set:
            self.changed(written.joined, *given)
            return
        others = given[0] if given else ()
        if named or isinstance(others, Buffered):
            raise CaptureError(f"update() of a dict with traced keys: write a loop\n  at {user_source()}")
        for each in others.items() if isinstance(others, dict) else others:
            self[each[0]] = each[1]

    # ---- what makes it shorter ----

    def __delitem__(self, key: Any) -> None:
        self.close_up(self.required(key))
        converted(written.filed)(self)

    def remove(self, value: Any) -> None:
        del self[value]

    def discard(self, key: Any) -> None:
        converted(written.discard)(self, key)

    def pop(self, key: Any = None, *default: Any) -> Any:
        if key is None or self.is_set:
            raise CaptureError(
                f"pop() of a {self.stands_for.name} with traced keys would depend on the order of Python's hash table: "
                f"use min(x) and x.remove(...), or a list\n  at {user_source()}"
            )
        if default and self.held.spec is not None:
            return converted(written.pop)(self, key, default[0])
        if default:  # no value has been put into it so far
            self.parts(key)
            return default[0]
        found = self[key]
        del self[key]
        return found

    def python_class(self) -> type:
        kinds = {"dict": dict, "set": set, "defaultdict": collections.defaultdict, "Counter": collections.Counter}
        return kinds[self.stands_for.name]

    def move(self, sources: Any) -> None:
        super().move(sources)
        self.held.move(sources)

    def forget(self) -> None:
        """Empty all slots."""
        self.slots[...] = -1

    def clear(self) -> None:
        super().clear()
        self.forget()

    # ---- what it holds, in order ----

    @property
    def python_name(self) -> str:
        return self.stands_for.name

    def copy(self) -> Table:
        return self.copy_as(*self.stands_for)

    def copy_as(self, name: str, factory: Any = None, most: None = None) -> Table:
        found = Buffered.copy(self)
        own = Table.__new__(Table)
        vars(own).update(vars(found))
        own.held = self.held.copy()
        own.held.first, own.held.end = own.first, own.end
        own.slots, own.stands_for = self.slots.copy(), Made(name, factory, most)
        return made(own)

    def listed(self) -> Buffered:
        """The keys, in whatever order."""
        found = Buffered.copy(self)
        found.named = Named("list", None)
        return found

    def as_list(self) -> Buffered:
        self.require_order()
        return self.listed()

    def require_order(self) -> None:
        if self.stands_for.name == "set":
            raise CaptureError(
                f"the elements of a set are asked for in the order that Python's hash table has: sorted(x)"
                f"\n  at {user_source()}"
            )

    def walked(self) -> Walked:
        return Walked(self)

    keys = as_list

    def values(self) -> Buffered:
        found = self.held.as_list()
        found.first, found.end = self.first.copy(), self.end.copy()
        return found

    def items(self) -> Buffered:
        """A list of pairs of keys and values."""
        found, values = self.as_list(), self.values()
        if values.spec is None:
            return found
        found.spec = flatten((self.example(), values.example()))[1]
        found.kinds, found.stores = found.kinds + values.kinds, found.stores + values.stores
        known = Elements()
        known.spec, known.kinds, known.shapes = found.spec, list(found.kinds), [()] * len(found.kinds)
        found.known = known
        return found

    def most_common(self, n: Any = None) -> Any:
        call = converted
        found = call(sorted)(self.items(), key=lambda pair: pair[1], reverse=True)
        return found if n is None else found[:n]

    def result(self) -> Listed:
        found = self.listed() if self.stands_for.name == "set" or self.held.spec is None else self.items()
        found.named = self.stands_for  # type: ignore[assignment]
        return found.result()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise CaptureError(
            f"this use of a {self.stands_for.name} with traced keys: loop over its elements\n  at {user_source()}"
        )

    append = extend = reverse = arrange = popitem = popleft = fromkeys = elements = subtract = total = _refuse
    __add__ = __mul__ = __radd__ = __rmul__ = _refuse  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"a {self.stands_for.name} with traced keys"
