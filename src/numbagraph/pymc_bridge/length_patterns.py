"""Versions of native functions for lengths of 1: PyTensor repeats these where its types do not say so, and decides when
a function runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable

from numbagraph.ir.shapes import ShapeError
from numbagraph.pymc_bridge.array_function import TypeRefused
from numbagraph.pymc_bridge.graph_partition import NativeFunction, Partition, Untranslated, native_function
from numbagraph.pymc_bridge.importer import static_shape
from numbagraph.pymc_bridge.translations.draws import NotDrawn

Lengths = tuple[int | None, ...]


def assumed(variable: Variable, array: Any) -> Lengths:
    """The lengths of a variable's type, and those that are 1 in a call."""
    known = static_shape(variable)
    return tuple([1 if length == 1 else each for each, length in zip(known, np.shape(array), strict=False)])


class LengthPatterns:
    """The versions of a partition's function, by the lengths that are 1. Each is made once PyTensor has accepted such
    lengths; other lengths may differ from call to call."""

    def __init__(self, partition: Partition, name: str) -> None:
        self.partition, self.name = partition, name
        self.versions: dict[Any, NativeFunction | None] = {}

    def pattern(self, arrays: Sequence[Any]) -> tuple[Lengths, ...]:
        return tuple([assumed(*each) for each in zip(self.partition.inputs, arrays, strict=True)])

    def find(self, arrays: Sequence[Any], kinds: Any = None) -> NativeFunction | None:
        """The version for arrays, if there is one. ``kinds`` are those of bit generators, as `learn` has them."""
        return self.versions.get((kinds, self.pattern(arrays))) if self.versions else None

    def learn(
        self,
        arrays: Sequence[Any],
        refusal: ShapeError | TypeRefused,
        kinds: Any = None,
        generators: Mapping[Variable, str] | None = None,
    ) -> None:
        """Make a version for lengths that have been refused, and that PyTensor took, unless there can be none."""
        pattern = self.pattern(arrays)
        usual = all(each == static_shape(one) for one, each in zip(self.partition.inputs, pattern, strict=True))
        if isinstance(refusal, (TypeRefused, NotDrawn)) or usual or (kinds, pattern) in self.versions:
            return
        lengths = dict(zip(self.partition.inputs, pattern, strict=True))
        try:
            version = native_function(self.partition, self.name, generators, lengths)
        except Untranslated:
            version = None
        self.versions[kinds, pattern] = version
