"""The Python code that runs while a function is traced, and the code that waits for the compiled function's calls."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

_FUNCTIONS = (types.FunctionType, types.MethodType)


class CodeKey(NamedTuple):
    """The key that a function's code shares with the code that capture makes of it."""

    file: str
    line: int
    name: str
    arguments: tuple[str, ...]


def key_of(code: types.CodeType) -> CodeKey:
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return CodeKey(code.co_filename, code.co_firstlineno, code.co_name, arguments)


class Profile:
    """The code that has run on this thread, and the functions that were given to `pure_callback`."""

    def __init__(self) -> None:
        self.run: set[CodeKey] = set()
        self._given: set[CodeKey] = set()

    @property
    def called_back(self) -> frozenset[CodeKey]:
        """The code of callbacks that the trace has not run itself."""
        return frozenset(self._given - self.run)

    def note_callback(self, callback: Any) -> None:
        code = code_of(callback)
        if code is not None:
            self._given.add(key_of(code))

    @contextmanager
    def watching(self, pure_callback: Callable[..., Any]) -> Iterator[None]:
        """Note the code that runs, except under a profiler of the user's: Python has room for one alone."""
        if sys.getprofile() is not None:
            yield
            return
        entry = pure_callback.__code__

        def see(frame: types.FrameType, event: str, _argument: Any) -> None:
            if event != "call":
                return
            if frame.f_code is entry:
                self.note_callback(frame.f_locals["callback"])
            else:
                self.run.add(key_of(frame.f_code))

        sys.setprofile(see)
        try:
            yield
        finally:
            sys.setprofile(None)


def code_of(callback: Any) -> types.CodeType | None:
    """The code that a call runs, if it is Python's."""
    while issubclass(type(callback), functools.partial):
        callback = callback.func
    if not issubclass(type(callback), _FUNCTIONS):
        callback = next((vars(each)["__call__"] for each in type(callback).__mro__ if "__call__" in vars(each)), None)
    code = getattr(callback, "__code__", None) if issubclass(type(callback), _FUNCTIONS) else None
    return code if type(code) is types.CodeType else None
