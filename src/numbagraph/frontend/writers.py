"""What writes into arrays while a function is traced: ``out=``, and NumPy's functions that write into an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.frontend.active import refused
from numbagraph.frontend.locating import TraceError, user_source
from numbagraph.frontend.unknown import Unknown
from numbagraph.ir.op import load
from numbagraph.ir.values import Value
from numbagraph.ops import masks


class Named:
    """A function with the name under which an error should speak of it, and what it stands for."""

    def __init__(self, name: str, function: Callable[..., Any], stands_for: Any = None) -> None:
        self.name = name
        self.function = function
        self.stands_for = stands_for

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def not_traced(text: str) -> TraceError:
    """NumPy's own array: one that the function has made is traced where the function is converted."""
    advice = "pass an array from outside of the function as an argument, or return what it would become (y = y + x)"
    return refused(TraceError(f"{text}: {advice}\n  at {user_source()}"))


def target_of(out: Any, name: str) -> Any:
    """The array that ``out=`` says results are written into."""
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(target, Unknown):
        raise not_traced(f"out= of {name} must be one traced array")
    return target


def write_under_mask(out: Any, function: Named, where: Any, inputs: tuple[Any, ...]) -> Any:
    """What ``out=`` and ``where=`` of a ufunc ask for."""

    def written(own: Value, where: Any, *values: Any) -> Value:
        return masks.computed_under(own, where, function, [as_value(each) for each in values])

    return target_of(out, function.name)._rebind(Named(function.name, written), where, *inputs)


def written(name: str, write: Callable[..., Value], array: Any, *args: Any) -> None:
    """What a NumPy function does that writes into its first argument."""
    if not isinstance(array, Unknown):
        raise not_traced(f"numpy.{name} must write into a traced array")
    array._rebind(Named(name, write), *args)  # type: ignore[attr-defined]


_WRITING = "numbagraph.ops.writing"

WRITERS: dict[Any, Callable[..., None]] = {
    np.copyto: lambda dst, src, casting="same_kind", where=True: written(
        "copyto", masks.copied, dst, src, casting, where
    ),
    np.putmask: lambda a, mask, values: written("putmask", masks.put_mask, a, mask, values),
    np.fill_diagonal: lambda a, val, wrap=False: written(
        "fill_diagonal", load(f"{_WRITING}:diagonal_filled"), a, val, wrap
    ),
    np.put: lambda a, ind, v, mode="raise": written("put", load(f"{_WRITING}:values_put"), a, ind, v, mode),
    np.put_along_axis: lambda arr, indices, values, axis: written(
        "put_along_axis", load(f"{_WRITING}:put_along"), arr, indices, values, axis
    ),
    np.place: lambda arr, mask, vals: written("place", masks.place_mask, arr, mask, vals),
}
"""Functions that write into their first argument."""
