"""Filters of `scipy.ndimage` that are sums of shifted arrays, and the modes by which all filters extend an array.

Sums are formed in double precision, and each pass gives numbers of the result's dtype, as SciPy's do.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, axis_of, differentiated, inexact, known, refuse
from numbagraph.library.scipy.ndimage import distance_transforms, morphology
from numbagraph.library.scipy.ndimage.axes import dtype_of, of_axes
from numbagraph.library.scipy.ndimage.components import COMPONENTS
from numbagraph.library.scipy.ndimage.interpolation import TRANSFORMS
from numbagraph.library.scipy.ndimage.map_coordinates import map_coordinates
from numbagraph.library.scipy.ndimage.measurements import MEASUREMENTS
from numbagraph.library.scipy.ndimage.rank_filters import filters, ordered
from numbagraph.tracing.tracer import Tracer

PADDING = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
"""NumPy's names for SciPy's modes."""
EPSILON = np.finfo(float).eps
"""The bound up to which weights of filters in several dimensions count as zero: SciPy does not multiply by them."""
MOST_TERMS = 200
"""The largest number of terms of a sum that is written out, so that a loop takes vectors of neighbours."""


def extended(image: Any, margins: Sequence[tuple[int, int]], modes: Sequence[str], cval: Any) -> Any:
    """Return an array with elements around it."""
    for axis, (margin, mode) in enumerate(zip(margins, modes, strict=True)):
        if mode not in PADDING:
            raise RuntimeError("boundary mode not supported")
        if margin != (0, 0):
            widths = [(0, 0)] * image.ndim
            widths[axis] = margin
            how = PADDING[mode]
            if how == "reflect" and known(image, "the mode 'mirror'")[axis] == 1:
                how = "edge"
            options: Any = {"mode": how, "constant_values": cval} if how == "constant" else {"mode": how}
            image = np.pad(image, widths, **options)
    return image


def accumulated(image: Any, dtype: Any) -> Any:
    """Convert an array to the precision in which sums are formed."""
    return image.astype(np.complex128 if "c" in (image.dtype.kind, np.dtype(dtype).kind) else np.float64)


def narrowed(found: Any, dtype: Any) -> Any:
    """Convert sums to the result's dtype: SciPy's conversion to uint32 wraps around, and that to bool truncates."""
    whole = np.dtype(dtype) in (np.uint32, np.bool_) and found.dtype.kind == "f"
    return found.astype(np.int64).astype(dtype) if whole else found.astype(dtype)


def correlated(
    image: Any, weights: Any, begins: Sequence[int], modes: Sequence[str], cval: Any, dtype: Any, leaves_zeros: bool
) -> Any:
    """Return weighted sums of neighbours, the first of which is ``begins`` before an element along each axis."""
    lengths = known(weights, "a filter")
    if np.iscomplexobj(cval) and image.dtype.kind != "c":
        raise ValueError("Cannot provide a complex-valued cval when the input is real.")
    if 0 in known(image, "a filter"):
        return np.zeros(image.shape, dtype)
    margins = [(begin, length - 1 - begin) for begin, length in zip(begins, lengths, strict=True)]
    padded = extended(accumulated(image, np.result_type(dtype, weights.dtype)), margins, modes, cval)
    if int(np.prod(lengths)) > MOST_TERMS:
        windows = np.lib.stride_tricks.sliding_window_view(padded, lengths)
        terms = weighted(windows, weights, leaves_zeros)
        return narrowed(np.sum(terms, axis=tuple(range(-len(lengths), 0))), dtype)
    shape = known(padded, "a filter")

    def neighbours(place: Sequence[int]) -> Any:
        ends = zip(place, shape, lengths, strict=True)
        return padded[tuple(slice(start, extent - length + 1 + start) for start, extent, length in ends)]

    if not leaves_zeros and not isinstance(weights, Tracer) and weights.dtype.kind == "f" and weights.size > 1:
        places = [*itertools.product(*map(range, lengths))]
        return narrowed(weighted_line([neighbours(each) for each in places], weights.ravel()), dtype)
    found: Any = None
    for place in itertools.product(*map(range, lengths)):
        weight = weights[place]
        if found is not None and leaves_zeros and not isinstance(weight, Tracer) and abs(weight) <= EPSILON:
            continue
        term = weighted(neighbours(place), weight, leaves_zeros)
        found = term if found is None else found + term
    return narrowed(found, dtype)


def weighted(neighbours: Any, weights: Any, leaves_zeros: bool) -> Any:
    """Multiply neighbours by weights. Where zeros are left out, their products are 0 even beside NaN or infinities, and
    have the derivatives of a product."""
    products = weights * neighbours
    if not leaves_zeros or (not isinstance(weights, Tracer) and np.all(np.abs(weights) > EPSILON)):
        return products
    return differentiated(weights * np.where(np.abs(weights) <= EPSILON, 0.0, neighbours), products)


def weighted_line(neighbours: Sequence[Any], weights: Any) -> Any:
    """Return the sum of neighbours along one axis in SciPy's order, which matters for integers that sums are truncated
    to: pairs with one weight are added first, the outer ones before the inner ones."""
    middle, last = len(weights) // 2, len(weights) - 1
    mirrored = weights[::-1]
    for sign in (1.0, -1.0):
        if last % 2 == 0 and np.all(np.abs(weights - sign * mirrored) <= EPSILON):
            found = neighbours[middle] * weights[middle]
            for near in range(middle):
                first, other = neighbours[near], neighbours[last - near]
                found = found + (first + other if sign > 0 else first - other) * weights[near]
            return found
    found = neighbours[last] * weights[last]
    for each, weight in zip(neighbours[:-1], weights[:-1], strict=True):
        found = found + each * weight
    return found


def along(weights: Any, axis: int, ndim: int) -> Any:
    return weights.reshape([-1 if each == axis else 1 for each in range(ndim)])


def begin_of(length: int, origin: Any) -> int:
    begin = length // 2 + int(origin)
    if not 0 <= begin < max(length, 1):
        raise ValueError("invalid origin")
    return begin


def weighted_dtype(output: Any, image: Any, weights: Any) -> Any:
    """Return the dtype of a sum of weighted neighbours: complex weights make complex sums unless one is asked for."""
    dtype = dtype_of(output, image)
    return np.result_type(dtype, np.complex64) if output is None and weights.dtype.kind == "c" else dtype


def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """`scipy.ndimage.correlate1d`, which conjugates weights, as NumPy's does."""
    image, line = array(input), np.conj(inexact(weights))
    dtype = weighted_dtype(output, image, line)
    axis = axis_of(axis, image.ndim)
    if line.ndim != 1 or not known(line, "a filter")[0]:
        raise RuntimeError("no filter weights given")
    begins = [0] * image.ndim
    begins[axis] = begin_of(known(line, "a filter")[0], origin)
    return correlated(image, along(line, axis, image.ndim), begins, [mode] * image.ndim, cval, dtype, False)


def convolve1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """`scipy.ndimage.convolve1d`."""
    line = np.conj(inexact(weights))
    return correlate1d(input, line[::-1], axis, output, mode, cval, turned(origin, known(line, "a filter")[0]))


def turned(origin: int, length: int) -> int:
    """The origin of the filter whose weights are in reverse order."""
    return -origin - (1 if not length % 2 else 0)


def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """`scipy.ndimage.correlate`."""
    return filtered(input, weights, output, mode, cval, origin, axes, convolves=False)


def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """`scipy.ndimage.convolve`."""
    return filtered(input, weights, output, mode, cval, origin, axes, convolves=True)


def filtered(
    input: Any, weights: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, *, convolves: bool
) -> Any:
    image, kernel = array(input), inexact(weights)
    kernel = kernel if convolves else np.conj(kernel)
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    places, origins, modes = of_axes(axes, image.ndim, origin=origin, mode=mode)
    if kernel.ndim != len(places):
        raise RuntimeError("filter weights array has incorrect shape.")
    dtype, lengths = weighted_dtype(output, image, kernel), known(kernel, "a filter")
    if convolves:
        kernel = np.flip(kernel)
        origins = [turned(each, length) for each, length in zip(origins, lengths, strict=True)]
    shape, begins, ways = [1] * image.ndim, [0] * image.ndim, ["reflect"] * image.ndim
    for axis, length, each, way in zip(places, lengths, origins, modes, strict=True):
        shape[axis], begins[axis], ways[axis] = length, begin_of(length, each), way
    order = np.argsort(places)
    kernel = np.transpose(kernel, [int(each) for each in order]).reshape(shape)
    return correlated(image, kernel, begins, ways, cval, dtype, True)


# ---- Gauss ----


def gaussian_weights(sigma: Any, order: int, radius: int) -> Any:
    """A Gaussian at whole numbers, with sum 1, or its derivative, which is a Hermite polynomial times the Gaussian.
    [DLMF 18.5.5]"""
    places = np.arange(-radius, radius + 1)
    scaled = places / sigma
    bell = np.exp(-0.5 * scaled * scaled)
    bell = bell / np.sum(bell)
    before, polynomial = 0.0 * scaled, 0.0 * scaled + 1.0
    for degree in range(order):
        before, polynomial = polynomial, scaled * polynomial - degree * before
    return (-1.0 / sigma) ** order * polynomial * bell


def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Any:
    """`scipy.ndimage.gaussian_filter1d`."""
    if order < 0:
        raise ValueError("order must be non-negative")
    if radius is None and isinstance(sigma, Tracer):
        refuse("a traced sigma", "give radius= with it, the number of neighbours that count on each side")
    size = int(truncate * float(sigma) + 0.5) if radius is None else int(radius)
    if size < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    weights = gaussian_weights(sigma, int(order), size)
    return correlate1d(input, weights[::-1], axis, output, mode, cval)


def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """`scipy.ndimage.gaussian_filter`: along one axis after the other."""
    found = array(input)
    dtype = dtype_of(output, found)
    given = of_axes(axes, found.ndim, sigma=sigma, order=order, mode=mode, radius=radius)
    for axis, wide, each, way, size in zip(*given, strict=True):
        if isinstance(wide, Tracer) or wide > 1e-15:
            found = gaussian_filter1d(found, wide, axis, each, dtype, way, cval, truncate, radius=size)
    return found.astype(dtype)


def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Any:
    """`scipy.ndimage.gaussian_laplace`."""
    return sum_of_parts(gaussian_parts(input, sigma, 2, output, mode, cval, axes, kwargs))


def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Any:
    """`scipy.ndimage.gaussian_gradient_magnitude`."""
    parts = gaussian_parts(input, sigma, 1, output, mode, cval, axes, kwargs)
    found = sum_of_parts([each * each for each in parts])
    return np.sqrt(inexact(found)).astype(found.dtype)


def gaussian_parts(
    input: Any, sigma: Any, order: int, output: Any, mode: Any, cval: Any, axes: Any, options: dict[str, Any]
) -> list[Any]:
    """Return the filter's results with a derivative along each axis."""
    image = array(input)
    (places,), dtype = of_axes(axes, image.ndim), dtype_of(output, image)
    orders = [[order * (each == axis) for each in places] for axis in places]
    return [gaussian_filter(image, sigma, each, dtype, mode, cval, axes=axes, **options) for each in orders]


def sum_of_parts(parts: Sequence[Any]) -> Any:
    found = parts[0]
    for each in parts[1:]:
        found = found + each
    return found


# ---- differences, means, extremes ----


def difference(smooth: Sequence[float]) -> Function:
    def call(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
        image = array(input)
        axis = axis_of(axis, image.ndim)
        dtype = dtype_of(output, image)
        _, modes = of_axes(None, image.ndim, mode=mode)
        found = correlate1d(image, [-1, 0, 1], axis, dtype, modes[axis], cval)
        for other in range(image.ndim):
            if other != axis:
                found = correlate1d(found, smooth, other, dtype, modes[other], cval)
        return found

    return call


def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    """`scipy.ndimage.laplace`."""
    image = array(input)
    dtype, pairs = dtype_of(output, image), zip(*of_axes(axes, image.ndim, mode=mode), strict=True)
    return sum_of_parts([correlate1d(image, [1, -2, 1], axis, dtype, way, cval) for axis, way in pairs])


def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """`scipy.ndimage.uniform_filter1d`."""
    if size < 1:
        raise RuntimeError("incorrect filter size")
    image = array(input)
    dtype, axis = dtype_of(output, image), axis_of(axis, image.ndim)
    if size <= MOST_TERMS or 0 in known(image, "uniform_filter1d"):
        total = correlate1d(image, np.ones(size), axis, np.result_type(dtype, np.float64), mode, cval, origin)
        return narrowed(total / size, dtype)
    begin = begin_of(size, origin)
    margins, modes = [(0, 0)] * image.ndim, [mode] * image.ndim
    margins[axis] = (begin + 1, size - 1 - begin)
    padded = np.moveaxis(extended(accumulated(image, dtype), margins, modes, cval), axis, -1)
    sums = np.cumsum(padded, axis=-1)
    found = (sums[..., size:] - sums[..., :-size]) / size
    return narrowed(np.moveaxis(found, -1, axis), dtype)


def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """`scipy.ndimage.uniform_filter`: along one axis after the other."""
    found = array(input)
    dtype, given = dtype_of(output, found), of_axes(axes, found.ndim, size=size, mode=mode, origin=origin)
    for axis, length, way, begin in zip(*given, strict=True):
        if length > 1:
            found = uniform_filter1d(found, int(length), axis, dtype, way, cval, begin)
    return found.astype(dtype)


def extreme(better: np.ufunc, name: str) -> Function:
    """Return a filter for the smallest or largest of the neighbours, along one axis after the other."""

    def call(
        input: Any,
        size: Any = None,
        footprint: Any = None,
        output: Any = None,
        mode: Any = "reflect",
        cval: Any = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Any:
        if footprint is not None:
            refuse(f"scipy.ndimage.{name} with footprint=", "give size=")
        if size is None:
            raise RuntimeError("no footprint provided")
        image = ordered(input)
        dtype, given = dtype_of(output, image), of_axes(axes, image.ndim, size=size, mode=mode, origin=origin)
        found = image
        if 0 in known(image, name):
            return np.zeros(image.shape, dtype)
        for axis, length, way, each in zip(*given, strict=True):
            begin = begin_of(int(length), each)
            margins = [(begin, int(length) - 1 - begin) if other == axis else (0, 0) for other in range(image.ndim)]
            padded = extended(found, margins, [way] * image.ndim, cval)
            extent = known(image, name)[axis]
            before = (slice(None),) * axis
            parts = [padded[(*before, slice(start, start + extent))] for start in range(int(length))]
            found = parts[0]
            for part in parts[1:]:
                found = better(found, part)
        return found.astype(dtype)

    call.__name__ = name
    return call


FUNCTIONS: dict[str, Function] = {
    **{
        each.__name__: each
        for each in (
            correlate1d, convolve1d, correlate, convolve, gaussian_filter1d, gaussian_filter, gaussian_laplace,
            gaussian_gradient_magnitude, laplace, uniform_filter1d, uniform_filter, map_coordinates,
        )
    },
    "sobel": difference([1, 2, 1]),
    "prewitt": difference([1, 1, 1]),
    "minimum_filter": extreme(np.minimum, "minimum_filter"),
    "maximum_filter": extreme(np.maximum, "maximum_filter"),
    **filters(extended),
    **morphology.functions(extended),
    **MEASUREMENTS,
    **COMPONENTS,
    **distance_transforms.TRANSFORMS,
    **TRANSFORMS,
}  # fmt: skip

OBJECTS: dict[str, Any] = {}
