"""Sparse arrays that are made of several while a function is traced: ``vstack``, ``hstack`` and ``kron``. Elements move
with their coordinates. Errors for functions without a counterpart say what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.values import Extent, Value
from numbagraph.library.scipy.sparse.arrays import Pattern, SparseArray, sparse_or_dense
from numbagraph.ops.sparse.pairs import lengths_of
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.sparse_pytrees import NAMES
from numbagraph.tracing.tracer import apply

INSTEAD = {
    "block_array": "scipy.sparse.vstack of scipy.sparse.hstack, with scipy.sparse.coo_array((m, n)) in place of None",
    "bmat": "scipy.sparse.vstack of scipy.sparse.hstack, with scipy.sparse.coo_array((m, n)) in place of None",
    "block_diag": "scipy.sparse.vstack of scipy.sparse.hstack, with scipy.sparse.coo_array((m, n)) beside the diagonal",
    "diags": "scipy.sparse.diags_array makes a sparse array of diagonals",
    "kronsum": "scipy.sparse.kron(I, A, format='csr') + scipy.sparse.kron(B, J, format='csr') with unit matrices I, J",
    **dict.fromkeys(
        ("tril", "triu"), "i, j = A.tocoo().coords; scipy.sparse.coo_array((A.data * (i >= j), (i, j)), shape=A.shape)"
    ),
    "find": "A.tocoo().coords and A.data",
}
"""The advice by the names of functions that are refused."""


def refuse(name: str) -> Callable[..., NoReturn]:
    def function(*_: Any, **__: Any) -> NoReturn:
        raise TraceError(
            f"scipy.sparse.{name} of traced values is not supported: {INSTEAD[name]}\n  at {user_source()}"
        )

    return function


def stacked(name: str, axis: int) -> Callable[..., SparseArray]:
    """Return ``vstack`` or ``hstack``, which put one array behind the other along an axis."""

    def stack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> SparseArray:
        arrays = [sparse_of(name, each) for each in blocks]
        formats = {each.format for each in arrays}
        own = format or (formats.pop() if len(formats) == 1 else "coo")
        moved = [each.tocoo() for each in arrays]
        counts = [each._pattern.lengths for each in moved]
        positions = index_dtype(moved)

        def joined(*values: Value) -> tuple[Value, ...]:
            extents = [each.shape[1:] for each in values]
            first = extents[0][1 - axis]
            for each in extents[1:]:
                shapes.require_same(each[1 - axis], first, f"incompatible dimensions for axis {1 - axis}")
            ends: list[Extent] = [0]
            for each in extents:
                ends.append(shapes.add(ends[-1], each[axis]))
            require_room(ends[-1], positions)
            lengths = (ends[-1], first) if axis == 0 else (first, ends[-1])
            return (lengths_of(*lengths), *map(shapes.as_value, ends[:-1]))

        lengths, *starts = apply(joined, *counts)
        coordinates: list[Any] = []
        for each in range(2):
            parts = [array.coords[each] for array in moved]
            if each == axis:
                parts = [part + start for part, start in zip(parts, starts, strict=True)]
            coordinates.append(np.concatenate(parts).astype(positions))
        data: Any = np.concatenate([each.data for each in moved])
        found = SparseArray(data, Pattern("coo", tuple(coordinates), lengths)).asformat(own)
        return found if dtype is None else found.astype(dtype)

    return stack


def kron(A: Any, B: Any, format: str | None = None) -> SparseArray:
    """Return the Kronecker product: each element of one array times the other array."""
    if format not in NAMES:
        raise TraceError(
            f"scipy.sparse.kron of traced arrays gives none of blocks, which is SciPy's own choice: name a format, "
            f"kron(A, B, format='csr')\n  at {user_source()}"
        )
    left, right = (sparse_of("kron", each).tocoo() for each in (A, B))
    positions = index_dtype([left, right])

    def spread(one: Value, other: Value) -> tuple[Value, ...]:
        lengths = [shapes.product((a, b)) for a, b in zip(one.shape[1:], other.shape[1:], strict=True)]
        for each in lengths:
            require_room(each, positions)
        return (lengths_of(*lengths), *map(shapes.as_value, other.shape[1:]))

    lengths, *factors = apply(spread, left._pattern.lengths, right._pattern.lengths)
    coordinates: list[Any] = [
        np.ravel(own[:, None] * factor + other[None, :]).astype(positions)
        for own, other, factor in zip(left.coords, right.coords, factors, strict=True)
    ]
    data: Any = np.ravel(left.data[:, None] * right.data[None, :])
    return SparseArray(data, Pattern("coo", tuple(coordinates), lengths)).asformat(format)


def sparse_of(name: str, thing: Any) -> SparseArray:
    found = sparse_or_dense(thing)
    if not isinstance(found, SparseArray):
        raise TraceError(
            f"scipy.sparse.{name} of traced arrays takes sparse ones of two dimensions alone: make a coo_array of what "
            f"is dense, and A[[i]] has one row\n  at {user_source()}"
        )
    return found


def index_dtype(arrays: Sequence[SparseArray]) -> np.dtype:
    return np.result_type(*[each.dtype for array in arrays for each in array.coords])


def require_room(extent: Extent, dtype: np.dtype) -> None:
    """Raise where positions do not fit into their dtype."""
    most = int(np.iinfo(dtype).max)
    text = f"a sparse array with more than {most} rows or columns needs positions of 64 bits"
    shapes.require(shapes.compare("less_equal", extent, most), text, ValueError)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "vstack": stacked("vstack", 0),
    "hstack": stacked("hstack", 1),
    "kron": kron,
    **{name: refuse(name) for name in INSTEAD},
}
