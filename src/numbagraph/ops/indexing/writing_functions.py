"""Array results of NumPy's functions that write into their first argument."""

from __future__ import annotations

from typing import Any

from numbagraph.blockwise.promotion import convert
from numbagraph.blockwise.storing import written
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Value
from numbagraph.ops.creation import along, iota
from numbagraph.ops.indexing.gathering import as_positions, gather_value, put_at
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.indexing.subscripts import set_index
from numbagraph.ops.shape import broadcast_value, ravel, reshape_value


def repeated(values: Value, numbers: Value, name: str) -> Value:
    """Return values by their numbers; after the last value follows the first."""
    if not values.ndim:
        return values
    flat = ravel(values)
    count = shapes.as_value(flat.shape[0])
    some = shapes.compare("greater", flat.shape[0], 0)
    shapes.require(some, f"{name}: there are no values to write", ValueError)
    return gather_value(flat, [registry["remainder"](numbers, count)], -1, checked=False)


def each_filled(own: Value, number: Any) -> Value:
    """Return ``own`` after ``own.fill(number)``."""
    value = written(number, own.dtype, alone=True)
    if value.ndim:
        raise ValueError("setting an array element with a sequence: fill takes one number")
    return set_index(own, ..., value)


def diagonal_filled(own: Value, val: Any, wrap: bool) -> Value:
    """Return ``own`` after ``np.fill_diagonal(own, val, wrap)``."""
    if own.ndim < 2:
        raise ValueError("array must be at least 2-d")
    values = written(val, own.dtype)
    if own.ndim == 2 and wrap:
        rows, columns = own.shape
        step = shapes.add(columns, 1)
        count = shapes.floor_divide(shapes.add(shapes.multiply(rows, columns), columns), step)  # rounded up
        numbers = iota(count)
        flat = put_at(ravel(own), numbers * shapes.as_value(step), repeated(values, numbers, "fill_diagonal"))
        return reshape_value(flat, own.shape)
    for length in own.shape[1:] if own.ndim > 2 else ():
        shapes.require_same(own.shape[0], length, "All dimensions of input must be of equal length", ValueError)
    numbers = iota(shapes.minimum(own.shape[0], own.shape[1]))
    update = broadcast_value(repeated(values, numbers, "fill_diagonal"), numbers.shape)
    places, flags = [numbers] * own.ndim, (False,) * own.ndim
    return put_at.bind(own, update, *places, axis=-own.ndim, checked=flags)


def values_put(own: Value, ind: Any, v: Any, mode: str) -> Value:
    """Return ``own`` after ``np.put(own, ind, v, mode)``."""
    flat, positions = ravel(own), convert(ravel(as_positions(ind)), INT64)
    length = shapes.as_value(flat.shape[0])
    has_room = shapes.compare("greater_equal", flat.shape[0], shapes.minimum(positions.shape[0], 1))
    shapes.require(has_room, "put: cannot replace elements of an empty array", IndexError)
    if mode == "clip":
        positions = registry["minimum"](registry["maximum"](positions, 0), length - 1)
    elif mode == "wrap":
        positions = registry["remainder"](positions, length)
    elif mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    values = written(v, own.dtype)
    if not values.ndim:
        return reshape_value(put_at(flat, positions, values), own.shape)
    # whole repetitions of the values, and a rest: a remainder for each position takes longer than all else
    values = ravel(values)
    given, wanted = values.shape[0], positions.shape[0]
    repeats = shapes.floor_divide(wanted, shapes.maximum(given, 1))
    whole = shapes.multiply(repeats, given)
    rest = shapes.minimum(shapes.subtract(wanted, whole), given)  # of no values, nothing
    rows = reshape_value(narrow(positions, -1, 0, whole), (repeats, given))
    flat = put_at(flat, rows, broadcast_value(values, (repeats, given)))
    flat = put_at(flat, narrow(positions, -1, whole, rest), narrow(values, -1, 0, rest))
    return reshape_value(flat, own.shape)


def put_along(own: Value, indices: Any, values: Any, axis: Any) -> Value:
    """Return ``own`` after ``np.put_along_axis(own, indices, values, axis)``."""
    positions = as_positions(indices)
    if axis is None:
        if positions.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return reshape_value(put_along(ravel(own), positions, values, 0), own.shape)
    place = shapes.normalise_axis(axis, own.ndim) + own.ndim
    if positions.ndim != own.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    where_ = [positions if each == place else along(iota(n), each, own.ndim) for each, n in enumerate(own.shape)]
    shape = shapes.broadcast_shapes([each.shape for each in where_], "put_along_axis")
    update = broadcast_value(written(values, own.dtype), shape)
    flags = tuple(each == place for each in range(own.ndim))
    return put_at.bind(own, update, *where_, axis=-own.ndim, checked=flags)
