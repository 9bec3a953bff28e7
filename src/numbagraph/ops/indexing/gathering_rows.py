"""Reading and writing at positions along one axis, where each row along it has its own positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import as_value
from numbagraph.ir import shapes
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.creation import along, iota
from numbagraph.ops.indexing.gathering import as_positions, gather, scatter
from numbagraph.ops.shape import ravel


@decomposition(
    np.take_along_axis,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3, 4)), rng.integers(-4, 4, (3, 2)), 1),
        (draw(rng, dtype, (4, 3)), rng.integers(0, 4, (2, 1)), 0),
        (draw(rng, dtype, (2, 2)), rng.integers(0, 4, (5,)), None),
    ],
)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Value:
    value, positions = as_value(arr), as_positions(indices)
    if axis is None:
        value, axis = ravel(value), 0
    axis = shapes.normalise_axis(axis, value.ndim) + value.ndim
    if positions.ndim != value.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return gather_along(value, positions, axis)


def gather_along(value: Value, positions: Value, axis: int, *, checked: bool = True) -> Value:
    """Return elements at run-time positions of one axis, in each row along it."""
    flags = tuple(checked and each == axis for each in range(value.ndim))
    return gather.bind(value, *places_along(value.shape, positions, axis), axis=-value.ndim, checked=flags)


def scatter_along(updates: Value, positions: Value, shape: Sequence[Extent], axis: int) -> Value:
    """Return zeros of a shape with ``updates`` added at positions of one axis, all inside of it, in each row along
    it."""
    return scatter(updates, places_along(shape, positions, axis), shape, -len(shape), (False,) * len(shape))


def places_along(shape: Sequence[Extent], positions: Value, axis: int) -> list[Value]:
    """Return the positions along all axes; along ``axis``, each row has its own."""
    count = len(shape)
    return [positions if each == axis else along(iota(extent), each, count) for each, extent in enumerate(shape)]
