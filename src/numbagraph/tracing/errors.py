"""Errors of traced functions, with the line of the user's code that they are about."""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.sources import Source
from numbagraph.ir.values import Dim, Input, Node, Value, extent_values
from numbagraph.tracing.line_numbers import line_numbers
from numbagraph.tracing.user_code import NUMERICAL, OWN, library_of


class TraceError(TypeError):
    """Something that cannot be done with an array whose elements are not known yet."""

    __module__ = "numbagraph.errors"


class UnknownValueError(TraceError):
    """An error for Python code that needs a value not known during tracing: a truth, a number, a text, a length."""

    __module__ = "numbagraph.errors"


class SideEffectError(TraceError):
    """A function that does or reads something that would happen once, while it is traced, and not in each call.
    ``origins`` are the entries of objects that it has written, if these are all that it has done."""

    def __init__(self, text: str, origins: Sequence[Any] = ()) -> None:
        super().__init__(text)
        self.origins = tuple(origins)

    __module__ = "numbagraph.errors"


class EscapedError(TraceError):
    """A traced array that is used outside of the trace that it belongs to."""

    __module__ = "numbagraph.errors"


_TRACES = f"{OWN}jit{os.sep}version.py"
"""The file whose functions begin a trace: what they call is the user's function."""
_MOST_CALLS = 50
"""The number of calls that are kept of those that lead to a line."""


class OnlyTraced:
    """Something that has a meaning only while a function is traced."""

    __slots__ = ()
    advice = "return arrays and numbers"
    has_operators = False
    """Whether this has operators in common with arrays."""

    def operand(self) -> Any:
        """Return the object that stands for this one as an operand."""
        return self

    def arrays(self) -> tuple[Any, ...]:
        """The traced arrays that calls of this object change."""
        return ()


def user_source() -> Source | None:
    """The line of the user's code that is being run: the innermost frame outside of these libraries; with the calls
    that lead there from the function that is traced."""
    frame = sys._getframe(1)
    while frame is not None and _roles[frame.f_code.co_filename] is not None:
        frame = frame.f_back
    if frame is None:
        return None
    source = Source(frame.f_code.co_filename, line_numbers.of(frame), [(frame.f_code, frame.f_lasti)])
    calls = source.frames.copy()
    frame = frame.f_back
    while frame is not None:
        code = frame.f_code
        role = _roles[code.co_filename]
        if role is None:
            calls.append((code, frame.f_lasti))
        if role is _TRACES or len(calls) > _MOST_CALLS:
            source.frames = calls
            break
        frame = frame.f_back
    return source  # outside of a trace, the traceback has the calls


class _Roles(dict[str, str | None]):
    """By the name of a file: None for the user's code, `_TRACES` for the file that begins traces."""

    def __missing__(self, filename: str) -> str | None:
        is_own = filename.startswith(NUMERICAL)
        role = self[filename] = None if not is_own else _TRACES if filename == _TRACES else OWN
        return role


_roles = _Roles()


def calling_source() -> str:
    """Return the line of the user's code that is being run, as a text; where a library stands between, first the line
    that calls the library."""
    inner, frame = user_source(), sys._getframe(1)
    while frame is not None:
        if library_of(frame.f_code.co_filename) is None:
            found = Source(frame.f_code.co_filename, frame.f_lineno)
            return str(found) if found == inner else f"{found}, which calls {inner}"
        frame = frame.f_back
    return str(inner)


def unread_caller() -> str | None:
    """The name of the user's function that calls a library, if its source is not known."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and library_of(frame.f_code.co_filename) is not None:
        frame = frame.f_back
    is_read = frame is None or linecache.getlines(frame.f_code.co_filename)
    return None if frame is None or is_read else frame.f_code.co_name


def called_library(innermost: FrameType | None) -> str:
    """The library's function that the user's code has called, or has handed over to be traced; ``innermost`` is its
    frame, or that of what it calls."""
    frame, found = innermost, "a function that was called on it"
    own = str(Path(__file__).parents[1])
    while frame is not None and library_of(frame.f_code.co_filename) is not None:
        if frame.f_code.co_filename.startswith(own):
            break
        found = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}"
        frame = frame.f_back
    return found


def is_located(error: Exception) -> bool:
    """Whether the message has the user's line."""
    return "\n  at " in str(error)


def name_and_place(function: Callable[..., Any]) -> str:
    """Return the name of a function and the line of its definition, for error texts."""
    name = getattr(function, "__qualname__", type(function).__qualname__).rpartition("<locals>.")[2]
    code = getattr(inspect.unwrap(function), "__code__", None)
    return name if code is None else f"{name} ({Source(code.co_filename, code.co_firstlineno)})"


def located(
    error: Exception, function: Callable[..., Any], operands: tuple[Any, ...], source: Source | None
) -> Exception:
    """Return an error like ``error`` whose message adds the user's line, the operation and the types of its
    operands."""
    text = str(error)
    if "\n  in " in text:
        return error
    name = getattr(function, "name", getattr(function, "__name__", str(function)))
    if text.startswith(("got an unexpected keyword", "missing a required argument", "too many positional")):
        text = f"{name}() {text}"
    types = ", ".join(str(each.type) for each in operands)
    message = f"{text}\n  in {name}({types})\n  at {source}"
    special = (np.linalg.LinAlgError, np.exceptions.AxisError, shapes.ShapeError, NotImplementedError)
    kinds = (*special, TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)
    return next((each for each in kinds if isinstance(error, each)), ValueError)(message)


def kept(value: Value | None, described: str = "another function") -> EscapedError:
    """The error for an array that a function left somewhere while it was traced."""
    where = f"; it was made at {value.source}" if isinstance(value, Node) else ""
    return EscapedError(
        f"a traced array was kept after the trace that it belongs to, that of {described}{where}. It has no "
        f"elements: return it from the function instead\n  at {user_source()}"
    )


def misplaced(described: str, user: str | None) -> EscapedError:
    """The error for an array of a trace that goes on, but elsewhere: around that of ``user``, or on another thread."""
    where = f"while {user} is traced" if user is not None else "on another thread"
    return EscapedError(
        f"a traced array of {described} is used {where}, where it has no meaning: pass it as an argument, or "
        f"call the function that is not compiled\n  at {user_source()}"
    )


def require_own(graph: Graph) -> None:
    """Require that a traced graph depends on its own inputs alone, and their lengths."""
    inputs = set(graph.inputs)
    lengths = {extent for each in graph.inputs for extent in extent_values(each.type)}
    lengths |= {shapes.resolve(each) for each in lengths}
    for value in graph.values:
        foreign = isinstance(value, Input) and value not in inputs
        if foreign or (isinstance(value, Dim) and value not in lengths and shapes.resolve(value) not in lengths):
            users = (each for each in graph.values if isinstance(each, Node) and value in each.inputs)
            raise kept(next(users, None))
