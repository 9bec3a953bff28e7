"""Writes into arrays while a function is traced: ``out=``, and NumPy's functions that write into an argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.ir.later import Later
from numbagraph.ir.op import is_elementwise
from numbagraph.ir.values import Value
from numbagraph.ops.indexing import masks
from numbagraph.ops.shape import broadcast_value
from numbagraph.tracing.concretization import Unknown
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.trace import refused

if TYPE_CHECKING:
    from numbagraph.ops.indexing import writing_functions
else:  # few functions write by them
    writing_functions = Later("numbagraph.ops.indexing.writing_functions")


_UFUNCS = {
    "and": "bitwise_and",
    "floordiv": "floor_divide",
    "lshift": "left_shift",
    "mod": "remainder",
    "mul": "multiply",
    "or": "bitwise_or",
    "pow": "power",
    "rshift": "right_shift",
    "sub": "subtract",
    "truediv": "divide",
    "xor": "bitwise_xor",
}
"""NumPy's names of Python's operators."""


class Named:
    """A function with its name in errors, and the function of NumPy's that it stands for."""

    def __init__(self, name: str, function: Callable[..., Any], stands_for: Any = None) -> None:
        self.name = name
        self.function = function
        self.stands_for = stands_for

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def not_traced(text: str) -> TraceError:
    """The error for a write into an array of NumPy's own, which is not traced."""
    advice = (
        "pass an array from outside of the function as an argument, assign to a copy (y = np.array(y)) and put that "
        "into its place (self.y = y), or return what it would become (y = y + x)"
    )
    return refused(TraceError(f"{text}: {advice}\n  at {user_source()}"))


def no_cast(function: Callable[..., Any], dtype: np.dtype, own: np.dtype) -> str:
    """NumPy's text of the error of ``x += y`` whose sum does not fit into ``x``, with what to write instead."""
    name = getattr(function, "name", None) or function.__name__
    name = _UFUNCS.get(name, name)
    return (
        f"Cannot cast ufunc {name!r} output from {dtype!r} to {own!r} with casting rule 'same_kind': write "
        f"x = np.{name}(x, y), which is a new array, or begin with x.astype({dtype.type.__name__!r})"
    )


@lru_cache(1024)
def names_by_position(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters that a function takes by position; none if its signature is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(each.name for each in parameters if each.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD)


def out_by_name(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments by position up to ``out``; move that and those after it to the keyword arguments."""
    names = names_by_position(function) if len(args) > 1 else ()
    place = names.index("out") if "out" in names else len(args)
    if place >= len(args) or args[place] is None:
        return args
    kwargs.update(zip(names[place:], args[place:], strict=False))
    return args[:place]


def target_of(out: Any, name: str) -> Any:
    """The array that ``out=`` names."""
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(target, Unknown):
        raise not_traced(f"out= of {name} must be one traced array")
    if not target._is_array and not target._foreign:  # type: ignore[attr-defined]
        raise TypeError(f"out= of {name} must be an array, not a number: x[i : i + 1]\n  at {user_source()}")
    return target


def write_under_mask(out: Any, function: Named, where: Any, inputs: tuple[Any, ...], casting: str) -> Any:
    """Write the result of a ufunc into ``out``, where the mask ``where`` is true."""

    def written(own: Value, where: Any, *values: Any) -> Value:
        return masks.computed_under(own, where, function, [as_value(each) for each in values], casting)

    return target_of(out, function.name)._rebind(Named(function.name, written), where, *inputs)


def write_into(
    out: Any, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], casting: str = "same_kind"
) -> Any:
    """Write the result of a call into ``out``, which keeps its shape and dtype."""
    name = getattr(function, "name", getattr(function, "__name__", str(function)))
    stands_for = getattr(function, "stands_for", function)
    broadcasts, ufunc = is_elementwise(stands_for), ufunc_of_reduction(name, stands_for)

    def written(own: Value, *values: Any) -> Any:
        if name in JOINING:
            return function(*values, **options, dtype=own.dtype)
        if ufunc is not None and options.get("dtype") is None:
            values = (in_dtype_of_both(own, as_value(values[0]), ufunc), *values[1:])
        result = function(*values, **options)
        if casting == "unsafe" or ufunc is not None or name in CAST_INTO:
            result = convert(as_value(result), own.dtype)
        return broadcast_value(result, own.shape) if broadcasts else result

    if name in JOINING and options.pop("dtype", None) is not None:
        raise TypeError(f"{name}() only takes `out` or `dtype` as an argument, but both were provided.")
    return target_of(out, name)._rebind(Named(name, written), *args)


JOINING = frozenset(("concatenate", "stack"))
"""Functions that convert what they are given to the dtype of ``out=``, by their own ``casting=``."""

CAST_INTO = frozenset("all any nanmax nanmean nanmin nanstd nanvar std var".split())
"""Functions that write results of whatever dtype into ``out=``, besides those that a ufunc reduces."""

REDUCTIONS = {
    **dict.fromkeys(("cumsum", "mean", "nancumsum", "nansum", "sum"), np.add),
    **dict.fromkeys(("cumprod", "nancumprod", "nanprod", "prod"), np.multiply),
    "max": np.maximum,
    "min": np.minimum,
}


def ufunc_of_reduction(name: str, stands_for: Any) -> np.ufunc | None:
    """The ufunc by which a function combines elements; a method of a ufunc is said to stand for (ufunc, method)."""
    return stands_for[0] if isinstance(stands_for, tuple) else REDUCTIONS.get(name)


def in_dtype_of_both(own: Value, operand: Value, ufunc: np.ufunc) -> Value:
    """Convert the operand of a reduction with ``out=`` to the dtype that the ufunc's loop has for the dtypes of the
    operand and of ``out``."""
    return convert(operand, reduction_dtype(ufunc, own.dtype, operand.dtype))


def reduction_dtype(ufunc: np.ufunc, own: np.dtype, operand: np.dtype) -> np.dtype:
    return np.dtype(ufunc.resolve_dtypes((own, operand, None), casting="unsafe", reduction=True)[1])


def written(name: str, write: Callable[..., Value], array: Any, *args: Any) -> None:
    """Write into a traced array as a NumPy function does that writes into its first argument. Raise for an array that
    is not traced."""
    if not isinstance(array, Unknown):
        raise not_traced(f"numpy.{name} must write into a traced array")
    array._rebind(Named(name, write), *args)  # type: ignore[attr-defined]


WRITERS: dict[Any, Callable[..., None]] = {
    np.copyto: lambda dst, src, casting="same_kind", where=True: written(
        "copyto", masks.copied, dst, src, casting, where
    ),
    np.putmask: lambda a, mask, values: written("putmask", masks.put_mask, a, mask, values),
    np.fill_diagonal: lambda a, val, wrap=False: written(
        "fill_diagonal", writing_functions.diagonal_filled, a, val, wrap
    ),
    np.put: lambda a, ind, v, mode="raise": written("put", writing_functions.values_put, a, ind, v, mode),
    np.put_along_axis: lambda arr, indices, values, axis: written(
        "put_along_axis", writing_functions.put_along, arr, indices, values, axis
    ),
    np.place: lambda arr, mask, vals: written("place", masks.place_mask, arr, mask, vals),
}
"""Functions that write into their first argument."""
