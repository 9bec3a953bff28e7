"""Functions as JAX's own: traced once for each layout of arguments, and run by JAX's translation of each op."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from numbagraph.jax_bridge.traced_calls import called
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.tracing.tracebacks import for_users


def exported(function: Callable[..., Any]) -> Callable[..., Any]:
    """Implement `numbagraph.to_jax`."""
    if not callable(function):
        raise TypeError(f"to_jax takes functions, not {function!r}")
    compiled = of_jax(function)

    @functools.wraps(compiled.function)
    @for_users
    def call(*args: Any, **kwargs: Any) -> Any:
        return called(compiled, args, kwargs)

    return call


def of_jax(function: Callable[..., Any]) -> GraphFunction[..., Any]:
    """The function, as one that JAX runs."""
    if not isinstance(function, GraphFunction):
        return GraphFunction(function, backend="jax")
    if inspect.ismethod(function.function):  # which has versions of its own
        function = GraphFunction(function.function, **function.definition.options)
    return GraphFunction(function.function, **{**function.definition.options, "backend": "jax", "parallel": False})
