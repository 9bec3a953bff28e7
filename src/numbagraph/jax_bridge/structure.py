"""JAX's primitives that move, reduce and order elements."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.jax_bridge.bits import in_order
from numbagraph.jax_bridge.gathering import (
    dynamic_slice,
    dynamic_update_slice,
    gather,
    ints,
    scatter,
    set_or_apply,
    updated_by,
)
from numbagraph.jax_bridge.translation import Run, dtype_of, is_constant, large, shape_of, traced
from numbagraph.tracing.tracer import Tracer


def broadcast_in_dim(_run: Run, equation: Any, x: Any, *_: Any) -> Any:
    shape, axes = shape_of(equation.outvars[0]), equation.params["broadcast_dimensions"]
    own = [1] * len(shape)
    for axis, length in zip(axes, np.shape(x) if is_constant(x) else x.shape, strict=True):
        own[axis] = length
    if large(math.prod(shape)):
        x = traced(x)
    return np.broadcast_to(np.reshape(x, tuple(own)), shape)


def reshape(_run: Run, equation: Any, x: Any, *_: Any) -> Any:
    order = equation.params.get("dimensions")
    return np.reshape(x if order is None else np.transpose(x, order), shape_of(equation.outvars[0]))


def iota(_run: Run, equation: Any) -> Any:
    shape, dimension = shape_of(equation.outvars[0]), equation.params["dimension"]
    dtype = dtype_of(equation.outvars[0])
    count = np.arange(shape[dimension]).astype(dtype)
    if large(math.prod(shape)):
        count = Tracer(registry["arange"](shape[dimension])).astype(dtype)
    axes = tuple(axis for axis in range(len(shape)) if axis != dimension)
    return np.broadcast_to(np.expand_dims(count, axes), shape)


def sliced(_run: Run, equation: Any, x: Any) -> Any:
    starts, limits, strides = (equation.params[name] for name in ("start_indices", "limit_indices", "strides"))
    steps = strides or (1,) * len(starts)
    return x[tuple(map(slice, map(int, starts), map(int, limits), map(int, steps)))]


def split(_run: Run, equation: Any, x: Any) -> list[Any]:
    ends = np.cumsum(equation.params["sizes"])[:-1].tolist()
    return list(np.split(x, ends, axis=equation.params["axis"]))


def pad(_run: Run, equation: Any, x: Any, value: Any) -> Any:
    return padded(x, value, equation.params["padding_config"])


def padded(x: Any, value: Any, config: Sequence[tuple[int, int, int]]) -> Any:
    """Pad an array: between its elements, and at both ends, where it may also be cut."""
    shape = np.shape(x) if is_constant(x) else x.shape
    inner = [length + max(length - 1, 0) * between for length, (_, _, between) in zip(shape, config, strict=True)]
    whole = [length + max(low, 0) + max(high, 0) for length, (low, high, _) in zip(inner, config, strict=True)]
    result = np.broadcast_to(traced(value), tuple(whole)).copy()
    places = [
        slice(max(low, 0), max(low, 0) + length, between + 1)
        for length, (low, _, between) in zip(inner, config, strict=True)
    ]
    result[tuple(places)] = x
    ends = [
        slice(max(-low, 0), max(length - max(-high, 0), 0))
        for length, (low, high, _) in zip(whole, config, strict=True)
    ]
    return result[tuple(ends)] if any(low < 0 or high < 0 for low, high, _ in config) else result


def dot_general(_run: Run, equation: Any, a: Any, b: Any) -> Any:
    (contracted_a, contracted_b), (batch_a, batch_b) = equation.params["dimension_numbers"]
    letters = iter(string.ascii_letters)
    own_a: list[str] = [next(letters) for _ in range(np.ndim(a) if is_constant(a) else a.ndim)]
    own_b: list[str] = [next(letters) for _ in range(np.ndim(b) if is_constant(b) else b.ndim)]
    for left, right in (*zip(contracted_a, contracted_b, strict=True), *zip(batch_a, batch_b, strict=True)):
        own_b[right] = own_a[left]
    batch = [own_a[axis] for axis in batch_a]
    rest = [each for axis, each in enumerate(own_a) if axis not in (*contracted_a, *batch_a)]
    rest += [each for axis, each in enumerate(own_b) if axis not in (*contracted_b, *batch_b)]
    dtype = dtype_of(equation.outvars[0])
    text = f"{''.join(own_a)},{''.join(own_b)}->{''.join([*batch, *rest])}"
    if dtype.kind == "b":
        return np.einsum(text, a.astype(np.int64), b.astype(np.int64)) > 0
    return np.einsum(text, a.astype(dtype), b.astype(dtype))


def axes_of(equation: Any) -> tuple[int, ...]:
    return tuple(map(int, equation.params["axes"]))


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a sum or product that wraps in the dtype of its elements."""
    return lambda _run, equation, x: function(x, axis=axes_of(equation))


def least(dtype: np.dtype, is_max: bool) -> Any:
    """The maximum of no elements, or the minimum."""
    if dtype.kind == "b":
        return np.bool_(not is_max)
    if dtype.kind == "f":
        return dtype.type(-np.inf if is_max else np.inf)
    return dtype.type(np.iinfo(dtype).min if is_max else np.iinfo(dtype).max)


def extremum(function: Callable[..., Any], is_max: bool) -> Callable[..., Any]:
    def reduce(_run: Run, equation: Any, x: Any) -> Any:
        axes, dtype = axes_of(equation), dtype_of(equation.outvars[0])
        if dtype.kind == "b":
            return (np.any if is_max else np.all)(x, axis=axes)
        shape = x.shape
        if 0 not in (shape[axis] for axis in axes):
            return function(x, axis=axes)
        return np.full(shape_of(equation.outvars[0]), least(dtype, is_max))

    return reduce


def bits(ufunc: np.ufunc, of_bools: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(_run: Run, equation: Any, x: Any) -> Any:
        axes = axes_of(equation)
        if x.dtype.kind == "b":
            return of_bools(x, axis=axes)
        for axis in sorted(axes, reverse=True):
            x = ufunc.reduce(x, axis=axis)
        return x

    return reduce


def argument_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _run, equation, x: function(x, axis=axes_of(equation)[0])


def running(function: Callable[..., Any]) -> Callable[..., Any]:
    def accumulate(_run: Run, equation: Any, x: Any) -> Any:
        axis = int(equation.params["axis"])
        if not equation.params["reverse"]:
            return function(x, axis=axis)
        return np.flip(function(np.flip(x, axis), axis=axis), axis)

    return accumulate


def by_ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda x, axis: ufunc.accumulate(x, axis=axis)


def after_zero(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a running sum begin with 0, so that -0 becomes 0."""
    return lambda x, axis: function(x if x.dtype.kind in "iub" else x + x.dtype.type(0), axis=axis)


def sort(_run: Run, equation: Any, *operands: Any) -> list[Any]:
    axis, keys = equation.params["dimension"], equation.params["num_keys"]
    if len(operands) == 1:
        return [np.sort(operands[0], axis=axis)]
    order = np.argsort(operands[keys - 1], axis=axis, kind="stable")
    for key in reversed(operands[: keys - 1]):
        again = np.argsort(np.take_along_axis(key, order, axis), axis=axis, kind="stable")
        order = np.take_along_axis(order, again, axis)
    return [np.take_along_axis(each, order, axis) for each in operands]


def top_k(_run: Run, equation: Any, x: Any) -> list[Any]:
    return first_of(x, int(equation.params["k"]), int(equation.params.get("axis", -1)))


def first_of(x: Any, count: int, axis: int) -> list[Any]:
    """The ``count`` last elements in the total order of numbers, and their positions; of equal elements the first."""
    length = x.shape[axis]
    order = length - 1 - np.flip(np.argsort(np.flip(in_order(x), axis), axis=axis, kind="stable"), axis)
    first = np.moveaxis(np.moveaxis(order, axis, -1)[..., :count], -1, axis)
    return [np.take_along_axis(x, first, axis), first]


def nearly_top_k(_run: Run, equation: Any, x: Any) -> list[Any]:
    """The largest or smallest elements. JAX may miss some of them, but on CPUs it does not."""
    k, axis = int(equation.params["k"]), int(equation.params["reduction_dimension"])
    if not equation.params["aggregate_to_topk"]:
        raise NotImplementedError(
            "from_jax has no translation of JAX's primitive 'approx_top_k' with aggregate_to_topk=False"
        )
    if equation.params["is_max_k"]:
        return first_of(x, k, axis)
    smallest, places = first_of(-x, k, axis)
    return [-smallest, places]


def no_elements(_run: Run, equation: Any, *_: Any) -> Any:
    """An array whose elements do not matter."""
    return np.zeros(shape_of(equation.outvars[0]), dtype_of(equation.outvars[0]))


def fourier(_run: Run, equation: Any, x: Any) -> Any:
    kind, lengths = str(equation.params["fft_type"]).rpartition(".")[2].lower(), equation.params["fft_lengths"]
    axes = tuple(range(-len(lengths), 0))
    names = {"0": "fft", "1": "ifft", "2": "rfft", "3": "irfft"}
    function: Any = getattr(np.fft, f"{names.get(kind, kind)}n")
    return function(x, s=tuple(map(int, lengths)), axes=axes)


def concatenate(_run: Run, equation: Any, *operands: Any) -> Any:
    return np.concatenate(operands, axis=equation.params["dimension"])


def all_the_same(_run: Run, _equation: Any, *operands: Any) -> list[Any]:
    return list(operands)


def unstack(_run: Run, equation: Any, x: Any) -> list[Any]:
    rows = np.moveaxis(x, equation.params["axis"], 0)
    return [rows[number] for number in range(rows.shape[0])]


TABLE: dict[str, Callable[..., Any]] = {
    "approx_top_k": nearly_top_k,
    "argmax": argument_of(np.argmax),
    "argmin": argument_of(np.argmin),
    "broadcast_in_dim": broadcast_in_dim,
    "concatenate": concatenate,
    "cumlogsumexp": running(after_zero(by_ufunc(np.logaddexp))),
    "cummax": running(by_ufunc(np.maximum)),
    "cummin": running(by_ufunc(np.minimum)),
    "cumprod": running(np.cumprod),
    "cumsum": running(after_zero(np.cumsum)),
    "device_put": all_the_same,
    "dot_general": dot_general,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "empty": no_elements,
    "empty2": no_elements,
    "expand_dims": lambda _run, equation, x: np.expand_dims(x, ints(equation.params["dimensions"])),
    "fft": fourier,
    "gather": gather,
    "iota": iota,
    "optimization_barrier": all_the_same,
    "pad": pad,
    "reduce_and": bits(np.bitwise_and, np.all),
    "reduce_max": extremum(np.max, is_max=True),
    "reduce_min": extremum(np.min, is_max=False),
    "reduce_or": bits(np.bitwise_or, np.any),
    "reduce_prod": total(np.prod),
    "reduce_sum": total(np.sum),
    "reduce_xor": bits(np.bitwise_xor, np.logical_xor.reduce),
    "reshape": reshape,
    "rev": lambda _run, equation, x: np.flip(x, ints(equation.params["dimensions"])),
    "scatter": scatter(set_or_apply),
    "scatter-add": scatter(updated_by(np.add)),
    "scatter-max": scatter(updated_by(np.maximum)),
    "scatter-min": scatter(updated_by(np.minimum)),
    "scatter-mul": scatter(updated_by(np.multiply)),
    "scatter-sub": scatter(updated_by(np.subtract)),
    "slice": sliced,
    "sort": sort,
    "split": split,
    "stack": lambda _run, equation, *operands: np.stack(operands, axis=equation.params["axis"]),
    "squeeze": lambda _run, equation, x: np.squeeze(x, ints(equation.params["dimensions"])),
    "tile": lambda _run, equation, x: np.tile(traced(x), ints(equation.params["reps"])),
    "top_k": top_k,
    "unstack": unstack,
    "transpose": lambda _run, equation, x: np.transpose(x, ints(equation.params["permutation"])),
}
