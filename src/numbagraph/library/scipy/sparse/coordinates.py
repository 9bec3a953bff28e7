"""Sparse arrays that are made of their elements and the positions of these while a function is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.values import Value
from numbagraph.library.scipy.sparse.arrays import Pattern, SparseArray, as_tracer
from numbagraph.ops.creation import filled, number_as
from numbagraph.tracing.tracer import Tracer, apply


def of_tuple(form: str, parts: tuple[Any, ...], shape: Any) -> SparseArray:
    own = form if len(parts) == 3 else "coo"
    positions = parts[1:] if len(parts) == 3 else parts[1]
    data, first, second = (as_tracer(each) for each in (parts[0], *positions))
    lengths = shape[::-1] if own == "csc" else shape

    def lengths_of(*values: Value) -> Value:
        extents = [shapes.resolve(each) if isinstance(each, Value) else int(each) for each in values]
        return filled(number_as(0, np.dtype(bool)), (0, *extents))

    found = SparseArray(data, Pattern(own, with_one_dtype(first, second), apply(lengths_of, *lengths)))
    return found.asformat(form)


def with_one_dtype(first: Tracer, second: Tracer) -> tuple[Tracer, Tracer]:
    """Convert positions to integers of one dtype, of 32 or 64 bits."""
    for each in (first, second):
        if each.dtype.kind not in "iu":
            raise TypeError(f"positions of a sparse array must be integers, not {each.dtype}")
    dtype = (
        np.dtype(np.int32) if all(np.can_cast(each.dtype, np.int32) for each in (first, second)) else np.dtype(np.int64)
    )
    return first.astype(dtype), second.astype(dtype)
