"""Snapshots of an object's contents before a trace, which find later changes, and undo them."""

from __future__ import annotations

import functools
import operator
from collections import OrderedDict, deque
from collections.abc import Collection, Iterator
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from numbagraph.tracing.tracer import Tracer
from numbagraph.tracing.user_code import entries_of

MISSING: Any = object()
INTEGERS = range(-(1 << 63), 1 << 63)
DEEPEST = 6
"""The depth inside of a written object up to which a traced array is found."""


class Change(NamedTuple):
    """A write: the kind of bytecode that made it, the name written, the words for its holder, and the object there
    now."""

    kind: str
    name: str
    title: str
    new: Any


class Origin(NamedTuple):
    """An entry of a dict or a list, or a variable of an enclosing function, that was written: what it held before, and
    what it holds now."""

    holder: Any
    """The dict, the list, or the cell of the variable."""
    key: Any
    """None for a cell."""
    old: Any
    new: Any

    @property
    def place(self) -> tuple[int, Any]:
        """The identity of the holder, and the key."""
        return id(self.holder), self.key

    def value(self) -> Any:
        """Return what it holds at present; `MISSING` if it is not there any more."""
        try:
            return self.holder.cell_contents if isinstance(self.holder, CellType) else self.holder[self.key]
        except (LookupError, ValueError):
            return MISSING

    def put(self, value: Any) -> None:
        if isinstance(self.holder, CellType):
            self.holder.cell_contents = value
        else:
            self.holder[self.key] = value

    def is_storable(self) -> bool:
        """Whether it is an entry of a dict with an array or a number, in whose place there is another one now."""
        return type(self.holder) is dict and all(map(is_storable, (self.old, self.new)))


def is_storable(value: Any) -> bool:
    """Whether compiled code takes and gives a value: an array or a number, of a dtype that it has."""
    kind = type(value)
    if kind is int:
        return value in INTEGERS
    if kind is np.ndarray or issubclass(kind, np.generic):
        return value.dtype.kind in "biufc"
    return kind in (Tracer, bool, float, complex)


class Namespace:
    """A snapshot of the attributes of an object (its ``__dict__``), or of the globals of a module."""

    def __init__(self, space: dict[str, Any], kind: str, title: str, names: Collection[str] | None = None) -> None:
        self.space = space
        self.kind = kind
        self.title = title
        self.old = dict(space) if names is None else {name: space.get(name, MISSING) for name in names}
        self.names = names

    def changes(self) -> Iterator[Change]:
        for name in dict.fromkeys((*self.old, *self.space)) if self.names is None else self.names:
            new = self.space.get(name, MISSING)
            if new is not self.old.get(name, MISSING):
                yield Change(self.kind, name, self.title.format(name), new)

    def origins(self, name: str) -> list[Origin]:
        """Return the entry of a name that was written."""
        return [Origin(self.space, name, self.old.get(name, MISSING), self.space.get(name, MISSING))]

    def restore(self, name: str) -> None:
        old = self.old.get(name, MISSING)
        if old is MISSING:
            self.space.pop(name, None)
        else:
            self.space[name] = old


class Attributes:
    """A snapshot of attributes that are not in a writable ``__dict__``: those of classes and slots."""

    def __init__(self, owner: Any, names: Collection[str], title: str) -> None:
        self.owner = owner
        self.title = title
        self.old = {name: self.get(name) for name in names}

    def get(self, name: str) -> Any:
        if isinstance(self.owner, type):
            return vars(self.owner).get(name, MISSING)
        try:
            return object.__getattribute__(self.owner, name)
        except AttributeError:
            return MISSING

    def changes(self) -> Iterator[Change]:
        for name, old in self.old.items():
            new = self.get(name)
            if new is not old:
                yield Change("attribute", name, self.title.format(name), new)

    def restore(self, name: str) -> None:
        if self.old[name] is MISSING:
            delattr(self.owner, name)
        elif isinstance(self.owner, type):
            setattr(self.owner, name, self.old[name])
        else:
            object.__setattr__(self.owner, name, self.old[name])


class Cell:
    """A snapshot of a variable of an enclosing function."""

    def __init__(self, cell: CellType, name: str) -> None:
        self.cell = cell
        self.name = name
        self.old = self.get()

    def get(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def changes(self) -> Iterator[Change]:
        new = self.get()
        if new is not self.old:
            yield Change("cell", self.name, f"{self.name!r} of an enclosing function", new)

    def restore(self, name: str) -> None:  # noqa: ARG002
        if self.old is MISSING:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = self.old


class Content:
    """A snapshot of the contents of a list, dict, set, deque or array."""

    def __init__(self, container: Any, title: str) -> None:
        self.container = container
        self.title = title or "a container of an enclosing scope"
        self.old: Any = container.copy() if isinstance(container, np.ndarray) else self.items()

    def items(self) -> list[Any]:
        """The elements, or keys and values in turn."""
        if isinstance(self.container, dict):
            return [each for pair in dict.items(self.container) for each in pair]
        return list.copy(self.container) if isinstance(self.container, list) else list(self.container)

    def changes(self) -> Iterator[Change]:
        if isinstance(self.old, np.ndarray):
            same = self.container.tobytes() == self.old.tobytes()
        else:
            new = self.items()
            same = len(new) == len(self.old) and all(map(operator.is_, new, self.old))
        if not same:
            yield Change("content", "", self.title, self.container)

    def origins(self, name: str) -> list[Origin]:  # noqa: ARG002
        """Return the entries that were written; none if the container has another length or other keys now."""
        if type(self.container) is dict:
            old = dict(zip(self.old[::2], self.old[1::2], strict=True))
            pairs = [(key, each, self.container[key]) for key, each in old.items() if key in self.container]
            is_same = len(old) == len(self.container) == len(pairs)
        elif type(self.container) is list:
            pairs = list(zip(range(len(self.old)), self.old, self.container, strict=False))
            is_same = len(self.old) == len(self.container)
        else:
            return []
        return [Origin(self.container, *each) for each in pairs if each[1] is not each[2]] if is_same else []

    def restore(self, name: str) -> None:  # noqa: ARG002
        container = self.container
        if isinstance(container, np.ndarray):
            container[...] = self.old
        elif isinstance(container, dict):
            kind: Any = OrderedDict if isinstance(container, OrderedDict) else dict  # of a Counter, update adds
            kind.clear(container)
            for key, value in zip(self.old[::2], self.old[1::2], strict=True):
                kind.__setitem__(container, key, value)
        elif isinstance(container, list):
            list.__setitem__(container, slice(None), self.old)
        else:
            container.clear()
            (container.extend if isinstance(container, deque) else container.update)(self.old)


Held = Namespace | Attributes | Cell | Content


def holds_tracers(function: Any) -> bool:
    """Whether a function reads traced arrays: variables of the functions around it, defaults, and attributes of the
    object that it is a method of."""
    stack, seen = [function], set[int]()
    while stack:
        each = stack.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, (MethodType, functools.partial)):
            stack += [each.__self__, each.__func__] if isinstance(each, MethodType) else [each.func, *each.args]
        elif isinstance(each, FunctionType):
            cells = (Cell(cell, "").get() for cell in each.__closure__ or ())
            stack += [*cells, *(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values()]
        elif tracer_in(each) is not None:
            return True
    return False


def tracer_in(value: Any) -> Tracer | None:
    """A traced array inside a value, or None."""
    level, seen = [value], set[int]()
    for _ in range(DEEPEST + 1):
        found = next((each for each in level if issubclass(type(each), Tracer)), None)
        if found is not None:
            return found
        inside = {id(part): part for each in level for part in parts_of(each)}
        level = [part for name, part in inside.items() if name not in seen]
        seen |= inside.keys()
    return None


def parts_of(value: Any) -> list[Any]:
    """What a container holds, or the attributes of an object of a user's."""
    kind = type(value)
    if issubclass(kind, (str, bytes, int, float, complex, np.ndarray, type, ModuleType)):
        return []
    if issubclass(kind, dict):
        return list(dict.values(value))
    if issubclass(kind, (list, tuple, set, frozenset, deque)):
        return list(value)
    return list((entries_of(value) or {}).values())
