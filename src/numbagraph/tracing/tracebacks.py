"""Tracebacks as users need them: of their own code, with the frame in which an error arose last.

``NUMBAGRAPH_DEBUG=1`` leaves them as they are.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from numbagraph.ir.internal import InternalError
from numbagraph.ir.sources import is_body
from numbagraph.tracing.internal_errors import fault_of
from numbagraph.tracing.near_names import ask_for_near_name
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.user_code import HARMLESS, OWN, library_of

OF_LISTS = "A list is a tree of its elements here, as it is to Python: pass np.array of it to compute with it."
OF_TRACERS = (
    "A Tracer is an array of a function that is being traced, and other libraries do not know it: write NumPy's "
    "functions (np.sin for jnp.sin), call a function of JAX as numbagraph.from_jax(f), and all others by "
    "numbagraph.pure_callback."
)
P = ParamSpec("P")
R = TypeVar("R")


def debugs() -> bool:
    return os.environ.get("NUMBAGRAPH_DEBUG", "0") not in ("0", "times")


def shorten(error: BaseException, arguments: Iterable[Any] = (), described: str | None = None) -> None:
    """Leave frames of numbagraph out of an error's traceback, and the errors inside of it that it was made of. Raise
    an `InternalError` instead of one that is numbagraph's own fault, which ``described`` was traced or compiled for."""
    fault = fault_of(error, described)
    if fault is not None:
        raise fault from error
    if isinstance(error, (TypeError, AttributeError)) and str(error).startswith("'Tracer' object"):
        error.args = (str(error).replace("'Tracer'", "'numpy.ndarray'", 1),)
    ask_for_near_name(error)
    if isinstance(error, TypeError) and "'list'" in str(error) and any(type(each) is list for each in arguments):
        _note(error, OF_LISTS)
    if (
        isinstance(error, (TypeError, ValueError))
        and re.search(r"\bTracer\b", str(error))  # of JAX's own tracers the names are longer
        and _libraries(error.__traceback__)[-1:] != [OWN]
    ):
        _note(error, OF_TRACERS)
    if not debugs() and current_trace() is None:  # while a function is traced, frames say which numbers are needed
        _shorten(error, set())


def _note(error: BaseException, text: str) -> None:
    if text not in getattr(error, "__notes__", ()):
        error.add_note(text)


def for_users(method: Callable[P, R]) -> Callable[P, R]:
    """A method that users call, whose errors have short tracebacks."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except Exception as error:
            shorten(error, described=getattr(args[0], "_described", None) if args else None)
            raise

    return call


def _shorten(error: BaseException, seen: set[int]) -> None:
    if id(error) in seen:
        return
    seen.add(id(error))
    if isinstance(error, InternalError):  # its cause is what to report
        error.__traceback__ = _of_users(error.__traceback__)
        return
    for name in ("__cause__", "__context__"):
        inner = getattr(error, name)
        if inner is None:
            continue
        if _is_internal(inner):
            suppressed = error.__suppress_context__
            setattr(error, name, None)
            error.__suppress_context__ = suppressed and name == "__context__"
        else:
            _shorten(inner, seen)
    error.__traceback__ = _of_users(error.__traceback__)


def _is_internal(error: BaseException) -> bool:
    """Whether an error arose in numbagraph: the error that users see says it in their terms."""
    found = _libraries(error.__traceback__)
    while len(found) > 1 and found[-1] == "Python":  # on behalf of the one before
        found.pop()
    rest = [each for each in found if each not in HARMLESS or each == OWN]
    return bool(found) and found[-1] in HARMLESS and rest[-1:] == [OWN]


def _libraries(traceback: TracebackType | None) -> list[str | None]:
    found = []
    while traceback is not None:
        found.append(library_of(traceback.tb_frame.f_code.co_filename))
        traceback = traceback.tb_next
    return found


def _of_users(traceback: TracebackType | None) -> TracebackType | None:
    """The frames of a traceback that are not numbagraph's, nor of Python's library on its behalf; nor NumPy's, where it
    is numbagraph that raised."""
    libraries = _libraries(traceback)
    hidden = HARMLESS if libraries and libraries[-1] == OWN else {OWN}
    kept = []
    is_own = False
    for library in libraries:
        assert traceback is not None
        is_own = library == OWN or (is_own and library == "Python")
        if library not in hidden and not is_own:
            kept.append(traceback)
        traceback = traceback.tb_next
    found: TracebackType | None = None
    for each in reversed(kept):
        if found is not None and is_body(found.tb_frame.f_code):
            continue  # the statement whose body follows
        found = TracebackType(found, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return found
