"""Python's cyclic garbage collector, at rest while a function is traced and compiled."""

from __future__ import annotations

import gc
import os
from contextlib import ContextDecorator

from numbagraph.forking import new_lock

LEAST_KEPT = 100_000
"""The least number of new objects before the oldest generation is collected: a graph and its code are up to 50,000."""


class CollectorAtRest(ContextDecorator):
    """A context, or a decorator, in which nothing is collected, on any thread.

    A graph is thousands of new objects of which none is garbage. They would make the collector look at all objects of
    the process, which takes longer (20 ms in a small one) than to trace a function and to load its code.
    """

    def __init__(self) -> None:
        self.lock = new_lock()
        self.depth = 0
        self.was_enabled = False
        self.are_frozen = False
        self.kept, self.most_kept = 0, LEAST_KEPT
        self.collections = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def __enter__(self) -> None:
        with self.lock:
            if not self.depth:
                self.was_enabled = gc.isenabled()
                gc.disable()
            self.depth += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.depth = max(0, self.depth - 1)
            if not self.depth and self.was_enabled:
                # Counting takes 4 ms for a million frozen objects, so a program that has some is asked once.
                self.are_frozen = self.are_frozen or gc.get_freeze_count() > 0
                if not self.are_frozen:
                    self._keep()
                gc.enable()
            is_due = not self.depth and self.kept > self.most_kept
        if is_due:
            self._collect()

    def keep_for_good(self) -> None:
        """Reset the count of objects made until now: they are modules, which will stay."""
        with self.lock:
            self.kept = 0

    def _keep(self) -> None:
        """Move the objects made until now to the oldest generation. Otherwise they would be collected now, with all
        others."""
        collections = gc.get_stats()[-1]["collections"]
        if collections != self.collections:
            self.kept, self.collections = 0, collections
        self.kept += gc.get_count()[0]
        gc.freeze()
        gc.unfreeze()

    def _collect(self) -> None:
        """Collect the oldest generation. Python does it when a quarter of it is new, but does not count these
        objects."""
        self.kept = 0
        if gc.isenabled():
            gc.collect()
            self.most_kept = max(LEAST_KEPT, len(gc.get_objects(2)) // 4)

    def _after_fork(self) -> None:
        """Reset the state in a child process, which has only the thread that forked: contexts of other threads will not
        end there."""
        if self.depth and self.was_enabled:
            gc.enable()
        self.depth = 0


collector_at_rest = CollectorAtRest()
