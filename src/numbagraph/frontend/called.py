"""How compiled functions are called from Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numbagraph.frontend.binding import in_order
from numbagraph.frontend.targets import Writers
from numbagraph.frontend.tracebacks import shorten
from numbagraph.ir.blocks import blocks
from numbagraph.runtime.calls import Handlers
from numbagraph.runtime.entry import method_of


class Called:
    """The part of a compiled function that is called. Once a version is compiled, it is native code."""

    __slots__ = ("_flat_calls",)

    _flat_calls: tuple[Callable[..., Any], ...]
    """What runs a version on leaves, and gives what the function returns, or NotImplemented."""
    _positional: tuple[str | None, ...]
    _writers: Writers
    _call_with_trees: Callable[..., Any]
    _say_what_is_too_large: Callable[..., None]

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if blocks.count:  # this block of code may want another version than the usual
                return self._call_with_trees(args, kwargs)
            if not kwargs or "out" not in kwargs:
                given = in_order(self._positional, args, kwargs) if kwargs else args
                if given is not None:
                    for call in self._flat_calls:
                        result = call(*given)
                        if result is not NotImplemented:
                            return result
            elif len(kwargs) == 1 and (out := kwargs["out"]) is not None:
                is_tuple = type(out) is tuple
                for write in self._writers.flat[is_tuple]:
                    if write(*args, *out if is_tuple else (out,)) is not NotImplemented:
                        return out
            return self._call_with_trees(args, kwargs)
        except Exception as error:
            self._explain(error, args, kwargs)
            raise

    def _refused(self, *args: Any) -> Any:
        """A call that no version took."""
        try:
            return self._call_with_trees(args, {})
        except Exception as error:
            self._explain(error, args, {})
            raise

    def _explain(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if isinstance(error, MemoryError):
            self._say_what_is_too_large(error, args, kwargs)
        else:
            shorten(error, args)

    def _raise(self, error: BaseException, *args: Any) -> None:
        """Raise what native code met in a call."""
        try:
            raise error
        except Exception as caught:
            self._explain(caught, args, {})
            raise

    __call__ = _call


@cache
def call_natively() -> None:
    """Let native code call compiled functions from now on: it is loaded with the first version."""
    slot: Any = Called._flat_calls
    Called.__call__ = method_of(Called, slot, Handlers(Called._call, Called._refused, Called._raise))
