"""The states of the world around a compiled function, of which it has versions: globals, closure cells, attributes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from numbagraph.purity.reachable_code import Walk
from numbagraph.purity.trace_profile import CodeKey, Profile
from numbagraph.runtime.guards import Guards
from numbagraph.tracing.user_code import OWN

MOST_STATES = 8
MOST_TRACES = 3
"""The greatest number of traces of a function that changes what it reads, or whose names another thread rebinds."""


class Reach:
    """The code and the objects that one compiled function reaches, with guards on the names that lead to them."""

    def __init__(self, function: Any, arguments: Iterable[Any] = (), left_out: Collection[Any] = ()) -> None:
        self._function = function
        self._left_out = left_out
        """The holders, by identity, and keys of entries that have no guards, since calls write them."""
        self._arguments = tuple(arguments)
        self._walk: Walk | None = Walk(function, self._arguments)
        self._called_back: frozenset[CodeKey] | None = None
        """Code that is not guarded, since no trace has run it; None before the first trace."""
        self.guards = self._guards_of(self._walk.guards)

    def _guards_of(self, found: Mapping[Any, Any]) -> Guards:
        return Guards([each for key, each in found.items() if key not in self._left_out])

    def walk(self) -> Walk:
        """Return a walk, for one trace, over all that the function may run now: contents and code may change, which no
        guard sees."""
        found, self._walk = self._walk, None
        return found or Walk(self._function, self._arguments)

    def leave_out_callbacks(self, profile: Profile) -> bool:
        """Drop the guards on names that only callbacks read: callbacks see the world as it is when they are called.
        Return False if the trace has run code that an earlier trace left out."""
        if self._called_back is not None:
            return self._called_back.isdisjoint(profile.run)
        self._called_back = profile.called_back
        if self._called_back:
            needed = Walk(self._function, self._arguments, self._called_back).guards
            self.guards = self._guards_of(
                {key: each for each in self.guards.guards if (key := (id(each.owner), each.key)) in needed}
            )
        return True


class Surroundings:
    """The states of the world around one function that its versions were made for."""

    def __init__(self, function: Any, described: str) -> None:
        self.function = function
        self.described = described
        self._known: dict[Hashable, tuple[Reach, ...]] = {}
        """The states by the static arguments, newest last."""
        self._has_warned = False
        self._left_out: Collection[Any] = ()

    def leave_out(self, entries: Collection[Any]) -> None:
        """Set no guards on some entries from now on, and forget all states."""
        self._left_out, self._known = frozenset(entries), {}

    def find(self, static: Hashable) -> Reach | None:
        """Return the state that the world is in, or None if there are no versions for it."""
        return next((each for each in reversed(self._known.get(static, ())) if each.guards.hold()), None)

    def add(self, static: Hashable, arguments: Sequence[Any]) -> tuple[Reach, Reach | None]:
        """Add the state that the world is in. Return it, and the state that it replaces, if there are too many."""
        known = self._known.get(static, ())
        found = Reach(self.function, arguments, self._left_out)
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
                stacklevel=depth_of_user(),
            )
        return found, known[0]

    def clear(self) -> None:
        self._known = {}


class Made(NamedTuple):
    """The result of making something of a function, with the state of the world that it was made in."""

    found: Any
    reach: Reach
    """The state of the world that the function read, as it was before."""
    is_valid: bool
    """Whether that state still held afterwards. Otherwise ``found`` belongs to no state of the world, and must not be
    kept."""

    def require_valid(self, described: str) -> None:
        if not self.is_valid:
            names = ", ".join(dict.fromkeys(self.reach.guards.changed())) or "what it reads"
            raise RuntimeError(
                f"{described}: {names} changed each of the {MOST_TRACES} times that it was traced, and native callers "
                f"keep what they are compiled with: pass it as an argument, or compile when it rests"
            )


def make_while_unchanged(look: Callable[[], Reach], make: Callable[[Walk], Any], attempts: int = MOST_TRACES) -> Made:
    """Call ``make`` until the state that the function reads is the same before and after, or attempts run out."""
    reach = look()
    walk, profile = reach.walk(), Profile()
    with profile.watching(walk.pure_callback) if walk.pure_callback is not None else nullcontext():
        found = make(walk)
    made = Made(found, reach, reach.guards.hold() and reach.leave_out_callbacks(profile))
    return made if made.is_valid or attempts == 1 else make_while_unchanged(look, make, attempts - 1)


def depth_of_user() -> int:
    """The number of frames from the caller up to the user's line, as `warnings.warn` counts them."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN):
        frame, depth = frame.f_back, depth + 1
    return depth
