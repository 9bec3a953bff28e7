"""What is raised in Python code that native code calls: it is kept, and raised once the native code has returned."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

_kept: dict[int | None, BaseException] = {}
"""By the thread that will raise it; None for those of helpers, which have no caller in Python."""

_unseen: dict[int, BaseException] = {}
"""By the thread that Python does not know, in a function that native code called back."""


def keeping(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for `ctypes`, which would only print an exception. It returns None, or 0, where there is one."""

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: BLE001  KeyboardInterrupt above all
            thread = threading.get_ident()
            known = any(each.ident == thread for each in threading.enumerate())
            _kept.setdefault(thread if known else None, error)
            return None

    return call


def raise_kept() -> None:
    """Raise what native code, called by this thread before, has left. To be called where it did not give a result."""
    if _kept:
        error = _kept.pop(threading.get_ident(), None) or _kept.pop(None, None)
        if error is not None:
            raise error


def unseen(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for threads that Python does not know, where no caller could raise an exception.

    It returns None where there is one, which `take_unseen` gives to who called the native code.
    """

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: BLE001  of a user's function
            _unseen[threading.get_ident()] = error
            return None

    return call


def take_unseen() -> BaseException | None:
    """The exception that a function, called back on this thread, has raised; once."""
    return _unseen.pop(threading.get_ident(), None)
