"""The places where dicts and sets were made that may get traced keys."""

from __future__ import annotations

import collections
from typing import Any

from numbagraph.capture.values.list_aliases import originals_of
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.trace import current_trace


class Defaulting(collections.defaultdict[Any, Any], OnlyTraced):
    """A `collections.defaultdict` that converted code has made. It is a leaf of pytrees, and keeps its identity."""

    def result(self) -> collections.defaultdict[Any, Any]:
        return collections.defaultdict(self.default_factory, self)


KINDS = (dict, set, Defaulting, collections.Counter)


def note_keyed(container: Any, place: Any) -> None:
    trace = current_trace()
    if trace is not None:
        trace.keyed[id(container)] = (container, place)


def place_of(container: Any) -> Any:
    """The place where a dict or a set, or its original, was made; None if it comes from elsewhere."""
    trace = current_trace()
    if trace is None:
        return None
    for each in originals_of(container):
        found, place = trace.keyed.get(id(each), (None, None))
        if found is each:
            return place
    return None


def with_place(original: Any, copy: Any) -> Any:
    """Note that a copy of a dict or a set has the original's place, and return it."""
    place = place_of(original)
    if place is not None:
        note_keyed(copy, place)
    return copy
