"""Arrays that can no longer be read, since they may share their memory with others that have changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numbagraph.ir.values import Value
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.trace import active

OUTSIDE = "an array of an enclosing scope"
"""An array that the function has not been given, nor made."""


class Stale:
    """A placeholder for the value of an array that may share its memory with another one, which has changed since."""

    _MAY_BE_VIEW = (
        "this array may be a view of one that has been assigned to since: reshape, ravel, asfortranarray and the like "
        "give a view or a copy, as the memory order allows, and view(dtype) is for reading. Copy it before the "
        "assignment (x.copy()), or make it afterwards"
    )

    OWNED = "an array that may be another variable's too, as a loop or a branch on traced values chose it,"
    ASSIGNED = (
        "the result of a loop, which may be this array, has been assigned to: copy the result before (x.copy()), or "
        "begin the loop with a copy"
    )
    SHARED = (
        "a loop or a branch on traced values chose this array, and it may be one that has been assigned to since: copy "
        "it before"
    )

    def __init__(self, what: Value | Stale, why: str = _MAY_BE_VIEW) -> None:
        self._text = f"{why}\n  assigned at {user_source()}"
        if isinstance(what, Value):
            self._text = f"{self._text}\n  on {what.type}"

    def __getattr__(self, name: str) -> Any:
        raise TraceError(f"{self._text}\n  at {user_source()}")


class Sources:
    """The arrays that the result of a loop may be. An assignment to the result may be one to any of them: their
    elements are not known from then on."""

    def __init__(self, arrays: Sequence[Any], apart: Sequence[Any], require_steps: Callable[[], None] | None) -> None:
        self.arrays = arrays
        self.apart = apart
        """Other results of the loop, none of which is the same array as this one."""
        self.require_steps = require_steps
        """Requires that the loop takes a step, where without one the result may be yet another array."""

    def __str__(self) -> str:
        return Stale.OWNED

    def give_up(self, result: Any) -> str:
        """Make the arrays unreadable, and return an empty text; or return the reason why the result must not be
        assigned to: an array of an enclosing region is still read there."""
        scope = active.scope
        for each in (result, *self.arrays):
            is_inside = scope is not None and scope.journal is not None and id(each) in scope.journal.roots
            if each._scope is not scope or is_inside:
                return Stale.OWNED
        for each in self.arrays:
            if isinstance(each._foreign, Sources):
                each._foreign = each._foreign.give_up(each)
            if each._foreign:
                return Stale.OWNED
        if self.require_steps is not None:
            self.require_steps()
        kept = {id(each) for each in (result, *self.apart)}
        for each in self.arrays:
            each._views = [view for view in each._views if id(view()) not in kept]
            if not isinstance(each.value, Stale):
                each._renew(Stale(each.value, Stale.ASSIGNED))
        return ""
