"""Imported graphs as native functions of arrays, in PyTensor's calling convention: no scalars, only arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.forking import new_lock
from numbagraph.ir.abi import ArrayLeaf, Leaf, NativeSignature, Result
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Input, Value
from numbagraph.jit.phases import has_late_lengths, in_phases
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
        self.late: dict[tuple[Leaf, ...], Callable[..., Any]] = {}
        """Functions that run several programs one after the other, where elements decide on lengths."""
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
            if layouts not in self.plans and self._usual(layouts) not in self.late:
                with collector_at_rest:
                    self._add(layouts)
        results = self.entry(*leaves)
        if results is NotImplemented:
            raise_kept()
            take()
            results = after_failure(self.graph, [*leaves, *self.graph.captured], self.graph.name)
            return [np.asarray(each) for each in results]
        return results

    def _usual(self, layouts: tuple[Leaf, ...]) -> tuple[Leaf, ...]:
        return tuple(map(without_ones, layouts))

    def _add(self, layouts: tuple[Leaf, ...]) -> None:
        """Compile for arguments of these layouts. Which of their lengths are 1 makes no difference to the code."""
        usual = self._usual(layouts)
        if usual not in self.specials:
            name = "".join(each if each.isalnum() else "_" for each in self.graph.name)
            special = Specialisation(self.graph, self._signature(usual), self.graph.captured, name, default_cache())
            self.specials[usual] = special
        special = self.specials[usual]
        if has_late_lengths(special):
            self.late[usual] = self._in_phases(special)
            self.entry = first_that_takes([*reversed(self.late.values())])
            return
        self.plans[layouts] = EntryPlan(
            self._signature(layouts),
            shapes=special.library.address(f"{special.name}.shapes"),
            program=special.library.address(f"{special.name}.program"),
            captured=special.captured,
            keepalive=special.library,
        )
        self.entry = make_callable([*reversed(self.plans.values())], self.graph.name)

    def _in_phases(self, special: Specialisation) -> Callable[..., Any]:
        """The function that runs the programs into which lengths cut a graph, for arguments of any length."""
        special.signature = self._signature(tuple(map(of_any_length, special.signature.arguments)))
        phases = in_phases(special)
        last = phases.specialisations[-1]
        last.signature = replace(last.signature, results=special.signature.results)
        return phases.runner(guarded=False)

    def _signature(self, layouts: tuple[Leaf, ...]) -> NativeSignature:
        captured = tuple(leaf_of(each) for each in self.graph.inputs[len(layouts) :])
        results = tuple(Result(each.dtype, each.ndim) for each in self.graph.outputs)
        return NativeSignature(layouts, captured, results, single=False)


def first_that_takes(functions: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """The functions as one: a call is the first one's that takes the layouts of the arguments."""

    def call(*arrays: Any) -> Any:
        for each in functions:
            results = each(*arrays)
            if results is not NotImplemented:
                return results
        return NotImplemented

    return functions[0] if len(functions) == 1 else call


def as_typed(array: Any, value: Input) -> np.ndarray:
    """Convert an argument to an array of the input's dtype and rank."""
    array = np.asarray(array)
    if array.ndim != value.ndim or not np.can_cast(array.dtype, value.dtype, "same_kind"):
        raise TypeRefused(f"{value.name} must be {value.type}, not an array of {array.dtype} with shape {array.shape}")
    return array.astype(value.dtype, copy=False)


def without_ones(layout: Leaf) -> Leaf:
    return replace(layout, ones=(False,) * layout.ndim) if isinstance(layout, ArrayLeaf) else layout


def of_any_length(layout: Leaf) -> Leaf:
    return replace(layout, ones=(None,) * layout.ndim) if isinstance(layout, ArrayLeaf) else layout
