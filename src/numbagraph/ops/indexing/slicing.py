"""Basic indexing: slices, single positions, and assignment to slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import give_batch
from numbagraph.blockwise.kinds import batch_unary, decomposition, draw, view, without_axes
from numbagraph.blockwise.lengths import Cut, cut
from numbagraph.blockwise.lowering import Index, extent_scalar
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.intrinsics.emitters import integers
from numbagraph.intrinsics.emitters.ir import Scalar, index_operation
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Extent, Node, Op, Value
from numbagraph.ops.creation import iota, is_zeros, zeros_as
from numbagraph.ops.shape import expand_at, expand_dims

Template = tuple[int | None, ...]


def placed(index: Index, cuts: Mapping[int, Cut]) -> Index:
    """Return the index in the array of an element of a slice."""
    result: list[Scalar] = list(index)
    for axis, each in cuts.items():
        away = lowering.multiply(result[axis], lowering.literal(each.step))
        result[axis] = lowering.add(extent_scalar(each.start), away)
    return tuple(result)


def slice_cuts(
    symbolic: Sequence[Any], *, axes: tuple[int, ...], starts: Template, steps: tuple[int, ...], lengths: Template
) -> dict[int, Cut]:
    """Return the slice of each axis, from the static templates and the inputs that stand for symbolic numbers."""
    joined = shapes.join_extents((*starts, *lengths), symbolic)
    return dict(zip(axes, map(Cut, joined[: len(axes)], steps, joined[len(axes) :]), strict=True))


def slice_type(value: Value, *symbolic: Value, **attrs: Any) -> ArrayType:
    shape = list(value.shape)
    for axis, each in slice_cuts(symbolic, **attrs).items():
        shape[axis] = each.length
    return value.type.with_shape(tuple(shape))


def slice_index(node: Node, index: Index) -> Index:
    return placed(index, slice_cuts(node.inputs[1:], **node.attrs))


def numpy_key(ndim: int, cuts: Mapping[int, Cut]) -> tuple[slice, ...]:
    """Return the cuts of an array of rank ``ndim`` as a key for NumPy."""
    key = [slice(None)] * ndim
    for axis, each in cuts.items():
        stop = each.start + each.step * each.length
        key[axis] = slice(each.start, stop if stop >= 0 else None, each.step) if each.length else slice(0, 0)
    return tuple(key)


def slice_vjp(g: Value, y: Value, x: Value, *symbolic: Value, **attrs: Any) -> tuple[Value | None, ...]:
    return (put_slice(zeros_as(x, g.dtype), g, slice_cuts(symbolic, **attrs)), *[None] * len(symbolic))


def take_slice(value: Value, cuts: Mapping[int, Cut]) -> Value:
    """Return the part that ``cuts`` select along each axis (counted from the right); axes that are not named are taken
    whole."""
    cuts = {axis: each for axis, each in sorted(cuts.items()) if not each.whole(value.shape[axis])}
    value, found = seen_through(value, cuts)
    if not cuts or found:
        return value
    starts, first = shapes.split_extents([each.start for each in cuts.values()])
    lengths, second = shapes.split_extents([each.length for each in cuts.values()])
    steps = tuple(each.step for each in cuts.values())
    return slices.bind(value, *first, *second, axes=tuple(cuts), starts=starts, steps=steps, lengths=lengths)


def narrow(value: Value, axis: int, start: Extent, length: Extent) -> Value:
    """Return ``length`` elements from ``start`` on along one axis (counted from the right)."""
    return take_slice(value, {axis: Cut(start, 1, length)})


def slice_frontend(op: Op, a: Any, key: tuple[slice, ...]) -> Value:
    value = as_value(a)
    return take_slice(value, {axis - value.ndim: cut(each, value.shape[axis]) for axis, each in enumerate(key)})


slices = view(
    None,
    name="slice",
    source_index=slice_index,
    infer=slice_type,
    frontend=slice_frontend,
    evaluate=lambda a, *symbolic, **attrs: a[numpy_key(a.ndim, slice_cuts(symbolic, **attrs))],
    vjp=slice_vjp,
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (6,)), (slice(1, None),)),
        (draw(rng, dtype, (6,)), (slice(None, -2),)),
        (draw(rng, dtype, (6,)), (slice(None, None, -1),)),
        (draw(rng, dtype, (6, 5)), (slice(1, 5, 2), slice(-2, None, -2))),
        (draw(rng, dtype, (6, 5)), (slice(3, 3), slice(2, 4))),
    ],
)
"""``a[key]`` where the key is of slices alone."""


Site = tuple[tuple[int, ...], Template, tuple[int, ...]]
"""The place of a piece: axes, the start on each (None where it is an input) and the steps."""


MOST_PIECES = 32
"""The greatest number of pieces in one assembly; further assignments make another assembly of it. To look at all pieces
before each assignment would take quadratic time."""


def pieces_and_cuts(inputs: Sequence[Any], places: Sequence[Site]) -> list[tuple[Any, dict[int, Cut]]]:
    """Return the pieces among the inputs behind the first, each with the slice that it replaces."""
    updates, symbolic = inputs[: len(places)], iter(inputs[len(places) :])
    result = []
    for update, (axes, starts, steps) in zip(updates, places, strict=True):
        begin = [next(symbolic) if start is None else start for start in starts]
        lengths = [np.shape(update)[axis] for axis in axes]
        result.append((update, dict(zip(axes, map(Cut, begin, steps, lengths), strict=True))))
    return result


def assembled(base: Value, pieces: Sequence[tuple[Value, Mapping[int, Cut]]]) -> Value:
    """Return ``base`` with slices replaced by pieces, one after the other."""
    if not pieces:
        return base
    places, symbolic = [], []
    for _, cuts in pieces:
        starts, inputs = shapes.split_extents([each.start for each in cuts.values()])
        places.append((tuple(cuts), starts, tuple(each.step for each in cuts.values())))
        symbolic.extend(inputs)
    return set_slice.bind(base, *(update for update, _ in pieces), *symbolic, places=tuple(places))


def put_slice(base: Value, update: Value, cuts: Mapping[int, Cut]) -> Value:
    """Return ``base`` with the slice that ``cuts`` describe replaced by ``update``, of the slice's shape.

    Assignments that follow each other are one operation: the array is copied once.
    """
    cuts = {axis: Cut(each.start, each.step, update.shape[axis]) for axis, each in sorted(cuts.items())}
    cuts = {axis: each for axis, each in cuts.items() if not each.whole(base.shape[axis])}
    pieces = []
    if isinstance(base, Node) and base.op is set_slice:
        below, pieces = taken_apart(base)
        if len(pieces) < MOST_PIECES or same_slice(cuts, pieces[-1][1], update.shape):
            base = below
        else:
            pieces = []
    if pieces and same_slice(cuts, pieces[-1][1], update.shape):
        pieces.pop()
    return assembled(base, [*pieces, (update, cuts)])


def taken_apart(node: Node) -> tuple[Value, list[tuple[Value, dict[int, Cut]]]]:
    return node.inputs[0], pieces_and_cuts(node.inputs[1:], node.attrs["places"])


def same_slice(left: Mapping[int, Cut], right: Mapping[int, Cut], shape: Sequence[Extent]) -> bool:
    """Whether two slices are the same, the left one of this shape."""
    return left.keys() == right.keys() and all(
        here.step == there.step and shapes.same(here.start, there.start) and shapes.same(shape[axis], there.length)
        for (axis, here), there in zip(left.items(), right.values(), strict=True)
    )


def apart(left: Cut, right: Cut) -> bool:
    """Whether two slices of one dimension are known to have nothing in common."""
    ends = []
    for each in (left, right):
        start, length = shapes.resolve(each.start), shapes.resolve(each.length)
        if not isinstance(start, int) or not isinstance(length, int):
            return False
        last = start + each.step * (length - 1)
        ends.append((min(start, last), max(start, last)))
    return ends[0][1] < ends[1][0] or ends[1][1] < ends[0][0]


def seen_through(value: Value, cuts: Mapping[int, Cut]) -> tuple[Value, bool]:
    """Return the array from which a slice of assembled pieces is to be read: the piece itself, with True, or the array
    below those pieces that the slice has nothing in common with, with False."""
    if not (isinstance(value, Node) and value.op is set_slice):
        return value, False
    base, pieces = taken_apart(value)
    axes = range(-value.ndim, 0)
    wanted = [cuts[axis].length if axis in cuts else value.shape[axis] for axis in axes]
    for count in range(len(pieces), 0, -1):
        update, own = pieces[count - 1]
        if same_slice(cuts, own, wanted):
            return update, True
        if not any(axis in own and apart(each, own[axis]) for axis, each in cuts.items()):
            return assembled(base, pieces[:count]), False
    return base, False


def put_type(base: Value, *inputs: Value, places: tuple[Site, ...]) -> ArrayType:
    return base.type.with_shape(base.shape)


def put_pieces(node: Node) -> list[tuple[Value, lowering.IndexMap]]:
    base, pieces = taken_apart(node)

    def index_map(cuts: Mapping[int, Cut]) -> lowering.IndexMap:
        return lambda index, pull: placed(index, cuts)

    return [(base, lambda index, pull: index), *((update, index_map(cuts)) for update, cuts in pieces)]


def put_array(base: Any, *inputs: Any, places: tuple[Site, ...]) -> Any:
    result = np.array(base)
    for update, cuts in pieces_and_cuts(inputs, places):
        result[numpy_key(result.ndim, cuts)] = update
    return result


def put_jnp(base: Any, *inputs: Any, places: tuple[Site, ...]) -> Any:
    result = load("jax.numpy:asarray")(base)
    for update, cuts in pieces_and_cuts(inputs, places):
        result = result.at[numpy_key(result.ndim, cuts)].set(update)
    return result


def put_vjp(g: Value, y: Value, *inputs: Value, places: tuple[Site, ...]) -> tuple[Value | None, ...]:
    """Return the cotangents of an array and of the pieces in it, the last piece first: the cotangent of what a later
    piece overwrote is zero."""
    cotangents: list[Value | None] = []
    for update, cuts in reversed(pieces_and_cuts(inputs[1:], places)):
        cotangents.append(take_slice(g, cuts))
        g = put_slice(g, zeros_as(update, g.dtype), cuts)
    return (g, *reversed(cotangents), *[None] * (len(inputs) - 1 - len(places)))


def lies_in_zeros(value: Value) -> TypeGuard[Node]:
    """Whether an array is one slice, and zeros elsewhere."""
    if not isinstance(value, Node) or value.op is not set_slice:
        return False
    return len(value.attrs["places"]) == 1 and is_zeros(value.inputs[0])


def put_plus(node: Node, other: Value) -> Value | None:
    """Add a slice in zeros to another cotangent: elements are added to that slice alone. None if the node is no slice
    in zeros."""
    if not lies_in_zeros(node):
        return None
    ((update, cuts),) = taken_apart(node)[1]
    return put_slice(other, registry["add"].bind(take_slice(other, cuts), update), cuts)


def put_batch(op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, places: tuple[Site, ...]) -> Value:
    count = 1 + len(places)
    if any(batched[count:]):
        raise NotImplementedError("slices that begin at other positions in each element of a batch")
    return op.bind(*give_batch(inputs[:count], batched[:count]), *inputs[count:], places=places)


def put_frontend(op: Op, a: Any, key: tuple[slice, ...], update: Any) -> Value:
    value = as_value(a)
    cuts = {axis - value.ndim: cut(each, value.shape[axis]) for axis, each in enumerate(key)}
    update = registry["broadcast_to"](convert(as_value(update), value.dtype), take_slice(value, cuts).shape)
    return put_slice(value, update, cuts)


set_slice = registry.register(
    Op(
        name="set_slice",
        kind="indexing",
        reference=put_array,
        infer=put_type,
        frontend=put_frontend,
        lower=lowering.Assemble(put_pieces),
        vjp=put_vjp,
        plus=put_plus,
        batch=put_batch,
        jnp=put_jnp,
        samples=lambda rng, dtype: [
            (draw(rng, dtype, (6,)), (slice(1, 4),), draw(rng, dtype, (3,))),
            (draw(rng, dtype, (6, 5)), (slice(None, None, -2), slice(1, None)), draw(rng, dtype, (3, 4))),
        ],
        zero_dim="array",
    )
)
"""A copy of the first operand in which slices are replaced by the following ones, one after the other."""


def pick_type(value: Value, position: Value, *, axis: int, checked: bool) -> ArrayType:
    return value.type.with_shape(without_axes(value.shape, (axis,)))


def pick_index(node: Node, index: Index) -> Index:
    value, position = node.inputs
    axis = node.attrs["axis"] + value.ndim
    extent = value.shape[axis]
    here = lowering.checked_index(extent_scalar(position), extent, node.attrs["checked"])
    return (*index[:axis], here, *index[axis:])


def pick_vjp(
    g: Value, y: Value, x: Value, position: Value, *, axis: int, checked: bool
) -> tuple[Value | None, Value | None]:
    """Return the cotangent of an array that is read at one position. It is zero elsewhere: an elementwise expression,
    which fuses with the sum that it is added to."""
    extent = x.shape[axis]
    position = convert(position, INT64)
    position = registry["where"](position < 0, position + shapes.as_value(extent), position)
    here = registry["equal"](iota(extent), position)
    here = expand_at(here, range(1, -axis))
    return registry["where"](here, expand_dims.bind(g, axes=(axis,)), 0.0), None


def pick_batch(op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, axis: int, checked: bool) -> Value:
    if not batched[1]:
        return batch_unary(op, inputs, batched, axis=axis, checked=checked)
    gather = registry["gather"]
    return gather.batch(gather, inputs, batched, axis=axis, checked=(True,))


def pick_value(value: Value, axis: int, position: Extent, *, checked: bool = False) -> Value:
    """Return the elements at one position of an axis (counted from the right)."""
    return pick.bind(value, shapes.as_value(position), axis=axis, checked=checked)


def picked(a: np.ndarray, position: Any, *, axis: int, checked: bool) -> Any:
    """Evaluate `pick` with NumPy. Without ``checked``, a position out of bounds is clipped, and checked where the
    element is used: a loop that takes no step may have the element read before."""
    if checked:
        return np.take(a, position, axis=axis)
    if not a.shape[axis]:
        return np.zeros((*a.shape[:axis], *a.shape[a.ndim + axis + 1 :]), a.dtype)[()]
    return np.take(a, position, axis=axis, mode="clip")


pick = view(
    None,
    name="pick",
    source_index=pick_index,
    infer=pick_type,
    frontend=lambda op, a, position, axis=0: registry["take"](a, position, axis),
    zero_dim="scalar",
    evaluate=picked,
    jnp=lambda a, position, *, axis, checked: load("jax.numpy:take")(a, position, axis=axis),
    vjp=pick_vjp,
    batch=pick_batch,
    bounds=lambda node: [(1, node.inputs[0].shape[node.attrs["axis"]])] if node.attrs["checked"] else [],
    samples=lambda rng, dtype: [
        (draw(rng, dtype, (6,)), 2),
        (draw(rng, dtype, (4, 5)), -1, 1),
        (draw(rng, dtype, (4, 5)), np.int64(-3), 0),
    ],
)
"""``a[..., position, ...]``: one position of an axis."""


def roll_index(node: Node, index: Index) -> Index:
    value, shift = node.inputs
    axis, extent = node.attrs["axis"], extent_scalar(value.shape[node.attrs["axis"]])
    moved = lowering.subtract(index[axis], extent_scalar(shift))
    result = list(index)
    result[axis] = index_operation("wrap", integers.wrap, moved, extent)
    return tuple(result)


def roll_value(value: Value, shift: Extent, axis: int) -> Value:
    """Return ``value`` moved along an axis (counted from the right); what leaves one end enters at the other."""
    shift, extent = shapes.resolve(shift), shapes.resolve(value.shape[axis])
    if isinstance(shift, int) and isinstance(extent, int):
        within: Extent = shift % extent if extent else 0
    else:
        within = registry["remainder"].bind(shapes.as_value(shift), shapes.as_value(extent))
    return rolled.bind(value, shapes.as_value(within), axis=axis)


rolled = view(
    None,
    name="rolled",
    source_index=roll_index,
    infer=lambda value, shift, *, axis: value.type.with_shape(value.shape),
    frontend=lambda op, a, shift, axis=-1: roll_value(as_value(a), shift, shapes.normalise_axis(axis, np.ndim(a))),
    evaluate=lambda a, shift, *, axis: np.roll(a, shift, axis),
    jnp=lambda a, shift, *, axis: load("jax.numpy:roll")(a, shift, axis),
    vjp=lambda g, y, x, shift, *, axis: (roll_value(g, -shift, axis), None),
    samples=lambda rng, dtype: [(draw(rng, dtype, (5,)), 2), (draw(rng, dtype, (3, 4)), -1, 0)],
    copies=True,
    cost=2.0,
)
"""`numpy.roll` along one axis, by a shift that is at least 0 and at most the length."""


@decomposition(
    np.flip,
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),), (draw(rng, dtype, (3, 4)), 1)],
    view_of=True,
)
def flip(m: Any, axis: Any = None) -> Value:
    value = as_strong(m)
    reverse = slice(None, None, -1)
    return take_slice(
        value, {each: cut(reverse, value.shape[each]) for each in shapes.normalise_axes(axis, value.ndim)}
    )


@decomposition(np.fliplr, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),)], view_of=True)
def fliplr(m: Any) -> Value:
    value = as_strong(m)
    if value.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(value, 1)


@decomposition(np.flipud, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),)], view_of=True)
def flipud(m: Any) -> Value:
    value = as_strong(m)
    if value.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(value, 0)
