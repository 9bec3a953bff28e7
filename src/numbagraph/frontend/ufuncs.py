"""Ufuncs of NumPy and SciPy, and their methods, as ops."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value, convert, kind_of
from numbagraph.frontend.refusals import unsupported
from numbagraph.ir.op import registry
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Op


def of_ufunc(ufunc: np.ufunc, method: str, values: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The op that a ufunc's method stands for, on values."""
    op = registry.find(ufunc if method == "__call__" else (ufunc, method))
    if op is None:
        raise unsupported(ufunc)
    if method != "__call__":
        if method == "accumulate" and not as_value(values[0]).ndim:
            raise TypeError("cannot accumulate on a scalar")
        given = {name: each for name, each in options.items() if name != "dtype" or each is not None}
        function = partial(reduced, op, ufunc) if method == "reduce" and op.name not in ("sum", "prod") else op
        return function(
            *values, **{"axis": 0, **given}
        )  # NumPy's functions reduce over all axes, methods over the first
    dtype, casting = options.pop("dtype", None), options.pop("casting", "same_kind")
    if options.pop("where", True) is not True:
        raise TypeError(f"where= of {ufunc.__name__} leaves elements undefined: use numpy.where on the result")
    if options:
        raise TypeError(f"{ufunc.__name__} takes no {', '.join(options)} in a traced function")
    return op(*values) if dtype is None and casting == "same_kind" else of_dtype(op, ufunc, values, dtype, casting)


def reduced(
    op: Op, ufunc: np.ufunc, array: Any, dtype: Any = None, initial: Any = None, where: Any = True, **options: Any
) -> Any:
    """``reduce`` of a ufunc whose op, a function of NumPy, takes fewer options."""
    if dtype is not None and resolved(ufunc, dtype) != dtype:
        raise TypeError(f"No loop matching the specified signature and casting was found for ufunc {ufunc.__name__}")
    value = array if dtype is None else registry["cast"](array, dtype)
    if ufunc.identity is None:
        return op(value, initial=initial, where=where, **options)
    if where is not True:
        value = registry["where"](where, value, ufunc.identity)
    found = op(value, **options)
    return found if initial is None else registry[ufunc.__name__](found, initial)


def of_dtype(op: Op, ufunc: np.ufunc, operands: tuple[Any, ...], dtype: Any, casting: Any) -> Any:
    """What a ufunc's loop that gives ``dtype`` makes of operands, which ``casting`` must allow to become its own."""
    values = [as_value(each) for each in operands]
    asked = None if dtype is None else canonical_dtype(dtype)
    kinds = (*map(kind_of, values), *[None] * ufunc.nout)
    signature: dict[str, Any] = {} if asked is None else {"signature": (*[None] * ufunc.nin, *[asked] * ufunc.nout)}
    *taken, given = ufunc.resolve_dtypes(kinds, casting=casting, **signature)[: ufunc.nin + 1]
    found = op(*[convert(each, canonical_dtype(own)) for each, own in zip(values, taken, strict=True)])
    first = found[0] if isinstance(found, tuple) else found
    if first.dtype != given:
        raise TypeError(f"{ufunc.__name__} has no loop for {given} in a traced function: convert its operands")
    return found
