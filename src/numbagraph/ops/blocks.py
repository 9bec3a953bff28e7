"""Arrays that are put together from blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import give_batch
from numbagraph.blockwise.kinds import draw
from numbagraph.blockwise.lowering import Index, Pull, extent_scalar
from numbagraph.blockwise.promotion import as_strong, as_value, common_rule, promote
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import ArrayType, Extent, Node, Op, Value
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.shape import expand_at

Rows = list[list[Value]]


def in_rows(blocks: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
    """Split a flat sequence of blocks into rows; ``counts`` has the number of blocks of each row."""
    remaining = iter(blocks)
    return [[next(remaining) for _ in range(count)] for count in counts]


def total(extents: list[Extent]) -> Extent:
    return reduce(shapes.add, extents)


def block_type(*blocks: Value, counts: tuple[int, ...]) -> ArrayType:
    rows, first = in_rows(blocks, counts), blocks[0]
    height = total([row[0].shape[-2] for row in rows])
    return first.type.with_shape((*first.shape[:-2], height, total([each.shape[-1] for each in rows[0]])))


def corners(rows: Rows) -> Iterator[tuple[Value, Extent, Extent]]:
    """Yield each block, with the row and the column at which it begins in the whole."""
    tops = accumulate((row[0].shape[-2] for row in rows), shapes.add, initial=0)
    for row, top in zip(rows, tops, strict=False):
        lefts = accumulate((each.shape[-1] for each in row), shapes.add, initial=0)
        yield from ((each, top, left) for each, left in zip(row, lefts, strict=False))


def block_pieces(node: Node) -> list[tuple[Value, lowering.IndexMap]]:
    def index_map(*corner: Extent) -> lowering.IndexMap:
        top, left = map(extent_scalar, corner)

        def moved(index: Index, pull: Pull) -> Index:
            return (*index[:-2], lowering.add(top, index[-2]), lowering.add(left, index[-1]))

        return moved

    return [(each, index_map(*corner)) for each, *corner in corners(in_rows(node.inputs, node.attrs["counts"]))]


def block_vjp(g: Value, y: Value, *blocks: Value, counts: tuple[int, ...]) -> tuple[Value, ...]:
    found = corners(in_rows(blocks, counts))
    return tuple(narrow(narrow(g, -2, top, each.shape[-2]), -1, left, each.shape[-1]) for each, top, left in found)


def block_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    a, b, c, d = (draw(rng, dtype, shape) for shape in ((2, 2), (2, 3), (4, 1), (4, 4)))
    stacks = [[draw(rng, dtype, (2, m, n)) for n in widths] for m, widths in ((1, (2, 0, 1)), (2, (3,)))]
    cubes = [[[a], [a]], [[d[:2, :2]], [a]]]
    return [([[a, b]],), ([[a, b], [c, d]],), ([[a[0], b[0]], [d[0, :3], a[1]]],), (stacks,), (cubes,)]


def block_frontend(op: Op, arrays: Any) -> Value:
    depth = depth_of(arrays)
    ndim = max(depth, rank_of(arrays))
    if depth == 2 and len(arrays) > 1 and any(len(row) > 1 for row in arrays):
        return placed([[at_least_of(as_strong(each), ndim) for each in row] for row in arrays])
    return joined(arrays, depth, ndim)


def placed(rows: Rows) -> Value:
    """Assemble rows of blocks, each written directly into its place: to join the rows first would copy them once
    more."""
    counts = tuple(map(len, rows))
    flat = list(promote(common_rule(), [each for row in rows for each in row]))
    rows = in_rows(flat, counts)
    text = "all the input array dimensions except for the concatenation axis must match exactly"
    widths = [total([each.shape[-1] for each in row]) for row in rows]
    for row, width in zip(rows, widths, strict=True):
        shapes.require_same(width, widths[0], text, ValueError)
        for each in row:
            for own, first in zip(each.shape[:-1], (*flat[0].shape[:-2], row[0].shape[-2]), strict=True):
                shapes.require_same(own, first, text, ValueError)
    return block.bind(*flat, counts=counts)


def depth_of(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise TypeError("block: only lists can be used to arrange blocks, not tuples")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("List at arrays cannot be empty")
    depths = {depth_of(each) for each in arrays}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched.")
    return 1 + depths.pop()


def rank_of(arrays: Any) -> int:
    return max(map(rank_of, arrays)) if isinstance(arrays, list) else as_value(arrays).ndim


def joined(arrays: Any, depth: int, ndim: int) -> Value:
    """Join nested lists: the innermost ones along the last axis, those around them along the axis before."""
    if not isinstance(arrays, list):
        return at_least_of(as_strong(arrays), ndim)
    return registry["concatenate"]([joined(each, depth - 1, ndim) for each in arrays], -depth)


def at_least_of(value: Value, ndim: int) -> Value:
    return expand_at(value, range(ndim - value.ndim))


def block_jnp(*blocks: Any, counts: tuple[int, ...]) -> Any:
    return load("jax.numpy:block")(in_rows(blocks, counts))


block = registry.register(
    Op(
        name="block",
        kind="joining",
        reference=lambda *blocks, counts: np.block(in_rows(blocks, counts)),
        infer=block_type,
        frontend=block_frontend,
        lower=lowering.Assemble(block_pieces),
        vjp=block_vjp,
        batch=lambda op, inputs, batched, **attrs: op.bind(*give_batch(inputs, batched), **attrs),
        jnp=block_jnp,
        samples=block_samples,
        implements=(np.block,),
        zero_dim="array",
    )
)
