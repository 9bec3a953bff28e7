"""Calls of compiled functions from Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numbagraph.ir.blocks import blocks
from numbagraph.jit.binding import in_order
from numbagraph.jit.out import Writers
from numbagraph.runtime.calls import CallSlots, Handlers
from numbagraph.runtime.entry import method_of
from numbagraph.tracing.tracebacks import shorten


class Called:
    """The part of a compiled function that handles calls. Once a version is compiled, it is native code."""

    __slots__ = ("_flat_calls", "_positional", "_writers")

    _flat_calls: tuple[Callable[..., Any], ...]
    """Functions that run a version on leaves, and return the function's result, or NotImplemented."""
    _positional: tuple[str | None, ...]
    _described: str
    _writers: Writers
    _call_with_trees: Callable[..., Any]
    _say_what_is_too_large: Callable[..., None]

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if not blocks.count and "out" not in kwargs:  # such a block may want another version than the usual
                given = in_order(self._positional, args, kwargs) if kwargs else args
                if given is not None:
                    for call in self._flat_calls:
                        result = call(*given)
                        if result is not NotImplemented:
                            return result
            return self._call_with_trees(args, kwargs)
        except Exception as error:
            self._explain(error, args, kwargs)
            raise

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        """Handle a call that no version took."""
        try:
            return self._call_with_trees(args, kwargs)
        except Exception as error:
            self._explain(error, args, kwargs)
            raise

    def _explain(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if isinstance(error, MemoryError):
            self._say_what_is_too_large(error, args, kwargs)
        else:
            shorten(error, args, self._described)

    def _raise(self, error: BaseException, *args: Any) -> None:
        """Raise an error that native code met in a call."""
        try:
            raise error
        except Exception as caught:
            self._explain(caught, args, {})
            raise

    __call__ = _call


@cache
def call_natively() -> None:
    """Let native code call compiled functions from now on. It is loaded with the first version."""
    own, of_writers = vars(Called), vars(Writers)
    slots = CallSlots(
        versions=own["_flat_calls"],
        parameters=own["_positional"],
        writers=own["_writers"],
        into_array=of_writers["into_array"],
        into_tuple=of_writers["into_tuple"],
    )
    Called.__call__ = method_of(Called, slots, Handlers(Called._call, Called._refused, Called._raise))
