"""Errors that a function raises under conditions on traced values, with their numbers."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from numbagraph.capture.values.known_conditions import learn
from numbagraph.capture.values.message_templates import Template, Text, own_values, taken_apart
from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard
from numbagraph.ir.shapes import ShapeError
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node, Value
from numbagraph.tracing import checks
from numbagraph.tracing.trace import CaptureError, active
from numbagraph.tracing.tracer import Tracer, user_source
from numbagraph.tracing.user_code import library_of


class UserError(Struct):
    """A callable that makes an error of the user's: of a class, with texts and other arguments."""

    kind: type[Exception]
    parts: tuple[tuple[Template | None, int], ...]
    """For each argument, its template if it is a text, and the number of values that it takes."""

    def __call__(self, *values: Any) -> Exception:
        return self.kind(*own_values(self.parts, values))


class _Caught(threading.local):
    depth = 0


_caught = _Caught()


@contextmanager
def caught() -> Iterator[None]:
    """Treat errors raised inside as errors of the program, though they are raised outside of any branch."""
    _caught.depth += 1
    try:
        yield
    finally:
        _caught.depth -= 1


def is_caught() -> bool:
    """Whether an error raised now becomes an error of the program."""
    return bool(_caught.depth) or (active.scope is not None and active.scope.journal is not None)


class Catcher:
    """An observer of the program's errors while the body of a ``try`` is traced. This one ignores them, others are
    handlers (`numbagraph.capture.statements.try_except`)."""

    def note_node(self, node: Node) -> None:
        """Note the requirements of an operation."""

    def note_loop(self, guards: Sequence[Guard]) -> None:
        """Note the requirements of the steps of a loop."""

    def note_branches(self, test: Value, no: Any, yes: Any) -> None:
        """Note the requirements of two branches."""


class _Catching(threading.local):
    catcher = Catcher()


_catching = _Catching()


def catcher_here() -> Catcher:
    return _catching.catcher


@contextmanager
def catching(catcher: Catcher) -> Iterator[None]:
    """Report errors of the program inside the block to a catcher alone."""
    collector, before = shapes.current_collector(), _catching.catcher
    watch = collector.watch
    _catching.catcher, collector.watch = catcher, catcher.note_node
    try:
        yield
    finally:
        _catching.catcher, collector.watch = before, watch


class Unseen(CaptureError):
    """An error that a handler should take, and cannot."""

    __module__, __qualname__ = CaptureError.__module__, CaptureError.__qualname__


class Elsewhere:
    """A placeholder for an error that the program raises, which its handler gets."""

    def refuse(self, *_: Any) -> NoReturn:
        raise Unseen(
            f"the error that `except ... as` names is not known while the function is traced: write what the handler "
            f"needs of it, its text and what it speaks of\n  at {user_source()}"
        )

    def __getattr__(self, name: str) -> Any:
        self.refuse()

    __str__ = __repr__ = refuse


MARK = "__numbagraph_raised__"


def raised_of(error: BaseException) -> Raised | None:
    """Return the program's error if ``error`` is one that the user's function has raised in a loop or a branch, or one
    that Python or NumPy raise where they get there: an index that is known to be out of bounds, a division by zero,
    shapes that do not fit, an attribute of None. None for others."""
    if MARK in error.__dict__:
        return error.__dict__[MARK]
    if isinstance(error, (LookupError, ZeroDivisionError, ShapeError)) or is_of_shapes(error) or is_of_none(error):
        return Raised(type(error), error.args if all(type(each) is str for each in error.args) else (str(error),))
    return None


def is_of_shapes(error: BaseException) -> bool:
    """Whether shapes of NumPy's own arrays do not fit."""
    return type(error) is ValueError and str(error).startswith("operands could not be broadcast together")


def is_of_none(error: BaseException) -> bool:
    """Whether the user's code has asked for an attribute that None does not have."""
    if not isinstance(error, AttributeError) or not str(error).startswith("'NoneType' object has no attribute"):
        return False
    *_, last = traceback.walk_tb(error.__traceback__)
    return library_of(last[0].f_code.co_filename) is None


def of_none(name: str) -> BaseException:
    """The error for an attribute of None, on a path that the program may not take."""
    return Raised(AttributeError, (f"'NoneType' object has no attribute {name!r}",)).marked()


class Premature:
    """A placeholder for the results of a branch that cannot be traced, in a pass over a loop that knows too little."""


class Raised:
    """An error of a branch that always raises: not one of the trace, but one that the program may raise."""

    def __init__(self, kind: type[BaseException], arguments: tuple[Any, ...]) -> None:
        self.kind = kind
        self.arguments = arguments

    def error(self) -> BaseException:
        return self.kind(*[str(each) if isinstance(each, Text) else each for each in self.arguments])

    def marked(self) -> BaseException:
        """Return the error, marked as one that the program may raise. A handler of the user's around it sees it as it
        is."""
        error = self.error()
        error.__dict__[MARK] = self
        return error

    def require(self, condition: Value | bool) -> None:
        """Let the program raise the error where a condition does not hold."""
        if not issubclass(self.kind, Exception):
            raise self.error()
        parts, values = [], []
        for each in self.arguments:
            part, own = taken_apart(each)
            parts.append(part)
            values += own
        traced = Tracer(condition) if isinstance(condition, Value) else condition
        checks.require(traced, UserError(self.kind, tuple(parts)), *values)
        if isinstance(condition, Value):
            learn(condition, True)
