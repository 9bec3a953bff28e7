"""Statistics along axes, which are written in reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import as_value, convert, promote
from numbagraph.blockwise.reduction import reduction_samples
from numbagraph.ir import shapes
from numbagraph.ir.types import FLOAT64, INT64
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import imag, real, sqrt
from numbagraph.ops.comparison import equal, maximum, not_equal
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.reduction import max, min, sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import broadcast_to, expand_at, permute

Samples = Callable[["np.random.Generator", np.dtype], list[tuple[Any, ...]]]  # quoted: 8 ms to import


def samples_of(reference: Callable[..., Any]) -> Samples:
    """Return the samples of a reduction, without those over no axes: the deviation of one number, 0, has no
    derivative."""
    return lambda rng, dtype: [call for call in reduction_samples(reference, rng, dtype) if () not in call[1:2]]


def statistic_dtype(value: Value, dtype: Any) -> Any:
    """Return the dtype of a statistic: float64 for integers unless a dtype is given."""
    return FLOAT64 if dtype is None and value.dtype.kind in "biu" else dtype


def count_along(value: Value, axes: tuple[int, ...], where: Any = True, keepdims: bool = False) -> Value:
    """Return the number of elements that a reduction combines, as NumPy's intp."""
    if where is True:
        return convert(shapes.as_value(shapes.product([value.shape[axis] for axis in axes])), INT64)
    return sum(broadcast_to(where, value.shape), axis=axes, keepdims=keepdims)


def divided(total: Value, count: Value) -> Value:
    """Return the quotient in the loop that NumPy takes, rounded to the dtype of ``total``."""
    return convert(total / count, total.dtype)


@decomposition(np.count_nonzero, samples=samples_of(np.count_nonzero), scalar=True)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Value:
    return sum(not_equal(a, 0), axis=axis, keepdims=keepdims)


@decomposition(np.mean, samples=samples_of(np.mean), ulp=4, scalar=True)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *, where: Any = True
) -> Value:
    value = as_value(a)
    dtype, axes = statistic_dtype(value, dtype), shapes.normalise_axes(axis, value.ndim)
    total = sum(value, axes, dtype, out, keepdims, where=where)
    return divided(total, count_along(value, axes, where, keepdims))


@decomposition(np.var, samples=samples_of(np.var), ulp=8, scalar=True)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Value:
    value = as_value(a)
    dtype, axes = statistic_dtype(value, dtype), shapes.normalise_axes(axis, value.ndim)
    centre = mean_of(value, axes, dtype, keepdims=True, where=where) if mean is None else mean
    distance = value - centre if where is True else choose(where, value - centre, 0)
    total = sum(squared_size(distance), axes, dtype, out, keepdims)
    return divided(total, maximum(count_along(value, axes, where, keepdims) - freedom(ddof, correction), 0))


mean_of = mean  # `var` and `std` have a parameter of that name
choose = where  # and so do all reductions


def freedom(ddof: Any, correction: Any) -> Any:
    """Return the number that is subtracted from that of the elements, by either of its two names."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def squared_size(value: Value) -> Value:
    if value.dtype.kind == "c":
        return real(value) * real(value) + imag(value) * imag(value)
    return value * value


def flat_at_zero(function: Callable[[Value], Value], value: Value) -> Value:
    """Return a root whose slope at 0 is taken as 0: there, a length or a deviation is least."""
    zero = equal(value, 0.0)
    return differentiated_as(function(value), where(zero, 0.0, function(where(zero, 1.0, value))))


@decomposition(np.std, samples=samples_of(np.std), ulp=8, scalar=True)
def std(a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Value:
    variance = var(a, axis, *args, **kwargs)
    if variance.ndim and variance.dtype.kind not in "fc":  # NumPy converts one number
        raise TypeError(f"std: square roots are no {variance.dtype}: leave dtype= out, and convert the result")
    return convert(flat_at_zero(sqrt, variance), variance.dtype)


def average_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array, weights = (draw(rng, dtype, (3, 4), (1, 3)) for _ in range(2))
    cube, square = draw(rng, dtype, (2, 3, 2)), draw(rng, dtype, (2, 2), (1, 3))
    axes = [(cube, each, square) for each in ((0, 2), (2, 0), (-1, 0))]
    return [(array,), (array, 0), (array, None, weights), (array, 1, weights), (array, 0, weights[:, 0]), *axes]


def average_or_nan(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """Return `numpy.average`, but NaN where it raises an error since the weights' sum is zero."""
    try:
        return np.average(a, axis, weights)
    except ZeroDivisionError:
        return np.mean(a, axis) * np.float32(np.nan)


@decomposition(average_or_nan, name="average", implements=(np.average,), samples=average_samples, ulp=8, scalar=True)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    value = as_value(a)
    axes = shapes.normalise_axes(axis, value.ndim)
    if weights is None:
        result = mean(value, axes, keepdims=keepdims)
        scale = convert(count_along(value, axes), result.dtype)
    else:
        value, weights = promote(average_rule, (value, weights))
        weights = weights_along(weights, value, axis, axes)
        scale = sum(weights, axes, value.dtype, keepdims=keepdims)
        result = sum(value * weights, axes, keepdims=keepdims) / scale
    return (result, broadcast_to(scale, result.shape)) if returned else result


def average_rule(kinds: tuple[Any, ...]) -> tuple[np.dtype, ...]:
    dtype = np.result_type(*kinds, *([FLOAT64] if np.dtype(kinds[0]).kind in "biu" else []))
    return (dtype,) * 3


def weights_along(weights: Value, value: Value, axis: Any, axes: tuple[int, ...]) -> Value:
    """Return the weights of every element, or of the positions along the axes that are averaged over."""
    if weights.ndim == value.ndim:
        for extent, wanted in zip(weights.shape, value.shape, strict=True):
            shapes.require_same(extent, wanted, "average: weights with all dimensions must have the array's shape")
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.ndim != len(axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    named = axis if isinstance(axis, (tuple, list)) else (axis,)
    order = [shapes.normalise_axis(each, value.ndim) for each in named]  # the weights' dimensions are in this order
    weights = permute(weights, [order.index(each) for each in axes])
    for extent, each in zip(weights.shape, axes, strict=True):
        shapes.require_same(extent, value.shape[each], "average: weights do not fit the array along the axis")
    return expand_at(weights, [each for each in range(value.ndim) if each - value.ndim not in axes])


@decomposition(np.ptp, samples=samples_of(np.ptp))
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Value:
    return max(a, axis, out, keepdims) - min(a, axis, out, keepdims)
