"""Blocks of code (`with`) that have chosen something else than the usual."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from numbagraph.forking import new_lock

T = TypeVar("T")


class Blocks:
    """How many there are, in any thread. Where there is none, a call need not ask what has been chosen."""

    __slots__ = ("_lock", "count")  # read by native code

    def __init__(self) -> None:
        self.count = 0
        self._lock = new_lock()

    def add(self, number: int) -> None:
        with self._lock:
            self.count += number


blocks = Blocks()


class Choice(threading.local, Generic[T]):
    """What the block of code that a thread runs has chosen. The innermost block counts."""

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
