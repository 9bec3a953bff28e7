"""Transformed functions: a function that adds to a trace, and compiles itself outside of one."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from numbagraph.ir.public import Public
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.jit.pickling import Pickled
from numbagraph.tracing.trace import active
from numbagraph.tracing.tracebacks import shorten

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")
Function = Callable[..., Any]


def plain(function: Callable[P, R]) -> Callable[P, R]:
    """Return the Python function behind a compiled one, so that an outer trace goes through it."""
    return function.function if isinstance(function, GraphFunction) else function


class OfCompiled:
    """A method of the compiled function."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else getattr(instance.compiled, self.name)


class Transformed(Public, Generic[P, R]):
    """A transformed function. Called on arrays rather than inside a traced function, it compiles itself.

    Parameters
    ----------
    function
        What it does in a trace.
    of
        The function that was transformed.
    again : callable
        Makes the same of ``of`` in another process.
    """

    def __init__(self, function: Callable[P, R], of: Function, again: Callable[[Function], Any]) -> None:
        if not callable(of):
            raise TypeError(f"{getattr(again, 'func', again).__name__} takes a function, not {of!r}")
        self.function = function
        self.of = of
        self.again = again
        functools.update_wrapper(self, plain(of), updated=())
        self._compiled: GraphFunction[P, R] | None = None

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if active.trace is not None:
            return self.function(*args, **kwargs)
        compiled: Any = self._compiled or self.compiled
        try:
            return compiled(*args, **kwargs) if kwargs else compiled(*args)
        except Exception as error:
            shorten(error)
            raise

    @property
    def compiled(self) -> GraphFunction[P, R]:
        """The compiled function for calls outside of traced functions."""
        if self._compiled is None:
            self._compiled = GraphFunction(self, mutates=())
        return self._compiled

    explain = OfCompiled()
    graph = OfCompiled()
    stages = OfCompiled()
    llvm = OfCompiled()
    asm = OfCompiled()
    warmup = OfCompiled()
    cache_info = OfCompiled()
    cache_clear = OfCompiled()

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self: Transformed[Concatenate[T, Q], R], instance: T, owner: type | None = None) -> Callable[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return a method, as a plain function does."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.again, Pickled(self.of, Transformed, self))

    def __repr__(self) -> str:
        name = getattr(self.again, "func", self.again).__name__
        return f"<{name} of {getattr(self, '__qualname__', self.of)}>"


def _rebuild(again: Callable[[Function], Any], pickled: Pickled) -> Any:
    return pickled.decorated(again)
