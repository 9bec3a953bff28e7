"""Chosen columns of a matrix that is compressed by rows: the numbers of their elements, by which these are gathered."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.intrinsics.emitters.sparse import columns as sparse_columns
from numbagraph.ir.values import Value
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.sparse import compressed, formats
from numbagraph.ops.sparse.formats import Form
from numbagraph.ops.sparse.pairs import as_int64, counted, counted_starts, declare_pattern, lengths_of

COLUMN_STARTS = "(d),(p),(z,m,n),(r)->(p)"
COLUMN_ELEMENTS = "(d),(z,m,n),(r),(c)->(c),(c)"

Arrays = tuple[np.ndarray, ...]


def places(indices: Any, shape: Any, columns: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the elements in some columns, as often as these are named, and which of the columns each is
    in."""
    width = shape.shape[2]
    if len(columns) and not 0 <= columns.min() <= columns.max() < width:
        raise IndexError(f"columns from {columns.min()} to {columns.max()} of a sparse array of {width} columns")
    found = [(e, k) for e, column in enumerate(indices) for k in np.flatnonzero(columns == column)]
    numbers, which = np.array(found, indices.dtype).reshape(-1, 2).T
    return numbers, which


def starts_array(indices: Any, starts: Any, shape: Any, columns: Any) -> np.ndarray:
    rows = compressed.rows_of(indices, starts, shape)
    counts = np.bincount(rows[places(indices, shape, columns)[0]], minlength=len(starts) - 1)
    return np.append(0, np.cumsum(counts))


def elements_array(indices: Any, shape: Any, columns: Any, room: Any) -> Arrays:
    found = places(indices, shape, columns)
    counted(found[0], room)
    return found


def samples() -> list[Arrays]:
    """Return patterns with columns in any order, some of them several times; with columns that follow each other; and
    with none."""
    some, none, other = compressed.patterns()
    chosen = [(some, [3, 0, 3]), (some, [3, 1]), (some, [1, 2]), (some, []), (none, []), (other, [0])]
    return [(*pattern, np.array(columns, np.int64)) for pattern, columns in chosen]


def start_samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
    return samples() if dtype.kind == "i" else []


def element_samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
    calls = []
    for indices, _, shape, columns in start_samples(rng, dtype):
        count = len(places(indices, shape, columns)[0])
        calls.append((indices, shape, columns, np.zeros(count, bool)))
    return calls


def of_columns(dtype: np.dtype, lengths: Any, **_: Any) -> Any:
    """Return the scratch memory: an integer for each column, and for each that is chosen."""
    return [(dtype, (lengths["n"],)), (dtype, (lengths["r"],))]


column_starts = declare_pattern(
    "column_starts", COLUMN_STARTS, starts_array, sparse_columns.column_starts, start_samples, dtypes=as_int64,
    scratch=lambda dtype, lengths, **_: of_columns(dtype, lengths)[:1],
)  # fmt: skip
"""The beginnings of rows of which only some columns are kept."""

column_elements = declare_pattern(
    "column_elements", COLUMN_ELEMENTS, elements_array, sparse_columns.column_elements, element_samples,
    dtypes=lambda indices, *_: (indices, indices), scratch=of_columns,
)  # fmt: skip
"""The numbers of the elements in some columns, and which of these each is in."""


def kept(pattern: tuple[Value, Value, Value], columns: Value) -> tuple[Value, Value, Value]:
    """Return the beginnings of rows of which only some columns are kept, the numbers of their elements, and which of
    the columns each is in."""
    indices, _, lengths = pattern
    starts, room = counted_starts(column_starts(*pattern, columns), indices.dtype)
    found: Any = column_elements(indices, lengths, columns, room)
    numbers, which = found
    return starts, numbers, which


def chosen_columns(data: Value, form: Form, columns: Value) -> tuple[Value, Form]:
    """Return some columns of a matrix that is compressed by rows, or some rows of one that is compressed by columns."""
    starts, numbers, which = kept(form.pattern, columns)
    lengths = lengths_of(form.lengths.shape[1], columns.shape[0])
    return gather_value(data, [numbers], -1, checked=False), Form(form.name, which, starts, lengths)


def chosen_places(data: Value, form: Form, wanted: Value, *, axis: int) -> tuple[Value, Form]:
    """Return some rows or columns of a COO array."""
    _, numbers, which = kept(formats.one_row(form, axis).pattern, wanted)
    other = (form.second, form.first)[axis]
    data, other = (gather_value(each, [numbers], -1, checked=False) for each in (data, other))
    if axis == 0:
        return data, Form(form.name, which, other, lengths_of(wanted.shape[0], form.shape[1]))
    return data, Form(form.name, other, which, lengths_of(form.shape[0], wanted.shape[0]))
