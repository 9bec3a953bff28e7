"""Translation of reductions, products of matrices, and functions of whole rows: softmax, sorting, convolution."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from pymc.distributions.dist_math import SplineWrapper
from pytensor.graph.basic import Apply
from pytensor.tensor import math
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.extra_ops import CumOp, SearchsortedOp
from pytensor.tensor.signal.conv import Convolve1d
from pytensor.tensor.sort import ArgSortOp, SortOp

from numbagraph.blockwise.promotion import convert
from numbagraph.forking import importing
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64, canonical_dtype
from numbagraph.ir.values import Value, constant
from numbagraph.ops.convolution import convolved
from numbagraph.ops.shape import expand_at, permute, reshape_value
from numbagraph.pymc_bridge.compatibility import blas, rows, running_dtype, scalars, sorted_axis
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, imports
from numbagraph.pymc_bridge.translations.structure import elements_of, is_made_of_numbers

REDUCTIONS: dict[type, str] = {
    scalars.Add: "sum",
    scalars.Mul: "prod",
    scalars.Maximum: "max",
    scalars.Minimum: "min",
    scalars.AND: "all",
    scalars.OR: "any",
}

BITWISE: dict[type, str] = {
    scalars.AND: "bitwise_and_reduce",
    scalars.OR: "bitwise_or_reduce",
    scalars.XOR: "bitwise_xor_reduce",
}
"""The reductions of the bits of integers."""

AS_IT_IS = ("all", "any", "max", "min")
"""The reductions of operands as they are, whose result is converted."""


@imports(CAReduce)
def reduction(importer: Importer, node: Apply, x: Value) -> Value:
    scalar_op, axis = node.op.scalar_op, node.op.axis
    if axis == () or not x.ndim:
        return x
    if type(scalar_op) in BITWISE and (x.dtype.kind in "iu" or type(scalar_op) not in REDUCTIONS):
        return registry[BITWISE[type(scalar_op)]](x, axis)
    name = REDUCTIONS.get(type(scalar_op))
    if name is None:
        raise UnsupportedOp(f"PyTensor's reduction by {scalar_op} of {x.dtype} has no translation")
    if name == "all" and x.ndim == 1 and is_made_of_numbers(x):
        return all_of(elements_of(x))
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    accumulator = canonical_dtype(getattr(node.op, "acc_dtype", None) or dtype)
    found = registry[name](x if name in AS_IT_IS else convert(x, accumulator), axis)
    return registry["real"](found) if found.dtype.kind == "c" and dtype.kind != "c" else found


def all_of(conditions: list[Value]) -> Value:
    result, *others = conditions
    for each in others:
        result = registry["logical_and"](result, each)
    return result


@imports(math.ProdWithoutZeros)
def product_without_zeros(importer: Importer, node: Apply, x: Value) -> Value:
    return registry["prod"](registry["where"](registry["equal"](x, constant(0, dtype=x.dtype)), 1, x), node.op.axis)


@imports(math.Argmax)
def argmax(importer: Importer, node: Apply, x: Value) -> Value:
    axis = node.op.axis
    if axis is None or len(axis) == x.ndim:
        return registry["argmax"](registry["ravel"](x), 0)
    kept = [each for each in range(x.ndim) if each not in axis]
    shape = [x.shape[each] for each in kept]
    together = reshape_value(permute(x, [*kept, *axis]), (*shape, shapes.product([x.shape[each] for each in axis])))
    return registry["argmax"](together, -1)


@imports(CumOp, moves=True)
def running(importer: Importer, node: Apply, x: Value) -> Value:
    dtype = running_dtype(x.dtype, x.ndim, node.op.mode)
    return registry["cumsum" if node.op.mode == "add" else "cumprod"](convert(x, dtype), node.op.axis, dtype=dtype)


@imports(math.Dot, blas.Dot22)
def dot(importer: Importer, node: Apply, x: Value, y: Value) -> Value:
    """A product. PyTensor's outer products are products of a column and a row, which are elementwise here."""
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    x, y = convert(x, dtype), convert(y, dtype)
    if x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0] == 1:
        return x * y
    return registry["dot"](x, y)


@imports(blas.BatchedDot)
def batched_dot(importer: Importer, node: Apply, x: Value, y: Value) -> Value:
    return registry["matmul"](x, y)


@imports(blas.Gemv, blas.Gemm)
def scaled_product(importer: Importer, node: Apply, z: Value, a: Value, x: Value, y: Value, b: Value) -> Value:
    product = registry["dot"](x, y)
    require_shape(node, z, product)
    return unless_zero(b, b * z) + unless_zero(a, a * product)


@imports(blas.Ger)
def rank_one_update(importer: Importer, node: Apply, z: Value, a: Value, x: Value, y: Value) -> Value:
    product = registry["outer"](x, a * y)
    require_shape(node, z, product)
    return z + unless_zero(a, product)


def require_shape(node: Apply, z: Value, product: Value) -> None:
    """Require an array to have the shape of the product that is added to it: BLAS repeats nothing."""
    for ours, theirs in zip(z.shape, product.shape, strict=True):
        given = f"{shapes.shape_text(z.shape)} and {shapes.shape_text(product.shape)}"
        shapes.require_same(ours, theirs, f"{node.op}: an array and a product to be added to it have shapes {given}")


def unless_zero(factor: Value, product: Value) -> Value:
    """A product with ``factor``, which is 0 where the factor is: as in BLAS, the product is not read then, and may be
    NaN."""
    return registry["where"](registry["equal"](factor, 0), np.zeros((), product.dtype), product)


@imports(SplineWrapper)
def spline(importer: Importer, node: Apply, x: Value) -> Value:
    """Evaluate the polynomial of the interval that each element is in; those at the ends continue."""
    with importing:
        from scipy.interpolate import PPoly  # noqa: PLC0415  0.4 s where nobody has imported it

    curve = node.op.spline  # FITPACK's or SciPy's newer kind
    pieces = PPoly.from_spline(getattr(curve, "_eval_args", curve))
    inner = pieces.x[np.flatnonzero(np.diff(pieces.x)) + 1][:-1]
    coefficients = pieces.c[:, np.diff(pieces.x) > 0]
    begins = pieces.x[:-1][np.diff(pieces.x) > 0]
    beyond = x >= expand_at(importer.capture(inner, "knots"), range(1, 1 + x.ndim)) if inner.size else None
    interval = constant(np.int64(0)) if beyond is None else registry["sum"](convert(beyond, INT64), 0)
    distance = x - registry["take"](importer.capture(begins, "begins"), interval)
    first, *others = [registry["take"](importer.capture(each, "coefficients"), interval) for each in coefficients]
    for each in others:
        first = first * distance + each
    return first


@imports(rows.Softmax)
def softmax(importer: Importer, node: Apply, x: Value) -> Value:
    return registry["softmax"](x, axis=node.op.axis)


@imports(rows.LogSoftmax)
def log_softmax(importer: Importer, node: Apply, x: Value) -> Value:
    return registry["log_softmax"](x, axis=node.op.axis)


@imports(rows.LogSumExp)
def logsumexp(importer: Importer, node: Apply, x: Value) -> Value:
    return registry["logsumexp"](x, axis=node.op.axis)


FORMULAS: dict[type, str] = {rows.LogAddExp: "logaddexp", rows.XLogY: "xlogy", rows.XLog1PY: "xlog1py"}
"""The elementwise functions that PyTensor has as graphs in an op."""


@imports(*FORMULAS)
def formula(importer: Importer, node: Apply, *operands: Value) -> Value:
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    return reduce(registry[FORMULAS[type(node.op)]], [convert(each, dtype) for each in operands])


@imports(rows.SoftmaxGrad)
def softmax_gradient(importer: Importer, node: Apply, given: Value, softmax_of_x: Value) -> Value:
    product: Any = given * softmax_of_x
    return product - registry["sum"](product, node.op.axis, keepdims=True) * softmax_of_x


@imports(SortOp, ArgSortOp, moves=True)
def sort(importer: Importer, node: Apply, x: Value, *axis: Value) -> Any:
    known = [importer.data_of(each) for each in axis]
    if any(each is None for each in known):
        return importer.computed_now(node)
    name = "sort" if isinstance(node.op, SortOp) else "argsort"
    return registry[name](x, sorted_axis(node.op, *known), kind=node.op.kind)


@imports(SearchsortedOp)
def searchsorted(importer: Importer, node: Apply, x: Value, v: Value, *sorter: Value) -> Value:
    return registry["searchsorted"](x, v, node.op.side, *sorter)


@imports(Convolve1d)
def convolution(importer: Importer, node: Apply, a: Value, v: Value, full: Value) -> Any:
    known = importer.data_of(full)
    if known is None:
        return importer.computed_now(node)
    return convolved(a, v, "full" if known else "valid")


def matrix_product(importer: Importer, node: Apply, x: Value, y: Value) -> Value:
    """A `Dot` of the last dimensions, by how many each operand has."""
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    core = tuple(len(each) for each in node.op.inputs_sig)
    names: dict[tuple[int, ...], str] = {(2, 2): "matmul", (1, 1): "vecdot", (2, 1): "matvec", (1, 2): "vecmat"}
    return registry[names[core]](convert(x, dtype), convert(y, dtype))
