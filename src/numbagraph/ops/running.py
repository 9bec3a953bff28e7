"""Running reductions, and the linear recurrence that their gradients are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import draw, running, running_op
from numbagraph.blockwise.promotion import common_rule, convert, promote
from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.reducers import LinearRecurrence, Reducer, RunningProduct, negative_zero
from numbagraph.ir import shapes
from numbagraph.ir.op import load
from numbagraph.ir.values import Op, Value
from numbagraph.ops.comparison import greater, less
from numbagraph.ops.reduction import accumulator_dtype, highest, lowest
from numbagraph.ops.selection import where


def cumsum_vjp(g: Value, y: Value, x: Value, *, axis: int, reverse: bool, exclusive: bool) -> tuple[Value]:
    return (cumsum.bind(g, axis=axis, reverse=not reverse, exclusive=exclusive),)


def accumulated(g: Value, factor: Value, *, axis: int, reverse: bool, exclusive: bool) -> Value:
    """Return the cotangent of the accumulator ``y`` of ``y[k] = factor[k] * y[k - 1] + ...``, from the cotangent of all
    results.

    What reaches ``y[k]`` is ``c[k] = g[k] + factor[k + 1] * c[k + 1]``, or ``g[k + 1] + ...`` when it was stored late.
    """
    late = {"axis": axis, "reverse": not reverse, "exclusive": True}
    if exclusive:
        return linear_recurrence.bind(factor, g, **late)
    return g + linear_recurrence.bind(factor, factor * g, **late)


def cumprod_vjp(g: Value, y: Value, x: Value, *, axis: int, reverse: bool, exclusive: bool) -> tuple[Value]:
    before = cumprod.bind(x, axis=axis, reverse=reverse, exclusive=True)
    return (before * accumulated(g, x, axis=axis, reverse=reverse, exclusive=exclusive),)


def record_vjp(g: Value, record: Value, **along: Any) -> tuple[Value]:
    """Return the cotangent of the elements: each that set a record takes the cotangents of all results for which the
    record stood."""
    stands = convert(~record, g.dtype)
    return (where(record, accumulated(g, stands, **along), 0.0),)


def cummax_vjp(g: Value, y: Value, x: Value, **along: Any) -> tuple[Value]:
    return record_vjp(g, greater(x, cummax.bind(x, **{**along, "exclusive": True})), **along)


def cummin_vjp(g: Value, y: Value, x: Value, **along: Any) -> tuple[Value]:
    return record_vjp(g, less(x, cummin.bind(x, **{**along, "exclusive": True})), **along)


def recurrence_vjp(g: Value, y: Value, factor: Value, value: Value, **along: Any) -> tuple[Value, Value]:
    cotangent = accumulated(g, factor, **along)
    return cotangent * linear_recurrence.bind(factor, value, **{**along, "exclusive": True}), cotangent


def maximum_accumulate(a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
    return np.maximum.accumulate(a, axis, dtype, out)


def minimum_accumulate(a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
    return np.minimum.accumulate(a, axis, dtype, out)


def recurrence_frontend(op: Op, factor: Any, value: Any, axis: int = -1) -> Value:
    factor, value = promote(common_rule(), (factor, value))
    axis = shapes.normalise_axis(axis, max(factor.ndim, value.ndim))
    return op.bind(factor, value, axis=axis, reverse=False, exclusive=False)


def recurrence_in_numpy(factor: np.ndarray, value: np.ndarray, *, axis: int) -> np.ndarray:
    result = np.empty_like(value)
    factors, values, results = (np.moveaxis(each, axis, 0) for each in (factor, value, result))
    state = np.zeros_like(values[0]) if len(values) else None
    for k in range(len(values)):
        state = results[k] = factors[k] * state + values[k]
    return result


def recurrence_in_jax(factor: Any, value: Any, *, axis: int) -> Any:
    def both(first: Any, second: Any) -> Any:
        return first[0] * second[0], second[0] * first[1] + second[1]

    return load("jax.lax:associative_scan")(both, (factor, value), axis=axis % value.ndim)[1]


def cumulative_in_jax(name: str) -> Callable[..., Any]:
    def cumulative(a: Any, *, axis: int, dtype: Any) -> Any:
        numbers = a.astype(np.int8) if a.dtype == bool else a  # JAX orders numbers only
        return load(f"jax.lax:{name}")(numbers, axis=axis % a.ndim)

    return cumulative


cumsum = running(
    np.cumsum,
    ufunc=np.add,
    reducer=Reducer("cumsum", scalar.add, negative_zero),
    accumulator=accumulator_dtype,
    vjp=cumsum_vjp,
)
cumprod = running(
    np.cumprod,
    ufunc=np.multiply,
    reducer=RunningProduct("cumprod", scalar.multiply, RunningProduct.unit),
    accumulator=accumulator_dtype,
    vjp=cumprod_vjp,
)
cummax = running(
    maximum_accumulate,
    name="cummax",
    ufunc=np.maximum,
    reducer=Reducer("cummax", scalar.extremum(">"), lowest),
    jnp=cumulative_in_jax("cummax"),
    vjp=cummax_vjp,
)
cummin = running(
    minimum_accumulate,
    name="cummin",
    ufunc=np.minimum,
    reducer=Reducer("cummin", scalar.extremum("<"), highest),
    jnp=cumulative_in_jax("cummin"),
    vjp=cummin_vjp,
)
linear_recurrence = running_op(
    "linear_recurrence",
    reducer=LinearRecurrence("linear_recurrence", scalar.add, 0),
    reference=recurrence_in_numpy,
    jnp=recurrence_in_jax,
    frontend=recurrence_frontend,
    vjp=recurrence_vjp,
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)), draw(rng, dtype, (2, 3, 4)), axis) for axis in (-1, -2)],
    ulp=4,
)
"""``y[k] = factor[k] * y[k - 1] + value[k]``, from ``y[-1] = 0``."""
