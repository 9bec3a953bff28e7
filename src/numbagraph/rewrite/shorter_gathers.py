"""Gathers of what takes long to compute: an element is computed once at the most, and only where it is read.

Which is shorter, an array or the positions that it is read at, may be known only when the program runs. So there is one
array of the lesser length: of the elements at the positions, or of all elements; and it is read in turn, or at the
positions.
"""

from __future__ import annotations

from collections.abc import Callable

from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Value
from numbagraph.ops.creation import iota
from numbagraph.ops.indexing.gathering import gather
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.shape import reshape_value
from numbagraph.rewrite.selections import Positions, Selection


def gathered_once_each(
    source: Value, axis: int, positions: Value, checked: bool, part: Callable[[Selection], Value | None]
) -> Value | None:
    """Return the elements of ``source`` at positions along an axis, by ``part`` of no more of them than there are."""
    extent, count = source.shape[axis], shapes.product(positions.shape)
    fewer = shapes.as_value(extent), shapes.as_value(count)
    is_short = registry["less"].bind(*fewer[::-1])
    length = shapes.minimum(count, extent)
    places = convert(positions, INT64)
    in_row = narrow(reshape_value(places, (count,)), -1, 0, length)
    chosen = registry["where"](is_short, in_row, iota_of(length))
    computed = part(Positions(axis, chosen, checked))
    if computed is None:
        return None
    numbers = reshape_value(iota_of(count), positions.shape)
    read = registry["where"](is_short, numbers, places)
    return gather.bind(computed, read, axis=axis, checked=(checked,))


def iota_of(extent: object) -> Value:
    (template,), sizes = shapes.split_extents((extent,))  # type: ignore[arg-type]
    return iota.bind(*sizes, size=template)
