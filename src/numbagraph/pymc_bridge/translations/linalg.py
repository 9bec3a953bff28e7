"""Translation of linear algebra: a table from PyTensor's ops to numbagraph's, which work on batches of matrices as they
are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply

from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64, canonical_dtype
from numbagraph.ir.values import Op, Value
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.linalg.singular import on_linalg_error
from numbagraph.ops.shape import expand_at, squeeze_at
from numbagraph.pymc_bridge.compatibility import linalg as ops
from numbagraph.pymc_bridge.compatibility import math, multivariate, refuses_nan, triangle_of
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, describe, imports
from numbagraph.pymc_bridge.translations.mathematics import all_of


def needed(name: str, node: Apply) -> Op:
    """One of numbagraph's ops by its name."""
    if name not in registry:
        raise UnsupportedOp(
            f"PyTensor's op {node.op} needs numbagraph's op {name!r}, which there is not. It computes "
            f"{describe(node.outputs[0])}"
        )
    return registry[name]


Call = Callable[..., Any]


@imports(ops.EighGrad)
def eigh_derivative(
    importer: Importer, node: Apply, x: Value, values: Value, vectors: Value, by_values: Value, by_vectors: Value
) -> Value:
    """PyTensor's own derivative of the eigenvalues and vectors of a real symmetric matrix, by one triangle of it."""
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    values, vectors, by_values, by_vectors = (convert(each, dtype) for each in (values, vectors, by_values, by_vectors))
    transposed = registry["matrix_transpose"](vectors)
    same = registry["eye"](values.shape[-1], dtype=dtype)
    turned = registry["matrix_transpose"](by_vectors) @ vectors / (expand_at(values, (1,)) - values + same)
    middle = registry["where"](registry["equal"](same, 1), by_values, turned)
    whole = vectors @ middle @ transposed
    mine, other, beside = ("tril", "triu", 1) if node.op.UPLO == "L" else ("triu", "tril", -1)
    return registry[mine](whole) + registry["matrix_transpose"](registry[other](whole, beside))


def mirrored(a: Value, *, lower: bool, hermitian: bool = True) -> Value:
    """The Hermitian or symmetric matrix, from the triangle of it that PyTensor reads."""
    strict = registry["tril"](a, -1) if lower else registry["triu"](a, 1)
    other = registry["matrix_transpose"](strict)
    if a.dtype.kind != "c" or not hermitian:
        return (registry["tril"](a) if lower else registry["triu"](a)) + other
    same = registry["eye"](a.shape[-1], dtype=a.dtype)
    return strict + same * registry["real"](a) + registry["conjugate"](other)


def solution(op: Any, solve: Op, a: Value, b: Value) -> Value:
    """The solution of a system whose matrix is of the kind ``op.assume_a``: no more of the matrix is read than that
    kind requires."""
    kind = op.assume_a
    if kind == "pos":
        return registry["cho_solve"]((registry["cholesky"](a, upper=not op.lower), op.lower), b)
    if kind == "tridiagonal":
        return Bands(*(registry["diagonal"](a, offset, -2, -1) for offset in (-1, 0, 1))).solution(b)
    return solve(mirrored(a, lower=op.lower, hermitian=kind == "her") if kind in ("sym", "her") else a, b)


class Bands(Struct):
    """The diagonals of tridiagonal matrices, from the lowest."""

    below: Value
    diagonal: Value
    above: Value

    def solution(self, b: Value) -> Value:
        solve = registry["solve_tridiagonal"]
        return solve(padded(self.below, 1, 0), self.diagonal, padded(self.above, 0, 1), b)


def padded(vectors: Value, before: int, after: int) -> Value:
    return registry["pad"](vectors, [(0, 0)] * (vectors.ndim - 1) + [(before, after)])


@imports(ops.LUFactorTridiagonal)
def tridiagonal_factors(importer: Importer, node: Apply, *diagonals: Value) -> list[Value]:
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    below, diagonal, above = (convert(each, dtype) for each in diagonals)
    found: Any = registry["tridiagonal_factors"](padded(below, 0, 1), diagonal, padded(above, 0, 1))
    *factors, pivots = found
    extent = diagonal.shape[-1]
    counts = [shapes.maximum(shapes.subtract(extent, fewer), 0) for fewer in (1, 0, 1, 2)]
    return [*(narrow(each, -1, 0, count) for each, count in zip(factors, counts, strict=True)), pivots]


@imports(ops.SolveLUFactorTridiagonal)
def tridiagonal_solution(importer: Importer, node: Apply, *operands: Value) -> Value:
    """The solution of a system by the factors of its matrix; if that is known, by the matrix itself, which has
    derivatives."""
    op, dtype = core_of(node.op), canonical_dtype(node.outputs[0].type.dtype)
    *given, pivots, b = operands
    b = convert(b, dtype) if op.b_ndim == 2 else expand_at(convert(b, dtype), (b.ndim,))
    factored: Any = node.inputs[0].owner
    if (
        factored is not None
        and isinstance(core_of(factored.op), ops.LUFactorTridiagonal)
        and node.inputs[:5] == factored.outputs
        and all(map(importer.knows, factored.inputs))
    ):
        bands = Bands(*(convert(importer.values[each], dtype) for each in factored.inputs))
        with on_linalg_error("nan"):
            found = (Bands(bands.above, bands.diagonal, bands.below) if op.transposed else bands).solution(b)
    else:
        below, diagonal, above, beyond = (convert(each, dtype) for each in given)
        vectors = padded(below, 0, 1), diagonal, padded(above, 0, 1), padded(beyond, 0, 2)
        found = registry["solve_tridiagonal_factored"](*vectors, pivots, b, op.transposed)
    return found if op.b_ndim == 2 else squeeze_at(found, (found.ndim - 1,))


def orthogonal(op: Any, qr: Call, a: Value) -> list[Value]:
    """The factors in PyTensor's modes, which differ where a matrix is not square. With pivots they are those of the
    matrix with its columns in another order."""
    order = [registry["order_of_columns"](a)] if op.pivoting else []
    if order:
        a = registry["take_along_axis"](a, expand_at(convert(order[0], INT64), (order[0].ndim - 1,)), -1)
    factors = qr(a, "reduced" if op.mode == "economic" else "complete")
    if op.mode == "r":
        return [factors[1], *order]
    if op.mode == "raw":
        found: Any = registry["qr_reflections"](a)
        packed, scales = found
        upper = registry["triu"](narrow(packed, -2, 0, scales.shape[-1]))
        return [packed, scales, upper, *order]
    return [*factors, *order]


def schur(op: Any, form: Call, a: Value) -> list[Value]:
    if op.sort is not None:
        raise UnsupportedOp(f"{op} has no translation, but without an order of eigenvalues")
    if op.output == "complex" and a.dtype.kind != "c":
        a = convert(a, np.result_type(a.dtype, np.complex64))
    return list(form(a))


def generalised_eigenvalues(op: Any, eigvalsh: Op, a: Value, *metric: Value) -> Value:
    """The eigenvalues ``w`` of ``a x = w b x``, as those of the symmetric matrix that the factor of ``b`` makes of
    ``a`` (Golub and Van Loan, Matrix Computations, 8.7.2)."""
    a = mirrored(a, lower=op.lower)
    if metric:
        factor = registry["cholesky"](mirrored(*metric, lower=op.lower))
        half = registry["solve_triangular"](factor, a, lower=True)
        turned = registry["conjugate"](registry["matrix_transpose"](half))
        a = registry["solve_triangular"](factor, turned, lower=True)
    return eigvalsh(a)


TABLE: dict[type, tuple[str, Call]] = {
    ops.Cholesky: ("cholesky", lambda op, f, a: f(a, upper=not op.lower)),
    ops.SolveTriangular: (
        "solve_triangular",
        lambda op, f, a, b: f(a, b, lower=op.lower, unit_diagonal=op.unit_diagonal),
    ),
    ops.CholeskySolve: ("cho_solve", lambda op, f, c, b: f((c, op.lower), b)),
    ops.Solve: ("solve", solution),
    ops.SolveSylvester: ("solve_sylvester", lambda op, f, a, b, q: f(a, b, q)),
    ops.SolveBilinearDiscreteLyapunov: ("solve_discrete_lyapunov", lambda op, f, a, q: f(a, q)),
    ops.Expm: ("expm", lambda op, f, a: f(a)),
    ops.MatrixInverse: ("inv", lambda op, f, a: f(a)),
    ops.MatrixPinv: ("pinv", lambda op, f, a: f(a)),
    ops.Det: ("det", lambda op, f, a: f(a)),
    ops.SLogDet: ("slogdet", lambda op, f, a: list(f(a))),
    math.LogDet: ("slogdet", lambda op, f, a: registry["sum"](f(a)[1])),
    ops.Eig: ("eig", lambda op, f, a: list(f(a))),
    ops.Eigvalsh: ("eigvalsh", generalised_eigenvalues),
    ops.Eigh: ("eigh", lambda op, f, a: list(f(a, triangle_of(op)))),
    ops.SVD: ("svd", lambda op, f, a: f(a, full_matrices=op.full_matrices, compute_uv=op.compute_uv)),
    ops.QR: ("qr", orthogonal),
    ops.Schur: ("schur_form", schur),
    ops.LU: ("lu", lambda op, f, a: list(f(a, op.permute_l, p_indices=op.p_indices))),
    ops.LUFactor: ("lu_factor", lambda op, f, a: without_singular(*f(a))),
}
"""For each of PyTensor's ops, the name of numbagraph's op, and the call of it, from PyTensor's op and the operands."""


NAN_WITHOUT_SOLUTION = (
    "cho_solve",
    "cholesky",
    "schur_form",
    "solve",
    "solve_discrete_lyapunov",
    "solve_sylvester",
    "solve_triangular",
)
"""Functions that return NaN where there is no solution; others raise an error, as NumPy does."""


def core_of(op: Any) -> Any:
    """The op on one matrix, of an op on batches of them."""
    return getattr(op, "core_op", op)


@imports(ops.BlockDiagonal)
def block_diagonal(importer: Importer, node: Apply, *matrices: Value) -> Value:
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    return registry["block_diag"](*[convert(each, dtype) for each in matrices])


@imports(multivariate.PosDefMatrix)
def is_positive_definite(importer: Importer, node: Apply, a: Value) -> Value:
    with on_linalg_error("nan"):
        factor = needed("cholesky", node)(a)
    return registry["all"](registry["isfinite"](factor))


def without_singular(factors: Value, pivots: Value) -> list[Value]:
    """Replace factors with which no system can be solved by NaN."""
    diagonal = registry["diagonal"](factors, 0, -2, -1)
    singular = registry["any"](registry["equal"](diagonal, 0), -1)
    return [registry["where"](expand_at(singular, range(singular.ndim, factors.ndim)), np.nan, factors), pivots]


@imports(ops.PivotToPermutations)
def permutation(importer: Importer, node: Apply, pivots: Value) -> Value:
    """The permutation that exchanging rows one after the other results in."""
    rows = convert(registry["permutation_of"](pivots), INT64)
    return rows if core_of(node.op).inverse else registry["argsort"](rows)


@imports(*TABLE)
def linear_algebra(importer: Importer, node: Apply, *operands: Value) -> Any:
    """Translate an op. PyTensor's results are NaN where NumPy raises an error, and PyMC's checks look for that."""
    op = core_of(node.op)
    name, call = TABLE[type(op)]
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    operands = tuple(
        convert(each, dtype) if dtype.kind == "f" and each.dtype.kind != "c" else each for each in operands
    )
    if refuses_nan(op):
        finite = all_of([registry["all"](registry["isfinite"](each)) for each in operands])
        importer.require(finite, "array must not contain infs or NaNs", ValueError, node.outputs[0])
    with on_linalg_error("nan" if name in NAN_WITHOUT_SOLUTION else "raise"):
        if getattr(op, "b_ndim", 2) == 1:
            matrix, vector = operands
            result = call(op, needed(name, node), matrix, expand_at(vector, (vector.ndim,)))
            return squeeze_at(result, (result.ndim - 1,))
        results = call(op, needed(name, node), *operands)
    require_types(node, results if isinstance(results, (list, tuple)) else [results])
    return results


def require_types(node: Apply, results: Sequence[Value]) -> None:
    """Require results to have PyTensor's types. For complex matrices, some of these types are not those of its own
    values: the values count."""
    for variable, result in zip(node.outputs, results, strict=True):
        if (result.dtype.kind == "c") != (np.dtype(variable.type.dtype).kind == "c"):
            raise UnsupportedOp(f"{describe(variable)} would be {result.dtype} here")
