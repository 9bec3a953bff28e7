"""Sparse arrays that are made of their diagonals while a function is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, lifted, require
from numbagraph.library.scipy.sparse.arrays import SparseArray
from numbagraph.library.scipy.sparse.coordinates import of_tuple
from numbagraph.ops.ranges import arange
from numbagraph.tracing.tracer import Tracer, apply


def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: str | None = None, dtype: Any = None
) -> SparseArray:
    """`scipy.sparse.diags_array`. Where SciPy's result has the format dia, that of this one is coo."""
    if np.ndim(offsets) == 0:
        is_one = np.ndim(diagonals) < 2 if isinstance(diagonals, Tracer) else np.ndim(diagonals[0]) == 0
        if not is_one and len(diagonals) != 1:
            raise ValueError("Different number of diagonals and offsets.")
        diagonals, offsets = [diagonals] if is_one else diagonals, [offsets]
    given = [np.atleast_1d(array(each)) for each in diagonals]
    places = [int(each) for each in offsets]
    if len(given) != len(places):
        raise ValueError("Different number of diagonals and offsets.")
    if len({*places}) != len(places):
        raise ValueError("offset array contains duplicate values")
    kind = np.result_type(*given) if dtype is None else np.dtype(dtype)
    rows, columns = (given[0].shape[0] + abs(places[0]),) * 2 if shape is None else shape
    parts = [part(each.astype(kind), place, rows, columns) for each, place in zip(given, places, strict=True)]
    data, i, j = (np.concatenate(each) for each in zip(*parts, strict=True))
    return of_tuple("coo", (data, (i, j)), (rows, columns)).asformat(format or "coo")


def part(values: Any, offset: int, rows: Any, columns: Any) -> tuple[Any, Any, Any]:
    """Return the elements of a diagonal, and their rows and columns. Longer values are cut off, as SciPy does it."""
    down, right = max(-offset, 0), max(offset, 0)
    length = np.minimum(rows - down, columns - right)
    require(np.greater_equal(length, 0), f"Offset {offset} is out of bounds")
    if is_one(values):
        values = np.broadcast_to(lifted(values), (length,))
    message = f"Diagonal length (at offset {offset}) does not agree with the array size."
    require(np.greater_equal(values.shape[0], length), message)
    values = values[:length]
    places = apply(lambda count: arange(count, dtype=np.int32), length)
    return values, places + np.int32(down), places + np.int32(right)


def is_one(values: Any) -> bool:
    return type(values.shape[0]) is int and values.shape[0] == 1


def eye_array(m: Any, n: Any = None, *, k: int = 0, dtype: Any = float, format: str | None = None) -> SparseArray:
    """`scipy.sparse.eye_array` of a traced size."""
    return diags_array(np.ones(1, dtype), offsets=int(k), shape=(m, m if n is None else n), format=format, dtype=dtype)


FUNCTIONS: dict[str, Callable[..., Any]] = {"diags_array": diags_array, "eye_array": eye_array}
