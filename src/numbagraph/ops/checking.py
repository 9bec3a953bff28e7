"""Conditions on the elements of arrays, which are known only when a function runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import draw, elementwise
from numbagraph.blockwise.promotion import Kind, as_value, convert
from numbagraph.intrinsics.emitters import scalar
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Op, Value

MESSAGE = "a condition does not hold"


def checked_array(a: Any, condition: Any, *, message: str = MESSAGE, error: type[Exception] = ValueError) -> Any:
    if not np.all(condition):
        raise error(message)
    return np.array(np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(condition))))[()]


def check_rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    return np.dtype(kinds[0]), BOOL, np.dtype(kinds[0])


def check_frontend(
    op: Op, a: Any, condition: Any, *, message: str = MESSAGE, error: type[Exception] = ValueError
) -> Value:
    value = as_value(a)
    return op.bind(convert(value, value.dtype), convert(as_value(condition), BOOL), message=message, error=error)


check = elementwise(
    checked_array,
    name="check",
    emit=lambda emitter, a, condition, **_: a.value,
    refuse=lambda node: scalar.is_false,
    dtype=check_rule,
    frontend=check_frontend,
    vjp=lambda g, y, a, condition, **_: (g, None),
    jnp=lambda a, condition, **_: a,
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)), np.True_), (draw(rng, dtype, (3, 4)), np.ones(4, BOOL))],
    cost=0.0,
)
"""Give the first operand where the condition holds; where it does not, raise ``error`` with a message. Only NumPy and
native code raise it: JAX has no way to."""
