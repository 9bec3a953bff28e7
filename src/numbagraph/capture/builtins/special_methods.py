"""Attributes and operators of objects of the user's classes, whose properties and special methods are converted."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from numbagraph.capture.values.containers import in_region
from numbagraph.capture.values.list_aliases import is_made_here
from numbagraph.capture.values.optional import UNDEFINED, Possibly, present
from numbagraph.capture.values.raised_errors import of_none
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import Tracer
from numbagraph.tracing.user_code import library_of

_PLAIN = frozenset((Tracer, ModuleType, bool, int, float, complex, str, list, tuple, dict, set, np.ndarray, type(None)))
_IMMUTABLE_TYPE = 1 << 8
BUILTINS = {
    len: "__len__",
    abs: "__abs__",
    round: "__round__",
    int: "__int__",
    float: "__float__",
    reversed: "__reversed__",
}
"""Functions that call a special method of their first argument."""
REFLECTED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
"""The special methods by which the right operand of a comparison answers."""


def is_users(function: FunctionType) -> bool:
    return library_of(function.__code__.co_filename) is None


def special(holder: Any, name: str) -> Callable[..., Any] | None:
    """Return a special method of an object of a user's class, converted; None for others."""
    kind = type(holder)
    if kind in _PLAIN or kind.__flags__ & _IMMUTABLE_TYPE:
        return None
    function = getattr(kind, name, None)
    if not isinstance(function, FunctionType) or not is_users(function):
        return None
    return functools.partial(converted(function), holder)


def attribute(holder: Any, name: str) -> Any:
    """``holder.name``."""
    kind = type(holder)
    if holder is None and not hasattr(None, name):
        raise of_none(name)
    if kind in _PLAIN or kind.__flags__ & _IMMUTABLE_TYPE:
        return getattr(holder, name)
    found = next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)
    if type(found) is property and isinstance(found.fget, FunctionType) and is_users(found.fget):
        return converted(found.fget)(holder)
    if isinstance(found, functools.cached_property) and name not in vars(holder) and is_users(found.func):
        value = converted(found.func)(holder)
        if not in_region() or is_made_here(holder):  # a value of a loop's step is none afterwards
            vars(holder)[name] = value
        return value
    value = getattr(holder, name)
    if isinstance(value, Possibly) and value.absent is UNDEFINED:
        return present(value, AttributeError, f"{kind.__name__!r} object has no attribute {name!r}")
    return value


def operated(name: str, left: Any, right: Any) -> Any:
    """Apply an operator, or the special methods of the user's classes that stand for it."""
    kind = type(left)
    if (kind in _PLAIN or special(left, f"__{name}__") is None) and (
        type(right) in _PLAIN or special(right, f"__r{name}__") is None
    ):
        return getattr(operator, _spelled(name))(left, right)
    first = functools.partial(_result, left, f"__{name}__", right)
    second = functools.partial(_result, right, f"__r{name}__", left)
    is_first = type(right) is kind or not isinstance(right, type(left))  # a subclass comes first
    for call in (first, second) if is_first else (second, first):
        found = call()
        if found is not NotImplemented:
            return found
    return getattr(operator, _spelled(name))(left, right)  # raises


def _result(holder: Any, name: str, other: Any) -> Any:
    method = special(holder, name)
    if method is not None:
        return method(other)
    function = getattr(type(holder), name, None)
    return NotImplemented if function is None else function(holder, other)


def _spelled(name: str) -> str:
    return f"{name}_" if name in ("and", "or") else name


def compared(name: str, left: Any, right: Any) -> Any:
    """Compare two objects by special methods of the user's classes; NotImplemented if they have none."""
    for one, other, method in ((left, right, name), (right, left, REFLECTED[name])):
        function = special(one, f"__{method}__")
        found = NotImplemented if function is None else function(other)
        if found is not NotImplemented:
            return found
    return NotImplemented


def of_builtin(function: Any, call: Callable[[Any], Any]) -> Callable[..., Any] | None:
    """Return the form of a builtin function that calls special methods of the user's classes; None for others.
    ``call`` returns the replacement of a function."""
    name = BUILTINS.get(function) if type(function) in (type, type(len)) else None
    if name is None:
        return None

    def run(*args: Any) -> Any:
        method = special(args[0], name) if args else None
        return call(function)(*args) if method is None else method(*args[1:])

    return run
