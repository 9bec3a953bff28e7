"""Slices whose ends may be None on some paths."""

from __future__ import annotations

import sys
from typing import Any

from numbagraph.capture.statements.control_flow import if_expression
from numbagraph.capture.values.optional import Possibly, is_none, settled


def slice_(start: Any, stop: Any, step: Any) -> slice:
    if step is None or (type(step) is int and step > 0):
        return slice(end_of_slice(start, 0), end_of_slice(stop, sys.maxsize), step)
    if type(step) is int:
        return slice(end_of_slice(start, sys.maxsize), end_of_slice(stop, -sys.maxsize), step)
    return slice(start, stop, step)


def end_of_slice(thing: Any, default: int) -> Any:
    """Return an end of a slice; where traced values say whether it is None, a number that means the same."""
    thing = settled(thing)
    if not isinstance(thing, Possibly) or thing.absent is not None:
        return thing
    return if_expression(is_none(thing), lambda: default, lambda: thing.value)
