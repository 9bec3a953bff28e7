"""What a traced function has read of the world around it, and whether that is still so.

A guard watches what holds a reference: an entry of a dict (globals, a module, an instance, a class), a closure cell,
or a slot. The native entry compares references (``runtime/native/guards.ll``); here numbers are compared by value.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable
from types import CellType, MemberDescriptorType
from typing import Any, NamedTuple

import numpy as np

from .objects import HEADER_SIZE, slot_offset

MISSING = object()
_BY_VALUE = (int, bool, str, bytes, type(None))


class GuardRecord(ctypes.Structure):
    """What the entry must know: the address of a reference, or a dict and a key with its hash; and the object there."""

    _fields_ = (
        ("word", ctypes.c_void_p),
        ("dict", ctypes.c_void_p),
        ("key", ctypes.c_void_p),
        ("hash", ctypes.c_ssize_t),
        ("expected", ctypes.c_void_p),
    )


class NameGuard(NamedTuple):
    """What holds a reference, and what was in it when the function was traced."""

    owner: Any
    """A dict, a cell, or an object with slots."""
    key: Any
    """The key in a dict, or the descriptor of a slot."""
    value: Any
    """`MISSING` where there is nothing."""
    name: str
    """As the user would spell it."""


def read(owner: Any, key: Any) -> Any:
    """What is in it now."""
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
    return owner.get(key, MISSING)


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
        self.table = (GuardRecord * len(self.guards))(*map(_record, self.guards))

    def hold(self) -> bool:
        """Whether all is as it was. An equal number takes the place of the old one, so that the entry knows it, too."""
        for position, guard in enumerate(self.guards):
            found = read(guard.owner, guard.key)
            if found is guard.value:
                continue
            if not same(found, guard.value):
                return False
            self.table[position].expected = id(found)
            self.guards[position] = guard._replace(value=found)
        return True

    def changed(self) -> list[str]:
        """The names of what is not as it was."""
        return [each.name for each in self.guards if not same(read(each.owner, each.key), each.value)]


def _record(guard: NameGuard) -> GuardRecord:
    expected = None if guard.value is MISSING else id(guard.value)
    if type(guard.owner) is CellType:
        return GuardRecord(word=id(guard.owner) + HEADER_SIZE, expected=expected)
    if isinstance(guard.key, MemberDescriptorType):
        return GuardRecord(word=id(guard.owner) + (slot_offset(guard.key) or 0), expected=expected)
    return GuardRecord(dict=id(guard.owner), key=id(guard.key), hash=hash(guard.key), expected=expected)
