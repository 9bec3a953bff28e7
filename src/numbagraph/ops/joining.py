"""Arrays joined from arrays, and arrays taken apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import give_batch
from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.lengths import as_extent, as_length
from numbagraph.blockwise.lowering import Index, Pull, extent_scalar
from numbagraph.blockwise.promotion import as_strong, as_value, common_dtype, convert, kind_of
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import INT64, UINT64, canonical_dtype
from numbagraph.ir.values import ArrayType, Extent, Node, Op, Value
from numbagraph.ops.creation import along
from numbagraph.ops.indexing.gathering import gather_value, list_of_positions, scatter
from numbagraph.ops.indexing.slicing import narrow, roll_value
from numbagraph.ops.indexing.subscripts import index
from numbagraph.ops.shape import (
    at_least,
    broadcast_value,
    copy,
    expand_at,
    expand_dims,
    move,
    permute,
    ravel,
    reshape_value,
)


def concatenate_type(*values: Value, axis: int) -> ArrayType:
    shape = list(values[0].shape)
    for number, value in enumerate(values[1:], 1):
        for each in range(-value.ndim, 0):
            text = (
                "all the input array dimensions except for the concatenation axis must match exactly, but along "
                f"dimension {each + value.ndim}, the array at index 0 has size {shape[each]} and the array at index "
                f"{number} has size {value.shape[each]}"
            )
            if each != axis:
                shape[each] = shapes.require_same(shape[each], value.shape[each], text)
    shape[axis] = total([value.shape[axis] for value in values])
    return values[0].type.with_shape(tuple(shape))


def total(extents: Sequence[Extent]) -> Extent:
    result: Extent = 0
    for extent in extents:
        result = shapes.add(result, extent)
    return result


def concatenate_pieces(node: Node) -> list[tuple[Value, lowering.IndexMap]]:
    axis, offset = node.attrs["axis"], lowering.literal(0)
    pieces = []
    for value in node.inputs:

        def index_map(index: Index, pull: Pull, offset: lowering.Scalar = offset) -> Index:
            moved = list(index)
            moved[axis] = lowering.add(offset, index[axis])
            return tuple(moved)

        pieces.append((value, index_map))
        offset = lowering.add(offset, extent_scalar(value.shape[axis]))
    return pieces


def concatenate_vjp(g: Value, y: Value, *values: Value, axis: int) -> tuple[Value, ...]:
    starts = [total([each.shape[axis] for each in values[:number]]) for number in range(len(values))]
    return tuple(narrow(g, axis, start, value.shape[axis]) for start, value in zip(starts, values, strict=True))


def as_sequence(arrays: Any) -> list[Value]:
    """Return the arrays of a sequence, or those along the first dimension of an array, whose length must be static."""
    if isinstance(arrays, Value):
        return pieces_of(arrays)
    return [as_strong(each) for each in arrays]


def pieces_of(value: Value) -> list[Value]:
    length = shapes.resolve(value.shape[0]) if value.ndim else None
    if not isinstance(length, int):
        raise shapes.UnknownLength(
            f"a sequence of arrays is needed, not one of {value.type}, whose length is not known"
        )
    return [index(value, number) for number in range(length)]


def rows_joined(rows: Value, axis: int) -> Value:
    """Join the arrays along the first dimension of an array, along an axis of theirs (counted from the left)."""
    shape = list(rows.shape[1:])
    shape[axis] = shapes.multiply(rows.shape[0], shape[axis])
    return reshape_value(move(rows, [0], [axis]), shape)


def converted(values: Sequence[Value], dtype: Any, casting: Any) -> list[Value]:
    """Return arrays in one dtype: the one given, or the one that NumPy would give the result."""
    common = common_dtype([kind_of(value) for value in values])
    wanted = canonical_dtype(common if dtype is None else dtype)
    if not all(np.can_cast(value.dtype, wanted, casting) for value in values):
        raise TypeError(f"Cannot cast array data from {common} to {wanted} according to the rule '{casting}'")
    return [convert(value, wanted) for value in values]


def concatenate_frontend(
    op: Op, arrays: Any, axis: Any = 0, out: None = None, dtype: Any = None, casting: str = "same_kind"
) -> Value:
    refuse_out(op.name, out)
    if isinstance(arrays, Value) and arrays.ndim > 1:
        (rows,) = converted([arrays], dtype, casting)
        return (
            ravel(rows)
            if axis is None
            else rows_joined(rows, shapes.normalise_axis(axis, rows.ndim - 1) + rows.ndim - 1)
        )
    values = pieces_of(arrays) if isinstance(arrays, Value) else [as_value(each) for each in arrays]
    if not values:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        values, axis = [ravel(value) for value in converted(values, dtype, casting)], 0
    ndim = values[0].ndim
    if not ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    for number, value in enumerate(values):
        if value.ndim != ndim:
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{ndim} dimension(s) and the array at index {number} has {value.ndim} dimension(s)"
            )
    return join(converted(values, dtype, casting), shapes.normalise_axis(axis, ndim))


def join(values: Sequence[Value], axis: int) -> Value:
    """Join arrays of one dtype and rank along an axis, counted from the right."""
    return copy(values[0]) if len(values) == 1 else concatenate.bind(*values, axis=axis)


def refuse_out(name: str, out: Any) -> None:
    if out is not None:
        raise TypeError(f"{name}: out= is not supported in a traced function: return the value")


concatenate = registry.register(
    Op(
        name="concatenate",
        kind="joining",
        reference=lambda *arrays, axis: np.concatenate(arrays, axis),
        infer=concatenate_type,
        frontend=concatenate_frontend,
        lower=lowering.Assemble(concatenate_pieces),
        vjp=concatenate_vjp,
        batch=lambda op, inputs, batched, **attrs: op.bind(*give_batch(inputs, batched), **attrs),
        jnp=lambda *arrays, axis: load("jax.numpy:concatenate")(arrays, axis),
        samples=lambda rng, dtype: [
            ((draw(rng, dtype, (3,)), draw(rng, dtype, (2,))),),
            ((draw(rng, dtype, (3, 4)), draw(rng, dtype, (3, 1)), draw(rng, dtype, (3, 0))), 1),
            ((draw(rng, dtype, (3, 4)), draw(rng, dtype, (2,))), None),
        ],
        implements=(np.concatenate, np.concat),
        zero_dim="array",
    )
)


@decomposition(
    np.stack,
    samples=lambda rng, dtype: [
        ([draw(rng, dtype, (3, 4)) for _ in range(3)],),
        ([draw(rng, dtype, (3, 4)) for _ in range(2)], -1),
    ],
)
def stack(arrays: Any, axis: int = 0, out: None = None, *, dtype: Any = None, casting: str = "same_kind") -> Value:
    refuse_out("stack", out)
    if isinstance(arrays, Value) and arrays.ndim:
        (rows,) = converted([arrays], dtype, casting)
        return copy(move(rows, [0], [shapes.normalise_axis(axis, rows.ndim) + rows.ndim]))
    values = as_sequence(arrays)
    if not values:
        raise ValueError("need at least one array to stack")
    first = shapes.shape_text(values[0].shape)
    texts = [f"all input arrays must have the same shape, not {first} and {shapes.shape_text(v.shape)}" for v in values]
    for value, text in zip(values, texts, strict=True):
        if value.ndim != values[0].ndim:
            raise ValueError(text)
    axis = shapes.normalise_axis(axis, values[0].ndim + 1)
    for value, text in zip(values, texts, strict=True):
        for left, right in zip(values[0].shape, value.shape, strict=True):
            shapes.require_same(left, right, text)
    return join([expand_dims.bind(value, axes=(axis,)) for value in converted(values, dtype, casting)], axis)


def declare_stack(reference: Any, ndim: int, axis: int) -> Op:
    """Declare a concatenation along a fixed axis of arrays of at least so many dimensions."""

    def joined(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Value:
        if isinstance(tup, Value) and tup.ndim:
            (rows,) = converted([tup], dtype, casting)
            shape = at_least(index(rows, 0), ndim).shape
            return rows_joined(reshape_value(rows, (rows.shape[0], *shape)), 0 if len(shape) == 1 else axis)
        values = [at_least(value, ndim) for value in as_sequence(tup)]
        along_axis = 0 if values[0].ndim == 1 else axis
        return concatenate(values, along_axis, dtype=dtype, casting=casting)

    return decomposition(reference, samples=lambda rng, dtype: [([draw(rng, dtype, (3, 4)) for _ in range(2)],)])(
        joined
    )


vstack = declare_stack(np.vstack, 2, 0)
hstack = declare_stack(np.hstack, 1, 1)
dstack = declare_stack(np.dstack, 3, 2)


@decomposition(np.column_stack, samples=lambda rng, dtype: [((draw(rng, dtype, (3,)), draw(rng, dtype, (3, 2))),)])
def column_stack(tup: Any) -> Value:
    if isinstance(tup, Value) and tup.ndim > 2:
        return rows_joined(tup, 1)
    if isinstance(tup, Value) and tup.ndim:
        return copy(permute(at_least(tup, 2), (1, 0)) if tup.ndim == 2 else at_least(tup, 2))
    values = [at_least(value, 1) for value in as_sequence(tup)]
    return concatenate([expand_at(value, (1,)) if value.ndim == 1 else value for value in values], 1)


@decomposition(
    np.append,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3,)), draw(rng, dtype, (2, 2))),
        (draw(rng, dtype, (3, 2)), draw(rng, dtype, (3, 1)), 1),
    ],
)
def append(arr: Any, values: Any, axis: Any = None) -> Value:
    return concatenate([as_strong(arr), as_strong(values)], axis)


@decomposition(np.tile, samples=lambda rng, dtype: [(draw(rng, dtype, (3,)), 2), (draw(rng, dtype, (2, 3)), (2, 1, 3))])
def tile(A: Any, reps: Any) -> Value:
    value = as_strong(A)
    counts = [as_length(each) for each in (reps if isinstance(reps, (tuple, list)) else (reps,))]
    counts = [1] * (value.ndim - len(counts)) + counts
    value = expand_at(value, range(len(counts) - value.ndim))
    shape = value.shape
    value = expand_at(value, range(0, 2 * len(counts), 2))
    pairs = [extent for pair in zip(counts, shape, strict=True) for extent in pair]
    repeated = broadcast_value(value, pairs)
    return copy(reshape_value(repeated, list(map(shapes.multiply, counts, shape))))


@decomposition(np.repeat, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 2)), 2), (draw(rng, dtype, (3, 2)), 3, 0)])
def repeat(a: Any, repeats: Any, axis: Any = None) -> Value:
    value = ravel(a) if axis is None else at_least(as_strong(a), 1)
    position = shapes.normalise_axis(0 if axis is None else axis, value.ndim) + value.ndim
    if isinstance(repeats, (list, tuple)) or getattr(repeats, "ndim", 0):
        counts = list_of_positions(repeats) if isinstance(repeats, (list, tuple)) else as_value(repeats)
        return repeated_by(value, counts, position)
    count, shape = as_length(repeats), list(value.shape)
    repeated = broadcast_value(
        expand_at(value, (position + 1,)), [*shape[: position + 1], count, *shape[position + 1 :]]
    )
    shape[position] = shapes.multiply(shape[position], count)
    return copy(reshape_value(repeated, shape))


def repeated_by(value: Value, counts: Value, position: int) -> Value:
    """Repeat each element of a dimension as often as its count says."""
    if counts.ndim > 1 or counts.dtype.kind not in "iub":
        raise TypeError(f"repeats must be one integer, or one for each element, not {counts.type}")
    counts = broadcast_value(convert(counts, INT64), value.shape[position : position + 1])
    none_below = registry["all"](registry["greater_equal"](counts, 0))
    shapes.require(none_below, "repeats may not contain negative values.", ValueError)
    ends, total = registry["cumsum"](counts), as_extent(registry["maximum"](registry["sum"](counts), 0))
    # where an element begins, one more has begun; those without a place begin where the next one does
    begun = scatter(registry["ones_like"](ends), [ends - counts], [shapes.add(total, 1)], -1, (False,))
    number = registry["cumsum"](begun[:-1]) - 1
    return gather_value(value, [number], position - value.ndim, checked=False)


@decomposition(
    np.roll,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (5,)), 2),
        (draw(rng, dtype, (3, 4)), -1),
        (draw(rng, dtype, (3, 4)), (1, -2), (0, 1)),
        (draw(rng, dtype, (3, 4)), 7, 1),
        (draw(rng, dtype, (3, 4)), np.uint64(2**63 + 2), 1),
    ],
)
def roll(a: Any, shift: Any, axis: Any = None) -> Value:
    value = as_strong(a)
    if axis is None:
        return reshape_value(roll(ravel(value), shift, 0), value.shape)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shifts_of(shift, len(axes))
    if len(axes) == 1:
        axes = axes * len(shifts)
    if len(axes) != len(shifts):
        raise ValueError(f"shape mismatch: there are {len(shifts)} shifts and {len(axes)} axes")
    for each, by in zip(axes, shifts, strict=True):
        along = shapes.normalise_axis(each, value.ndim)
        value = roll_value(value, as_extent(within(by, value.shape[along]), "a shift"), along)
    return value


def within(shift: Any, length: Extent) -> Any:
    """Return a shift; an unsigned one, which may exceed all other integers, without whole turns."""
    if getattr(shift, "dtype", None) != UINT64:
        return shift
    return registry["remainder"](as_value(shift), convert(shapes.as_value(length), UINT64))


def shifts_of(shift: Any, count: int) -> tuple[Any, ...]:
    """Return the shifts by which an array is rolled along ``count`` axes; if all are along the same axis, their sum."""
    if isinstance(shift, (Value, np.ndarray)) and shift.ndim:
        if shift.ndim > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        whole = as_value(shift)
        if count == 1:
            return (registry["sum"](whole),)
        length = shapes.resolve(whole.shape[0])
        if length != 1:
            shapes.require_same(
                length, count, f"shape mismatch: there are {length} shifts and {count} axes", ValueError
            )
        shift = tuple(whole[number] for number in range(1 if length == 1 else count))
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    return shifts * count if len(shifts) == 1 else shifts


def cut_at(value: Value, axis: int, ends: Iterable[Any]) -> list[Value]:
    """Return the parts of an array between positions along an axis (counted from the right)."""
    pairs = pairwise([0, *ends, None])
    return [index(value, (..., slice(start, stop), *[slice(None)] * (-axis - 1))) for start, stop in pairs]


@decomposition(
    np.array_split,
    samples=lambda rng, dtype: [(draw(rng, dtype, (7,)), 3), (draw(rng, dtype, (3, 7)), [2, 5], 1)],
    view_of=True,
)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Value]:
    value = as_value(ary)
    axis = shapes.normalise_axis(axis, value.ndim)
    if isinstance(indices_or_sections, (tuple, list, np.ndarray)):
        return cut_at(value, axis, indices_or_sections)
    length, sections = value.shape[axis], static_count(indices_or_sections)
    size = shapes.floor_divide(length, sections)
    extra = shapes.subtract(length, shapes.multiply(size, sections))
    starts = [shapes.add(shapes.multiply(size, number), shapes.minimum(extra, number)) for number in range(sections)]
    pairs = pairwise([*starts, length])
    return [narrow(value, axis, start, shapes.subtract(stop, start)) for start, stop in pairs]


def static_count(sections: Any) -> int:
    count = as_extent(sections, "the number of sections")
    if not isinstance(count, int):
        raise TypeError("the number of sections must be known when the function is traced: name it in static_argnames")
    if count <= 0:
        raise ValueError("number sections must be larger than 0.")
    return count


def split_evenly(value: Value, axis: int, indices_or_sections: Any) -> list[Value]:
    """Split an array at the given positions, or into as many parts of one length, along an axis (counted from the
    right)."""
    if isinstance(indices_or_sections, (tuple, list, np.ndarray)):
        return cut_at(value, axis, indices_or_sections)
    sections = static_count(indices_or_sections)
    size = shapes.floor_divide(value.shape[axis], sections)
    text = (
        f"array split does not result in an equal division of {value.shape[axis]} elements into {sections} parts: "
        "np.array_split makes parts of unlike lengths"
    )
    shapes.require(shapes.compare("equal", shapes.multiply(size, sections), value.shape[axis]), text)
    return [narrow(value, axis, shapes.multiply(size, number), size) for number in range(sections)]


@decomposition(
    np.split,
    samples=lambda rng, dtype: [(draw(rng, dtype, (6,)), 3), (draw(rng, dtype, (3, 6)), [2, 5], -1)],
    view_of=True,
)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Value]:
    value = as_value(ary)
    return split_evenly(value, shapes.normalise_axis(axis, value.ndim), indices_or_sections)


def declare_split(reference: Any, ndim: int, axis: int) -> Op:
    """Declare a split along a fixed axis."""

    def parts(ary: Any, indices_or_sections: Any) -> list[Value]:
        value = as_value(ary)
        if value.ndim < ndim:
            raise ValueError(f"{reference.__name__} only works on arrays of {ndim} or more dimensions")
        position = shapes.normalise_axis(0 if value.ndim == 1 else axis, value.ndim)
        return split_evenly(value, position, indices_or_sections)

    return decomposition(reference, samples=lambda rng, dtype: [(draw(rng, dtype, (4, 4, 4)), 2)], view_of=True)(parts)


hsplit = declare_split(np.hsplit, 1, 1)
vsplit = declare_split(np.vsplit, 2, 0)
dsplit = declare_split(np.dsplit, 3, 2)


@decomposition(
    np.diff,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (5,)),),
        (draw(rng, dtype, (3, 4)), 2, 0),
        (draw(rng, dtype, (3, 4)), 1, -1, draw(rng, dtype, (3, 1))),
        (draw(rng, dtype, (3, 4)), 0),
    ],
    view_of=lambda a, n=1, *_, **__: None if n else a,
)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Value:
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    value = as_strong(a)
    if not n:
        return value
    axis = shapes.normalise_axis(axis, value.ndim)
    pieces = [diff_end(prepend, value, axis), value, diff_end(append, value, axis)]
    given = [piece for piece in pieces if piece is not None]
    value = concatenate(given, axis) if len(given) > 1 else value
    function = registry["not_equal" if value.dtype.kind == "b" else "subtract"]
    after = [slice(None)] * (-axis - 1)
    for _ in range(n):
        value = function(index(value, (..., slice(1, None), *after)), index(value, (..., slice(None, -1), *after)))
    return value


def diff_end(end: Any, value: Value, axis: int) -> Value | None:
    """Return the values that `diff` puts before or after an array: a number is repeated along the other axes."""
    if end is None:
        return None
    end = as_value(end)
    if end.ndim:
        return end
    shape = list(value.shape)
    shape[axis] = 1
    return broadcast_value(end, shape)


@decomposition(
    np.meshgrid,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3,)), draw(rng, dtype, (4,))),
        (draw(rng, dtype, (3,)), draw(rng, dtype, (4,)), Keywords(copy=False)),
    ],
    view_of=lambda *xi, copy=True, **_: None if copy else xi,
    may_copy=True,
)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Value, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    values = [ravel(each) for each in xi]
    order = list(range(len(values)))
    if indexing == "xy" and len(values) > 1:
        order[:2] = [1, 0]
    results = [along(value, order[number], len(values)) for number, value in enumerate(values)]
    if not sparse:
        shape = shapes.broadcast_shapes([each.shape for each in results], "meshgrid")
        results = [broadcast_value(each, shape) for each in results]
    return tuple(registry["copy"](each) for each in results) if copy else tuple(results)
