"""NumPy's functions that ask for lengths and dtypes, and those that call functions of the user's."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy.polynomial._polybase import ABCPolyBase

from numbagraph.tracing.concretization import Unknown

COMPOSED = {
    np.apply_along_axis: "numbagraph.library.numpy.along_axis",
    np.apply_over_axes: "numbagraph.library.numpy.along_axis",
    np.piecewise: "numbagraph.library.numpy.along_axis",
    np.trim_zeros: "numbagraph.library.numpy.along_axis",
    np.require: "numbagraph.library.numpy.memory",
    np.einsum_path: "numbagraph.library.numpy.polynomials",
    np.poly: "numbagraph.library.numpy.polynomials",
    np.polydiv: "numbagraph.library.numpy.polynomials",
    np.roots: "numbagraph.library.numpy.polynomials",
    np.ix_: "numbagraph.library.numpy.polynomials",
    np.polyval: "numbagraph.library.numpy.polynomials",
    np.polynomial.polynomial.polyval: "numbagraph.library.numpy.polynomial_series",
}
"""What is written in other functions of tracers, by the module here that has a function of its name."""
if hasattr(np, "unstack"):  # NumPy 2.1
    COMPOSED[np.unstack] = "numbagraph.library.numpy.polynomials"


def is_of_series(function: Any) -> bool:
    """Whether a function of `numpy.polynomial`, or a series that is called, is traced by its own source."""
    if not str(getattr(function, "__module__", None)).startswith("numpy.polynomial."):
        return False
    if isinstance(function, ABCPolyBase):
        return True
    return isinstance(getattr(function, "__wrapped__", function), FunctionType) and function not in COMPOSED


def kind_of(operand: Any) -> Any:
    """What decides about dtypes of results: the dtype of a traced array, and other operands as they are."""
    return operand.dtype if isinstance(operand, Unknown) else operand  # type: ignore[attr-defined]


def size(a: Any, axis: Any = None) -> Any:
    """How many elements there are, along one axis, or along each of several."""
    if axis is None:
        return a.size
    return math.prod(a.shape[each] for each in axis) if isinstance(axis, tuple) else a.shape[axis]


QUERIES: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: size,
    np.copy: lambda a, order="K", **_: a.copy(order),
    np.iscomplexobj: lambda a: a.dtype.kind == "c",
    np.isrealobj: lambda a: a.dtype.kind != "c",
    np.astype: lambda x, dtype, /, *, copy=True, **_: x.astype(dtype, copy=copy),
    np.common_type: lambda *arrays: np.common_type(*[np.empty(0, each.dtype) for each in arrays]),
    np.result_type: lambda *each: np.result_type(*map(kind_of, each)),
    np.can_cast: lambda a, *rest, **options: np.can_cast(a.dtype, *rest, **options),
}
