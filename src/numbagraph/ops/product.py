"""The product of matrices, and NumPy's products of vectors and matrices that are written in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.common import batch_elementwise, broadcasting_vjp, scalar_result
from numbagraph.blockwise.elementwise import install_operator
from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.lowering import Routine
from numbagraph.blockwise.promotion import promote, ufunc_rule
from numbagraph.intrinsics.emitters import blas, fortran
from numbagraph.ir import shapes
from numbagraph.ir.op import lazy, quiet, registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import ArrayType, Extent, Node, Op, Value
from numbagraph.ops import reduction
from numbagraph.ops.arithmetic import conjugate
from numbagraph.ops.shape import expand_dims, permute, squeeze, transpose

Flags = tuple[bool, bool]
"""For each operand, whether its last two dimensions are exchanged."""


def matrix_extents(left: Value, right: Value, transposed: Flags) -> tuple[Extent, Extent, Extent, Extent]:
    """Return the lengths ``m, k`` and ``k, n`` of the two matrices."""
    (rows, inner), (other, columns) = (
        value.shape[-2:][::-1] if flag else value.shape[-2:]
        for value, flag in zip((left, right), transposed, strict=True)
    )
    return rows, inner, other, columns


def matmul_type(left: Value, right: Value, *, transposed: Flags) -> ArrayType:
    rows, _, _, columns = matrix_extents(left, right, transposed)
    batch = shapes.broadcast_shapes([left.shape[:-2], right.shape[:-2]], "matmul")
    return ArrayType(left.dtype, (*batch, rows, columns))


def matmul_frontend(op: Op, x1: Any, x2: Any, weak: bool = False) -> Value:
    left, right = promote(ufunc_rule(np.matmul), (x1, x2))
    require_dimensions("matmul", (left, right), (1, 1))
    operands = " and ".join(shapes.shape_text(value.shape) for value in (left, right))
    dropped = tuple(axis for axis, value in ((-2, left), (-1, right)) if value.ndim == 1)
    left = left if left.ndim > 1 else expand_dims.bind(left, axes=(-2,))
    right = right if right.ndim > 1 else expand_dims.bind(right, axes=(-1,))
    shapes.require_same(left.shape[-1], right.shape[-2], f"matmul: the inner lengths of {operands} differ")
    product = matrix_product(left, right)
    return scalar_result(squeeze.bind(product, axes=dropped) if dropped else product)


def require_dimensions(name: str, values: Sequence[Value], needed: Sequence[int]) -> None:
    for number, (value, least) in enumerate(zip(values, needed, strict=True)):
        if value.ndim < least:
            raise ValueError(f"{name}: operand {number} has {value.ndim} dimensions, and needs at least {least}")


def matrix_product(left: Value, right: Value, transposed: Flags = (False, False)) -> Value:
    """Return the product of (stacks of) matrices: by BLAS, or by a loop nest where that is as good and fuses.

    One with a dimension of length 1 stays a product until rules have seen it (`numbagraph.rewrite.products`).
    """
    (left, left_flag), (right, right_flag) = map(as_stored, (left, right), transposed)
    transposed = left_flag, right_flag
    rows, inner, other, columns = matrix_extents(left, right, transposed)
    shapes.require_same(inner, other, f"matmul: the inner lengths {inner} and {other} differ")
    if left.dtype.kind not in "fc":
        return sum_of_products(left, right, transposed)
    tall = shapes.product([*left.shape[:-2], rows])  # one matrix on the right multiplies them all in one call
    for extent in () if is_thin(left, right, transposed) else (tall if right.ndim == 2 else rows, inner, columns):
        shapes.require(shapes.compare("less_equal", extent, fortran.LONGEST), "matmul: a length is 2**31 or more")
    return matmul.bind(left, right, transposed=transposed)


def is_thin(left: Value, right: Value, transposed: Flags) -> bool:
    """Whether one of the three lengths is known to be 1."""
    return 1 in (shapes.resolve(extent) for extent in matrix_extents(left, right, transposed))


def as_stored(value: Value, transposed: bool) -> tuple[Value, bool]:
    """Return the matrix behind a transposed one, which BLAS reads in place, and its flag."""
    if isinstance(value, Node) and value.op is transpose and value.attrs["axes"] == (-1, -2):
        return value.inputs[0], not transposed
    return value, transposed


def sum_of_products(left: Value, right: Value, transposed: Flags) -> Value:
    """Return a matrix product as a loop nest, whose innermost loop runs along memory."""
    rows, _, _, columns = matrix_extents(left, right, transposed)
    order = "mkn"
    if transposed[0] and shapes.resolve(columns) == 1:
        order = "kmn"
    elif transposed[1] and shapes.resolve(rows) == 1:
        order = "mnk"
    product = aligned(left, "km" if transposed[0] else "mk", order) * aligned(
        right, "nk" if transposed[1] else "kn", order
    )
    axis = order.index("k") - 3
    if shapes.resolve(product.shape[axis]) == 1:
        return squeeze.bind(product, axes=(axis,))
    return total(product, (axis,))


def total(value: Value, axes: tuple[int, ...]) -> Value:
    """Return the sum in the dtype of the summands, as in products; for truth values, whether any is true."""
    return (reduction.any if value.dtype == BOOL else reduction.sum).bind(value, axes=axes)


def aligned(value: Value, labels: str, order: str) -> Value:
    """Return a matrix with its two dimensions, and one of length 1, in an order of three."""
    present = [label for label in order if label in labels]
    if present != list(labels):
        value = transposed_matrix(value)
    missing = next(axis for axis, label in enumerate(order) if label not in labels)
    return expand_dims.bind(value, axes=(missing - 3,))


def transposed_matrix(value: Value) -> Value:
    return permute(value, [*range(value.ndim - 2), value.ndim - 1, value.ndim - 2])


def matmul_vjp(g: Value, y: Value, left: Value, right: Value, *, transposed: Flags) -> tuple[Value, Value]:
    first, second = transposed
    to_left = matrix_product(right, g, (second, True)) if first else matrix_product(g, right, (False, not second))
    to_right = matrix_product(g, left, (True, first)) if second else matrix_product(left, g, (not first, False))
    return to_left, to_right


def evaluate(function: Any, left: Any, right: Any, transposed: Flags) -> Any:
    matrices = (each.swapaxes(-1, -2) if flag else each for each, flag in zip((left, right), transposed, strict=True))
    return function(*matrices)


def matmul_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    pairs = [((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5))]
    stacks = [((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (6, 4, 5)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,))]
    return [tuple(draw(rng, dtype, shape) for shape in shapes_) for shapes_ in (*pairs, *stacks)]


matmul = registry.register(
    Op(
        name="matmul",
        kind="product",
        reference=lambda left, right, *, transposed: quiet(evaluate, np.matmul, left, right, transposed),
        infer=matmul_type,
        frontend=matmul_frontend,
        lower=Routine(blas.matmul, (2, 2), (2,)),
        vjp=broadcasting_vjp(matmul_vjp),
        batch=batch_elementwise,
        jnp=lambda left, right, *, transposed: evaluate(lazy("jax.numpy:matmul"), left, right, transposed),
        samples=matmul_samples,
        implements=(np.matmul, np.linalg.matmul),
        ulp=16,
        operator="matmul",
    )
)
install_operator("matmul", matmul)


def vectors(*shapes_: tuple[int, ...]) -> Any:
    """Return samples of operands of these shapes."""
    return lambda rng, dtype: [tuple(draw(rng, dtype, shape) for shape in shapes_)]


@decomposition(np.vecdot, samples=vectors((3, 4), (2, 1, 4)), implements=(np.linalg.vecdot,), ulp=16)
def vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Value:
    left, right = promote(ufunc_rule(np.vecdot), (x1, x2))
    require_dimensions("vecdot", (left, right), (1, 1))
    left, right = (
        permute(value, moved_last(value.ndim, shapes.normalise_axis(axis, value.ndim))) for value in (left, right)
    )
    shapes.require_same(left.shape[-1], right.shape[-1], "vecdot: the lengths of the vectors differ")
    return total(conjugate(left) * right if left.dtype.kind == "c" else left * right, (-1,))


def moved_last(ndim: int, axis: int) -> list[int]:
    return [each for each in range(ndim) if each != axis + ndim] + [axis + ndim]


def matvec(x1: Any, x2: Any) -> Value:
    matrix, vector = promote(ufunc_rule(np.matmul), (x1, x2))
    require_dimensions("matvec", (matrix, vector), (2, 1))
    return squeeze.bind(matrix_product(matrix, expand_dims.bind(vector, axes=(-1,))), axes=(-1,))


def vecmat(x1: Any, x2: Any) -> Value:
    vector, matrix = promote(ufunc_rule(np.matmul), (x1, x2))
    require_dimensions("vecmat", (vector, matrix), (1, 2))
    vector = conjugate(vector) if vector.dtype.kind == "c" else vector
    return squeeze.bind(matrix_product(expand_dims.bind(vector, axes=(-2,)), matrix), axes=(-2,))


if hasattr(np, "matvec"):  # NumPy 2.2
    matvec = decomposition(np.matvec, samples=vectors((2, 3, 4), (4,)), ulp=16)(matvec)
    vecmat = decomposition(np.vecmat, samples=vectors((3,), (2, 3, 4)), ulp=16)(vecmat)
