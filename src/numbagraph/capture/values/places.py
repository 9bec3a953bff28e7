"""Attributes and elements that a loop or a branch assigns to, of objects and containers from outside: further variables
of it, which are put into place for each pass over its code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.containers import in_region
from numbagraph.capture.values.list_aliases import is_made_here
from numbagraph.capture.values.optional import UNDEFINED
from numbagraph.tracing.retrace import PlacesWritten
from numbagraph.tracing.trace import active, tried
from numbagraph.tracing.tracer import user_source

PASSES = 16
"""The number of passes after which places are taken for those of objects that each pass makes anew."""

State = Sequence[Any]


class Place:
    """An attribute of an object, or an element of a list or a dict."""

    def __init__(self, holder: Any, name: Any, *, is_attribute: bool) -> None:
        self.holder, self.name, self.is_attribute = holder, name, is_attribute
        self.key = id(holder), is_attribute, name

    def __str__(self) -> str:
        kind = getattr(self.holder, "__name__", type(self.holder).__name__)
        return f"{kind}.{self.name}" if self.is_attribute else f"{kind}[{self.name!r}]"

    def get(self) -> Any:
        """Return the value as the program sees it; `UNDEFINED` if there is none."""
        try:
            return getattr(self.holder, self.name) if self.is_attribute else self.holder[self.name]
        except (AttributeError, NameError, LookupError):
            return UNDEFINED

    def own(self) -> Any:
        """Return the value that lies in the object itself, rather than in its class."""
        held = getattr(self.holder, "__dict__", None)
        return held.get(self.name, UNDEFINED) if self.is_attribute and type(held) is dict else self.get()

    def set(self, value: Any) -> None:
        if value is UNDEFINED:
            if self.own() is not UNDEFINED:
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
    if place.key not in journal.variables and place.key not in journal.places:
        journal.places[place.key] = place, place.own()
    place.set(value)


def store(place: Place, value: Any) -> None:
    """Assign the value after a loop or a branch."""
    if in_region() and not is_made_here(place.holder):
        write(place, value)
    else:
        place.set(value)


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
            each.set(value)
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
            values = [each.get() for each in self.places]
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
                store(place, value)
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
                return [*found, *(each.get() for each in self.places)]

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
