"""Attributes of objects, and elements of lists and dicts, that a loop or a branch assigns to."""

from __future__ import annotations

from typing import Any

from numbagraph.capture.values.list_aliases import is_made_here
from numbagraph.tracing.trace import active

ABSENT: Any = object()
"""The value of a place where there is none."""


class PlaceName(str):
    """The name of a place as a variable. Places of one name differ in their keys."""

    key: Any = None


def identity(name: str) -> Any:
    """Return something by which variables differ, also those that are places of one name."""
    return name.key if isinstance(name, PlaceName) else name


class Place:
    """An attribute of an object, or an element of a list or a dict."""

    def __init__(self, holder: Any, name: Any, *, is_attribute: bool) -> None:
        self.holder, self.name, self.is_attribute = holder, name, is_attribute
        self.key = id(holder), is_attribute, name

    def __str__(self) -> str:
        kind = getattr(self.holder, "__name__", type(self.holder).__name__)
        return f"{kind}.{self.name}" if self.is_attribute else f"{kind}[{self.name!r}]"

    def variable(self) -> PlaceName:
        """The name of the place as a variable."""
        name = PlaceName(self)
        name.key = self.key
        return name

    def get(self) -> Any:
        """Return the value as the program sees it; `ABSENT` if there is none."""
        try:
            return getattr(self.holder, self.name) if self.is_attribute else self.holder[self.name]
        except (AttributeError, NameError, LookupError):
            return ABSENT

    def own(self) -> Any:
        """Return the value that lies in the object itself, rather than in its class."""
        held = getattr(self.holder, "__dict__", None)
        return held.get(self.name, ABSENT) if self.is_attribute and type(held) is dict else self.get()

    def set(self, value: Any) -> None:
        if value is ABSENT:
            if self.own() is not ABSENT:
                self._delete()
        elif self.is_attribute:
            setattr(self.holder, self.name, value)
        else:
            self.holder[self.name] = value

    def _delete(self) -> None:
        if self.is_attribute:
            delattr(self.holder, self.name)
        else:
            del self.holder[self.name]


def write(place: Place, value: Any) -> None:
    """Assign to a place of an object from outside of the loop or branch that is traced. If the place is not a variable
    of it yet, it is one in the next pass."""
    scope = active.scope
    assert scope is not None
    journal = scope.journal
    journal.note_holder(place.holder)
    if place.key not in journal.variables and place.key not in journal.places:
        journal.places[place.key] = place, place.own()
    place.set(value)


def store(place: Place, value: Any) -> None:
    """Assign the value after a loop or a branch."""
    if is_made_here(place.holder):
        if (scope := active.scope) is not None and scope.journal is not None:
            scope.journal.note_holder(place.holder)
        place.set(value)
    else:
        write(place, value)
