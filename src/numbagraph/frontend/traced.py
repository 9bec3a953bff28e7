"""A function's graph for one layout of its arguments, traced by calling it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import optree

from numbagraph.frontend.active import tracing
from numbagraph.frontend.locating import require_own
from numbagraph.frontend.tracing import Tracer, input_shape, to_value
from numbagraph.ir.abi import ArrayLeaf, Leaf, ScalarLeaf
from numbagraph.ir.graph import Graph
from numbagraph.ir.static import typed_names
from numbagraph.ir.structs import Struct, cached_property, replace
from numbagraph.ir.values import ArrayType, Input, Value
from numbagraph.ops import effects
from numbagraph.rewrite.capture import fold_captured
from numbagraph.runtime.arguments import flatten, refuse_labelled_and_lazy
from numbagraph.runtime.specialise import Specialisation


class Outputs(Struct):
    """How the results of a graph become what the function returns."""

    spec: optree.PyTreeSpec
    slots: tuple[int | None, ...]
    """For each leaf of the returned tree the result that it is, or None for a static leaf."""
    static: tuple[Any, ...]
    """The leaves that are the same in each call, as they were when the function was traced."""
    has_effects: bool = False
    """Whether there is a result before the others, which nobody gets, so that effects take place, and do so first."""

    @property
    def flat(self) -> bool:
        """Whether the native entry can build the returned object itself: one result, or a tuple of them."""
        one_level = self.spec.type is tuple and self.spec.num_nodes == len(self.slots) + 1
        return self.in_order and (self.spec.is_leaf() or one_level)

    @cached_property
    def in_order(self) -> bool:
        """Whether the results are the leaves of the returned tree."""
        return self.slots == tuple(range(len(self.slots))) and bool(self.slots)

    def behind_effects(self) -> Outputs:
        slots = tuple(None if slot is None else slot + 1 for slot in self.slots)
        return replace(self, slots=slots, has_effects=True)

    @property
    def single(self) -> bool:
        """Whether the function returns one result itself, rather than a tree of results."""
        return self.flat and self.spec.is_leaf()

    @property
    def alike(self) -> Any:
        """Equal for outputs that are rebuilt in the same way."""
        static = any(slot is None for slot in self.slots)
        return id(self) if static else (self.spec, typed_names(self.spec), self.slots)

    def rebuild(self, results: Sequence[Any]) -> Any:
        """What the function returns, from the results of its graph."""
        if self.in_order:
            return optree.tree_unflatten(self.spec, results)
        leaves = [
            own_copy(static) if slot is None else results[slot]
            for slot, static in zip(self.slots, self.static, strict=True)
        ]
        return optree.tree_unflatten(self.spec, leaves)


class Version(NamedTuple):
    """How a compiled function is run: on the leaves of its arguments; ``rebuild`` makes of its tuple of results what
    the function returns, unless that is the tuple itself."""

    run: Callable[..., Any]
    rebuild: Callable[[Any], Any] | None


class CacheInfo(NamedTuple):
    """What `GraphFunction.cache_info` tells."""

    versions: int
    compiled: int
    found: int


class Traced(Struct, frozen=False):
    """A function's graph for one dispatch key, and how to call it."""

    graph: Graph
    captured: tuple[np.ndarray, ...]
    leaves: tuple[Leaf, ...]
    outputs: Outputs
    version: Version | None = None
    specialisation: Specialisation | None = None
    is_kept: bool = True
    """Whether later calls may have it: nothing changed that it reads while it was traced."""


def trace(
    call: Callable[[list[Tracer]], Any], layouts: Sequence[Leaf], names: Sequence[str], name: str, described: str
) -> Traced:
    """The graph of ``call`` on tracers, one for each of ``layouts``; ``name`` is the graph's own, ``described`` how an
    error speaks of the function."""
    with tracing(described) as current:
        inputs = [make_input(*each) for each in zip(layouts, names, strict=True)]
        values, outputs = collect_outputs(call([Tracer(each, argument=True) for each in inputs]), described)
        if current.order is not None and current.order is not effects.first():
            values, outputs = (current.order, *values), outputs.behind_effects()
        hidden = tuple(current.captured.snapshots)
        captured = tuple(current.captured.snapshots.values())
        guards = current.guards
        graph = Graph((*inputs, *hidden), values, tuple(guards.guards), tuple(guards.equalities), name)
        require_own(graph)
    graph, captured = fold_captured(graph, captured)
    hidden_layouts = [ArrayLeaf(array.dtype, tuple(length == 1 for length in array.shape)) for array in captured]
    return Traced(graph, captured, (*layouts, *hidden_layouts), outputs)


def make_input(layout: Leaf, name: str) -> Input:
    if isinstance(layout, ScalarLeaf):
        return Input(ArrayType(layout.dtype, (), weak=True), name)
    return Input(ArrayType(layout.dtype, input_shape(name, layout.ones)), name)


def collect_outputs(returned: Any, described: str) -> tuple[tuple[Value, ...], Outputs]:
    """The graph's outputs, one for each traced leaf of the returned tree even if several are equal, and how to build
    that tree from them."""
    leaves, spec = flatten(returned)
    for leaf in leaves:
        if isinstance(leaf, (Iterator, Coroutine)):
            raise TypeError(
                f"{described} returns a {type(leaf).__name__}, which is used up by whoever takes what it holds: a "
                f"compiled function runs in Python once, so each call would give the same one. Return a list or a tuple"
            )
    numbers = itertools.count()
    slots = tuple(next(numbers) if isinstance(leaf, Tracer) else None for leaf in leaves)
    static = tuple(None if isinstance(leaf, Tracer) else own_copy(leaf) for leaf in leaves)
    return tuple(to_value(leaf) for leaf in leaves if isinstance(leaf, Tracer)), Outputs(spec, slots, static)


def own_copy(leaf: Any) -> Any:
    """A leaf that nobody else writes to, and that holds nothing traced."""
    refuse_labelled_and_lazy(leaf, "what a traced function returns")
    return leaf.copy() if isinstance(leaf, (np.ndarray, set, bytearray)) else leaf
