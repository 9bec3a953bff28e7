"""Arrays as sets: membership, unions, differences, and the array API's forms of ``unique``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.blockwise.kinds import Keywords, decomposition
from numbagraph.blockwise.promotion import as_strong, common_rule, convert, promote
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, INT64, UINT64
from numbagraph.ir.values import Value
from numbagraph.ops.comparison import equal, logical_and, logical_not, logical_or, minimum, not_equal
from numbagraph.ops.creation import filled, number_as, zeros_as
from numbagraph.ops.indexing.data_dependent_lengths import unique, unique_samples
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.indexing.masks import selected
from numbagraph.ops.shape import ravel
from numbagraph.ops.statistics.sorting import argsort, searchsorted, sort


def member_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "c":
        return []
    array, others = (rng.integers(0, 2 if dtype.kind == "b" else 9, shape).astype(dtype) for shape in ((3, 4), (5,)))
    return [(array, others), (array, others[:1]), (array, others, Keywords(invert=True)), (array, others[:0])]


@decomposition(np.isin, samples=member_samples)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Value:
    del assume_unique  # how it is found, not what
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: {kind!r}. Please use None, 'sort' or 'table'.")
    if kind == "table" and any(as_strong(each).dtype.kind not in "biu" for each in (element, test_elements)):
        raise ValueError("The 'table' method is only supported for boolean or integer arrays: leave kind out")
    given, others = as_strong(element), as_strong(test_elements)
    fits: Any = None
    if UINT64 in (given.dtype, others.dtype) and "i" in (given.dtype.kind, others.dtype.kind):
        # in float64, which both would be converted to, other integers are equal, too
        fits = given >= 0 if given.dtype.kind == "i" else given <= np.uint64(2**63 - 1)
        given = convert(given, INT64 if given.dtype == UINT64 else UINT64)
    values, others = promote(common_rule(), (given, others))
    found = members(values, ravel(others))
    found = found if fits is None else logical_and(found, fits)
    return registry["asarray"](logical_not(found) if invert else found)


def members(values: Value, others: Value) -> Value:
    """Return a mask of the elements that are among others. NaN is equal to nothing."""
    length = shapes.resolve(others.shape[0])
    if isinstance(length, int) and length <= 8:
        found = zeros_as(values, BOOL)
        for number in range(length):
            found = logical_or(found, equal(values, others[number]))
        return found
    keys = sort(others)
    place = searchsorted(keys, values)
    padded = registry["concatenate"]([keys, filled(number_as(0, keys.dtype), (1,))])
    near = gather_value(padded, [minimum(place, shapes.as_value(length))], -1, checked=False)
    return logical_and(equal(near, values), place < shapes.as_value(length))


def pair_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return the numbers of two arrays, some of which are equal."""
    if dtype.kind not in "iu":
        return []
    left, right = (rng.integers(0, 9, length).astype(dtype) for length in (7, 5))
    return [(left, right), (left, right[:0]), (left[:0], right), (left, left)]


def with_places(calls: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [*calls, *[(*each, Keywords(return_indices=True)) for each in calls]]


def both(ar1: Any, ar2: Any) -> tuple[Value, Value]:
    left, right = promote(common_rule(), (as_strong(ar1), as_strong(ar2)))
    return unique(left), unique(right)


@decomposition(np.union1d, samples=pair_samples)
def union1d(ar1: Any, ar2: Any) -> Value:
    return unique(registry["concatenate"](list(promote(common_rule(), (ar1, ar2))), None))


@decomposition(np.intersect1d, samples=lambda rng, dtype: with_places(pair_samples(rng, dtype)))
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    if return_indices:
        left, right = promote(common_rule(), (as_strong(ar1), as_strong(ar2)))
        return common_places(left, right, assume_unique)
    merged = sort(registry["concatenate"](list(both(ar1, ar2))))
    return selected(merged[:-1], equal(merged[1:], merged[:-1]), 0)


def common_places(left: Value, right: Value, assume_unique: bool) -> tuple[Value, Value, Value]:
    """Return the elements that are in both arrays, and their first places in each."""
    first = second = None
    if assume_unique:
        left, right = ravel(left), ravel(right)
    else:
        found: Any = (unique(left, return_index=True), unique(right, return_index=True))
        (left, first), (right, second) = found
    merged = registry["concatenate"]([left, right])
    order = argsort(merged, kind="stable")
    merged = gather_value(merged, [order], -1, checked=False)
    twice = equal(merged[1:], merged[:-1])
    places = selected(order[:-1], twice, 0), selected(order[1:], twice, 0) - shapes.as_value(left.shape[0])
    indices = [
        each if source is None else gather_value(source, [each], -1, checked=False)
        for each, source in zip(places, (first, second), strict=True)
    ]
    return selected(merged[:-1], twice, 0), indices[0], indices[1]


@decomposition(np.setxor1d, samples=pair_samples)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Value:
    merged = sort(registry["concatenate"](list(both(ar1, ar2))))
    differ = not_equal(merged[1:], merged[:-1])
    end = filled(number_as(1, BOOL), (1,))
    alone = logical_and(registry["concatenate"]([end, differ]), registry["concatenate"]([differ, end]))
    # of no elements there is one flag too many
    return selected(merged, alone[: shapes.as_value(merged.shape[0])], 0)


@decomposition(np.setdiff1d, samples=pair_samples)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Value:
    left = as_strong(ar1)
    values = ravel(left) if assume_unique else unique(left)
    return selected(values, logical_not(isin(values, ar2)), 0)


def one_array(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [call for call in unique_samples(rng, dtype) if len(call) == 1]


class UniqueAllResult(NamedTuple):
    """The result of `numpy.unique_all`."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """The result of `numpy.unique_counts`."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """The result of `numpy.unique_inverse`."""

    values: Any
    inverse_indices: Any


@decomposition(np.unique_all, samples=one_array)
def unique_all(x: Any) -> UniqueAllResult:
    found: Any = unique(x, True, True, True, equal_nan=False)
    return UniqueAllResult(*found)


@decomposition(np.unique_counts, samples=one_array)
def unique_counts(x: Any) -> UniqueCountsResult:
    found: Any = unique(x, return_counts=True, equal_nan=False)
    return UniqueCountsResult(*found)


@decomposition(np.unique_inverse, samples=one_array)
def unique_inverse(x: Any) -> UniqueInverseResult:
    found: Any = unique(x, return_inverse=True, equal_nan=False)
    return UniqueInverseResult(*found)


def sorted_values(x: np.ndarray) -> np.ndarray:
    """Return NumPy's unique values in order, which NumPy leaves open."""
    return np.sort(np.unique_values(x))


@decomposition(sorted_values, name="unique_values", implements=(np.unique_values,), samples=one_array)
def unique_values(x: Any) -> Value:
    return unique(x, equal_nan=False)
