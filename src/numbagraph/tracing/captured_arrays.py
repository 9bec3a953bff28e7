"""The arrays of enclosing scopes that a function uses while it is traced: hidden arguments of its graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import ArrayType, Dim, Input

LONGEST_KNOWN = 8
"""The length up to which that of a captured array is known while a function is compiled."""

LONGEST_SHARED = 256
"""The number of elements up to which arrays are compared, such as ``np.eye(2)`` in each step of a loop."""


class Captured:
    """The arrays that one function captures, each as it was when it was met: the function may change it in between."""

    def __init__(self) -> None:
        self.snapshots: dict[Input, np.ndarray] = {}
        self.have_known_lengths = False
        """Whether the version that is made is one for known lengths of its arguments: long lengths are known, too."""
        self._known: dict[int, tuple[np.ndarray, Input]] = {}
        """Arrays and their hidden arguments by the identity of the array, as long as the array lives."""
        self._equal: dict[tuple[Any, ...], Input] = {}
        """The hidden arguments of short arrays by the arrays' contents."""

    def input_of(self, array: np.ndarray) -> Input:
        """The hidden argument for an array. Short ones of the same elements share theirs."""
        content = np.asarray(array, dtype=canonical_dtype(array.dtype), order="C")
        known = self._known.get(id(array))
        if known is None or not has_same_bytes(self.snapshots[known[1]], content):
            snapshot = content.copy()
            snapshot.flags.writeable = False
            known = self._known[id(array)] = (array, self._input_of(snapshot))
        return known[1]

    def _input_of(self, snapshot: np.ndarray) -> Input:
        if snapshot.size > LONGEST_SHARED:
            return self._new_input(snapshot)
        key = (snapshot.dtype, snapshot.shape, snapshot.tobytes())
        if key not in self._equal:
            self._equal[key] = self._new_input(snapshot)
        return self._equal[key]

    def _new_input(self, snapshot: np.ndarray) -> Input:
        name = f"captured{len(self.snapshots)}"
        value = Input(
            ArrayType(snapshot.dtype, captured_shape(name, snapshot.shape, known=self.have_known_lengths)), name
        )
        self.snapshots[value] = snapshot
        return value


def has_same_bytes(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether contiguous arrays are the same, with NaN and the sign of zero."""
    return one.shape == other.shape and np.array_equal(one.reshape(-1).view(np.uint8), other.reshape(-1).view(np.uint8))


def captured_shape(name: str, lengths: Iterable[int], *, known: bool) -> tuple[Any, ...]:
    """The shape of a captured array, with short lengths as they are: loops of a few iterations are unrolled."""
    return tuple(
        length if known or length <= LONGEST_KNOWN else Dim(f"{name}.shape[{axis}]")
        for axis, length in enumerate(lengths)
    )
