"""Python's and NumPy's numbers, made of traced ones: ``int``, ``float``, ``complex``, ``bool``, ``np.uint32``..."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.promotion import as_value, convert, weak_convert
from numbagraph.blockwise.storing import element_of
from numbagraph.capture.values.iterables import require_known
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT64, INT64, UINT64
from numbagraph.ir.values import Value, at_source
from numbagraph.tracing.tracer import TraceError, Tracer, to_value, user_source

Function = Callable[..., Any]


def is_traced(*trees: Any) -> bool:
    leaves: list[Any] = optree.tree_leaves(trees, none_is_leaf=True)  # type: ignore[arg-type]
    return any(isinstance(leaf, (Tracer, Stacked)) for leaf in leaves)


def with_python(function: Function) -> Callable[[Function], Function]:
    """Decorate the replacement of a function of Python's, which is called itself where no argument is traced."""

    def decorate(traced: Function) -> Function:
        @functools.wraps(traced)
        def call(*args: Any, **kwargs: Any) -> Any:
            for each in args:
                require_known(each)
            if not is_traced(args, kwargs):
                return function(*args, **kwargs)
            with at_source(user_source()):
                return traced(*args, **kwargs)

        return call

    return decorate


def for_arrays(name: str) -> str:
    """The advice which function takes arrays in place of a function of numbers."""
    if name in ("bool", "int", "float", "complex"):
        return f"x.astype({name}) converts arrays"
    return f"np.{name} takes arrays" if hasattr(np, name) else "x.item(0) is the first of them"


def number(value: Any, what: str) -> Value:
    """Return a number, or the element of an array of one, as Python's conversions take it."""
    found: Value = as_value(to_value(value))
    if found.ndim:
        if any(shapes.resolve(each) != 1 for each in found.shape):
            raise TraceError(f"{what}() takes one number, not {found.type}: {for_arrays(what)}\n  at {user_source()}")
        found = registry["reshape"](found, ())
    return found


def required(condition: Value, message: str, error: type[Exception]) -> None:
    shapes.require(condition, message, error)


@with_python(int)
def as_int(value: Any = 0) -> Any:
    found = number(value, "int")
    if found.dtype.kind == "c":
        raise TypeError(f"int() takes a real number, not {found.type}\n  at {user_source()}")
    if found.dtype.kind == "f":
        required(registry["logical_not"](registry["isnan"](found)), "cannot convert float NaN to integer", ValueError)
        small = registry["logical_and"](registry["greater_equal"](found, -(2.0**63)), registry["less"](found, 2.0**63))
        required(small, "cannot convert float infinity, or 2**63 and more, to an integer of 64 bits", OverflowError)
    elif found.dtype == UINT64:
        small = registry["less"](found, np.uint64(2**63))
        required(small, "cannot convert 2**63 and more to an integer of 64 bits", OverflowError)
    return Tracer(weakened(found, INT64))


def weakened(value: Value, dtype: np.dtype) -> Value:
    """Return a number as one of Python's."""
    if value.type.weak:
        return weak_convert(value, dtype)
    return registry["cast"].bind(convert(value, value.dtype), dtype=dtype, weak=True)


@with_python(float)
def as_float(value: Any = 0.0) -> Any:
    found = number(value, "float")
    if found.dtype.kind == "c":
        raise TypeError(f"float() takes a real number, not {found.type}\n  at {user_source()}")
    return Tracer(weakened(found, FLOAT64))


@with_python(complex)
def as_complex(real: Any = 0, imag: Any = None) -> Any:
    """``real + 1j * imag``, but infinities and signs of zeros stay where they are."""
    one = number(real, "complex")
    if imag is None:
        return Tracer(weakened(one, np.dtype(np.complex128)))
    other = number(imag, "complex")
    parts = [registry["cast"](registry["real"](each), FLOAT64) for each in (one, other)]
    if other.dtype.kind == "c":
        parts[0] = registry["subtract"](parts[0], registry["imag"](other))
    if one.dtype.kind == "c":
        parts[1] = registry["add"](parts[1], registry["imag"](one))
    return Tracer(weakened(registry["complex_of"](*parts), np.dtype(np.complex128)))


@with_python(bool)
def as_bool(value: Any = False) -> Any:
    if not isinstance(value, (Tracer, Stacked)):
        return bool(value)
    found = registry["greater"](value.count(), 0) if isinstance(value, Stacked) else number(value, "bool")
    return Tracer(weakened(found if found.dtype == BOOL else registry["not_equal"](found, 0), BOOL))


def python_number(array: Tracer, *position: Any) -> Tracer:
    """Return ``array.item(...)``: the only element, the one at a position, or at a place among all of them."""
    key = position[0] if len(position) == 1 and isinstance(position[0], tuple) else position
    if len(key) == 1 and array.ndim != 1:
        array = array.flat
    found = number(array[key] if key else array, "item")
    own = BOOL if found.dtype == BOOL else INT64 if found.dtype.kind in "iu" else np.result_type(found.dtype, FLOAT64)
    return Tracer(weakened(found, own))


def of_type(scalar: type[np.generic]) -> Function:
    """Return the replacement of ``np.uint32`` and its like: it converts a number, or an array element by element."""
    dtype = np.dtype(scalar)

    @with_python(scalar)
    def call(value: Any = 0) -> Any:
        found = as_value(to_value(value.array if isinstance(value, Stacked) else value))
        if found.dtype.kind == "c" and dtype.kind in "iuf":
            raise TraceError(f"np.{dtype}() of a complex number would lose a part: take .real\n  at {user_source()}")
        return Tracer(scalar_result(registry["not_equal"](found, 0) if dtype == BOOL else element_of(found, dtype)))

    return call


SCALAR_TYPES: dict[Any, Function] = {
    scalar: of_type(scalar)
    for scalar in (
        np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
        np.float32, np.float64, np.complex64, np.complex128,
    )
}  # fmt: skip
