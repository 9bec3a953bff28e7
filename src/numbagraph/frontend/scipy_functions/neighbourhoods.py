"""`scipy.ndimage`: order statistics and functions of the neighbours of each element, and sums over labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.frontend.mapping import vmap
from numbagraph.frontend.scipy_functions.common import Function, array, known, lifted, refuse
from numbagraph.frontend.tracing import Tracer

Extend = Callable[..., Any]


def windows(image: Any, sizes: Sequence[int], begins: Sequence[int], modes: Any, cval: Any, extended: Extend) -> Any:
    """The neighbours of each element, along a last axis."""
    margins = [(begin, size - 1 - begin) for begin, size in zip(begins, sizes, strict=True)]
    found = np.lib.stride_tricks.sliding_window_view(extended(image, margins, modes, cval), tuple(sizes))
    return found.reshape((*image.shape, int(np.prod(sizes))))


def neighbours_of(
    name: str, image: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any, extended: Extend
) -> Any:
    """The neighbours of each element that a filter sees."""
    if axes is not None:
        refuse(f"scipy.ndimage.{name} with axes=", "give size= with a 1 for each other axis")
    count, known_image = image.ndim, known(image, name)
    del known_image
    if footprint is None and size is None:
        raise RuntimeError("no footprint or filter size provided")
    flags = None if footprint is None else np.asarray(footprint, bool)
    sizes = list(flags.shape) if flags is not None else [int(each) for each in np.broadcast_to(size, count)]
    origins = [int(each) for each in np.broadcast_to(origin, count)]
    begins = [length // 2 + shift for length, shift in zip(sizes, origins, strict=True)]
    if any(not 0 <= begin < length for begin, length in zip(begins, sizes, strict=True)):
        raise ValueError("invalid origin")
    found = windows(image, sizes, begins, [mode] * count if isinstance(mode, str) else mode, cval, extended)
    return found if flags is None or flags.all() else found[..., np.flatnonzero(flags)]


def ranked(name: str, extended: Extend, rank_of: Callable[[Any, int], int]) -> Function:
    """A filter that takes the neighbour of some rank."""

    def filtered(input: Any, which: Any, options: dict[str, Any]) -> Any:
        if options.pop("output", None) is not None:
            refuse(f"scipy.ndimage.{name} with output=", "assign the result, or convert it")
        image = array(input)
        defaults = {"size": None, "footprint": None, "mode": "reflect", "cval": 0.0, "origin": 0, "axes": None}
        size, footprint, mode, cval, origin, axes = ({**defaults, **options}[each] for each in defaults)
        near = neighbours_of(name, image, size, footprint, mode, cval, origin, axes, extended)
        count = known(near, name)[-1]
        place = rank_of(which, count)
        if not 0 <= place < count:
            raise RuntimeError("rank not within filter footprint size")
        return np.sort(near, -1)[..., place]

    def median(input: Any, size: Any = None, footprint: Any = None, output: Any = None, **options: Any) -> Any:
        return filtered(input, None, {"size": size, "footprint": footprint, "output": output, **options})

    def other(input: Any, which: Any, size: Any = None, footprint: Any = None, **options: Any) -> Any:
        return filtered(input, which, {"size": size, "footprint": footprint, **options})

    return median if name == "median_filter" else other


def place_of_percentile(percentile: Any, count: int) -> int:
    share = float(percentile)
    share = share + 100.0 if share < 0.0 else share
    if not 0 <= share <= 100:
        raise RuntimeError("invalid percentile")
    return count - 1 if share == 100.0 else int(float(count) * share / 100.0)


def generic(extended: Extend) -> Function:
    def generic_filter(
        input: Any,
        function: Function,
        size: Any = None,
        footprint: Any = None,
        output: Any = None,
        mode: Any = "reflect",
        cval: Any = 0.0,
        origin: Any = 0,
        extra_arguments: Any = (),
        extra_keywords: Any = None,
        *,
        axes: Any = None,
    ) -> Any:
        """`scipy.ndimage.generic_filter`: the function is traced once."""
        if output is not None:
            refuse("scipy.ndimage.generic_filter with output=", "assign the result, or convert it")
        image = array(input)
        near = neighbours_of(
            "generic_filter", image.astype(np.float64), size, footprint, mode, cval, origin, axes, extended
        )
        options = extra_keywords or {}
        rows = near.reshape((-1, near.shape[-1]))
        found = vmap(lambda row: function(row, *extra_arguments, **options))(rows)
        return found.reshape(image.shape).astype(image.dtype)

    return generic_filter


def filters(extended: Extend) -> dict[str, Function]:
    return {
        "median_filter": ranked("median_filter", extended, lambda _, count: count // 2),
        "rank_filter": ranked("rank_filter", extended, lambda rank, count: rank + count if rank < 0 else rank),
        "percentile_filter": ranked("percentile_filter", extended, place_of_percentile),
        "generic_filter": generic(extended),
    }


def totals(image: Any, labels: Any, index: Any) -> tuple[Any, Any]:
    """Sums and counts of the elements with each label."""
    if labels is None:
        return np.sum(image.astype(np.float64)), float(image.size) if not isinstance(image.size, Tracer) else image.size
    marks = lifted(array(labels))
    if index is None:
        inside = np.broadcast_to(marks, image.shape) > 0
        return np.sum(image.astype(np.float64), where=inside), np.sum(inside)
    numbers = array(index)
    flat, own = np.ravel(np.broadcast_to(marks, image.shape)), np.ravel(numbers)
    matches = np.expand_dims(flat, 0) == np.expand_dims(own, 1)
    sums = np.sum(np.where(matches, np.ravel(image).astype(np.float64), 0.0), 1)
    return sums.reshape(numbers.shape), np.sum(matches, 1).reshape(numbers.shape)


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    """`scipy.ndimage.sum_labels`: one pass for each label that is asked for."""
    image = array(input)
    return np.sum(image) if labels is None else totals(image, labels, index)[0]


def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    """`scipy.ndimage.mean`."""
    sums, counts = totals(array(input), labels, index)
    return sums / counts


LABELS = {"sum_labels": sum_labels, "sum": sum_labels, "mean": mean}
