"""Peaks of signals: where they are, and how high, wide and prominent. How many there are is for the data to say.

Loops look for places, which are integers; heights, prominences and widths are formulas of the elements there, which
have derivatives.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from numbagraph.api.loops import fori_loop, scan, while_loop
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import Function, array, axis_of, double, known, lifted, require


def argrelextrema(data: Any, comparator: Function, axis: int = 0, order: Any = 1, mode: str = "clip") -> Any:
    """`scipy.signal.argrelextrema`."""
    if int(order) != order or order < 1:
        raise ValueError("Order must be an int >= 1")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    values = array(data)
    rows = np.moveaxis(values, axis_of(axis, values.ndim), 0)
    count = known(rows, "argrelextrema")[0]
    found: Any = np.ones(known(rows, "argrelextrema"), bool)
    for shift in range(1, int(order) + 1):
        for places in (np.arange(count) + shift, np.arange(count) - shift):
            near = np.clip(places, 0, count - 1) if mode == "clip" else places % count
            found = found & comparator(rows, rows[near])
    return np.nonzero(np.moveaxis(found, 0, axis))


def argrelmax(data: Any, axis: int = 0, order: Any = 1, mode: str = "clip") -> Any:
    """`scipy.signal.argrelmax`."""
    return argrelextrema(data, np.greater, axis, order, mode)


def argrelmin(data: Any, axis: int = 0, order: Any = 1, mode: str = "clip") -> Any:
    """`scipy.signal.argrelmin`."""
    return argrelextrema(data, np.less, axis, order, mode)


def line_of(x: Any) -> Any:
    values = lifted(array(x))
    if values.dtype.kind == "c":  # SciPy's conversion warns, and goes on
        text = "Casting complex values to real discards the imaginary part"
        warnings.warn(text, np.exceptions.ComplexWarning, stacklevel=3)
        values = np.real(values)
    values = lifted(double(values))
    if values.ndim != 1:
        raise ValueError("`x` must be a 1-D array")
    return values


def maxima(x: Any) -> tuple[Any, Any, Any]:
    """Return the places of peaks, and those of the first and last element of each, which may be level."""
    (count,) = known(x, "find_peaks")
    if count < 3:
        none = np.zeros(0, np.int64)
        return lifted(none), lifted(none), lifted(none)
    last = count - 1
    changes = np.concatenate([np.where(x[1:] != x[:-1], np.arange(last), last), np.array([last])])
    ends = np.flip(np.minimum.accumulate(np.flip(changes)))
    after = x[np.minimum(ends + 1, last)]
    rises = np.concatenate([np.zeros(1, bool), x[1:] > x[:-1]])
    (starts,) = np.nonzero(rises & (ends < last) & (after < x))
    right = ends[starts]
    return (starts + right) // 2, starts, right


def limits(interval: Any, x: Any, peaks: Any) -> tuple[Any, Any]:
    """Return the smallest and the largest value that a property of peaks may have, each None, a number, or one for
    each peak."""
    bounds = (interval, None)
    if isinstance(interval, (tuple, list)):
        bounds = tuple(interval) if len(interval) == 2 else (array(interval), None)
    elif np.ndim(interval) and known(array(interval), "find_peaks")[0] == 2:
        bounds = interval[0], interval[1]
    found = []
    for name, each in zip(("lower", "upper"), bounds, strict=True):
        if each is None or not np.ndim(each):
            found.append(each)
            continue
        given = lifted(array(each))
        if known(given, "find_peaks") != known(x, "find_peaks"):
            raise ValueError(f"array size of {name} interval border must match x")
        found.append(given[peaks])
    return found[0], found[1]


def within(values: Any, low: Any, high: Any) -> Any:
    kept: Any = values == values
    kept = kept | ~kept
    if low is not None:
        kept = kept & (low <= values)
    return kept if high is None else kept & (values <= high)


def find_peaks(
    x: Any,
    height: Any = None,
    threshold: Any = None,
    distance: Any = None,
    prominence: Any = None,
    width: Any = None,
    wlen: Any = None,
    rel_height: Any = 0.5,
    plateau_size: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """`scipy.signal.find_peaks`."""
    values = line_of(x)
    if distance is not None:
        require(array(distance) >= 1, "`distance` must be greater or equal to 1")
    peaks, left, right = maxima(values)
    found: dict[str, Any] = {}

    def keep(kept: Any) -> None:
        nonlocal peaks, found
        peaks, found = peaks[kept], {name: each[kept] for name, each in found.items()}

    if plateau_size is not None:
        sizes = right - left + 1
        found = {"plateau_sizes": sizes, "left_edges": left, "right_edges": right}
        keep(within(sizes, *limits(plateau_size, values, peaks)))
    if height is not None:
        found["peak_heights"] = values[peaks]
        keep(within(found["peak_heights"], *limits(height, values, peaks)))
    if threshold is not None:
        sides = values[peaks] - values[peaks - 1], values[peaks] - values[peaks + 1]
        low, high = limits(threshold, values, peaks)
        found["left_thresholds"], found["right_thresholds"] = sides
        keep(within(np.minimum(*sides), low, None) & within(np.maximum(*sides), None, high))
    if distance is not None:
        keep(apart(peaks, values[peaks], np.ceil(array(distance)).astype(np.int64)))
    if prominence is not None or width is not None:
        names = ("prominences", "left_bases", "right_bases")
        found.update(zip(names, peak_prominences(values, peaks, wlen), strict=True))
    if prominence is not None:
        keep(within(found["prominences"], *limits(prominence, values, peaks)))
    if width is not None:
        bases = tuple(found[name] for name in ("prominences", "left_bases", "right_bases"))
        names = ("widths", "width_heights", "left_ips", "right_ips")
        found.update(zip(names, peak_widths(values, peaks, rel_height, bases), strict=True))
        keep(within(found["widths"], *limits(width, values, peaks)))
    return peaks, found


def apart(peaks: Any, heights: Any, distance: Any) -> Any:
    """Which peaks stay if, from the highest on, each stays that is not nearer than a distance to one that stays."""
    order, count = np.argsort(heights), peaks.shape[0]
    first = np.searchsorted(peaks, peaks - distance, side="right")
    end = np.searchsorted(peaks, peaks + distance, side="left")

    def visit(number: Any, stays: Any) -> Any:
        place = order[count - 1 - number]

        def is_open(state: Any) -> Any:
            return (state[0] < end[place]) & ~state[1]

        def look(state: Any) -> Any:
            return state[0] + 1, stays[state[0]]

        _, is_near = while_loop(is_open, look, (first[place], np.bool_(False)))
        following = np.copy(stays)
        following[place] = ~is_near
        return following

    return fori_loop(0, count, visit, peaks != peaks)


def places_of(peaks: Any) -> Any:
    """Peaks as traced integers."""
    given = array(peaks)
    if given.dtype.kind not in "iu":
        if not is_traced(given) and not given.size:
            return lifted(np.zeros(0, np.int64))
        raise TypeError("cannot safely cast `peaks` to dtype('intp')")
    if given.ndim != 1:
        raise ValueError("`peaks` must be a 1-D array")
    return lifted(given.astype(np.int64))


def within_line(places: Any, count: int) -> Any:
    """Places that are known to be within a signal of some length."""
    text = "a peak is not a valid index for `x`"
    length = places.shape[0]
    if not count and isinstance(length, int) and length:
        raise ValueError(text)
    require(np.all((places >= 0) & (places < count)), text)
    return np.clip(places, 0, max(count - 1, 0))


def peak_prominences(x: Any, peaks: Any, wlen: Any = None) -> tuple[Any, Any, Any]:
    """`scipy.signal.peak_prominences`."""
    values, places = line_of(x), places_of(peaks)
    (count,) = known(values, "peak_prominences")
    places = within_line(places, count)
    reach = count if wlen is None else half_of(wlen)

    def base(place: Any, way: int, end: Any) -> Any:
        def is_below(state: Any) -> Any:
            at = np.clip(state[0], 0, count - 1)
            return (way * (end - state[0]) >= 0) & (values[at] <= values[place])

        def look(state: Any) -> Any:
            at, lowest = state
            return at + way, np.where(values[at] < values[lowest], at, lowest)

        return while_loop(is_below, look, (place, place))[1]

    def step(carry: Any, place: Any) -> Any:
        first, last = np.maximum(place - reach, 0), np.minimum(place + reach, count - 1)
        return carry, (base(place, -1, first), base(place, 1, last))

    _, (left, right) = scan(step, np.int64(0), places)
    return values[places] - np.maximum(values[left], values[right]), left, right


def half_of(wlen: Any) -> int:
    """How many elements on each side of a peak are in a window."""
    if wlen <= 1:
        raise ValueError(f"`wlen` must be larger than 1, was {wlen}")
    return int(math.ceil(wlen) if isinstance(wlen, float) else wlen) // 2


def peak_widths(
    x: Any, peaks: Any, rel_height: Any = 0.5, prominence_data: Any = None, wlen: Any = None
) -> tuple[Any, Any, Any, Any]:
    """`scipy.signal.peak_widths`: between the places on both sides where the signal has a height."""
    values, places = line_of(x), places_of(peaks)
    require(array(rel_height) >= 0, "`rel_height` must be greater or equal to 0.0")
    places = within_line(places, known(values, "peak_widths")[0])
    data = peak_prominences(values, places, wlen) if prominence_data is None else prominence_data
    prominences, left, right = (lifted(array(each)) for each in data)
    heights = values[places] - prominences * rel_height

    def edge(place: Any, height: Any, way: int, end: Any) -> Any:
        def is_above(at: Any) -> Any:
            return (way * (end - at) > 0) & (height < values[at])

        return while_loop(is_above, lambda at: at + way, place)

    def step(carry: Any, peak: Any) -> Any:
        place, height, first, last = peak
        return carry, (edge(place, height, -1, first), edge(place, height, 1, last))

    _, (before, after) = scan(step, np.int64(0), (places, heights, left, right))
    points = [crossing(values, heights, at, way) for at, way in ((before, 1), (after, -1))]
    return points[1] - points[0], heights, points[0], points[1]


def crossing(values: Any, heights: Any, at: Any, way: int) -> Any:
    """Where the lines between elements and their neighbours towards the peaks have the heights."""
    last = known(values, "peak_widths")[0] - 1
    near = np.clip(at + way, 0, last)
    below = values[at] < heights
    rise = np.where(below, values[near] - values[at], 1.0)
    return at + np.where(below, way * (heights - values[at]) / rise, 0.0)


PEAKS: dict[str, Function] = {
    each.__name__: each for each in (argrelextrema, argrelmax, argrelmin, find_peaks, peak_prominences, peak_widths)
}
