"""Keys of ``x[key]`` whose masks are known while a function is traced: positions take their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.ir.shapes import ShapeError
from numbagraph.ir.values import Constant, Node, Value, toposort
from numbagraph.ops.indexing.subscripts import KnownMask
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.trace import current_trace, refused

InputOf = Callable[[np.ndarray], Any]
"""A function that makes an array part of the graph."""


def read_key(key: Any, input_of: InputOf) -> Any:
    """The key of ``x[key]``. A slice whose step is an argument is refused: each step then has a version of its own,
    whose loops are faster."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, slice) and isinstance(step := getattr(part.step, "value", None), Value):
            require_computed_step(step)
    return with_known_masks(key, input_of)


def with_known_masks(key: Any, input_of: InputOf) -> Any:
    """A key with the positions that its masks select, where their elements are known."""
    if isinstance(key, tuple):
        return tuple(with_known_masks(part, input_of) for part in key)
    mask = known_mask(key)
    return key if mask is None else KnownMask(mask.shape, tuple(map(input_of, mask.nonzero())))


def require_computed_step(step: Value) -> None:
    """Raise for the step of a slice that follows from arguments alone that are Python's numbers."""
    trace = current_trace()
    sources = [each for each in toposort([step]) if not isinstance(each, (Node, Constant))]
    if trace is not None and sources and all(each.type.weak and each in trace.inputs for each in sources):
        raise refused(
            TraceError(
                f"the step of a slice that is read must be known when the function is traced: name it in "
                f"static_argnames, or read x[np.arange(start, stop, step)]\n  at {user_source()}"
            )
        )


def assigned_key(key: Any, update: Any, ndim: int, input_of: InputOf) -> Any:
    """The key of ``x[key] = update``, for ``x`` of some rank. A value that is assigned to all selected elements alike
    does not need their positions: a mask then stays an array, as a mask does that is known only when the function
    runs."""
    is_array = bool(getattr(update, "ndim", 0)) or isinstance(update, (list, tuple))
    parts = key if isinstance(key, tuple) else (key,)
    if is_array and 0 < ndim == len(parts) and all(map(is_one_place, parts)):
        text = "setting an array element with a sequence: the key is one element, and the value has dimensions"
        raise ShapeError(f"{text}. Assign its element (value[0], value.item()), or to a slice")
    mask = known_mask(key[0] if isinstance(key, tuple) and len(key) == 1 else key)
    return with_known_masks(key, input_of) if is_array or mask is None or not mask.size else mask


def is_one_place(part: Any) -> bool:
    """Whether part of a key is a position, known or traced."""
    if hasattr(part, "ndim"):
        return not part.ndim and part.dtype.kind in "iu"
    return hasattr(part, "__index__") and not isinstance(part, bool)


def known_mask(part: Any) -> np.ndarray | None:
    """A mask whose elements are known."""
    if isinstance(part, list) and part and all(isinstance(each, (bool, np.bool_, list)) for each in part):
        part = np.asarray(part)
    return part if isinstance(part, np.ndarray) and part.ndim and part.dtype == np.bool_ else None
