"""Calls with arrays of JAX, or its tracers: stand-ins for the arguments while a function is traced, and its results by
JAX's translation of each op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import jax
import numpy as np
from jax.core import Tracer
from jax.dtypes import canonicalize_dtype, extended

from numbagraph.jax_bridge.translate import entered, length_arguments, require_known_lengths
from numbagraph.jit.binding import Arguments
from numbagraph.jit.version import Traced
from numbagraph.runtime.arguments import Abstract, describe, is_generator
from numbagraph.transforms.interpret import effects, evaluate


class Binder(Protocol):
    """The part of a compiled function that binds arguments."""

    static_argnames: tuple[str, ...]

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments: ...


class Finder(Protocol):
    """The part of a compiled function that finds or traces versions."""

    def find(self, arguments: Arguments) -> tuple[Traced, list[Any]]: ...


class Compiled(Protocol):
    """The interface of a compiled function that calls from JAX use."""

    @property
    def _described(self) -> str: ...
    @property
    def definition(self) -> Binder: ...
    @property
    def versions(self) -> Finder: ...


def called(compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a compiled function on arrays of JAX or its tracers."""
    arguments, given = bound(compiled, args, kwargs)
    traced, _ = compiled.versions.find(arguments)
    require_pure(traced, compiled._described, arguments.leaf_names)
    return traced.outputs.rebuild(results_of(traced, inputs_of(traced, given)))


def bound(compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Arguments, list[Any]]:
    """The arguments of a call from JAX as they are traced, and the leaves that were passed."""
    arguments = compiled.definition.bind(args, kwargs)
    if arguments.generators is not None:
        raise TypeError(
            f"{compiled._described} draws random numbers from a numpy.random.Generator, whose state JAX cannot "
            "change: draw outside, and pass the numbers"
        )
    given, arguments.leaves = arguments.leaves, stand_ins(arguments)
    return arguments, given


def stand_ins(arguments: Arguments) -> list[Any]:
    """The arguments as they are traced. Raise an error that names an argument which is no array or number."""
    for leaf, name in zip(arguments.leaves, arguments.leaf_names, strict=True):
        if not isinstance(leaf, jax.Array):
            describe(leaf, name)
    return [stand_in(leaf) for leaf in arguments.leaves]


def stand_in(leaf: Any) -> Any:
    """An argument as it is traced: its type, if it is an array; a number of Python, if JAX takes it for one."""
    if not isinstance(leaf, (jax.Array, np.ndarray, np.generic)) or is_generator(leaf):
        return leaf
    if jax.numpy.issubdtype(leaf.dtype, extended):
        raise TypeError(f"an argument of {leaf.dtype} is a key of JAX: draw outside, and pass the numbers")
    dtype = np.dtype(canonicalize_dtype(leaf.dtype))
    if getattr(leaf, "weak_type", False) and not leaf.ndim:
        return PYTHON_KINDS[dtype.kind]
    return Abstract(leaf.shape, dtype)


PYTHON_KINDS: dict[str, Any] = {"b": False, "i": 0, "f": 0.0, "c": 0j}


def as_given(leaf: Any) -> Any:
    """An argument as its translation takes it: an array of JAX, or a number that is known."""
    return jax.numpy.asarray(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf


def require_pure(traced: Traced, described: str, names: Sequence[str]) -> None:
    """Refuse a function that writes to anything but its results."""
    if traced.outputs.written:
        written = ", ".join(names[number] for number in traced.outputs.written)
        raise TypeError(f"{described} writes into {written}, and JAX's arrays never change: write into a copy")
    if traced.shared.variables:
        raise TypeError(
            f"{described} uses shared variables, whose values JAX would keep as they are now: pass them as arguments"
        )
    require_known_lengths(traced.graph)


def inputs_of(traced: Traced, given: Sequence[Any]) -> list[Any]:
    """The inputs of a graph. Captured arrays are arrays of JAX: constants of NumPy that are 64 bits wide would be
    shared by what JAX compiles with and without 64-bit types."""
    with jax.ensure_compile_time_eval():
        captured = [jax.numpy.asarray(each) for each in traced.captured]
    return [*map(as_given, given), *traced.shared.values(), *captured]


def results_of(traced: Traced, inputs: Sequence[Any]) -> Sequence[Any]:
    """The results of a graph on arrays of JAX or its tracers."""
    graph = traced.graph
    for number in length_arguments(graph):
        if isinstance(inputs[number], Tracer):
            raise TypeError(
                f"lengths, or starts of slices, follow from the argument {graph.inputs[number].name}, which JAX must "
                "know before it compiles: name it in static_argnums of jax.jit"
            )
    translation, conditions = entered(graph, inputs)
    results = translation.results()
    if any(isinstance(each, Tracer) for each in (*inputs, *results)):
        return results
    translation.note_conditions(conditions)
    if translation.failed is not None and translation.failed:
        with effects.suppressed():
            evaluate(graph, [np.asarray(each) if np.ndim(each) else each for each in inputs])  # which raises the error
    return results
