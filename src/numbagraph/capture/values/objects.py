"""Objects whose attributes a loop or a branch on traced values assigns to, as trees of their attributes."""

from __future__ import annotations

import types
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from numbagraph.ir.values import Value
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import Tracer
from numbagraph.tracing.user_code import library_of

DEPTH = 4
"""The depth up to which objects may be nested."""
_VALUES = (bool, int, float, complex, str, bytes, type(None), np.ndarray, np.generic, range)


def is_object(thing: Any, depth: int = DEPTH) -> bool:
    """Whether something is an object of a class without methods of its own for attributes, such as a dataclass or a
    `types.SimpleNamespace`, that holds numbers, arrays, containers, and such objects."""
    kind = type(thing)
    if not kind.__dictoffset__:  # numbers, containers and traced arrays: most of what is asked about
        return False
    if isinstance(thing, (OnlyTraced, Value, type, BaseException, types.FunctionType, types.ModuleType)):
        return False
    if type(getattr(thing, "__dict__", None)) is not dict or any("__slots__" in vars(each) for each in kind.__mro__):
        return False
    if kind is not types.SimpleNamespace and (
        kind.__setattr__ is not object.__setattr__ or kind.__getattribute__ is not object.__getattribute__
    ):
        return False
    if not is_users(kind) or hasattr(kind, "__array__"):
        return False
    return all(is_held(each, depth - 1) for each in vars(thing).values())


def is_users(kind: type) -> bool:
    if kind is types.SimpleNamespace:
        return True
    functions = (each for each in vars(kind).values() if isinstance(each, types.FunctionType))
    made = next((each for each in functions if each.__module__ != "dataclasses"), None)  # which adds __replace__
    return kind.__module__ != "builtins" and (made is None or library_of(made.__code__.co_filename) is None)


def is_held(thing: Any, depth: int) -> bool:
    if depth < 0:
        return False
    if isinstance(thing, (list, tuple)):
        return all(is_held(each, depth - 1) for each in thing)
    if isinstance(thing, dict):
        return all(is_held(each, depth - 1) for each in thing.values())
    is_traced = type(thing).__module__.startswith("numbagraph.")
    return isinstance(thing, _VALUES) or is_traced or is_object(thing, depth)


def with_attributes(kind: Any, attributes: dict[str, Any]) -> Any:
    """Return an object of a class, with given attributes."""
    made = kind.__new__(kind)
    vars(made).update(attributes)
    return made


class Attributes:
    """The pytree node of an object, by which a variable is taken apart. All other code sees a leaf."""

    __slots__ = ("kind", "names", "values")

    def __init__(self, kind: type, names: tuple[str, ...], values: list[Any]) -> None:
        self.kind, self.names, self.values = kind, names, values


class Holder(Protocol):
    """Several things, of which a number picks one."""

    def at(self, number: Any) -> Any: ...


H = TypeVar("H", bound=Holder)


class Picked(Generic[H]):
    """An element that a number picks from a holder (`holder.at`), such as one of several lists."""

    holder: H
    number: Tracer


class Numbered:
    """The pytree node of a `Picked` element, by which a variable is taken apart: with another number it is another
    element."""

    __slots__ = ("holder", "number")

    def __init__(self, holder: Any, number: Any) -> None:
        self.holder, self.number = holder, number
