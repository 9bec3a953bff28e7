"""Guards on the objects that a traced function has read from its surroundings, and checks whether they still hold.

A guard watches what holds a reference: an entry of a dict (globals, a module, an instance, a class), a closure cell,
or a slot; or all references that a container or a function's definition holds. The native entry compares references
(``runtime/native/guards.ll``, ``guard_records.py``); here numbers are compared by value.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable
from itertools import chain
from types import CellType, MemberDescriptorType
from typing import Any, NamedTuple

import numpy as np

from numbagraph.runtime.guard_records import (
    DefinitionRecord,
    GuardRecord,
    class_record,
    content_records,
    definition_record,
    records_of,
    version_of,
)

MISSING = object()
CONTENT = object()
"""A stand-in for a key: all elements of a dict, list, set or deque."""
DEFINITION = object()
"""A stand-in for a key: the code and the defaults of a function."""
CLASS = object()
"""A stand-in for a key: the class of an object."""
_BY_VALUE = (int, bool, str, bytes, type(None))


class NameGuard(NamedTuple):
    """A place that holds a reference, and the value that it had when the function was traced."""

    owner: Any
    """A dict, a cell, an object with slots, or the object to which `CONTENT`, `DEFINITION` or `CLASS` refers."""
    key: Any
    """The key in a dict, the descriptor of a slot, `CONTENT`, `DEFINITION` or `CLASS`."""
    value: Any
    """The value; `MISSING` if there was none."""
    name: str
    """The name as the user would spell it."""
    version: int = 0
    """The version of a dict before its content was read."""


def content_guard(container: Any, name: str) -> NameGuard:
    """A guard of all that a container holds now."""
    version = version_of(container)
    return NameGuard(container, CONTENT, content_of(container), name, version)


def content_of(container: Any) -> tuple[Any, ...]:
    """The elements of a container, or the keys and values of a dict in turn."""
    if isinstance(container, dict):
        kind: Any = OrderedDict if isinstance(container, OrderedDict) else dict
        return tuple(chain.from_iterable(list(kind.items(container))))
    return tuple(list.copy(container) if isinstance(container, list) else container)


def definition_of(function: Any) -> tuple[Any, ...]:
    """The code, the defaults, and the defaults of keywords of a function, or of what stands for one."""
    return tuple(getattr(function, name, None) for name in ("__code__", "__defaults__", "__kwdefaults__"))


def read(owner: Any, key: Any) -> Any:
    """The present value of a place."""
    if key is CONTENT:
        return content_of(owner)
    if key is DEFINITION:
        return definition_of(owner)
    if key is CLASS:
        return type(owner)
    if type(owner) is CellType:
        try:
            return owner.cell_contents
        except ValueError:
            return MISSING
    if isinstance(key, MemberDescriptorType):
        try:
            return key.__get__(owner)
        except AttributeError:
            return MISSING
    return dict.get(owner, key, MISSING)


def same(one: Any, other: Any) -> bool:
    """Whether a function cannot tell two objects apart: numbers and strings by type and value, others by identity."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _BY_VALUE:
        return one == other
    if kind is float:
        return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)
    if kind is complex:
        return same(one.real, other.real) and same(one.imag, other.imag)
    if kind is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, np.generic) and one.dtype == other.dtype and one.tobytes() == other.tobytes()


class Guards:
    """All guards of one traced function, with the table that the native entry reads."""

    def __init__(self, guards: Iterable[NameGuard]) -> None:
        self.guards = list(guards)
        self._begins: list[int] = []
        """The index of each guard's first record, in the table or among the definitions."""
        self._kept: list[Any] = []
        """The memory that records point to."""
        records: list[GuardRecord] = []
        definitions: list[DefinitionRecord] = []
        for each in self.guards:
            found, kept = _records(each)
            own: list[Any] = definitions if each.key is DEFINITION else records
            self._begins.append(len(own))
            self._kept.append(kept)
            own += found
        self.table = (GuardRecord * len(records))(*records)
        self.definitions = (DefinitionRecord * len(definitions))(*definitions)

    def hold(self) -> bool:
        """Whether all guards hold. An equal number replaces the old one, so that the entry recognises it, too."""
        for position, guard in enumerate(self.guards):
            version = version_of(guard.owner) if guard.key is CONTENT else 0
            if version and version == guard.version:
                continue
            found = read(guard.owner, guard.key)
            if found is guard.value:
                continue
            if not same(found, guard.value):
                return False
            self._renew(position, guard._replace(value=found, version=version))
        return True

    def _renew(self, position: int, guard: NameGuard) -> None:
        self.guards[position] = guard
        begin = self._begins[position]
        records, kept = _records(guard)
        table = self.definitions if guard.key is DEFINITION else self.table
        for offset in reversed(range(len(records))):  # the first is compared first, and says how long others are
            table[begin + offset] = records[offset]
        self._kept[position] = kept

    def changed(self) -> list[str]:
        """The names of the places whose values have changed."""
        return [each.name for each in self.guards if not same(read(each.owner, each.key), each.value)]


def _records(guard: NameGuard) -> tuple[list[Any], Any]:
    """The records that the native entry compares for a guard, and memory that must live as long."""
    owner, key, value, _, version = guard
    if key is DEFINITION:
        return [definition_record(owner, value)], None
    if key is CONTENT:
        return content_records(owner, value, version)
    if key is CLASS:
        return [class_record(owner, value)], None
    return records_of(owner, key, None if value is MISSING else id(value)), None
