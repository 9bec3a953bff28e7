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

from numbagraph.ir.abi import ArrayLeaf, Leaf, ScalarLeaf
from numbagraph.ir.static import typed_names
from numbagraph.ir.types import canonical_dtype
from numbagraph.jax_bridge.traced_calls import Compiled, bound, called, inputs_of, stand_in
from numbagraph.jax_bridge.translate import entered, length_arguments, require_known_lengths, x64
from numbagraph.jit.version import Outputs
from numbagraph.purity.reachable_code import Walk
from numbagraph.runtime.arguments import describe, flatten
from numbagraph.runtime.guards import Guards

with jax.ensure_compile_time_eval():  # this may be imported while JAX traces
    ARRAY = type(jax.numpy.zeros(()))
"""The class of JAX's concrete arrays."""
TAKEN = frozenset({ARRAY, np.ndarray, int, float, complex})
"""The types of arguments that `jax.jit` treats as NumPy would: other numbers have other types there."""
MOST_STATES = 8


class Elsewhere(Exception):
    """An exception for a call that `jax.jit` cannot handle: it needs known values, or has effects beside its
    results."""


class Wide(Exception):
    """An exception for a call that needs 64-bit types."""


class Jitted:
    """A function of arrays for one structure of arguments, and one state of the objects that it reads."""

    def __init__(self, function: Compiled, spec: optree.PyTreeSpec, *, checks_numbers: bool) -> None:
        self._function, self._spec = function, spec
        self._checks_numbers = checks_numbers
        """Whether numbers follow Python's rules, by which a division by zero is an error; arrays have infinities."""
        self._outputs: Outputs | None = None
        self._may_fail = False
        self.is_direct = False
        """Whether the jitted call returns the function's own results, without a flag for failures."""
        self.elsewhere: set[Hashable] = set()
        self.call: Callable[..., Any] = jax.jit(self._trace)
        self._narrow: Any = self.call

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """Call the function; return its results, or NotImplemented."""
        if self.elsewhere and layouts(leaves) in self.elsewhere:
            return NotImplemented
        try:
            return self.finished(self._called(leaves))
        except Elsewhere:
            self.elsewhere.add(layouts(leaves))
            return NotImplemented

    def _called(self, leaves: Sequence[Any]) -> Any:
        try:
            return self.call(*leaves)
        except Wide:
            self.call = self._wide
            return self.call(*leaves)

    def finished(self, found: Any) -> Any:
        """Convert the value of the jitted call to the results of the function; NotImplemented if an index or a
        condition has failed."""
        if self.is_direct:
            return found
        assert self._outputs is not None
        results, failed = found
        return NotImplemented if failed is not None and failed else self._outputs.rebuild(results)

    def _wide(self, *leaves: Any) -> Any:
        if jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
            return self._narrow(*leaves)
        with x64():  # while JAX traces, and while it lowers what it has traced
            return self._narrow(*leaves)

    def _trace(self, *leaves: Any) -> Any:
        try:
            return self._translated(leaves)
        except Wide:
            raise
        except Exception as error:
            raise Elsewhere from error

    def _translated(self, leaves: Sequence[Any]) -> Any:
        require_wide(leaf.dtype for leaf in leaves)
        call: Any = optree.tree_unflatten(self._spec, leaves)
        arguments, given = bound(self._function, *call)
        traced, _ = self._function.versions.find(arguments)
        outputs, graph = traced.outputs, traced.graph
        is_pure = traced.is_direct and traced.is_kept and not outputs.has_effects and not traced.watched
        if not is_pure or (self._outputs is not None and self._outputs.alike != outputs.alike):
            raise Elsewhere
        require_wide(value.dtype for value in graph.values if not value.type.weak)
        require_known_lengths(graph)
        inputs = inputs_of(traced, given)
        if any(isinstance(inputs[number], Tracer) for number in length_arguments(graph)):
            raise Elsewhere
        translation, conditions = entered(graph, inputs)
        results = translation.results()
        translation.note_conditions(conditions if self._checks_numbers else graph.late)
        failed = translation.failed
        if self._outputs is not None and self._may_fail != (failed is not None):
            raise Elsewhere
        self._outputs, self._may_fail = outputs, failed is not None
        self.is_direct = outputs.flat and not self._may_fail
        return outputs.rebuild(results) if self.is_direct else (results, failed)


def require_wide(dtypes: Iterable[np.dtype]) -> None:
    """Raise `Wide` if there are 64-bit types that JAX's configuration does not have."""
    if not jax.config.jax_enable_x64 and any(canonicalize_dtype(each) != each for each in dtypes):  # pyright: ignore[reportAttributeAccessIssue]
        raise Wide


def layouts(leaves: Sequence[Any]) -> Hashable:
    return tuple((type(leaf), np.shape(leaf), getattr(leaf, "dtype", None)) for leaf in leaves)


class CompiledFunction(Compiled, Protocol):
    function: Any
    static_argnames: tuple[str, ...]


class State(NamedTuple):
    """The jitted versions of a function, and guards on the objects that it had read."""

    guards: Guards
    jitted: dict[Hashable, Jitted]
    """The versions of the function by the structure of the arguments."""


class DeviceCalls:
    """The calls of one function that have an array of JAX among their arguments."""

    def __init__(self, function: CompiledFunction) -> None:
        self._function = function
        self._states: list[State] = []
        """The states, the latest last."""
        self._latest: tuple[int, Jitted, Guards | None] | None = None
        """The number of arguments, the version and the guards of the latest call whose arguments were all arrays of
        JAX, if `jax.jit` has taken every such call."""

    def run(self, *args: Any) -> Any:
        """Call the function with positional arguments, by the latest version if it fits, and otherwise by `call`."""
        if self._latest is None:
            return self.call(args, {})
        count, jitted, guards = self._latest
        if len(args) != count or (guards is not None and not guards.hold()):
            return self.call(args, {})
        for each in args:  # all() would take three times as long
            if type(each) is not ARRAY:
                return self.call(args, {})
        try:
            found = jitted.call(*args)
        except (Elsewhere, Wide):
            return self.call(args, {})
        return found if jitted.is_direct else jitted.finished(found)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function; return its results, or NotImplemented if no argument is an array of JAX, or values must be
        known."""
        leaves, spec = flatten((args, kwargs))
        kinds = {*map(type, leaves)}
        if any(issubclass(kind, Tracer) for kind in kinds):
            return called(self._function, args, kwargs)
        if ARRAY not in kinds or not kinds <= TAKEN or self._function.definition.static_argnames:
            return NotImplemented
        all_arrays = len(kinds) == 1
        state, key = self._state(), (spec, typed_names(spec), all_arrays)
        if key not in state.jitted:
            state.jitted[key] = Jitted(self._function, spec, checks_numbers=not all_arrays)
        jitted = state.jitted[key]
        with nullcontext() if all_arrays else x64():  # which numbers of Python and NumPy's arrays need
            result = jitted(leaves)
        if not kwargs and all(type(each) is ARRAY for each in args):
            guards = state.guards if state.guards.guards else None
            self._latest = None if jitted.elsewhere else (len(args), jitted, guards)
        return result

    def _state(self) -> State:
        """The state whose guards hold now, or a new one."""
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
