"""Medians, quantiles and percentiles, with variants that ignore NaN: interpolated between elements in order.

The methods are those of Hyndman and Fan ("Sample quantiles in statistical packages", 1996), and the four that choose by
position. Few elements are selected; for many, or with weights, rows are sorted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64, INT64
from numbagraph.ir.values import Constant, Op, Value, constant
from numbagraph.ops.comparison import (
    equal,
    greater_equal,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_or,
    maximum,
    minimum,
)
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.indexing.gathering_rows import gather_along
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.reduction import all, any, sum
from numbagraph.ops.rounding import ceil, floor, rint
from numbagraph.ops.running import cumsum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import broadcast_value, expand_at, move, permute, ravel, reshape_value
from numbagraph.ops.statistics.moments import weights_along
from numbagraph.ops.statistics.order_statistics import elements_at
from numbagraph.ops.statistics.sorting import argsort, insertion_points, sort

CONTINUOUS = {
    "linear": (1.0, 1.0),
    "weibull": (0.0, 0.0),
    "hazen": (0.5, 0.5),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""By method, Hyndman and Fan's two parameters, which give the position of a quantile among n elements."""

BY_POSITION = {"lower": floor, "higher": ceil, "nearest": rint}


def closest(at: Value) -> Value:
    """Return the nearest position; of two, the one whose number, counted from 1, is even."""
    low = at - 0.5
    below = floor(low)
    is_even = equal(below - 2 * floor(below / 2), 1)
    return where(logical_and(equal(low, below), is_even), below, below + 1)


BY_JUMPS: dict[str, Callable[[Value], Value]] = {"inverted_cdf": ceil, "closest_observation": closest}
METHODS = (*CONTINUOUS, "averaged_inverted_cdf", *BY_JUMPS, *BY_POSITION, "midpoint")

SELECTED = 24
"""The number of elements of a row up to which they are selected one after the other: sorting the row takes as long as
about twenty selections."""


def merged(value: Value, axis: Any) -> Value:
    """Return an array with the axes of a reduction merged into its last one."""
    if axis is None:
        return ravel(value)
    axes = [each + value.ndim for each in shapes.normalise_axes(axis, value.ndim)]
    rest = [each for each in range(value.ndim) if each not in axes]
    moved = permute(value, [*rest, *axes])
    kept = moved.shape[: len(rest)]
    return reshape_value(moved, (*kept, shapes.product(moved.shape[len(rest) :])))


def kept_dims(result: Value, value: Value, axis: Any, first: int) -> Value:
    """Return a reduction's result with dimensions of length 1 for the axes; ``first`` others stand before."""
    axes = [each + value.ndim for each in shapes.normalise_axes(axis, value.ndim)]
    return expand_at(result, [first + each for each in axes])


def between(rows: Value, at: Value, count: Value, weigh: Callable[[Value], Value] = lambda part: part) -> Value:
    """Return the elements of rows in order around positions, interpolated; ``count`` is the number of elements of each
    row.

    Weights outside are NumPy's, which says what becomes of zeros. But what an element alone weighs, or of two equal
    ones, is this element: NumPy subtracts infinities of one sign, or multiplies them by zero."""
    is_last, is_before = greater_equal(at, convert(count, at.dtype) - 1), less(at, 0)
    below = where(is_last, -1, where(is_before, 0, floor(at)))
    weight, lower = weigh(at - below), convert(floor(at), INT64)
    left, right = elements(rows, *(minimum(maximum(each, 0), count - 1) for each in (lower, lower + 1)))
    distance = right - left
    near = where(greater_equal(weight, 0.5), right - distance * (1 - weight), left + distance * weight)
    is_left = logical_or(equal(weight, 0), equal(left, right))
    return where(isnan(near), where(is_left, left, where(equal(weight, 1), right, near)), near)


def half_at_jumps(part: Value) -> Value:
    """Return the weight of the element behind a position: one half if the position is at an element, else 1."""
    half, whole = (constant(each, dtype=part.dtype) for each in (0.5, 1.0))
    return where(equal(part, 0), half, whole)


def half_between(part: Value) -> Value:
    """Return the weight of the element behind a position: one half if the position lies between two elements, else
    0."""
    nothing, half = (constant(each, dtype=part.dtype) for each in (0.0, 0.5))
    return where(equal(part, floor(part)), nothing, half)


def elements(rows: Value, *places: Value) -> list[Value]:
    """Return the elements of rows at places of their sorted order, which are the same for all rows, or each row's
    own."""
    wide = [broadcast_value(each, shapes.broadcast_shapes([each.shape, (1,)], "places")) for each in places]
    batch = shapes.broadcast_shapes([each.shape[:-1] for each in wide], "places")
    together = registry["concatenate"]([broadcast_value(each, (*batch, each.shape[-1])) for each in wide], -1)
    length = shapes.resolve(together.shape[-1])
    if isinstance(length, int) and length <= SELECTED:
        found = elements_at(rows, together)
    else:
        inside = broadcast_value(maximum(together, 0), (*rows.shape[:-1], together.shape[-1]))
        found = gather_along(with_one_more(sort(rows)), inside, rows.ndim - 1, checked=False)
    first, parts = 0, []
    for each in wide:
        parts.append(narrow(found, -1, first, each.shape[-1]))
        first = shapes.add(first, each.shape[-1])
    return parts


def with_one_more(rows: Value) -> Value:
    """Return rows with an element behind the others, so that there is one to be read where there are no others."""
    return registry["concatenate"]([rows, filled(number_as(0, rows.dtype), (*rows.shape[:-1], 1))], -1)


def quantile_of(rows: Value, q: Value, method: str, count: Value) -> Value:
    """Return quantiles of each row of ``count`` elements; the first and the last element, at positions outside."""
    scale = convert(count, q.dtype)
    if method in CONTINUOUS:
        alpha, beta = CONTINUOUS[method]
        at = (scale - 1) * q if method == "linear" else scale * q + (alpha + q * (1 - alpha - beta)) - 1
        return between(rows, at, count)
    if method == "averaged_inverted_cdf":
        return between(rows, scale * q - 1, count, half_at_jumps)
    if method in BY_JUMPS:
        at = convert(BY_JUMPS[method](scale * q - 1), INT64)
        return elements(rows, minimum(maximum(at, 0), count - 1))[0]
    at = (scale - 1) * q
    if method in BY_POSITION:
        return elements(rows, convert(BY_POSITION[method](at), INT64))[0]
    if method == "midpoint":
        return between(rows, (floor(at) + ceil(at)) * 0.5, count, half_between)
    raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(METHODS)}")


def weighted_quantile(rows: Value, weights: Value, q: Value, count: Value) -> Value:
    """Return the first elements in order whose weights, with those before, are at least a share ``q`` of all."""
    order = argsort(rows, stable=True)
    ordered, weights = (gather_along(each, order, rows.ndim - 1, checked=False) for each in (rows, weights))
    shares = cumsum(weights, -1, FLOAT64)
    shares = convert(shares / shares[..., -1:], q.dtype)
    require(~isnan(shares), "Weights included NaN, inf or were all zero.")
    # what weighs nothing is not the first of all
    shares = where(equal(shares, 0), -1, shares)
    places = minimum(insertion_points(shares, broadcast_value(q, (*rows.shape[:-1], *q.shape)), right=False), count - 1)
    return gather_along(with_one_more(ordered), maximum(places, 0), rows.ndim - 1, checked=False)


def require(condition: Value, text: str) -> None:
    shapes.require(all(condition) if condition.ndim else condition, text, ValueError)


def merged_weights(weights: Any, value: Value, axis: Any, method: str) -> Value:
    """Return weights of each element of the rows, in the forms that `average` takes."""
    if method != "inverted_cdf":
        raise ValueError("Only method 'inverted_cdf' supports weights.")
    axes = shapes.normalise_axes(axis, value.ndim)
    given = as_strong(weights)
    if given.dtype.kind == "c":
        raise TypeError("Weights must be an array of real numbers")
    spread = broadcast_value(weights_along(given, value, axis, axes), value.shape)
    require(greater_equal(spread, 0), "Weights must be non-negative.")
    return merged(convert(spread, FLOAT64), axis)


def quantiles(
    a: Any, q: Any, axis: Any, method: str, keepdims: bool, skips: bool, scale: int, weights: Any = None
) -> Value:
    """Return quantiles for all functions of this module; ``scale`` is the number that ``q`` is a part of."""
    value = as_strong(a)
    if value.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if value.dtype.kind == "b":
        raise TypeError("quantiles of truth values: convert them, x.astype(float)")
    share = as_value(q)
    # NumPy interpolates nothing where positions are integers: they are if q is, but a number of Python becomes a float
    whole = method == "linear" and scale == 1 and share.dtype.kind in "biu"
    whole = whole and weights is None and not (share.type.weak and value.dtype.kind == "f")
    own = value.dtype if value.dtype.kind == "f" else FLOAT64
    mixed = np.result_type(share.dtype, FLOAT64) if share.dtype.kind in "biu" else share.dtype
    share = convert(share, own if share.type.weak else mixed)
    share = share / constant(scale, dtype=share.dtype) if scale != 1 else share
    require_share(share, scale)
    rows = merged(value, axis)
    length = convert(shapes.as_value(rows.shape[-1]), INT64)
    gaps = isnan(rows) if value.dtype.kind == "f" else None
    if not skips or (whole and gaps is None):
        some = shapes.compare("greater", rows.shape[-1], 0)
        shapes.require(some, f"a quantile of no elements, along an axis of {value.type}", IndexError)
    count = length - sum(gaps, -1, keepdims=True) if skips and gaps is not None else length
    flat = ravel(share)
    if whole:
        found = elements(rows, convert((count - 1) * flat, INT64))[0]
    elif weights is None:
        found = quantile_of(rows, flat, method, count)
    else:
        heavy = merged_weights(weights, value, axis, method)
        heavy = where(gaps, 0.0, heavy) if skips and gaps is not None else heavy
        found = weighted_quantile(rows, heavy, flat, count)
    if gaps is not None or (skips and found.dtype.kind == "f"):
        missing = any(gaps, -1, keepdims=True) if gaps is not None and not skips else equal(count, 0)
        found = where(missing, constant(np.nan, dtype=found.dtype), found)
    found = move(found, [found.ndim - 1], [0])
    found = reshape_value(found, (*share.shape, *found.shape[1:]))
    return kept_dims(found, value, axis, share.ndim) if keepdims else found


def require_share(share: Value, scale: int) -> None:
    text = "Quantiles must be in the range [0, 1]" if scale == 1 else "Percentiles must be in the range [0, 100]"
    if isinstance(share, Constant):
        if not np.all((share.data >= 0) & (share.data <= 1)):
            raise ValueError(text)
        return
    inside = logical_and(greater_equal(share, 0), less_equal(share, 1))
    shapes.require(all(inside) if inside.ndim else inside, text, ValueError)


def refuse(name: str, out: Any, overwrite_input: Any) -> None:
    if out is not None:
        raise TypeError(f"{name}: out= is not supported in a traced function by position: give it by name")
    del overwrite_input  # the elements may be in any order afterwards, so in the one that they are in


def quantile_samples(scale: int, gaps: bool) -> Callable[..., list[tuple[Any, ...]]]:
    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        if dtype.kind in "bc":
            return []
        array = draw(rng, dtype, (3, 7))
        if gaps and dtype.kind == "f":
            array[0, :3], array[1, 2] = np.nan, np.nan
        methods = {"linear", "weibull", "nearest", "midpoint"} if dtype == FLOAT64 else {"hazen" if gaps else "lower"}
        calls: list[tuple[Any, ...]] = [(array, 0.3 * scale), (array, 0.5 * scale, 0)]
        calls += [] if gaps else [(array, [0.0, 1.0 * scale], 1)]  # of no elements, NumPy's result has another shape
        calls += [(array[1:, :1], 0.25 * scale, 1), (array, 0.7 * scale, (0, 1), Keywords(keepdims=True))]
        calls += [(array, 0.37 * scale, 1, Keywords(method=method)) for method in sorted(methods)]
        return calls if gaps else [*calls, (array, 1, 1), (array, np.int64(scale), 0), (array, [scale, 0], None)]

    return samples


def declare_quantile(reference: Any, scale: int, skips: bool) -> Op:
    @decomposition(reference, samples=quantile_samples(scale, skips), ulp=8, scalar=True)
    def function(
        a: Any,
        q: Any,
        axis: Any = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Value:
        refuse(reference.__name__, out, overwrite_input)
        return quantiles(a, q, axis, method, keepdims, skips, scale, weights)

    return function


quantile = declare_quantile(np.quantile, 1, skips=False)
percentile = declare_quantile(np.percentile, 100, skips=False)
nanquantile = declare_quantile(np.nanquantile, 1, skips=True)
nanpercentile = declare_quantile(np.nanpercentile, 100, skips=True)


def median_samples(gaps: bool) -> Callable[..., list[tuple[Any, ...]]]:
    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        if dtype.kind in "bc":
            return []
        array = draw(rng, dtype, (3, 5))
        if gaps and dtype.kind == "f":
            array[0, :3], array[1, 2] = np.nan, np.nan
        return [(array,), (array, 1), (array[:, :4], 1), (array, 0, Keywords(keepdims=True))]

    return samples


def declare_median(reference: Any, skips: bool) -> Op:
    """Declare the middle element, or the mean of the two in the middle."""

    @decomposition(reference, samples=median_samples(skips), ulp=2, scalar=True)
    def function(
        a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False
    ) -> Value:
        refuse(reference.__name__, out, overwrite_input)
        value = as_strong(a)
        value = value if value.dtype.kind in "fc" else convert(value, FLOAT64)
        rows = merged(value, axis)
        gaps, length = isnan(rows), convert(shapes.as_value(rows.shape[-1]), INT64)
        count = length - sum(gaps, -1, keepdims=True) if skips else length
        lower, upper = (count - 1) // 2, count // 2
        left, right = elements(rows, lower, upper)
        zero, two = (constant(each, dtype=value.dtype) for each in (0, 2))  # NumPy's is a sum, which begins with zero
        middle = where(equal(lower, upper), left + zero, (left + right + zero) / two)[..., 0]
        nothing = equal(count, 0)
        missing = nothing[..., 0] if skips else logical_or(any(gaps, -1), nothing)
        found = where(missing, constant(np.nan, dtype=middle.dtype), middle)
        return kept_dims(found, value, axis, 0) if keepdims else found

    return function


median = declare_median(np.median, skips=False)
nanmedian = declare_median(np.nanmedian, skips=True)
