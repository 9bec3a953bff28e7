"""Loops and branches whose attributes and elements of things from outside, which they assign to, are variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.list_aliases import is_tuple
from numbagraph.capture.values.optional import UNDEFINED
from numbagraph.capture.values.places import ABSENT, Place, store
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.retrace import ConditionWrites, PlacesWritten
from numbagraph.tracing.trace import active, tried
from numbagraph.tracing.tracer import Tracer, user_source

_IMMUTABLE_TYPE = 1 << 8
PASSES = 16
"""The number of passes after which places are taken for those of objects that each pass makes anew."""

State = Sequence[Any]


def value_at(place: Place) -> Any:
    """Return the value of a place as a variable."""
    found = place.get()
    return UNDEFINED if found is ABSENT else found


def put(place: Place, value: Any) -> None:
    place.set(ABSENT if value is UNDEFINED else value)


@contextmanager
def in_place(places: Sequence[Place], values: State) -> Iterator[None]:
    """Put the values of variables into their places inside of the block."""
    before = [each.own() for each in places]
    scope = active.scope
    variables = scope.journal.variables if scope is not None and scope.journal is not None else set()
    added = {each.key for each in places} - variables
    variables |= added
    try:
        for each, value in zip(places, values, strict=True):
            put(each, value)
        yield
    finally:
        variables -= added
        for each, old in zip(places, before, strict=True):
            each.set(old)


class Extended:
    """A loop or a branch with places as further variables. Variables that are never bound there, and are objects, are
    none: their attributes are places.

    Parameters
    ----------
    names, state
        The variables, and what they are before.
    kept
        The names of those that are never bound there.
    """

    def __init__(self, names: Sequence[str], state: State, kept: Sequence[str] = ()) -> None:
        pairs = list(zip(names, state, strict=True))
        self.fixed = {number: each for number, (name, each) in enumerate(pairs) if name in kept and is_instance(each)}
        own = [pair for number, pair in enumerate(pairs) if number not in self.fixed]
        self.names, self.state = [name for name, _ in own], [each for _, each in own]
        self.places: list[Place] = []

    def run(self, function: Callable[[Sequence[str], State], State]) -> State:
        """Return the variables after the loop or branch, which ``function`` traces. Put those that are places there."""
        for _ in range(PASSES):
            values = [value_at(each) for each in self.places]
            names = [each.variable() for each in self.places]
            try:
                with tried():
                    found = function((*self.names, *names), (*self.state, *values))
            except PlacesWritten as written:
                known = {each.key for each in self.places}
                new = [each for each in written.places if each.key not in known]
                if not new:
                    raise
                self.places += new
                continue
            count = len(self.state)
            for place, value in zip(self.places, found[count:], strict=True):
                store(place, ABSENT if value is UNDEFINED else value)
            return self._with_fixed(found[:count])
        raise CaptureError(
            f"{self.places[-1]} is assigned to in a loop or a branch on traced values, of an object that each step "
            f"makes anew: return the new value\n  at {user_source()}"
        )

    def _with_fixed(self, variables: State) -> list[Any]:
        found = list(variables)
        for number, each in self.fixed.items():
            found.insert(number, each)
        return found

    def _inside(self, function: Callable[..., Any], given: State) -> tuple[Any, list[Any]]:
        """Call a function of all variables, and of what comes before them. Return its result, and the places' values
        by then."""
        count = len(given) - len(self.places)
        first = count - len(self.state)
        with in_place(self.places, given[count:]):
            found = function(*given[:first], *self._with_fixed(given[first:count]))
            return found, [value_at(each) for each in self.places]

    def body(self, function: Callable[..., State]) -> Callable[..., State]:
        """Return a function of all variables, and of what comes before them, that returns all variables."""

        def run(*given: Any) -> State:
            found, values = self._inside(function, given)
            return [*(each for number, each in enumerate(found) if number not in self.fixed), *values]

        return run

    def step(self, function: Callable[..., tuple[Any, State]]) -> Callable[..., tuple[Any, State]]:
        """Return the body of a ``for`` loop, which returns whether the loop ends beside the variables."""

        def run(*given: Any) -> tuple[Any, State]:
            (ended, found), values = self._inside(function, given)
            return ended, [*(each for number, each in enumerate(found) if number not in self.fixed), *values]

        return run

    def result(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of all variables that returns its result before the variables."""

        def run(*given: Any) -> list[Any]:
            found, values = self._inside(function, given)
            count = len(given) - len(self.places)
            return [found, *given[count - len(self.state) : count], *values]

        return run

    def test(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a condition of all variables. It raises `ConditionWrites` if it changes any."""

        def run(*given: Any) -> Any:
            found, values = self._inside(function, given)
            if any(one is not other for one, other in zip(values, given[len(given) - len(values) :], strict=True)):
                raise ConditionWrites
            return found

        return run


def is_instance(thing: Any) -> bool:
    """Whether something is an object of a user's class, and no container."""
    if isinstance(thing, (Tracer, OnlyTraced, np.ndarray, type, list, dict, set, deque)) or is_tuple(thing):
        return False
    return not type(thing).__flags__ & _IMMUTABLE_TYPE
