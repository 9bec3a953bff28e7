"""Indices of sparse arrays while a function is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.values import Value
from numbagraph.ops.creation import iota
from numbagraph.ops.sparse import columns, pairs
from numbagraph.ops.sparse.formats import Form
from numbagraph.tracing.replacements import replacements

PAIRS = "A.tocsr()[i][:, j] has the rows and columns, and A[i, j] of numbers one element"
WHOLE = slice(None)


def item(array: Any, key: Any) -> Any:
    """``array[key]``, of numbers, slices, masks and vectors of positions. A number leaves one dimension."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in [each for each in keys if each is Ellipsis]:
        place = next(number for number, each in enumerate(keys) if each is Ellipsis)
        keys[place : place + 1] = [WHOLE] * (3 - len(keys))
    keys += [WHOLE] * (2 - len(keys))
    if len(keys) > 2:
        raise IndexError("too many indices for a sparse array of two dimensions")
    if any(each is None for each in keys):
        array._refuse("an index with None")
    places = [positions(array, each, axis) for axis, each in enumerate(keys)]
    ranks = [None if each is None else each.ndim for each in places]
    if ranks == [0, 0]:
        return array._call(pairs.element, *places)
    if ranks == [1, 1] and not any(isinstance(each, slice) for each in keys):
        array._refuse("an index of pairs of positions", PAIRS)
    if any(rank is not None and rank > 1 for rank in ranks):
        array._refuse("an index of two dimensions")
    found = array
    for axis, place in enumerate(places):
        if place is not None:
            found = chosen(found, np.reshape(place, (1,)) if place.ndim == 0 else place, axis)
    if 0 in ranks:
        row = found if ranks[0] == 0 else found.T
        return replacements.for_role("sparse vector of a row")(row.tocoo())
    return found.copy() if found is array else found


def positions(array: Any, key: Any, axis: int) -> Any:
    """Return positions along an axis, counted from the left and checked; None for all."""
    if isinstance(key, slice) and all(each is None for each in (key.start, key.stop, key.step)):
        return None
    numbers = array._call(lambda data, form: iota(form.shape[axis]))
    key = np.asarray(key, np.intp) if isinstance(key, list) and not key else key
    return numbers[np.asarray(key) if isinstance(key, list) else key]


def chosen(array: Any, place: Any, axis: int) -> Any:
    """Return rows or columns of an array, in its format."""

    def parts(data: Value, form: Form, wanted: Value) -> tuple[Value, ...]:
        if form.name == "coo":
            data, found = columns.chosen_places(data, form, wanted, axis=axis)
        elif form.name == ("csr", "csc")[axis]:
            data, found = pairs.chosen_rows(data, form, wanted)
        else:
            data, found = columns.chosen_columns(data, form, wanted)
        return data, *found.pattern

    return array._of(array.format, array._call(parts, place))
