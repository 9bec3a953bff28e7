"""Facts about matrices: which of their elements are zero, and whether they are symmetric or orthogonal.

Facts follow from how a value was computed, and are found when a rule needs them. A zero that follows from the structure
counts as one whatever it is multiplied with, be that infinite or NaN: `numpy.eye(2) * x` is taken for a diagonal
matrix.

That a matrix is positive definite is not among the facts. It would let a system be solved by Cholesky's factor, which
rounding may not leave it with where general factors exist: only the author of the code can take that risk.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Flag, auto
from weakref import WeakKeyDictionary

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.values import Constant, Node, Value
from numbagraph.ops.identity import identity_operand
from numbagraph.rewrite.facts import is_op, keeps_values


class Structure(Flag):
    """Facts about the last two dimensions of a value."""

    NONE = 0
    LOWER = auto()
    """Zero above the diagonal."""
    UPPER = auto()
    """Zero below it."""
    DIAGONAL = LOWER | UPPER
    SYMMETRIC = auto()
    """Equal to the transposed matrix, without conjugation, up to rounding."""
    ORTHOGONAL = auto()
    """Square, and its conjugate transpose is its inverse."""
    UNIT = auto()
    """The unit matrix."""
    ALL = LOWER | UPPER | SYMMETRIC | ORTHOGONAL | UNIT


NONE, LOWER, UPPER, DIAGONAL = Structure.NONE, Structure.LOWER, Structure.UPPER, Structure.DIAGONAL
SYMMETRIC, ORTHOGONAL = Structure.SYMMETRIC, Structure.ORTHOGONAL
TRIANGULAR_ONLY = DIAGONAL | SYMMETRIC

Known = Callable[[Value], Structure]
"""A function that returns the facts about an operand."""

DEEPEST = 50
"""The number of nodes that a fact is followed through; beyond, it is unknown."""

_known: WeakKeyDictionary[Value, Structure] = WeakKeyDictionary()
FINDERS: dict[str, Callable[[Node, Known], Structure]] = {}
"""By the name of an op, the function that finds the facts about its result, from the node and the facts about its
operands."""


def about(*names: str) -> Callable[..., None]:
    """Declare, as a decorator, the function that finds facts about the results of ops."""

    def declare(finder: Callable[..., Structure]) -> None:
        FINDERS.update(dict.fromkeys(names, finder))

    return declare


def structure(value: Value, depth: int = DEEPEST) -> Structure:
    """The facts about a value."""
    found = _known.get(value)
    if found is None and isinstance(value, Node) and value.ndim >= 2 and depth:
        finder = identity_facts if value.op.kind == "identity" else FINDERS.get(value.op.name)
        found = NONE if finder is None else finder(value, lambda operand: structure(operand, depth - 1))
        if DIAGONAL in found and is_square(value):
            found |= SYMMETRIC
        _known[value] = found
    return found or NONE


def is_square(value: Value) -> bool:
    return shapes.same(*value.shape[-2:])


def square_with(fact: Structure) -> Callable[[Value], bool]:
    return lambda value: fact in structure(value) and is_square(value)


is_diagonal, is_unit, is_orthogonal = map(square_with, (DIAGONAL, Structure.UNIT, ORTHOGONAL))


def is_symmetric(value: Value) -> bool:
    return SYMMETRIC in structure(value)


def is_triangular(value: Value) -> bool:
    """Whether a matrix is square and triangular, in one way or the other."""
    return bool(structure(value) & DIAGONAL) and is_square(value)


def transposed(facts: Structure) -> Structure:
    """The facts about the transposed matrix."""
    exchanged = (LOWER if UPPER in facts else NONE) | (UPPER if LOWER in facts else NONE)
    return facts & ~DIAGONAL | exchanged


def identity_facts(node: Node, of: Known) -> Structure:
    return of(identity_operand(node))


@about("cholesky")
def _(node: Node, _of: Known) -> Structure:
    return UPPER if node.attrs["upper"] else LOWER


@about("qr")
def _(node: Node, _of: Known) -> Structure:
    return UPPER if node.attrs["result"] else orthogonal_if_square(node)


@about("product_of_q", "product_with_q")
def _(node: Node, _of: Known) -> Structure:
    return UPPER if node.attrs["result"] else NONE


@about("eigh")
def _(node: Node, _of: Known) -> Structure:
    return ORTHOGONAL if node.attrs["result"] else NONE


@about("svd")
def _(node: Node, _of: Known) -> Structure:
    return orthogonal_if_square(node) if node.attrs["result"] != 1 else NONE


def orthogonal_if_square(value: Value) -> Structure:
    return ORTHOGONAL if is_square(value) else NONE


@about("solve_triangular")
def _(node: Node, of: Known) -> Structure:
    """The inverse of a triangular matrix is triangular in the same way."""
    own = LOWER if node.attrs["lower"] != bool(node.attrs["trans"]) else UPPER
    return own & of(node.inputs[1]) if is_square(node) else NONE


@about("matmul")
def _(node: Node, of: Known) -> Structure:
    left, right = node.inputs
    flags = node.attrs["transposed"]
    facts = [transposed(of(each)) if flag else of(each) for each, flag in zip((left, right), flags, strict=True)]
    kept = facts[0] & facts[1] & (DIAGONAL | ORTHOGONAL)
    return kept | SYMMETRIC if left is right and flags[0] != flags[1] else kept


@about("transpose")
def _(node: Node, of: Known) -> Structure:
    axes = node.attrs["axes"]
    if axes[-2:] == (-1, -2):
        return transposed(of(node.inputs[0]))
    return of(node.inputs[0]) if axes[-2:] == (-2, -1) else NONE


@about("expand_dims", "broadcast_to", "squeeze")
def _(node: Node, of: Known) -> Structure:
    return of(node.inputs[0]) if is_whole(node.inputs[0], node) and keeps_matrices(node) else NONE


def keeps_matrices(node: Node) -> bool:
    """Whether a view adds and removes dimensions of the batch alone."""
    return all(axis < -2 for axis in node.attrs.get("axes", ()))


@about("negative", "conjugate", "real", "square", "sqrt", "absolute", "copy")
def _(node: Node, of: Known) -> Structure:
    kept = TRIANGULAR_ONLY | ORTHOGONAL if node.op.name in ("negative", "conjugate", "copy") else TRIANGULAR_ONLY
    return of(node.inputs[0]) & kept


@about("add", "subtract")
def _(node: Node, of: Known) -> Structure:
    left, right = (shared(each, node, of, SYMMETRIC) for each in node.inputs)
    return left & right & TRIANGULAR_ONLY


@about("multiply")
def _(node: Node, of: Known) -> Structure:
    left, right = (shared(each, node, of, SYMMETRIC) for each in node.inputs)
    return ((left | right) & DIAGONAL) | (left & right & SYMMETRIC)


@about("divide")
def _(node: Node, of: Known) -> Structure:
    left, right = (shared(each, node, of, SYMMETRIC) for each in node.inputs)
    return left & DIAGONAL | (left & right & SYMMETRIC)


def shared(operand: Value, node: Node, of: Known, of_number: Structure) -> Structure:
    """The facts about an operand as it is broadcast."""
    if is_whole(operand, node):
        return of(operand)
    return of_number if all(shapes.resolve(each) == 1 for each in operand.shape[-2:]) else NONE


def is_whole(operand: Value, node: Value) -> bool:
    """Whether an operand has all of the rows and columns of a result."""
    return operand.ndim >= 2 and all(map(shapes.same, operand.shape[-2:], node.shape[-2:]))


@about("where")
def _(node: Node, of: Known) -> Structure:
    """The matrices of `numpy.tril`, `triu` and `diag`, which are choices by rows and columns."""
    condition, inside, outside = node.inputs
    if not is_whole(condition, node):
        return NONE
    if is_zero(outside):
        return zeros_where_false(condition) | (of(inside) & DIAGONAL if is_whole(inside, node) else NONE)
    if is_zero(inside):
        return zeros_where_true(condition) | (of(outside) & DIAGONAL if is_whole(outside, node) else NONE)
    return NONE


@about("cast")
def _(node: Node, of: Known) -> Structure:
    """The matrices of `numpy.eye` and `tri`, which are converted conditions."""
    (operand,) = node.inputs
    if operand.dtype != bool:
        return of(operand) & (Structure.ALL if keeps_values(operand.dtype, node.dtype) else TRIANGULAR_ONLY)
    found = zeros_where_false(operand)
    return Structure.ALL if found == DIAGONAL and is_square(node) else found


def is_zero(value: Value) -> bool:
    return isinstance(value, Constant) and value.data.size > 0 and not np.any(value.data)


def zeros_where_false(condition: Value) -> Structure:
    """The facts about a matrix that is zero where a condition on rows and columns does not hold."""
    offset = diagonal_of(condition)
    if offset is None:
        return NONE
    if is_op(condition, "equal"):
        return DIAGONAL if offset == 0 else NONE
    return LOWER if is_op(condition, "greater_equal") and offset <= 0 else NONE


def zeros_where_true(condition: Value) -> Structure:
    offset = diagonal_of(condition)
    return UPPER if offset is not None and is_op(condition, "greater_equal") and offset >= -1 else NONE


def diagonal_of(condition: Value) -> int | None:
    """The diagonal whose elements a comparison of ``row + offset`` with columns is about."""
    if not is_op(condition, "equal", "greater_equal"):
        return None
    rows, columns = condition.inputs
    offset = 0
    if is_op(rows, "add") and isinstance(rows.inputs[1], Constant) and rows.inputs[1].data.ndim == 0:
        offset, rows = int(rows.inputs[1].data), rows.inputs[0]
    numbered = is_op(rows, "expand_dims") and rows.attrs["axes"] == (-1,) and is_op(rows.inputs[0], "iota")
    return offset if numbered and is_op(columns, "iota") else None
