"""The compiled methods of an object: each is compiled for the object, whose arrays are captured."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Collection
from typing import Any

from numbagraph.runtime.arguments import flatten

OF_CLASSES = (classmethod, property, functools.cached_property)
"""Classes of decorators that turn a function of a class into another object."""


class BoundMethods(dict[Any, Any]):
    """The compiled methods of an object, by the function that the class has. They are kept in the object, so that they
    are freed with it; copies do not take them."""

    NAME = "_numbagraph_methods"

    def __init__(self, owner: Any) -> None:
        super().__init__()
        self.owner = weakref.ref(owner)

    @classmethod
    def of(cls, owner: Any) -> BoundMethods:
        if not hasattr(owner, "__dict__"):
            kind = type(owner).__name__
            raise TypeError(f"a compiled method is kept in its object, but {kind} has only __slots__: add '__dict__'")
        found = owner.__dict__.get(cls.NAME)
        if found is None or found.owner() is not owner:
            found = cls(owner)
            if isinstance(owner, type):
                setattr(owner, cls.NAME, found)
            else:
                owner.__dict__[cls.NAME] = found
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _no_methods, ()


def takes_instance(signature: inspect.Signature, static: Collection[str]) -> bool:
    """Whether a function takes an instance or a class as its first parameter. `property`, `classmethod` and decorators
    of the user's pass it by position, rather than by binding it."""
    first = next(iter(signature.parameters), None)
    return first in ("self", "cls") and first not in static


def is_instance(thing: Any) -> bool:
    """Whether an argument is an object or a class, rather than an array, a number, or a tree of these."""
    if isinstance(thing, type):
        return True
    leaves, _ = flatten(thing)
    is_leaf = len(leaves) == 1 and leaves[0] is thing
    return is_leaf and not any(hasattr(thing, name) for name in ("__array__", "__dlpack__", "__float__", "__index__"))


def _no_methods() -> None:
    return None
