"""Attributes, globals and elements that a compiled function assigns to: hidden arguments and results of each call, as
shared variables are, which are put back where they came from once the call has succeeded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.op import registry
from numbagraph.ir.values import Input, toposort
from numbagraph.jit.shared_variables import SharedVariable
from numbagraph.purity.snapshots import Origin, is_storable
from numbagraph.tracing.errors import SideEffectError, TraceError, user_source
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, apply, to_value

_NUMBERS = (bool, int, float, complex)
NOT_STORED = np.empty((), object)
"""A stand-in for the value of an entry that compiled code does not take."""


class StateVariable(SharedVariable):
    """An entry of a dict, such as the attributes of an object, as a shared variable.

    Parameters
    ----------
    origin
        The entry.
    others
        Other entries that hold the same array.
    in_place
        Whether elements of the array in the entry are assigned to.
    """

    def __init__(self, origin: Origin, others: Sequence[Origin] = (), *, in_place: bool = False) -> None:
        self.origin = origin
        self.others = others
        self.in_place = in_place
        self.name = str(origin.key)
        self._cell: Any = StateCell(origin)

    @property
    def _title(self) -> str:
        return f"{self.name!r}, which a function assigns to,"

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

    @property
    def places(self) -> list[Origin]:
        return [self.origin, *self.others]

    def _is_apart(self, variables: Iterable[SharedVariable]) -> bool:
        """Whether elements can be assigned to: the array has the names that it had, and no memory in common with those
        of other variables."""
        array = self.origin.value()
        if not self.in_place or not isinstance(array, np.ndarray):
            return not self.in_place
        others = [each.origin.value() for each in variables if isinstance(each, StateVariable) and each is not self]
        return all(each.value() is array for each in self.others) and not any(
            isinstance(each, np.ndarray) and np.may_share_memory(each, array) for each in others
        )

    def _target(self, is_written: bool) -> Any:
        return WrittenArray(self.origin) if is_written else self._cell

    def _require_writable(self, leaves: Sequence[Any]) -> None:
        array: np.ndarray = self.origin.value()
        if not array.flags.writeable:
            raise ValueError(f"{self._title} is written into, and is read-only: assign a copy to it")
        if any(isinstance(each, np.ndarray) and np.may_share_memory(each, array) for each in leaves):
            raise ValueError(f"{self._title} is written into, and shares memory with an argument: pass a copy")

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
        self.origin.put(value)

    def __getitem__(self, _: int) -> Any:
        found = self.value()
        return np.asarray(found)[()] if is_storable(found) else NOT_STORED

    def __setitem__(self, _: int, new: Any) -> None:
        self.put(new.item() if type(self.value()) in _NUMBERS and not np.ndim(new) else new)


class WrittenArray:
    """An array from outside that a call writes into."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin

    def __setitem__(self, _: int, new: Any) -> None:
        self.origin.value()[...] = new


@contextmanager
def in_place(variables: Collection[StateVariable]) -> Iterator[Callable[[], None]]:
    """Put traced values into the entries inside of the block, and the real ones back behind it. The function that is
    given keeps what the entries hold by then."""
    trace = current_trace()
    if trace is not None:
        trace.entries = [(each.name, each.origin.value) for each in variables]
    values = [each.read() for each in variables]
    begun = [to_value(each) for each in values]

    def keep() -> None:
        for each, first, value in zip(variables, values, begun, strict=True):
            found = [place.value() for place in each.places]
            if all(one is first for one in found):
                continue
            if len(found) > 1 or to_value(first) is not value:
                raise SideEffectError(
                    f"{each.name!r} is bound to another array, and elements of its first one are assigned to, or that "
                    f"one has other names: assign to elements of a copy, x.copy()\n  at {user_source()}"
                )
            require_outer(found[0], each.name)
            each.value = found[0]

    try:
        for each, value in zip(variables, values, strict=True):
            each._cell.kept.append(each.origin.value())
            for place in each.places:
                place.put(value)
        yield keep
    finally:
        for each in variables:
            if each._cell.kept:
                old = each._cell.kept.pop()
                for place in each.places:
                    place.put(old)


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
