"""NumPy's functions whose results have lengths that depend on the data: where elements are true, which values occur,
and how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.creation import along, iota
from numbagraph.ops.indexing.gathering import gather_value, put_at
from numbagraph.ops.indexing.masks import selected
from numbagraph.ops.shape import at_least, broadcast_value, expand_at, move, permute, ravel, reshape_value


def thinned(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers for tests, some of which are zeros."""
    return np.where(rng.random(shape) < 0.5, draw(rng, dtype, shape), np.zeros((), dtype))


def of_matrices(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(thinned(rng, dtype, (3, 4)),), (thinned(rng, dtype, (5,)),)]


def compress_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (3, 4))
    return [(rng.random(length) < 0.6, array, axis) for length, axis in ((3, 0), (4, 1), (7, None))]


def extract_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(rng.random((3, 4)) < 0.6, draw(rng, dtype, (3, 4)))]


def unique_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (2, 7), (0.0, 4.0))  # of floats, any two differ: otherwise there is no derivative
    rows = np.stack([array, array[:, ::-1]])
    along = [(rows, True, True, True, 0), (array, False, True, False, 1), (rows, False, False, False, -1)]
    return [(array,), (array, True, True, True), (array[:, :0], True, True, True), *along]


def truth(a: Any) -> Value:
    value = as_value(a)
    return value if value.dtype == BOOL else registry["not_equal"](value, 0)


@decomposition(np.nonzero, samples=of_matrices)
def nonzero(a: Any) -> tuple[Value, ...]:
    mask = truth(a)
    if not mask.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead")
    numbers = [along(iota(extent), axis, mask.ndim) for axis, extent in enumerate(mask.shape)]
    return tuple(selected(broadcast_value(each, mask.shape), mask, 0) for each in numbers)


@decomposition(np.flatnonzero, samples=of_matrices)
def flatnonzero(a: Any) -> Value:
    return nonzero(ravel(a))[0]


@decomposition(np.argwhere, samples=of_matrices)
def argwhere(a: Any) -> Value:
    mask = truth(a)
    positions = permute(registry["stack"](nonzero(mask if mask.ndim else expand_at(mask, [0]))), (1, 0))
    return positions if mask.ndim else positions[:, :0]


@decomposition(np.compress, samples=compress_samples)
def compress(condition: Any, a: Any, axis: Any = None) -> Value:
    mask = truth(condition)
    if mask.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    value = ravel(a) if axis is None else at_least(as_value(a), 1)
    first = shapes.normalise_axis(0 if axis is None else axis, value.ndim) + value.ndim
    if shapes.same(mask.shape[0], value.shape[first]):
        return selected(value, mask, first)
    return gather_value(value, [nonzero(mask)[0]], first - value.ndim)


@decomposition(np.extract, samples=extract_samples)
def extract(condition: Any, arr: Any) -> Value:
    return compress(ravel(condition), ravel(arr))


@decomposition(np.unique, samples=unique_samples)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    array = as_strong(ar)
    if axis is not None:
        axis = shapes.normalise_axis(axis, array.ndim) + array.ndim
    wanted = return_index, return_inverse, return_counts
    if array.ndim > 1 and axis is not None:
        return unique_along(array, axis, wanted)
    value = ravel(array)
    is_complex = value.dtype.kind == "c"
    order = (
        registry["order_of_rows"](sortable(expand_at(value, [1])))
        if is_complex
        else registry["argsort"](value, stable=return_index)
    )
    # equal numbers with a point may be told apart; and what is sorted is read three times, but gathered as often
    in_order = is_complex or ((return_index or return_inverse) and value.dtype.kind not in "biu")
    ordered = gather_value(value, [order], -1, checked=False) if in_order else registry["sort"](value)
    before = the_one_before(ordered)
    differs = registry["not_equal"](ordered, before)
    if equal_nan and value.dtype.kind in "fc":
        differs = differs & ~(registry["isnan"](ordered) & registry["isnan"](before))
    return with_places(ordered, order, differs, wanted, array.shape)


def unique_along(array: Value, axis: int, wanted: tuple[bool, bool, bool]) -> Any:
    """Return the distinct parts of an array along an axis. Parts with NaN differ from all others."""
    rows = move(array, [axis], [0])
    order = registry["order_of_rows"](sortable(rows))
    ordered = gather_value(rows, [order], -rows.ndim, checked=False)
    differs = registry["any"](registry["not_equal"](ordered, the_one_before(ordered)), tuple(range(1, rows.ndim)))
    found = with_places(ordered, order, differs, wanted, order.shape)
    values, *others = found if isinstance(found, tuple) else (found,)
    values = move(values, [0], [axis])
    return (values, *others) if others else values


def sortable(rows: Value) -> Value:
    """Return rows of real numbers whose lexicographic order is NumPy's order of the given rows, which may be
    complex."""
    width = shapes.product(rows.shape[1:])
    flat = reshape_value(rows, (rows.shape[0], width))
    if flat.dtype.kind == "b":
        return convert(flat, np.dtype(np.uint8))
    if flat.dtype.kind != "c":
        return flat
    real, imag = registry["real"](flat), registry["imag"](flat)
    flags = [convert(registry["isnan"](each), real.dtype) for each in (real, imag)]
    keys = registry["stack"]([*flags, real, imag], -1)
    return reshape_value(keys, (rows.shape[0], shapes.multiply(width, 4)))


def the_one_before(ordered: Value) -> Value:
    """Return for each part along the first axis the part before it; for the first part, itself."""
    numbers = registry["maximum"](iota(ordered.shape[0]) - 1, 0)
    return gather_value(ordered, [numbers], -ordered.ndim, checked=False)


def with_places(
    ordered: Value, order: Value, differs: Value, wanted: tuple[bool, bool, bool], inverse_shape: Sequence[Extent]
) -> Any:
    """Return the first of equal elements of a sorted array, and what `numpy.unique` gives beside: first places, numbers
    in the inverse, counts."""
    length = ordered.shape[0]
    numbers = iota(length)
    is_new = registry["equal"](numbers, 0) | differs
    found = [selected(ordered, is_new, 0)]
    return_index, return_inverse, return_counts = wanted
    if return_index:
        found.append(selected(order, is_new, 0))
    if return_inverse:
        place = registry["cumsum"](convert(is_new, INT64)) - 1
        room = registry["zeros"](length, np.int64)
        inverse = put_at.bind(room, place, order, axis=-1, checked=(False,))
        found.append(reshape_value(inverse, inverse_shape))
    if return_counts:
        ends = selected(numbers, is_new, 0)
        following = registry["concatenate"]([ends[1:], shapes.as_value(length)[None]])
        # without elements there is no end; otherwise both have one for each element that is new
        found.append(following[: ends.shape[0]] - ends)
    return found[0] if len(found) == 1 else tuple(found)
