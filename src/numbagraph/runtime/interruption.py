"""Exceptions of Python code that native code calls: each is kept, and raised once the native code has returned."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

_kept: dict[int | None, BaseException] = {}
"""The exceptions by the thread that will raise them; None stands for helpers, which have no caller in Python."""

_unseen: dict[int, BaseException] = {}
"""The exceptions by threads that Python does not know, in functions that native code called back."""


def keeping(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function for `ctypes`, which would only print an exception: the exception is kept, and the result is None,
    or 0."""

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
    """Raise the exception that native code left, which this thread called. To be called where that code gave no
    result."""
    if _kept:
        error = _kept.pop(threading.get_ident(), None) or _kept.pop(None, None)
        if error is not None:
            raise error


def unseen(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function for threads that Python does not know, where no caller could raise an exception.

    The wrapper returns None if there is one, and `take_unseen` returns the exception to the caller of the native code.
    """

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: BLE001  of a user's function
            _unseen[threading.get_ident()] = error
            return None

    return call


def take_unseen() -> BaseException | None:
    """Return the exception of a function that was called back on this thread, and forget it; None if there is none."""
    return _unseen.pop(threading.get_ident(), None)
