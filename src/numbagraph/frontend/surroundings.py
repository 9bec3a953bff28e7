"""The states of the world around a compiled function, of which it has versions: globals, closure cells, attributes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Sequence
from typing import Any

from numbagraph.frontend.reach import Reach
from numbagraph.frontend.user_code import OWN

MOST_STATES = 8


class Surroundings:
    """What the versions of one function have read of the world around it."""

    def __init__(self, function: Any, described: str) -> None:
        self.function = function
        self.described = described
        self._known: dict[Hashable, tuple[Reach, ...]] = {}
        """By the static arguments, newest last."""
        self._has_warned = False

    def find(self, static: Hashable) -> Reach | None:
        """The state that the world is in, if there are versions for it."""
        return next((each for each in reversed(self._known.get(static, ())) if each.guards.hold()), None)

    def add(self, static: Hashable, arguments: Sequence[Any]) -> tuple[Reach, Reach | None]:
        """The state that the world is in, and the one whose versions go in its place, if there are too many."""
        known = self._known.get(static, ())
        found = Reach(self.function, arguments)
        self._known[static] = (*known[-MOST_STATES + 1 :], found)
        if len(known) < MOST_STATES:
            return found, None
        if not self._has_warned:
            self._has_warned = True
            names = ", ".join(dict.fromkeys(known[-1].guards.changed()))
            warnings.warn(
                f"{self.described} has been compiled {MOST_STATES} times because {names} was bound to something else: "
                f"pass it as an argument, so that one version serves for all its values",
                RuntimeWarning,
                stacklevel=_depth(),
            )
        return found, known[0]

    def clear(self) -> None:
        self._known = {}


def _depth() -> int:
    """How far up the user's line stands, as a function that `add` calls counts it for a warning."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN):
        frame, depth = frame.f_back, depth + 1
    return depth
