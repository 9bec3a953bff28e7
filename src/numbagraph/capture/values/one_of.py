"""One of two objects or functions, as a branch chooses: methods and attributes are chosen when they are used."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from numbagraph.capture.values.list_aliases import is_tuple
from numbagraph.tracing.errors import OnlyTraced, TraceError, user_source
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import Tracer

_IMMUTABLE_TYPE = 1 << 8
Choose = Callable[[Any, Callable[[], Any], Callable[[], Any]], Any]


class OneOf(OnlyTraced):
    """An object, or a function, of one branch or of the other."""

    advice = "return what its methods give"

    def __init__(self, test: Tracer, yes: Any, no: Any, choose: Choose) -> None:
        self._test, self._yes, self._no = test, yes, no
        self._choose = choose
        """``choose(test, yes, no)`` is the result of one of two functions."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        yes, no = getattr(self._yes, name), getattr(self._no, name)
        if callable(yes) and callable(no):
            return OneOf(self._test, yes, no, self._choose)
        return self._choose(self._test, lambda: yes, lambda: no)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise TraceError(
                f"cannot assign to the attribute {name!r} of one of two objects, which a branch on traced values has "
                f"chosen: assign to it in each branch\n  at {user_source()}"
            )
        object.__setattr__(self, name, value)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        sides = [lambda each=each: converted(each)(*args, **kwargs) for each in (self._yes, self._no)]
        return self._choose(self._test, *sides)


def is_choosable(thing: Any) -> bool:
    """Whether something is a function, or an object of a user's class."""
    if isinstance(thing, (Tracer, OnlyTraced, np.ndarray, ModuleType, type, list, dict, set)) or is_tuple(thing):
        return False
    return callable(thing) or not type(thing).__flags__ & _IMMUTABLE_TYPE
