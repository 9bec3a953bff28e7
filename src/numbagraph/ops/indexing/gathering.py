"""Reading and writing at run-time positions: ``a[i, j]``, its gradient, and assignment to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import align_batches, give_batch
from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.lengths import MOST, as_extent, both, is_known_at_entry
from numbagraph.blockwise.lowering import Index, Pull
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.reducers import Reducer, negative_zero
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import BOOL, INT64, UINT64, canonical_dtype
from numbagraph.ir.values import ArrayType, Constant, Extent, Node, Op, Value, constant
from numbagraph.ops.creation import along, filled, iota, number_as, zeros_as
from numbagraph.ops.indexing.slicing import pick_value
from numbagraph.ops.shape import broadcast_value, move, ravel, reshape_value

Template = tuple[int | None, ...]


def zero(dtype: np.dtype) -> Any:
    return dtype.type(0)


ADD = Reducer("add", scalar.add, 0)
INCREMENT = Reducer("increment", scalar.add, negative_zero)
"""An addition that starts from -0.0: an increment to which nothing has been added then changes no number, be that 0.0
or -0.0."""


def require_elements(extent: Extent, positions: Sequence[Extent], axis: int) -> None:
    """Require at entry that an empty dimension is read at no position: it has no element that could stand in until the
    check after the loop."""
    none = shapes.compare("equal", shapes.product(positions), 0)
    some = shapes.compare("not_equal", extent, 0)
    subject = f"an index is out of bounds for axis {axis} with size 0"
    shapes.require(both(some, none, "logical_or"), subject, IndexError)


def positions_shape(
    positions: Sequence[Value], extents: Sequence[Extent], axis: int, checked: Sequence[bool]
) -> shapes.Shape:
    """Return the common shape of the positions, and require that no position is in an empty dimension."""
    shape = shapes.broadcast_shapes([each.shape for each in positions], "indexing arrays", IndexError)
    for number, (extent, check) in enumerate(zip(extents, checked, strict=True)):
        if check:
            require_elements(extent, shape, axis + number)
    return shape


def bounds(node: Node, first: int, shape: shapes.Shape) -> list[tuple[int, Extent]]:
    """Return the positions to be checked, the first of which is input ``first``, and their lengths, for an array of
    ``shape``."""
    axis = node.attrs["axis"] + len(shape)
    return [(first + number, shape[axis + number]) for number, check in enumerate(node.attrs["checked"]) if check]


def gather_type(source: Value, *positions: Value, axis: int, checked: tuple[bool, ...]) -> ArrayType:
    first = axis + source.ndim
    end = first + len(positions)
    chosen = positions_shape(positions, source.shape[first:end], first, checked)
    return source.type.with_shape((*source.shape[:first], *chosen, *source.shape[end:]))


def numpy_key(positions: Sequence[Any], axis: int) -> tuple[Any, ...]:
    """Return positions of the axes from ``axis`` on as a key for NumPy, which puts their dimensions where the axes
    were."""
    return (..., *positions, *[slice(None)] * (-axis - len(positions)))


def gather_vjp(
    g: Value, y: Value, x: Value, *positions: Value, axis: int, checked: tuple[bool, ...]
) -> tuple[Value | None, ...]:
    return (scatter(g, positions, x.shape, axis, checked), *[None] * len(positions))


def gather_batch(
    op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, axis: int, checked: tuple[bool, ...]
) -> Value:
    """Batch a gather. Where both array and positions differ along the batch, the number of the element is one more
    position."""
    source, *positions = inputs
    if not any(batched[1:]):
        return op.bind(*inputs, axis=axis, checked=checked)
    positions = align_batches(positions, batched[1:])
    first = axis + source.ndim
    if not batched[0]:
        return move(op.bind(source, *positions, axis=axis, checked=checked), [first], [0])
    number = batch_numbers(source.shape[0], positions)
    source = move(source, [0], [first - 1])
    return move(op.bind(source, number, *positions, axis=axis - 1, checked=(False, *checked)), [first - 1], [0])


def batch_numbers(size: Extent, positions: Sequence[Value]) -> Value:
    """Return the number of each element of a batch, to be broadcast against batched positions."""
    return along(iota(size), 0, max(each.ndim for each in positions))


def gather_value(value: Value, positions: Sequence[Value], axis: int, *, checked: bool = True) -> Value:
    """Return elements at run-time positions of the axes from ``axis`` (counted from the right) on."""
    return gather.bind(value, *positions, axis=axis, checked=(checked,) * len(positions))


def position_samples(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.integers(-4, 4, (6,)), rng.integers(-4, 4, (2, 3)).astype(np.int32)]


gather = registry.register(
    Op(
        name="gather",
        kind="indexing",
        reference=lambda a, *positions, axis, checked: a[numpy_key(positions, axis)],
        infer=gather_type,
        frontend=lambda op, a, indices, axis=0: take(a, indices, axis),
        lower=lowering.Gather(),
        vjp=gather_vjp,
        batch=gather_batch,
        bounds=lambda node: bounds(node, 1, node.inputs[0].shape),
        jnp=lambda a, *positions, axis, checked: load("jax.numpy:asarray")(a)[numpy_key(positions, axis)],
        samples=lambda rng, dtype: [
            (draw(rng, dtype, (4,)), position_samples(rng)[0]),
            (draw(rng, dtype, (3, 4, 2)), position_samples(rng)[1], 1),
        ],
        zero_dim="array",
        cost=2.0,
    )
)
"""``a[..., i, j, ...]``, with one array of positions for each of some neighbouring axes."""


def scatter_type(
    updates: Value, *rest: Value, axis: int, count: int, shape: Template, checked: tuple[bool, ...]
) -> ArrayType:
    positions, sizes = rest[:count], rest[count:]
    target = shapes.join_extents(shape, sizes)
    batch = updates.shape[: updates.ndim - (len(target) - count + max(each.ndim for each in positions))]
    first = axis + len(target)
    positions_shape(positions, target[first : first + count], first, checked)
    return updates.type.with_shape((*batch, *target))


def scatter_array(
    updates: Any, *rest: Any, axis: int, count: int, shape: Template, checked: tuple[bool, ...], start: Any = zero
) -> Any:
    positions = np.broadcast_arrays(*rest[:count])
    target = shapes.join_extents(shape, rest[count:])
    batch = np.shape(updates)[: np.ndim(updates) - (len(target) - count + positions[0].ndim)]
    dtype = np.asarray(updates).dtype
    result = np.full((*batch, *target), start(dtype), dtype)
    np.add.at(result, numpy_key(positions, axis), updates)
    return result


def scatter_jnp(
    updates: Any, *rest: Any, axis: int, count: int, shape: Template, checked: tuple[bool, ...], start: Any = zero
) -> Any:
    jnp_full, target = load("jax.numpy:full"), shapes.join_extents(shape, rest[count:])
    updates = updates.astype(np.int8) if updates.dtype == bool else updates  # JAX adds numbers only
    rank = max(np.ndim(each) for each in rest[:count])
    batch = updates.shape[: updates.ndim - (len(target) - count + rank)]
    begun = jnp_full((*batch, *target), start(np.dtype(updates.dtype)), updates.dtype)
    return begun.at[numpy_key(rest[:count], axis)].add(updates)


def scatter_vjp(
    g: Value, y: Value, updates: Value, *rest: Value, axis: int, count: int, shape: Template, checked: tuple[bool, ...]
) -> tuple[Value | None, ...]:
    return (gather.bind(g, *rest[:count], axis=axis, checked=checked), *[None] * len(rest))


def scatter_batch(
    op: Op,
    inputs: Sequence[Value],
    batched: Sequence[bool],
    *,
    axis: int,
    count: int,
    shape: Template,
    checked: tuple[bool, ...],
) -> Value:
    updates, sizes = inputs[0], inputs[1 + count :]
    if any(batched[1 + count :]):
        raise NotImplementedError("a scatter into arrays whose lengths differ along a batch")
    if not any(batched[1 : 1 + count]):
        return op.bind(*inputs, axis=axis, count=count, shape=shape, checked=checked)
    positions = align_batches(inputs[1 : 1 + count], batched[1 : 1 + count])
    (updates, *_) = give_batch(inputs[: 1 + count], batched[: 1 + count])
    target = shapes.join_extents(shape, sizes)
    first, size = axis + len(target), updates.shape[0]
    rank = max(value.ndim - flag for value, flag in zip(inputs[1 : 1 + count], batched[1 : 1 + count], strict=True))
    others = updates.ndim - 1 - (len(target) - count + rank)  # batches of the updates alone, around this one
    updates = move(updates, [0], [others + first])
    target = (*target[:first], size, *target[first:])
    positions = [batch_numbers(size, positions), *positions]
    return move(scattered_by(op, updates, positions, target, axis - 1, (False, *checked)), [others + first], [0])


def scattered_by(
    op: Op,
    updates: Value,
    positions: Sequence[Value],
    shape: Sequence[Extent],
    axis: int,
    checked: tuple[bool, ...],
) -> Value:
    template, sizes = shapes.split_extents(shape)
    return op.bind(updates, *positions, *sizes, axis=axis, count=len(positions), shape=template, checked=checked)


def scatter(
    updates: Value, positions: Sequence[Value], shape: Sequence[Extent], axis: int, checked: tuple[bool, ...]
) -> Value:
    """Return zeros of a shape, with ``updates`` added at run-time positions of the axes from ``axis`` on."""
    return scattered_by(scatter_add, updates, positions, shape, axis, checked)


def scatter_frontend(op: Op, updates: Any, indices: Any, shape: Any, axis: int = 0) -> Value:
    """Bind a scatter along one axis of an array of ``shape``."""
    axis, positions = shapes.normalise_axis(axis, len(shape)), as_positions(indices)
    first = axis + len(shape)
    expected = (*shape[:first], *positions.shape, *shape[first + 1 :])
    return scattered_by(op, broadcast_value(as_value(updates), expected), [positions], shape, axis, (True,))


def scatter_op(name: str, reducer: Reducer, start: Callable[[np.dtype], Any]) -> Op:
    """Declare an op that adds up the updates at each position, starting from a number that remains where there is
    none."""
    return registry.register(
        Op(
            name=name,
            kind="indexing",
            reference=partial(scatter_array, start=start),
            infer=scatter_type,
            frontend=scatter_frontend,
            lower=lowering.ScatterInto(reducer),
            vjp=scatter_vjp,
            batch=scatter_batch,
            bounds=lambda node: bounds(node, 1, node.shape),
            jnp=partial(scatter_jnp, start=start),
            samples=lambda rng, dtype: [
                (draw(rng, dtype, (6,)), position_samples(rng)[0], (4,)),
                (draw(rng, dtype, (3, 2, 3, 2)), position_samples(rng)[1], (3, 4, 2), 1),
            ],
            zero_dim="array",
            cost=2.0,
        )
    )


scatter_add = scatter_op("scatter_add", ADD, zero)
"""The reverse of `gather`."""
scatter_increments = scatter_op("scatter_increments", INCREMENT, negative_zero)
"""The reverse of `gather`, to be added to an array: where there is no update, numbers stay as they are."""


def put_at_type(base: Value, updates: Value, *positions: Value, axis: int, checked: tuple[bool, ...]) -> ArrayType:
    first = axis + base.ndim
    positions_shape(positions, base.shape[first : first + len(positions)], first, checked)
    return base.type.with_shape(base.shape)


def put_at_pieces(node: Node) -> list[tuple[Value, lowering.IndexMap]]:
    base, updates, *positions = node.inputs
    axis, checked = node.attrs["axis"] + base.ndim, node.attrs["checked"]

    def index_map(index: Index, pull: Pull) -> Index:
        return lowering.scattered_index(positions, node, axis, checked, updates, index, pull)

    return [(base, lambda index, pull: index), (updates, index_map)]


def put_at_array(base: Any, updates: Any, *positions: Any, axis: int, checked: tuple[bool, ...]) -> Any:
    key = numpy_key(positions, axis)
    np.asarray(base)[key]  # a position that does not exist is an error before a large array has been copied
    result = np.array(base)
    result[key] = updates
    return result


def put_at_vjp(
    g: Value, y: Value, base: Value, updates: Value, *positions: Value, axis: int, checked: tuple[bool, ...]
) -> tuple[Value | None, ...]:
    """Return the cotangents of an array and of the updates in it; of updates at one position only the last one
    counts."""
    kept = put_at.bind(g, zeros_as(updates, g.dtype), *positions, axis=axis, checked=checked)
    if all_different(positions):
        return (kept, gather.bind(g, *positions, axis=axis, checked=checked), *[None] * len(positions))
    numbers = reshape_value(iota(shapes.product(updates.shape)), updates.shape)
    blank = filled(number_as(0, INT64), base.shape)
    winners = put_at.bind(blank, numbers, *positions, axis=axis, checked=checked)
    counts = registry["equal"](gather.bind(winners, *positions, axis=axis, checked=checked), numbers)
    taken = registry["where"](counts, gather.bind(g, *positions, axis=axis, checked=checked), 0.0)
    return (kept, taken, *[None] * len(positions))


def all_different(positions: Sequence[Value]) -> bool:
    """Whether all positions are known to differ: each of their dimensions is that of a slice."""
    rank = max(each.ndim for each in positions)
    covered: set[int] = set()
    for each in positions:
        value, axes = each, range(each.ndim)
        if isinstance(value, Node) and value.op.name == "expand_dims":
            axes = [axis for axis in axes if axis - value.ndim not in value.attrs["axes"]]
            (value,) = value.inputs
        if isinstance(value, Node) and value.op.name == "slice":
            value = value.inputs[0]
        if isinstance(value, Node) and value.op is iota:
            covered.update(axis + rank - each.ndim for axis in axes)
    return len(covered) == rank


def put_at_batch(
    op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, axis: int, checked: tuple[bool, ...]
) -> Value:
    base, updates, *_ = give_batch(inputs, batched)
    if not any(batched[2:]):
        return op.bind(base, updates, *inputs[2:], axis=axis, checked=checked)
    positions = align_batches(inputs[2:], batched[2:])
    first = axis + base.ndim
    base, updates = move(base, [0], [first - 1]), move(updates, [0], [first - 1])
    positions = [batch_numbers(base.shape[first - 1], positions), *positions]
    return move(op.bind(base, updates, *positions, axis=axis - 1, checked=(False, *checked)), [first - 1], [0])


def put_at_frontend(op: Op, a: Any, indices: Any, updates: Any, axis: int = 0) -> Value:
    """Bind an assignment at positions along one axis."""
    value, positions = as_value(a), as_positions(indices)
    axis = shapes.normalise_axis(axis, value.ndim)
    first = axis + value.ndim
    shape = (*value.shape[:first], *positions.shape, *value.shape[first + 1 :])
    updates = broadcast_value(convert(as_value(updates), value.dtype), shape)
    return op.bind(value, updates, positions, axis=axis, checked=(True,))


put_at = registry.register(
    Op(
        name="put_at",
        kind="indexing",
        reference=put_at_array,
        infer=put_at_type,
        frontend=put_at_frontend,
        lower=lowering.Assemble(put_at_pieces),
        vjp=put_at_vjp,
        batch=put_at_batch,
        bounds=lambda node: bounds(node, 2, node.shape),
        jnp=lambda base, updates, *positions, axis, checked: (
            load("jax.numpy:asarray")(base).at[numpy_key(positions, axis)].set(updates)
        ),
        samples=lambda rng, dtype: [
            (draw(rng, dtype, (4,)), position_samples(rng)[0], draw(rng, dtype, (6,))),
            (draw(rng, dtype, (3, 4, 2)), position_samples(rng)[1], draw(rng, dtype, (3, 2, 3, 2)), 1),
        ],
        zero_dim="array",
    )
)
"""A copy of the first operand in which elements at run-time positions are replaced; of several, the last one stays."""


def as_positions(indices: Any) -> Value:
    """Return an array of positions; raise unless they are integers, as NumPy does."""
    if isinstance(indices, (list, tuple)):
        indices = list_of_positions(indices)
    elif isinstance(indices, (np.ndarray, np.generic)) and not indices.ndim:
        indices = as_value(indices)
    value = as_value(indices)
    if value.dtype.kind == "b":
        raise NotImplementedError(
            "a boolean index is not supported: the length of its result depends on its elements. Use "
            "np.where(mask, x, y), or where= of a reduction"
        )
    if value.dtype.kind not in "iu":
        raise IndexError(
            f"arrays used as indices must be of integer (or boolean) type, not {value.dtype}: x[i.astype(int)] takes "
            "them"
        )
    if value.dtype == UINT64 and not value.ndim:  # a number beyond int64 is out of bounds; NumPy's arrays wrap around
        return shapes.as_value(as_extent(value, "an index"))
    return value


def list_of_positions(indices: Sequence[Any]) -> Value:
    """Return a list in the user's code as an array of positions: numbers are part of the code, whatever their count."""
    if any(isinstance(each, Value) for each in indices):
        return registry["stack"]([as_value(each) for each in indices])
    data = np.asarray(indices)
    if not data.size:
        data = data.astype(np.int64)
    return constant(data, dtype=canonical_dtype(data.dtype))


class OutOfBounds(Struct):
    """A function that makes the error of a position that is out of bounds."""

    axis: int

    def __call__(self, position: Any, length: Any) -> IndexError:
        return IndexError(f"index {position} is out of bounds for axis {self.axis} with size {length}")


def pick_at(value: Value, axis: int, position: Any) -> Value:
    """Return one position of an axis (counted from the right), static or not, with NumPy's reading of negative ones."""
    extent = shapes.resolve(value.shape[axis])
    number = shapes.resolve(position) if isinstance(position, Constant) else position
    subject = f"index {number} is out of bounds for axis {axis + value.ndim} with size {extent}"
    if not isinstance(number, Value):
        return pick_value(value, axis, static_position(int(number), extent, axis + value.ndim))
    if is_known_at_entry(number):
        here, length = shapes.as_value(as_extent(number, "an index")), shapes.as_value(extent)
        shapes.require_of(
            both(here >= -length, here < length), subject, IndexError, OutOfBounds(axis + value.ndim), (here, length)
        )
    return pick_value(value, axis, number, checked=True)


def static_position(number: int, extent: Extent, axis: int) -> Extent:
    """Return a static position along an axis as one that counts from the start, and require that it is inside. The axis
    counts from the left."""
    subject = f"index {number} is out of bounds for axis {axis} with size {extent}"
    if abs(number) > MOST:
        raise IndexError(subject)
    inside = (
        shapes.compare("greater", extent, number) if number >= 0 else shapes.compare("greater_equal", extent, -number)
    )
    operands = (constant(number, dtype=INT64), shapes.as_value(extent))
    shapes.require_of(inside, subject, IndexError, OutOfBounds(axis), operands)
    return number if number >= 0 else shapes.subtract(extent, -number)


def as_integer(indices: Any) -> Any:
    """Return positions as integers; booleans count as 0 and 1, as in `numpy.take`."""
    is_bool = getattr(indices, "dtype", type(indices)) in (BOOL, bool)
    return convert(as_value(indices), INT64) if is_bool else indices


@decomposition(
    np.take,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (4,)), position_samples(rng)[0]),
        (draw(rng, dtype, (3, 4)), position_samples(rng)[1], 1),
        (draw(rng, dtype, (4, 3)), position_samples(rng)[1], 0),
        (draw(rng, dtype, (2, 3)), np.array([5, -6, 0])),
        (draw(rng, dtype, (4, 3)), 1, 0),
        (draw(rng, dtype, (4, 3)), np.array([7, -9, 2]), 0, None, "clip"),
        (draw(rng, dtype, (4, 3)), np.array([7, -9, 2]), 0, None, "wrap"),
        *((draw(rng, dtype, (4,)), 7, None, None, mode) for mode in ("clip", "wrap")),
        *((draw(rng, dtype, (4, 3)), -9, 1, None, mode) for mode in ("clip", "wrap")),
    ],
)
def take(a: Any, indices: Any, axis: Any = None, out: None = None, mode: str = "raise") -> Value:
    if out is not None:
        raise TypeError("take: out= is not supported in a traced function by position: give it by name")
    value = ravel(a) if axis is None else as_value(a)
    axis = shapes.normalise_axis(0 if axis is None else axis, value.ndim)
    positions = as_positions(as_integer(indices))
    extent = value.shape[axis]
    if mode == "raise":
        return gather_value(value, [positions], axis) if positions.ndim else pick_at(value, axis, positions)
    length = shapes.as_value(extent)
    require_elements(extent, positions.shape, axis + value.ndim)
    positions = convert(positions, INT64)
    if mode == "clip":
        positions = registry["minimum"](registry["maximum"](positions, 0), length - 1)
    elif mode == "wrap":
        positions = registry["remainder"](positions, length)
    else:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if not positions.ndim:
        return pick_value(value, axis, positions)
    return gather_value(value, [positions], axis, checked=False)
