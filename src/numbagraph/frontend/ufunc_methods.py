"""``reduce``, ``accumulate``, ``reduceat``, ``outer`` and ``at`` of ufuncs that have no op for it: loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.frontend.loops import fori_loop, scan
from numbagraph.frontend.tracing import TraceError, Tracer, apply, user_source
from numbagraph.frontend.writers import not_traced
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ops.creation import iota


def call_method(ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
    """A method of a ufunc, on tracers and arrays."""
    if ufunc.signature is not None or ufunc.nout != 1 or (ufunc.nin != 2 and method != "at"):
        raise TraceError(f"{ufunc.__name__}.{method} is not supported in a traced function\n  at {user_source()}")
    return METHODS[method](ufunc, *operands, **options)


def as_array(operand: Any) -> Any:
    return operand if isinstance(operand, Tracer) else apply(registry["asarray"], operand)


def outer(ufunc: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    left, right = as_array(a), as_array(b)
    return ufunc(left[(..., *[None] * right.ndim)], right, **options)


def leading(ufunc: np.ufunc, array: Any, axis: Any, dtype: Any) -> Any:
    """The array with the axis of a reduction first, in the dtype in which the ufunc reduces."""
    if not isinstance(axis, (int, np.integer)):
        if not isinstance(axis, (tuple, type(None))) or (array.ndim if axis is None else len(axis)) != 1:
            raise TraceError(
                f"{ufunc.__name__} along several axes: reduce along one after the other\n  at {user_source()}"
            )
        axis = 0 if axis is None else axis[0]
    wanted = np.dtype(dtype) if dtype is not None else loop_dtype(ufunc, array.dtype)
    return np.moveaxis(array.astype(wanted, copy=False), axis, 0)


def loop_dtype(ufunc: np.ufunc, dtype: np.dtype) -> np.dtype:
    """The dtype in which a ufunc reduces: one that its loop takes and gives."""
    found = ufunc.resolve_dtypes((None, dtype, None), reduction=True)
    return np.dtype(found[0])


def reduce(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    if where is not True:
        raise TraceError(f"where= of {ufunc.__name__}.reduce is not supported here\n  at {user_source()}")
    given = as_array(array)
    rows = leading(ufunc, given, axis, dtype)
    if initial is None and ufunc.identity is not None:
        initial = ufunc.identity
    if initial is None:
        text = f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        shapes.require(shapes.compare("greater", rows.value.shape[0], 0), text, ValueError)
        first, start = rows[0], 1
    else:
        first, start = np.zeros_like(rows[:1].sum(axis=0), dtype=rows.dtype) + np.asarray(initial).astype(rows.dtype), 0
    total = fori_loop(start, rows.shape[0], lambda i, so_far: ufunc(so_far, rows[i]), first)
    return np.expand_dims(total, axis) if keepdims else total


def accumulate(ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    given = as_array(array)
    rows = leading(ufunc, given, axis, dtype)

    def step(so_far: Any, row: Any) -> tuple[Any, Any]:
        now = ufunc(so_far, row)
        return now, now

    _, rest = scan(step, np.copy(rows[0]), rows[1:])
    return np.moveaxis(np.concatenate([rows[:1], rest]), 0, axis)


def reduceat(ufunc: np.ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    given, starts = as_array(array), as_array(indices)
    rows = leading(ufunc, given, axis, dtype)
    length = rows.shape[0]
    inside = (starts >= 0) & (starts < length)
    shapes.require(inside.all().value, f"index out-of-bounds in {ufunc.__name__}.reduceat", IndexError)
    stops = np.concatenate([starts[1:], np.expand_dims(as_array(length), 0)])

    def segment(_: Any, bounds: Any) -> tuple[Any, Any]:
        start, stop = bounds
        return _, fori_loop(start + 1, stop, lambda i, so_far: ufunc(so_far, rows[i]), np.copy(rows[start]))

    _, found = scan(segment, 0, (starts, stops))
    return np.moveaxis(found, 0, axis)


def at(ufunc: np.ufunc, array: Any, indices: Any, operand: Any = None) -> None:
    """One position after the other, so that each sees what those before it have done."""
    if not isinstance(array, Tracer):
        raise not_traced(f"{ufunc.__name__}.at must write into a traced array")
    count = array.size
    numbers = Tracer(iota(count.value if isinstance(count, Tracer) else count)).reshape(array.shape)
    places = numbers[indices]
    values = None if operand is None else np.broadcast_to(as_array(operand), places.shape).reshape(-1)
    flat = places.reshape(-1)

    def step(i: Any, so_far: Any) -> Any:
        place = flat[i]
        now = ufunc(so_far[place]) if values is None else ufunc(so_far[place], values[i])
        if not np.can_cast(now.dtype, array.dtype, "same_kind"):
            raise TypeError(f"Cannot cast ufunc '{ufunc.__name__}' output from {now.dtype} to {array.dtype}")
        result = np.copy(so_far)
        result[place] = now
        return result

    array[...] = fori_loop(0, flat.shape[0], step, array.reshape(-1)).reshape(array.shape)


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "reduceat": reduceat,
    "outer": outer,
    "at": at,
}
