"""Arrays that several variables of a loop share.

What a loop carries, it carries by value. That is what Python does as long as nobody assigns to the elements of an array
that has another name, too; where somebody may, the loop is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from numbagraph.frontend.capture.branches import Ending, share
from numbagraph.frontend.capture.source import CaptureError
from numbagraph.frontend.capture.state import Parts, shown
from numbagraph.frontend.capture.storages import forget, root_of
from numbagraph.frontend.tracing import Tracer, user_source
from numbagraph.ir.graph import Guard
from numbagraph.ir.values import Value

DEFINED = -1
"""In place of the number of a leaf: whether the variable is defined."""

Key = tuple[int, int]


class Found(NamedTuple):
    """What one pass over the body has found."""

    starts: list[Parts]
    ends: list[Ending]
    test: Value | None
    test_guards: tuple[Guard, ...]
    roots: dict[Key, Tracer]
    """The arrays that stood for carried ones."""
    written: set[Key]
    """Those of them that the body has written."""
    ending_roots: dict[Key, Tracer]
    """The arrays that variables are, or are views of, after a step."""
    entered: dict[int, Value]
    """What the arrays from outside were before the step, by their identity."""


class Aliases:
    """The arrays that the variables of a loop are, before it and after a step."""

    def __init__(
        self,
        names: Sequence[str],
        leaf: Callable[[int, int], Any],
        found: Found,
        carried: Collection[Key],
        arrays: Mapping[int, Tracer],
        read: Mapping[int, Tracer],
    ) -> None:
        self.names = names
        self.found = found
        self.arrays = arrays
        """Those from outside that the loop assigns to, by identity."""
        self.read = read
        """Those from outside that it reads."""
        self.starts = {key: root_of(each) for key in carried if is_array(each := leaf(*key))}
        self.ends = {key: root for key, root in found.ending_roots.items() if key in carried}

    def reachable(self) -> set[Key]:
        """The variables whose arrays before the loop are written: a step may bind them to each other's."""
        own = {id(root): key for key, root in self.found.roots.items()}
        pending, done = list(self.found.written), set(self.found.written)
        while pending:
            key = own.get(id(self.ends.get(pending.pop())))
            if key is not None and key not in done:
                done.add(key)
                pending.append(key)
        return done

    def require_apart(self) -> None:
        """Raise where an array is assigned to that a carried variable is, under another name."""
        for key in [*self.starts, *self.ends]:
            if any(id(each.get(key)) in self.arrays for each in (self.starts, self.ends)):
                raise self.refusal(key)
        written = self.reachable()
        for key in written:
            start = self.starts.get(key)
            others = [each for other, each in self.starts.items() if other != key]
            if start is not None and (id(start) in self.read or any(start is each for each in others)):
                raise self.refusal(key)
        if not self.found.written:
            return
        own = {id(root) for root in self.found.roots.values()}
        ends = list(self.found.ending_roots.items())
        for position, (key, root) in enumerate(ends):
            is_outside = id(root) not in own and root._scope is not None and not root._scope.ended
            if is_outside or any(root is each for _, each in ends[:position]):
                raise self.refusal(key)

    def refusal(self, key: Key) -> CaptureError:
        return CaptureError(
            f"{shown(self.names[key[0]])} and another variable are one array in a loop that also assigns to its "
            f"elements: copy it (x.copy())\n  at {user_source()}"
        )

    def forget_rebound(self) -> None:
        """Arrays before a loop that its variables have been bound to and written through are known no more."""
        for key in self.reachable():
            start = self.starts.get(key)
            if start is None:
                continue
            name = shown(self.names[key[0]])
            if start._foreign:
                raise CaptureError(
                    f"{name} begins as {start._foreign}, is bound to other arrays in a loop on traced values, and "
                    f"assigned to: begin with a copy (x.copy())\n  at {user_source()}"
                )
            forget(start, f"{name} was bound to other arrays in a loop, and assigned to: copy it before")

    def note_shared(self, tracers: Mapping[Key, Tracer]) -> None:
        """Variables after the loop that may be one array are not written."""
        ends = list(self.ends.items())
        for position, (key, root) in enumerate(ends):
            share(tracers[key], root)
            for other, each in ends[:position]:
                if each is root:
                    tracers[key]._share_with(tracers[other])
                    tracers[other]._share_with(tracers[key])


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, Tracer) and leaf._is_array


def ending_roots(ends: Sequence[Ending]) -> dict[Key, Tracer]:
    """The arrays that variables are, or are views of, after a step."""
    return {
        (number, place): root_of(leaf.object)
        for number, end in enumerate(ends)
        for place, leaf in enumerate(end.leaves)
        if is_array(leaf.object)
    }
