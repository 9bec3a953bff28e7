"""Iterables of Python over things that are known and alike, for loops that take them by traced positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from numbagraph.capture.values.iterables import Enumerated, Zipped, as_iterable
from numbagraph.ir import shapes
from numbagraph.tracing.tracer import Tracer

Counted = tuple[int, Callable[[], Any]]
"""A number of elements, and a function that makes the iterable of a loop."""

_ITERATORS = (
    *(type(iter(range(0))), type(iter(range(2**70))), type(iter([])), type(iter(()))),
    *(type(reversed([])), type(iter(np.zeros(1)))),
)


def are_alike(elements: Sequence[Any]) -> bool:
    """Whether elements are floats, or arrays of one dtype and one shape."""

    def kind_of(element: Any) -> Any:
        if isinstance(element, Tracer) and element._is_array:
            return element.dtype, tuple(map(shapes.resolve, element.value.shape))
        return (element.dtype, element.shape) if isinstance(element, np.ndarray) else type(element)

    first = kind_of(elements[0])
    return (first is float or type(first) is tuple) and all(kind_of(each) == first for each in elements)


def counted_elements(thing: Any) -> Counted | None:
    """Return the number of elements that are left of an iterable or an iterator, with its form for loops; None if its
    elements are not alike."""
    if isinstance(thing, (range, np.ndarray)) or (type(thing) in (list, tuple) and thing and are_alike(thing)):
        return len(thing), lambda: as_iterable(thing)
    if type(thing) in (list, tuple) and thing and all(type(each) is tuple for each in thing):
        columns = list(zip(*thing, strict=False))
        is_table = len({len(each) for each in thing}) == 1 and all(map(are_alike, columns))
        return zipped_elements([(len(thing), partial(as_iterable, each)) for each in columns]) if is_table else None
    if type(thing) in _ITERATORS:
        return counted_elements(elements_left(thing))
    if type(thing) is enumerate:
        _, (inner, start) = thing.__reduce__()  # type: ignore[misc]
        found = counted_elements(inner)
        return None if found is None else (found[0], lambda: Enumerated(found[1](), start))
    if type(thing) is zip:
        _, inner, *strict = thing.__reduce__()  # type: ignore[misc]
        parts = [counted_elements(each) for each in inner]
        return zipped_elements([each for each in parts if each is not None], bool(strict)) if all(parts) else None
    return None


def elements_left(iterator: Any) -> Any:
    """What an iterator of Python's will give, as what it runs through."""
    made, (held, *_), *state = iterator.__reduce__()
    if made is reversed:
        return held[: (state[0] if state else len(held) - 1) + 1][::-1]
    return held[state[0] :] if state else held


def zipped_elements(parts: Sequence[Counted], strict: bool = False) -> Counted | None:
    lengths = {length for length, _ in parts}
    if not lengths or (strict and len(lengths) > 1):
        return None
    return min(lengths), lambda: Zipped([make() for _, make in parts])
