"""Predicates on values that rules use as conditions."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Constant, Node, Value

DIGITS = {"float32": 24, "float64": 53, "complex64": 24, "complex128": 53}
"""Bits of the largest consecutive integer of a dtype."""


def integer(x: Value) -> bool:
    return x.dtype.kind in "iu"


def integral(x: Value) -> bool:
    return x.dtype.kind in "biu"


def boolean(x: Value) -> bool:
    return x.dtype == BOOL


def real(x: Value) -> bool:
    return x.dtype.kind != "c"


def number(x: Value) -> bool:
    """Whether a value is real, and not a truth value."""
    return x.dtype.kind in "iuf"


def floating(x: Value) -> bool:
    return x.dtype.kind == "f"


def is_constant(*values: Value) -> bool:
    return all(isinstance(each, Constant) for each in values)


def in_range(x: Value) -> bool:
    """Whether a constant is far from overflow and underflow, and not 0."""
    if not isinstance(x, Constant) or not floating(x):
        return False
    exponent = np.frexp(x.data)[1]
    return bool(np.all(np.isfinite(x.data) & (x.data != 0) & (np.abs(exponent) < np.finfo(x.dtype).maxexp - 2)))


def power_of_two(x: Value) -> bool:
    """Whether multiplying by a constant is exact, bit for bit, as is multiplying by its reciprocal."""
    return in_range(x) and isinstance(x, Constant) and bool(np.all(np.abs(np.frexp(x.data)[0]) == 0.5))


def is_op(value: Value, *names: str) -> TypeGuard[Node]:
    return isinstance(value, Node) and value.op.name in names


def same_shape(x: Value, y: Value) -> bool:
    return x.ndim == y.ndim and all(map(shapes.same, x.shape, y.shape))


def keeps_values(source: np.dtype, target: np.dtype) -> bool:
    """Whether every value of ``source`` is one of ``target``. NumPy's `can_cast` lets int64 pass for float64."""
    if source.kind in "iu" and target.kind in "fc":
        bits = source.itemsize * 8 - (source.kind == "i")
        return bits <= DIGITS[target.name]
    return np.can_cast(source, target)
