"""Attributes, globals and elements that a compiled function assigns to: hidden arguments and results of each call, as
shared variables are, which are put back where they came from once the call has succeeded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.op import registry
from numbagraph.ir.values import Input, toposort
from numbagraph.jit.shared_variables import SharedVariable
from numbagraph.purity.snapshots import Origin, is_storable
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.in_place import not_traced
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, apply, to_value

_NUMBERS = (bool, int, float, complex)
NOT_STORED = np.empty((), object)
"""A stand-in for the value of an entry that compiled code does not take."""


class StateVariable(SharedVariable):
    """An entry of a dict, such as the attributes of an object, as a shared variable."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.name = str(origin.key)
        self._cell: Any = StateCell(origin)

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        return np.asarray(self._cell[0]).dtype

    @property
    def ndim(self) -> int:  # type: ignore[override]
        return np.ndim(self._cell[0])

    def _traced(self, new: Any) -> Tracer:
        """Return a new value for the cell, which may be of any type: the next call has another version then."""
        return new if isinstance(new, Tracer) else apply(registry["asarray"], new)

    @property
    def is_stored(self) -> bool:
        """Whether the entry still holds what compiled code takes."""
        return is_storable(self._cell.value())

    def read(self) -> Any:
        """Return the value in a trace."""
        found = self.value
        if type(self._cell.value()) not in _NUMBERS:
            return found
        return Tracer(registry["cast"].bind(as_value(to_value(found)), dtype=found.dtype, weak=True))


class StateCell:
    """The cell of a variable whose value lies in an entry. A number of Python's stays one."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.kept: list[Any] = []
        """The value, as long as a trace has a traced one in its place."""

    def value(self) -> Any:
        return self.kept[-1] if self.kept else self.origin.value()

    def put(self, value: Any) -> None:
        self.origin.holder[self.origin.key] = value

    def __getitem__(self, _: int) -> Any:
        found = self.value()
        return np.asarray(found)[()] if is_storable(found) else NOT_STORED

    def __setitem__(self, _: int, new: Any) -> None:
        self.put(new.item() if type(self.value()) in _NUMBERS and not np.ndim(new) else new)


@contextmanager
def in_place(variables: Collection[StateVariable]) -> Iterator[Callable[[], None]]:
    """Put traced values into the entries inside of the block, and the real ones back behind it. The function that is
    given keeps what the entries hold by then."""
    cells = [each._cell for each in variables]
    trace = current_trace()
    if trace is not None:
        trace.entries = [(each.name, each._cell.origin.value) for each in variables]
    values = [each.read() for each in variables]
    before = [each.value for each in values]

    def keep() -> None:
        for each, cell, first, old in zip(variables, cells, values, before, strict=True):
            if first.ndim and first.value is not old:
                raise not_traced(f"the array {each.name!r} is changed in place")
            if (found := cell.origin.value()) is not first:
                require_outer(found, each.name)
                each.value = found

    try:
        for cell, value in zip(cells, values, strict=True):
            cell.kept.append(cell.origin.value())
            cell.put(value)
        yield keep
    finally:
        for cell in cells:
            if cell.kept:
                cell.put(cell.kept.pop())


def require_outer(value: Any, name: str) -> None:
    """Raise for a value of a function within the one that is traced, such as an element of a batch."""
    trace = current_trace()
    if not isinstance(value, Tracer) or trace is None:
        return
    known = {*trace.inputs, *(each.value for each in (trace.shared or {}).values()), *trace.captured.snapshots}
    if any(isinstance(each, Input) and each not in known for each in toposort([to_value(value)])):
        raise TraceError(
            f"{name!r}, which outlives the call, is assigned to under vmap or in a function that is differentiated, "
            f"which is traced apart: return the value, and assign it outside"
        )
