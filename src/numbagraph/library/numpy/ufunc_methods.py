"""``reduce``, ``accumulate``, ``reduceat``, ``outer`` and ``at`` of ufuncs that have no op for these, as loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from numbagraph.api.branches import cond
from numbagraph.api.loops import fori_loop, scan
from numbagraph.blockwise.reduction import start_of
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ops.creation import iota
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.indexing.subscripts import add_index, is_zeros
from numbagraph.tracing.in_place import not_traced
from numbagraph.tracing.index_keys import known_mask
from numbagraph.tracing.tracer import TraceError, Tracer, apply, assigned_key, to_value, user_source
from numbagraph.tracing.ufuncs import loop_dtype


def call_method(ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
    """Call a method of a ufunc, on tracers and arrays."""
    if ufunc.signature is not None or ufunc.nin != (1 if method == "at" and len(operands) == 2 else 2):
        raise TraceError(f"{ufunc.__name__}.{method} is not supported in a traced function\n  at {user_source()}")
    if method != "outer" and ufunc.nout != 1:
        raise ValueError(f"{method} only supported for functions returning a single value")
    return METHODS[method](ufunc, *operands, **options)


def as_array(operand: Any) -> Any:
    return operand if isinstance(operand, Tracer) else apply(registry["asarray"], operand)


def outer(ufunc: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    left, right = as_array(a), as_array(b)
    return ufunc(left[(..., *[None] * right.ndim)], right, **options)


def leading(ufunc: np.ufunc, array: Any, axis: int, dtype: Any) -> Any:
    """Return the array with the axis of a reduction first, in the dtype in which the ufunc reduces."""
    wanted = np.dtype(dtype) if dtype is not None else loop_dtype(ufunc, array.dtype)
    return np.moveaxis(array.astype(wanted, copy=False), axis, 0)


def require_rank(array: Any, what: str) -> None:
    if not array.ndim:
        raise TypeError(f"cannot {what} on a scalar")


def first_of(rows: Any) -> Any:
    """The first row, or zeros where there is none."""
    return rows[:1].sum(axis=0, dtype=rows.dtype)


def reduced_axes(ufunc: np.ufunc, array: Any, axis: Any) -> tuple[int, ...]:
    """The axes of a reduction, counted from the left; a number has none, and may be reduced along its first."""
    if not array.ndim and axis in (0, -1):
        return ()
    axes = tuple(range(array.ndim)) if axis is None else normalize_axis_tuple(axis, array.ndim)
    if len(axes) > 1 and ufunc.identity is None and ufunc not in (np.fmax, np.fmin):
        text = f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
        raise ValueError(text)
    return axes


def rows_of(array: Any, axes: tuple[int, ...]) -> Any:
    """Return the elements along some axes, one after the other along the first."""
    if len(axes) == 1:
        return np.moveaxis(array, axes[0], 0)
    moved = np.moveaxis(array, axes, tuple(range(len(axes))))
    count = shapes.product(moved.value.shape[: len(axes)])
    return moved.reshape((count if isinstance(count, int) else Tracer(count), *moved.shape[len(axes) :]))


def reduce(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    given = as_array(array)
    axes = reduced_axes(ufunc, given, axis)
    op = BESIDE_NAN.get(ufunc)
    if op is not None and given.dtype.kind != "c" and initial is np._NoValue and where is True and axes:
        count = shapes.product([given.value.shape[each] for each in axes])
        shapes.require(shapes.compare("greater", count, 0), no_identity(ufunc, where), ValueError)
        return apply(registry[op], given if dtype is None else given.astype(dtype), axes, keepdims=keepdims)
    rows = rows_of(given.astype(loop_dtype(ufunc, given.dtype) if dtype is None else dtype, copy=False), axes)
    if initial is np._NoValue and ufunc.identity is not None:  # -1 stands for all bits of unsigned integers, too
        initial = np.asarray(ufunc.identity).astype(rows.dtype)[()]
    elif initial is np._NoValue:
        initial = None
    if initial is None:
        shapes.require(shapes.compare("greater", rows.value.shape[0], 0), no_identity(ufunc, where), ValueError)
        first, start = rows[0], 1
    else:
        first, start = np.full_like(first_of(rows), Tracer(start_of(to_value(initial), rows.dtype))), 0
    if where is True:
        total = fori_loop(start, rows.shape[0], lambda i, so_far: ufunc(so_far, rows[i]), first)
    elif initial is None:
        raise ValueError(no_identity(ufunc, where))
    else:
        mask = rows_of(np.broadcast_to(as_array(where), given.shape), axes)
        total = fori_loop(start, rows.shape[0], lambda i, now: np.where(mask[i], ufunc(now, rows[i]), now), first)
    return np.expand_dims(total, axes) if keepdims else total


def no_identity(ufunc: np.ufunc, where: Any) -> str:
    if where is True:
        return f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
    name = ufunc.__name__
    return (
        f"reduction operation '{name}' does not have an identity, so to use a where mask one has to specify 'initial'"
    )


def accumulate(ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    given = as_array(array)
    require_rank(given, "accumulate")
    rows = leading(ufunc, given, axis, dtype)

    def step(carried: Any, row: Any) -> tuple[Any, Any]:
        is_first, so_far = carried
        now = cond(is_first, lambda _, row: row, ufunc, so_far, row)
        return (False, now), now

    start = (True, np.zeros_like(first_of(rows)))
    return np.moveaxis(scan(step, start, rows)[1], 0, axis)


def positions_of(indices: Any) -> Any:
    """Return positions as 64-bit integers, if NumPy takes them as positions."""
    found = as_array(np.zeros(0, INT64) if isinstance(indices, (list, tuple)) and not indices else indices)
    if not np.can_cast(found.dtype, INT64, "safe"):
        raise TypeError(f"Cannot cast array data from {found.dtype!r} to {INT64!r} according to the rule 'safe'")
    return found.astype(INT64)


def reduceat(ufunc: np.ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    given, starts = as_array(array), positions_of(indices)
    require_rank(given, "reduceat")
    rows = leading(ufunc, given, axis, dtype)
    length = rows.shape[0]
    inside = (starts >= 0) & (starts < length)
    shapes.require(inside.all().value, f"index out-of-bounds in {ufunc.__name__}.reduceat", IndexError)
    stops = np.concatenate([starts[1:], np.expand_dims(as_array(length), 0)])[: starts.shape[0]]
    if not in_any_order(ufunc) or axis not in (-1, given.ndim - 1):
        return np.moveaxis(segments(ufunc, rows, starts, stops), 0, axis)
    rows = np.moveaxis(rows, 0, -1)
    if rows.ndim == 1:
        return segments(ufunc, rows, starts, stops)
    flat = rows_of(rows, tuple(range(rows.ndim - 1)))
    _, found = scan(lambda _, row: (_, segments(ufunc, row, starts, stops)), 0, flat)
    return found.reshape((*given.shape[:-1], starts.shape[0]))


def in_any_order(ufunc: np.ufunc) -> bool:
    """Whether elements may be reduced in another order than one after the other."""
    return registry.find((ufunc, "reduce")) is not None


def segments(ufunc: np.ufunc, rows: Any, starts: Any, stops: Any) -> Any:
    """Reduce the rows from each start to each stop. Where there are none, the result is the first row."""

    def in_steps(start: Any, stop: Any) -> Any:
        return fori_loop(start + 1, stop, lambda i, so_far: ufunc(so_far, rows[i]), np.copy(rows[start]))

    def in_blocks(start: Any, stop: Any) -> Any:
        """Reduce part of a long vector: `BLOCK` elements at once, each with the elements at its place in later
        blocks."""

        def block(number: Any) -> Any:
            places = to_value(start + number * BLOCK + Tracer(iota(BLOCK)))
            return Tracer(gather_value(rows.value, [places], -1, checked=False))

        count = (stop - start) // BLOCK
        sums = fori_loop(1, count, lambda k, so_far: ufunc(so_far, block(k)), np.copy(block(0)))
        total = ufunc.reduce(sums, dtype=rows.dtype)
        return fori_loop(start + count * BLOCK, stop, lambda i, so_far: ufunc(so_far, rows[i]), total)

    def segment(_: Any, bounds: Any) -> tuple[Any, Any]:
        start, stop = bounds
        if rows.ndim > 1 or rows.dtype.kind in "iu" or not in_any_order(ufunc):  # LLVM makes vectors of integers
            return _, in_steps(start, stop)
        return _, cond(stop - start < BLOCK, in_steps, in_blocks, start, stop)

    return scan(segment, 0, (starts, stops))[1]


def at(ufunc: np.ufunc, array: Any, indices: Any, operand: Any = None) -> None:
    """Apply a ufunc at one position after the other, so that each sees the results of those before it. All positions
    are checked before the first is written: they index an array of the positions that exist."""
    if not isinstance(array, Tracer):
        raise not_traced(f"{ufunc.__name__}.at must write into a traced array")
    if ufunc is np.add and operand is not None and is_sum_from_zero(array, as_array(operand)):
        key = assigned_key(indices, operand, array.ndim, to_value)
        array[...] = apply(add_index, array, key, operand)
        return
    # without an operand, no sequence says how long the loop takes, which must be known to write where an array lies
    key, rank = without_rows(indices, array.ndim) if operand is not None else (indices, array.ndim)
    lengths, row = array.shape[:rank], array.shape[rank:]
    numbers = Tracer(iota(shapes.product([each.value if isinstance(each, Tracer) else each for each in lengths])))
    places = numbers.reshape(lengths)[key]
    values = []
    if operand is not None:
        flat = (places.size, *row)
        values = [np.broadcast_to(as_array(operand), (*places.shape, *row)).reshape(flat)]

    def step(so_far: Any, now: Any) -> tuple[Any, None]:
        place, *operands = now
        return replaced(so_far, place, ufunc(element(so_far, place), *operands)), None

    rows = array if rank == 1 else array.reshape((numbers.size, *row))
    if values and is_sum(ufunc, array, values[0]):
        added = as_array(values[0] if ufunc is np.add else -values[0])
        found = added_at(rows, places.reshape(-1), added.astype(array.dtype))
    else:
        found, _ = scan(step, rows, [places.reshape(-1), *values], keep="last")
    array[...] = found if rank == 1 else found.reshape(array.shape)


def without_rows(key: Any, ndim: int) -> tuple[tuple[Any, ...], int]:
    """Return the part of a key that selects rows, and the number of dimensions that it covers. The dimensions behind
    are taken whole, so that a loop along them visits no position twice."""
    parts = list(key if isinstance(key, tuple) else (key,))
    if any(part is Ellipsis for part in parts[:-1]):
        return tuple(parts), ndim
    while parts and (parts[-1] is Ellipsis or is_whole(parts[-1])):
        parts.pop()
    counts = [dimensions(part) for part in parts]
    return tuple(parts), min(sum(counts), ndim)


def is_whole(part: Any) -> bool:
    return isinstance(part, slice) and part.start is None and part.stop is None and part.step is None


def dimensions(part: Any) -> int:
    """The number of dimensions of an array that a part of a key covers; a mask covers all of its own."""
    mask = part if isinstance(part, Tracer) and part.dtype.kind == "b" else known_mask(part)
    if mask is not None:
        return mask.ndim
    return int(part is not None and not isinstance(part, (bool, np.bool_)))


def element(array: Tracer, place: Tracer) -> Tracer:
    """Return a row of an array, at a place that is known to lie in it."""
    return Tracer(registry["pick"].bind(array.value, place.value, axis=-array.ndim, checked=False))


def replaced(array: Tracer, place: Tracer, number: Any) -> Tracer:
    """Return an array with another row at a place that is known to lie in it."""
    update = as_array(number).astype(array.dtype, copy=False)
    return Tracer(registry["put_at"].bind(array.value, update.value, place.value, axis=-array.ndim, checked=(False,)))


def added_at(rows: Tracer, places: Tracer, values: Tracer) -> Tracer:
    """Add rows, one after the other, at places that are known to lie in an array."""
    op = registry["add_at"]
    return Tracer(op.bind(rows.value, values.value, places.value, axis=-rows.ndim, checked=(False,)))


def is_sum_from_zero(array: Tracer, operand: Any) -> bool:
    return is_zeros(array.value) and is_sum(np.add, array, operand)


def is_sum(ufunc: np.ufunc, array: Tracer, operand: Any) -> bool:
    """Whether numbers are added to an array, or subtracted, without a conversion: then a scatter rounds as the ufunc
    does."""
    sums = array.dtype.kind in "iufc" and ufunc in (np.add, np.subtract)
    return sums and np.can_cast(operand.dtype, array.dtype, "safe")


BLOCK = 64
"""The number of elements of a long segment that are reduced at once."""

BESIDE_NAN = {np.fmax: "nanmax", np.fmin: "nanmin"}
"""Ops that reduce the elements that are not NaN, and give NaN where there are none."""

METHODS: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "reduceat": reduceat,
    "outer": outer,
    "at": at,
}
