"""Differences, integrals and interpolation of sampled functions; angles without jumps; products of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.promotion import as_strong, as_value, common_rule, convert, promote
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64, INT64, canonical_dtype
from numbagraph.ir.values import Op, Value, constant
from numbagraph.ops.arithmetic import absolute
from numbagraph.ops.comparison import (
    equal,
    greater,
    greater_equal,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
)
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.joining import diff
from numbagraph.ops.reduction import accumulator_dtype, sum
from numbagraph.ops.running import cumprod, cumsum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import at_least, expand_at, move, ravel
from numbagraph.ops.statistics.sorting import argsort, searchsorted


def slices(value: Value, axis: int, *parts: slice) -> list[Value]:
    """Return parts of an array along an axis, counted from the right."""
    after = (slice(None),) * (-axis - 1)
    return [value[(..., part, *after)] for part in parts]


def along_axis(vector: Value, axis: int) -> Value:
    """Return a vector laid along an axis, counted from the right."""
    return expand_at(vector, range(1, -axis))


def gradient_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "b":
        return []
    array, points = draw(rng, dtype, (5,)), np.cumsum(rng.uniform(0.5, 2.0, 5))
    plane = draw(rng, dtype, (4, 5))
    calls: list[tuple[Any, ...]] = [(array,), (array, 0.5), (array, points), (plane,), (plane, 2.0, points)]
    calls += [(plane, Keywords(axis=0)), (plane, points, Keywords(axis=-1)), (array[:2],)]
    return [*calls, (array, Keywords(edge_order=2)), (array, points, Keywords(edge_order=2))]


@decomposition(np.gradient, samples=gradient_samples, ulp=32)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    value = as_strong(f)
    axes = shapes.normalise_axes(axis, value.ndim) if axis is None or not isinstance(axis, tuple) else tuple(
        shapes.normalise_axis(each, value.ndim) for each in axis
    )  # fmt: skip
    if len(set(axes)) < len(axes):
        raise ValueError("repeated axis")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    spacings = [1.0] * len(axes) if not varargs else list(varargs) * len(axes) if len(varargs) == 1 else list(varargs)
    if len(varargs) == 1 and len(axes) > 1 and as_value(varargs[0]).ndim:
        raise TypeError("invalid number of arguments")
    value = value if value.dtype.kind in "fc" else convert(value, FLOAT64)
    found = tuple(slope(value, *pair, edge_order) for pair in zip(axes, spacings, strict=True))
    return found[0] if len(found) == 1 else found


def slope(value: Value, axis: int, spacing: Any, edge_order: int) -> Value:
    """Return differences along an axis: second-order ones inside, one-sided ones at both ends."""
    length, given = value.shape[axis], as_value(spacing)
    if given.ndim > 1:
        raise ValueError("distances must be either scalars or 1d")
    if given.ndim:
        some = shapes.compare("greater", given.shape[0], 1)
        shapes.require(some, "gradient: there are no distances between fewer than two points", IndexError)
    text = "Shape of array too small to calculate a numerical gradient: edge_order + 1 elements are required"
    shapes.require(shapes.compare("greater", length, edge_order), text, ValueError)
    before, here, after = slices(value, axis, slice(None, -2), slice(1, -1), slice(2, None))
    if given.ndim:
        shapes.require_same(given.shape[0], length, "when 1d, distances must match the length of the dimension")
        steps = diff(given if given.dtype.kind == "f" else convert(given, FLOAT64))
        left, right = along_axis(steps[:-1], axis), along_axis(steps[1:], axis)
        total = left + right
        inner = -right / (left * total) * before + (right - left) / (left * right) * here
        inner = inner + left / (right * total) * after
        are_equal = registry["all"](equal(steps, steps[:1]))  # then NumPy takes the formula of equal distances
        inner = where(are_equal, (after - before) / (2.0 * along_axis(steps[:1], axis)), inner)
        ends = [one_sided(value, axis, [steps[0], steps[1]] if edge_order == 2 else [steps[0]], 1),
                one_sided(value, axis, [steps[-1], steps[-2]] if edge_order == 2 else [steps[-1]], -1)]  # fmt: skip
    else:
        inner = (after - before) / (2.0 * given)
        ends = [one_sided(value, axis, [given] * edge_order, 1), one_sided(value, axis, [given] * edge_order, -1)]
    pieces = promote(common_rule(), (ends[0], inner, ends[1]))
    return convert(registry["concatenate"](list(pieces), axis), value.dtype)


def one_sided(value: Value, axis: int, steps: Sequence[Value], direction: int) -> Value:
    """Return the slope at an end, from two or three elements. ``direction`` is that of the array as seen from the
    end."""
    numbers = (0, 1, 2) if direction > 0 else (-1, -2, -3)
    keys = [slice(number, number + 1 or None) for number in numbers[: len(steps) + 1]]
    first, second, *third = slices(value, axis, *keys)
    if not third:
        return (second - first if direction > 0 else first - second) / steps[0]
    near, far = steps
    total = near + far
    coefficients = (-(2.0 * near + far) / (near * total), total / (near * far), -near / (far * total))
    return direction * (coefficients[0] * first + coefficients[1] * second + coefficients[2] * third[0])


def trapezoid_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array, points = draw(rng, dtype, (3, 5)), np.cumsum(rng.uniform(0.5, 2.0, 5))
    calls: list[tuple[Any, ...]] = [(array,), (array, points), (array, None, 0.5), (array, None, 1.0, 0)]
    return [*calls, (array[0],), (array, draw(rng, np.dtype(float), (3, 5)))] if dtype.kind != "b" else []


@decomposition(np.trapezoid, samples=trapezoid_samples, ulp=16, scalar=True)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Value:
    value = as_strong(y)
    axis = shapes.normalise_axis(axis, value.ndim)
    if x is None:
        width: Any = as_value(dx)
    else:
        points = as_strong(x)
        width = along_axis(diff(points), axis) if points.ndim == 1 else diff(points, axis=axis)
    left, right = slices(value, axis, slice(None, -1), slice(1, None))
    return sum(width * (right + left) / 2.0, axis)


@decomposition(np.ediff1d, samples=lambda rng, dtype: end_samples(rng, dtype))
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Value:
    value = ravel(as_strong(ary))
    ends = []
    for name, each in (("to_begin", to_begin), ("to_end", to_end)):
        given = None if each is None else ravel(as_strong(each))
        if given is not None and not np.can_cast(given.dtype, value.dtype, "same_kind"):
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        ends.append([] if given is None else [convert(given, value.dtype)])
    inner = registry["subtract"](value[1:], value[:-1])
    return registry["concatenate"]([*ends[0], inner, *ends[1]]) if ends[0] or ends[1] else inner


def end_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "b":
        return []
    array, ends = draw(rng, dtype, (2, 3)), draw(rng, dtype, (2,))
    return [(array,), (array, ends), (array, None, ends[:1]), (array, ends, ends), (array[0, :1],)]


def running_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (3, 4), (0.5, 2.0))
    calls: list[tuple[Any, ...]] = [(array[0],), (array, Keywords(axis=1)), (array, Keywords(axis=0))]
    return [*calls, (array, Keywords(axis=-1, include_initial=True)), (array[0, :0], Keywords(include_initial=True))]


def declare_cumulative(reference: Any, running: Op, first: int) -> Op:
    @decomposition(reference, samples=running_samples, ulp=32)
    def function(
        x: Any, /, *, axis: Any = None, dtype: Any = None, out: None = None, include_initial: bool = False
    ) -> Value:
        value = at_least(as_strong(x), 1)
        if axis is None and value.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        place = shapes.normalise_axis(0 if axis is None else axis, value.ndim)
        wanted = accumulator_dtype(value.dtype) if dtype is None else canonical_dtype(dtype)
        result = running(value, place, wanted)
        if not include_initial:
            return result
        shape = list(result.shape)
        shape[place] = 1
        return registry["concatenate"]([filled(number_as(first, result.dtype), shape), result], place)

    return function


if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    cumulative_sum = declare_cumulative(np.cumulative_sum, cumsum, 0)
    cumulative_prod = declare_cumulative(np.cumulative_prod, cumprod, 1)


def interp_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "if":
        return []
    points = np.cumsum(rng.uniform(0.5, 1.5, 6)) - 3.0
    values, at = rng.normal(size=6), draw(rng, dtype, (3, 4), (-4.0, 5.0))
    calls: list[tuple[Any, ...]] = [(at, points, values), (at, points, values, -1.0, 7.0), (at, points[:1], values[:1])]
    return [*calls, (at, points, values + 1j), (at, points, values, Keywords(period=3.0)), (at, [0, 1], [2, 5])]


@decomposition(np.interp, samples=interp_samples, ulp=64)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Value:
    at, points, values = as_strong(x), as_strong(xp), as_strong(fp)
    for each in (at, points):
        if each.dtype.kind == "c":
            raise TypeError("Cannot cast array data from complex128 to float64 according to the rule 'safe'")
    at, points = convert(at, FLOAT64), convert(points, FLOAT64)
    values = values if values.dtype == np.complex128 else convert(values, np.result_type(values.dtype, FLOAT64))
    if points.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    text = "fp and xp are not of the same length."
    shapes.require_same(points.shape[0], values.shape[0], text, ValueError)
    some = shapes.compare("greater", points.shape[0], 0)
    shapes.require(some, "array of sample points is empty", ValueError)
    if period is not None:
        at, points, values = periodic(at, points, values, period)
        left = right = None
    if values.dtype.kind != "c":
        return scalar_result(interpolated(at, points, values, left, right))
    parts = []
    for part, unknown in ((registry["real"], np.nan), (registry["imag"], 0.0)):
        first, final = (each if each is None else part(as_value(each)) for each in (left, right))
        parts.append(interpolated(at, points, part(values), first, final, unknown))
    return scalar_result(registry["complex_of"](*parts))


def periodic(at: Value, points: Value, values: Value, period: Any) -> tuple[Value, Value, Value]:
    """Return the points of one period, in order, with one more at either end."""
    length = absolute(convert(as_value(period), FLOAT64))
    shapes.require(greater(length, 0), "period must be a non-zero value", ValueError)
    at, points = (registry["remainder"](each, length) for each in (at, points))
    order = argsort(points)
    points, values = (gather_value(each, [order], -1, checked=False) for each in (points, values))
    points = registry["concatenate"]([points[-1:] - length, points, points[:1] + length])
    return at, points, registry["concatenate"]([values[-1:], values, values[:1]])


def interpolated(at: Value, points: Value, values: Value, left: Any, right: Any, unknown: float = np.nan) -> Value:
    """Interpolate linearly between two points. Before the first and after the last point, the given values count; at
    NaN, ``unknown``."""
    last = shapes.as_value(points.shape[0]) - 1
    place = minimum(maximum(searchsorted(points, at, "right") - 1, 0), last)
    following = minimum(place + 1, last)
    low, high = (gather_value(points, [each], -1, checked=False) for each in (place, following))
    below, above = (gather_value(values, [each], -1, checked=False) for each in (place, following))
    inside = logical_not(logical_or(less_equal(high, low), greater_equal(at, points[-1])))  # points may be NaN
    width = where(inside, high - low, 1.0)
    steepness = (above - below) / width
    line = steepness * (at - low) + below
    line = where(isnan(line), steepness * (at - high) + above, line)  # from a point at infinity
    line = where(logical_and(isnan(line), equal(below, above)), below, line)
    value = where(logical_and(inside, logical_not(less_equal(at, low))), line, below)
    bend = 0.5 * (steepness + slope_before(points, values, place)) * (at - low) + below
    result = differentiated_as(value, where(equal(at, low), bend, line))
    ends = (values[0] if left is None else left, values[-1] if right is None else right)
    first, final = (convert(as_value(each), values.dtype) for each in ends)
    result = where(less(at, points[0]), first, where(greater(at, points[-1]), final, result))
    nowhere = logical_and(isnan(at), shapes.compare("greater", points.shape[0], 1))  # one point is everywhere
    return where(nowhere, constant(unknown, dtype=values.dtype), result)


def slope_before(points: Value, values: Value, place: Value) -> Value:
    """Return the slope of the line that ends at a point; at the point itself, a derivative is the mean of both
    sides."""
    previous = maximum(place - 1, 0)
    low, high = (gather_value(points, [each], -1, checked=False) for each in (previous, place))
    below, above = (gather_value(values, [each], -1, checked=False) for each in (previous, place))
    return (above - below) / where(greater(high, low), high - low, 1.0)


def unwrap_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "if":
        return []
    array = draw(rng, dtype, (3, 5), (-20.0, 20.0))
    return [(array,), (array, None, 0), (array[0], 5), (array, Keywords(period=7)), (array, Keywords(period=6.5))]


@decomposition(np.unwrap, samples=unwrap_samples, ulp=64)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Value:
    value = as_strong(p)
    axis = shapes.normalise_axis(axis, value.ndim)
    length = as_value(period)
    value = convert(value, INT64) if value.dtype.kind == "b" else value
    jumps = diff(value, axis=axis)
    own = jumps.dtype if length.type.weak and (jumps.dtype.kind == "f" or length.dtype.kind != "f") else length.dtype
    wanted = np.result_type(jumps.dtype, own)
    whole = wanted.kind in "iu"
    length = convert(length, wanted)
    half = length // 2 if whole else length / 2
    odd = registry["remainder"](length, 2) if whole else None
    low = -half
    limit = half if discont is None else as_value(discont)
    jumps = convert(jumps, wanted)
    wrapped = registry["remainder"](jumps - low, length) + low
    boundary = logical_and(equal(wrapped, low), greater(jumps, 0))
    if odd is None:
        wrapped = where(boundary, half, wrapped)
    else:
        wrapped = where(logical_and(boundary, equal(odd, 0)), half, wrapped)
    correction = where(less(absolute(jumps), limit), convert(as_value(0), wanted), wrapped - jumps)
    first, rest = slices(convert(value, wanted), axis, slice(None, 1), slice(1, None))
    return registry["concatenate"]([first, convert(rest + cumsum(correction, axis), wanted)], axis)


def cross_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "b":
        return []
    left, right = draw(rng, dtype, (4, 3)), draw(rng, dtype, (4, 3))
    columns = np.ascontiguousarray(left.T), np.ascontiguousarray(right.T)
    return [(left, right), (left, right[0]), (*columns, 0, 0, 0), (*columns, -1, -1, -1, 0), (left[:, None], right)]


@decomposition(np.cross, samples=cross_samples, ulp=8)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Value:
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = promote(common_rule(), (as_strong(a), as_strong(b)))
    operands = []
    for value, each in ((left, axisa), (right, axisb)):
        place = shapes.normalise_axis(each, value.ndim) + value.ndim
        text = "incompatible dimensions for cross product (dimension must be 3)"
        shapes.require_same(value.shape[place], 3, text, ValueError)
        operands.append([move(value, [place], [value.ndim - 1])[..., number] for number in range(3)])
    (x, y, z), (u, v, w) = operands
    result = registry["stack"]([y * w - z * v, z * u - x * w, x * v - y * u], -1)
    return move(result, [result.ndim - 1], [shapes.normalise_axis(axisc, result.ndim) + result.ndim])


@decomposition(np.linalg.cross, name="vector_cross", samples=lambda rng, dtype: cross_samples(rng, dtype)[:1])
def vector_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Value:
    return cross(x1, x2, axis=axis)
