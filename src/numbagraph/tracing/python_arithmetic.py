"""Python's operators on Python's numbers: where they raise errors, although the machine's instructions do not.

An argument that is a Python number, a length, and what operators make of these alone are Python numbers: a division by
zero is an error, and so is an integer that leaves int64, since the machine's would wrap. Each check is a guard on
scalars, which runs at the entry; the bounds of lengths and of constants make most of them unnecessary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from numbagraph.blockwise.elementwise import as_integers
from numbagraph.blockwise.promotion import as_value, convert, weak_convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT64, INT64
from numbagraph.ir.values import Constant, Dim, Node, Value, current_source

Check = tuple[Value | bool, str, type[Exception]]
Bounds = tuple[int, int]

SMALLEST, LARGEST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
DEPTH = 8
"""The number of operations through which the bounds of an integer are followed."""

OVERFLOW = "an integer of Python leaves int64 here: compute with floats (1.0 * n) where numbers are that large"
NOT_REAL = (
    "a negative number to a fractional power is complex in Python, and the type must not depend on the value: "
    "write (x + 0j) ** y, or np.power(x, y) for NumPy's NaN"
)
NOT_AN_INTEGER = (
    "an integer to a negative power is a float in Python, and the type must not depend on the value: "
    "write (1.0 * n) ** m"
)


def is_own_limit(message: str) -> bool:
    """Whether an error is about a limit that the machine's numbers have, and Python's have not."""
    return any(each in message for each in (OVERFLOW, NOT_REAL, NOT_AN_INTEGER, "to an integer of 64 bits"))


def checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Python's operator ``function``, with the checks that Python makes where all operands are Python numbers."""
    check = _CHECKS[name]

    @wraps(function)
    def operator(*operands: Any) -> Any:
        if name == "pow":
            operands = float_powers(operands)
        result = function(*operands)
        if isinstance(result, Value) and result.type.weak:
            for condition, message, error in check(*map(as_value, operands), result):
                _require(condition, message, error)
        return result

    return operator


def _require(condition: Value | bool, message: str, error: type[Exception]) -> None:
    if condition is False:
        raise error(f"{message}\n  at {current_source()}")
    shapes.require(condition, message, error)


def float_powers(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of a power: of integers with a negative constant exponent it is one of floats."""
    base, exponent = map(as_value, operands)
    number = known(exponent)
    if base.type.weak and base.dtype.kind in "bi" and isinstance(number, int) and number < 0:
        return weak_convert(weak_convert(base, INT64), FLOAT64), float(number)
    return operands


def known(value: Value) -> complex | None:
    """The number that a constant is."""
    return value.data.item() if isinstance(value, Constant) and not value.ndim else None


def is_not_zero(value: Value) -> Value | bool:
    number = known(value)
    return registry["not_equal"](value, 0) if number is None else bool(number)


def either(left: Value | bool, right: Value | bool) -> Value | bool:
    if left is True or right is True:
        return True
    if left is False or right is False:
        return right if left is False else left
    return registry["logical_or"](left, right)


def bounds(value: Value, depth: int = DEPTH) -> Bounds:
    """The bounds between which an integer lies."""
    if value.dtype == BOOL:
        return 0, 1
    if isinstance(value, Constant):
        return int(value.data), int(value.data)
    if isinstance(value, Dim):
        return 0, LARGEST
    if isinstance(value, Node) and depth and value.op.name in _BOUNDS:
        low, high = _BOUNDS[value.op.name](*[bounds(each, depth - 1) for each in value.inputs])
        return max(low, SMALLEST), min(high, LARGEST)
    return SMALLEST, LARGEST


def _products(left: Bounds, right: Bounds) -> Bounds:
    corners = [one * other for one in left for other in right]
    return min(corners), max(corners)


def _quotients(left: Bounds, right: Bounds) -> Bounds:
    if right[0] <= 0:
        return SMALLEST, LARGEST
    corners = [one // other for one in left for other in right]
    return min(corners), max(corners)


_BOUNDS: dict[str, Callable[..., Bounds]] = {
    "add": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "subtract": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "multiply": _products,
    "square": lambda x: (0, max(x[0] ** 2, x[1] ** 2)),
    "negative": lambda x: (-x[1], -x[0]),
    "floor_divide": _quotients,
    "remainder": lambda left, right: (0, right[1] - 1) if right[0] > 0 else (SMALLEST, LARGEST),
    "minimum": lambda left, right: (min(left[0], right[0]), min(left[1], right[1])),
    "maximum": lambda left, right: (max(left[0], right[0]), max(left[1], right[1])),
}


def fits(name: str, *operands: Value) -> bool:
    """Whether the bounds of the operands exclude that the result of an op leaves int64."""
    low, high = _BOUNDS[name](*map(bounds, operands))
    return low >= SMALLEST and high <= LARGEST


def is_near(exact: Value, wrapped: Value) -> Value:
    """Whether an integer did not wrap: it is then as close to a float as rounding, and else off by 2**64 or more."""
    difference = registry["absolute"](exact - weak_convert(wrapped, FLOAT64))
    return registry["less"](difference, 2.0**62)


def as_float(value: Value) -> Value:
    return weak_convert(value, FLOAT64)


def _fits(name: str, condition: str, left: Value, right: Value) -> Iterator[Check]:
    left, right = as_integers((left, right))
    if not fits(name, left, right):
        yield registry[condition](convert(left, INT64), convert(right, INT64)), OVERFLOW, OverflowError


def check_sum(left: Value, right: Value, result: Value) -> Iterator[Check]:
    if result.dtype == INT64:
        yield from _fits("add", "sum_fits", left, right)


def check_difference(left: Value, right: Value, result: Value) -> Iterator[Check]:
    if result.dtype == INT64:
        yield from _fits("subtract", "difference_fits", left, right)


def check_product(left: Value, right: Value, result: Value) -> Iterator[Check]:
    if result.dtype == INT64:
        yield from _fits("multiply", "product_fits", left, right)


def check_quotient(_left: Value, right: Value, _result: Value) -> Iterator[Check]:
    yield is_not_zero(right), "division by zero", ZeroDivisionError


def check_floor_quotient(left: Value, right: Value, result: Value) -> Iterator[Check]:
    yield is_not_zero(right), "division by zero", ZeroDivisionError
    if result.dtype == INT64:
        left, right = as_integers((left, right))
        if bounds(left)[0] == SMALLEST and bounds(right)[0] <= -1 <= bounds(right)[1]:
            is_alone = registry["not_equal"](left, SMALLEST)
            yield either(is_alone, registry["not_equal"](right, -1)), OVERFLOW, OverflowError


def check_left_shift(left: Value, right: Value, result: Value) -> Iterator[Check]:
    yield from check_right_shift(left, right, result)
    left, right = as_integers((left, right))
    returns = registry["equal"](registry["right_shift"](result, right), left)
    inside = registry["logical_and"](registry["less"](right, 64), returns)
    yield registry["logical_or"](registry["equal"](left, 0), inside), OVERFLOW, OverflowError


def check_right_shift(_left: Value, right: Value, _result: Value) -> Iterator[Check]:
    if bounds(as_integers((right, right))[0])[0] < 0:
        yield registry["greater_equal"](right, 0), "negative shift count", ValueError


def check_negative(operand: Value, result: Value) -> Iterator[Check]:
    if result.dtype == INT64 and bounds(operand)[0] == SMALLEST:
        yield registry["not_equal"](operand, SMALLEST), OVERFLOW, OverflowError


def check_absolute(operand: Value, result: Value) -> Iterator[Check]:
    if operand.dtype.kind == "c":
        finite = registry["isfinite"]
        fine = registry["logical_or"](finite(result), registry["logical_not"](finite(operand)))
        yield fine, "absolute value too large", OverflowError
    else:
        yield from check_negative(operand, result)


def check_power(base: Value, exponent: Value, result: Value) -> Iterator[Check]:
    if result.dtype == INT64:
        base, exponent = as_integers((base, exponent))
        yield from _check_integer_power(base, exponent, result)
        return
    finite, number = registry["isfinite"], known(exponent)
    yield from _check_power_of_zero(base, exponent)
    if result.dtype == FLOAT64 and not (isinstance(number, (int, float)) and float(number).is_integer()):
        whole = registry["equal"](registry["floor"](exponent), exponent)
        unlimited = registry["logical_not"](registry["logical_and"](finite(base), finite(exponent)))
        real = either(registry["logical_not"](registry["less"](base, 0)), either(whole, unlimited))
        yield real, NOT_REAL, ValueError
    if result.dtype != FLOAT64:
        return
    limited = registry["logical_and"](finite(base), finite(exponent))
    fine = registry["logical_or"](finite(result), registry["logical_not"](limited))
    yield fine, "result of ** is too large for a float", OverflowError


def _check_power_of_zero(base: Value, exponent: Value) -> Iterator[Check]:
    message = "0.0 cannot be raised to a negative power"
    if exponent.dtype.kind == "c":
        size, angle = registry["real"](exponent), registry["imag"](exponent)
        fine = registry["logical_and"](registry["greater_equal"](size, 0), registry["equal"](angle, 0))
        yield either(is_not_zero(base), fine), message, ZeroDivisionError
        return
    number = known(exponent)
    if number is None:
        unlimited = registry["logical_not"](registry["isfinite"](exponent))
        fine = either(registry["greater_equal"](exponent, 0), unlimited)
        yield either(is_not_zero(base), fine), message, ZeroDivisionError
    elif isinstance(number, (int, float)) and -np.inf < number < 0:
        yield is_not_zero(base), message, ZeroDivisionError


def _check_integer_power(base: Value, exponent: Value, result: Value) -> Iterator[Check]:
    number = known(exponent)
    if isinstance(number, int):
        low, high = power_limits(number)
        if low > bounds(base)[0] or high < bounds(base)[1]:
            inside = registry["logical_and"](registry["less_equal"](low, base), registry["less_equal"](base, high))
            yield inside, OVERFLOW, OverflowError
        return
    if bounds(exponent)[0] < 0:
        yield from _check_power_of_zero(base, exponent)
        yield registry["greater_equal"](exponent, 0), NOT_AN_INTEGER, ValueError
    estimate = registry["power"](as_float(base), as_float(exponent))
    yield is_near(estimate, result), OVERFLOW, OverflowError


def power_limits(exponent: int) -> Bounds:
    """The smallest and the largest integer of which a power fits into int64."""
    if exponent <= 1:
        return SMALLEST, LARGEST
    high = int(LARGEST ** (1 / exponent)) + 1
    while high**exponent > LARGEST:
        high -= 1
    return (-high - 1 if (-high - 1) ** exponent == SMALLEST else -high), high


def check_order(left: Value, right: Value, _result: Value) -> Iterator[Check]:
    if "c" in (left.dtype.kind, right.dtype.kind):
        yield False, "complex numbers have no order in Python: compare their parts or absolute values", TypeError


def _nothing(*_values: Value) -> Iterator[Check]:
    return iter(())


_CHECKS: dict[str, Callable[..., Iterator[Check]]] = {
    "add": check_sum,
    "sub": check_difference,
    "mul": check_product,
    "truediv": check_quotient,
    "floordiv": check_floor_quotient,
    "mod": check_quotient,
    "pow": check_power,
    "lshift": check_left_shift,
    "rshift": check_right_shift,
    "neg": check_negative,
    "abs": check_absolute,
    **dict.fromkeys(("lt", "le", "gt", "ge"), check_order),
    **dict.fromkeys(("matmul", "and", "or", "xor", "pos", "invert"), _nothing),
}
