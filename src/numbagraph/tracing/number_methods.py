"""Methods that numbers of Python and NumPy have and arrays have not: ``n.bit_length()``, ``x.is_integer()``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Value
from numbagraph.tracing.concretization import Unknown

UINT64 = np.dtype(np.uint64)


def magnitude(number: Value) -> Value:
    """Return the absolute value of an integer, in a dtype that holds it."""
    if number.dtype.kind == "i":
        number = registry["cast"](number, INT64)
        number = registry["where"](registry["less"](number, 0), registry["negative"](number), number)
    return registry["cast"](number, UINT64)


def bit_length(number: Value) -> Value:
    below = magnitude(number)
    for step in (1, 2, 4, 8, 16, 32):  # each bit below the highest one is set
        below = registry["bitwise_or"](below, registry["right_shift"](below, np.uint64(step)))
    return registry["cast"].bind(registry["bitwise_count"](below), dtype=INT64, weak=True)


def bit_count(number: Value) -> Value:
    return registry["cast"].bind(registry["bitwise_count"](magnitude(number)), dtype=INT64, weak=True)


def is_integer(number: Value) -> Value:
    whole = registry["equal"](number, registry["trunc"](number))
    return registry["cast"].bind(registry["logical_and"](whole, registry["isfinite"](number)), dtype=BOOL, weak=True)


METHODS: dict[str, Callable[[Value], Value]] = {each.__name__: each for each in (bit_count, bit_length, is_integer)}


def method_of(array: Unknown, name: str) -> Callable[[Value], Value] | None:
    """Return a method as a function of the number; None where the number has no such method, and for arrays."""
    method = METHODS.get(name)
    return method if method is not None and hasattr(array.python_class(), name) else None
