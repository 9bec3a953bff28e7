"""Convolutions of `scipy.signal`, in one or more dimensions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import Function, array, axis_of, known

MODES = ("full", "same", "valid")
MOST_TERMS = 64
"""The largest number of terms of a direct sum that is written out."""


def operands(in1: Any, in2: Any, mode: str) -> tuple[Any, Any, bool]:
    """Return both arrays, and whether they were exchanged: in the mode "valid" the larger one comes first."""
    one, other = array(in1), array(in2)
    if one.ndim != other.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    if mode not in MODES:
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    return one, other, False


def fits(first: Sequence[int], second: Sequence[int], axes: Sequence[int]) -> bool:
    return all(first[axis] >= second[axis] for axis in axes)


def window(first: Sequence[int], second: Sequence[int], mode: str, axes: Sequence[int]) -> list[slice]:
    """The slices of the whole convolution that a mode keeps."""
    found = [slice(None)] * len(first)
    for axis in axes:
        n, m = first[axis], second[axis]
        if mode == "same":
            begin = (n + m - 1 - n) // 2
            found[axis] = slice(begin, begin + n)
        elif mode == "valid":
            begin = min(n, m) - 1
            found[axis] = slice(begin, begin + max(n, m) - min(n, m) + 1)
        else:
            found[axis] = slice(0, n + m - 1)
    return found


def require_valid(first: Sequence[int], second: Sequence[int], axes: Sequence[int]) -> None:
    if not fits(first, second, axes) and not fits(second, first, axes):
        raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """`scipy.signal.convolve`."""
    one, other, _ = operands(in1, in2, mode)
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    if not one.ndim:
        return one * other
    first, second = known(one, "a convolution"), known(other, "a convolution")
    if not all((*first, *second)):
        return np.array([], dtype=np.result_type(one.dtype, other.dtype))
    axes = range(one.ndim)
    if mode == "valid":
        require_valid(first, second, axes)
    dtype = np.result_type(one.dtype, other.dtype)
    small = np.prod([min(pair) for pair in zip(first, second, strict=True)])
    if method == "fft" or (method == "auto" and dtype.kind in "fc" and small > 2 * MOST_TERMS):
        found = fftconvolve(one, other, mode)
        return np.rint(found).astype(dtype) if dtype.kind in "iub" else found.astype(dtype)
    return direct(one.astype(dtype), other.astype(dtype), first, second, mode)


def direct(one: Any, other: Any, first: Sequence[int], second: Sequence[int], mode: str) -> Any:
    """Return the sum of products, over the elements of the smaller array."""
    axes = range(len(first))
    if len(first) == 1 and min(*first, *second) > MOST_TERMS:
        return np.convolve(one, other)[window(first, second, mode, axes)[0]]
    part = window(first, second, mode, axes)
    if np.prod(first) < np.prod(second):
        one, other, first, second = other, one, second, first
    begins = [each.start for each in part]
    lengths = [each.stop - each.start for each in part]
    margins = [
        (max(m - 1 - b, 0), max(b + n - f, 0)) for b, n, f, m in zip(begins, lengths, first, second, strict=True)
    ]
    padded = np.pad(one, margins) if any(map(any, margins)) else one
    starts = [b - (m - 1) + before for b, m, (before, _) in zip(begins, second, margins, strict=True)]
    if np.prod(second) > MOST_TERMS:
        cut = padded[tuple(slice(s, s + n + m - 1) for s, n, m in zip(starts, lengths, second, strict=True))]
        windows = np.lib.stride_tricks.sliding_window_view(cut, second)
        return np.sum(windows * np.flip(other), axis=tuple(range(-len(second), 0)), dtype=one.dtype)
    found = None
    for place in itertools.product(*map(range, second)):
        key = tuple(
            slice(s + m - 1 - p, s + m - 1 - p + n) for s, m, p, n in zip(starts, second, place, lengths, strict=True)
        )
        term = other[place] * padded[key]
        found = term if found is None else found + term
    return found


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """`scipy.signal.fftconvolve`."""
    return transformed(in1, in2, mode, axes, as_a_whole)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """`scipy.signal.oaconvolve`."""
    return transformed(in1, in2, mode, axes, in_blocks)


def transformed(in1: Any, in2: Any, mode: str, axes: Any, product: Function) -> Any:
    """Return the part of a convolution that a mode keeps, by Fourier transforms along some axes."""
    one, other, _ = operands(in1, in2, mode)
    if not one.ndim:
        return one * other
    first, second = known(one, "a convolution"), known(other, "a convolution")
    if not all((*first, *second)):
        return np.array([])
    listed = axes if isinstance(axes, (tuple, list)) else [axes]
    places = list(range(one.ndim)) if axes is None else sorted(axis_of(each, one.ndim) for each in listed)
    if not places:
        raise ValueError("when provided, axes cannot be empty")
    for axis in range(one.ndim):
        if axis not in places and first[axis] != second[axis] and 1 not in (first[axis], second[axis]):
            raise ValueError(f"incompatible shapes for in1 and in2: {first} and {second}")
    if mode == "valid":
        require_valid(first, second, places)
    worth = [axis for axis in places if first[axis] != 1 and second[axis] != 1]
    part = window(first, second, mode, places)
    if not worth:
        return (one * other)[tuple(part)] if mode != "full" else one * other
    kind = np.result_type(one.dtype, other.dtype)
    if kind.kind not in "fc":
        kind = np.dtype(np.float64)
    one, other = one.astype(kind), other.astype(kind)
    return product(one, other, worth)[tuple(part)]


def as_a_whole(one: Any, other: Any, axes: Sequence[int]) -> Any:
    first, second = known(one, "a convolution"), known(other, "a convolution")
    is_complex = one.dtype.kind == "c"
    lengths = [load("scipy.fft:next_fast_len")(first[axis] + second[axis] - 1, not is_complex) for axis in axes]
    if is_complex:
        return np.fft.ifftn(np.fft.fftn(one, lengths, axes) * np.fft.fftn(other, lengths, axes), lengths, axes)
    return np.fft.irfftn(np.fft.rfftn(one, lengths, axes) * np.fft.rfftn(other, lengths, axes), lengths, axes)


def in_blocks(one: Any, other: Any, axes: Sequence[int]) -> Any:
    """Convolve along one axis by blocks of the longer array. Each block overlaps the one before by the length of the
    shorter array less one, and those first elements of its convolution are dropped: the block before has them."""
    if len(axes) > 1:
        return as_a_whole(one, other, axes)
    (axis,) = axes
    first, second = known(one, "a convolution")[axis], known(other, "a convolution")[axis]
    if first < second:
        one, other, first, second = other, one, second, first
    total, overlap = first + second - 1, second - 1
    size = length_of_blocks(total, overlap, one.dtype.kind != "c")
    if size >= total:
        return as_a_whole(one, other, axes)
    step = size - overlap
    count = -(-total // step)
    rows, taps = np.moveaxis(one, axis, -1), np.moveaxis(other, axis, -1)
    padded = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(overlap, count * step - first)])
    blocks = np.lib.stride_tricks.sliding_window_view(padded, size, -1)[..., ::step, :]
    if one.dtype.kind == "c":
        found = np.fft.ifft(np.fft.fft(blocks) * np.fft.fft(taps, size)[..., None, :])
    else:
        found = np.fft.irfft(np.fft.rfft(blocks) * np.fft.rfft(taps, size)[..., None, :], size)
    found = found[..., overlap:]
    found = found.reshape((*known(found, "a convolution")[:-2], count * step))
    return np.moveaxis(found[..., :total], -1, axis)


def length_of_blocks(total: int, overlap: int, real: bool) -> int:
    """The length of transforms that takes the fewest operations."""
    fast = load("scipy.fft:next_fast_len")
    sizes = [fast(overlap << power, real) for power in range(1, 8)]
    return min([fast(total, real), *sizes], key=lambda n: -(-total // (n - overlap)) * n * math.log2(n))


def conjugate(x: Any) -> Any:
    """Conjugate complex arrays, and return others as they are: NumPy's conjugate of a bool is an integer."""
    return np.conj(x) if x.dtype.kind == "c" else x


def reversed_conjugate(x: Any) -> Any:
    return np.flip(conjugate(x))


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """`scipy.signal.correlate`."""
    one, other, _ = operands(in1, in2, mode)
    if not one.ndim:
        return one * conjugate(other)
    return convolve(one, reversed_conjugate(other), mode, method)


BOUNDARIES = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap", "symm": "symmetric",
              "symmetric": "symmetric", "reflect": "symmetric"}  # fmt: skip


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """`scipy.signal.convolve2d`."""
    one, other = array(in1), array(in2)
    if not one.ndim == other.ndim == 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    if mode not in MODES:
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    if boundary not in BOUNDARIES:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    first, second = known(one, "a convolution"), known(other, "a convolution")
    if mode == "valid":
        require_valid(first, second, (0, 1))
        if not fits(first, second, (0, 1)):
            one, other, first, second = other, one, second, first
    dtype = np.result_type(one.dtype, other.dtype)
    if dtype.kind == "b":
        raise ValueError("convolve2d not available for this type.")
    one, other = one.astype(dtype), other.astype(dtype)
    if mode == "valid":
        return convolve(one, other, "valid", "direct")
    how = BOUNDARIES[boundary]
    margins = [(length - 1, length - 1) for length in second]
    options: Any = {"mode": how, "constant_values": fillvalue} if how == "constant" else {"mode": how}
    found = convolve(np.pad(one, margins, **options), other, "valid", "direct")
    return found[tuple(window(first, second, mode, (0, 1)))]


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """`scipy.signal.correlate2d`."""
    one, other = array(in1), array(in2)
    if mode == "same":  # its middle is that of the result seen from the end
        whole = convolve2d(one, reversed_conjugate(other), "full", boundary, fillvalue)
        first, second = known(one, "a correlation"), known(other, "a correlation")
        begins = [m - 1 - (m - 1) // 2 for m in second]
        return whole[tuple(slice(b, b + n) for b, n in zip(begins, first, strict=True))]
    first, second = known(one, "a correlation"), known(other, "a correlation")
    if mode == "valid" and not fits(first, second, (0, 1)):
        require_valid(first, second, (0, 1))
        return np.flip(np.conj(convolve2d(other, reversed_conjugate(one), mode, boundary, fillvalue)))
    return convolve2d(one, reversed_conjugate(other), mode, boundary, fillvalue)


CONVOLUTIONS: dict[str, Function] = {
    each.__name__: each for each in (convolve, fftconvolve, oaconvolve, correlate, convolve2d, correlate2d)
}
