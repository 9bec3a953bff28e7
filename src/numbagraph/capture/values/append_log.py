"""The elements that a step of a loop appends to a list from outside, on all of its paths or on some."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.ir.values import Value
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.tracer import user_source


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()
"""The placeholder for an element that was not appended on the path that was taken."""


class Appended(list[Any], OnlyTraced):
    """The elements that one step of a loop appends to a list from outside, in place of the list in the loop's body."""

    advice = "begin with the list before the loop or the branch that appends to it"

    def __init__(self, elements: Iterable[Any] = (), to: object = None) -> None:
        super().__init__(elements)
        self.to = to
        """The record of the list: with the same elements, but another list's record, this is the value of another
        variable."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise CaptureError(
            f"a list is read in the loop on traced values that appends to it: carry what is read in a variable"
            f"\n  at {user_source()}"
        )

    insert = pop = remove = clear = reverse = index = count = copy = __delitem__ = __imul__ = _refuse
    sort = _refuse  # type: ignore[assignment]
    __getitem__ = __iter__ = __len__ = __contains__ = __eq__ = __add__ = __bool__ = __reversed__ = _refuse

    def elements(self) -> list[Any]:
        return [list.__getitem__(self, number) for number in range(list.__len__(self))]

    def __repr__(self) -> str:
        return "a list to which a branch has appended"


class Several:
    """The elements that the steps of an inner loop append to a list, as one element of those that an outer step
    appends."""

    __slots__ = ("are_pythons", "array", "mask")

    def __init__(self, array: Value, mask: Value | None, are_pythons: bool) -> None:
        self.array = array
        self.mask = mask
        """A mask of the rows that were appended; None if all were."""
        self.are_pythons = are_pythons
        """Whether the elements are numbers of Python's."""


class Grown:
    """The pytree node of an `Appended` list, by which a variable is taken apart."""

    __slots__ = ("elements", "to")

    def __init__(self, elements: list[Any], to: object = None) -> None:
        self.elements = elements
        self.to = to


class Outgrown(OnlyTraced):
    """A placeholder for the elements of a list that a loop has appended to: a longer list has them now."""

    advice = "return the list to which the loop has appended"

    def __repr__(self) -> str:
        return "a list that a loop has made longer"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise outgrown()

    def __init__(self, kept: Any = None) -> None:
        self.kept = kept
        """The longer list, under each of the old one's names; None where only the variable of the loop has it."""


def outgrown() -> LengthsNeeded:
    """The error for a list that is read under another name than that by which it has become longer or shorter."""
    return LengthsNeeded(
        f"a list whose length is traced is read under another name than that by which it has become longer or "
        f"shorter: use one name, and return it from functions that change it\n  at {user_source()}"
    )


def resolved(thing: Any) -> Any:
    """Return the list of traced length that a Python list stands for; any other object is returned as it is."""
    if type(thing) in (list, collections.deque) and len(thing) == 1 and type(thing[0]) is Outgrown and thing[0].kept:
        return thing[0].kept
    return thing
