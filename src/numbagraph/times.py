"""The times of the stages of compilation, which ``NUMBAGRAPH_DEBUG=times`` prints."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

ENOUGH = 0.0005
"""The seconds below which a stage is not printed."""


class _Clock(threading.local):
    """The stages that a thread is in, and the seconds that it has spent in each but not in others inside of it."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.seconds: dict[str, float] = {}
        self.since = 0.0

    def turn(self) -> None:
        """Count the time that has passed for the stage that is the innermost one now."""
        now = perf_counter()
        if self.stages:
            name = self.stages[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self.since
        self.since = now


_clock = _Clock()


def are_wanted() -> bool:
    return os.environ.get("NUMBAGRAPH_DEBUG") == "times"


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Count the time that is spent inside for a stage, if times are wanted."""
    if not are_wanted():
        yield
        return
    _clock.turn()
    _clock.stages.append(name)
    try:
        yield
    finally:
        _clock.turn()
        _clock.stages.pop()


def report(name: str) -> None:
    """Print the times since the last report to standard error, for a function that can be called now."""
    if not (_clock.seconds and are_wanted()):
        return
    found, _clock.seconds = _clock.seconds, {}
    parts = [f"{stage} {1000 * seconds:.1f}" for stage, seconds in found.items() if seconds >= ENOUGH]
    if parts:
        sys.stderr.write(f"# {name}: {1000 * sum(found.values()):.1f} ms ({', '.join(parts)})\n")
