"""Functions of `scipy.fft`: those that NumPy has, and the cosine and sine transforms in terms of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.lengths import as_extent
from numbagraph.frontend.branches import cond
from numbagraph.frontend.capture.numbers import is_traced
from numbagraph.frontend.scipy_functions.common import (
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
from numbagraph.frontend.tracing import Tracer, apply, to_value
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry

INVERTED: dict[Any, Any] = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
"""The normalisation of an inverse transform that scales as another's forward transform does."""


Transform = Callable[[Any, Any, Any, Any], Any]
"""Of an array, lengths, axes, and how it is scaled."""


def as_scipy(name: str, takes: str, axes: Any, function: Transform) -> Function:
    """A transform with SciPy's parameters, some of which are about memory and threads alone."""

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
    """The lengths of a transform of several axes, if any are given, and the axes, counted from the left."""
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
    """A function that NumPy has under the same name."""
    return as_scipy(name, takes, axes, getattr(np.fft, name))


def whole(name: str, takes: str, axes: Any) -> Function:
    """A complex transform. That of real numbers is completed from its half, as in SciPy."""
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
    """The transform of real numbers from its half along the last of the axes: the rest are conjugates, in the other
    direction along all of them."""
    rest = half[(slice(None),) * axes[-1] + (slice(1, (length + 1) // 2),)]
    rest = np.flip(rest, tuple(axes))
    for axis in axes[:-1]:
        rest = np.roll(rest, 1, axis)
    return np.concatenate([half, np.conj(rest)], axes[-1])


def hermitian(name: str, axes: Any) -> Function:
    """``hfftn``, ``ihfftn`` and their like, by the real transform in the other direction."""

    def transform(value: Any, s: Any, axes: Any, norm: Any) -> Any:
        if norm not in INVERTED:
            raise ValueError(f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".')
        if name.startswith("i"):
            return np.conj(np.fft.rfftn(value, s, axes, INVERTED[norm]))
        return np.fft.irfftn(np.conj(value), s, axes, INVERTED[norm])

    return as_scipy(name, "s axes", axes, transform)


# ---- cosines and sines ----


def turned(points: Any, steps: Any, length: Any, scale: Any = 1.0) -> Any:
    """Points of the plane, each turned by some steps of half a turn's part: ``points * exp(-i pi step / length)``, and
    multiplied by a number."""
    angles = (math.pi * steps / length).astype(points.real.dtype)
    one, other = np.cos(angles) * scale, np.sin(angles) * scale
    real, imag = points.real, points.imag
    return (real * one + imag * other) + 1j * (imag * one - real * other)


def even(x: Any, kind: int, scale: Any) -> Any:
    """The cosine transform along the last axis, multiplied by a number."""
    length = x.shape[-1]
    if kind == 1:
        return np.real(np.fft.rfft(np.concatenate([x, x[..., -2:0:-1]], -1))) * scale
    if kind == 2:
        return second(x[..., ::2], x[..., 1::2], length, scale)
    if kind == 3:
        return third(x, scale)
    if isinstance(length, int):
        return (fourth_of_any if length % 2 else fourth_of_even)(x) * scale
    return cond(length % 2 == 0, fourth_of_even, fourth_of_any, x) * scale


def second(even_places: Any, odd_places: Any, length: Any, scale: Any, *, backwards: bool = False) -> Any:
    """The cosine transform of kind 2, by a Fourier transform of the even places, and the odd ones backwards."""
    half = np.fft.rfft(np.concatenate([even_places, odd_places[..., ::-1]], -1))
    found = turned(half, apply(registry["arange"], length)[: length // 2 + 1], 2 * length, 2 * scale)
    first, last = found.real, -found.imag[..., 1 : (length + 1) // 2]
    return np.concatenate([last, first[..., ::-1]] if backwards else [first, last[..., ::-1]], -1)


def third(x: Any, scale: Any, sign: int = 1) -> Any:
    """The cosine transform of kind 3, the other way round. Numbers at odd places are multiplied by a sign."""
    length = x.shape[-1]
    last, count = length // 2 + 1, (length + 1) // 2
    mirrored = x[..., :0:-1][..., : last - 1]
    rest = turned(x[..., 1:last] - 1j * mirrored, -apply(registry["arange"], length)[1:last], 2 * length, scale)
    points = np.fft.irfft(np.concatenate([x[..., :1] * scale + 0j, rest], -1), length, norm="forward")
    found = np.empty_like(points)
    found[..., ::2], found[..., 1::2] = points[..., :count], sign * points[..., count:][..., ::-1]
    return found


def fourth_of_any(x: Any) -> Any:
    """The cosine transform of kind 4, by a Fourier transform of twice the length."""
    length = x.shape[-1]
    steps = apply(registry["arange"], length)
    points = np.fft.fft(turned(x + 0j, steps, 2 * length), 2 * length)[..., :length]
    return 2 * np.real(turned(points, 2 * steps + 1, 4 * length))


def fourth_of_even(x: Any) -> Any:
    """The same of an even number of elements, by one of half of the length: of pairs from both ends."""
    length = x.shape[-1]
    steps = apply(registry["arange"], length)
    half = 8 * steps[: length // 2] + 1
    pairs = x[..., ::2][..., : length // 2] + 1j * x[..., ::-2][..., : length // 2]
    found = 2 * turned(np.fft.fft(turned(pairs, half, 8 * length)), half, 8 * length)
    is_first = steps % 2 == 0
    places = np.where(is_first, steps, length - 1 - steps) // 2
    first, second = (np.take(each, places, -1, mode="clip") for each in (found.real, -found.imag))
    return np.where(is_first, first, second)


def odd(x: Any, kind: int, scale: Any) -> Any:
    """The sine transform along the last axis, multiplied by a number: but for the first kind, a cosine transform of
    numbers in the other order or with alternating signs."""
    length = x.shape[-1]
    if kind == 1:
        shifted = np.concatenate([np.zeros_like(x[..., :1]), x], -1)
        return -2 * scale * np.imag(np.fft.rfft(shifted, 2 * (length + 1)))[..., 1 : length + 1]
    if kind == 2:
        return second(x[..., ::2], -x[..., 1::2], length, scale, backwards=True)
    if kind == 3:
        return third(x[..., ::-1], scale, -1)
    signs = (1 - 2 * (apply(registry["arange"], length) % 2)).astype(x.dtype)
    return signs * even(x[..., ::-1], kind, scale)


def ends(x: Any, scale: float, *, first: bool, last: bool) -> Any:
    """An array whose first and last element along the last axis are multiplied by a number."""
    length = x.shape[-1]
    steps = apply(registry["arange"], length)
    chosen = (steps == 0) & first | (steps == length - 1) & last
    return x * np.where(chosen, scale, 1.0).astype(x.dtype)


def transformed(x: Any, kind: int, norm: Any, orthogonalize: bool | None, is_even: bool, forward: bool) -> Any:
    """The transform along the last axis of real numbers."""
    if kind not in (1, 2, 3, 4):
        raise ValueError("invalid transform type: it is 1, 2, 3 or 4")
    if norm not in INVERTED:
        raise ValueError(f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".')
    kind = kind if forward else {2: 3, 3: 2}.get(kind, kind)
    length = x.shape[-1]
    count: Any = 2 * (length + {True: -1, False: 1}[is_even]) if kind == 1 else 2 * length
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    which = {"first": is_even, "last": kind == 1 or not is_even}
    weighs = orthogonal and kind != 4 and (is_even or kind != 1)
    if weighs and kind in (1, 3):
        x = ends(x, math.sqrt(2.0), **which)
    scale: Any = 1
    if norm == "ortho" or (norm == "forward") == forward:
        divisor = np.sqrt(count) if norm == "ortho" else np.multiply(count, 1.0)
        scale = 1 / divisor.astype(x.dtype)
    found = (even if is_even else odd)(x, kind, scale)
    if weighs and kind in (1, 2):
        found = ends(found, math.sqrt(0.5), **which)
    return found


def resized(x: Any, n: Any) -> Any:
    """The first elements along the last axis, and zeros where there are less."""
    if n is None:
        return x
    require(n >= 1, f"invalid number of data points ({n}) specified")
    count = as_extent(to_value(n) if isinstance(n, Tracer) else n)
    missing = shapes.maximum(shapes.subtract(count, x.value.shape[-1]), 0)
    return np.concatenate([x[..., :n], apply(registry["zeros"], (*x.shape[:-1], missing), x.dtype)], -1)


def along(x: Any, axis: int, n: Any, function: Callable[[Any], Any]) -> Any:
    rows = resized(np.moveaxis(x, axis_of(axis, x.ndim), -1), n)
    found = function(rows.real) + 1j * function(rows.imag) if rows.dtype.kind == "c" else function(rows)
    return np.moveaxis(found, -1, axis)


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
        return along(value, axis, n, lambda rows: transformed(rows, type, norm, orthogonalize, is_even, forward))

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
            value = along(value, axis, n, lambda rows: transformed(rows, type, norm, orthogonalize, is_even, forward))
        return value

    return call


def fast_length(name: str) -> Function:
    """A length near another one, which must be known: a version is made for it alone."""

    def call(target: Any, real: bool = False) -> int:
        number = known_number(target, f"scipy.fft.{name}")
        return load(f"scipy.fft:{name}")(number, bool(real))

    call.__name__ = name
    return call


def frequencies(name: str) -> Function:
    """The frequencies of a transform, which NumPy has under the same name."""

    def call(n: Any, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Any:
        only_numpy(xp, device, f"scipy.fft.{name}")
        return apply(registry[f"fft.{name}"], n, d)

    call.__name__ = name
    return call


def logarithmic(name: str) -> Function:
    """Hankel's transform of points that are spaced by their logarithms: a circular convolution between two scalings."""

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
