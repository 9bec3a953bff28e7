"""Calls of functions on JAX's backend with arrays of JAX, which stay on their device: compiled by `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
import optree
from jax.core import Tracer
from jax.dtypes import canonicalize_dtype

from numbagraph.frontend.reach import Walk
from numbagraph.frontend.traced import Outputs
from numbagraph.ir.abi import ArrayLeaf, Leaf, ScalarLeaf
from numbagraph.ir.static import typed_names
from numbagraph.ir.types import canonical_dtype
from numbagraph.jax_bridge.called import Compiled, as_given, bound, called, stand_in
from numbagraph.jax_bridge.translate import length_arguments, require_known_lengths, results_and_failure, x64
from numbagraph.runtime.arguments import describe, flatten
from numbagraph.runtime.guards import Guards
from numbagraph.transforms.interpret import bind, check_entry

with jax.ensure_compile_time_eval():  # this may be imported while JAX traces
    ARRAY = type(jax.numpy.zeros(()))
"""The class of JAX's concrete arrays."""
TAKEN = frozenset({ARRAY, np.ndarray, int, float, complex})
"""What `jax.jit` takes as NumPy would: other numbers are of other types there."""
MOST_STATES = 8


class Elsewhere(Exception):
    """A call that `jax.jit` knows too little of, or that does more than return results."""


class Wide(Exception):
    """A call that needs 64-bit types."""


class Jitted:
    """A function of arrays for one structure of arguments, and one state of what it reads."""

    def __init__(self, function: Compiled, spec: optree.PyTreeSpec) -> None:
        self._function, self._spec = function, spec
        self._outputs: Outputs | None = None
        self.rebuild: Callable[[Any], Any] | None = None
        self.elsewhere: set[Hashable] = set()
        self.call: Callable[..., tuple[Any, Any]] = jax.jit(self._trace)
        """The results, and whether an index or a condition has failed; None where nothing can."""
        self._narrow: Any = self.call

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """What the function returns, or NotImplemented."""
        if self.elsewhere and layouts(leaves) in self.elsewhere:
            return NotImplemented
        try:
            results, failed = self._called(leaves)
        except Elsewhere:
            self.elsewhere.add(layouts(leaves))
            return NotImplemented
        if failed is not None and failed:
            return NotImplemented  # NumPy says what the error is
        return results if self.rebuild is None else self.rebuild(results)

    def _called(self, leaves: Sequence[Any]) -> tuple[Any, Any]:
        try:
            return self.call(*leaves)
        except Wide:
            self.call = self._wide
            return self.call(*leaves)

    def _wide(self, *leaves: Any) -> tuple[Any, Any]:
        if jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
            return self._narrow(*leaves)
        with x64():  # while JAX traces, and while it lowers what it has traced
            return self._narrow(*leaves)

    def _trace(self, *leaves: Any) -> tuple[Any, Any]:
        try:
            return self._translated(leaves)
        except Wide:
            raise
        except Exception as error:
            raise Elsewhere from error

    def _translated(self, leaves: Sequence[Any]) -> tuple[Any, Any]:
        require_wide(leaf.dtype for leaf in leaves)
        call: Any = optree.tree_unflatten(self._spec, leaves)
        arguments, given = bound(self._function, *call)
        traced, _ = self._function._find(arguments)
        outputs, graph = traced.outputs, traced.graph
        is_direct = traced.is_direct and traced.is_kept and not outputs.has_effects and not traced.watched
        if not is_direct or (self._outputs is not None and self._outputs.alike != outputs.alike):
            raise Elsewhere
        require_wide(value.dtype for value in graph.order if not value.type.weak)
        require_known_lengths(graph)
        inputs = traced.inputs([as_given(leaf) for leaf in given])
        if any(isinstance(inputs[number], Tracer) for number in length_arguments(graph)):
            raise Elsewhere
        check_entry(graph, bind(graph, inputs))
        found = results_and_failure(graph, inputs, graph.late)
        self._outputs = outputs
        self.rebuild = None if outputs.flat and not outputs.single else outputs.rebuilder
        return found


def require_wide(dtypes: Iterable[np.dtype]) -> None:
    """Raise if there are 64-bit types, and JAX has none."""
    if not jax.config.jax_enable_x64 and any(canonicalize_dtype(each) != each for each in dtypes):  # pyright: ignore[reportAttributeAccessIssue]
        raise Wide


def layouts(leaves: Sequence[Any]) -> Hashable:
    return tuple((type(leaf), np.shape(leaf), getattr(leaf, "dtype", None)) for leaf in leaves)


class CompiledFunction(Compiled, Protocol):
    function: Any
    static_argnames: tuple[str, ...]


class State(NamedTuple):
    """What a function was compiled to, and what it read then."""

    guards: Guards
    jitted: dict[Hashable, Jitted]
    """By the structure of the arguments."""


class DeviceCalls:
    """The calls of one function that have an array of JAX among their arguments."""

    def __init__(self, function: CompiledFunction) -> None:
        self._function = function
        self._states: list[State] = []
        """The latest last."""
        self._flat: dict[int, tuple[Jitted, Guards | None]] = {}
        """What the latest calls ran whose arguments were arrays, by their number, where `jax.jit` took them all."""

    def runner(self) -> Callable[..., Any]:
        """What a call tries first: a function, whose call costs half of that of an object."""
        flat, slowly, kept = self._flat, self.call, ARRAY

        def run(*args: Any) -> Any:
            for each in args:  # all() would take three times as long
                if type(each) is not kept:
                    return slowly(args, {})
            if len(args) not in flat:
                return slowly(args, {})
            jitted, guards = flat[len(args)]
            if guards is not None and not guards.hold():
                return slowly(args, {})
            try:
                results, failed = jitted.call(*args)
            except (Elsewhere, Wide):
                return slowly(args, {})
            if failed is not None and failed:
                return NotImplemented
            return results if jitted.rebuild is None else jitted.rebuild(results)

        return run

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function returns, or NotImplemented where no argument is an array of JAX, or more must be known."""
        leaves, spec = flatten((args, kwargs))
        kinds = {*map(type, leaves)}
        if any(issubclass(kind, Tracer) for kind in kinds):
            return called(self._function, args, kwargs)
        if ARRAY not in kinds or not kinds <= TAKEN or self._function.static_argnames:
            return NotImplemented
        state, key = self._state(), (spec, typed_names(spec))
        if key not in state.jitted:
            state.jitted[key] = Jitted(self._function, spec)
        jitted = state.jitted[key]
        with nullcontext() if len(kinds) == 1 else x64():  # which numbers of Python and NumPy's arrays need
            result = jitted(leaves)
        if not kwargs and all(type(each) is ARRAY for each in args):
            self._flat.pop(len(args), None)
            if not jitted.elsewhere:
                self._flat[len(args)] = jitted, state.guards if state.guards.guards else None
        return result

    def _state(self) -> State:
        """What there is for the world as it is now."""
        for number, state in enumerate(reversed(self._states), 1):
            if state.guards.hold():
                if number > 1:
                    self._states.append(self._states.pop(-number))
                return state
        new = State(Guards(Walk(self._function.function, ()).guards.values()), {})
        self._states = [*self._states[1 - MOST_STATES :], new]
        return new


def describe_kept(leaf: Any, name: str) -> tuple[Leaf, Any]:
    """The layout of an argument, and the argument; an array of JAX stays as it is, where it is."""
    if type(leaf) is not ARRAY:
        return describe(stand_in(leaf) if isinstance(leaf, jax.Array) else leaf, name)
    if leaf.weak_type and not leaf.ndim:
        number = leaf.item()
        return ScalarLeaf(type(number)), number
    return ArrayLeaf(canonical_dtype(leaf.dtype), tuple(length == 1 for length in leaf.shape)), leaf
