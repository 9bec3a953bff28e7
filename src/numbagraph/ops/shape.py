"""Operations that only rearrange dimensions: their elements are elements of their operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw, sum_to, view, without_axes
from numbagraph.blockwise.lengths import MOST, as_length, as_shape, both, count_of, matching_groups, quotient
from numbagraph.blockwise.lowering import Index, broadcast_index, extent_scalar, linear_index, unravel
from numbagraph.blockwise.promotion import as_strong, as_value
from numbagraph.intrinsics.emitters.ir import Scalar, literal
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import ArrayType, Extent, Input, Node, Op, Value
from numbagraph.ops.identity import of_dtype


def expand_dims_type(value: Value, *, axes: tuple[int, ...]) -> ArrayType:
    ndim = value.ndim + len(axes)
    rest = iter(value.shape)
    return value.type.with_shape(tuple(1 if axis in axes else next(rest) for axis in range(-ndim, 0)))


def expand_dims_index(node: Node, index: Index) -> Index:
    axes = node.attrs["axes"]
    return tuple(position for axis, position in zip(range(-node.ndim, 0), index, strict=True) if axis not in axes)


def expand_dims_frontend(op: Op, a: Any, axis: Any) -> Value:
    value = as_strong(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    return op.bind(value, axes=shapes.normalise_axes(axis, value.ndim + count))


expand_dims = view(
    np.expand_dims,
    source_index=expand_dims_index,
    infer=expand_dims_type,
    frontend=expand_dims_frontend,
    evaluate=lambda a, *, axes: a[expand_index(a.ndim, axes)],
    in_order=True,
    vjp=lambda g, y, x, *, axes: (squeeze.bind(g, axes=axes),),
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)), axes) for axes in (0, (1, -1), ())],
)


def expand_index(ndim: int, axes: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(None if axis in axes else slice(None) for axis in range(-ndim - len(axes), 0))


def expand_at(value: Value, positions: Sequence[int]) -> Value:
    """Return ``value`` with new dimensions of length 1 at these positions of the result's shape."""
    ndim = value.ndim + len(positions)
    return expand_dims.bind(value, axes=tuple(each - ndim for each in positions)) if positions else value


def squeeze_type(value: Value, *, axes: tuple[int, ...]) -> ArrayType:
    return value.type.with_shape(without_axes(value.shape, axes))


def squeeze_index(node: Node, index: Index) -> Index:
    axes, rest = node.attrs["axes"], iter(index)
    return tuple(literal(0) if axis in axes else next(rest) for axis in range(-node.inputs[0].ndim, 0))


def squeeze_frontend(op: Op, a: Any, axis: Any = None) -> Value:
    value = as_strong(a)
    extents = [shapes.resolve(extent) for extent in value.shape]
    if axis is None and not all(isinstance(extent, int) or shapes.not_one(extent) for extent in extents):
        raise TypeError(
            f"squeeze of an array of shape {shapes.shape_text(extents)}: whether a computed length is 1 is only known "
            "at run time. Name the axes with axis="
        )
    axes = shapes.normalise_axes(
        tuple(each for each, extent in enumerate(extents) if extent == 1) if axis is None else axis, value.ndim
    )
    text = "cannot select an axis to squeeze out which has size not equal to one"
    for each in axes:
        shapes.require_same(value.shape[each], 1, text)
    return squeeze_at(value, [each + value.ndim for each in axes])


squeeze = view(
    np.squeeze,
    source_index=squeeze_index,
    infer=squeeze_type,
    frontend=squeeze_frontend,
    evaluate=lambda a, *, axes: a.squeeze(axes),
    in_order=True,
    vjp=lambda g, y, x, *, axes: (expand_dims.bind(g, axes=axes),),
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 1, 4, 1)),), (draw(rng, dtype, (3, 1)), 1)],
)


def squeeze_at(value: Value, positions: Sequence[int]) -> Value:
    """Return ``value`` without these dimensions, which have length 1."""
    axes = tuple(each - value.ndim for each in positions)
    if isinstance(value, Node) and value.op is expand_dims and value.attrs["axes"] == axes:
        return value.inputs[0]
    return squeeze.bind(value, axes=axes) if axes else value


def broadcast_to_type(value: Value, *sizes: Value, shape: tuple[int | None, ...]) -> ArrayType:
    batch = value.shape[: value.ndim - len(shape)]
    return value.type.with_shape((*batch, *shapes.join_extents(shape, sizes)))


def broadcast_value(value: Value, target: Sequence[Extent]) -> Value:
    """Return ``value`` repeated to the shape ``target``."""
    if len(target) == value.ndim and all(map(shapes.same, value.shape, target)):
        return value
    subject = f"could not broadcast {shapes.shape_text(value.shape)} to {shapes.shape_text(target)}"
    if value.ndim > len(target):
        raise shapes.ShapeError(subject)
    value = expand_at(value, range(len(target) - value.ndim))
    for extent, wanted in zip(value.shape, target, strict=True):
        if shapes.not_one(extent):
            shapes.require_same(extent, wanted, subject)
        elif shapes.resolve(extent) != 1 and not shapes.same(extent, wanted):
            fits = both(shapes.compare("equal", extent, wanted), shapes.compare("equal", extent, 1), "logical_or")
            shapes.require(fits, subject)
    template, sizes = shapes.split_extents(target)
    return broadcast_to.bind(value, *sizes, shape=template)


def broadcast_shape(array: Any, sizes: tuple[int, ...], shape: tuple[int | None, ...]) -> tuple[int, ...]:
    """Return the target shape in numbers, with the batch dimensions that the array has."""
    return (*array.shape[: array.ndim - len(shape)], *shapes.join_extents(shape, sizes))


broadcast_to = view(
    np.broadcast_to,
    source_index=lambda node, index: broadcast_index(node.inputs[0].shape, node.shape, index),
    infer=broadcast_to_type,
    frontend=lambda op, array, shape, subok=False: broadcast_value(as_value(array), as_shape(shape)),
    evaluate=lambda a, *sizes, shape: np.broadcast_to(a, broadcast_shape(a, sizes, shape)),
    jnp=lambda a, *sizes, shape: load("jax.numpy:broadcast_to")(a, broadcast_shape(a, sizes, shape)),
    vjp=lambda g, y, x, *sizes, shape: (sum_to(g, x), *[None] * len(sizes)),
    samples=lambda rng, dtype: [(draw(rng, dtype, (4,)), (3, 4)), (draw(rng, dtype, (3, 1)), (3, 4))],
)


def transpose_type(value: Value, *, axes: tuple[int, ...]) -> ArrayType:
    batch = value.shape[: value.ndim - len(axes)]
    return value.type.with_shape((*batch, *(value.shape[axis] for axis in axes)))


def transpose_index(node: Node, index: Index) -> Index:
    axes = node.attrs["axes"]
    source: list[Scalar] = list(index)
    for axis, position in zip(axes, index[node.ndim - len(axes) :], strict=True):
        source[axis] = position
    return tuple(source)


def full_order(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return a permutation of the last dimensions as one of all."""
    return (*range(ndim - len(axes)), *(axis + ndim for axis in axes))


def permute(value: Value, order: Sequence[int]) -> Value:
    """Return ``value`` with its dimensions (numbered from the left) in another order."""
    ndim = value.ndim
    if isinstance(value, Node) and value.op is transpose:
        inner = full_order(ndim, value.attrs["axes"])
        value, order = value.inputs[0], [inner[axis] for axis in order]
    moved = next((position for position, axis in enumerate(order) if position != axis), ndim)
    return transpose.bind(value, axes=tuple(axis - ndim for axis in order[moved:])) if moved < ndim else value


def inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def transpose_frontend(op: Op, a: Any, axes: Any = None) -> Value:
    value = as_strong(a)
    if axes is None:
        return permute(value, range(value.ndim)[::-1])
    order = [shapes.normalise_axis(axis, value.ndim) + value.ndim for axis in axes]
    if len(order) != value.ndim:
        raise ValueError("axes don't match array")
    if len(set(order)) != value.ndim:
        raise ValueError("repeated axis in transpose")
    return permute(value, order)


transpose = view(
    np.transpose,
    source_index=transpose_index,
    infer=transpose_type,
    frontend=transpose_frontend,
    evaluate=lambda a, *, axes: a.transpose(full_order(a.ndim, axes)),
    vjp=lambda g, y, x, *, axes: (permute(g, inverse(full_order(g.ndim, axes))),),
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3, 4)),),
        (draw(rng, dtype, (3, 4, 5)),),
        (draw(rng, dtype, (3, 4, 5)), (1, 2, 0)),
        (draw(rng, dtype, (3, 4, 5)), (0, -1, 1)),
    ],
    implements=(np.permute_dims,),
)


def require_count(source: Sequence[Extent], target: Sequence[Extent], text: str) -> None:
    """Require two shapes to have the same number of elements."""
    if count_of(source) != count_of(target):
        require_product(target, text)
        shapes.require(shapes.compare("equal", shapes.product(source), shapes.product(target)), text)


def require_product(extents: Sequence[Extent], text: str) -> None:
    """Require that a product of lengths does not wrap around, since it would then be that of an array with fewer
    elements."""
    total: Extent = 1
    for extent in map(shapes.resolve, extents):
        following = shapes.multiply(total, extent)
        if isinstance(following, int):
            shapes.require(following <= MOST, text)
        elif total != 1 and extent != 1:
            shapes.require(registry["product_fits"].bind(shapes.as_value(total), shapes.as_value(extent)), text)
        total = following


def size_of(value: Value) -> Extent:
    """Return the number of elements, and require that it does not wrap around; an argument has memory for all of its
    elements."""
    if not isinstance(value, Input):
        require_product(value.shape, f"array is too big: of shape {shapes.shape_text(value.shape)}")
    return shapes.product(value.shape)


def reshape_type(value: Value, *sizes: Value, consumed: int, shape: tuple[int | None, ...]) -> ArrayType:
    kept = value.ndim - consumed
    source, target = value.shape[kept:], shapes.join_extents(shape, sizes)
    require_count(
        source,
        target,
        f"cannot reshape array of shape {shapes.shape_text(source)} into shape {shapes.shape_text(target)}",
    )
    return value.type.with_shape((*value.shape[:kept], *target))


def reshape_index(node: Node, index: Index) -> Index:
    """Return the operand's index through the linear index of each run of dimensions that holds the same elements before
    and after."""
    kept = node.ndim - len(node.attrs["shape"])
    source, target = node.inputs[0].shape[kept:], node.shape[kept:]
    result: list[Scalar] = [literal(0)] * len(source)
    for left, right in matching_groups(source, target):
        here = linear_index([index[kept + axis] for axis in right], [extent_scalar(target[axis]) for axis in right])
        indices = unravel(here, [extent_scalar(source[axis]) for axis in left])
        for axis, each in zip(left, indices, strict=True):
            result[axis] = each
    return (*index[:kept], *result)


def reshape_value(value: Value, target: Sequence[Extent]) -> Value:
    """Return ``value`` in another shape. Where only dimensions of length 1 come or go, no arithmetic is needed."""
    if len(target) == value.ndim and all(map(shapes.same, value.shape, target)):
        return value
    ones = [axis for axis, extent in enumerate(value.shape) if shapes.resolve(extent) == 1]
    new = [axis for axis, extent in enumerate(target) if shapes.resolve(extent) == 1]
    source = [extent for extent in value.shape if shapes.resolve(extent) != 1]
    wanted = [extent for extent in target if shapes.resolve(extent) != 1]
    if len(source) == len(wanted) and all(map(shapes.same, source, wanted)):
        return expand_at(squeeze_at(value, ones), new)
    template, sizes = shapes.split_extents(target)
    return reshape.bind(value, *sizes, consumed=value.ndim, shape=template)


def complete_shape(value: Value, shape: Any) -> shapes.Shape:
    """Return a shape that a user gave, with the length that -1 stands for."""
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    unknown = [axis for axis, size in enumerate(sizes) if not isinstance(size, Value) and size == -1]
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    known = [as_length(size) for axis, size in enumerate(sizes) if axis not in unknown]
    if not unknown:
        return tuple(known)
    text = f"cannot reshape array of shape {shapes.shape_text(value.shape)} into shape {shapes.shape_text(sizes)}"
    require_product(known, text)
    shapes.require(shapes.compare("not_equal", shapes.product(known), 0), text)
    shape = (*known[: unknown[0]], quotient(value.shape, known), *known[unknown[0] :])
    require_count(value.shape, shape, text)
    return shape


def require_c_order(order: str | None) -> None:
    if order not in ("C", None):
        raise ValueError(f"order={order!r} is not supported: arrays have no memory order in a traced function; use 'C'")


def reshape_frontend(op: Op, a: Any, shape: Any, order: str = "C", *, copy: bool | None = None) -> Value:
    value = as_strong(a)
    if copy is False:
        require_no_copy(value, order, np.ndim(shape) and len(shape))
    if order == "F":  # elements in the order in which the first position changes fastest
        target = complete_shape(value, shape)
        return reversed_axes(reshape_value(reversed_axes(value), target[::-1]))
    require_c_order(order)
    return reshape_value(value, complete_shape(value, shape))


def require_no_copy(value: Value, order: str, ndim: int) -> None:
    """Raise where NumPy would copy, for an array whose memory is as the trace has it. The layout of an argument's
    memory is not known here."""
    is_other_order = order == "F" and value.ndim > 1 and ndim != value.ndim
    apart = isinstance(value, Node) and value.op.kind == "view" and value.op is not reshape and value.ndim > 1
    if is_other_order or apart:
        raise ValueError(
            "Unable to avoid creating a copy while reshaping: elements that follow each other may lie apart here; "
            "leave copy=False out"
        )


def reversed_axes(value: Value) -> Value:
    return permute(value, range(value.ndim)[::-1])


def reshaped(a: Any, *sizes: Any, consumed: int, shape: tuple[int | None, ...]) -> Any:
    return a.reshape((*a.shape[: a.ndim - consumed], *shapes.join_extents(shape, sizes)))


reshape = view(
    np.reshape,
    source_index=reshape_index,
    infer=reshape_type,
    frontend=reshape_frontend,
    evaluate=reshaped,
    vjp=lambda g, y, x, *sizes, consumed, shape: (reshape_value(g, x.shape), *[None] * len(sizes)),
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (3, 4)), (2, 6)),
        (draw(rng, dtype, (3, 4)), (-1, 2)),
        (draw(rng, dtype, (3, 4, 5)), (12, -1)),
        (draw(rng, dtype, (3, 4, 5)), (1, 60, 1)),
        (draw(rng, dtype, (6,)), (3, 2)),
    ],
    cost=3.0,
    may_copy=True,
    in_order=True,
)

copy = view(
    None,
    name="copy",
    source_index=lambda node, index: index,
    infer=lambda value: value.type.with_shape(value.shape),
    frontend=lambda op, a: op.bind(as_strong(a)),
    evaluate=lambda a: a.copy(),
    vjp=lambda g, y, x: (g,),
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),)],
    copies=True,
)
"""A new array where the elements are those of views: an array that NumPy copies may be assigned into."""


@decomposition(
    np.array,
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),), (draw(rng, dtype, (3,)), np.complex128)],
    view_of=lambda object, dtype=None, *, copy=True, **_: None if copy else registry["asarray"].view_of(object, dtype),
)
def array(object: Any, dtype: Any = None, *, copy: bool | None = True, ndmin: int = 0, **_: Any) -> Value:
    value = registry["asarray"](object, dtype)
    value = registry["copy"](value) if copy else value
    return expand_at(value, range(ndmin - value.ndim))


def one_array(*shape: int) -> Any:
    """Return samples of one array of a shape."""
    return lambda rng, dtype: [(draw(rng, dtype, shape),)]


@decomposition(np.swapaxes, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4, 5)), 0, -1)], view_of=True)
def swapaxes(a: Any, axis1: int, axis2: int) -> Value:
    value = as_strong(a)
    order = list(range(value.ndim))
    first, second = (shapes.normalise_axis(axis, value.ndim) for axis in (axis1, axis2))
    order[first], order[second] = order[second], order[first]
    return permute(value, order)


def move(value: Value, source: Sequence[int], destination: Sequence[int]) -> Value:
    """Return ``value`` with some dimensions (counted from the left) at other positions, the rest in their order."""
    order = [axis for axis in range(value.ndim) if axis not in source]
    for position, axis in sorted(zip(destination, source, strict=True)):
        order.insert(position, axis)
    return permute(value, order)


@decomposition(
    np.moveaxis,
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4, 5)), 0, -1), (draw(rng, dtype, (3, 4, 5)), (0, 1), (1, 2))],
    view_of=True,
)
def moveaxis(a: Any, source: Any, destination: Any) -> Value:
    value = as_strong(a)
    found = []
    for axes in (source, destination):
        axes = axes if isinstance(axes, (tuple, list, range)) else (axes,)
        found.append([shapes.normalise_axis(axis, value.ndim) + value.ndim for axis in axes])
        if len(set(found[-1])) != len(axes):
            raise ValueError("repeated axis in `source` or `destination` argument")
    if len(found[0]) != len(found[1]):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    return move(value, *found)


@decomposition(
    np.rollaxis,
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4, 5)), 2), (draw(rng, dtype, (3, 4)), 0, 2)],
    view_of=True,
)
def rollaxis(a: Any, axis: int, start: int = 0) -> Value:
    value = as_strong(a)
    axis = shapes.normalise_axis(axis, value.ndim) + value.ndim
    start = start + value.ndim if start < 0 else start
    if not 0 <= start <= value.ndim:
        raise np.exceptions.AxisError(start, value.ndim)
    return move(value, [axis], [start - 1 if axis < start else start])


@decomposition(np.matrix_transpose, samples=one_array(2, 3, 4), view_of=True, implements=(np.linalg.matrix_transpose,))
def matrix_transpose(x: Any) -> Value:
    value = as_strong(x)
    if value.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {value.ndim}")
    return swapaxes(value, -1, -2)


@decomposition(
    np.ravel,
    samples=one_array(3, 4),
    view_of=True,
    may_copy=True,
)
def ravel(a: Any, order: str = "C") -> Value:
    value = as_strong(a)
    if order == "F":
        value = reversed_axes(value)
    else:
        require_c_order(order)
    return reshape_value(value, (shapes.product(value.shape),))


def at_least(value: Value, ndim: int) -> Value:
    """Return ``value`` with dimensions of length 1 added as ``atleast_1d`` and its kin do: 3-d puts one last."""
    if ndim == 3 and value.ndim in (1, 2):
        return expand_at(value, (0, 2) if value.ndim == 1 else (2,))
    return expand_at(value, range(ndim - value.ndim))


def declare_at_least(reference: Any, ndim: int) -> Op:
    def atleast(*arys: Any) -> Any:
        results = tuple(at_least(as_strong(each), ndim) for each in arys)
        return results[0] if len(results) == 1 else results

    of_each = lambda *arys: arys[0] if len(arys) == 1 else arys  # noqa: E731
    return decomposition(reference, samples=one_array(3), view_of=of_each)(atleast)


atleast_1d = declare_at_least(np.atleast_1d, 1)
atleast_2d = declare_at_least(np.atleast_2d, 2)
atleast_3d = declare_at_least(np.atleast_3d, 3)


def declare_arranged(reference: Any) -> Op:
    """Declare a function that gives an array, of at least one dimension, in an order of memory, which is up to the
    compiler here."""

    def arranged(a: Any, dtype: Any = None, *, like: Any = None) -> Value:
        return at_least(registry["asarray"](a, dtype, like=like), 1)

    return decomposition(reference, samples=one_array(3, 4), view_of=of_dtype, may_copy=True)(arranged)


ascontiguousarray = declare_arranged(np.ascontiguousarray)
asfortranarray = declare_arranged(np.asfortranarray)


@decomposition(
    np.broadcast_arrays,
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 1)), draw(rng, dtype, (4,)))],
    view_of=lambda *args, **_: args,
)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Value, ...]:
    values = [as_strong(each) for each in args]
    shape = shapes.broadcast_shapes([value.shape for value in values], "broadcast_arrays") if values else ()
    return tuple(broadcast_value(value, shape) if shape else registry["asarray"](value) for value in values)
