"""Blocks of code (``with``) that choose something other than the default."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from numbagraph.forking import new_lock

T = TypeVar("T")


class Blocks:
    """The number of ``with`` blocks of all threads that have made a `Choice`. While it is 0, a call need not look up
    choices."""

    __slots__ = ("_lock", "count")  # read by native code

    def __init__(self) -> None:
        self.count = 0
        self._lock = new_lock()

    def add(self, number: int) -> None:
        with self._lock:
            self.count += number


blocks = Blocks()


class Choice(threading.local, Generic[T]):
    """A choice that a ``with`` block makes for its thread. The innermost block counts."""

    def __init__(self, usual: T) -> None:
        self.value = usual

    @contextmanager
    def block(self, value: T) -> Iterator[None]:
        previous, self.value = self.value, value
        blocks.add(1)
        try:
            yield
        finally:
            self.value = previous
            blocks.add(-1)
