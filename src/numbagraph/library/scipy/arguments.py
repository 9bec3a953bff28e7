"""Conversions and checks of the arguments of SciPy's functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from numbagraph.api.callbacks import pure_callback
from numbagraph.blockwise.lengths import as_extent
from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.builtins.replacements import as_numpy_array
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.identity import differentiated_as
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.static_lengths import known_shape
from numbagraph.tracing.tracer import Tracer, to_value

Function = Callable[..., Any]


def array(x: Any) -> Any:
    """Return an array as `numpy.asarray` does: a Python number is not weak any more."""
    return as_numpy_array(np.asarray)(x) if is_traced(x) else np.asarray(x)


def inexact(x: Any) -> Any:
    """Return an array of floating-point or complex numbers: others become float64."""
    found = array(x)
    return found if found.dtype.kind in "fc" else found.astype(np.float64)


def double(x: Any) -> Any:
    """Return an array of float64. Raise for complex numbers."""
    found = array(x)
    if found.dtype.kind == "c":
        raise TypeError("Cannot cast array data from complex128 to float64 according to the rule 'safe'")
    return found.astype(np.float64)


def lifted(x: Any) -> Any:
    """Return an array from outside of the traced function in a form from which traced positions can select."""
    return x if isinstance(x, Tracer) else Tracer(to_value(np.asarray(x)))


def zeros(shape: tuple[Any, ...], dtype: Any) -> Any:
    """Return an array of zeros, whose lengths may be traced, to which elements are assigned."""
    return Tracer(filled(number_as(0, np.dtype(dtype)), tuple(as_extent(to_value(each)) for each in shape)))


def known(x: Any, what: str) -> tuple[int, ...]:
    """The shape of an array, in numbers. A version is made for this shape alone."""
    return known_shape(x.value, what) if isinstance(x, Tracer) else x.shape


def is_open(low: Any, high: Any) -> bool:
    """Whether bounds are known to bound nothing."""
    if is_traced(low) or is_traced(high):
        return False
    return bool(np.all(np.asarray(low) == -np.inf) and np.all(np.asarray(high) == np.inf))


def known_number(x: Any, what: str) -> int:
    """Return a number, such as the length of an argument, as a Python integer. A version is made for this number
    alone."""
    if not isinstance(x, Tracer):
        return operator.index(x)
    number = shapes.resolve(as_extent(to_value(x)))
    if not isinstance(number, int):
        raise LengthsNeeded(
            f"{what} needs a number that is known before it runs, such as the length of an argument, and one of "
            f"{number.type} follows from elements: call it outside"
        )
    return number


def axis_of(axis: Any, ndim: int) -> int:
    """Return an axis, counted from the left."""
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return int(axis) % ndim


def require(condition: Any, message: str, error: type[Exception] = ValueError) -> None:
    """Raise an error when the function is called, if a condition does not hold then."""
    shapes.require(to_value(condition) if isinstance(condition, Tracer) else bool(condition), message, error)


def refuse(what: str, instead: str) -> NoReturn:
    raise TraceError(f"{what} is not supported in a traced function: {instead}\n  at {user_source()}")


def only_numpy(xp: Any, device: Any, what: str) -> None:
    if device is not None or xp not in (None, np):
        refuse(f"{what} with xp= or device=", "leave them out")


def differentiated(value: Any, form: Any) -> Any:
    """Return a value with the derivatives of another form of it."""
    return Tracer(differentiated_as(as_value(to_value(value)), as_value(to_value(form))))


def differentiated_number(value: Any, form: Any) -> Any:
    """Return a number with the derivatives of another form of it: a scalar, as NumPy's functions return."""
    return Tracer(registry["as_scalar"].bind(to_value(differentiated(value, form))))


@lru_cache(256)
def bound(path: str, *args: Any, **options: Any) -> Function:
    """Return a function of SciPy with options. Equal options give one object, since a callback is known by its
    identity."""
    function = load(path)

    def call(*arrays: Any) -> Any:
        found = function(*arrays, *args, **options)
        return tuple(found) if isinstance(found, list) else found  # of stacks SciPy gives lists

    call.__name__ = path.replace(":", ".")
    return call


def called(function: Function, like: Any, *args: Any, vjp: Function | None = None) -> Any:
    """Call a function of NumPy arrays from compiled code."""
    return pure_callback(function, like, *args, vjp=vjp)
