"""Arrays with margins around them; elements and margins are written into one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import give_batch
from numbagraph.blockwise.kinds import draw
from numbagraph.blockwise.lengths import Cut
from numbagraph.blockwise.lowering import Index, Pull, extent_scalar
from numbagraph.blockwise.promotion import as_value
from numbagraph.intrinsics.emitters import integers
from numbagraph.intrinsics.emitters.ir import Scalar, index_operation
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import ArrayType, Extent, Node, Op, Value
from numbagraph.ops.indexing.slicing import Template, numpy_key, take_slice
from numbagraph.ops.joining import join

Axes = tuple[int, ...]


def with_margins(value: Value, axes: Axes, margins: Sequence[Value], before: Sequence[Extent]) -> Value:
    """An array with margins along some axes, counted from the right.

    The margins of an axis are one array: those before the elements, of a number that is given, and those behind them.
    They have the margins of the axes that stand before theirs in ``axes``.
    """
    template, symbolic = shapes.split_extents(before)
    return bordered.bind(value, *margins, *symbolic, axes=axes, before=template)


def bordered_type(value: Value, *inputs: Value, axes: Axes, before: Template) -> ArrayType:
    shape = list(value.shape)
    for axis, margin in zip(axes, inputs, strict=False):
        for other in range(-value.ndim, 0):
            if other != axis:
                shapes.require_same(margin.shape[other], shape[other], "A margin is not as long as its array")
        shape[axis] = shapes.add(shape[axis], margin.shape[axis])
    return value.type.with_shape(tuple(shape))


class Frame(NamedTuple):
    """An array, the margins of each axis, and the number of their elements that stand before it."""

    value: Any
    axes: Axes
    margins: Sequence[Any]
    before: Sequence[Any]

    @classmethod
    def of(cls, inputs: Sequence[Any], axes: Axes, before: Template) -> Frame:
        count = 1 + len(axes)
        return cls(inputs[0], axes, inputs[1:count], shapes.join_extents(before, inputs[count:]))

    def middle(self, number: int = 0) -> dict[int, Cut]:
        """Return the place of the array along the axes ``axes[number:]``."""
        pairs = zip(self.axes[number:], self.before[number:], strict=True)
        return {axis: Cut(start, 1, self.value.shape[axis]) for axis, start in pairs}

    def sides(self, number: int) -> tuple[dict[int, Cut], dict[int, Cut]]:
        """Return the places of the margins before and behind the elements along an axis."""
        axis, start, others = self.axes[number], self.before[number], self.middle(number + 1)
        first = Cut(0, 1, start)
        last = Cut(shapes.add(start, self.value.shape[axis]), 1, self.behind(number))
        return {**others, axis: first}, {**others, axis: last}

    def behind(self, number: int) -> Any:
        return shapes.subtract(self.margins[number].shape[self.axes[number]], self.before[number])

    def parts(self, number: int) -> tuple[dict[int, Cut], dict[int, Cut]]:
        """Return the slices of the margins of an axis that go before and behind the elements."""
        axis, start = self.axes[number], self.before[number]
        return {axis: Cut(0, 1, start)}, {axis: Cut(start, 1, self.behind(number))}


def bordered_pieces(node: Node) -> list[tuple[Value, lowering.IndexMap]]:
    frame = Frame.of(node.inputs, **node.attrs)
    starts = {axis: extent_scalar(each) for axis, each in zip(frame.axes, frame.before, strict=True)}

    def moved(index: Index, number: int) -> list[Scalar]:
        found = list(index)
        for axis in frame.axes[number:]:
            found[axis] = lowering.add(found[axis], starts[axis])
        return found

    def of_margins(number: int) -> lowering.IndexMap:
        axis = frame.axes[number]

        def place(index: Index, pull: Pull) -> Index:
            """Return the place of an element of the margins; those behind the array's elements move by the length of
            the array."""
            length, found = extent_scalar(frame.value.shape[axis]), moved(index, number + 1)
            away = index_operation("if_at_least", integers.if_at_least, length, index[axis], starts[axis])
            found[axis] = lowering.add(index[axis], away)
            return tuple(found)

        return place

    margins = [(margin, of_margins(number)) for number, margin in enumerate(frame.margins)]
    return [(frame.value, lambda index, pull: tuple(moved(index, 0))), *margins]


def bordered_array(*inputs: Any, axes: Axes, before: Template) -> Any:
    frame = Frame.of(inputs, axes, before)
    shape = list(frame.value.shape)
    for axis, margin in zip(axes, frame.margins, strict=True):
        shape[axis] += margin.shape[axis]
    result = np.empty(shape, frame.value.dtype)
    for place, part in filled_places(frame):
        result[place] = part
    return result


def bordered_jnp(*inputs: Any, axes: Axes, before: Template) -> Any:
    """Add the margins with JAX, one axis after the other, since the margins of an axis span the margins of the axes
    before it."""
    frame = Frame.of(inputs, axes, before)
    found = frame.value
    for number, axis in enumerate(axes):
        first, last = (frame.margins[number][numpy_key(found.ndim, part)] for part in frame.parts(number))
        found = load("jax.numpy:concatenate")([first, found, last], axis)
    return found


def filled_places(frame: Frame) -> Iterator[tuple[tuple[slice, ...], Any]]:
    """Yield the place of each part, as a key of NumPy's, and the part."""
    ndim = frame.value.ndim
    yield numpy_key(ndim, frame.middle()), frame.value
    for number, margin in enumerate(frame.margins):
        for place, part in zip(frame.sides(number), frame.parts(number), strict=True):
            yield numpy_key(ndim, place), margin[numpy_key(ndim, part)]


def bordered_vjp(g: Value, y: Value, *inputs: Value, axes: Axes, before: Template) -> tuple[Value | None, ...]:
    frame = Frame.of(inputs, axes, before)
    found = [join([take_slice(g, each) for each in frame.sides(n)], axis) for n, axis in enumerate(axes)]
    return (take_slice(g, frame.middle()), *found, *[None] * (len(inputs) - 1 - len(axes)))


def bordered_batch(op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, axes: Axes, before: Template) -> Value:
    count = 1 + len(axes)
    if any(batched[count:]):
        raise NotImplementedError("margins of other widths for each element of a batch")
    return op.bind(*give_batch(inputs[:count], batched[:count]), *inputs[count:], axes=axes, before=before)


def bordered_frontend(op: Op, a: Any, rows: Any, columns: Any, above: int, left: int) -> Value:
    """Bind a matrix with rows above and below it, and columns beside all of these."""
    values = [as_value(each) for each in (a, rows, columns)]
    for count, each, axis in ((above, values[1], -2), (left, values[2], -1)):
        shapes.require(shapes.compare("greater_equal", each.shape[axis], count), "too few margins", ValueError)
    return with_margins(values[0], (-2, -1), values[1:], (above, left))


bordered = registry.register(
    Op(
        name="bordered",
        kind="joining",
        reference=bordered_array,
        infer=bordered_type,
        frontend=bordered_frontend,
        lower=lowering.Assemble(bordered_pieces),
        vjp=bordered_vjp,
        batch=bordered_batch,
        jnp=bordered_jnp,
        samples=lambda rng, dtype: [
            (draw(rng, dtype, (3, 4)), draw(rng, dtype, (3, 4)), draw(rng, dtype, (6, 2)), above, left)
            for above, left in ((1, 2), (0, 1), (3, 0))
        ],
        zero_dim="array",
    )
)
"""An array with margins around it: see `with_margins`."""
