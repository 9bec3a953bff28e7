"""Decompositions into orthogonal factors: eigenvalues of symmetric matrices, singular values, QR."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted
from numbagraph.blockwise.kinds import core_op
from numbagraph.blockwise.promotion import convert
from numbagraph.blockwise.signature import Lengths
from numbagraph.intrinsics.emitters.linalg import spectral
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import real_dtype
from numbagraph.ir.values import Extent, Op, Value
from numbagraph.ops.arithmetic import absolute
from numbagraph.ops.comparison import less_equal
from numbagraph.ops.creation import zeros_like
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.common import (
    adjoint,
    conj,
    half_diagonal,
    number,
    product,
    reference,
    triangular_solution,
    unit,
)
from numbagraph.ops.linalg.factorisations import one_square, symmetric_from
from numbagraph.ops.product import transposed_matrix
from numbagraph.ops.reduction import max
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_dims

EighResult = namedtuple("EighResult", ("eigenvalues", "eigenvectors"))
SVDResult = namedtuple("SVDResult", ("U", "S", "Vh"))
QRResult = namedtuple("QRResult", ("Q", "R"))
INTEGER = np.dtype(np.int32)
LONGEST = 23_000
"""The greatest length for which that of LAPACK's work memory fits into 32 bits."""


def spread(row: Value) -> Value:
    """Return numbers that belong to columns in a shape that multiplies the columns of a matrix."""
    return expand_dims.bind(row, axes=(-2,))


def on_diagonal(row: Value) -> Value:
    """Return the diagonal matrix of some numbers."""
    return spread(row) * registry["eye"](row.shape[-1], dtype=row.dtype)


def of_triangle(full: Value, lower: bool) -> Value:
    """Return the cotangent of the triangle that is read, from that of the whole Hermitian matrix (paired by
    conjugation)."""
    triangle = half_diagonal(full + adjoint(full))
    return conj(triangle) if lower else transposed_matrix(triangle)


def rounding(values: Value) -> Value:
    """Return a bound of the errors of eigenvalues or singular values."""
    size = absolute(values)
    length = convert(shapes.as_value(values.shape[-1]), size.dtype)
    return max(size, -1, keepdims=True, initial=0) * (length * number(np.finfo(size.dtype).eps, size))


def unless_rounding(values: Value, error: Value) -> Value:
    """Return the reciprocals of numbers, but 0 for those that are within their error."""
    nothing = less_equal(absolute(values), error)
    return where(nothing, number(0, values), 1 / where(nothing, number(1, values), values))


def differences(values: Value) -> Value:
    """Return ``1 / (values[j] - values[i])``, and 0 where both are equal up to rounding. A result that does not depend
    on the choice of vectors has no part that turns such vectors into each other, and the remainder that rounding leaves
    of it must not be divided by a small number."""
    gap = spread(values) - expand_dims.bind(values, axes=(-1,))
    return unless_rounding(gap, expand_dims.bind(rounding(values), axes=(-1,)))


def is_lower(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO.upper() == "L"


def eigh_vjp(given: Mapping[int, Value], y: Value, a: Value, *, lower: bool, on_error: str) -> tuple[Value]:
    """Return the cotangent of a Hermitian matrix: Giles, An extended collection of matrix derivative results (2008),
    section 3.1."""
    options = {"lower": lower, "on_error": on_error}
    values, vectors = (eigh.bind(a, result=result, **options) for result in (0, 1))
    inner = number(0, vectors)
    if 1 in given:
        inner = differences(values) * product(adjoint(vectors), conj(given[1]))
    if 0 in given:
        inner = inner + on_diagonal(given[0])
    return (of_triangle(product(vectors, inner, adjoint(vectors)), lower),)


def eigh_evaluate(a: np.ndarray, *, lower: bool) -> tuple[np.ndarray, ...]:
    return tuple(np.linalg.eigh(a, "L" if lower else "U"))


def eigh_jnp(a: Any, *, lower: bool, on_error: str) -> Any:
    values, vectors = load("jax.numpy.linalg:eigh")(symmetric_from(a, not lower), symmetrize_input=False)
    return values, vectors


def eigh_frontend(op: Op, a: Any, UPLO: str = "L") -> EighResult:
    matrix, options = one_square(a), {"lower": is_lower(UPLO), "on_error": singular.chosen()}
    return EighResult(*(op.bind(matrix, result=result, **options) for result in (0, 1)))


def projections(result: Any) -> tuple[Any, Any]:
    """Return the eigenvalues, and the projections on eigenvectors: these are determined, where the vectors are but for
    a factor of each."""
    values, vectors = result
    return values, vectors[..., :, None, :] * np.conj(vectors)[..., None, :, :]


def symmetric_scratch(
    dtype: np.dtype, lengths: Mapping[str, Any], *, vectors: bool = True, **_: Any
) -> Sequence[tuple[np.dtype, Any]]:
    n, more = lengths["m"], lowering.add(lengths["m"], lowering.literal(3))
    work = (2, more, more) if vectors else (spectral.BLOCK + 2, more)
    real_work = work if dtype.kind == "c" else (1,)
    return [(dtype, (n, n)), (dtype, work), (real_dtype(dtype), real_work), (INTEGER, (5, more))]


eigh = core_op(
    np.linalg.eigh,
    "(m,m)->(m),(m,m)",
    evaluate=reference("(m,m)->(m),(m,m)", stacks=True)(eigh_evaluate),
    library=spectral.symmetric(vectors=True),
    frontend=eigh_frontend,
    vjp=eigh_vjp,
    jnp=eigh_jnp,
    dtypes=lambda dtype, *_: (real_dtype(dtype), dtype),
    scratch=symmetric_scratch,
    longest=LONGEST,
    determined=projections,
    samples=samples.of(samples.separated, options=[("U",)]),
)


def eigvalsh_vjp(g: Value, y: Value, a: Value, **options: Any) -> tuple[Value]:
    return eigh_vjp({0: g}, y, a, **options)


def eigvalsh_frontend(op: Op, a: Any, UPLO: str = "L") -> Value:
    return op.bind(one_square(a), lower=is_lower(UPLO), on_error=singular.chosen())


eigvalsh = core_op(
    np.linalg.eigvalsh,
    "(m,m)->(m)",
    evaluate=reference("(m,m)->(m)", stacks=True)(lambda a, *, lower: np.linalg.eigvalsh(a, "L" if lower else "U")),
    library=spectral.symmetric(vectors=False),
    frontend=eigvalsh_frontend,
    vjp=eigvalsh_vjp,
    jnp=lambda a, **options: eigh_jnp(a, **options)[0],
    dtypes=lambda dtype, *_: (real_dtype(dtype),),
    scratch=partial(symmetric_scratch, vectors=False),
    longest=LONGEST,
    samples=samples.of(samples.separated, options=[("U",)]),
)


def qr_vjp(given: Mapping[int, Value], y: Value, a: Value, *, complete: bool) -> tuple[Value]:
    """Return the cotangent of the matrix: Walter and Lehmann, Algorithmic differentiation of linear algebra functions
    (2010); for more columns than rows, Roberts and Roberts, QR and LQ decomposition matrix backpropagation algorithms
    (2020)."""
    rows, columns = a.shape[-2:]
    if complete:
        fits = shapes.compare("less_equal", rows, columns)
        text = "the complete Q has no derivative where there are more rows than columns"
        shapes.require(fits, f"qr: {text}: use mode='reduced'", NotImplementedError)
    q, r = (qr.bind(a, complete=complete, result=result) for result in (0, 1))
    g_q, g_r = (conj(given[number]) if number in given else zeros_like(each) for number, each in ((0, q), (1, r)))
    k = q.shape[-1]
    right = g_r[..., k:]  # of the columns on the right, where there are more than rows
    g_q = g_q + product(a[..., k:], adjoint(right))
    inner = product(r[..., :k], adjoint(g_r[..., :k])) - product(adjoint(g_q), q)
    symmetric = half_diagonal(inner) + adjoint(half_diagonal(inner))
    left = adjoint(triangular_solution(r[..., :k], adjoint(g_q + product(q, symmetric)), lower=False))
    return (conj(registry["concatenate"]([left, product(q, right)], axis=-1)),)


def qr_evaluate(a: np.ndarray, *, complete: bool) -> tuple[np.ndarray, ...]:
    return tuple(np.linalg.qr(a, "complete" if complete else "reduced"))


def qr_sizes(lengths: Lengths, *, complete: bool) -> Lengths:
    return {"k": lengths["m"] if complete else shapes.minimum(lengths["m"], lengths["n"])}


def qr_scratch(dtype: np.dtype, lengths: Mapping[str, Any], *, complete: bool) -> Sequence[tuple[np.dtype, Any]]:
    more = lowering.add(lowering.add(lengths["n"], lengths["k"]), lowering.literal(1))
    return [(dtype, (lengths["m"], more)), (dtype, (lengths["k"],)), (dtype, (spectral.BLOCK, more))]


def qr_frontend(op: Op, a: Any, mode: str = "reduced") -> Any:
    (matrix,) = promoted(a)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode must be 'reduced', 'complete' or 'r' in a traced function, not {mode!r}")
    q, r = (op.bind(matrix, complete=mode == "complete", result=result) for result in (0, 1))
    return r if mode == "r" else QRResult(q, r)


qr = core_op(
    np.linalg.qr,
    "(m,n)->(m,k),(k,n)",
    evaluate=reference("(m,n)->(m,k),(k,n)", stacks=True)(qr_evaluate),
    library=spectral.orthogonal_triangular,
    frontend=qr_frontend,
    vjp=qr_vjp,
    jnp=lambda a, *, complete: load("jax.numpy.linalg:qr")(a, "complete" if complete else "reduced"),
    sizes=qr_sizes,
    scratch=qr_scratch,
    samples=samples.of(samples.dominant, (3, 3), (5, 3), (2, 3, 5), (1, 1), (20, 18), options=[("complete",), ("r",)]),
    regular=True,
)


def svd_vjp(given: Mapping[int, Value], y: Value, a: Value, *, full_matrices: bool, on_error: str) -> tuple[Value]:
    """Return the cotangent of the matrix: Townsend, Differentiating the singular value decomposition (2016); for
    complex matrices, Wan and Zhang, Automatic differentiation for complex valued SVD (2019)."""
    if full_matrices and given.keys() != {1}:
        square = shapes.compare("equal", *a.shape[-2:])
        text = "all singular vectors of a matrix that is not square have no derivative"
        shapes.require(square, f"svd: {text}: use full_matrices=False", NotImplementedError)
    options = {"full_matrices": False, "on_error": on_error}
    u, s, vh = (svd.bind(a, result=result, **options) for result in range(3))
    v = adjoint(vh)
    inner = on_diagonal(given[1]) if 1 in given else number(0, u)
    result = None
    error = rounding(s)
    inverse = unless_rounding(s, error)
    # s[j] / (s[j]**2 - s[i]**2) in parts: where both are equal, only the second one has a meaning
    apart = differences(s)
    together = unless_rounding(spread(s) + expand_dims.bind(s, axes=(-1,)), expand_dims.bind(error, axes=(-1,)))
    together = together - on_diagonal_of(together)
    if 0 in given:
        g = conj(given[0])
        turned = product(adjoint(u), g)
        turned = turned - adjoint(turned)
        inner = inner + (apart + together) * 0.5 * turned + on_diagonal_of(turned) * spread(inverse) * 0.5
        outside = g - product(u, product(adjoint(u), g))
        result = product(outside * spread(inverse), vh)
    if 2 in given:
        g = adjoint(conj(given[2]))
        turned = product(vh, g)
        turned = turned - adjoint(turned)
        inner = inner + (apart - together) * 0.5 * turned
        outside = adjoint((g - product(v, product(vh, g))) * spread(inverse))
        rest = product(u, outside)
        result = rest if result is None else result + rest
    main = product(u, inner, vh)
    return (conj(main if result is None else main + result),)


def on_diagonal_of(value: Value) -> Value:
    """Return the diagonal part of a matrix, the rest being zero."""
    return value * unit(value)


def require_finite(a: np.ndarray) -> np.ndarray:
    """Return the matrix; raise if it has elements that are not finite, for some of which NumPy's function does not
    return."""
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("SVD did not converge")
    return a


def svd_evaluate(a: np.ndarray, *, full_matrices: bool) -> tuple[np.ndarray, ...]:
    return tuple(np.linalg.svd(require_finite(a), full_matrices))


def smaller_length(lengths: Lengths, name: str) -> Extent:
    """Return the number of singular values, and require that its square, by which LAPACK's work memory grows, fits."""
    k = shapes.minimum(lengths["m"], lengths["n"])
    shapes.require(shapes.compare("less_equal", k, LONGEST), f"{name}: the smaller length is more than {LONGEST}")
    return k


def svd_sizes(lengths: Lengths, *, full_matrices: bool, on_error: str) -> Lengths:
    m, n, k = lengths["m"], lengths["n"], smaller_length(lengths, "svd")
    return {"k": k, "p": m if full_matrices else k, "q": n if full_matrices else k}


def total(*terms: tuple[int, lowering.Scalar]) -> lowering.Scalar:
    """Return the sum of scalars times factors, plus 1."""
    found: lowering.Scalar = lowering.literal(1)
    for factor, scalar in terms:
        found = lowering.add(found, lowering.multiply(lowering.literal(factor), scalar))
    return found


def svd_scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    m, n, k = (lengths[label] for label in "mnk")
    p, q = (lengths.get(label, lowering.literal(1)) for label in "pq")
    square, all_of_it = lowering.multiply(k, k), lowering.multiply(m, n)
    blocks = spectral.BLOCK
    work = total((4, square), (7 + 2 * blocks, k), (blocks, p), (blocks, q), (1, m), (1, n))
    real_work = total((7, square), (7, k), (2, all_of_it)) if dtype.kind == "c" else lowering.literal(1)
    matrices = [(dtype, (m, n)), (dtype, (m, p)), (dtype, (q, n)), (dtype, (work,))]
    return [*matrices, (real_dtype(dtype), (real_work,)), (INTEGER, (total((8, k)),))]


def svd_frontend(op: Op, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if hermitian:
        raise NotImplementedError("svd with hermitian=True: use eigh")
    (matrix,) = promoted(a)
    if not compute_uv:
        return svdvals.bind(matrix, on_error=singular.chosen())
    options = {"full_matrices": bool(full_matrices), "on_error": singular.chosen()}
    return SVDResult(*(op.bind(matrix, result=result, **options) for result in range(3)))


def pairs_of_vectors(result: Any) -> Any:
    """Return the singular values, and the products of singular vectors that belong together: these are determined."""
    if not isinstance(result, tuple):
        return result
    u, s, vh = result
    k = s.shape[-1]
    return s, u[..., :, :k, None] * vh[..., None, :k, :]


def svd_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = [((3, 3),), ((1, 1),), ((5, 3), False), ((2, 3, 4), False), ((5, 3), True, False)]
    return [(samples.separated(rng, dtype, shape), *rest) for shape, *rest in calls]


svd = core_op(
    np.linalg.svd,
    "(m,n)->(m,p),(k),(q,n)",
    evaluate=reference("(m,n)->(m,p),(k),(q,n)", stacks=True)(svd_evaluate),
    library=spectral.singular(vectors=True),
    frontend=svd_frontend,
    vjp=svd_vjp,
    jnp=lambda a, *, full_matrices, on_error: load("jax.numpy.linalg:svd")(a, full_matrices),
    dtypes=lambda dtype, *_: (dtype, real_dtype(dtype), dtype),
    sizes=svd_sizes,
    scratch=svd_scratch,
    determined=pairs_of_vectors,
    samples=svd_samples,
)


def svdvals_vjp(g: Value, y: Value, a: Value, *, on_error: str) -> tuple[Value]:
    return svd_vjp({1: g}, y, a, full_matrices=False, on_error=on_error)


svdvals = core_op(
    np.linalg.svdvals,
    "(m,n)->(k)",
    evaluate=reference("(m,n)->(k)", stacks=True)(lambda a: np.linalg.svdvals(require_finite(a))),
    library=spectral.singular(vectors=False),
    frontend=lambda op, x: op.bind(*promoted(x), on_error=singular.chosen()),
    vjp=svdvals_vjp,
    jnp=lambda a, *, on_error: load("jax.numpy.linalg:svd")(a, compute_uv=False),
    dtypes=lambda dtype, *_: (real_dtype(dtype),),
    sizes=lambda lengths, **_: {"k": smaller_length(lengths, "svdvals")},
    scratch=svd_scratch,
    samples=samples.of(samples.separated, (3, 3), (5, 3), (2, 3, 5), (20, 18)),
)
