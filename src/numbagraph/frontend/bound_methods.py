"""The compiled methods of an object: each is compiled for the object, whose arrays are captured."""

from __future__ import annotations

import weakref
from typing import Any


class BoundMethods(dict[Any, Any]):
    """By the function that the class has. They live in the object, so that they go when it goes; no copy takes them."""

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
            found = owner.__dict__[cls.NAME] = cls(owner)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _no_methods, ()


def _no_methods() -> None:
    return None
