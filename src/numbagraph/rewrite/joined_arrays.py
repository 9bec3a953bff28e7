"""Joined arrays: a reader of one piece needs no joined array in memory, nor does a sum over all pieces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from numbagraph.blockwise.lengths import Cut
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Constant, Node, Value, toposort
from numbagraph.ops.indexing.slicing import pick_value, slice_cuts, take_slice
from numbagraph.ops.shape import broadcast_value
from numbagraph.rewrite import patterns
from numbagraph.rewrite.engine import RuleSet, node_rule, rewrite_values, rule
from numbagraph.rewrite.facts import number
from numbagraph.rewrite.patterns import Head, concatenate


def of_named_op(heads: Sequence[Head]) -> bool:
    return heads[0] not in (None, Constant)


def span_of(cut: Cut) -> range | None:
    """The positions that a slice reads, as far as they are known."""
    start, length = shapes.resolve(cut.start), shapes.resolve(cut.length)
    if not isinstance(start, int) or not isinstance(length, int):
        return None
    return range(start, start + cut.step * length, cut.step)


def piece_of(joined: Node, positions: range) -> tuple[Value, int] | None:
    """The piece that holds all of some positions along the axis where pieces are joined, and where it begins."""
    axis, begin = joined.attrs["axis"], 0
    for piece in joined.inputs:
        length = shapes.resolve(piece.shape[axis])
        if not isinstance(length, int):
            return None
        if all(begin <= position < begin + length for position in (positions[0], positions[-1])):
            return piece, begin
        begin += length
    return None


@node_rule(lambda op: op.name == "slice", of_named_op, operands=("concatenate",))
def slice_of_piece(node: Node) -> Value | None:
    joined = node.inputs[0]
    assert isinstance(joined, Node)
    axis, cuts = joined.attrs["axis"], slice_cuts(node.inputs[1:], **node.attrs)
    positions = span_of(cuts[axis]) if axis in cuts else None
    found = piece_of(joined, positions) if positions else None
    if not found or not positions:
        return None
    piece, begin = found
    return take_slice(piece, cuts | {axis: replace(cuts[axis], start=positions[0] - begin)})


@node_rule(lambda op: op.name == "pick", of_named_op, operands=("concatenate",))
def pick_of_piece(node: Node) -> Value | None:
    """An element of a piece whose place follows from lengths, such as the last one behind those that a mask selects."""
    joined, position = node.inputs
    assert isinstance(joined, Node)
    axis, begin = joined.attrs["axis"], 0
    if node.attrs["axis"] != axis:
        return None
    for piece in joined.inputs:
        length = shapes.resolve(piece.shape[axis])
        place = shapes.resolve(shapes.subtract(shapes.resolve(position), begin))
        if isinstance(place, int) and isinstance(length, int) and 0 <= place < length:
            return pick_value(piece, axis, place)
        begin = shapes.add(begin, length)
    return None


@node_rule(lambda op: op.name == "pick", of_named_op, operands=("slice",))
def pick_of_single(node: Node) -> Value | None:
    """The one element that an axis has, of a slice of it that has this element or none."""
    sliced, axis = node.inputs[0], node.attrs["axis"]
    assert isinstance(sliced, Node)
    source, cuts = sliced.inputs[0], slice_cuts(sliced.inputs[1:], **sliced.attrs)
    if node.attrs["checked"] or axis not in cuts or shapes.resolve(source.shape[axis]) != 1:
        return None
    others = {each + (each < axis): cut for each, cut in cuts.items() if each != axis}
    element = pick_value(source, axis, 0)
    return take_slice(element, others) if others else element


@node_rule(lambda op: op.name == "pick", of_named_op, operands=("transpose",))
def pick_before_transposing(node: Node) -> Value | None:
    """Take a row of joined arrays before they are transposed."""
    transposed, position = node.inputs
    assert isinstance(transposed, Node)
    (joined,) = transposed.inputs
    if not isinstance(joined, Node) or joined.op.name != "concatenate":
        return None
    axes, count = transposed.attrs["axes"], joined.ndim
    order = [*range(count - len(axes)), *(axis % count for axis in axes)]  # the axes before them stay
    taken = order.pop(node.attrs["axis"] + count)
    row = pick_value(joined, taken - count, position, checked=node.attrs["checked"])
    left = [axis - (axis > taken) - row.ndim for axis in order]
    return row if left == list(range(-row.ndim, 0)) else registry["transpose"].bind(row, axes=tuple(left))


@node_rule(lambda op: op.name == "slice", of_named_op, operands=("broadcast_to",))
def slice_before_repeating(node: Node) -> Value | None:
    """Slice a value before it is repeated, and repeat the slice."""
    repeated = node.inputs[0]
    assert isinstance(repeated, Node)
    source = repeated.inputs[0]
    cuts = slice_cuts(node.inputs[1:], **node.attrs)
    cuts = {
        axis: each for axis, each in cuts.items() if -axis <= source.ndim and shapes.resolve(source.shape[axis]) != 1
    }
    if not all(shapes.not_one(source.shape[axis]) for axis in cuts):
        return None  # whether it is repeated along such an axis is known when the program runs
    return broadcast_value(take_slice(source, cuts), node.shape)


def sum_of_sums(*values: Value, axes: tuple[int, ...]) -> Value:
    return reduce(lambda x, y: x + y, [patterns.sum(value, axes=axes) for value in values])


PIECES = (slice_of_piece, pick_of_piece, pick_of_single, pick_before_transposing, slice_before_repeating)

PARTS = RuleSet("parts of joined arrays", PIECES)


def is_late(node: Node) -> bool:
    """Whether the length of joined arrays or of a slice follows from elements."""
    if node.op.name == "slice":
        return any(isinstance(shapes.resolve(each), Node) for each in node.shape)
    return node.op.name == "concatenate" and isinstance(shapes.resolve(node.shape[node.attrs["axis"]]), Node)


def parts_alone(values: Sequence[Value]) -> list[Value]:
    """Rewrite values, so that of joined arrays and slices of which elements alone are read no others are needed: the
    lengths of these may be known too late for a batch."""
    has_late = any(isinstance(each, Node) and is_late(each) for each in toposort(values))
    return rewrite_values(values, PARTS) if has_late else list(values)


SUMS = (
    rule(
        lambda *values, axis, axes: patterns.sum(concatenate(*values, axis=axis), axes=axes),
        sum_of_sums,
        where=lambda axis, axes, node: axis in axes and number(node),
    ),
)
