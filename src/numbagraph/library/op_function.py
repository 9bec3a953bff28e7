"""Ops as functions for ``@njit`` code: the functions of `numbagraph.intrinsics`."""

from __future__ import annotations

import inspect
from typing import Any

from numbagraph.intrinsics.njit.lookup import makers
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.library.namespaces import public_function


class OpFunction(GraphFunction):
    """An op as a function. Called from Python, it is NumPy's."""

    _prefers_constants = True

    def __init__(self, name: str) -> None:
        super().__init__(public_function(name, "numbagraph.intrinsics"))
        self.definition.signature = inspect.signature(lambda *args, **kwargs: None)  # the op itself says what fits

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return OpFunction, (self.__name__,)

    def __repr__(self) -> str:
        return f"<op {self.__name__}>"


makers.append(OpFunction)
