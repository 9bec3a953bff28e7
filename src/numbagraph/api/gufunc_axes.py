"""The axes of the core dimensions of a call's operands and results: ``axes``, ``axis`` and ``keepdims`` of a gufunc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.exceptions import AxisError

from numbagraph.blockwise.signature import CoreShape, Signature

Axes = tuple[int, ...]


class Moves(NamedTuple):
    """The axes of the core dimensions: of operands counted from the right, of results as they were given."""

    inputs: tuple[Axes, ...]
    outputs: tuple[Axes, ...]
    kept: bool
    """Whether results keep the core dimensions of the operands, with length 1."""


def moves_of(signature: Signature, name: str, ranks: Sequence[int], options: dict[str, Any]) -> Moves | None:
    """Take ``axes``, ``axis`` and ``keepdims`` out of ``options``, and return the moves; None if there are none.

    Raises
    ------
    TypeError, ValueError, AxisError
        As NumPy's own gufuncs do.
    """
    if "axes" in options and "axis" in options:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    keepdims = bool(options.pop("keepdims", False))
    if keepdims:
        require_keepdims(signature, name)
    counts = core_counts(signature, keepdims)
    if "axis" in options:
        axis = require_axis(signature, name, options.pop("axis"))
        found = [(axis,) * count for count in counts]
    elif "axes" in options:
        found = entries(options.pop("axes"), counts, signature, len(ranks))
    elif keepdims:
        found = [tuple(range(-count, 0)) for count in counts]
    else:
        return None
    inputs = tuple(counted_from_right(each, rank) for each, rank in zip(found, ranks, strict=False))
    return Moves(inputs, tuple(found[len(ranks) :]), keepdims)


def core_counts(signature: Signature, keepdims: bool) -> list[int]:
    """The number of core dimensions of each operand and result, as the caller sees it."""
    inputs = list(map(len, signature.inputs))
    return [*inputs, *(inputs[0] if keepdims else len(each) for each in signature.outputs)]


def require_keepdims(signature: Signature, name: str) -> None:
    counts = {len(each) for each in signature.inputs}
    if len(counts) > 1 or any(map(len, signature.outputs)):
        raise TypeError(
            f"{name} does not support keepdims: keepdims can only be used when all inputs have the same number of core "
            f"dimensions and all outputs have none, and its signature is {signature}"
        )


def require_axis(signature: Signature, name: str, axis: Any) -> int:
    cores: tuple[CoreShape, ...] = (*signature.inputs, *signature.outputs)
    labels = {each.label for core in cores for each in core}
    if len(labels) != 1 or any(len(core) > 1 for core in cores):
        raise TypeError(f"{name}: axis can only be used with a single shared core dimension, and not with {signature}")
    return as_axis(axis)


def as_axis(axis: Any) -> int:
    if isinstance(axis, (int, np.integer)):
        return int(axis)
    raise TypeError(f"an axis is an integer, not {axis!r}")


def entries(axes: Any, counts: Sequence[int], signature: Signature, inputs: int) -> list[Axes]:
    """The axes of each operand and result, from a list of them."""
    if not isinstance(axes, list):
        raise TypeError("axes should be a list")
    if len(axes) == inputs and not any(counts[inputs:]):
        axes = [*axes, *[()] * (len(counts) - inputs)]
    if len(axes) != len(counts):
        raise ValueError(
            f"axes should be a list with an entry for all {len(counts)} inputs and outputs of {signature}; entries for "
            "outputs can only be omitted if none of them has core axes"
        )
    return [entry(number, each, count) for number, (each, count) in enumerate(zip(axes, counts, strict=True))]


def entry(number: int, axes: Any, count: int) -> Axes:
    if not isinstance(axes, tuple):
        if count != 1:
            kind = AxisError if isinstance(axes, (int, np.integer)) else TypeError
            raise kind(f"axes item {number} should be a tuple of {count} axes, not {axes!r}")
        axes = (axes,)
    if len(axes) != count:
        raise AxisError(f"axes item {number} should be a tuple with {count} elements, not {axes!r}")
    return tuple(map(as_axis, axes))


def counted_from_right(axes: Axes, rank: int) -> Axes:
    for axis in axes:
        if not -rank <= axis < rank:
            raise AxisError(axis, rank)
    found = tuple(axis - rank if axis >= 0 else axis for axis in axes)
    if len(set(found)) < len(found):
        raise ValueError(f"axes {axes} name one axis twice")
    return found
