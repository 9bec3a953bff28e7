"""Helpers that all kinds of op share: references, cotangents of broadcasts, batches, samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import boxing, lazy, load, quiet, registry
from numbagraph.ir.values import Cotangents, Op, Unsupported, Value, Vjp

Reference = str | Callable[..., Any]
"""A function of NumPy, or where it is, as "module:name": then it is imported when it is used."""


def jnp_named(name: str) -> Callable[..., Any]:
    """`jax.numpy`'s function of the same name, imported when it is used."""
    return lazy(f"jax.numpy:{name}")


def reference_of(function: Reference) -> tuple[str, Callable[..., Any]]:
    """The name of a reference, and the reference without floating-point warnings."""
    if isinstance(function, str):
        name = function.rpartition(":")[2]
        return name, lambda *args, **kwargs: quiet(load(function), *args, **kwargs)
    return function.__name__, lambda *args, **kwargs: quiet(function, *args, **kwargs)


def first_argument(function: Any, skip: int = 0) -> Callable[..., Any]:
    """Return a function that picks the first argument of ``function`` out of those of a call, given by position or by
    name. ``skip`` leaves out the op itself, which a frontend takes before it."""
    name = function.__code__.co_varnames[skip]
    return lambda *args, **kwargs: args[0] if args else kwargs[name]


def sum_to(cotangent: Value, target: Value) -> Value:
    """The cotangent of a broadcast: summed over the dimensions along which ``target`` was repeated."""
    if cotangent.shape == target.shape and cotangent.dtype == target.dtype:
        return cotangent
    extra = cotangent.ndim - target.ndim
    axes = list(range(-cotangent.ndim, -target.ndim))
    unknown = []
    for axis in range(-target.ndim, 0):
        extent = shapes.resolve(target.shape[axis])
        if shapes.same(extent, cotangent.shape[axis]) or (isinstance(extent, int) and extent != 1):
            continue  # a known length other than 1 was not repeated: entry requires the same of the other one
        if isinstance(extent, int):
            axes.append(axis)
        else:
            unknown.append(axis)
    if axes:
        kept = tuple(axis for axis in axes if axis >= -target.ndim)
        cotangent = registry["sum"].bind(cotangent, axes=tuple(axes))
        if kept:
            cotangent = registry["expand_dims"].bind(cotangent, axes=kept)
    assert extra >= 0
    if unknown:
        cotangent = registry["sum_to_extents"](cotangent, unknown, [target.shape[axis] for axis in unknown])
    return real_if(cotangent, target)


def real_if(cotangent: Value, target: Value) -> Value:
    """Return the part of a complex cotangent that a real value takes, in the dtype of that value."""
    if cotangent.dtype.kind == "c" and target.dtype.kind != "c":
        cotangent = registry["real"](cotangent)
    return cotangent if cotangent.dtype == target.dtype else convert(cotangent, target.dtype)


def flat(*_: Any, **__: Any) -> Cotangents:
    """Return the cotangent None: the vjp of an op of one operand whose derivative is zero, before which nothing is
    differentiated."""
    return (None,)


def broadcasting_vjp(vjp: Vjp | Unsupported) -> Vjp | Unsupported:
    """A vjp whose cotangents are summed to the shapes of the operands."""
    if vjp is flat or isinstance(vjp, Unsupported):
        return vjp

    def reduced(g: Value, y: Value, *inputs: Value, **attrs: Any) -> Cotangents:
        cotangents = vjp(g, y, *inputs, **attrs)
        return tuple(
            each
            if each is None or isinstance(each, Unsupported)
            else None
            if source.dtype.kind not in "fc"
            else sum_to(as_value(each), source)
            for each, source in zip(cotangents, inputs, strict=True)
        )

    return reduced


def align_batches(inputs: Sequence[Value], batched: Sequence[bool], cores: Iterable[int] | None = None) -> list[Value]:
    """Operands with the batch dimension of each to the left of every other dimension that is not one of its core.

    ``cores`` has the ranks of the cores; those of an elementwise op have none.
    """
    of_cores = repeat(0, len(inputs)) if cores is None else cores
    ranks = [value.ndim - flag - core for value, flag, core in zip(inputs, batched, of_cores, strict=True)]
    aligned = []
    for value, flag, rank in zip(inputs, batched, ranks, strict=True):
        missing = max(ranks) - rank
        if flag and missing:
            first = 1 - value.ndim - missing
            value = registry["expand_dims"].bind(value, axes=tuple(range(first, first + missing)))
        aligned.append(value)
    return aligned


def batch_elementwise(op: Op, inputs: Sequence[Value], batched: Sequence[bool], **attrs: Any) -> Value:
    return op.bind(*align_batches(inputs, batched), **attrs)


def batch_unary(op: Op, inputs: Sequence[Value], batched: Sequence[bool], **attrs: Any) -> Value:
    """Batch an op of one array by applying it to the whole batch: axes count from the right, so a dimension on the left
    changes nothing."""
    if any(batched[1:]):
        raise NotImplementedError(f"{op.name} with sizes that differ along a batch")
    return op.bind(*inputs, **attrs)


def give_batch(inputs: Sequence[Value], batched: Sequence[bool]) -> list[Value]:
    """Return the inputs, with those without a batch dimension repeated along it."""
    size = next(value.shape[0] for value, flag in zip(inputs, batched, strict=True) if flag)
    return [
        value if flag else registry["broadcast_to"](value, (size, *value.shape))
        for value, flag in zip(inputs, batched, strict=True)
    ]


class Keywords(dict[str, Any]):
    """The keyword arguments of a sample, as its last element."""


def draw(
    rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...], domain: tuple[float, float] = (-3.0, 3.0)
) -> np.ndarray:
    """Random numbers of a dtype inside an interval (for integers: the integers inside it, and at least 0 and 1)."""
    low, high = domain
    if dtype == np.bool_:
        return rng.random(shape) < (0.5 if low <= 0 else 1.0)
    if dtype.kind in "iu":
        first = max(int(np.ceil(low)), 0 if dtype.kind == "u" else -100)
        return rng.integers(first, max(int(np.floor(high)), first + 1), shape, endpoint=True).astype(dtype)
    numbers = rng.uniform(low, high, shape)
    if dtype.kind == "c":
        return (numbers + 1j * rng.uniform(low, high, shape)).astype(dtype)
    return numbers.astype(dtype)


def without_axes(shape: shapes.Shape, axes: tuple[int, ...]) -> shapes.Shape:
    return tuple(extent for axis, extent in zip(range(-len(shape), 0), shape, strict=True) if axis not in axes)


def scalar_result(value: Value) -> Value:
    """Return ``value`` as a value that becomes a NumPy scalar when it has rank 0."""
    return value if value.ndim or boxing(value) == "scalar" else registry["as_scalar"].bind(value)
