"""Helpers that translations of JAX's primitives share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import jax
import numpy as np
from jax.extend.core import Jaxpr

from numbagraph.blockwise.promotion import as_value as value_of
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import canonical_dtype
from numbagraph.jax_bridge.translate import x64
from numbagraph.ops.identity import differentiated_as
from numbagraph.purity.nondeterminism import unwatched
from numbagraph.tracing.tracer import Tracer, to_value

MOST_FOLDED = 1024
"""The number of elements up to which constants are computed with NumPy while a function is traced; larger ones are
computed when it runs."""


class ClosedJaxpr(Protocol):
    """A jaxpr with its constants: a class of its own in older versions of JAX, any jaxpr in newer ones (0.12)."""

    @property
    def jaxpr(self) -> Jaxpr: ...

    @property
    def consts(self) -> list[Any]: ...

    @property
    def out_avals(self) -> list[Any]: ...


class Run(Struct):
    """The functions by which translations run the jaxprs that equations hold."""

    closed: Callable[..., list[Any]]
    """``closed(jaxpr, arguments)``"""
    open: Callable[..., list[Any]]
    """``open(jaxpr, constants, arguments)``"""


def jaxpr_of(function: Callable[..., Any], *types: Any) -> ClosedJaxpr:
    """The jaxpr of a function of JAX, with 64-bit types."""
    with unwatched(), x64():
        found = jax.make_jaxpr(function)(*types)
    return cast("ClosedJaxpr", found)  # whose properties are lambdas up to JAX 0.11, which no protocol matches


def traced(operand: Any) -> Tracer:
    """An operand as a traced array."""
    return operand if isinstance(operand, Tracer) else Tracer(value_of(to_value(operand)))


def is_constant(*operands: Any) -> bool:
    """Whether the values of all operands are known during tracing."""
    return not any(isinstance(each, Tracer) for each in operands)


def derived_as(value: Any, form: Any) -> Any:
    """A value with the derivatives of another form of it, which is not computed."""
    if is_constant(value, form):
        return value
    return Tracer(differentiated_as(traced(value).value, traced(form).value))


def large(count: int) -> bool:
    return count > MOST_FOLDED


def shape_of(variable: Any) -> tuple[int, ...]:
    """The shape of a variable in the jaxpr."""
    return tuple(map(int, variable.aval.shape))


def dtype_of(variable: Any) -> np.dtype:
    return canonical_dtype(variable.aval.dtype)


def fitted(result: Any, aval: Any) -> Any:
    """Convert a result, an argument or a constant to the dtype of the jaxpr; keys of random numbers become their
    words."""
    if not isinstance(aval.dtype, np.dtype):
        return result if isinstance(result, (Tracer, np.ndarray)) else np.asarray(jax.random.key_data(result))
    dtype = canonical_dtype(aval.dtype)
    if isinstance(result, Tracer):
        return result if result.dtype == dtype and not result.value.type.weak else result.astype(dtype)
    return np.asarray(result, dtype)[()]
