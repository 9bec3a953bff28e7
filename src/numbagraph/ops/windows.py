"""Views of windows, choices by number, bits in bytes, and positions of extrema that are not NaN."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.lengths import as_extent
from numbagraph.blockwise.promotion import as_strong, as_value, common_rule, convert, promote
from numbagraph.blockwise.reduction import reduction_samples
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Op, Value
from numbagraph.ops.comparison import equal, isnan, logical_and, maximum, minimum, not_equal
from numbagraph.ops.creation import filled, iota, number_as
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.integers import bitwise_or
from numbagraph.ops.joining import pieces_of
from numbagraph.ops.reduction import all, any, argmax, argmin, highest, lowest
from numbagraph.ops.selection import where
from numbagraph.ops.shape import at_least, broadcast_value, expand_at, move, ravel, reshape_value
from numbagraph.ops.statistics.without_nan import filled as without_gaps
from numbagraph.ops.statistics.without_nan import with_gaps


def window_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array, plane = draw(rng, dtype, (7,)), draw(rng, dtype, (4, 5))
    return [(array, 3), (plane, (2, 3)), (plane, 2, 0), (plane, (2, 2), (1, 1)), (array, 7)]


@decomposition(np.lib.stride_tricks.sliding_window_view, samples=window_samples, view_of=True)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Value:
    value = as_strong(x)
    sizes = list(window_shape) if isinstance(window_shape, (tuple, list)) else [window_shape]
    axes = range(value.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(sizes) != len(axes):
        raise ValueError(f"Must provide window_shape for all dimensions of `x`; got {len(sizes)} and {len(axes)} axes")
    if writeable:
        raise ValueError(
            "sliding_window_view with writeable=True is not supported in a traced function, as its windows share "
            "elements: leave it out to read them, and assign to the array itself (x[i : i + n] = ...)"
        )
    ndim = value.ndim
    for size, each in zip(sizes, axes, strict=True):
        place, length = shapes.normalise_axis(each, ndim) + ndim, as_extent(size)
        shapes.require(
            shapes.compare("greater_equal", length, 0), "`window_shape` cannot contain negative values", ValueError
        )
        count = shapes.add(shapes.subtract(value.shape[place], length), 1)
        fits = shapes.compare("greater_equal", count, 1)
        shapes.require(fits, "window shape cannot be larger than input array shape", ValueError)
        positions = expand_at(iota(shapes.maximum(count, 0)), (1,)) + iota(length)
        value = gather_value(value, [positions], place - value.ndim, checked=False)
        value = move(value, [place + 1], [value.ndim - 1])
    return value


def choose_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    numbers, choices = rng.integers(0, 3, (2, 4)), [draw(rng, dtype, (4,)) for _ in range(3)]
    outside = rng.integers(-4, 9, (2, 4))
    return [(numbers, choices), (outside, choices, None, "clip"), (outside, choices, None, "wrap")]


@decomposition(np.choose, samples=choose_samples, scalar=True)
def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Value:
    if out is not None:
        raise TypeError("choose: out= is not supported in a traced function by position: give it by name")
    rows = pieces_of(choices) if isinstance(choices, Value) else choices
    number = as_strong(a)
    if number.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from {number.dtype} to int64 according to the rule 'safe'")
    number, values = convert(number, INT64), promote(common_rule(), rows)
    count = len(values)
    if mode == "raise":
        inside = logical_and(number >= 0, number < count)
        shapes.require(all(inside) if inside.ndim else inside, "invalid entry in choice array", ValueError)
    elif mode == "clip":
        number = minimum(maximum(number, 0), count - 1)
    elif mode == "wrap":
        number = registry["remainder"](number, count)
    else:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    result = values[-1]
    for position, value in reversed(list(enumerate(values[:-1]))):
        result = where(equal(number, position), value, result)
    shape = shapes.broadcast_shapes([number.shape, *[each.shape for each in values]], "choose")
    return broadcast_value(result, shape)


def bit_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (3, 11), (0.0, 9.0))
    calls: list[tuple[Any, ...]] = [(array,), (array, 1), (array, 0), (array, 1, "little"), (array[:, :0], 1)]
    return calls if dtype.kind in "iub" else []


@decomposition(np.packbits, samples=bit_samples)
def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Value:
    value = ravel(as_strong(a)) if axis is None else at_least(as_strong(a), 1)
    if value.dtype.kind not in "iub":
        raise TypeError("Expected an input array of integer or boolean data type")
    place = shapes.normalise_axis(0 if axis is None else axis, value.ndim) + value.ndim
    bits = move(not_equal(value, 0), [place], [value.ndim - 1])
    length = bits.shape[-1]
    whole = shapes.multiply(shapes.floor_divide(length, 8), 8)
    missing = shapes.subtract(shapes.multiply(shapes.floor_divide(shapes.add(length, 7), 8), 8), length)
    zeros = filled(number_as(0, bits.dtype), (*bits.shape[:-1], missing))
    last = registry["concatenate"]([bits[..., whole:], zeros], -1)  # alone, for it is copied
    found = [bytes_of(each, bit_weights(bitorder)) for each in (bits[..., :whole], last)]
    return move(registry["concatenate"](found, -1), [value.ndim - 1], [place])


def bytes_of(bits: Value, weights: np.ndarray) -> Value:
    """Return bytes of eight bits each. The bits are written out: a loop over them would remain one."""
    rows = reshape_value(bits, (*bits.shape[:-1], shapes.floor_divide(bits.shape[-1], 8), 8))
    return reduce(bitwise_or, [where(rows[..., k], weight, np.uint8(0)) for k, weight in enumerate(weights)])


def bit_weights(bitorder: str) -> np.ndarray:
    if bitorder not in ("big", "little"):
        raise ValueError("'bitorder' must be 'little' or 'big'")
    weights = (2 ** np.arange(8)).astype(np.uint8)
    return weights if bitorder == "little" else weights[::-1]


def byte_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = rng.integers(0, 256, (2, 3)).astype(np.uint8)
    calls: list[tuple[Any, ...]] = [(array,), (array, 1), (array, 1, None, "little"), (array, None, -3)]
    return calls if dtype == INT64 else []


@decomposition(np.unpackbits, samples=byte_samples)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Value:
    value = ravel(as_strong(a)) if axis is None else at_least(as_strong(a), 1)
    if value.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    place = shapes.normalise_axis(0 if axis is None else axis, value.ndim) + value.ndim
    rows = expand_at(move(value, [place], [value.ndim - 1]), (value.ndim,))
    flags = convert(not_equal(registry["bitwise_and"](rows, as_value(bit_weights(bitorder))), 0), np.dtype(np.uint8))
    length = shapes.multiply(flags.shape[-2], 8)
    bits = reshape_value(flags, (*flags.shape[:-2], length))
    if count is not None:
        wanted = as_extent(count)
        if not isinstance(wanted, int):
            raise TypeError("unpackbits: count must be known when the function is traced")
        if wanted > 0:
            zeros = filled(number_as(0, bits.dtype), (*bits.shape[:-1], wanted))
            bits = registry["concatenate"]([bits, zeros], -1)
        enough = shapes.compare("greater_equal", shapes.add(length, wanted), 0) if wanted < 0 else True
        shapes.require(enough, "-count larger than number of elements", ValueError)
        bits = bits[..., :wanted]
    return move(bits, [value.ndim - 1], [place])


def declare_position(reference: Any, op: Op, filler: Any) -> Op:
    """Declare the position of the extremum of what is not NaN."""
    samples = with_gaps(lambda rng, dtype: reduction_samples(np.argmax, rng, dtype))

    @decomposition(reference, samples=samples, scalar=True)
    def function(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Value:
        if out is not None:
            raise TypeError("out= is not supported in a traced function by position: give it by name")
        value = as_strong(a)
        if value.dtype.kind == "f":
            nothing = all(isnan(value), axis)
            shapes.require(registry["logical_not"](any(nothing)), "All-NaN slice encountered", ValueError)
        return op(without_gaps(value, filler), axis, keepdims=keepdims)

    return function


nanargmax = declare_position(np.nanargmax, argmax, lowest)
nanargmin = declare_position(np.nanargmin, argmin, highest)
