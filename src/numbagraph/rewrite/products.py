"""Products of matrices with a dimension of length 1 as loop nests, which fuse with what stands around them."""

from __future__ import annotations

from numbagraph.ir.values import Value
from numbagraph.ops.product import is_thin, sum_of_products
from numbagraph.rewrite import patterns
from numbagraph.rewrite.engine import RuleSet, rule
from numbagraph.rewrite.facts import is_op
from numbagraph.rewrite.patterns import matmul


def merged_axes(x: Value, inner: tuple[int, ...], outer: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of two sums, one after the other, in one."""
    kept = [axis for axis in range(-x.ndim, 0) if axis not in inner]
    return tuple(sorted((*inner, *(kept[axis] for axis in outer))))


EXPAND = RuleSet(
    "expand",
    [
        rule(
            lambda left, right, *, transposed: matmul(left, right, transposed=transposed),
            sum_of_products,
            where=is_thin,
        ),
        # the gradient of a matrix that is multiplied with a batch of vectors, and the trace of a product
        rule(
            lambda x, *, inner, outer: patterns.sum(patterns.sum(x, axes=inner), axes=outer),
            lambda x, inner, outer: patterns.sum(x, axes=merged_axes(x, inner, outer)),
            where=lambda x: is_op(x, "multiply"),
        ),
    ],
)
