"""Counts: of integers, and of elements in bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.lengths import as_extent, as_length
from numbagraph.blockwise.promotion import as_strong, as_value, common_rule, convert, promote
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64, INT64
from numbagraph.ir.values import Constant, Value, constant
from numbagraph.ops.comparison import (
    equal,
    greater,
    greater_equal,
    isfinite,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)
from numbagraph.ops.creation import along, iota, linspace
from numbagraph.ops.indexing.gathering import gather_value, scatter
from numbagraph.ops.indexing.masks import selected
from numbagraph.ops.reduction import all, any, max, min, sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import ravel, reshape_value
from numbagraph.ops.statistics.bin_widths import count_of
from numbagraph.ops.statistics.sorting import searchsorted

numbers_to = range  # the histograms have a parameter of that name


def bincount_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "iu" or dtype == np.uint64:
        return []  # of these NumPy before 2.2 refuses uint64
    array, weights = rng.integers(0, 9, 12).astype(dtype), rng.normal(size=12)
    return [(array,), (array, weights), (array, None, 15), (array[:0], None, 3)]


def counts_or_sums(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """Return `numpy.bincount`, with sums of weights in float64 also where a length turns out to be 0."""
    found = np.bincount(x, weights, minlength)
    return found if weights is None else found.astype(float)


@decomposition(counts_or_sums, name="bincount", implements=(np.bincount,), samples=bincount_samples, ulp=4)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Value:
    value = as_strong(x)
    if value.ndim != 1:
        raise ValueError("object of too small depth for desired array" if not value.ndim else "object too deep")
    if isinstance(x, (list, tuple)) and not x:
        value = convert(value, INT64)
    if value.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from {value.dtype} to int64 according to the rule 'safe'")
    positions = convert(value, INT64)
    none_below = greater_equal(min(positions, initial=0), 0)
    shapes.require(none_below, "'list' argument must have no negative elements", ValueError)
    length = as_extent(registry["maximum"](max(positions, initial=-1) + 1, shapes.as_value(as_length(minlength))))
    if weights is None:
        ones = registry["ones_like"](positions)
    else:
        ones = as_strong(weights)
        if ones.dtype.kind == "c":
            raise TypeError(f"Cannot cast array data from {ones.dtype} to float64 according to the rule 'safe'")
        ones = convert(ones, FLOAT64)
        shapes.require_same(ones.shape[0], positions.shape[0], "The weights and list don't have the same length.")
        if shapes.resolve(positions.shape[0]) == 0:
            ones = convert(ones, INT64)  # where NumPy knows that there is nothing, it counts
    return scatter(ones, [positions], (length,), -1, (False,))


def digitize_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind in "bc":
        return []
    edges = np.sort(rng.integers(0, 20, 5).astype(dtype))
    array = rng.integers(0, 20, (3, 4)).astype(dtype)
    calls = [(array, edges), (array, edges, True), (array, edges[::-1].copy()), (array, edges[::-1].copy(), True)]
    others = [edges[[1, 1, 1]], edges[:0], edges[[0, 4, 0, 4]]]
    if dtype.kind == "f":  # NaN differs from all edges, and goes no way
        nan = np.nan
        others += [np.array([nan] * 5, dtype), np.array([2, 6, nan], dtype), np.array([nan, 6, 2], dtype)]
        refused = [nan, 2, 6, 7, 7], [1, nan, 3, 4], [nan, nan, 2, 6], [6, 6, 2, 3, nan]
        others += [np.array(each, dtype) for each in refused]
    return calls + [(array, each) for each in others]


@decomposition(np.digitize, samples=digitize_samples)
def digitize(x: Any, bins: Any, right: bool = False) -> Value:
    value, edges = as_strong(x), as_strong(bins)
    if edges.ndim != 1:
        raise ValueError("object too deep for desired array" if edges.ndim else "object of too small depth")
    is_up, is_sorted = direction(convert(edges, FLOAT64))
    shapes.require(is_sorted, "bins must be monotonically increasing or decreasing", ValueError)
    ascending = searchsorted(edges, value, "left" if right else "right")
    length = shapes.as_value(edges.shape[0])
    descending = length - searchsorted(edges[::-1], value, "left" if right else "right")
    return scalar_result(where(is_up, ascending, descending))


def direction(edges: Value) -> tuple[Value, Value]:
    """Return whether edges rise, and whether none goes the other way, as NumPy tests it: the first two that differ
    decide; NaN differs from all others, but has no direction."""
    before, after = edges[:-1], edges[1:]
    rises, falls = less(before, after), greater(before, after)
    count = shapes.as_value(before.shape[0])
    differ, rise = (
        min(where(each, iota(before.shape[0]), count), initial=count) for each in (not_equal(before, after), rises)
    )
    is_up = equal(differ, rise)
    return is_up, logical_not(any(where(is_up, falls, rises)))


def edges_of(values: Sequence[Value], bins: Any, range: Any, name: str) -> Value:
    """Return the edges of bins of one dimension, in float64 unless they are given."""
    if isinstance(bins, str):
        if name == "histogramdd":
            raise TypeError(f"`bins` must be an integer or 1d, not {bins!r}")
        (value,) = values
        low, high = ends_of(values, range)
        if range is not None:  # the rule sees what is inside
            value = selected(value, logical_and(greater_equal(value, low), less_equal(value, high)), 0)
        bins = count_of(bins, value, low, high)
    given = as_value(bins)
    if given.ndim == 1:
        some = shapes.compare("greater", given.shape[0], 0)
        if name == "histogramdd":
            shapes.require(some, "index 0 is out of bounds: there are no edges of bins", IndexError)
        if isinstance(given, Constant) and np.any(given.data[:-1] > given.data[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        if not isinstance(given, Constant):
            text = "`bins` must increase monotonically, when an array"
            shapes.require(all(logical_not(greater(given[:-1], given[1:]))), text, ValueError)
        return given
    if given.ndim:
        raise ValueError("`bins` must be 1d, when an array")
    count = as_length(bins)
    shapes.require(shapes.compare("greater_equal", count, 1), "`bins` must be positive, when an integer", ValueError)
    low, high = ends_of(values, range)
    kinds = [each.dtype for each in values]
    dtype = np.result_type(*kinds, *([] if range is not None else [low.dtype, high.dtype]))
    dtype = dtype if dtype.kind in "fc" else FLOAT64
    edges = linspace(low, high, shapes.as_value(shapes.add(count, 1)), dtype=dtype)
    if name != "histogramdd":
        text = f"Too many bins for data range. Cannot create {count} finite-sized bins."
        shapes.require(all(less(edges[:-1], edges[1:])), text, ValueError)
    return edges


def ends_of(values: Sequence[Value], range: Any) -> tuple[Value, Value]:
    """Return the outer edges: as given, or of the elements; where both are equal, one half below and above."""
    if range is not None:
        if isinstance(range, Value):
            shapes.require_same(range.shape[0], 2, "range= of a histogram is a pair", ValueError)
            range = range[0], range[1]
        low, high = (convert(as_value(each), FLOAT64) for each in range)
        shapes.require(less_equal(low, high), "max must be larger than min in range parameter.", ValueError)
        fine = logical_and(isfinite(low), isfinite(high))
        shapes.require(fine, "supplied range of the bins is not finite", ValueError)
    else:
        (value,) = values
        nothing = equal(shapes.as_value(shapes.product(value.shape)), 0)
        zero, one = (constant(np.array(each, value.dtype)) for each in (0, 1))
        low = where(nothing, zero, min(value, initial=highest(value.dtype)))
        high = where(nothing, one, max(value, initial=lowest(value.dtype)))
        fine = logical_and(isfinite(low), isfinite(high))
        shapes.require(fine, "autodetected range of the elements is not finite", ValueError)
    alike = equal(low, high)
    low, high = (each if each.dtype.kind == "f" else convert(each, FLOAT64) for each in (low, high))
    return where(alike, low - 0.5, low), where(alike, high + 0.5, high)


def highest(dtype: np.dtype) -> Any:
    return np.inf if dtype.kind == "f" else dtype.type(np.iinfo(dtype).max)


def lowest(dtype: np.dtype) -> Any:
    return -np.inf if dtype.kind == "f" else dtype.type(np.iinfo(dtype).min)


def bin_of(value: Value, edges: Value, uniform: bool = False) -> tuple[Value, Value]:
    """Return the bin of each element, and whether it is in any: elements on the last edge belong to the last bin. NaN
    stands behind all numbers, among edges too."""
    if uniform:
        inside = logical_and(greater_equal(value, edges[0]), less_equal(value, edges[-1]))
        return uniform_bin(value, inside, edges), inside
    count = shapes.as_value(edges.shape[0]) - 1
    place = registry["minimum"](searchsorted(edges, value, "right") - 1, count - 1)
    last = max(as_numbers(edges[-1:]), initial=lowest(as_numbers(edges).dtype))
    to_last = logical_or(less_equal(value, last), isnan(last))
    return place, logical_and(greater_equal(place, 0), to_last)


def uniform_bin(value: Value, inside: Value, edges: Value) -> Value:
    """Return the bin of each element where all have one width: by a division, as NumPy does it, with a correction of
    the bin by one."""
    first, last, count = edges[0], edges[-1], shapes.as_value(edges.shape[0]) - 1
    value = where(inside, convert(value, edges.dtype), first)
    away = (value - first) / (last - first) * convert(count, edges.dtype)
    place = registry["minimum"](convert(where(greater(away, 0), away, 0), INT64), count - 1)
    place = place - convert(less(value, gather_value(edges, [place], -1, checked=False)), INT64)
    beyond = greater_equal(value, gather_value(edges, [place + 1], -1, checked=False))
    return place + convert(logical_and(beyond, less(place, count - 1)), INT64)


def counted(places: Sequence[Value], inside: Value, edges: Sequence[Value], weights: Value | None) -> Value:
    """Return the number of elements, or the sum of their weights, in each bin. An element that is in no bin goes behind
    the last: there may be no bin at all."""
    lengths = [each[1:].shape[0] for each in edges]
    number: Any = 0
    for place, length in zip(places, lengths, strict=True):
        number = number * shapes.as_value(length) + place
    total = shapes.product(lengths)
    number = where(inside, number, shapes.as_value(total))
    each = registry["ones_like"](number) if weights is None else weights
    flat = scatter(each, [number], (shapes.add(total, 1),), -1, (False,))[:-1]
    return flat if len(lengths) == 1 else reshape_value(flat, lengths)


def inside_bins(rng: np.random.Generator, dtype: np.dtype) -> np.ndarray:
    """Return elements that are not near the edges of the bins below: counts jump there, which finite differences would
    see."""
    if dtype.kind != "f":
        return draw(rng, dtype, (3, 5))
    inner = rng.choice([0, 1, 3, 4, 5, 6, 8, 9], 13) + 0.5 + rng.uniform(-0.02, 0.02, 13)
    return rng.permutation(0.42 * np.concatenate([[0.0, 10.0], inner]) - 2.1).reshape(3, 5).astype(dtype)


def histogram_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "if" or dtype.itemsize < 4:
        return []
    array, weights = inside_bins(rng, dtype), rng.uniform(0.5, 2.0, (3, 5))
    edges = np.array([-2.0, -0.5, 0.0, 0.5, 1.5, 3.0])
    # integers lie on edges, which XLA rounds otherwise than NumPy does: those of eighths are exact
    first: tuple[Any, ...] = (array,) if dtype.kind == "f" else (array, 8, (-8.0, 8.0))
    calls: list[tuple[Any, ...]] = [first, (array, 4), (array, edges), (array, 4, (-2.0, 2.0))]
    calls.append((array, edges[:1]))
    return [*calls, (array, edges, Keywords(density=True)), (array, edges, Keywords(weights=weights)), (array[:0], 3)]


@decomposition(np.histogram, samples=histogram_samples, ulp=8, view_of=lambda a, bins=10, *_, **__: (None, bins))
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Value, Value]:
    value = numbers_of(a)
    if isinstance(bins, str) and weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    edges = edges_of([value], bins, range, "histogram")
    given = None if weights is None else same_length(weights, a, value)
    place, inside = bin_of(value, edges, isinstance(bins, str) or not as_value(bins).ndim)
    counts = counted([place], inside, [edges], given)
    if not density:
        return counts, edges
    return counts / convert(edges[1:] - edges[:-1], FLOAT64) / sum(counts), edges


def numbers_of(a: Any) -> Value:
    """Return the elements as numbers; truth values count as 0 and 1."""
    return as_numbers(ravel(as_strong(a)))


def as_numbers(value: Value) -> Value:
    return convert(value, np.dtype(np.uint8)) if value.dtype.kind == "b" else value


def same_length(weights: Any, a: Any, value: Value) -> Value:
    given = as_strong(weights)
    if given.ndim != as_value(a).ndim:
        raise ValueError("weights should have the same shape as a.")
    flat = ravel(given)
    shapes.require_same(flat.shape[0], value.shape[0], "weights should have the same shape as a.", ValueError)
    return flat


def edge_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [call for call in histogram_samples(rng, dtype) if not isinstance(call[-1], Keywords)]


@decomposition(np.histogram_bin_edges, samples=edge_samples, ulp=8, view_of=lambda a, bins=10, *_, **__: bins)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Value:
    return edges_of([numbers_of(a)], bins, range, "histogram_bin_edges")


def dd_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype != np.float64:
        return []
    array = draw(rng, dtype, (9, 2))
    calls: list[tuple[Any, ...]] = [(array, (2, 4)), (array, [[-2.0, 0.0, 1.0, 3.0], [0.0, 1.0, 3.0]])]
    calls.append((array, [[0.0], [0.0, 1.0]]))
    return [*calls, (array, (3, 3), [(-2.0, 2.0), (0.0, 3.0)]), (array, (3, 3), Keywords(density=True))]


@decomposition(np.histogramdd, samples=dd_samples, ulp=8)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Value, list[Value]]:
    if isinstance(sample, (tuple, list)):
        columns = list(promote(common_rule(), [numbers_of(each) for each in sample]))
    else:
        value = as_numbers(as_strong(sample))
        value = value if value.ndim > 1 else value[:, None]
        count = len(bins) if isinstance(bins, (tuple, list)) else shapes.resolve(value.shape[1])
        if not isinstance(count, int):
            raise TypeError("histogramdd: the number of columns must be known: give the bins of each, bins=[10, 10]")
        shapes.require_same(value.shape[1], count, "The dimension of bins must be equal to that of the sample.")
        columns = [value[:, number] for number in numbers_to(count)]
    for each in columns[1:]:
        text = "The dimension of bins must be equal to the dimension of the sample x: columns have one length"
        shapes.require_same(each.shape[0], columns[0].shape[0], text, ValueError)
    each_bins = list(bins) if isinstance(bins, (tuple, list)) else [bins] * len(columns)
    each_range = [None] * len(columns) if range is None else list(range)
    each = zip(columns, each_bins, each_range, strict=True)
    edges = [edges_of([column], bins, asked, "histogramdd") for column, bins, asked in each]
    placed = [bin_of(*each) for each in zip(columns, edges, strict=True)]
    inside = placed[0][1]
    for _, other in placed[1:]:
        inside = logical_and(inside, other)
    given = None if weights is None else as_strong(weights)
    counts = convert(counted([place for place, _ in placed], inside, edges, given), FLOAT64)
    if density:
        total = sum(counts)
        for axis, each in enumerate(edges):
            counts = counts / along(each[1:] - each[:-1], axis, len(edges))
        counts = counts / total
    return counts, edges


def two_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(call[0][:, 0].copy(), call[0][:, 1].copy(), *call[1:]) for call in dd_samples(rng, dtype)]


@decomposition(np.histogram2d, samples=two_samples, ulp=8)
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Value, Value, Value]:
    given = as_value(bins) if not isinstance(bins, (tuple, list)) or len(bins) != 2 else None
    both = [bins, bins] if given is not None else bins
    found: Any = histogramdd([x, y], both, range, density, weights)
    counts, edges = found
    return counts, *edges
