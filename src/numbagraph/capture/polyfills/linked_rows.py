"""What goes through one of several lists, whose elements know the next ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def walked(row: Any) -> Iterator[Any]:
    place = row.begin()
    while place >= 0:
        yield row.value(place)
        place = row.following(place)


def reached(row: Any, number: Any) -> Any:
    """Where the element with a number lies."""
    place = row.begin()
    for _ in range(number):
        place = row.following(place)
    return place


def disowned(row: Any) -> None:
    """Let the elements belong to no list."""
    place = row.begin()
    while place >= 0:
        row.disown(place)
        place = row.following(place)


def extended(row: Any, elements: Any) -> None:
    for each in elements:
        row.append(each)
