"""Sums over the dimensions that broadcasting has repeated, where that is known only when lengths are."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.lengths import both
from numbagraph.blockwise.promotion import as_value
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.creation import iota
from numbagraph.ops.indexing.gathering import scatter
from numbagraph.ops.indexing.slicing import Cut, put_slice, take_slice


def summed_to_extents(array: np.ndarray, axes: Sequence[int], extents: Sequence[int]) -> np.ndarray:
    for axis, extent in zip(axes, extents, strict=True):
        length = array.shape[axis]
        shapes.require(extent in (1, length), f"sum_to_extents: a length of {length} is not {extent}")
    summed = tuple(axis for axis, each in zip(axes, extents, strict=True) if each == 1)
    return array.sum(summed, array.dtype, keepdims=True)


@decomposition(
    summed_to_extents,
    name="sum_to_extents",
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3, 4)), (-1,), (1,)),
        (draw(rng, dtype, (3, 4)), (-2, -1), (3, 1)),
    ],
    ulp=4,
)
def sum_to_extents(cotangent: Value, axes: Sequence[int], extents: Sequence[Extent]) -> Value:
    """The sum along each axis whose extent is 1; the others have the axes' lengths.

    Elements that are not summed are copied, since a scatter takes one at a time: either part has no elements.
    """
    cotangent = as_value(cotangent)
    unknown: dict[int, Extent] = {}
    for axis, each in zip(axes, extents, strict=True):
        extent, length = shapes.resolve(each), cotangent.shape[axis]
        if shapes.not_one(extent):
            shapes.require_same(extent, length, f"sum_to_extents: a length of {length} is not {extent}")
        else:
            unknown[axis] = extent
    if not unknown:
        return cotangent
    is_summed = either(shapes.compare("equal", each, 1) for each in unknown.values())
    if isinstance(is_summed, bool):
        return summed_where_one(cotangent, unknown)
    lengths = {axis: cotangent.shape[axis] for axis in unknown}
    summed = {axis: Cut(0, 1, length_where(is_summed, each, 0)) for axis, each in lengths.items()}
    copied = {axis: Cut(0, 1, length_where(is_summed, 0, each)) for axis, each in lengths.items()}
    return put_slice(summed_where_one(take_slice(cotangent, summed), unknown), take_slice(cotangent, copied), copied)


def summed_where_one(cotangent: Value, extents: Mapping[int, Extent]) -> Value:
    for axis, extent in extents.items():
        single = registry["equal"].bind(shapes.as_value(extent), shapes.as_value(1))
        positions = registry["where"](single, 0, iota(cotangent.shape[axis]))
        shape = list(cotangent.shape)
        shape[axis] = extent
        cotangent = scatter(cotangent, [positions], shape, axis, (False,))
    return cotangent


def either(conditions: Iterable[Value | bool]) -> Value | bool:
    return functools.reduce(lambda one, other: both(one, other, "logical_or"), conditions)


def length_where(condition: Value, one: Extent, other: Extent) -> Extent:
    return shapes.resolve(registry["where"].bind(condition, shapes.as_value(one), shapes.as_value(other)))
