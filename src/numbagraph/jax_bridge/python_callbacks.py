"""JAX's callbacks to Python. They get arrays of JAX, as from JAX itself, with 64-bit types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from numbagraph.api.callbacks import pure_callback
from numbagraph.blockwise.promotion import as_value
from numbagraph.jax_bridge.translate import x64
from numbagraph.jax_bridge.translation import Run, is_constant, shape_of
from numbagraph.ops.control.operands import strong
from numbagraph.ops.effects import effect
from numbagraph.runtime.arguments import Abstract
from numbagraph.tracing.effect_tokens import order_here, set_order
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, to_value, user_source

METHODS = {"expand_dims": "expand_dims", "broadcast_all": "broadcast_all"}
"""The `vmap` methods of JAX that compute a batch by one call, by numbagraph's names; all others are sequential."""


def of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arrays: Any) -> Any:
        with x64():
            return function(*map(jax.numpy.asarray, arrays))

    return call


def pure(_run: Run, equation: Any, *operands: Any) -> list[Any]:
    callback = of_arrays(equation.params["callback"])

    def call(*arrays: Any) -> list[np.ndarray]:
        return [np.asarray(each) for each in callback(*arrays)]

    types = [Abstract(shape_of(each), each.aval.dtype) for each in equation.outvars]
    method = METHODS.get(equation.params["vmap_method"], "sequential")
    return list(pure_callback(call, types, *operands, vmap_method=method))


def debugging(_run: Run, equation: Any, *operands: Any) -> list[Any]:
    """Translate a callback that is made for its effects, in its order among others."""

    def run(*arrays: Any) -> None:
        equation.primitive.impl(*arrays, **equation.params)

    call = of_arrays(run)
    if current_trace() is None and is_constant(*operands):
        call(*operands)
        return []
    name = equation.primitive.name.replace("debug_", "jax.debug.")
    values = [strong(as_value(to_value(each))) for each in operands]
    set_order(Tracer(effect(call, name, user_source(), order_here(), values)))
    return []


TABLE: dict[str, Callable[..., Any]] = {"debug_callback": debugging, "debug_print": debugging, "pure_callback": pure}
