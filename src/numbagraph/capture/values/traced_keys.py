"""Where dicts and sets were made that a traced key may be met by."""

from __future__ import annotations

import collections
from typing import Any

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.list_aliases import originals_of
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.trace import current_trace


class Defaulting(collections.defaultdict[Any, Any], OnlyTraced):
    """A `collections.defaultdict` that converted code has made. For trees it is one thing, which keeps its identity."""

    def result(self) -> collections.defaultdict[Any, Any]:
        return collections.defaultdict(self.default_factory, self)


KINDS = (dict, set, Defaulting, collections.Counter)


class KeysNeeded(CaptureError):
    """A dict or a set has traced keys, or others than so far: the function is traced once more."""


def note_keyed(container: Any, place: Any) -> None:
    trace = current_trace()
    if trace is not None:
        trace.keyed[id(container)] = (container, place)


def place_of(container: Any) -> Any:
    """Where a dict or a set was made, or that of which it is a copy; None if it comes from elsewhere."""
    trace = current_trace()
    if trace is None:
        return None
    for each in originals_of(container):
        found, place = trace.keyed.get(id(each), (None, None))
        if found is each:
            return place
    return None


def with_place(original: Any, copy: Any) -> Any:
    """A copy of a dict or a set, of which is known where that was made."""
    place = place_of(original)
    if place is not None:
        note_keyed(copy, place)
    return copy
