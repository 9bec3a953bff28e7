"""`scipy.ndimage.map_coordinates` of orders 0 and 1."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, double, known, lifted, refuse
from numbagraph.library.scipy.ndimage.axes import dtype_of

MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap")


def inside(x: Any, length: int, mode: str) -> Any:
    """Map a coordinate beyond an end to the one that is read."""
    last = length - 1
    if mode in ("constant", "grid-constant"):
        return x
    if mode == "nearest" or length == 1:
        return np.clip(x, 0.0, last)
    if mode == "mirror":
        folded = np.mod(np.abs(x), 2.0 * last)
        return np.where(folded >= np.where(x < 0, last, length), 2.0 * last - folded, folded)
    if mode in ("reflect", "grid-mirror"):
        folded = np.mod(x, 2.0 * length)
        return np.where(folded >= length, 2.0 * length - folded - 1.0, folded)
    if mode == "grid-wrap":
        return np.mod(x, 1.0 * length)
    after = np.where(x > last, x - last * np.trunc(x / last), x)
    return np.where(x < 0, x + last * (np.trunc(-x / last) + 1.0), after)


def place(index: Any, length: int, mode: str) -> Any:
    """The position of the element at a whole coordinate, which may be one beyond an end."""
    if mode == "grid-wrap":
        return np.mod(index, length)
    if mode == "mirror":  # between the last element and the next one, which is the last but one
        index = np.where(index > length - 1, 2 * (length - 1) - index, index)
    return np.clip(index, 0, length - 1)


def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """`scipy.ndimage.map_coordinates`, by the nearest elements or by linear interpolation."""
    del prefilter
    if not 0 <= order <= 5:
        raise RuntimeError("spline order not supported")
    if order > 1:
        refuse(
            f"scipy.ndimage.map_coordinates with order={order}", "order=1 is between neighbours, order=0 the nearest"
        )
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    image, at = array(input), double(coordinates)
    dtype = dtype_of(output, image)
    shape = known(image, "map_coordinates")
    if not shape or known(at, "map_coordinates")[0] != len(shape):
        raise RuntimeError("invalid shape for coordinate array")
    values = lifted(image.astype(np.complex128 if image.dtype.kind == "c" else np.float64))
    points = [inside(at[axis], length, mode) for axis, length in enumerate(shape)]
    known_points = [np.isnan(at[axis]) for axis in range(len(shape))]
    if mode == "constant":
        known_points += [(x < 0) | (x > length - 1) for x, length in zip(points, shape, strict=True)]
    outside = known_points[0]
    for each in known_points[1:]:
        outside = outside | each
    firsts = [np.floor(np.where(outside, 0.0, x) + (0.5 if order == 0 else 0.0)) for x in points]
    found: Any = 0.0
    for corner in itertools.product((0, 1), repeat=len(shape)) if order else [(0,) * len(shape)]:
        found = found + element(values, points, firsts, corner, shape, mode, cval, order)
    found = np.where(outside, cval, found)
    return rounded(found, dtype)


def element(values: Any, points: Any, firsts: Any, corner: Any, shape: Any, mode: str, cval: Any, order: int) -> Any:
    """Return the element at one corner around each point, times its weight."""
    weight: Any = 1.0
    beyond: Any = False
    places = []
    for x, first, step, length in zip(points, firsts, corner, shape, strict=True):
        index = first.astype(np.int64) + step
        if mode == "grid-constant":
            beyond = beyond | (index < 0) | (index > length - 1)
        places.append(place(index, length, mode))
        if order:
            part = x - first
            weight = weight * (part if step else 1.0 - part)
    found = values[tuple(places)]
    if mode == "grid-constant":
        found = np.where(beyond, cval, found)
    return found * weight if order else found


def rounded(found: Any, dtype: Any) -> Any:
    """Convert to a dtype. Integers are rounded to the nearest, and away from zero between two."""
    if np.dtype(dtype).kind not in "iu":
        return found.astype(dtype)
    limits = np.iinfo(dtype)
    whole = np.trunc(found + np.copysign(0.5, found))
    if limits.bits < 64:
        whole = np.clip(whole, limits.min, limits.max)
    return whole.astype(dtype)
