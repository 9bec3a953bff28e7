"""Medians, quantiles and percentiles, also of what is not NaN: interpolated between elements in order.

The methods are those of Hyndman and Fan (1996) which interpolate, and the four that choose by position.
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
from numbagraph.ops.comparison import equal, greater_equal, isnan, less_equal, logical_and, logical_or, maximum, minimum
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.gathering import gather_along
from numbagraph.ops.reduction import all, any, sum
from numbagraph.ops.rounding import ceil, floor, rint
from numbagraph.ops.selection import where
from numbagraph.ops.shape import broadcast_value, expand_at, permute, ravel, reshape_value
from numbagraph.ops.sorting import sort

CONTINUOUS = {
    "linear": (1.0, 1.0),
    "weibull": (0.0, 0.0),
    "hazen": (0.5, 0.5),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""Hyndman and Fan's two parameters: where among n elements a quantile lies."""

BY_POSITION = {"lower": floor, "higher": ceil, "nearest": rint}


def merged(value: Value, axis: Any) -> Value:
    """An array with the axes of a reduction as its last one."""
    if axis is None:
        return ravel(value)
    axes = [each + value.ndim for each in shapes.normalise_axes(axis, value.ndim)]
    rest = [each for each in range(value.ndim) if each not in axes]
    moved = permute(value, [*rest, *axes])
    kept = moved.shape[: len(rest)]
    return reshape_value(moved, (*kept, shapes.product(moved.shape[len(rest) :])))


def kept_dims(result: Value, value: Value, axis: Any, first: int) -> Value:
    """A reduction's result with dimensions of length 1 for the axes; ``first`` others stand before."""
    axes = [each + value.ndim for each in shapes.normalise_axes(axis, value.ndim)]
    return expand_at(result, [first + each for each in axes])


def between(rows: Value, position: Value, count: Value) -> Value:
    """The elements of rows in order around a position, interpolated; ``count`` is how many there are of each row."""
    last = count - 1
    position = minimum(maximum(position, convert(as_value(0), position.dtype)), convert(last, position.dtype))
    below = floor(position)
    weight = position - below
    lower = convert(below, INT64)
    upper = minimum(lower + 1, last)
    left, right = (element(rows, each) for each in (lower, upper))
    distance = right - left
    near = where(greater_equal(weight, 0.5), right - distance * (1 - weight), left + distance * weight)
    return where(equal(left, right), left, near)


def with_one_more(rows: Value) -> Value:
    """Rows with an element behind the others, so that there is one to be read where there are no others."""
    return registry["concatenate"]([rows, filled(number_as(0, rows.dtype), (*rows.shape[:-1], 1))], -1)


def element(rows: Value, position: Value) -> Value:
    """One element of each row, at least the first."""
    position = broadcast_value(maximum(position, 0), (*rows.shape[:-1], 1))
    return gather_along(rows, position, rows.ndim - 1, checked=False)


def quantile_of(rows: Value, q: Value, method: str, count: Value) -> Value:
    """The quantile of each row, whose NaN stand last."""
    scale = convert(count, q.dtype)
    if method in CONTINUOUS:
        alpha, beta = CONTINUOUS[method]
        at = (scale - 1) * q if method == "linear" else scale * q + (alpha + q * (1 - alpha - beta)) - 1
        return between(rows, at, count)
    at = (scale - 1) * q
    if method in BY_POSITION:
        return element(rows, convert(BY_POSITION[method](at), INT64))
    if method == "midpoint":
        low, high = (element(rows, convert(each(at), INT64)) for each in (floor, ceil))
        return low + (high - low) * 0.5
    known = ", ".join([*CONTINUOUS, *BY_POSITION, "midpoint"])
    raise ValueError(f"method {method!r} of quantiles is not supported in a traced function: those that are: {known}")


def quantiles(a: Any, q: Any, axis: Any, method: str, keepdims: bool, skips: bool, scale: int) -> Value:
    """What all of these functions have in common; ``scale`` is what ``q`` is a part of."""
    value = as_strong(a)
    if value.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if value.dtype.kind == "b":
        raise TypeError("quantiles of truth values: convert them, x.astype(float)")
    share = as_value(q)
    own = value.dtype if value.dtype.kind == "f" else FLOAT64
    mixed = np.result_type(share.dtype, FLOAT64) if share.dtype.kind in "biu" else share.dtype
    share = convert(share, own if share.type.weak else mixed)
    share = share / constant(scale, dtype=share.dtype) if scale != 1 else share
    require_share(share, scale)
    ordered = sort(merged(value, axis))
    length = convert(shapes.as_value(ordered.shape[-1]), INT64)
    gaps = isnan(ordered) if value.dtype.kind == "f" else None
    if not skips:
        some = shapes.compare("greater", ordered.shape[-1], 0)
        shapes.require(some, f"a quantile of no elements, along an axis of {value.type}", IndexError)
    rows = with_one_more(ordered)
    count = length - sum(gaps, -1, keepdims=True) if skips and gaps is not None else length
    flat = ravel(share) if share.ndim else share
    each = [flat] if not share.ndim else [flat[number] for number in known_length(flat)]
    results = [quantile_of(rows, one, method, count)[..., 0] for one in each]
    if gaps is not None or (skips and results[0].dtype.kind == "f"):
        missing = any(gaps, -1) if gaps is not None and not skips else equal(count, 0)
        nothing = missing[..., 0] if missing.ndim == rows.ndim else missing
        results = [where(nothing, constant(np.nan, dtype=result.dtype), result) for result in results]
    found = registry["stack"](results) if share.ndim else results[0]
    if share.ndim:
        found = reshape_value(found, (*share.shape, *found.shape[1:]))
    return kept_dims(found, value, axis, share.ndim) if keepdims else found


def known_length(flat: Value) -> range:
    length = shapes.resolve(flat.shape[0])
    if not isinstance(length, int):
        raise TypeError("how many quantiles there are must be known when the function is traced: write a list of them")
    return range(length)


def require_share(share: Value, scale: int) -> None:
    text = "Quantiles must be in the range [0, 1]" if scale == 1 else "Percentiles must be in the range [0, 100]"
    if isinstance(share, Constant):
        if not np.all((share.data >= 0) & (share.data <= 1)):
            raise ValueError(text)
        return
    inside = logical_and(greater_equal(share, 0), less_equal(share, 1))
    shapes.require(all(inside) if inside.ndim else inside, text, ValueError)


def refuse(name: str, out: Any, overwrite_input: Any, weights: Any = None) -> None:
    if out is not None:
        raise TypeError(f"{name}: out= is not supported in a traced function by position: give it by name")
    if weights is not None:
        raise NotImplementedError(f"{name} with weights is not supported in a traced function: sort, and use cumsum")
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
        return calls

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
        refuse(reference.__name__, out, overwrite_input, weights)
        return quantiles(a, q, axis, method, keepdims, skips, scale)

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
    """The middle element, or the mean of the two in the middle."""

    @decomposition(reference, samples=median_samples(skips), ulp=2, scalar=True)
    def function(
        a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False
    ) -> Value:
        refuse(reference.__name__, out, overwrite_input)
        value = as_strong(a)
        value = value if value.dtype.kind in "fc" else convert(value, FLOAT64)
        ordered = sort(merged(value, axis))
        rows, gaps = with_one_more(ordered), isnan(ordered)
        length = convert(shapes.as_value(ordered.shape[-1]), INT64)
        count = length - sum(gaps, -1, keepdims=True) if skips else length
        lower, upper = (count - 1) // 2, count // 2
        left, right = (element(rows, each) for each in (lower, upper))
        middle = where(equal(lower, upper), left, (left + right) / constant(2, dtype=value.dtype))[..., 0]
        nothing = equal(count, 0)
        missing = nothing[..., 0] if skips else logical_or(any(gaps, -1), nothing)
        found = where(missing, constant(np.nan, dtype=middle.dtype), middle)
        return kept_dims(found, value, axis, 0) if keepdims else found

    return function


median = declare_median(np.median, skips=False)
nanmedian = declare_median(np.nanmedian, skips=True)
