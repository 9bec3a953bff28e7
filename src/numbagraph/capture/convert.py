"""Python functions with their control flow as calls of operators, made once for each code object."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

from numbagraph.capture.syntax.generator_functions import generator
from numbagraph.capture.syntax.source import OPERATORS, compiled, is_converted, mangled_definition_of, refusal
from numbagraph.capture.syntax.statements import rewritten
from numbagraph.capture.values.containers import made
from numbagraph.forking import new_lock
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.user_code import library_of

Function = Callable[..., Any]
_made: dict[CodeType, CodeType] = {}
_lock = new_lock()

_PACKAGE = Path(__file__).parents[1]
WRITTEN = tuple(f"{_PACKAGE / folder}{os.sep}" for folder in ("capture/polyfills", "library/scipy/solvers"))
"""Folders of functions that are written as users write theirs, and are converted as those are."""
COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def code_of(code: CodeType) -> CodeType:
    """The code of the converted function."""
    with _lock:
        if code not in _made:
            if code.co_flags & COROUTINE:
                raise refusal(f"{code.co_name} is a coroutine, which is not traced", code)
            _made[code] = compiled(rewritten(mangled_definition_of, code), code)
        return _made[code]


def convert(function: FunctionType, operators: Any) -> FunctionType:
    """Return a function of Python's with its control flow as calls of ``operators``; its globals and closure are its
    own."""
    if is_converted(function):
        return function
    code = code_of(function.__code__)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[OPERATORS] = CellType(operators)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def is_users(function: FunctionType) -> bool:
    """Whether a function is the user's own, or written as if it were, rather than a library's."""
    file = function.__code__.co_filename
    return (library_of(file) is None or file.startswith(WRITTEN)) and not is_converted(function)


def traceable(function: Any, operators: Any) -> Any:
    """Return the converted form of a callable, if it is written in Python code of the user's; otherwise the
    callable."""
    function = getattr(function, "py_func", function)  # of a function that Numba compiles
    if isinstance(function, functools.partial):
        return functools.partial(traceable(function.func, operators), *function.args, **function.keywords)
    if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
        return MethodType(traceable(function.__func__, operators), function.__self__)
    if isinstance(function, FunctionType):
        if not is_users(function):
            return function
        converted = convert(function, operators)
        return generator(converted) if function.__code__.co_flags & inspect.CO_GENERATOR else converted
    if type(function) is type:
        return constructor(function, operators)
    call = getattr(type(function), "__call__", None)  # noqa: B004  it may be inherited
    if isinstance(call, FunctionType) and is_users(call):
        return MethodType(convert(call, operators), function)
    return function


def with_own_lists(thing: Any, given: Sequence[Any]) -> Any:
    """Return an object of a dataclass; note the lists that its default factories have made as made here."""
    for each in dataclasses.fields(thing):
        held = vars(thing).get(each.name)
        if each.default_factory in (list, deque) and held is not None and not any(held is other for other in given):
            made(held)
    return thing


def constructor(kind: Any, operators: Any) -> Any:
    """Return a function that makes an object of a user's class, whose ``__init__`` may make arrays of traced lengths,
    and loop; in a loop or a branch return the class itself."""
    start = getattr(kind, "__init__", None)
    is_plain = kind.__new__ is object.__new__ and not issubclass(kind, BaseException)
    if not is_plain or not isinstance(start, FunctionType) or not is_users(start):
        return kind
    call: Any = kind
    if hasattr(kind, "__dataclass_fields__") and any(
        each.default_factory in (list, deque) for each in dataclasses.fields(call)
    ):
        return lambda *args, **kwargs: with_own_lists(call(*args, **kwargs), (*args, *kwargs.values()))
    try:
        converted = convert(start, operators)
    except TraceError:  # a dataclass's own has no source
        return lambda *args, **kwargs: made(call(*args, **kwargs))

    def make(*args: Any, **kwargs: Any) -> Any:
        found = made(kind.__new__(kind))
        converted(found, *args, **kwargs)
        return found

    return make
