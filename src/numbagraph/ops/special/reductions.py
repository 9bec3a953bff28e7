"""Reductions of `scipy.special`: sums of exponentials, without overflow.

The largest element that they shift by is taken as a constant in derivatives: the results do not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import as_value, common_dtype, convert, promote, ufunc_rule
from numbagraph.blockwise.reduction import reduced_axes
from numbagraph.ir import shapes
from numbagraph.ir.types import FLOAT64, canonical_dtype
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import absolute, real, sign
from numbagraph.ops.comparison import equal, isfinite, maximum
from numbagraph.ops.exponentials import exp, log, log1p
from numbagraph.ops.identity import differentiated_as, stop_gradient
from numbagraph.ops.reduction import max, sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import broadcast_value, squeeze


def floating_rule(kinds: tuple[Any, ...]) -> tuple[np.dtype, ...]:
    """Return the common dtype of the operands for each of them and the result; it is float64 for integers."""
    dtype = common_dtype(kinds)
    return (FLOAT64 if dtype.kind in "biu" else dtype,) * (len(kinds) + 1)


def samples_along_axes(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "u":  # the differences wrap around, and what SciPy then makes of infinities says nothing
        return []
    array = draw(rng, dtype, (3, 4), (-40.0, 40.0))
    return [(array, 0), (array, 1), (array, (0, 1))]


def largest(value: Value, axis: Any, initial: Any = None) -> Value:
    return stop_gradient(max(value, axis=axis, keepdims=True, initial=initial))


def finite(value: Value) -> Value:
    """Return a value that may be subtracted from infinities: 0 in place of a value that is not finite."""
    return where(isfinite(value), value, 0) if value.dtype.kind in "fc" else value


def logsumexp_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    widest = 1.0 if dtype.kind == "c" else 40.0  # away from the cut of the complex logarithm
    array, weights = draw(rng, dtype, (3, 4), (-widest, widest)), draw(rng, dtype, (3, 4), (0.5, 2.0))
    return [(array[0],), (array, 0), (array, 1, None, True), (array, 1, weights), (array, 0, weights[0])]


@decomposition("scipy.special:logsumexp", samples=logsumexp_samples, ulp=8, scalar=True)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    (value,) = promote(floating_rule, (a,))
    if b is not None or return_sign or value.dtype.kind == "c":
        return weighted(a, axis, 1.0 if b is None else b, keepdims, return_sign)
    axes = reduced_axes(value, axis)
    top = largest(value, axes, initial=-np.inf)
    shift = finite(top)
    # The largest elements are counted, and the others added to 0, so that no digit of a small sum is lost.
    is_top = convert(equal(value, shift), value.dtype)
    count = maximum(sum(is_top, axes, keepdims=True), 1)
    others = sum(exp(value - shift) - is_top, axes, keepdims=True)
    return without(log1p(others / count) + log(count) + top, axes, keepdims)


def weighted(a: Any, axis: Any, b: Any, keepdims: bool, return_sign: bool) -> Any:
    """Return `logsumexp` of elements with weights, whose sum may be negative."""
    value, weight = promote(floating_rule, (a, b))
    shape = shapes.broadcast_shapes([value.shape, weight.shape], "logsumexp")
    value, weight = broadcast_value(value, shape), broadcast_value(weight, shape)
    given, value = value, where(equal(weight, 0), -np.inf, value)
    axes = reduced_axes(value, axis)
    if value.dtype.kind == "c":
        return complex_logarithm(value, given, weight, axes, keepdims, return_sign)
    top = largest(value, axes, initial=-np.inf)
    shift = finite(top)
    top_weight = where(equal(value, shift), weight, 0.0)
    first = sum(top_weight, axes, keepdims=True)
    terms = differentiated_as(weight * exp(value - shift), weight * exp(given - shift))
    others = sum(terms - top_weight, axes, keepdims=True)
    cancelled = equal(first, 0)
    first, alone = where(cancelled, 1.0, first), where(cancelled, others, 1.0)
    ratio = others / first
    size = where(cancelled, log(absolute(alone)), log1p(where(ratio < -1, -ratio - 2, ratio)) + log(absolute(first)))
    result, direction = size + top, sign(where(cancelled, others, first * (1 + ratio)))
    if not return_sign:
        return without(where(direction < 0, np.nan, result), axes, keepdims)
    return without(result, axes, keepdims), without(direction, axes, keepdims)


def complex_logarithm(
    value: Value, given: Value, weight: Value, axes: tuple[int, ...], keepdims: bool, return_sign: bool
) -> Any:
    top = finite(largest(real(value), axes, initial=-np.inf))
    terms = differentiated_as(weight * exp(value - top), weight * exp(given - top))
    total = sum(terms, axes, keepdims=True)
    if not return_sign:
        return without(log(total) + top, axes, keepdims)
    return without(log(absolute(total)) + top, axes, keepdims), without(sign(total), axes, keepdims)


def without(value: Value, axes: tuple[int, ...], keepdims: bool) -> Value:
    return value if keepdims or not axes else squeeze.bind(value, axes=axes)


@decomposition("scipy.special:softmax", samples=samples_along_axes, ulp=8)
def softmax(x: Any, axis: Any = None) -> Value:
    value = as_value(x)
    powers = exp(value - largest(value, axis))
    return powers / sum(powers, axis, keepdims=True)


@decomposition("scipy.special:log_softmax", samples=samples_along_axes, ulp=8)
def log_softmax(x: Any, axis: Any = None) -> Value:
    value = as_value(x)
    shifted = value - finite(largest(value, axis))
    return shifted - log(sum(exp(shifted), axis, keepdims=True))


@decomposition(
    np.logaddexp.reduce,
    name="logaddexp_reduce",
    implements=((np.logaddexp, "reduce"),),
    samples=samples_along_axes,
    ulp=8,
    scalar=True,
)
def logaddexp_reduce(array: Any, axis: Any = 0, dtype: Any = None, out: None = None, keepdims: bool = False) -> Value:
    if out is not None:
        raise TypeError("out= is not supported in a traced function: use the value that is returned")
    value, _ = promote(ufunc_rule(np.logaddexp), (array, array))
    return logsumexp(value if dtype is None else convert(value, canonical_dtype(dtype)), axis, keepdims=keepdims)
