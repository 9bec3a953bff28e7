"""Functions of `scipy.fft`: those that NumPy has, and the cosine and sine transforms in terms of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.blockwise.lengths import as_extent
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import Extent
from numbagraph.library.scipy.arguments import (
    Function,
    array,
    axis_of,
    inexact,
    known,
    known_number,
    only_numpy,
    refuse,
    require,
)
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.tracing.tracer import Tracer, apply, to_value

INVERTED: dict[Any, Any] = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
"""The normalisation of an inverse transform that scales as another's forward transform does."""


Transform = Callable[[Any, Any, Any, Any], Any]
"""A function of an array, lengths, axes, and the normalisation."""


def as_scipy(name: str, takes: str, axes: Any, function: Transform) -> Function:
    """Return a transform with SciPy's parameters, some of which are about memory and threads alone."""

    def call(
        x: Any,
        n: Any = None,
        axis: Any = axes,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        plan: Any = None,
        **named: Any,
    ) -> Any:
        del overwrite_x, workers
        refuse_plan(plan)
        size, place = (named.pop(each, given) for each, given in zip(takes.split(), (n, axis), strict=True))
        if named:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(named))!r}")
        value = array(x)
        if takes == "s axes":
            size, place = lengths_and_axes(value, size, place)
            if not place and name.startswith(("r", "ir", "h", "ih")):
                raise ValueError("at least 1 axis must be transformed")
        return function(value, size, place, norm)

    return call


def lengths_and_axes(value: Any, lengths: Any, axes: Any) -> tuple[list[Any] | None, list[int]]:
    """Return the lengths of a transform of several axes, if any are given, and the axes, counted from the left."""
    sizes = [lengths] if is_number(lengths) else None if lengths is None else list(lengths)
    if axes is None:
        if sizes is not None and len(sizes) > value.ndim:
            raise ValueError("shape requires more axes than are present")
        axes = range(value.ndim) if sizes is None else range(value.ndim - len(sizes), value.ndim)
    places = [operator.index(each) for each in ([axes] if is_number(axes) else axes)]
    if sizes is not None and len(sizes) != len(places):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    if any(not -value.ndim <= axis < value.ndim for axis in places):
        raise ValueError("axes exceeds dimensionality of input")
    places = [axis % value.ndim for axis in places]
    if len({*places}) < len(places):
        raise ValueError("all axes must be unique")
    if sizes is not None:  # SciPy keeps a length where -1 is given
        sizes = [value.shape[axis] if is_minus_one(n) else n for n, axis in zip(sizes, places, strict=True)]
    return sizes, places


def is_number(given: Any) -> bool:
    return isinstance(given, (int, np.integer)) or (isinstance(given, Tracer) and not given.ndim)


def is_minus_one(n: Any) -> bool:
    return not isinstance(n, Tracer) and n == -1


def refuse_plan(plan: Any) -> None:
    if plan is not None:
        raise NotImplementedError("Passing a precomputed plan is not yet supported by scipy.fft functions")


def of_numpy(name: str, takes: str, axes: Any) -> Function:
    """Return a function that NumPy has under the same name."""
    return as_scipy(name, takes, axes, getattr(np.fft, name))


def whole(name: str, takes: str, axes: Any) -> Function:
    """Return a complex transform. A transform of real numbers is completed from its half, as in SciPy."""
    transform = getattr(np.fft, name)

    def call(value: Any, lengths: Any, axes: Any, norm: Any) -> Any:
        one = takes == "n axis"
        every = [axis_of(axes, value.ndim)] if one else axes
        if value.dtype.kind == "c" or not every or norm not in INVERTED:
            return transform(value, lengths, axes, norm)
        count = value.shape[every[-1]] if lengths is None else lengths if one else lengths[-1]
        half = getattr(np.fft, "rfft" if one else "rfftn")
        if name.startswith("i"):
            return completed(np.conj(half(value, lengths, axes, INVERTED[norm])), count, every)
        return completed(half(value, lengths, axes, norm), count, every)

    return as_scipy(name, takes, axes, call)


def completed(half: Any, length: Any, axes: list[int]) -> Any:
    """Complete the transform of real numbers from its half along the last of the axes: the rest are conjugates, in the
    other direction along all of them."""
    rest = half[(slice(None),) * axes[-1] + (slice(1, (length + 1) // 2),)]
    rest = np.flip(rest, tuple(axes))
    for axis in axes[:-1]:
        rest = np.roll(rest, 1, axis)
    return np.concatenate([half, np.conj(rest)], axes[-1])


def hermitian(name: str, axes: Any) -> Function:
    """Return ``hfftn``, ``ihfftn`` or their like, by the real transform in the other direction."""

    def transform(value: Any, s: Any, axes: Any, norm: Any) -> Any:
        if norm not in INVERTED:
            raise ValueError(f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".')
        if name.startswith("i"):
            half = np.conj(np.fft.rfft(value, None if s is None else s[-1], axes[-1], INVERTED[norm]))
            return np.fft.ifftn(half, None if s is None else s[:-1], axes[:-1], norm) if axes[:-1] else half
        return np.fft.irfftn(np.conj(value), s, axes, INVERTED[norm])

    return as_scipy(name, "s axes", axes, transform)


# ---- cosines and sines ----


def cut(x: Any, axis: int, *bounds: Any) -> Any:
    """Slice along an axis, which is counted from the right here and below."""
    return x[(..., slice(*bounds), *[slice(None)] * (-1 - axis))]


def part(x: Any, axis: int, start: int, length: Extent) -> Any:
    """Return elements along an axis that are known to exist: other than for a slice, the length needs no comparison."""
    return apply(lambda value: narrow(value, axis, start, length), x)


def numbers_along(x: Any, axis: int) -> Any:
    """The positions of the elements along an axis."""
    return upright(apply(registry["arange"], x.shape[axis]), axis)


def upright(numbers: Any, axis: int) -> Any:
    """Return a vector that lies along an axis."""
    return numbers[(..., *[None] * (-1 - axis))]


def turned(points: Any, steps: Any, length: Any, scale: Any = 1.0) -> Any:
    """Rotate points of the plane, and scale them: ``points * exp(-i pi steps / length) * scale``."""
    angles = (math.pi * steps / length).astype(points.real.dtype)
    one, other = np.cos(angles) * scale, np.sin(angles) * scale
    real, imag = points.real, points.imag
    return (real * one + imag * other) + 1j * (imag * one - real * other)


def even(x: Any, axis: int, kind: int, scale: Any, weight: float = 1.0) -> Any:
    """Return the cosine transform along an axis, multiplied by ``scale``. In the kinds 2 and 3, the term of frequency 0
    is multiplied by ``weight``."""
    length = x.shape[axis]
    if kind == 1:
        mirrored = np.concatenate([x, cut(x, axis, -2, 0, -1)], axis)
        return np.real(np.fft.rfft(mirrored, axis=axis)) * scale
    if kind == 2:
        return second(cut(x, axis, None, None, 2), cut(x, axis, 1, None, 2), axis, length, scale, weight)
    if kind == 3:
        return third(x, axis, scale, weight)
    of_even, of_any = (partial(function, axis=axis) for function in (fourth_of_even, fourth_of_any))
    if isinstance(length, int):
        return (of_any if length % 2 else of_even)(x) * scale
    return cond(length % 2 == 0, of_even, of_any, x) * scale


def second(
    even_places: Any, odd_places: Any, axis: int, length: Any, scale: Any, weight: float, *, backwards: bool = False
) -> Any:
    """Return the cosine transform of kind 2, by a Fourier transform of the even places, and the odd ones backwards."""
    half = np.fft.rfft(np.concatenate([even_places, np.flip(odd_places, axis)], axis), axis=axis)
    steps = upright(apply(registry["arange"], length)[: length // 2 + 1], axis)
    weights = np.where(steps == 0, weight, 1.0).astype(even_places.dtype) if weight != 1.0 else 1
    found = turned(half, steps, 2 * length, 2 * scale * weights)
    first, last = found.real, -cut(found.imag, axis, 1, (length + 1) // 2)
    pieces = [last, np.flip(first, axis)] if backwards else [first, np.flip(last, axis)]
    return np.concatenate(pieces, axis)


def third(x: Any, axis: int, scale: Any, weight: float, sign: int = 1) -> Any:
    """Return the cosine transform of kind 3, by the steps of kind 2 in reverse. Numbers at odd places are multiplied by
    a sign."""
    length, steps = x.shape[axis], numbers_along(x, axis)
    count = shapes.floor_divide(x.value.shape[axis], 2)
    mirrored = part(np.flip(x, axis), axis, 0, count)
    rest = turned(part(x, axis, 1, count) - 1j * mirrored, -part(steps, axis, 1, count), 2 * length, scale)
    points = np.concatenate([part(x, axis, 0, 1) * (scale * weight) + 0j, rest], axis)
    found = from_both_ends(np.fft.irfft(points, length, axis, norm="forward"), axis)
    return found if sign == 1 else np.where(steps % 2 == 0, found, sign * found)


def from_both_ends(points: Any, axis: int) -> Any:
    """Return the first element, the last one, the second one, and so on. (To put them there from both halves would be
    two passes, and a third one where it is not known that they fill the array.)"""
    length = points.shape[axis]
    steps = apply(registry["arange"], length)
    places = np.where(steps % 2 == 0, steps // 2, length - 1 - steps // 2)
    return np.take(points, places, axis, mode="clip")


def fourth_of_any(x: Any, axis: int) -> Any:
    """Return the cosine transform of kind 4, by a Fourier transform of twice the length."""
    length, steps = x.shape[axis], numbers_along(x, axis)
    points = np.fft.fft(turned(x + 0j, steps, 2 * length), 2 * length, axis)
    return 2 * np.real(turned(cut(points, axis, length), 2 * steps + 1, 4 * length))


def fourth_of_even(x: Any, axis: int) -> Any:
    """Return the cosine transform of kind 4 of an even number of elements, by a Fourier transform of half of the
    length: of pairs from both ends."""
    length, steps = x.shape[axis], numbers_along(x, axis)
    half = 8 * cut(steps, axis, length // 2) + 1
    first, last = (cut(cut(x, axis, None, None, step), axis, length // 2) for step in (2, -2))
    found = 2 * turned(np.fft.fft(turned(first + 1j * last, half, 8 * length), axis=axis), half, 8 * length)
    numbers = apply(registry["arange"], length)
    places = np.where(numbers % 2 == 0, numbers, length - 1 - numbers) // 2
    first, second = (np.take(each, places, axis, mode="clip") for each in (found.real, -found.imag))
    return np.where(steps % 2 == 0, first, second)


def odd(x: Any, axis: int, kind: int, scale: Any, weight: float = 1.0) -> Any:
    """Return the sine transform along an axis, multiplied by ``scale``: except for the first kind, a cosine transform
    of the numbers in reverse order or with alternating signs."""
    length = x.shape[axis]
    if kind == 1:
        shifted = np.concatenate([np.zeros_like(cut(x, axis, 1)), x], axis)
        return -2 * scale * cut(np.imag(np.fft.rfft(shifted, 2 * (length + 1), axis)), axis, 1, length + 1)
    if kind == 2:
        pieces = cut(x, axis, None, None, 2), -cut(x, axis, 1, None, 2)
        return second(*pieces, axis, length, scale, weight, backwards=True)
    if kind == 3:
        return third(np.flip(x, axis), axis, scale, weight, -1)
    signs = (1 - 2 * (numbers_along(x, axis) % 2)).astype(x.dtype)
    return signs * even(np.flip(x, axis), axis, kind, scale)


def ends(x: Any, axis: int, scale: float) -> Any:
    """Multiply the first and the last element of an array along an axis by a number."""
    steps = numbers_along(x, axis)
    chosen = (steps == 0) | (steps == x.shape[axis] - 1)
    return x * np.where(chosen, scale, 1.0).astype(x.dtype)


def transformed(
    x: Any, axis: int, kind: int, norm: Any, orthogonalize: bool | None, is_even: bool, forward: bool
) -> Any:
    """Return the cosine or sine transform of real numbers along an axis."""
    if kind not in (1, 2, 3, 4):
        raise ValueError("invalid transform type: it is 1, 2, 3 or 4")
    if norm not in INVERTED:
        raise ValueError(f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".')
    kind = kind if forward else {2: 3, 3: 2}.get(kind, kind)
    length = x.shape[axis]
    count: Any = 2 * (length + {True: -1, False: 1}[is_even]) if kind == 1 else 2 * length
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    both_ends = orthogonal and kind == 1 and is_even
    if both_ends:
        x = ends(x, axis, math.sqrt(2.0))
    scale: Any = 1
    if norm == "ortho" or (norm == "forward") == forward:
        divisor = np.sqrt(count) if norm == "ortho" else np.multiply(count, 1.0)
        scale = 1 / divisor.astype(x.dtype)
    weight = {2: math.sqrt(0.5), 3: math.sqrt(2.0)}.get(kind, 1.0) if orthogonal else 1.0
    found = (even if is_even else odd)(x, axis, kind, scale, weight)
    return ends(found, axis, math.sqrt(0.5)) if both_ends else found


def resized(x: Any, axis: int, n: Any) -> Any:
    """Return the first ``n`` elements along an axis, with zeros where there are fewer."""
    if n is None:
        return x
    require(n >= 1, f"invalid number of data points ({n}) specified")
    count = as_extent(to_value(n) if isinstance(n, Tracer) else n)
    shape = list(x.shape)
    shape[axis] = shapes.maximum(shapes.subtract(count, x.value.shape[axis]), 0)
    return np.concatenate([cut(x, axis, n), apply(registry["zeros"], tuple(shape), x.dtype)], axis)


def along(x: Any, axis: int, n: Any, function: Callable[[Any, int], Any]) -> Any:
    axis = axis_of(axis, x.ndim) - x.ndim
    x = resized(x, axis, n)
    before = x.shape[:-1]
    if axis == -1 and x.ndim > 2:  # rows of a matrix are computed some at a time
        x = x.reshape(reduce(operator.mul, before), x.shape[-1])
    found = function(x.real, axis) + 1j * function(x.imag, axis) if x.dtype.kind == "c" else function(x, axis)
    return found if found.ndim == len(before) + 1 else found.reshape(*before, found.shape[-1])


def real_transform(is_even: bool, forward: bool) -> Function:
    def call(
        x: Any,
        type: int = 2,
        n: Any = None,
        axis: int = -1,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        orthogonalize: bool | None = None,
    ) -> Any:
        del overwrite_x, workers
        value = inexact(x)
        return along(value, axis, n, lambda x, axis: transformed(x, axis, type, norm, orthogonalize, is_even, forward))

    return call


def real_transforms(is_even: bool, forward: bool) -> Function:
    def call(
        x: Any,
        type: int = 2,
        s: Any = None,
        axes: Any = None,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        orthogonalize: bool | None = None,
    ) -> Any:
        del overwrite_x, workers
        value = inexact(x)
        sizes, places = lengths_and_axes(value, s, axes)
        for axis, n in zip(places, sizes or [None] * len(places), strict=True):
            value = along(
                value, axis, n, lambda x, axis: transformed(x, axis, type, norm, orthogonalize, is_even, forward)
            )
        return value

    return call


def fast_length(name: str) -> Function:
    """Return a function for a length near another one, which must be known: a version is made for it alone."""

    def call(target: Any, real: bool = False) -> int:
        number = known_number(target, f"scipy.fft.{name}")
        return load(f"scipy.fft:{name}")(number, bool(real))

    call.__name__ = name
    return call


def frequencies(name: str) -> Function:
    """Return the function for the frequencies of a transform, which NumPy has under the same name."""

    def call(n: Any, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Any:
        only_numpy(xp, device, f"scipy.fft.{name}")
        return apply(registry[f"fft.{name}"], n, d)

    call.__name__ = name
    return call


def logarithmic(name: str) -> Function:
    """Return Hankel's transform of points that are spaced by their logarithms: a circular convolution between two
    scalings."""

    def call(a: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any:
        options = {"dln": dln, "mu": mu, "offset": offset, "bias": bias}
        if is_traced((), options):
            traced = ", ".join(key for key, each in options.items() if isinstance(each, Tracer))
            refuse(f"scipy.fft.{name} with traced {traced}", "pass numbers: the kernel is computed outside")
        rows = inexact(a)
        if rows.dtype.kind == "c":
            raise TypeError("x must be a real sequence")
        count = known(rows, f"scipy.fft.{name}")[-1]
        place = np.arange(count) - 0.5 * (count - 1)
        before, after = place * dln * bias, (place * dln + offset) * bias
        scales = (np.exp(-before), np.exp(-after)) if name == "fht" else (np.exp(after), np.exp(before))
        impulse = np.zeros(count)
        impulse[0] = 1.0 / scales[0][0]
        response = load(f"scipy.fft:{name}")(impulse, **options) / scales[1]
        found = np.fft.rfft(rows * scales[0] if bias else rows)
        found = np.fft.irfft(found * np.fft.rfft(response[::-1]).astype(found.dtype), count)[..., ::-1]
        return found * scales[1] if bias else found

    call.__name__ = name
    return call


FUNCTIONS: dict[str, Function] = {
    **{name: whole(name, "n axis", -1) for name in ("fft", "ifft")},
    **{f"{name}2": whole(f"{name}2", "s axes", (-2, -1)) for name in ("fft", "ifft")},
    **{f"{name}n": whole(f"{name}n", "s axes", None) for name in ("fft", "ifft")},
    **{name: of_numpy(name, "n axis", -1) for name in ("rfft", "irfft", "hfft", "ihfft")},
    **{f"{name}2": of_numpy(f"{name}2", "s axes", (-2, -1)) for name in ("rfft", "irfft")},
    **{f"{name}n": of_numpy(f"{name}n", "s axes", None) for name in ("rfft", "irfft")},
    **{f"{name}2": hermitian(name, (-2, -1)) for name in ("hfft", "ihfft")},
    **{f"{name}n": hermitian(name, None) for name in ("hfft", "ihfft")},
    "dct": real_transform(True, True),
    "idct": real_transform(True, False),
    "dst": real_transform(False, True),
    "idst": real_transform(False, False),
    "dctn": real_transforms(True, True),
    "idctn": real_transforms(True, False),
    **{name: logarithmic(name) for name in ("fht", "ifht")},
    **{name: frequencies(name) for name in ("fftfreq", "rfftfreq")},
    **{name: fast_length(name) for name in ("next_fast_len", "prev_fast_len")},
    "dstn": real_transforms(False, True),
    "idstn": real_transforms(False, False),
}

OBJECTS: dict[str, Any] = {}
