"""Reductions that leave NaN out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.blockwise.running import running_samples
from numbagraph.ir.values import Op, Value, constant
from numbagraph.ops.arithmetic import sqrt
from numbagraph.ops.comparison import fmax, fmin, isnan, logical_and, logical_not
from numbagraph.ops.reduction import all, highest, lowest, max, min, prod, sum
from numbagraph.ops.running import cumprod, cumsum
from numbagraph.ops.selection import where
from numbagraph.ops.statistics.moments import (
    Samples,
    divided,
    flat_at_zero,
    freedom,
    samples_of,
    squared_size,
    statistic_dtype,
)


def with_gaps(samples: Samples) -> Samples:
    """Return samples with some of their elements NaN, but never all that are reduced together."""

    def pierced(array: np.ndarray) -> np.ndarray:
        result = array.copy()
        result.flat[1::7] = np.nan
        return result

    def calls(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        whole = samples(rng, dtype)
        return [(pierced(array), *rest) for array, *rest in whole] if dtype.kind in "fc" else whole

    return calls


def gaps_of(reference: Callable[..., Any]) -> Samples:
    return with_gaps(samples_of(reference))


def filled(a: Any, filler: Callable[[np.dtype], Any]) -> Value:
    """Return ``a`` with NaN replaced; integers have none."""
    value = as_value(a)
    return where(isnan(value), constant(filler(value.dtype), dtype=value.dtype), value) if inexact(value) else value


def inexact(value: Value) -> bool:
    return value.dtype.kind in "fc"


@decomposition(np.nansum, samples=gaps_of(np.nansum), ulp=4, scalar=True)
def nansum(a: Any, *args: Any, **kwargs: Any) -> Value:
    return sum(filled(a, lambda dtype: 0), *args, **kwargs)


@decomposition(np.nanprod, samples=gaps_of(np.nanprod), ulp=32, scalar=True)
def nanprod(a: Any, *args: Any, **kwargs: Any) -> Value:
    return prod(filled(a, lambda dtype: 1), *args, **kwargs)


@decomposition(np.nancumsum, samples=with_gaps(running_samples))
def nancumsum(a: Any, *args: Any, **kwargs: Any) -> Value:
    return cumsum(filled(a, lambda dtype: 0), *args, **kwargs)


@decomposition(np.nancumprod, samples=with_gaps(running_samples))
def nancumprod(a: Any, *args: Any, **kwargs: Any) -> Value:
    return cumprod(filled(a, lambda dtype: 1), *args, **kwargs)


def extremum(op: Op, beside_nan: Op, filler: Callable[[np.dtype], Any]) -> Callable[..., Value]:
    """Return the extremum of what is not NaN; NaN where there is nothing else. An initial value that is NaN does not
    count either."""

    def function(
        a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Value:
        value = as_value(a)
        if not inexact(value):
            return op(value, axis, out, keepdims, initial, where)
        least = None if initial is None else filler(value.dtype)
        result = op(filled(value, filler), axis, out, keepdims, least, where)
        if initial is None:
            nothing = all(isnan(value), axis, keepdims=keepdims)
            return choose(nothing, constant(np.nan, dtype=value.dtype), result)
        nothing = all(isnan(value), axis, keepdims=keepdims, where=where)
        first = convert(as_value(initial), value.dtype)
        return choose(nothing, first, beside_nan(result, first))

    return function


choose = where  # the reductions have a parameter of that name

nanmax = decomposition(np.nanmax, samples=gaps_of(np.nanmax), scalar=True)(extremum(max, fmax, lowest))
nanmin = decomposition(np.nanmin, samples=gaps_of(np.nanmin), scalar=True)(extremum(min, fmin, highest))


def numbers(value: Value, where: Any) -> Any:
    """Return the mask of the elements that a statistic takes in."""
    present = logical_not(isnan(value))
    return present if where is True else logical_and(present, where)


def require_inexact(value: Value, dtype: Any) -> None:
    """Raise if a statistic of an array that may hold NaN is asked for in a dtype that may not."""
    if dtype is not None and inexact(value) and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")


@decomposition(np.nanmean, samples=gaps_of(np.nanmean), ulp=8, scalar=True)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *, where: Any = True
) -> Value:
    value, mask = as_value(a), numbers(as_value(a), where)
    require_inexact(value, dtype)
    total = sum(value, axis, statistic_dtype(value, dtype), out, keepdims, where=mask)
    return divided(total, sum(mask, axis, keepdims=keepdims))


@decomposition(np.nanvar, samples=gaps_of(np.nanvar), ulp=16, scalar=True)
def nanvar(
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
    value, mask = as_value(a), numbers(as_value(a), where)
    require_inexact(value, dtype)
    dtype = statistic_dtype(value, dtype)
    centre = nanmean(value, axis, dtype, keepdims=True, where=where) if mean is None else mean
    total = sum(squared_size(choose(mask, value - centre, 0)), axis, dtype, out, keepdims)
    count = sum(mask, axis, keepdims=keepdims) - freedom(ddof, correction)
    return choose(count > 0, divided(total, count), constant(np.nan, dtype=total.dtype))


@decomposition(np.nanstd, samples=gaps_of(np.nanstd), ulp=16, scalar=True)
def nanstd(a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Value:
    variance = nanvar(a, axis, *args, **kwargs)
    return convert(flat_at_zero(sqrt, variance), variance.dtype)
