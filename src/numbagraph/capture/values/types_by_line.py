"""The types of the elements of containers, by the place where a container is made, which one trace keeps for the
next."""

from __future__ import annotations

from typing import Any

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.list_buffer import Elements
from numbagraph.tracing.retrace import KeysNeeded
from numbagraph.tracing.trace import active
from numbagraph.tracing.tracer import user_source


class Types:
    """The types of the elements, or the keys, or the values, of a container that is made at a place."""

    def __init__(self, place: Any, part: str, what: str) -> None:
        self.entry = (place, part)
        self.known = Elements(what)
        if (found := active.widened.get(self.entry)) is not None:
            self.known.spec, kinds = found
            self.known.kinds, self.known.shapes = list(kinds), [()] * len(kinds)
        self.first = self.found()

    def found(self) -> tuple[Any, tuple[Any, ...]]:
        return self.known.spec, tuple(self.known.kinds)

    def begin(self) -> None:
        """Raise where no earlier trace has found such a container."""
        if self.entry not in active.widened:
            active.widened[self.entry] = (None, ())
            raise KeysNeeded(f"{self.known.what} is met at a traced place\n  at {user_source()}")

    def admit(self, element: Any) -> None:
        """Raise for an element of other types than those before: the function is traced again, with a container for
        both."""
        values, _ = self.known.admit(element)
        if any(each.ndim for each in values):
            raise CaptureError(
                f"{self.known.what} holds arrays: let it hold numbers and tuples of known length, such as the row of a "
                f"matrix to look at\n  at {user_source()}"
            )
        if self.found() != self.first:  # also where nobody has seen the first error
            active.widened[self.entry] = self.found()
            raise KeysNeeded(f"the elements of {self.known.what} are of several types\n  at {user_source()}")
