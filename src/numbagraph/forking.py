"""Locks for processes that fork while another thread holds them: the child has only the thread that forked."""

from __future__ import annotations

import importlib
import os
import threading
from types import ModuleType
from typing import Any
from weakref import WeakSet

from numbagraph.times import stage

_locks: WeakSet[Any] = WeakSet()


def new_lock() -> Any:
    """Return a reentrant lock, which in a forked child is free if another thread had it.

    So it is for data that can be used whatever such a thread had done, such as a table that is filled at the end.
    """
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _free_locks() -> None:
    for lock in list(_locks):
        if not lock._is_owned():  # by the thread that forked, which goes on
            lock._at_fork_reinit()


importing: Any = threading.RLock()
"""A lock held while modules are imported that a call is the first to need: Python itself does not ensure that a module
which another thread is importing can be imported in a child."""


def import_module(path: str) -> ModuleType:
    """Import a module that a call is the first to need."""
    with importing, stage("imports"):
        return importlib.import_module(path)


_held: list[Any] = [importing]
_taken: list[Any] = []


def hold_across_fork(lock: Any) -> None:
    """Let `fork` wait for a lock whose data would be of no use if a thread had left them half-changed.

    A thread that has one of these locks takes none that was named before it.
    """
    _held.append(lock)


def _take_held() -> None:
    for lock in _held:  # which may become longer while this waits for the first of them
        lock.__enter__()
        _taken.append(lock)


def _release_held() -> None:
    taken = list(_taken)
    _taken.clear()
    for lock in reversed(taken):
        lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)
    os.register_at_fork(before=_take_held, after_in_parent=_release_held, after_in_child=_release_held)
