"""Functions of `functools.lru_cache` and `functools.cache`: their results for traced arguments are computed, and those
for others kept by Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import optree

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.syntax.source import is_converted
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.tracing.errors import user_source
from numbagraph.tracing.memory_layout import KEPT
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import Tracer
from numbagraph.tracing.user_code import library_of

KIND = type(functools.cache(len))


def memoised(function: Any) -> Callable[..., Any] | None:
    """Return the replacement of a function, or of a method, that keeps its results; None for others."""
    if isinstance(function, MethodType):
        own = memoised(function.__func__)
        return None if own is None else functools.partial(own, function.__self__)
    if type(function) is not KIND:
        return None
    wrapped = function.__wrapped__
    if not isinstance(wrapped, FunctionType) or library_of(wrapped.__code__.co_filename) is not None:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_converted(wrapped) and not is_traced(args, kwargs):
            return read_only(function(*args, **kwargs))
        require_hashable(args)
        require_hashable(tuple(kwargs.values()))
        return kept(converted(wrapped)(*args, **kwargs))

    return call


def require_hashable(thing: Any) -> None:
    """Raise for an argument that Python refuses as well."""
    if isinstance(thing, tuple):
        for each in thing:
            require_hashable(each)
    elif isinstance(thing, Stacked) or (isinstance(thing, Tracer) and thing._is_array):
        name = "list" if isinstance(thing, Stacked) else "numpy.ndarray"
        raise TypeError(
            f"unhashable type: '{name}': a function with functools.lru_cache takes numbers, texts and tuples of them. "
            f"Leave lru_cache out: what a compiled function computes twice is computed once\n  at {user_source()}"
        )
    elif not isinstance(thing, Tracer):
        hash(thing)


def read_only(found: Any) -> Any:
    """Return a result of Python's cache, with views of its arrays that cannot be written into."""
    if type(found) is tuple:
        return tuple(map(read_only, found))
    if type(found) is not np.ndarray:
        return found
    view = found.view()
    view.flags.writeable = False
    return view


def kept(found: Any) -> Any:
    """Return a result whose arrays cannot be written into: other calls get them, too."""
    for each in optree.tree_leaves(found):
        if isinstance(each, Tracer) and each._is_array and not each._foreign:
            each._foreign = KEPT
    return found
