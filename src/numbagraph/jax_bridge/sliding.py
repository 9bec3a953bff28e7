"""JAX's convolutions, and its reductions of windows that slide over an array: views of all windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from jax.core import eval_jaxpr

from numbagraph.ir.structs import Struct
from numbagraph.jax_bridge.folding import folded
from numbagraph.jax_bridge.gathering import ints
from numbagraph.jax_bridge.structure import least, padded
from numbagraph.jax_bridge.translation import Run, dtype_of, shape_of, traced
from numbagraph.ops.identity import differentiated_as
from numbagraph.tracing.tracer import Tracer


class Sliding(Struct):
    """Windows over some axes of an array, which may lie apart, and beyond its ends."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    of_array: tuple[int, ...]
    """The distances between elements of the array, once it is spread."""
    of_window: tuple[int, ...]
    """The distances between elements of a window."""

    def spread(self, x: Any, value: Any) -> Any:
        """The array with ``value`` between its elements and beyond its ends."""
        if all(low == high == 0 for low, high in self.padding) and all(each == 1 for each in self.of_array):
            return traced(x)
        before = [(0, 0, 0)] * (x.ndim - len(self.sizes))
        config = [(low, high, apart - 1) for (low, high), apart in zip(self.padding, self.of_array, strict=True)]
        return padded(x, value, [*before, *config])

    def views(self, x: Any, value: Any, counts: Sequence[int]) -> Any:
        """All windows over the last axes of an array: ``counts`` of them along each axis, and then their elements."""
        spread, first = self.spread(x, value), x.ndim - len(self.sizes)
        if 0 in (*counts, *self.sizes):
            return np.zeros((*spread.shape[:first], *counts, *self.sizes), spread.dtype)
        extents = [(size - 1) * apart + 1 for size, apart in zip(self.sizes, self.of_window, strict=True)]
        found = np.lib.stride_tricks.sliding_window_view(spread, tuple(extents), tuple(range(first, x.ndim)))
        steps = [slice(None, None, each) for each in (*self.strides, *self.of_window)]
        return found[(..., *steps)]

    def chosen(self, x: Any, is_max: bool, counts: Sequence[int]) -> Any:
        """The number of the element in each window that is the extremum: the first of equal ones."""
        views = self.views(x, least(x.dtype, is_max), counts)
        flat = views.reshape((*counts, math.prod(self.sizes)))
        return (np.argmax if is_max else np.argmin)(flat, axis=-1)

    def places(self, number: Any, lengths: Sequence[int]) -> Any:
        """The positions in the spread array of these lengths, as one number each, of the elements with the given
        numbers in an array of windows."""
        place: Any = 0
        number = traced(number)
        for axis, length in enumerate(lengths):
            within = number // math.prod(self.sizes[axis + 1 :]) % self.sizes[axis]
            shape = [1] * len(lengths)
            shape[axis] = number.shape[axis]
            starts = np.arange(number.shape[axis]).reshape(shape) * self.strides[axis]
            place = place * length + starts + within * self.of_window[axis]
        return place


def convolution(_run: Run, equation: Any, x: Any, kernel: Any) -> Any:
    """Convolve: multiply windows of the array by the kernel, in one product of matrices."""
    params, numbers = equation.params, equation.params["dimension_numbers"]
    out = numbers.out_spec
    shape, dtype = shape_of(equation.outvars[0]), dtype_of(equation.outvars[0])
    x, kernel = traced(x).astype(dtype), traced(kernel).astype(dtype)
    x, kernel = np.transpose(x, ints(numbers.lhs_spec)), np.transpose(kernel, ints(numbers.rhs_spec))
    sliding = Sliding(
        sizes=ints(kernel.shape[2:]),
        strides=ints(params["window_strides"]),
        padding=tuple((int(low), int(high)) for low, high in params["padding"]),
        of_array=ints(params["lhs_dilation"]),
        of_window=ints(params["rhs_dilation"]),
    )
    counts = [shape[axis] for axis in out[2:]]
    views = sliding.views(x, dtype.type(0), counts)
    found = by_groups(views, kernel, params["feature_group_count"], params["batch_group_count"], len(counts))
    return np.transpose(found, np.argsort(out).tolist())


def by_groups(views: Any, kernel: Any, of_features: int, of_batch: int, ndim: int) -> Any:
    """The features of all windows. Where channels, or the elements of the batch, are in groups, each group has its own
    part of the kernel."""
    batch, channels, *rest = ints(views.shape)
    features, own, *sizes = ints(kernel.shape)
    counts = rest[:ndim]
    outer, inner = "stuvw"[:ndim], "klmno"[:ndim]
    if of_features == of_batch == 1:
        return np.einsum(f"bc{outer}{inner},fc{inner}->bf{outer}", views, kernel)
    if of_batch > 1:
        views = views.reshape((of_batch, batch // of_batch, channels, *rest))
        text = f"gbc{outer}{inner},gfc{inner}->bgf{outer}"
    else:
        views = views.reshape((batch, of_features, own, *rest))
        text = f"bgc{outer}{inner},gfc{inner}->bgf{outer}"
    groups = max(of_features, of_batch)
    found = np.einsum(text, views, kernel.reshape((groups, features // groups, own, *sizes)))
    return found.reshape((batch // of_batch, features, *counts))


def sliding_of(params: Any) -> Sliding:
    ones = (1,) * len(params["window_dimensions"])
    return Sliding(
        sizes=ints(params["window_dimensions"]),
        strides=ints(params["window_strides"]),
        padding=tuple((int(low), int(high)) for low, high in params["padding"]),
        of_array=ints(params.get("base_dilation", ones)),
        of_window=ints(params.get("window_dilation", ones)),
    )


def window_sum(_run: Run, equation: Any, x: Any) -> Any:
    sliding, counts = sliding_of(equation.params), shape_of(equation.outvars[0])
    views = sliding.views(x, x.dtype.type(0), counts)
    return views.sum(axis=tuple(range(len(counts), 2 * len(counts))), dtype=x.dtype)


def window_extremum(is_max: bool) -> Callable[..., Any]:
    """The extrema of windows. Of several equal elements the first has the derivative."""

    def reduce(_run: Run, equation: Any, x: Any) -> Any:
        sliding, counts = sliding_of(equation.params), shape_of(equation.outvars[0])
        if 0 in (*counts, *sliding.sizes):
            return np.full(counts, least(x.dtype, is_max))
        views = sliding.views(x, least(x.dtype, is_max), counts)
        axes = tuple(range(len(counts), 2 * len(counts)))
        if x.dtype.kind == "b":
            return (np.any if is_max else np.all)(views, axis=axes)
        found = (np.max if is_max else np.min)(views, axis=axes)
        if x.dtype.kind != "f":
            return found
        smooth = gathered(sliding, x, sliding.chosen(x, is_max, counts))
        return Tracer(differentiated_as(found.value, smooth.value))

    return reduce


def gathered(sliding: Sliding, values: Any, numbers: Any) -> Any:
    """The element of each window that has the given number."""
    spread = sliding.spread(values, values.dtype.type(0))
    return spread.reshape(-1)[sliding.places(numbers, ints(spread.shape))]


def has_max(equation: Any) -> bool:
    return equation.params["select_prim"].name == "ge"


def gather_chosen(_run: Run, equation: Any, values: Any, x: Any) -> Any:
    """Gather, for each window, the value where another array has its extremum."""
    sliding, counts = sliding_of(equation.params), shape_of(equation.outvars[0])
    if 0 in (*counts, *sliding.sizes):
        return np.zeros(counts, values.dtype)
    return gathered(sliding, values, sliding.chosen(x, has_max(equation), counts))


def scatter_chosen(_run: Run, equation: Any, source: Any, x: Any) -> Any:
    """Scatter, as the transpose of `gather_chosen`: each window's number is added where the window has its extremum."""
    sliding, counts, shape = sliding_of(equation.params), ints(source.shape), shape_of(equation.outvars[0])
    total = np.zeros(shape, source.dtype)
    if 0 in (*counts, *sliding.sizes, *shape):
        return total
    lengths = [length + low + high for length, (low, high) in zip(shape, sliding.padding, strict=True)]
    flat = np.broadcast_to(traced(source.dtype.type(0)), (math.prod(lengths),)).copy()
    np.add.at(flat, sliding.places(sliding.chosen(x, has_max(equation), counts), lengths), source)
    inside = [slice(low, low + length) for length, (low, _) in zip(shape, sliding.padding, strict=True)]
    return flat.reshape(tuple(lengths))[tuple(inside)]


def window_fold(run: Run, equation: Any, *operands: Any) -> list[Any]:
    """Reduce windows by any function, an element of all windows at a time."""
    sliding, counts = sliding_of(equation.params), shape_of(equation.outvars[0])
    arrays, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    views = [sliding.views(x, first, counts) for x, first in zip(arrays, initial, strict=True)]
    stacks = [np.moveaxis(each.reshape((*counts, math.prod(sliding.sizes))), -1, 0) for each in views]
    of_two = partial(eval_jaxpr, equation.params["jaxpr"], equation.params["consts"])
    return folded(run, equation, of_two, stacks, initial)


TABLE: dict[str, Callable[..., Any]] = {
    "conv_general_dilated": convolution,
    "reduce_window": window_fold,
    "reduce_window_max": window_extremum(is_max=True),
    "reduce_window_min": window_extremum(is_max=False),
    "reduce_window_sum": window_sum,
    "select_and_gather_add": gather_chosen,
    "select_and_scatter_add": scatter_chosen,
}
