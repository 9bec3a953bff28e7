"""Simplifications that no result can tell: bit for bit what NumPy computes, special values and signed zeros included.

What is missing here is missing for a reason. ``x * 0`` is NaN for an infinite x, ``x - x`` too; ``x + 0.0`` turns
-0.0 into 0.0, as does ``0.0 - x`` where x is 0.0; ``-(x - y)`` and ``y - x`` are zeros of different signs; complex
products mix parts, so that ``x * 1`` gives a NaN for an infinite part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.values import Constant, Node, Value
from numbagraph.ops.identity import identity_operand
from numbagraph.ops.shape import full_order, permute, reshape_value
from numbagraph.rewrite import patterns
from numbagraph.rewrite.conditions import condition_of_branches
from numbagraph.rewrite.engine import RuleSet, fold_constants, node_rule, rule
from numbagraph.rewrite.facts import (
    boolean,
    floating,
    integer,
    integral,
    is_constant,
    is_op,
    keeps_values,
    number,
    real,
    same_shape,
)
from numbagraph.rewrite.joined_arrays import PIECES
from numbagraph.rewrite.patterns import (
    absolute,
    broadcast_to,
    cast,
    conjugate,
    copy,
    equal,
    exp,
    expand_dims,
    expit,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    not_equal,
    positive,
    power,
    reciprocal,
    reshape,
    square,
    squeeze,
    transpose,
    trunc,
    where,
)

NEUTRAL = (
    rule(lambda x: x + -0.0, lambda x: x, where=real),  # for integers and truth values, -0.0 is 0
    rule(lambda x: x - 0, lambda x: x),
    rule(lambda x: x * 1, lambda x: x, where=real),
    rule(lambda x: x / 1, lambda x: x, where=real),
    rule(lambda x: x // 1, lambda x: x, where=integer),
    rule(lambda x: x % 1, lambda x: 0, where=integer),
    rule(lambda x: x * 0, lambda x: 0, where=integral),
    rule(lambda x: x - x, lambda x: 0, where=integer),
    rule(lambda x: x << 0, lambda x: x),
    rule(lambda x: x >> 0, lambda x: x),
    rule(lambda x: positive(x), lambda x: x),
    rule(lambda x: reciprocal(x), lambda x: 1 / x, where=floating),
    rule(lambda x: conjugate(x), lambda x: x, where=real),
    rule(lambda x: conjugate(conjugate(x)), lambda x: x),
    rule(lambda x: maximum(x, x), lambda x: x),
    rule(lambda x: minimum(x, x), lambda x: x),
    rule(lambda x: maximum(x, -np.inf), lambda x: x, where=real),
    rule(lambda x: maximum(-np.inf, x), lambda x: x, where=real),
    rule(lambda x: minimum(x, np.inf), lambda x: x, where=real),
    rule(lambda x: minimum(np.inf, x), lambda x: x, where=real),
)


def by_constant(x: Value, c: Value) -> bool:
    return real(x) and is_constant(c) and not is_constant(x)


def all_of_a_shape(c: Value, x: Value, y: Value) -> bool:
    """Whether a choice between two numbers is of the same type as each of them."""
    return number(x) and x.dtype == y.dtype and same_shape(c, x) and same_shape(x, y)


# Signs move towards the root, where they meet and cancel; those of constants are folded into them.
SIGNS = (
    rule(lambda x: -(-x), lambda x: x),
    rule(lambda x: x * -1, lambda x: -x, where=real),
    rule(lambda x: x / -1, lambda x: -x, where=real),
    rule(lambda x: -0.0 - x, lambda x: -x, where=real),
    rule(lambda x: 0 - (0 - x), lambda x: x + 0, where=real),
    rule(lambda x, y: x + -y, lambda x, y: x - y),
    rule(lambda x, y: x - -y, lambda x, y: x + y),
    rule(lambda x, y: -x * -y, lambda x, y: x * y, where=real),
    rule(lambda x, y: -x / -y, lambda x, y: x / y, where=real),
    rule(lambda x, c: -x * c, lambda x, c: x * -c, where=by_constant),
    rule(lambda x, c: -x / c, lambda x, c: x / -c, where=by_constant),
    rule(lambda x, c: c / -x, lambda x, c: -c / x, where=by_constant),
    rule(lambda x, c: -(x * c), lambda x, c: x * -c, where=by_constant),
    rule(lambda x, c: -(x / c), lambda x, c: x / -c, where=by_constant),
    rule(lambda x, c: -(c / x), lambda x, c: -c / x, where=by_constant),
    rule(lambda x, y: -x * y, lambda x, y: -(x * y), where=real),
    rule(lambda x, y: -x / y, lambda x, y: -(x / y), where=real),
    rule(lambda x, y: x / -y, lambda x, y: -(x / y), where=real),
    rule(lambda x: absolute(-x), lambda x: absolute(x), where=lambda x: x.dtype.kind != "u"),
    rule(lambda x: absolute(absolute(x)), lambda x: absolute(x)),
    rule(lambda x: absolute(square(x)), lambda x: square(x), where=floating),
    rule(lambda x: absolute(x), lambda x: x, where=lambda x: x.dtype.kind in "bu"),
    rule(lambda x: square(-x), lambda x: square(x), where=real),
    rule(lambda x: square(absolute(x)), lambda x: square(x), where=real),
)

# Integers wrap, so their sums and products may be taken in any order.
INTEGER_CHAINS = (
    rule(
        lambda x, a, b: (x + a) + b, lambda x, a, b: x + (a + b), where=lambda x, a, b: integer(x) and is_constant(a, b)
    ),
    rule(
        lambda x, a, b: (x * a) * b, lambda x, a, b: x * (a * b), where=lambda x, a, b: integer(x) and is_constant(a, b)
    ),
)


POWERS = (
    rule(lambda x: x * x, lambda x: square(x), where=number),
    rule(lambda x: power(x, 0), lambda x: 1),
    rule(lambda x: power(x, 1), lambda x: x, where=real),
)

SELECTION = (
    rule(lambda c, x: where(c, x, x), lambda x: x),
    rule(lambda x, y: where(True, x, y), lambda x: x),
    rule(lambda x, y: where(False, x, y), lambda y: y),
    rule(lambda c: where(c, True, False), lambda c: c, where=lambda node: boolean(node)),
    rule(lambda c: where(c, False, True), lambda c: ~c, where=lambda node: boolean(node)),
    rule(lambda c, x, y: where(~c, x, y), lambda c, x, y: where(c, y, x)),
    rule(lambda c, x, y, z: where(c, where(c, x, y), z), lambda c, x, z: where(c, x, z)),
    rule(lambda c, x, y, z: where(c, x, where(c, y, z)), lambda c, x, z: where(c, x, z)),
    rule(lambda x, y: where(equal(x, y), x, y), lambda y: y, where=integral),
    rule(lambda x, y: where(not_equal(x, y), x, y), lambda x: x, where=integral),
)

# What differentiation leaves of a choice. `0 - x` is a sign's difference from `-x`, at 0.
CHOICES = (
    rule(lambda c, x, y: where(c, x, 0) - where(c, 0, y), lambda c, x, y: where(c, x, 0 - y), where=all_of_a_shape),
    rule(lambda c, x, y: where(c, 0, x) - where(c, y, 0), lambda c, x, y: where(c, 0 - y, x), where=all_of_a_shape),
    rule(lambda c, x, y: where(c, x, 0) + where(c, 0, y), lambda c, x, y: where(c, x, y) + 0, where=all_of_a_shape),
)

# Results of these are NaN where the argument is, and otherwise never outside of their range.
RANGES = tuple(
    rule(pattern, lambda x: equal(x, x), where=floating)
    for pattern in (
        lambda x: greater_equal(exp(x), 0),
        lambda x: greater_equal(expit(x), 0),
        lambda x: less_equal(expit(x), 1),
        lambda x: greater_equal(square(x), 0),
        lambda x: greater_equal(absolute(x), 0),
    )
)

# On truth values, the logical functions are the bitwise ones.
LOGIC = (
    rule(lambda x: logical_not(x), lambda x: ~x, where=boolean),
    rule(lambda x, y: logical_and(x, y), lambda x, y: x & y, where=lambda x, y: boolean(x) and boolean(y)),
    rule(lambda x, y: logical_or(x, y), lambda x, y: x | y, where=lambda x, y: boolean(x) and boolean(y)),
    rule(lambda x, y: logical_xor(x, y), lambda x, y: x ^ y, where=lambda x, y: boolean(x) and boolean(y)),
    rule(lambda x: ~~x, lambda x: x),
    rule(lambda x: x & x, lambda x: x),
    rule(lambda x: x | x, lambda x: x),
    rule(lambda x: x ^ x, lambda x: 0),
    rule(lambda x: x & 0, lambda x: 0),
    rule(lambda x: x | 0, lambda x: x),
    rule(lambda x: x ^ 0, lambda x: x),
    rule(lambda x: x & True, lambda x: x, where=boolean),
    rule(lambda x: x | True, lambda x: True, where=boolean),
    rule(lambda x: x ^ True, lambda x: ~x, where=lambda x: boolean(x) and not x.type.weak),
    rule(lambda x, y: ~equal(x, y), lambda x, y: not_equal(x, y)),
    rule(lambda x, y: ~not_equal(x, y), lambda x, y: equal(x, y)),
    rule(lambda x, y: ~less(x, y), lambda x, y: greater_equal(x, y), where=integral),
    rule(lambda x, y: ~less_equal(x, y), lambda x, y: greater(x, y), where=integral),
    rule(lambda x, y: ~greater(x, y), lambda x, y: less_equal(x, y), where=integral),
    rule(lambda x, y: ~greater_equal(x, y), lambda x, y: less(x, y), where=integral),
    rule(lambda x: equal(x, x), lambda x: True, where=integral),
    rule(lambda x: not_equal(x, x), lambda x: False, where=integral),
    rule(lambda x: less_equal(x, x), lambda x: True, where=integral),
    rule(lambda x: greater_equal(x, x), lambda x: True, where=integral),
    rule(lambda x: less(x, x), lambda x: False, where=real),
    rule(lambda x: greater(x, x), lambda x: False, where=real),
)


def truncates(x: Value, node: Node) -> bool:
    """Whether a conversion rounds towards zero by itself."""
    return integer(node) and floating(x)


def cast_through(x: Value, node: Node) -> bool:
    """Whether the inner of two conversions can be left out. What does not fit into an integer is undefined."""
    inner = node.inputs[0].dtype
    return keeps_values(x.dtype, inner) and not (
        integer(node) and inner.kind in "fc" and not keeps_values(x.dtype, node.dtype)
    )


CASTS = (
    rule(lambda x: cast(x), lambda x: x, where=lambda x, node: (x.dtype, x.type.weak) == (node.dtype, node.type.weak)),
    rule(lambda x: cast(cast(x)), lambda x, node: cast(x, **node.attrs), where=cast_through),
    rule(lambda x: cast(trunc(x)), lambda x, node: cast(x, **node.attrs), where=truncates),
)


def plain(value: Value) -> Value:
    """The operand behind broadcasts and leading axes of length 1, which an elementwise op adds by itself."""
    while isinstance(value, Node) and (value.op.name == "broadcast_to" or has_leading_axes(value)):
        value = value.inputs[0]
    return value


def has_leading_axes(value: Node) -> bool:
    """Whether a value is an `expand_dims` that adds axes on the left only."""
    return value.op.name == "expand_dims" and all(axis < -value.inputs[0].ndim for axis in value.attrs["axes"])


REPEATS = ("broadcast_to", "expand_dims")


def any_repeated(heads: Sequence[Any]) -> bool:
    return any(head is not None and head is not Constant for head in heads)


@node_rule(lambda op: op.kind == "elementwise", any_repeated, operands=REPEATS)
def compute_before_repeating(node: Node) -> Value | None:
    """Apply an elementwise op before its operand is repeated, and repeat the result."""
    operand = node.inputs[0]
    if len(node.inputs) == 1 and is_op(operand, "expand_dims"):
        return expand_dims(node.op.bind(*operand.inputs, **node.attrs), **operand.attrs)
    inputs = [plain(each) for each in node.inputs]
    return None if inputs == list(node.inputs) else node.op.bind(*inputs, **node.attrs)


def merged_axes(x: Value, inner: tuple[int, ...], outer: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of two `expand_dims` in one, counted from the right of the result."""
    ndim = x.ndim + len(inner) + len(outer)
    kept = [axis for axis in range(-ndim, 0) if axis not in outer]
    return tuple(sorted((*outer, *(kept[axis] for axis in inner))))


def shifted(axis: int, removed: tuple[int, ...]) -> int:
    """The position of an axis, counted from the right, once the axes ``removed`` are gone."""
    return axis + sum(1 for each in removed if each > axis)


def expanded(x: Value, axes: tuple[int, ...]) -> Value:
    return expand_dims(x, axes=axes) if axes else x


VIEWS = (
    rule(lambda x, *sizes: broadcast_to(x, *sizes), lambda x: x, where=lambda x, node: same_shape(x, node)),
    rule(lambda x, *sizes: broadcast_to(x, *sizes), lambda x: x.inputs[0], where=lambda x: is_op(x, "broadcast_to")),
    rule(
        lambda x, *sizes, axes: expand_dims(broadcast_to(x, *sizes), axes=axes),
        lambda x, axes: expand_dims(x, axes=axes),
    ),
    rule(
        lambda x, *, inner, outer: expand_dims(expand_dims(x, axes=inner), axes=outer),
        lambda x, inner, outer: expand_dims(x, axes=merged_axes(x, inner, outer)),
    ),
    rule(
        lambda x, *, added, removed: squeeze(expand_dims(x, axes=added), axes=removed),
        lambda x, added, removed: expanded(x, tuple(shifted(axis, removed) for axis in added if axis not in removed)),
        where=lambda added, removed: set(removed) <= set(added),
    ),
    rule(
        lambda x, *, axes: expand_dims(squeeze(x, axes=axes), axes=axes),
        lambda x: x,
        where=lambda x, node: same_shape(x, node),
    ),
    rule(
        lambda x, *, axes: transpose(x, axes=axes),
        lambda x, axes: permute(x, full_order(x.ndim, axes)),
        where=lambda x: is_op(x, "transpose"),
    ),
    rule(
        lambda x, *sizes, consumed: reshape(x, *sizes, consumed=consumed),
        lambda x, node: reshape_value(x.inputs[0], node.shape),
        where=lambda x, consumed: is_op(x, "reshape", "expand_dims", "squeeze") and consumed == x.ndim,
    ),
    rule(lambda x: copy(x), lambda x: x, where=lambda x: not x.type.weak),
)


def repeated_axes(node: Node) -> tuple[int, ...]:
    """The reduced axes along which the operand (a `broadcast_to`) repeats one element."""
    repeated = node.inputs[0]
    assert isinstance(repeated, Node)
    source = repeated.inputs[0]
    if source.ndim != repeated.ndim:
        return ()
    return tuple(axis for axis in node.attrs["axes"] if shapes.resolve(source.shape[axis]) == 1)


def is_repeated(node: Node) -> bool:
    """Whether a reduction takes elements more than once, and each of them at least once: of nothing, `all` is true."""
    counts = [shapes.resolve(node.inputs[0].shape[axis]) for axis in repeated_axes(node)]
    return bool(counts) and all(isinstance(count, int) and count > 0 for count in counts)


def reduced_once(node: Node) -> Value:
    """Reduce over each repeated element once."""
    repeated, axes = node.inputs[0], repeated_axes(node)
    assert isinstance(repeated, Node)
    rest = tuple(shifted(axis, axes) for axis in node.attrs["axes"] if axis not in axes)
    source = repeated.inputs[0]
    if is_op(source, "expand_dims") and source.attrs["axes"] == axes:
        source = source.inputs[0]
    else:
        source = squeeze(source, axes=axes)
    return node.op.bind(source, axes=rest) if rest else source


def times_count(total: Value, node: Node) -> Value:
    """Multiply a sum by its number of repetitions. Without any it is 0, even if ``total`` is infinite, and it is never
    -0.0."""
    count = shapes.product([node.inputs[0].shape[axis] for axis in repeated_axes(node)])
    if isinstance(total, Constant) and np.all(np.isfinite(total.data)):
        return total * count if np.all(total.data > 0) else total * count + 0
    scaled = total * count + 0
    return scaled if isinstance(count, int) and count else where(equal(count, 0), 0, scaled)


REDUCTIONS = (
    # NumPy's sums start at 0.0, so that none is -0.0
    rule(lambda x, *, axes: patterns.sum(x, axes=axes) + 0, lambda x, axes: patterns.sum(x, axes=axes)),
    rule(lambda x, *, axes: patterns.sum(-x, axes=axes), lambda x, axes: 0 - patterns.sum(x, axes=axes)),
    rule(lambda x, *, axes: patterns.sum(expand_dims(x, axes=axes), axes=axes), lambda x: x + 0),
    rule(lambda x, *, axes: patterns.prod(expand_dims(x, axes=axes), axes=axes), lambda x: x, where=real),
    rule(lambda x, *, axes: patterns.max(expand_dims(x, axes=axes), axes=axes), lambda x: x),
    rule(lambda x, *, axes: patterns.min(expand_dims(x, axes=axes), axes=axes), lambda x: x),
    rule(lambda x, *, axes: patterns.all(expand_dims(x, axes=axes), axes=axes), lambda x: x, where=boolean),
    rule(lambda x, *, axes: patterns.any(expand_dims(x, axes=axes), axes=axes), lambda x: x, where=boolean),
    rule(
        lambda x, *sizes: patterns.sum(broadcast_to(x, *sizes)),
        lambda node: times_count(reduced_once(node), node),
        where=lambda x, node: bool(repeated_axes(node)) and real(x),
    ),
    rule(
        lambda x, *sizes: patterns.max(broadcast_to(x, *sizes)),
        lambda node: reduced_once(node),
        where=lambda node: bool(repeated_axes(node)),
    ),
    rule(
        lambda x, *sizes: patterns.min(broadcast_to(x, *sizes)),
        lambda node: reduced_once(node),
        where=lambda node: bool(repeated_axes(node)),
    ),
    rule(
        lambda x, *sizes: patterns.all(broadcast_to(x, *sizes)),
        lambda node: reduced_once(node),
        where=lambda x, node: boolean(x) and is_repeated(node),
    ),
    rule(
        lambda x, *sizes: patterns.any(broadcast_to(x, *sizes)),
        lambda node: reduced_once(node),
        where=lambda x, node: boolean(x) and is_repeated(node),
    ),
)


@node_rule(lambda op: op.kind == "identity", lambda heads: True)
def forget_identity(node: Node) -> Value:
    """Replace an identity op, which only differentiation needs, by its operand."""
    return identity_operand(node)


RULES = (
    fold_constants,
    compute_before_repeating,
    *NEUTRAL,
    *SIGNS,
    *INTEGER_CHAINS,
    *POWERS,
    *SELECTION,
    *CHOICES,
    *RANGES,
    *LOGIC,
    condition_of_branches,
    *CASTS,
    *VIEWS,
    *REDUCTIONS,
    *PIECES,
)

CANONICALISE = RuleSet("canonicalise", [forget_identity, *RULES])
BEFORE_GRADIENT = RuleSet("canonicalise", RULES)
"""The simplifications before differentiation, which keep identity ops."""
