"""Loops outside of traced functions, which are compiled once for their functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.forking import new_lock
from numbagraph.jit.graph_function import GraphFunction

Function = Callable[..., Any]

MOST_KEPT = 128
"""The greatest number of loops outside of traced functions that are kept compiled: they hold their functions."""

_compiled: dict[Any, GraphFunction] = {}
_lock = new_lock()


def outside(function: Function, key: Any, make: Callable[[], Function]) -> GraphFunction:
    """Return the compiled loop for a call outside of traced functions. It is compiled once for each function, as long
    as not too many others are used after it."""
    try:
        hash((function, key))
    except TypeError:
        return GraphFunction(make(), mutates=())
    with _lock:
        found = _compiled.pop((function, key), None) or GraphFunction(make(), mutates=())
        _compiled[function, key] = found
        if len(_compiled) > MOST_KEPT:
            del _compiled[next(iter(_compiled))]
    return found
