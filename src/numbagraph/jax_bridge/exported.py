"""Functions as JAX's own: traced once for each layout of arguments, and run by JAX's translation of each op."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.dtypes import canonicalize_dtype, extended

from numbagraph.frontend.binding import Arguments
from numbagraph.frontend.jit import GraphFunction
from numbagraph.frontend.tracebacks import for_users
from numbagraph.frontend.traced import Traced
from numbagraph.jax_bridge.translate import Translation, length_arguments, require_known_lengths
from numbagraph.runtime.arguments import Abstract, describe, is_generator
from numbagraph.transforms.interpret import bind, check_entry, effects, evaluate


def exported(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind `numbagraph.to_jax`."""
    if not callable(function):
        raise TypeError(f"to_jax takes functions, not {function!r}")
    compiled = of_jax(function)

    @functools.wraps(compiled.function)
    @for_users
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments, given = bound(compiled, args, kwargs)
        traced, _ = compiled._find(arguments)
        require_pure(traced, compiled._described, arguments.leaf_names)
        return traced.outputs.rebuild(results_of(traced, [as_given(leaf) for leaf in given]))

    return call


def bound(
    compiled: GraphFunction[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Arguments, list[Any]]:
    """The arguments of a call from JAX as they are traced, and the leaves that were given."""
    arguments = compiled._bind(args, kwargs)
    if arguments.generators is not None:
        raise TypeError(
            f"{compiled._described} draws random numbers from a numpy.random.Generator, whose state JAX cannot "
            "change: draw outside, and pass the numbers"
        )
    given, arguments.leaves = arguments.leaves, stand_ins(arguments)
    return arguments, given


def of_jax(function: Callable[..., Any]) -> GraphFunction[..., Any]:
    """The function, as one that JAX runs."""
    if not isinstance(function, GraphFunction):
        return GraphFunction(function, backend="jax")
    if inspect.ismethod(function.function):  # which has versions of its own
        function = GraphFunction(function.function, **function._options)
    return GraphFunction(function.function, **{**function._options, "backend": "jax", "parallel": False})


def stand_ins(arguments: Arguments) -> list[Any]:
    """The arguments as they are traced. What is no array or number is refused by its name."""
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
    """Refuse what writes to something else than its results."""
    if traced.outputs.written:
        written = ", ".join(names[number] for number in traced.outputs.written)
        raise TypeError(f"{described} writes into {written}, and JAX's arrays never change: write into a copy")
    if traced.shared.variables:
        raise TypeError(
            f"{described} uses shared variables, whose values JAX would keep as they are now: pass them as arguments"
        )
    require_known_lengths(traced.graph)


def results_of(traced: Traced, leaves: Sequence[Any]) -> Sequence[Any]:
    """The results of a graph on arrays of JAX or its tracers."""
    graph, inputs = traced.graph, traced.inputs(leaves)
    for number in length_arguments(graph):
        if isinstance(inputs[number], Tracer):
            raise TypeError(
                f"lengths, or starts of slices, follow from the argument {graph.inputs[number].name}, which JAX must "
                "know before it compiles: name it in static_argnums of jax.jit"
            )
    environment = bind(graph, inputs)
    check_entry(graph, environment)
    translation = Translation(graph, environment)
    results = translation.results()
    if any(isinstance(each, Tracer) for each in (*inputs, *results)):
        return results
    translation.note_conditions(graph.late)
    if translation.failed is not None and translation.failed:
        with effects.suppressed():
            evaluate(graph, [np.asarray(each) if np.ndim(each) else each for each in inputs])  # which raises the error
    return results
