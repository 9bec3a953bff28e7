"""Conversion of numbers to elements of arrays, as NumPy stores them: Python's numbers, and some of NumPy's own, must
fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value, convert, holds_values, is_large
from numbagraph.ir import shapes
from numbagraph.ir.collectors import active_collector
from numbagraph.ir.graph import Guard
from numbagraph.ir.op import boxing, registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import BOOL, FLOAT64
from numbagraph.ir.values import Constant, Node, Value, constant, current_source

NOT_A_NUMBER = "cannot convert float NaN to integer"
INSTEAD = ": an array of floats would hold it"


def written(operand: Any, dtype: np.dtype, *, alone: bool = False) -> Value:
    """Return an operand as NumPy writes it into elements of a dtype: a Python number, and each number of a list, must
    fit. An array need not fit. Neither need a NumPy scalar, unless it is ``alone``, that is, not taken for an array."""
    if isinstance(operand, (list, tuple)) and holds_values(operand):
        return registry["stack"]([written(each, dtype, alone=True) for each in operand])
    if isinstance(operand, (list, tuple)):
        return constant_elements(operand, dtype)
    if alone and isinstance(operand, np.generic):
        return constant(constant_elements([operand], dtype).data[0], dtype=dtype)
    return constant_elements(operand, dtype) if is_large(operand) else element_of(as_value(operand), dtype, alone=alone)


def element_of(value: Value, dtype: np.dtype, *, alone: bool = False) -> Value:
    """Return a value in the dtype of the elements that it is stored into. As in NumPy, a Python number must fit; so
    must a NumPy float that is ``alone``, but only into signed integers."""
    if dtype.kind not in "iu" or value.ndim or value.dtype.kind not in "iuf":
        return convert(value, dtype)
    if value.type.weak and isinstance(value, Constant):
        return constant_elements(value.data.item(), dtype)
    if value.dtype.kind == "f" and (value.type.weak or (alone and dtype.kind == "i" and boxing(value) == "scalar")):
        if dtype.kind == "u" or magnitude(value) >= np.iinfo(dtype).max:
            require_fit(value, dtype)
        return registry["cast"].bind(value, dtype=dtype)
    return convert(value, dtype)


def constant_elements(numbers: Any, dtype: np.dtype) -> Constant:
    """Return numbers that are known while the function is traced as a constant. Where one does not fit, a guard raises
    the error when the program gets there."""
    try:
        with np.errstate(all="ignore"):
            return constant(np.asarray(numbers, dtype), dtype=dtype)
    except (ValueError, OverflowError) as error:
        collector = active_collector()
        if collector is None:
            raise
        collector.add(Guard(constant(False, dtype=BOOL), str(error), current_source(), type(error)))
        return constant(np.zeros(np.shape(numbers), dtype), dtype=dtype)


def require_fit(value: Value, dtype: np.dtype) -> None:
    """Require that a float, cut off to an integer, fits into an integer dtype."""
    number = value if value.dtype == FLOAT64 else registry["cast"](value, FLOAT64)
    shapes.require(registry["logical_not"](registry["isnan"](number)), NOT_A_NUMBER + INSTEAD, ValueError)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    is_exact = low - 1 == float(low - 1)  # what is above it is cut off to the least integer
    above = registry["greater"](number, low - 1.0) if is_exact else registry["greater_equal"](number, float(low))
    fits = registry["logical_and"](above, registry["less"](number, high + 1.0))
    shapes.require_of(fits, f"out of bounds for {dtype}", OverflowError, OutOfBounds(dtype), (number,))


DEPTH = 8
"""The number of nested operations through which the magnitude of a number is followed."""


def magnitude(value: Value, depth: int = DEPTH) -> float:
    """Return an upper bound of the absolute value of a number that is computed from integers; infinity if none is
    known."""
    if value.dtype == BOOL or value.dtype.kind in "iu":
        return 1.0 if value.dtype == BOOL else float(np.iinfo(value.dtype).max) + 1
    if isinstance(value, Constant):
        return float(abs(value.data)) if np.isfinite(value.data) else np.inf
    if not isinstance(value, Node) or value.op.name not in _MAGNITUDES or not depth or value.dtype != FLOAT64:
        return np.inf
    if value.op.name == "divide" and not isinstance(value.inputs[1], Constant):
        return np.inf
    return _MAGNITUDES[value.op.name](*[magnitude(each, depth - 1) for each in value.inputs])


def _sum(left: float, right: float) -> float:
    return (left + right) * ROUNDED


def _product(left: float, right: float) -> float:
    return left * right * ROUNDED if np.inf not in (left, right) else np.inf


ROUNDED = 1 + 2.0**-50
_MAGNITUDES: dict[str, Callable[..., float]] = {
    **dict.fromkeys(("cast", "as_scalar", "negative", "absolute", "trunc"), lambda x: x),
    **dict.fromkeys(("floor", "ceil", "rint"), lambda x: x + 1),
    **dict.fromkeys(("add", "subtract"), _sum),
    **dict.fromkeys(("minimum", "maximum"), max),
    "multiply": _product,
    "divide": lambda x, y: x / y * ROUNDED if y else np.inf,
}


class OutOfBounds(Struct):
    """A function that makes the error of a float which does not fit into an integer dtype."""

    dtype: np.dtype

    def __call__(self, number: Any) -> OverflowError:
        if np.isinf(number):
            return OverflowError("cannot convert float infinity to integer" + INSTEAD)
        return OverflowError(f"Python integer {int(number)} out of bounds for {self.dtype}{INSTEAD}")
