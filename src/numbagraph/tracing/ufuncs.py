"""Ufuncs of NumPy and SciPy, and their methods, as ops."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from numbagraph.blockwise.promotion import as_value, convert, kind_of
from numbagraph.ir import shapes
from numbagraph.ir.later import Later
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Op, Value
from numbagraph.ops.shape import expand_at, move
from numbagraph.tracing.unsupported import unsupported

if TYPE_CHECKING:
    from numbagraph.ops.special import complex_results
else:  # few programs call these ufuncs
    complex_results = Later("numbagraph.ops.special.complex_results")

COMPLEX_RESULTS = frozenset("hankel1 hankel1e hankel2 hankel2e kelvin modfresnelm modfresnelp wofz".split())
"""Ufuncs of real numbers that have complex results, which are made of ops."""


def with_complex_results(ufunc: np.ufunc, values: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Return the op of a ufunc in `COMPLEX_RESULTS` for real operands; None otherwise. Ufuncs of other libraries may
    have the same name."""
    name = ufunc.__name__
    if name not in COMPLEX_RESULTS or ufunc is not load(f"scipy.special:{name}"):
        return None
    is_complex = any(as_value(each).dtype.kind == "c" for each in values)
    return None if is_complex else getattr(complex_results, name)


def of_ufunc(ufunc: np.ufunc, method: str, values: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The op that a ufunc's method stands for, on values."""
    op = registry.find(ufunc if method == "__call__" else (ufunc, method))
    found = with_complex_results(ufunc, values) if op is None and method == "__call__" else None
    if found is not None and not options:
        return found(*values)
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
    if ufunc.signature is not None and not {"axis", "axes", "keepdims"}.isdisjoint(options):
        return along_axes(ufunc, [as_value(each) for each in values], **options)
    dtype, casting = options.pop("dtype", None), options.pop("casting", "same_kind")
    if options.pop("where", True) is not True:
        raise TypeError(f"where= of {ufunc.__name__} leaves elements undefined: use numpy.where on the result")
    if options:
        raise TypeError(f"{ufunc.__name__} takes no {', '.join(options)} in a traced function")
    return op(*values) if dtype is None and casting == "same_kind" else of_dtype(op, ufunc, values, dtype, casting)


def loop_dtype(ufunc: np.ufunc, dtype: np.dtype) -> np.dtype:
    """The dtype in which a ufunc reduces: one that its loop takes and gives."""
    found = ufunc.resolve_dtypes((None, dtype, None), reduction=True)
    return np.dtype(found[0])


def reduced(
    op: Op, ufunc: np.ufunc, array: Any, dtype: Any = None, initial: Any = None, where: Any = True, **options: Any
) -> Any:
    """``reduce`` of a ufunc whose op, a function of NumPy, takes fewer options."""
    if dtype is not None and loop_dtype(ufunc, np.dtype(dtype)) != dtype:
        raise TypeError(f"No loop matching the specified signature and casting was found for ufunc {ufunc.__name__}")
    value = array if dtype is None else registry["cast"](array, dtype)
    if ufunc.identity is None:
        return op(value, initial=initial, where=where, **options)
    if where is not True:
        identity = np.asarray(ufunc.identity).astype(as_value(value).dtype)  # -1 has all bits of integers without sign
        value = registry["where"](where, value, identity[()])
    found = op(value, **options)
    return found if initial is None else registry[ufunc.__name__](found, initial)


def along_axes(
    ufunc: np.ufunc, values: list[Value], axis: Any = None, axes: Any = None, keepdims: bool = False, **options: Any
) -> Any:
    """A ufunc of matrices and vectors that lie along other axes than the last ones."""
    ranks = [len(each.split(",")) if each else 0 for each in re.findall(r"\((.*?)\)", str(ufunc.signature))]
    if axes is None:
        if set(ranks) - {0, 1}:
            raise TypeError(f"{ufunc.__name__}: axis can only be used with a single shared core dimension")
        axes = [(-1 if axis is None else axis,)] * ufunc.nin
    places: list[tuple[Any, ...]] = [each if isinstance(each, tuple) else (each,) for each in axes]
    for number, (value, own) in enumerate(zip(values, places, strict=False)):
        if value.ndim < len(own):
            raise ValueError(f"{ufunc.__name__}: operand {number} has {value.ndim} dimensions, and needs {len(own)}")
        source = [shapes.normalise_axis(each, value.ndim) + value.ndim for each in own]
        values[number] = move(value, source, range(value.ndim - len(own), value.ndim))
    found = of_ufunc(ufunc, "__call__", tuple(values), options)
    if keepdims:
        if ranks[-1] or len(set(places[: ufunc.nin])) > 1:
            raise TypeError(f"{ufunc.__name__} does not support keepdims")
        return expand_at(found, [shapes.normalise_axis(places[0][0], found.ndim + 1) + found.ndim + 1])
    given = places[ufunc.nin] if len(places) > ufunc.nin else ()
    destination = [shapes.normalise_axis(each, found.ndim) + found.ndim for each in given]
    return move(found, range(found.ndim - len(given), found.ndim), destination) if given else found


def of_dtype(op: Op, ufunc: np.ufunc, operands: tuple[Any, ...], dtype: Any, casting: Any) -> Any:
    """Compute a ufunc by its loop that gives ``dtype``. Raise where ``casting`` does not let operands become that
    loop's."""
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
