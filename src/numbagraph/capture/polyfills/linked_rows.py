"""Walks through one of several lists, whose elements hold the places of the next ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def walked(row: Any) -> Iterator[Any]:
    place = row.begin()
    while place >= 0:
        yield row.value(place)
        place = row.following(place)


def reached(row: Any, number: Any) -> Any:
    """Return the place of the element with a number."""
    place = row.begin()
    for _ in range(number):
        place = row.following(place)
    return place


def disowned(row: Any) -> None:
    """Detach the elements from their list."""
    place = row.begin()
    while place >= 0:
        row.disown(place)
        place = row.following(place)


def extended(row: Any, elements: Any) -> None:
    for each in elements:
        row.append(each)
