"""``arange``: of integers exactly, of floats with as many elements as NumPy's, and in its dtypes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition
from numbagraph.blockwise.lengths import as_extent, ceil_divide, is_nonnegative
from numbagraph.blockwise.promotion import as_strong, as_value, convert, promote, ufunc_rule, weak_convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT64, INT64, UINT64, canonical_dtype
from numbagraph.ir.values import Constant, Extent, Node, Value, constant, toposort
from numbagraph.ops.creation import iota
from numbagraph.transforms.interpret import evaluate_scalar

TOO_LONG = "arange: the length is too large, or not a number"
LONGEST = 2**62


def folded(value: Value) -> Value:
    """Return a constant in place of a value that follows from constants alone, and any other value as it is."""
    if not all(isinstance(each, (Node, Constant)) for each in toposort([value])):
        return value
    return constant(np.asarray(evaluate_scalar(value, {}), value.dtype))


def require(condition: Value, subject: str, error: type[Exception]) -> None:
    """Require a condition at entry, or at once if it follows from constants."""
    known = folded(condition)
    shapes.require(bool(known.data) if isinstance(known, Constant) else known, subject, error)


def require_fit(numbers: tuple[Value, Value], dtype: np.dtype, length: Extent) -> None:
    """Require that the first two numbers of a range, as far as it has any, fit into an integer dtype, as NumPy does."""
    limits = np.iinfo(dtype)
    for before, number in enumerate(numbers):
        if number.dtype == dtype:
            continue
        if number.dtype.kind == "f":  # which is truncated
            value, least, most = convert(number, FLOAT64), float(limits.min), float(limits.max)
            above = registry["greater_equal"](value, least) if dtype == INT64 else registry["greater"](value, least - 1)
            fits = above & registry["less"](value, most if dtype.itemsize == INT64.itemsize else most + 1)
        else:
            fits = registry["greater_equal"](number, limits.min) & registry["less_equal"](number, limits.max)
        absent = registry["less_equal"](shapes.as_value(length), before)
        require(absent | fits, f"Python integer out of bounds for {dtype}", OverflowError)


# ---- integers ----


def integer_range(start: Value, stop: Value, step: Value, dtype: np.dtype) -> Value:
    """``arange`` of integers."""
    first, last, by = (as_extent(shapes.resolve(each), "an end of a range") for each in (start, stop, step))
    shapes.require(shapes.compare("not_equal", by, 0), "arange with a step of 0", ZeroDivisionError)
    length = integer_length(first, last, by)
    if dtype != INT64:
        require_fit((shapes.as_value(first), shapes.as_value(shapes.add(first, by))), dtype, length)
    numbers = iota(length if is_nonnegative(length) else shapes.maximum(length, 0))
    if not (isinstance(by, int) and by == 1):
        numbers = numbers * by
    return convert(numbers if isinstance(first, int) and first == 0 else numbers + first, dtype)


def integer_length(start: Extent, stop: Extent, step: Extent) -> Extent:
    """Return the number of integers in a range, and require that an array may be as long."""
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        length = max(-((start - stop) // step), 0)
        shapes.require(length <= LONGEST, TOO_LONG, ValueError)
        return length
    near = is_nonnegative(start) and is_nonnegative(stop)
    if isinstance(step, int) and (near or (isinstance(start, int) and start == 0 and step == 1)):
        distance = shapes.subtract(stop, start) if step > 0 else shapes.subtract(start, stop)
        return ceil_divide(distance, abs(step))
    length, fits = distant_length(*map(shapes.as_value, (start, stop, step)))
    shapes.require(fits, TOO_LONG, ValueError)
    return length


def distant_length(start: Value, stop: Value, step: Value) -> tuple[Extent, Value]:
    """Return the number of integers in a range, or the largest number where there are more, and whether an array may be
    as long. The distance is computed in uint64, since it may exceed int64."""
    is_up, where = step > 0, registry["where"]
    low, high = where(is_up, start, stop), where(is_up, stop, start)
    size = as_unsigned(where(is_up, step, -step))
    count = registry["floor_divide"](as_unsigned(high) - as_unsigned(low) - np.uint64(1), size)
    fits = (high <= low) | (count < np.uint64(LONGEST))
    before_last = as_extent(registry["minimum"](count, np.uint64(2**63 - 2)))
    return as_extent(where(high > low, shapes.as_value(before_last) + 1, 0)), fits


def as_unsigned(number: Value) -> Value:
    return registry["cast"].bind(number, dtype=UINT64)


# ---- floats ----


def float_range(start: Value, stop: Value, step: Value, dtype: np.dtype) -> Value:
    """Return ``arange`` of floats, with the distance of the first two elements as the step, as in NumPy."""
    start, stop, step = map(widened, (start, stop, step))
    length = shapes.maximum(float_length(start, stop, step), 0)
    ends = start, folded(registry["add"](start, step))
    if dtype.kind in "iu":
        require_fit(ends, dtype, length)
    numbers, (first, second) = iota(length), (convert(as_strong(each), dtype) for each in ends)
    others = first + convert(numbers, dtype) * (second - first)
    following = registry["where"](registry["equal"](numbers, 1), second, others)
    return registry["where"](registry["equal"](numbers, 0), first, following)  # also where the step is infinite


def float_length(start: Value, stop: Value, step: Value) -> Extent:
    """Return the quotient of distance and step, rounded up; a quotient that underflows counts as part of an element."""
    require(registry["not_equal"](step, 0), "arange with a step of 0", ZeroDivisionError)
    distance = distance_between(start, stop)
    count = registry["divide"](distance, step if step.dtype.kind == "f" else convert(step, FLOAT64))
    underflows = registry["equal"](count, 0) & registry["not_equal"](distance, 0) & ~registry["signbit"](count)
    count = folded(convert(registry["where"](underflows, 1, count), FLOAT64))
    require(abs(count) < float(LONGEST), TOO_LONG, ValueError)
    if isinstance(count, Constant):
        return math.ceil(count.data.item())
    return as_extent(registry["cast"](registry["ceil"](count), INT64))


def widened(number: Value) -> Value:
    """Return an integer as one of 64 bits."""
    is_narrow = number.dtype.kind in "biu" and number.dtype != UINT64 and not number.type.weak
    return convert(number, INT64) if is_narrow else number


def distance_between(start: Value, stop: Value) -> Value:
    """Return ``stop - start``; for integers as a float, but computed exactly."""
    stop, start = promote(ufunc_rule(np.subtract), (stop, start))
    if stop.dtype.kind not in "iu":
        return stop - start
    is_up, low, high = stop >= start, as_unsigned(start), as_unsigned(stop)
    size = convert(registry["where"](is_up, high - low, low - high), FLOAT64)
    return registry["where"](is_up, size, -size)


# ---- both ----


def end_of_range(number: Any) -> Value:
    value = as_value(number)
    if value.dtype != BOOL:
        return value
    if not value.type.weak:
        raise TypeError(f"an end of a range must be a number, not {value.type}")
    return weak_convert(value, INT64)


def range_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "if":
        return []
    return [(5,), (2, 9, 3), (9, 2, -2), (3, 1), (0.5, 3.0, 0.25), (4, None, 1, dtype)]


@decomposition(np.arange, samples=range_samples)
def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None, **_: Any) -> Value:
    if stop is None:
        start, stop = 0, start
    first, last, by = (end_of_range(each) for each in (start, stop, 1 if step is None else step))
    common = np.result_type(INT64, first.dtype, last.dtype, by.dtype)
    wanted = common if dtype is None else canonical_dtype(dtype)
    is_integral = common.kind in "iu" and wanted.kind in "iu"
    return (integer_range if is_integral else float_range)(first, last, by, wanted)
