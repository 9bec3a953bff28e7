"""Convolution along the last dimension."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.lengths import as_extent
from numbagraph.blockwise.promotion import as_value, common_rule, promote
from numbagraph.ir import shapes
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.comparison import greater_equal, less, logical_and
from numbagraph.ops.creation import iota, zeros_like
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.indexing.slicing import flip
from numbagraph.ops.joining import concatenate
from numbagraph.ops.padding import pad_piece
from numbagraph.ops.reduction import sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_at, ravel

MODES = ("full", "same", "valid")
SHORT = 64
"""The number of elements up to which a vector is taken for the shorter one, where the length of the other is not
known."""


def part(n: Extent, m: Extent, mode: str, mirrored: bool) -> tuple[Extent, Extent]:
    """Return the start and the length of a mode's part of the whole convolution. ``mirrored``: where the first operand
    is the shorter one, the middle is that of the result seen from its end, as in NumPy's correlation."""
    fewest, most = shapes.minimum(n, m), shapes.maximum(n, m)
    before = shapes.subtract(fewest, 1)
    if mode == "full":
        return 0, shapes.add(most, before)
    if mode == "same":
        half = shapes.floor_divide(before, 2)
        shorter = shapes.compare("less", n, m) if mirrored else False
        if isinstance(shorter, bool):
            return shapes.subtract(before, half) if shorter else half, most
        return as_extent(where(shorter, shapes.as_value(shapes.subtract(before, half)), half)), most
    return before, shapes.subtract(most, before)


def longer_first(a: Value, v: Value) -> tuple[list[Value], Value]:
    """Return two vectors in the order in which a sum for each place takes fewer terms (a convolution has no order); the
    longer one comes in pieces."""
    n, m = shapes.resolve(a.shape[-1]), shapes.resolve(v.shape[-1])
    in_order = shapes.compare("greater_equal", n, m)
    if a.ndim > 1 or v.ndim > 1 or in_order is True or (isinstance(m, int) and m <= SHORT):
        return [a], v
    if in_order is False or (isinstance(n, int) and n <= SHORT):
        return [v], a
    first = shapes.minimum(shapes.maximum(shapes.add(shapes.subtract(n, m), 1), 0), 1)
    of_a, of_v = shapes.multiply(first, n), shapes.multiply(shapes.subtract(1, first), m)
    # a whole vector and nothing of the other one
    return [a[:of_a], v[:of_v]], concatenate([v[of_v:], a[of_a:]])


def convolved(a: Value, v: Value, mode: str, *, mirrored: bool = False) -> Value:
    """The convolution of rows, whose other dimensions broadcast."""
    a, v = promote(common_rule(), (a, v))
    for extent, name in ((a.shape[-1], "a"), (v.shape[-1], "v")):
        shapes.require(shapes.compare("greater", extent, 0), f"{name} cannot be empty", ValueError)
    begin, length = part(a.shape[-1], v.shape[-1], mode, mirrored)
    pieces, v = longer_first(a, v)
    n, m = functools.reduce(shapes.add, [each.shape[-1] for each in pieces]), v.shape[-1]
    margin = shapes.subtract(m, 1)
    zeros = pad_piece(pieces[0], -1, margin, 0)
    padded = concatenate([zeros, *pieces, zeros], axis=-1)
    positions = expand_at(iota(length) + shapes.as_value(begin), (1,)) + expand_at(iota(m), (0,))
    windows = gather_value(padded, [positions], -1, checked=False)
    products = windows * expand_at(flip(v, -1), (v.ndim - 1,))
    first = shapes.as_value(margin)
    inside = logical_and(greater_equal(positions, first), less(positions, first + shapes.as_value(n)))
    # beyond the ends there is no product: one with the margin's zeros is NaN where v is not finite
    return sum(where(inside, products, zeros_like(products)), -1, dtype=a.dtype)


@decomposition(
    np.convolve,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (n,)), draw(rng, dtype, (m,)), Keywords(mode=mode))
        for n, m in ((5, 3), (2, 6), (1, 1))
        for mode in MODES
    ],
    ulp=16,
)
def convolve(a: Any, v: Any, mode: str = "full") -> Value:
    if mode not in MODES:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    left, right = (ravel(each) if each.ndim == 0 else each for each in (as_value(a), as_value(v)))
    if left.ndim > 1 or right.ndim > 1:
        raise ValueError("object too deep for desired array")
    return convolved(left, right, mode)
