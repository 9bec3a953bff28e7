"""Imported graphs as native functions of arrays, in PyTensor's calling convention: no scalars, only arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.forking import new_lock
from numbagraph.ir.abi import ArrayLeaf, Leaf, NativeSignature, Result
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Input, Value
from numbagraph.pymc_bridge.importer import ImportedGraph
from numbagraph.pymc_bridge.native import leaf_of
from numbagraph.runtime.arguments import describe
from numbagraph.runtime.cache import default_cache
from numbagraph.runtime.entry import EntryPlan, make_callable
from numbagraph.runtime.failures import take
from numbagraph.runtime.garbage_collection import collector_at_rest
from numbagraph.runtime.interruption import raise_kept
from numbagraph.runtime.specialise import Specialisation
from numbagraph.tracing.tracebacks import for_users
from numbagraph.transforms.interpret import after_failure


class TypeRefused(TypeError):
    """An array is not of the dtype or the rank that a graph was made for."""


class ArrayFunction:
    """A graph of arrays, compiled for each memory layout that it meets.

    A call gives a list or a tuple with one array for each output, in memory of its own.
    """

    def __init__(self, graph: ImportedGraph) -> None:
        outputs: dict[Value, int] = {}
        self.slots = [outputs.setdefault(each, len(outputs)) for each in graph.outputs]
        self.repeats = len(outputs) < len(self.slots)
        self.graph = replace(graph, outputs=tuple(outputs))
        self.specials: dict[tuple[Leaf, ...], Specialisation] = {}
        self.plans: dict[tuple[Leaf, ...], EntryPlan] = {}
        self.entry: Callable[..., Any] = make_callable([], graph.name)
        self.lock = new_lock()

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs that a caller passes, without the captured arrays."""
        return self.graph.inputs[: len(self.graph.inputs) - len(self.graph.captured)]

    def __call__(self, *arrays: Any) -> Sequence[np.ndarray]:
        results = self.entry(*arrays)
        if results is NotImplemented:
            results = self._call_slowly(arrays)
        return self._spread(results) if self.repeats else results

    def _spread(self, results: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Repeat results, where several outputs are one value."""
        taken: set[int] = set()
        spread = []
        for slot in self.slots:
            spread.append(results[slot].copy() if slot in taken else results[slot])
            taken.add(slot)
        return spread

    @for_users
    def _call_slowly(self, arrays: Sequence[Any]) -> Sequence[np.ndarray]:
        """Call with a new layout, or with arguments that are no arrays of the right dtype; or run a call again that has
        failed."""
        raise_kept()
        given = [as_typed(*each) for each in zip(arrays, self.inputs, strict=True)]
        described = [describe(array, value.name) for array, value in zip(given, self.inputs, strict=True)]
        layouts, leaves = tuple(each for each, _ in described), [each for _, each in described]
        with self.lock:
            if layouts not in self.plans:
                with collector_at_rest:
                    self.plans[layouts] = self._plan(layouts)
                self.entry = make_callable([*reversed(self.plans.values())], self.graph.name)
        results = self.entry(*leaves)
        if results is NotImplemented:
            raise_kept()
            take()
            results = after_failure(self.graph, [*leaves, *self.graph.captured], self.graph.name)
            return [np.asarray(each) for each in results]
        return results

    def _plan(self, layouts: tuple[Leaf, ...]) -> EntryPlan:
        """The plan for arguments of these layouts. Which of their lengths are 1 makes no difference to the code."""
        usual = tuple(map(without_ones, layouts))
        if usual not in self.specials:
            name = "".join(each if each.isalnum() else "_" for each in self.graph.name)
            special = Specialisation(self.graph, self._signature(usual), self.graph.captured, name, default_cache())
            self.specials[usual] = special
        special = self.specials[usual]
        return EntryPlan(
            self._signature(layouts),
            shapes=special.library.address(f"{special.name}.shapes"),
            program=special.library.address(f"{special.name}.program"),
            captured=special.captured,
            keepalive=special.library,
        )

    def _signature(self, layouts: tuple[Leaf, ...]) -> NativeSignature:
        captured = tuple(leaf_of(each) for each in self.graph.inputs[len(layouts) :])
        results = tuple(Result(each.dtype, each.ndim) for each in self.graph.outputs)
        return NativeSignature(layouts, captured, results, single=False)


def as_typed(array: Any, value: Input) -> np.ndarray:
    """Convert an argument to an array of the input's dtype and rank."""
    array = np.asarray(array)
    if array.ndim != value.ndim or not np.can_cast(array.dtype, value.dtype, "same_kind"):
        raise TypeRefused(f"{value.name} must be {value.type}, not an array of {array.dtype} with shape {array.shape}")
    return array.astype(value.dtype, copy=False)


def without_ones(layout: Leaf) -> Leaf:
    return replace(layout, ones=(False,) * layout.ndim) if isinstance(layout, ArrayLeaf) else layout
