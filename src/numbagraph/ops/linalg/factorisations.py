"""Factorisations of matrices: Cholesky's, and that into triangles with pivots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from numbagraph.blockwise.core import promoted, require_square
from numbagraph.blockwise.kinds import core_op
from numbagraph.intrinsics.emitters.linalg import adjoints, general, triangular
from numbagraph.ir import shapes
from numbagraph.ir.op import load
from numbagraph.ir.values import Op, Value
from numbagraph.ops.comparison import equal
from numbagraph.ops.creation import iota
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.common import (
    adjoint,
    conj,
    half_diagonal,
    masked,
    product,
    reference,
    triangular_solution,
    unit,
)
from numbagraph.ops.linalg.permutations import in_order, inverse_of, permutation_of
from numbagraph.ops.product import transposed_matrix
from numbagraph.ops.selection import where


def one_square(a: Any) -> Value:
    """Return the operand of an op of square matrices, promoted."""
    (value,) = promoted(a)
    require_square(value)
    return value


def cholesky_frontend(op: Op, a: Any, *, upper: bool = False) -> Value:
    return op.bind(one_square(a), upper=bool(upper), on_error=singular.chosen())


def cholesky_vjp(g: Value, y: Value, a: Value, *, upper: bool, on_error: str) -> tuple[Value]:
    """Return the cotangent of the matrix: Murray, Differentiation of the Cholesky decomposition (2016), equation 10,
    for complex matrices as well.

    Only one triangle of the matrix is read, so the cotangent has no other.
    """
    if upper:
        (found,) = cholesky_vjp(adjoint(g), adjoint(y), a, upper=False, on_error=on_error)
        return (adjoint(found),)
    if y.dtype.kind == "f":
        return (cholesky_pullback.bind(y, g),)
    inner = half_diagonal(product(transposed_matrix(y), g))
    inner = conj(inner)  # from here on, cotangents as they pair with tangents by conjugation
    symmetric = inner + adjoint(inner)
    half = triangular_solution(y, symmetric, trans=2)
    full = triangular_solution(y, adjoint(half), trans=2)
    return (conj(half_diagonal(full)),)


def pullback_evaluate(factor: np.ndarray, g: np.ndarray) -> np.ndarray:
    lower = np.tril(factor)
    inverse, inner = np.linalg.inv(lower), np.tril(lower.T @ np.tril(g))
    symmetric = np.tril(inner, -1) + inner.T
    full = inverse.T @ symmetric @ inverse
    return np.tril(full) - 0.5 * np.diag(np.diag(full))


def pullback_jnp(factor: Any, g: Any) -> Any:
    jnp, solve = load("jax:numpy"), load("jax.lax.linalg:triangular_solve")
    lower = jnp.tril(factor)
    inner = jnp.tril(jnp.swapaxes(lower, -1, -2) @ jnp.tril(g))
    symmetric = jnp.tril(inner, -1) + jnp.swapaxes(inner, -1, -2)
    half = solve(lower, symmetric, left_side=True, lower=True, transpose_a=True)
    full = solve(lower, half, left_side=False, lower=True)
    return jnp.tril(full) - 0.5 * full * jnp.eye(full.shape[-1], dtype=full.dtype)


def pullback_vjp(g: Value, y: Value, factor: Value, cotangent: Value) -> tuple[Value, Value]:
    """Return the cotangents of ``F = L^-T M L^-1``, where M is symmetric and has the lower triangle of ``L^T G``."""
    lower = masked(factor)
    full = y + masked(transposed_matrix(y), upper=True)
    outer = half_diagonal(g)
    right = triangular_solution(lower, outer)
    middle = transposed_matrix(triangular_solution(lower, transposed_matrix(right)))
    inner = half_diagonal(middle + transposed_matrix(middle))
    both = product(full, outer + transposed_matrix(outer))
    turned = transposed_matrix(triangular_solution(lower, transposed_matrix(both)))
    to_factor = product(masked(cotangent), transposed_matrix(inner)) - turned
    return masked(to_factor), masked(product(lower, inner))


def pullback_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    shapes = ((3, 3), (1, 1), (2, 5, 5), (20, 20))
    pairs = [(samples.dominant(rng, dtype, shape), samples.draw(rng, dtype, shape)) for shape in shapes]
    return pairs if dtype.kind == "f" else []


def symmetric_from(a: Any, upper: bool) -> Any:
    """Return the Hermitian matrix of one triangle, with `jax.numpy`."""
    jnp = load("jax:numpy")
    strict = jnp.triu(a, 1) if upper else jnp.tril(a, -1)
    diagonal = jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1)).astype(a.dtype)
    return strict + jnp.conj(jnp.swapaxes(strict, -1, -2)) + diagonal[..., None] * jnp.eye(a.shape[-1], dtype=a.dtype)


def cholesky_jnp(a: Any, *, upper: bool, on_error: str) -> Any:
    return load("jax.numpy.linalg:cholesky")(symmetric_from(a, upper), upper=upper)


cholesky = core_op(
    np.linalg.cholesky,
    "(m,m)->(m,m)",
    evaluate=reference("(m,m)->(m,m)", stacks=True)(lambda a, *, upper: np.linalg.cholesky(a, upper=upper)),
    library=triangular.cholesky_by_lapack,
    small=triangular.cholesky_loops,
    frontend=cholesky_frontend,
    vjp=cholesky_vjp,
    jnp=cholesky_jnp,
    samples=samples.of(samples.positive, options=[(samples.Keywords(upper=True),)]),
)


cholesky_pullback = core_op(
    None,
    "(m,m),(m,m)->(m,m)",
    name="cholesky_pullback",
    evaluate=reference("(m,m),(m,m)->(m,m)")(pullback_evaluate),
    library=adjoints.cholesky_pullback_by_blas,
    small=adjoints.cholesky_pullback_loops,
    short=200,
    frontend=lambda op, factor, g: op.bind(*promoted(factor, g, ranks=(2, 2))),
    vjp=pullback_vjp,
    jnp=pullback_jnp,
    samples=pullback_samples,
)
"""The cotangent of a real symmetric matrix, of which the lower triangle counts, from its factor and the factor's."""


def lu_evaluate(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    getrf = load("scipy.linalg.lapack:get_lapack_funcs")("getrf", (a,))
    factors, pivots, _ = getrf(a)
    diagonal = np.diagonal(factors)
    determinant = 0 if (diagonal == 0).any() else np.prod(diagonal)
    determinant = determinant * (-1) ** np.sum(pivots != np.arange(len(pivots)))
    return np.ascontiguousarray(factors.T), pivots.astype(np.int32), np.asarray(determinant, factors.dtype)


def lu_vjp(given: Mapping[int, Value], y: Value, a: Value) -> tuple[Value]:
    """Return the cotangent of ``A = P L U``: ``P L^-T (gU + N U^-T)``.

    Here N is the part of ``L^T gL - gU U^T`` that lies below the diagonal.

    De Hoog, Anderssen and Lukas, Differentiation of matrix functionals using triangular factorization (2011). N has
    nothing in its last column, so the last pivot is never divided by: it may be 0.
    """
    g, factors = map(transposed_matrix, (given[0], y.op.bind(a, result=0)))  # type: ignore[attr-defined]
    below, upper, g_upper = masked(factors, -1), masked(factors, upper=True), masked(g, upper=True)
    lower_part = masked(g, -1) + product(transposed_matrix(below), masked(g, -1))
    inner = masked(lower_part - product(g_upper, transposed_matrix(upper)), -1)
    is_last = equal(iota(factors.shape[-1]), shapes.as_value(factors.shape[-1]) - 1)
    turned = triangular_solution(where(is_last, unit(upper), upper), transposed_matrix(inner), lower=False)
    found = g_upper + transposed_matrix(turned)
    found = triangular_solution(below, found, trans=1, unit_diagonal=True)
    pivots = y.op.bind(a, result=1)  # type: ignore[attr-defined]
    return (in_order(found, inverse_of(permutation_of(pivots))),)


def lu_jnp(a: Any) -> Any:
    factors, pivots, _ = load("jax.lax.linalg:lu")(a)
    return load("jax.numpy:swapaxes")(factors, -1, -2), pivots, load("jax.numpy.linalg:det")(a)


def lu_frontend(op: Op, a: Any) -> tuple[Value, Value]:
    """Return the triangles of a square matrix, in one that is transposed, and the row that each row was exchanged
    with."""
    value = one_square(a)
    return op.bind(value, result=0), op.bind(value, result=1)


square_lu = core_op(
    None,
    "(m,m)->(m,m),(m),()",
    name="square_lu",
    evaluate=reference("(m,m)->(m,m),(m),()")(lu_evaluate),
    library=general.lu_by_lapack,
    small=general.lu_loops,
    frontend=lu_frontend,
    vjp=lu_vjp,
    jnp=lu_jnp,
    dtypes=lambda dtype, *_: (dtype, np.dtype(np.int32), dtype),
    samples=samples.of(samples.regular),
)
"""The triangles of a square matrix, in one which is transposed, as LAPACK makes them and takes them again; the row that
each row was exchanged with, in order; and the determinant. A result that is not read is not stored."""
