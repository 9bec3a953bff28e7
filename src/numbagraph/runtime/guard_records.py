"""The references that the native entry compares for a guard: their addresses in CPython's objects, and their values.

A dict has a version, which each change makes another one (until Python 3.13); lists and sets have memory that is
compared with a copy. What has neither, such as a deque, is compared in Python in each call.
"""

from __future__ import annotations

import ctypes
import enum
import sys
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from types import CellType, FunctionType, MemberDescriptorType
from typing import Any

from numbagraph.runtime.objects import HEADER_SIZE, slot_offset

_WORD = ctypes.sizeof(ctypes.c_void_p)
_SIZE = HEADER_SIZE
"""The offset of the number of elements in a list or a dict. In a set, three numbers begin here, the last of which is
the length of its table less one."""
_VERSION = _SIZE + _WORD
_ITEMS = _SIZE + _WORD
_TABLE = _SIZE + 3 * _WORD


class GuardKind(enum.IntEnum):
    """The subject of a comparison: a word; the entry of a dict; several words; several words behind a pointer."""

    WORD = 0
    ENTRY = 1
    WORDS = 2
    BEHIND = 3


class GuardRecord(ctypes.Structure):
    """The data of a guard for the native entry: an address, or a dict and a key with its hash; and the expected value,
    a word or the address of ``count`` words."""

    _fields_ = (
        ("kind", ctypes.c_int64),
        ("place", ctypes.c_void_p),
        ("key", ctypes.c_void_p),
        ("hash", ctypes.c_ssize_t),
        ("count", ctypes.c_int64),
        ("expected", ctypes.c_void_p),
    )


class DefinitionRecord(ctypes.Structure):
    """The addresses of a function's code and defaults, and their values."""

    _fields_ = (
        ("place", ctypes.c_void_p),
        ("code", ctypes.c_int64),
        ("defaults", ctypes.c_int64),
        ("named", ctypes.c_int64),
    )


_ZERO = ctypes.c_int64(0)


def definition_record(function: FunctionType, definition: Sequence[Any]) -> DefinitionRecord:
    """The record of a function's code, defaults and defaults of keywords."""
    return DefinitionRecord(
        id(function) + definition_offset(), *(0 if each is None else id(each) for each in definition)
    )


def records_of(owner: Any, key: Any, expected: int | None) -> list[GuardRecord]:
    """The record of one reference, and the address of the object that stands there."""
    if type(owner) is CellType:
        return [_word(id(owner) + HEADER_SIZE, expected)]
    if isinstance(key, MemberDescriptorType):
        return [_word(id(owner) + (slot_offset(key) or 0), expected)]
    return [GuardRecord(kind=GuardKind.ENTRY, place=id(owner), key=id(key), hash=hash(key), expected=expected)]


def class_record(owner: Any, kind: type) -> GuardRecord:
    """The record of an object's class, which ends the header of the object."""
    return _word(id(owner) + HEADER_SIZE - _WORD, id(kind))


def content_records(owner: Any, value: Sequence[Any], version: int) -> tuple[list[GuardRecord], Any]:
    """The records of the content of a container, whose number does not depend on that content; and the memory that they
    point to."""
    if version:
        return [_word(id(owner) + _VERSION, version)], None
    if isinstance(owner, list) and _know_lists():
        items, kept = _several(GuardKind.BEHIND, id(owner) + _ITEMS, list(map(id, value)))
        return [_word(id(owner) + _SIZE, len(value)), *items], kept
    if isinstance(owner, set) and _know_sets():
        *numbers, place = _words(id(owner) + _SIZE, 4)
        table = _words(place, 2 * (numbers[2] + 1))
        if tuple(map(id, owner)) == tuple(map(id, value)):  # no other thread has changed it meanwhile
            first, kept = _several(GuardKind.WORDS, id(owner) + _SIZE, numbers)
            second, more = _several(GuardKind.BEHIND, id(owner) + _TABLE, table)
            return [*first, *second], (kept, more)
        return [_never(), _never()], None
    return [_never()], None


def _word(place: int, expected: int | None) -> GuardRecord:
    return GuardRecord(kind=GuardKind.WORD, place=place, expected=expected)


def _never() -> GuardRecord:
    """A record that never holds, so that Python checks the guard."""
    return _word(ctypes.addressof(_ZERO), 1)


def _several(kind: GuardKind, place: int, words: Sequence[int]) -> tuple[list[GuardRecord], Any]:
    kept = (ctypes.c_int64 * len(words))(*words)
    return [GuardRecord(kind=kind, place=place, count=len(words), expected=ctypes.addressof(kept))], kept


def version_of(container: Any) -> int:
    """A number that changes with each change of a dict; 0 for objects without one."""
    if not isinstance(container, dict) or isinstance(container, OrderedDict) or not _have_versions():
        return 0
    return ctypes.c_uint64.from_address(id(container) + _VERSION).value


@cache
def _have_versions() -> bool:
    """Whether each change of a dict gives it another version, as it does until Python 3.13."""
    changed = {"key": 1}
    place, found = ctypes.c_uint64.from_address(id(changed) + _VERSION), []
    for change in (lambda: changed.update(key=2), lambda: changed.update(other=3), lambda: changed.pop("key")):
        found.append(place.value)
        change()
    return len({*found, place.value}) == 4 and all(found)


@cache
def _know_lists() -> bool:
    """Whether this build of Python lays out lists as the native entry reads them."""
    sizes = [_words(id(each) + _SIZE, 2) for each in ([], [None], [None, None])]
    return [size for size, _ in sizes] == [0, 1, 2] and [place == 0 for _, place in sizes] == [True, False, False]


@cache
def _know_sets() -> bool:
    """Whether this build of Python lays out sets as the native entry reads them; the table of a short one lies in the
    set itself."""
    known = {object(), object(), object()}
    fill, used, mask, table = _words(id(known) + _SIZE, 4)
    if (fill, used, mask) != (3, 3, 7) or not 0 < table - id(known) <= sys.getsizeof(known) - 16 * _WORD:
        return False
    return {id(each) for each in known} <= set(_words(table, 16))


def _words(place: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(place))


@cache
def definition_offset() -> int:
    """The offset of a function's code, which its defaults and those of keywords follow."""

    def known(first: Any = (), *, second: Any = ()) -> Any:
        return first, second

    expected = [id(known.__code__), id(known.__defaults__), id(known.__kwdefaults__)]
    words = (ctypes.c_int64 * (FunctionType.__basicsize__ // _WORD)).from_address(id(known))
    for position in range(len(words) - 2):
        if words[position : position + 3] == expected:
            return position * _WORD
    raise RuntimeError("numbagraph does not know how this build of Python lays out functions in memory")
