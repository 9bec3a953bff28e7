"""``np.mgrid[...]``, ``np.ogrid[...]``, ``np.r_[...]`` and ``np.c_[...]`` with traced parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value, common_rule, convert, promote
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Value
from numbagraph.ops.creation import along, iota
from numbagraph.ops.shape import broadcast_value
from numbagraph.tracing.errors import user_source
from numbagraph.tracing.tracer import Tracer, to_value


def made_by(holder: Any) -> Callable[[Any], Any] | None:
    """Return the function that makes ``holder[key]``, if the holder is one of NumPy's objects that make arrays of
    subscripts; None for others."""
    if holder is np.mgrid:
        return mgrid
    if holder is np.ogrid:
        return ogrid
    if holder is np.r_:
        return rows
    return columns if holder is np.c_ else None


class Range(Struct):
    """A slice as numbers. Where the step is imaginary, ``count`` is the number of elements."""

    start: Value
    stop: Value
    step: Value
    count: int | None

    def parts(self) -> tuple[Value, ...]:
        return (self.start, self.stop, self.step)

    def numbers(self, dtype: np.dtype) -> Value:
        """``start + i * step``."""
        start, step, count = convert(self.start, dtype), self.step, self.count
        if count is None:
            size = registry["arange"](*self.parts()).shape[0]
            return registry["add"](registry["multiply"](convert(iota(size), dtype), convert(step, dtype)), start)
        if count > 1:
            step = registry["divide"](registry["subtract"](self.stop, self.start), float(count - 1))
        return registry["add"](registry["multiply"](convert(iota(count), dtype), convert(step, dtype)), start)


def range_of(each: Any) -> Range:
    if not isinstance(each, slice) or each.stop is None:
        raise TypeError(f"np.mgrid and np.ogrid take slices that say where they end\n  at {user_source()}")
    step = 1 if each.step is None else each.step
    count = int(abs(step)) if isinstance(step, complex) else None
    parts = (0 if each.start is None else each.start, each.stop, abs(step) if count is not None else step)
    start, stop, step = map(value_of, parts)
    return Range(start, stop, step, count)


def value_of(part: Any) -> Value:
    value = as_value(to_value(part))
    if value.ndim:
        raise TypeError(f"the ends of slices are numbers, not {value.type}\n  at {user_source()}")
    return value


def mgrid(key: Any) -> Tracer:
    if isinstance(key, slice):
        return Tracer(numbers_of(key))
    grids = open_grids(key)
    shape = tuple(each.shape[axis] for axis, each in enumerate(grids))
    return Tracer(registry["stack"]([broadcast_value(each, shape) for each in grids]))


def ogrid(key: Any) -> Any:
    return Tracer(numbers_of(key)) if isinstance(key, slice) else tuple(map(Tracer, open_grids(key)))


def open_grids(key: tuple[Any, ...]) -> list[Value]:
    """The numbers of each slice along a dimension of its own, in their common dtype."""
    ranges = [range_of(each) for each in key]
    dtype = common([part for each in ranges for part in each.parts()])
    return [along(each.numbers(dtype), axis, len(key)) for axis, each in enumerate(ranges)]


def numbers_of(each: slice) -> Value:
    own = range_of(each)
    return registry["arange"](*own.parts()) if own.count is None else own.numbers(common(own.parts()))


def common(values: Sequence[Value]) -> np.dtype:
    """The dtype of an array of numbers; Python's take part as such."""
    return promote(common_rule(), [as_value(0), *values])[0].dtype


def rows(key: Any) -> Tracer:
    """``np.r_[...]``: all parts one after the other."""
    return joined(key, lambda value: registry["atleast_1d"](value), 0)


def columns(key: Any) -> Tracer:
    """``np.c_[...]``: vectors are columns, and stand side by side with those of matrices."""
    return joined(key, lambda value: value if value.ndim > 1 else registry["reshape"](value, (-1, 1)), -1)


def joined(key: Any, shaped: Callable[[Value], Value], axis: int) -> Tracer:
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(each, (str, np.matrix)) for each in parts):
        raise CaptureError(
            f"np.r_ and np.c_ of traced arrays take no text: use np.concatenate or np.stack\n  at {user_source()}"
        )
    values = [numbers_of(each) if isinstance(each, slice) else as_value(to_value(each)) for each in parts]
    values = list(promote(common_rule(), values))
    return Tracer(registry["concatenate"]([shaped(each) for each in values], axis))
