"""What collects the guards that arise while types are inferred."""

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
    """What a function that is being traced requires of its arguments."""

    def __init__(self) -> None:
        self.guards: list[Any] = []
        """`numbagraph.ir.graph.Guard`."""
        self.equalities: list[Any] = []
        """`numbagraph.ir.graph.DimEquality`."""
        self.watch: Callable[[Any], None] | None = None
        """Is told of each node, while somebody asks which of them check what they are given as they run."""

    def add(self, guard: Requirement) -> None:
        if all(guard.condition is not known.condition for known in self.guards):
            self.guards.append(guard)


_collectors = threading.local()


def active_collector() -> GuardCollector | None:
    """What collects the guards that arise now; None outside of traces."""
    return getattr(_collectors, "current", None)


@contextmanager
def collect_guards() -> Iterator[GuardCollector]:
    """Guards that arise inside belong to the collector."""
    previous = active_collector()
    _collectors.current = GuardCollector()
    try:
        yield _collectors.current
    finally:
        _collectors.current = previous


def with_requirements(infer: Callable[[], T]) -> tuple[T, tuple[Requirement, ...]]:
    """What a function gives, and the guards that arise in it, which are not those of the trace yet."""
    previous, own = active_collector(), GuardCollector()
    if previous is not None:  # lengths that were unified stay so, even where shapes do not fit in the end
        own.equalities = previous.equalities
    _collectors.current = own
    try:
        return infer(), tuple(own.guards)
    finally:
        _collectors.current = previous
