"""One of several arrays, which a traced number picks (``buffers[t % 2]``): writes into it reach that array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

import numpy as np

from numbagraph.blockwise.storing import written
from numbagraph.capture.values.written_arrays import root_of
from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.ops.indexing.subscripts import index, set_index
from numbagraph.ops.indexing.view_assignment import set_view
from numbagraph.tracing.tracer import Tracer

MOST_CHOSEN = 8
"""The number of arrays up to which elements are chosen one by one, rather than of all arrays together."""


class Picked(Tracer):
    """The array at a traced place of a list."""

    __slots__ = ("_among", "_place")
    _among: tuple[Tracer, ...]
    _place: Tracer

    @classmethod
    def of(cls, arrays: Sequence[Tracer], place: Tracer, found: Tracer | None) -> Picked:
        """Return an element of a list of arrays; ``found`` is its value where that is known."""
        picked = cls(arrays[0].value if found is None else found.value)
        picked._among, picked._place = tuple(arrays), place
        if found is None:
            picked.value = picked._now()
        picked._derive = lambda _: picked._now()
        for each in {id(each): each for each in arrays}.values():
            each._views.append(ref(picked))
        picked._origins = tuple({id(root): root for root in map(root_of, arrays)}.values())
        return picked

    def require_scope(self) -> None:
        super().require_scope()
        for each in self._among:
            each.require_scope()

    def _now(self) -> Value:
        """Return the elements of the array that is picked; a choice for each element, of which loops read few."""
        among = [Tracer(each.value) for each in self._among]
        if len(among) > MOST_CHOSEN:
            return np.stack(among)[self._place].value  # type: ignore[no-any-return]
        found: Any = among[-1]
        for number, each in enumerate(among[:-1]):
            found = np.where(self._is(number), each, found)
        return found.value  # type: ignore[no-any-return]

    def _is(self, number: int) -> Any:
        place = self._place
        return (place == number) | (place == number - len(self._among))

    def _rebind(self, function: Callable[..., Value], *args: Any) -> Tracer:
        """Assign to the array that the place picks. The others get the elements that they have."""
        if function not in (set_index, set_view):
            function, args = set_index, (..., Tracer(self._changed(function, *args)))
        key, update = args
        update = Tracer(update.value) if isinstance(update, Tracer) else update  # as it is before the first assignment
        for number, each in enumerate(self._among):
            each._rebind(where_picked(function), self._is(number), key, update)
        return self


def where_picked(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return an assignment to part of an array under a condition."""

    def assigned(own: Value, here: Value, key: Any, update: Any) -> Value:
        before = index(own, key)
        return function(own, key, registry["where"](here, written(update, own.dtype), before))

    return assigned
