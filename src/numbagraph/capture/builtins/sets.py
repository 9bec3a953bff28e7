"""Operators and methods of sets whose elements are traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from numbagraph.capture.polyfills import hash_table
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.traced_keys import place_of
from numbagraph.capture.values.types_by_line import Types
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import user_source

WHAT = "a dict or a set with traced keys"
Change = Callable[[Any, Any], None]


class SetOperators:
    """The operators and methods of a table that stands for a set. Their loops are converted like a user's."""

    @property
    def python_name(self) -> str:
        """The name of the class that the table stands for."""
        raise NotImplementedError

    @property
    def is_set(self) -> bool:
        return self.python_name == "set"

    def copy(self) -> SetOperators:
        """A table with the same keys."""
        raise NotImplementedError

    def listed(self) -> Iterable[Any]:
        """The keys as a list."""
        raise NotImplementedError

    def require_set(self) -> None:
        if not self.is_set:
            raise CaptureError(
                f"this use of a {self.python_name} with traced keys: loop over its elements\n  at {user_source()}"
            )

    def refused(self) -> Any:
        """Return NotImplemented for an operand that is no set. Raise if this table is none either."""
        self.require_set()
        return NotImplemented

    def changed(self, change: Change, *others: Any) -> Any:
        """Change this set by others, one after the other, and return it."""
        self.require_set()
        for each in others:
            if change is not hash_table.joined and not is_set(each):
                each = converted(set)(each)
            other = self.copy() if each is self else each
            converted(change)(self, elements_of(other) if change in (hash_table.joined, hash_table.toggled) else other)
        return self

    def asked(self, question: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
        self.require_set()
        one, other = (each if is_set(each) else converted(set)(each) for each in (one, other))
        return converted(question)(elements_of(one), other)

    def require_remade(self, other: Any) -> None:
        """Raise where another set, known so far, is to take elements of this one: the function is traced again, with a
        table in its place."""
        if isinstance(other, set) and (place := place_of(other)) is not None:
            Types(place, "keys", WHAT).begin()

    # ---- new sets ----

    def union(self, *others: Any) -> Any:
        return self.copy().changed(hash_table.joined, *others)

    def intersection(self, *others: Any) -> Any:
        return self.copy().changed(hash_table.common, *others)

    def difference(self, *others: Any) -> Any:
        return self.copy().changed(hash_table.without, *others)

    def symmetric_difference(self, other: Any) -> Any:
        return self.copy().changed(hash_table.toggled, other)

    def __or__(self, other: Any) -> Any:
        return self.union(other) if is_set(other) else self.refused()

    def __and__(self, other: Any) -> Any:
        return self.intersection(other) if is_set(other) else self.refused()

    def __sub__(self, other: Any) -> Any:
        return self.difference(other) if is_set(other) else self.refused()

    def __xor__(self, other: Any) -> Any:
        return self.symmetric_difference(other) if is_set(other) else self.refused()

    def __ror__(self, other: Any) -> Any:
        self.require_remade(other)
        return self | other

    def __rand__(self, other: Any) -> Any:
        self.require_remade(other)
        return self & other

    def __rsub__(self, other: Any) -> Any:
        self.require_remade(other)
        return self.symmetric_difference(other).difference(self) if is_set(other) else self.refused()

    def __rxor__(self, other: Any) -> Any:
        self.require_remade(other)
        return self ^ other

    # ---- this set ----

    def intersection_update(self, *others: Any) -> None:
        self.changed(hash_table.common, *others)

    def difference_update(self, *others: Any) -> None:
        self.changed(hash_table.without, *others)

    def symmetric_difference_update(self, other: Any) -> None:
        self.changed(hash_table.toggled, other)

    def __ior__(self, other: Any) -> Any:
        return self.changed(hash_table.joined, other) if is_set(other) else self.refused()

    def __iand__(self, other: Any) -> Any:
        return self.changed(hash_table.common, other) if is_set(other) else self.refused()

    def __isub__(self, other: Any) -> Any:
        return self.changed(hash_table.without, other) if is_set(other) else self.refused()

    def __ixor__(self, other: Any) -> Any:
        return self.changed(hash_table.toggled, other) if is_set(other) else self.refused()

    # ---- comparisons ----

    def issubset(self, other: Any) -> Any:
        return self.asked(hash_table.are_in, self, other)

    def issuperset(self, other: Any) -> Any:
        return self.asked(hash_table.are_in, other, self)

    def isdisjoint(self, other: Any) -> Any:
        return self.asked(hash_table.are_outside, self, other)

    def __le__(self, other: Any) -> Any:
        return self.issubset(other) if is_set(other) else self.refused()

    def __ge__(self, other: Any) -> Any:
        return self.issuperset(other) if is_set(other) else self.refused()

    def __lt__(self, other: Any) -> Any:
        return self.asked(hash_table.are_some_of, self, other) if is_set(other) else self.refused()

    def __gt__(self, other: Any) -> Any:
        return self.asked(hash_table.are_some_of, other, self) if is_set(other) else self.refused()


def is_set(thing: Any) -> bool:
    return isinstance(thing, (set, frozenset)) or (isinstance(thing, SetOperators) and thing.is_set)


def elements_of(found: Any) -> Any:
    """The elements of a set in whatever order."""
    if isinstance(found, SetOperators):
        return found.listed()
    return list(found) if isinstance(found, (set, frozenset)) else found
