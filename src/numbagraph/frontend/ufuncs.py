"""Ufuncs of NumPy and SciPy, and their methods, as ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.frontend.refusals import unsupported
from numbagraph.ir.op import registry


def of_ufunc(ufunc: np.ufunc, method: str, values: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The op that a ufunc's method stands for, on values."""
    op = registry.find(ufunc if method == "__call__" else (ufunc, method))
    if op is None:
        raise unsupported(ufunc)
    if method != "__call__":
        given = {name: each for name, each in options.items() if name != "dtype" or each is not None}
        return op(*values, **{"axis": 0, **given})  # NumPy's functions reduce over all axes, the methods over the first
    dtype = options.pop("dtype", None)
    if options.pop("where", True) is not True:
        raise TypeError(f"where= of {ufunc.__name__} leaves elements undefined: use numpy.where on the result")
    if options:
        raise TypeError(f"{ufunc.__name__} takes no {', '.join(options)} in a traced function")
    if dtype is not None:
        values = tuple(registry["cast"](each, dtype) for each in values)
    return op(*values)
