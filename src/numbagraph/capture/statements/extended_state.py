"""Loops and branches whose attributes and elements of things from outside, which they assign to, are variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.optional import UNDEFINED
from numbagraph.capture.values.places import ABSENT, Place, store
from numbagraph.tracing.retrace import PlacesWritten
from numbagraph.tracing.trace import active, tried
from numbagraph.tracing.tracer import user_source

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
    """A loop or a branch with places as further variables."""

    def __init__(self, names: Sequence[str], state: State) -> None:
        self.names, self.state = names, state
        self.places: list[Place] = []

    def run(self, function: Callable[[Sequence[str], State], State]) -> State:
        """Return the variables after the loop or branch, which ``function`` traces. Put those that are places there."""
        for _ in range(PASSES):
            values = [value_at(each) for each in self.places]
            try:
                with tried():
                    found = function((*self.names, *map(str, self.places)), (*self.state, *values))
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
            return found[:count]
        raise CaptureError(
            f"{self.places[-1]} is assigned to in a loop or a branch on traced values, of an object that each step "
            f"makes anew: return the new value\n  at {user_source()}"
        )

    def body(self, function: Callable[..., State]) -> Callable[..., State]:
        """Return a function of all variables, and of what comes before them, that returns all variables."""

        def run(*given: Any) -> State:
            if not self.places:
                return function(*given)
            count = len(given) - len(self.places)
            with in_place(self.places, given[count:]):
                found = function(*given[:count])
                return [*found, *(value_at(each) for each in self.places)]

        return run

    def step(self, function: Callable[..., tuple[Any, State]]) -> Callable[..., tuple[Any, State]]:
        """Return the body of a ``for`` loop, which returns whether the loop ends beside the variables."""
        ended: list[Any] = []

        def variables(*given: Any) -> State:
            flag, found = function(*given)
            ended[:] = [flag]
            return found

        whole = self.body(variables)

        def run(*given: Any) -> tuple[Any, State]:
            found = whole(*given)
            return ended[0], found

        return run

    def test(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a condition of all variables."""
        whole = self.body(lambda *given: [function(*given)])
        return lambda *given: whole(*given)[0]
