"""What a hash table does step by step."""

from __future__ import annotations

from typing import Any


def find(table: Any, key: Any) -> Any:
    """The slot of a key, or the empty one that it gets."""
    at = table.begin(key)
    while table.differs(at, key):
        at = table.following(at)
    return at


def filed(table: Any) -> None:
    """File all keys anew."""
    table.forget()
    for place in range(len(table)):
        table.file(place)


def discard(table: Any, key: Any) -> None:
    if key in table:
        table.remove(key)


def of_pairs(table: Any, pairs: Any) -> None:
    for key, value in pairs:
        table[key] = value


def of_elements(table: Any, elements: Any) -> None:
    for each in elements:
        table.add(each)


def counted(table: Any, elements: Any) -> None:
    for each in elements:
        table[each] += 1
