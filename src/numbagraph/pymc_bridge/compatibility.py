"""What differs between the versions of PyTensor and PyMC, so that no other file asks for a version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.traversal import applys_between
from pytensor.tensor import subtensor


def nodes_between(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> set[Any]:
    """The applications of ops between variables of a graph."""
    return set(applys_between(inputs, outputs))


def index_of(op: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The key of ``x[key]``, of the run-time inputs of a `Subtensor` or one of its kin."""
    pattern = getattr(op, "idx_list", None)
    if pattern is None:
        return tuple(indices)
    if any(isinstance(each, int) for each in _entries(pattern)):  # PyTensor 3: an entry is the place of its input
        return tuple(_filled(each, indices) for each in pattern)
    return tuple(subtensor.indices_from_subtensor(list(indices), pattern))


def _entries(pattern: Sequence[Any]) -> list[Any]:
    found = []
    for each in pattern:
        found += [each.start, each.stop, each.step] if isinstance(each, slice) else [each]
    return found


def _filled(entry: Any, indices: Sequence[Any]) -> Any:
    if isinstance(entry, slice):
        return slice(*(_filled(each, indices) for each in (entry.start, entry.stop, entry.step)))
    return indices[entry] if isinstance(entry, int) else entry
