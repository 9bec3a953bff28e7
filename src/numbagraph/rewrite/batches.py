"""Batch dimensions that are not needed: a matrix that is the same for all elements is factored, multiplied and solved
with once, for all elements together."""

from __future__ import annotations

from numbagraph.blockwise.lowering import Routine
from numbagraph.ir import shapes
from numbagraph.ir.values import Node, Value
from numbagraph.ops.product import Flags, is_thin, matrix_extents, matrix_product, transposed_matrix
from numbagraph.ops.shape import permute, reshape_value, squeeze_at
from numbagraph.rewrite import patterns
from numbagraph.rewrite.engine import node_rule, rule
from numbagraph.rewrite.facts import is_op
from numbagraph.rewrite.patterns import expand_dims, matmul

SOLUTIONS = ("solve_factored", "solve_triangular", "solve_tridiagonal", "solve_banded", "solveh_banded")
"""The ops whose last operand is the right-hand side of a system that their other operands represent."""


@node_rule(lambda op: op.kind in ("core op", "product"), lambda heads: True)
def without_batch(node: Node) -> Value | None:
    """Apply an op to operands without batch dimensions along which they repeat elements, and repeat the result
    instead."""
    inputs = [single(value, rank) for value, rank in zip(node.inputs, ranks_of(node), strict=True)]
    return None if inputs == list(node.inputs) else node.op.bind(*inputs, **node.attrs)


def ranks_of(node: Node) -> tuple[int, ...]:
    """The number of core dimensions of each operand, which are not those of the batch."""
    assert isinstance(node.op.lower, Routine)
    return node.op.lower.operands


def single(value: Value, rank: int) -> Value:
    """An operand without dimensions of the batch along which it repeats an element, or has but one, on the left."""
    while is_op(value, "broadcast_to") and repeats_elements(value, rank):
        value = value.inputs[0]
    batch = value.shape[: value.ndim - rank]
    count = next((axis for axis, extent in enumerate(batch) if shapes.resolve(extent) != 1), len(batch))
    return squeeze_at(value, range(count)) if count else value


def repeats_elements(value: Node, rank: int) -> bool:
    """Whether a broadcast leaves the core dimensions alone."""
    source = value.inputs[0]
    core = (each.shape[each.ndim - rank :] for each in (source, value))
    return source.ndim >= rank and all(map(shapes.same, *core))


def multiplies_vectors(left: Value, right: Value, transposed: Flags) -> bool:
    """Whether one matrix multiplies a batch of vectors from the left."""
    rows, inner, _, columns = map(shapes.resolve, matrix_extents(left, right, transposed))
    return left.ndim == 2 and right.ndim > 2 and columns == 1 and 1 not in (rows, inner)


def matrix_times_vectors(left: Value, right: Value, transposed: Flags) -> Value:
    """Multiply vectors as the rows of one matrix by another matrix."""
    vectors = squeeze_at(right, [right.ndim - (2 if transposed[1] else 1)])
    return expand_dims(matrix_product(vectors, left, (False, not transposed[0])), axes=(-1,))


def multiplies_rows(left: Value, right: Value, transposed: Flags) -> bool:
    rows, inner, _, columns = map(shapes.resolve, matrix_extents(left, right, transposed))
    return left.ndim > 2 and right.ndim == 2 and rows == 1 and 1 not in (inner, columns)


def vectors_times_matrix(left: Value, right: Value, transposed: Flags) -> Value:
    vectors = squeeze_at(left, [left.ndim - (1 if transposed[0] else 2)])
    return expand_dims(matrix_product(vectors, right, (False, transposed[1])), axes=(-2,))


def sums_whole_batch(left: Value, right: Value, axes: tuple[int, ...], transposed: Flags) -> bool:
    """Whether products are added up over all dimensions of a batch, which both factors have."""
    batch = left.ndim - 2
    same = left.ndim == right.ndim and all(map(shapes.same, left.shape[:batch], right.shape[:batch]))
    return same and axes == tuple(range(-left.ndim, -2)) and not is_thin(left, right, transposed)


def product_over_batch(left: Value, right: Value) -> Value:
    """One product, whose inner length is that of all elements."""
    left, right = (reshape_value(each, (shapes.product(each.shape[:-1]), each.shape[-1])) for each in (left, right))
    return matrix_product(left, right, (True, False))


@node_rule(lambda op: op.name in SOLUTIONS, lambda heads: True)
def solve_together(node: Node) -> Value | None:
    """Solve one system for a batch of right-hand sides, which become the columns of one matrix."""
    *system, right = node.inputs
    ranks = ranks_of(node)
    if right.ndim == 2 or any(each.ndim > rank for each, rank in zip(system, ranks, strict=False)):
        return None
    batch, (rows, columns) = right.shape[:-2], right.shape[-2:]
    count = shapes.product([*batch, columns])
    if shapes.resolve(columns) == 1:
        vectors = reshape_value(squeeze_at(right, [right.ndim - 1]), (count, rows))
        solution = node.op.bind(*system, transposed_matrix(vectors), **node.attrs)
        return expand_dims(reshape_value(transposed_matrix(solution), (*batch, rows)), axes=(-1,))
    last = len(batch)
    together = permute(right, [last, *range(last), last + 1])
    solution = node.op.bind(*system, reshape_value(together, (rows, count)), **node.attrs)
    apart = reshape_value(solution, (rows, *batch, columns))
    return permute(apart, [*range(1, last + 1), 0, last + 1])


BATCHES = (
    without_batch,
    rule(
        lambda left, right, *, transposed: matmul(left, right, transposed=transposed),
        matrix_times_vectors,
        where=multiplies_vectors,
        name="one matrix @ a batch of vectors",
    ),
    rule(
        lambda left, right, *, transposed: matmul(left, right, transposed=transposed),
        vectors_times_matrix,
        where=multiplies_rows,
        name="a batch of vectors @ one matrix",
    ),
    rule(
        lambda left, right, *, transposed, axes: patterns.sum(matmul(left, right, transposed=transposed), axes=axes),
        product_over_batch,
        where=lambda left, right, axes, transposed: (
            transposed == (True, False) and sums_whole_batch(left, right, axes, transposed)
        ),
        name="the sum of a batch of left.T @ right",
    ),
    solve_together,
)
