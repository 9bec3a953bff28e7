"""The steps of a hash table."""

from __future__ import annotations

from typing import Any


def find(table: Any, key: Any) -> Any:
    """The slot of a key, or the empty one that it gets."""
    at = table.begin(key)
    while table.differs(at, key):
        at = table.following(at)
    return at


def filed(table: Any) -> None:
    """File all keys anew, in their slots."""
    table.forget()
    for place in range(len(table)):
        table.file(place)


def discard(table: Any, key: Any) -> None:
    if key in table:
        table.remove(key)


def pop(table: Any, key: Any, default: Any) -> Any:
    found = default
    if key in table:
        found = table[key]
        del table[key]
    return found


def joined(table: Any, other: Any) -> None:
    for each in other:
        table.add(each)


def common(table: Any, other: Any) -> None:
    held = table.copy()
    table.clear()
    for each in held.listed():
        if each in other:
            table.add(each)


def without(table: Any, other: Any) -> None:
    held = table.copy()
    table.clear()
    for each in held.listed():
        if each not in other:
            table.add(each)


def toggled(table: Any, other: Any) -> None:
    held = table.copy()
    for each in other:
        if each in held:
            table.remove(each)
        else:
            table.add(each)


def are_in(elements: Any, table: Any) -> Any:
    for each in elements:  # noqa: SIM110  what is converted are loops
        if each not in table:
            return False
    return True


def are_outside(elements: Any, table: Any) -> Any:
    for each in elements:  # noqa: SIM110
        if each in table:
            return False
    return True


def are_some_of(elements: Any, table: Any) -> Any:
    if len(elements) == len(table):
        return False
    return are_in(elements, table)


def of_pairs(table: Any, pairs: Any) -> None:
    for key, value in pairs:
        table[key] = value


def of_elements(table: Any, elements: Any) -> None:
    for each in elements:
        table.add(each)


def counted(table: Any, elements: Any) -> None:
    for each in elements:
        table[each] += 1
