"""Discrete Fourier transforms: NumPy's functions, written in three ops on rows.

A transform is a symmetric linear map, so its transpose is the transform itself: ``x`` with the exponents of ``fft``
has the pullback ``fft(g)``, with the same factor. (Derivatives of complex numbers are as in `jax.vjp`.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.kinds import Keywords, core_op, decomposition, draw
from numbagraph.blockwise.lengths import as_extent, as_length
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.intrinsics.emitters import fourier, long_fourier
from numbagraph.intrinsics.emitters.long_fourier import LEAST_LONG
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from numbagraph.ir.values import Extent, Op, Value
from numbagraph.ops.arithmetic import conjugate
from numbagraph.ops.comparison import equal, less, logical_or
from numbagraph.ops.creation import filled, iota, number_as, require_cpu
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.joining import roll
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_at, reshape_value

FORWARD = ("backward", "ortho", "forward")
"""NumPy's names of the factors 1, 1 / sqrt(n) and 1 / n of a transform with negative exponents."""
BACKWARD = FORWARD[::-1]
"""NumPy's names of the factors 1, 1 / sqrt(n) and 1 / n of a transform with positive exponents."""


def complex_names(forward: bool) -> Sequence[str]:
    return FORWARD if forward else BACKWARD


def of_half(dtype: np.dtype, *_: Any) -> tuple[np.dtype]:
    """Return the dtype of the half transform of real numbers."""
    return (COMPLEX64 if dtype == FLOAT32 else COMPLEX128,)


def of_whole(dtype: np.dtype, *_: Any) -> tuple[np.dtype]:
    """Return the dtype of the real numbers from half of their transform."""
    return (FLOAT32 if dtype == COMPLEX64 else FLOAT64,)


def of_long_row(dtype: np.dtype, length: lowering.Scalar, *, whole: bool) -> Sequence[tuple[np.dtype, Any]]:
    """Return the memory for a long row in four steps, and for the powers of a root of unity; none for a short row."""
    is_long = lowering.minimum(lowering.divide(length, lowering.literal(LEAST_LONG))[0], lowering.literal(1))
    room = lowering.multiply(length, is_long)
    powers, quarter = (lowering.divide(room, lowering.literal(part))[0] for part in (32, 4))
    size = lowering.add(room, quarter) if whole else room
    return [(COMPLEX128, (powers,)), (COMPLEX64 if dtype in (FLOAT32, COMPLEX64) else COMPLEX128, (size,))]


PLANNED = 16
"""The number of rows for which the time of a plan, which each call makes, is little."""


class Transforms(NamedTuple):
    """The three ops, either on rows or on columns."""

    whole: Op
    half: Op
    inverse: Op


def declare_transforms(suffix: str, axis: int) -> Transforms:
    """Declare the ops on matrices along an axis: all rows or columns are transformed in one call."""

    def core(length: str) -> str:
        return f"(k,{length})" if axis == -1 else f"({length},k)"

    def arrays(rng: np.random.Generator, dtype: np.dtype, kind: str, lengths: Sequence[int]) -> list[np.ndarray]:
        found = [draw(rng, dtype, (2, 3, length)) for length in lengths] if dtype.kind == kind else []
        return found if axis == -1 else [np.ascontiguousarray(each.swapaxes(1, 2)) for each in found]

    def moved(module: Any, name: str, x: Any, norm: str, *size: Any) -> Any:
        return getattr(module, name)(x, *(size or (None,)), axis=axis, norm=norm)

    def both_ways(module: Any, x: Any, forward: bool, norm: int) -> Any:
        return moved(module, "fft" if forward else "ifft", x, complex_names(forward)[norm])

    def back(module: Any, x: Any, like: Any, norm: int) -> Any:
        if like.ndim > 1:  # of a batch
            x = x + np.zeros((*like.shape[:-1], 1, 1), x.dtype)
        return moved(module, "irfft", x, BACKWARD[norm], like.shape[-1])

    def scratch(before: str, after: str, dtypes: Callable[..., Sequence[np.dtype]]) -> Callable[..., Any]:
        """Return the memory for a block of columns, and for their transforms unless these take its place; or for a long
        row."""

        def needed(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
            if axis == -1:
                return of_long_row(dtype, lengths["n"], whole=before == after)
            (made,) = dtypes(dtype)
            width = lowering.minimum(lengths["k"], lowering.literal(fourier.BLOCK))
            block, found = (dtype, (width, lengths[before])), (made, (width, lengths[after]))
            return [block] if block == found else [block, found]

        return needed

    whole = core_op(
        None,
        f"{core('n')}->{core('n')}",
        name=f"fourier_{suffix}",
        evaluate=lambda x, *, forward, norm: both_ways(np.fft, x, forward, norm),
        library=fourier.transform,
        size="n",
        long=long_fourier.whole if axis == -1 else None,
        least_long=LEAST_LONG,
        scratch=scratch("n", "n", lambda dtype: (dtype,)),
        threaded=False,
        rows="k" if axis == -1 else "",
        least_rows=PLANNED,
        in_place=True,
        frontend=lambda op, x, **attrs: op.bind(some_points(x, axis), **attrs),
        vjp=lambda g, y, x, **attrs: (whole.bind(g, **attrs),),
        jnp=lambda x, *, forward, norm: both_ways(load("jax.numpy:fft"), x, forward, norm),
        samples=lambda rng, dtype: [
            (array, Keywords(forward=bool(number % 2), norm=number % 3))
            for number, array in enumerate(arrays(rng, dtype, "c", (2, 5, 8)))
        ],
        ulp=256,
    )

    half_of = core_op(
        None,
        f"{core('n')}->{core('m')}",
        name=f"half_fourier_{suffix}",
        evaluate=lambda x, *, norm: moved(np.fft, "rfft", x, FORWARD[norm]),
        library=fourier.half_transform,
        size="n",
        long=long_fourier.half if axis == -1 else None,
        least_long=LEAST_LONG,
        threaded=False,
        rows="k" if axis == -1 else "",
        least_rows=PLANNED,
        frontend=lambda op, x, **attrs: op.bind(some_points(x, axis), **attrs),
        vjp=lambda g, y, x, *, norm: (half_pullback(g, x, norm),),
        jnp=lambda x, *, norm: moved(load("jax.numpy:fft"), "rfft", x, FORWARD[norm]),
        dtypes=of_half,
        scratch=scratch("n", "m", of_half),
        sizes=lambda lengths, **_: {"m": half(lengths["n"])},
        samples=lambda rng, dtype: [
            (array, Keywords(norm=number % 3)) for number, array in enumerate(arrays(rng, dtype, "f", (2, 5, 8)))
        ],
        ulp=256,
    )

    inverse_of = core_op(
        None,
        f"{core('m')},(n)->{core('n')}",
        name=f"inverse_half_fourier_{suffix}",
        evaluate=lambda x, like, *, norm: back(np.fft, x, like, norm),
        library=fourier.inverse_of_half,
        size="n",
        long=long_fourier.inverse if axis == -1 else None,
        least_long=LEAST_LONG,
        threaded=False,
        rows="k" if axis == -1 else "",
        least_rows=PLANNED,
        frontend=lambda op, x, like, **attrs: op.bind(some_points(x, axis), some_points(like, -1), **attrs),
        vjp=lambda g, y, x, like, *, norm: (inverse_pullback(g, x, norm), None),
        jnp=lambda x, like, *, norm: back(load("jax.numpy:fft"), x, like, norm),
        dtypes=of_whole,
        scratch=scratch("m", "n", of_whole),
        samples=lambda rng, dtype: [
            (array, np.zeros(length, bool), Keywords(norm=length % 3))
            for array, length in zip(arrays(rng, dtype, "c", (2, 3, 5)), (2, 5, 8), strict=False)
        ],
        ulp=256,
    )
    """The inverse of a half transform. The length of the second operand is that of the result, which the length of a
    half leaves open."""

    def half_pullback(g: Value, x: Value, norm: int) -> Value:
        """Return the cotangent of ``x``: for each element, the real part of the sum over the given half, without
        conjugates."""
        length = x.shape[axis]
        weights = where(lone(iota(g.shape[axis]), length), 1.0, 0.5)
        return inverse_of.bind(conjugate(g) * laid(weights, x.dtype), carrier(length), norm=norm)

    def inverse_pullback(g: Value, x: Value, norm: int) -> Value:
        """Return the cotangent of a half. Its elements that stand for their conjugates, too, count twice."""
        counts = where(lone(iota(x.shape[axis]), g.shape[axis]), 1.0, 2.0)
        return conjugate(half_of.bind(g, norm=norm)) * laid(counts, g.dtype)

    def laid(numbers: Value, dtype: np.dtype) -> Value:
        return expand_at(convert(numbers, dtype), range(1, -axis))

    return Transforms(whole, half_of, inverse_of)


def half(length: Extent) -> Extent:
    return shapes.add(shapes.floor_divide(length, 2), 1)


def lone(numbers: Value, length: Extent) -> Value:
    """Return a mask of the elements of a half that stand for themselves alone, and not for a conjugate, too."""
    return logical_or(equal(numbers, 0), equal(numbers * 2, shapes.as_value(length)))


def some_points(x: Any, axis: int) -> Value:
    value = as_value(x)
    points(None, value.shape[axis])
    return value


def carrier(length: Extent) -> Value:
    """Return an operand that has the given length and carries nothing else."""
    return filled(number_as(0, BOOL), (length,))


ROWS = declare_transforms("rows", -1)
COLUMNS = declare_transforms("columns", -2)


# ---- NumPy's functions of one axis ----


def factor(norm: Any, names: Sequence[str]) -> int:
    given = "backward" if norm is None else norm
    if given not in names:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    return names.index(given)


def inexact(a: Any) -> Value:
    value = as_strong(a)
    return value if value.dtype.kind in "fc" else convert(value, FLOAT64)


def as_complex(value: Value) -> Value:
    return convert(value, COMPLEX64 if value.dtype in (FLOAT32, COMPLEX64) else COMPLEX128)


def sized(value: Value, n: Extent, axis: int) -> Value:
    """Return an array with another length along an axis, counted from the right: cut, or with zeros behind it."""
    length = value.shape[axis]
    if shapes.same(length, n):
        return value
    kept = shapes.minimum(length, n)
    part = narrow(value, axis, 0, kept)
    if isinstance(kept, int) and kept == shapes.resolve(n):
        return part
    shape = list(part.shape)
    shape[axis] = shapes.subtract(n, kept)
    return registry["concatenate"]([part, filled(number_as(0, value.dtype), shape)], axis)


def along(value: Value, axis: int, function: Callable[[Transforms, Value], Value]) -> Value:
    """Apply a transform along an axis, counted from the right. The dimensions behind the axis become the columns of
    matrices."""
    if axis == -1:
        before = value.shape[:-1]
        found = function(ROWS, reshape_value(value, (shapes.product(before), value.shape[-1])))
        return reshape_value(found, (*before, found.shape[-1]))
    if axis == -2:
        return function(COLUMNS, value)
    behind = value.shape[axis + 1 :]
    found = function(COLUMNS, reshape_value(value, (*value.shape[: axis + 1 or None], shapes.product(behind))))
    return reshape_value(found, (*found.shape[:-1], *behind))


def points(n: Any, default: Extent) -> Extent:
    """Return the number of points of a transform, and require that it is at least one."""
    length = default if n is None else as_extent(n)
    some = shapes.compare("greater_equal", length, 1)
    shapes.require(some, f"Invalid number of FFT data points ({length}) specified.", ValueError)
    return length


def whole(a: Any, n: Any, axis: int, norm: Any, forward: bool) -> Value:
    value = inexact(a)
    axis = shapes.normalise_axis(axis, value.ndim)
    value = as_complex(sized(value, points(n, value.shape[axis]), axis))
    how = factor(norm, complex_names(forward))
    return along(value, axis, lambda ops, each: ops.whole.bind(each, forward=forward, norm=how))


def to_half(a: Any, n: Any, axis: int, norm: int) -> Value:
    value = inexact(a)
    if value.dtype.kind == "c":
        raise TypeError(f"a real transform of an array of {value.dtype}: use fft")
    axis = shapes.normalise_axis(axis, value.ndim)
    value = sized(value, points(n, value.shape[axis]), axis)
    return along(value, axis, lambda ops, each: ops.half.bind(each, norm=norm))


def from_half(a: Any, n: Any, axis: int, norm: int) -> Value:
    value = as_complex(inexact(a))
    axis = shapes.normalise_axis(axis, value.ndim)
    length = points(n, shapes.multiply(shapes.subtract(value.shape[axis], 1), 2))
    if n is not None:  # without one, the length is that of all that is given
        value = sized(value, half(length), axis)
    return along(value, axis, lambda ops, each: ops.inverse.bind(each, carrier(length), norm=norm))


def samples(kinds: str) -> Callable[..., list[tuple[Any, ...]]]:
    def of_rows(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        array = draw(rng, dtype, (3, 6))
        calls: list[tuple[Any, ...]] = [(array,), (array, 4), (array, 9, 1, "ortho"), (array, None, 0, "forward")]
        return calls if dtype.kind in kinds else []

    return of_rows


def defined(name: str) -> Callable[..., Any]:
    """Wrap NumPy's function; where it leaves memory uninitialised, since there is no element to transform, give
    zeros."""
    function = getattr(np.fft, name)

    def reference(a: Any, *args: Any, **kwargs: Any) -> Any:
        found = function(a, *args, **kwargs)
        return found if np.size(a) else np.zeros_like(found)

    return reference


def declare_named(name: str, function: Callable[..., Value], samples: Callable[..., Any], ulp: float) -> Op:
    """Declare a function of `numpy.fft`."""
    implemented = (getattr(np.fft, name),)
    declaration = decomposition(defined(name), name=f"fft.{name}", implements=implemented, samples=samples, ulp=ulp)
    return declaration(function)


def declare(name: str, function: Callable[..., Value], kinds: str = "biufc") -> Op:
    """Declare a function of one axis."""
    return declare_named(name, function, samples(kinds), 512)


@decomposition(np.fft.fftfreq, name="fft.fftfreq", samples=lambda rng, dtype: [(6,), (7, 0.5)], ulp=2)
def fftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Value:
    require_cpu(device)
    numbers, size = iota(as_length(n)), shapes.as_value(as_length(n))
    return where(less(numbers, (size + 1) // 2), numbers, numbers - size) * step_of_frequencies(size, d)


@decomposition(np.fft.rfftfreq, name="fft.rfftfreq", samples=lambda rng, dtype: [(6,), (7, 0.5)], ulp=2)
def rfftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Value:
    require_cpu(device)
    size = shapes.as_value(as_length(n))
    return iota(as_length(size // 2 + 1)) * step_of_frequencies(size, d)


def step_of_frequencies(size: Value, d: Any) -> Value:
    spacing = as_value(d)
    return 1.0 / (convert(size, spacing.dtype if spacing.dtype.kind in "fc" else FLOAT64) * spacing)


def refuse_out(out: Any) -> None:
    if out is not None:
        raise TypeError("out= is not supported in a traced function by position: give it by name")


def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Value:
    refuse_out(out)
    return whole(a, n, axis, norm, True)


def ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Value:
    refuse_out(out)
    return whole(a, n, axis, norm, False)


def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Value:
    refuse_out(out)
    return to_half(a, n, axis, factor(norm, FORWARD))


def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Value:
    refuse_out(out)
    return from_half(a, n, axis, factor(norm, BACKWARD))


def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Value:
    refuse_out(out)
    return from_half(conjugate(as_strong(a)), n, axis, factor(norm, FORWARD))


def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Value:
    refuse_out(out)
    return conjugate(to_half(a, n, axis, factor(norm, BACKWARD)))


declare("fft", fft)
declare("ifft", ifft)
declare("rfft", rfft, "biuf")
declare("irfft", irfft)
declare("hfft", hfft)
declare("ihfft", ihfft, "biuf")


# ---- of several axes ----

Steps = list[tuple[Any, int]]


def steps(a: Value, s: Any, axes: Any) -> Steps:
    """Return the number of points, or None, and the axis of each transform."""
    if axes is None:
        axes = range(a.ndim) if s is None else range(-len(s), 0)
    sizes = [None] * len(axes) if s is None else list(s)
    if len(sizes) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return [(None if isinstance(n, int) and n == -1 else n, axis) for n, axis in zip(sizes, axes, strict=True)]


def all_steps(a: Any, pairs: Steps, norm: Any, forward: bool) -> Value:
    value = as_strong(a)
    for n, axis in reversed(pairs):
        value = whole(value, n, axis, norm, forward)
    return value if value.ndim else registry["asarray"](value)


def area_samples(kinds: str) -> Callable[..., list[tuple[Any, ...]]]:
    def of_areas(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        array = draw(rng, dtype, (3, 4, 5))
        calls: list[tuple[Any, ...]] = [(array, None, (0, 1)), (array, (2, 6), (1, 2), "ortho")]
        return [(array,), *calls] if dtype.kind in kinds else []

    return of_areas


def declare_area(name: str, function: Callable[..., Value], kinds: str = "biufc") -> None:
    """Declare the transform over all axes, and the one over two of them."""
    ends = {"n": None, "2": (-2, -1)}
    for end, default in ends.items():

        def call(
            a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: None = None, function: Any = function
        ) -> Value:
            refuse_out(out)
            value = as_strong(a)
            return function(value, steps(value, s, axes), norm)

        declare_named(name + end, call, area_samples(kinds), 1024)


def real_area(a: Value, pairs: Steps, norm: Any) -> Value:
    n, axis = pairs[-1]
    return all_steps(rfft(a, n, axis, norm), pairs[:-1], norm, True)


def inverse_real_area(a: Value, pairs: Steps, norm: Any) -> Value:
    n, axis = pairs[-1]
    value: Value = a
    for each, other in pairs[:-1]:
        value = whole(value, each, other, norm, False)
    return irfft(value, n, axis, norm)


declare_area("fft", lambda a, pairs, norm: all_steps(a, pairs, norm, True))
declare_area("ifft", lambda a, pairs, norm: all_steps(a, pairs, norm, False))
declare_area("rfft", real_area, "biuf")
declare_area("irfft", inverse_real_area)


# ---- helpers ----


def shift_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, dtype, (5,)),), (draw(rng, dtype, (3, 4)),), (draw(rng, dtype, (3, 4)), 1)]


def declare_shift(name: str, by: Callable[[Extent], Extent]) -> None:
    def shift(x: Any, axes: Any = None) -> Value:
        value = as_strong(x)
        places = range(value.ndim) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
        for axis in places:
            length = value.shape[shapes.normalise_axis(axis, value.ndim)]
            value = roll(value, shapes.as_value(by(length)), axis)
        return value

    declare_named(name, shift, shift_samples, 0)


declare_shift("fftshift", lambda length: shapes.floor_divide(length, 2))
declare_shift("ifftshift", lambda length: shapes.subtract(0, shapes.floor_divide(length, 2)))
