"""`scipy.ndimage`: order statistics and functions of the neighbours of each element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.vmap import vmap
from numbagraph.library.scipy.arguments import Function, array, known, refuse
from numbagraph.library.scipy.ndimage.sorting_network import MOST_EXCHANGED, of_rank

Extend = Callable[..., Any]


def ordered(input: Any) -> Any:
    """Return an array of numbers that have an order. Raise for complex numbers."""
    image = array(input)
    if image.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    return image


def filtered_anew(name: str, input: Any, output: Any) -> Any:
    """Return an array of numbers that have an order, for a filter without ``output``. Raise if one is given."""
    if output is not None:
        refuse(f"scipy.ndimage.{name} with output=", "assign the result, or convert it")
    return ordered(input)


class Neighbours(NamedTuple):
    """The neighbours in an image that a filter takes: an array with margins, and the place of each neighbour in it."""

    image: Any
    extended: Any
    sizes: tuple[int, ...]
    flags: np.ndarray | None
    """A mask of the places in a box of these sizes that are neighbours; None if all are."""

    @property
    def number(self) -> int:
        return math.prod(self.sizes) if self.flags is None else int(np.sum(self.flags))

    def together(self) -> Any:
        """Return the neighbours of each element, along a last axis."""
        found = np.lib.stride_tricks.sliding_window_view(self.extended, self.sizes)
        found = found.reshape((*self.image.shape, math.prod(self.sizes)))
        return found if self.flags is None else found[..., np.flatnonzero(self.flags)]

    def apart(self) -> list[Any]:
        """Return an array like the image for each place of a neighbour."""
        places = [at for at in np.ndindex(*self.sizes) if self.flags is None or self.flags[at]]
        shape = known(self.image, "a filter")
        return [self.extended[tuple(map(slice, at, np.add(at, shape).tolist()))] for at in places]


def neighbours_of(
    name: str, image: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any, extended: Extend
) -> Neighbours:
    """Return the neighbours of each element that a filter takes."""
    if axes is not None:
        refuse(f"scipy.ndimage.{name} with axes=", "give size= with a 1 for each other axis")
    count = image.ndim
    known(image, name)
    if footprint is None and size is None:
        raise RuntimeError("no footprint or filter size provided")
    flags = None if footprint is None else np.asarray(footprint, bool)
    sizes = list(flags.shape) if flags is not None else [int(each) for each in np.broadcast_to(size, count)]
    origins = [int(each) for each in np.broadcast_to(origin, count)]
    begins = [length // 2 + shift for length, shift in zip(sizes, origins, strict=True)]
    if any(not 0 <= begin < length for begin, length in zip(begins, sizes, strict=True)):
        raise ValueError("invalid origin")
    margins = [(begin, length - 1 - begin) for begin, length in zip(begins, sizes, strict=True)]
    padded = extended(image, margins, [mode] * count if isinstance(mode, str) else mode, cval)
    return Neighbours(image, padded, tuple(sizes), None if flags is None or flags.all() else flags)


def ranked(name: str, extended: Extend, rank_of: Callable[[Any, int], int]) -> Function:
    """Return a filter that takes the neighbour of some rank."""

    def filtered(
        input: Any,
        which: Any,
        size: Any = None,
        footprint: Any = None,
        output: Any = None,
        mode: Any = "reflect",
        cval: Any = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Any:
        image = filtered_anew(name, input, output)
        if 0 in known(image, name):
            return image.copy()
        near = neighbours_of(name, image, size, footprint, mode, cval, origin, axes, extended)
        place = rank_of(which, near.number)
        if not 0 <= place < near.number:
            raise RuntimeError("rank not within filter footprint size")
        return (
            of_rank(near.apart(), place) if near.number <= MOST_EXCHANGED else np.sort(near.together(), -1)[..., place]
        )

    def median_filter(input: Any, *args: Any, **options: Any) -> Any:
        return filtered(input, None, *args, **options)

    def rank_filter(input: Any, rank: Any, *args: Any, **options: Any) -> Any:
        return filtered(input, rank, *args, **options)

    def percentile_filter(input: Any, percentile: Any, *args: Any, **options: Any) -> Any:
        return filtered(input, percentile, *args, **options)

    return {each.__name__: each for each in (median_filter, rank_filter, percentile_filter)}[name]


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
        image = filtered_anew("generic_filter", input, output)
        if 0 in known(image, "generic_filter"):
            return image.copy()
        near = neighbours_of(
            "generic_filter", image.astype(np.float64), size, footprint, mode, cval, origin, axes, extended
        ).together()
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
