"""NumPy's functions that ask for lengths and dtypes of traced arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.tracing.concretization import Unknown


def kind_of(operand: Any) -> Any:
    """Return the part of an operand that decides the dtypes of results: the dtype of a traced array, else the
    operand."""
    return operand.dtype if isinstance(operand, Unknown) else operand  # type: ignore[attr-defined]


def size(a: Any, axis: Any = None) -> Any:
    """Return the number of elements, along one axis, or along each of several."""
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
