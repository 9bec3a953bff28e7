"""Joined arrays: a reader of one piece needs no joined array in memory, nor does a sum over all pieces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from numbagraph.blockwise.lengths import Cut
from numbagraph.ir import shapes
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Constant, Node, Value
from numbagraph.ops.indexing.slicing import slice_cuts, take_slice
from numbagraph.ops.shape import broadcast_value
from numbagraph.rewrite import patterns
from numbagraph.rewrite.engine import node_rule, rule
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


PIECES = (slice_of_piece, slice_before_repeating)

SUMS = (
    rule(
        lambda *values, axis, axes: patterns.sum(concatenate(*values, axis=axis), axes=axes),
        sum_of_sums,
        where=lambda axis, axes, node: axis in axes and number(node),
    ),
)
