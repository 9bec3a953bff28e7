"""Attributes, globals and elements that a compiled function assigns to: hidden arguments and results of each call, as
shared variables are, which are put back where they came from once the call has succeeded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.op import registry
from numbagraph.jit.shared_variables import SharedVariable
from numbagraph.purity.snapshots import Origin
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, apply, to_value

_NUMBERS = (bool, int, float, complex)


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
        return np.asarray(self.value())[()]

    def __setitem__(self, _: int, new: Any) -> None:
        self.put(new.item() if type(self.value()) in _NUMBERS and not np.ndim(new) else new)


def is_storable(origin: Origin) -> bool:
    """Whether an entry holds an array or a number, and a trace has put another one in its place."""
    kinds = (*_NUMBERS, np.generic, np.ndarray, Tracer)
    return type(origin.holder) is dict and all(isinstance(each, kinds) for each in (origin.old, origin.new))


@contextmanager
def in_place(variables: Collection[StateVariable]) -> Iterator[Callable[[], None]]:
    """Put traced values into the entries inside of the block, and the real ones back behind it. The function that is
    given keeps what the entries hold by then."""
    cells = [each._cell for each in variables]
    trace = current_trace()
    if trace is not None:
        trace.entries = [(each.name, each._cell.origin.value) for each in variables]
    values = [each.read() for each in variables]

    def keep() -> None:
        for each, cell, first in zip(variables, cells, values, strict=True):
            if (found := cell.origin.value()) is not first:
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
