"""Collectors of the guards that arise while types are inferred."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Requirement(Protocol):
    """A guard: what must hold where a program is entered, or where a region runs."""

    @property
    def condition(self) -> Any: ...


class GuardCollector:
    """The guards and equalities of lengths that a function requires of its arguments, collected while it is traced."""

    def __init__(self) -> None:
        self.guards: list[Any] = []
        """The guards, of type `numbagraph.ir.graph.Guard`."""
        self.equalities: list[Any] = []
        """The equalities of lengths, of type `numbagraph.ir.graph.DimEquality`."""
        self.watch: Callable[[Any], None] | None = None
        """A function that is called with each node as it is made, or None."""

    def add(self, guard: Requirement) -> None:
        if all(guard.condition is not known.condition for known in self.guards):
            self.guards.append(guard)


_collectors = threading.local()


def active_collector() -> GuardCollector | None:
    """Return the collector of the guards that arise now; None outside of traces."""
    return getattr(_collectors, "current", None)


@contextmanager
def collect_guards() -> Iterator[GuardCollector]:
    """Open a new collector, to which the guards that arise inside the context belong."""
    previous = active_collector()
    _collectors.current = GuardCollector()
    try:
        yield _collectors.current
    finally:
        _collectors.current = previous


def with_requirements(infer: Callable[[], T]) -> tuple[T, tuple[Requirement, ...]]:
    """Return the result of ``infer``, and the guards that arise in it, which are not added to those of the trace."""
    previous, own = active_collector(), GuardCollector()
    if previous is not None:  # lengths that were unified stay so, even where shapes do not fit in the end
        own.equalities = previous.equalities
    _collectors.current = own
    try:
        return infer(), tuple(own.guards)
    finally:
        _collectors.current = previous
