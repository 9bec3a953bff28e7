"""General square matrices: their triangular factors as SciPy gives them, eigenvalues, and the exponential."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted, require_square
from numbagraph.blockwise.kinds import core_op, decomposition
from numbagraph.blockwise.promotion import convert
from numbagraph.intrinsics.emitters.linalg import matrix_exponential, spectral
from numbagraph.ir import shapes
from numbagraph.ir.op import lazy, load, registry
from numbagraph.ir.types import COMPLEX64, COMPLEX128, FLOAT32, real_dtype
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.comparison import equal
from numbagraph.ops.creation import iota, zeros, zeros_like
from numbagraph.ops.exponentials import exp
from numbagraph.ops.joining import concatenate
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.common import (
    adjoint,
    computed,
    conj,
    masked,
    number,
    product,
    reference,
    triangular_solution,
    unit,
)
from numbagraph.ops.linalg.factorisations import one_square, square_lu
from numbagraph.ops.linalg.permutations import INTEGER, in_order, inverse_of, permutation_of
from numbagraph.ops.linalg.solutions import TRANS, with_columns
from numbagraph.ops.linalg.spectra import LONGEST, differences, on_diagonal, projections
from numbagraph.ops.product import transposed_matrix
from numbagraph.ops.shape import broadcast_value, expand_dims, squeeze

EigResult = namedtuple("EigResult", ("eigenvalues", "eigenvectors"))


def matrices(make: samples.Make, *shapes: samples.Shape) -> Any:
    """Samples of a function of SciPy's that makes something else of numbers, which are no matrices here."""
    calls = samples.inexact(samples.of(make, *shapes))
    return lambda rng, dtype: [(*each, samples.Keywords()) for each in calls(rng, dtype)]


@decomposition("scipy.linalg:lu_factor", samples=matrices(samples.regular, (3, 3), (20, 20)), ulp=64)
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Value, Value]:
    factors, pivots = square_lu(one_square(a))  # type: ignore[misc]
    return transposed_matrix(factors), pivots


def lu_solve_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    factors, pivots = samples.dominant(rng, dtype, (4, 4)), np.array([2, 1, 3, 3], INTEGER)
    vector, columns = (samples.draw(rng, dtype, shape) for shape in ((4,), (4, 2)))
    return [((factors, pivots), vector), *[((factors, pivots), columns, trans) for trans in (0, 1, 2)]]


@decomposition("scipy.linalg:lu_solve", samples=samples.inexact(lu_solve_samples), ulp=64)
def lu_solve(lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: bool = False, check_finite: bool = True) -> Value:
    factors, right = promoted(lu_and_piv[0], b, ranks=(2, 1))
    require_square(factors)
    vector, trans = right.ndim == 1, TRANS[trans]
    rows = permutation_of(lu_and_piv[1])
    result = with_columns(factors, right, vector=vector, name="lu_solve")
    if trans:
        result = triangular_solution(factors, result, trans=trans, lower=False)
        result = triangular_solution(factors, result, trans=trans, unit_diagonal=True)
        result = in_order(result, inverse_of(rows))
    else:
        result = triangular_solution(factors, in_order(result, rows), unit_diagonal=True)
        result = triangular_solution(factors, result, lower=False)
    return squeeze.bind(result, axes=(-1,)) if vector else result


Factors = tuple[Value, Value, Value]
"""The order of the rows, the lower factor, and the upper one."""


def factors_of(matrix: Value) -> Factors:
    if shapes.same(*matrix.shape[-2:]):
        return factors_of_square(matrix)
    rows, lower, upper = factors_of_padded(matrix)
    ordered, k = in_order(matrix, rows), lower.shape[-1]
    _, left, right = factors_of_square(ordered[..., :k, :k])  # whose rows are in order already
    below = triangular_solution(right, transposed_matrix(ordered[..., k:, :k]), trans=1, lower=False)
    beside = triangular_solution(left, ordered[..., :k, k:], unit_diagonal=True)
    left = concatenate([left, transposed_matrix(below)], axis=-2)
    return rows, factor_of.bind(lower, left), factor_of.bind(upper, concatenate([right, beside], axis=-1))


def factors_of_square(matrix: Value) -> Factors:
    factors, pivots = lu_factor(matrix)  # type: ignore[misc]
    return permutation_of(pivots), masked(factors, -1) + unit(factors), masked(factors, upper=True)


def factors_of_padded(matrix: Value) -> Factors:
    """Factor a rectangular matrix, which zeros make square; pivoting exchanges them with no other row."""
    m, n = matrix.shape[-2:]
    k, size = shapes.minimum(m, n), shapes.maximum(m, n)
    sides = zeros((*matrix.shape[:-1], shapes.subtract(size, n)), dtype=matrix.dtype)
    below = zeros((*matrix.shape[:-2], shapes.subtract(size, m), size), dtype=matrix.dtype)
    square = concatenate([concatenate([matrix, sides], axis=-1), below], axis=-2)
    rows, lower, upper = factors_of_square(registry["stop_gradient"](square))
    return rows[..., :m], lower[..., :m, :k], upper[..., :k, :n]


factor_of = computed(
    "factor_of", "(m,n),(m,n)->(m,n)", lambda g, y, value, other: (None, g), lambda value, other: other
)
"""A factor that exists for singular matrices, too, with the derivative of one that needs a regular matrix."""


@decomposition("scipy.linalg:lu", samples=samples.inexact(samples.of(samples.regular, (3, 3), (20, 20))), ulp=64)
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> tuple[Value, ...]:
    (matrix,) = promoted(a)
    rows, lower, upper = factors_of(matrix)
    back = inverse_of(rows)
    if permute_l:
        return in_order(lower, back), upper
    if p_indices:
        return convert(back, INTEGER), lower, upper
    positions = iota(rows.shape[-1])
    exchanged = equal(expand_dims.bind(rows, axes=(-2,)), expand_dims.bind(positions, axes=(-1,)))
    return convert(exchanged, real_dtype(matrix.dtype)), lower, upper


def eig_vjp(given: Mapping[int, Value], y: Value, a: Value, *, real: bool, on_error: str) -> tuple[Value]:
    """Return the cotangent of the matrix: Boeddeker, Hanebrink, Drude, Heymann and Haeb-Umbach, On the computation of
    complex-valued gradients (2017)."""
    values, vectors = (eig.bind(a, result=result, real=real, on_error=on_error) for result in (0, 1))
    inner = number(0, vectors)
    if 1 in given:
        turned = product(adjoint(vectors), conj(given[1]))
        lengths = registry["real"](turned * unit(turned))
        inner = conj(differences(values)) * (turned - product(product(adjoint(vectors), vectors), lengths))
    if 0 in given:
        inner = inner + on_diagonal(conj(given[0]))
    return (conj(registry["solve"](adjoint(vectors), product(inner, adjoint(vectors)))),)


def eig_of(a: Any, result: int) -> Value:
    """Bind `eig` on a matrix that is made complex; an attribute says whether it was real, since that decides on the
    routine, and so on the order of the results."""
    matrix = one_square(a)
    given = convert(matrix, COMPLEX64 if matrix.dtype in (FLOAT32, COMPLEX64) else COMPLEX128)
    return eig.bind(given, result=result, real=matrix.dtype.kind != "c", on_error=singular.chosen())


def eig_frontend(op: Op, a: Any) -> EigResult:
    return EigResult(*(eig_of(a, result) for result in (0, 1)))


def eig_reference(a: np.ndarray, real: bool) -> tuple[np.ndarray, ...]:
    return tuple(each.astype(a.dtype) for each in np.linalg.eig(np.real(a) if real else a))


def eig_jnp(a: Any, *, real: bool, on_error: str) -> tuple[Any, ...]:
    return tuple(load("jax.numpy.linalg:eig")(a.real if real else a))


def eig_scratch(
    dtype: np.dtype, lengths: Mapping[str, Any], *, real: bool, vectors: bool = True, **_: Any
) -> Sequence[tuple[np.dtype, Any]]:
    n, more = lengths["m"], lowering.add(lengths["m"], lowering.literal(1))
    dtype = real_dtype(dtype) if real else dtype
    spaces = [(dtype, (2, more)), (dtype, (spectral.BLOCK, more))]
    return [(dtype, (n, n)), (dtype, (n, n) if vectors else (1, 1)), *(spaces if real else spaces[::-1])]


def complex_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return samples.of(samples.separated)(rng, dtype) if dtype.kind == "c" else []


eig = core_op(
    np.linalg.eig,
    "(m,m)->(m),(m,m)",
    evaluate=reference("(m,m)->(m),(m,m)", stacks=True)(eig_reference),
    library=spectral.general(vectors=True),
    frontend=eig_frontend,
    vjp=eig_vjp,
    jnp=eig_jnp,
    scratch=eig_scratch,
    longest=LONGEST,
    determined=projections,
    samples=complex_samples,
)


eig_values = core_op(
    None,
    "(m,m)->(m)",
    name="eig_values",
    evaluate=reference("(m,m)->(m)", stacks=True)(
        lambda a, real: np.linalg.eigvals(np.real(a) if real else a).astype(a.dtype)
    ),
    library=spectral.general(vectors=False),
    frontend=Unsupported("it takes the place of eig where nobody asks for the vectors"),
    vjp=Unsupported("it takes the place of eig behind derivatives"),
    jnp=lambda a, **options: eig_jnp(a, **options)[0],
    scratch=partial(eig_scratch, vectors=False),
    longest=LONGEST,
    samples=complex_samples,
    regular=True,
    ulp=256,
)
"""The eigenvalues of `eig` alone: another routine of LAPACK's may order them otherwise than the vectors'."""


@decomposition(np.linalg.eigvals, samples=complex_samples, ulp=256, regular=True)
def eigvals(a: Any) -> Value:
    return eig_of(a, 0)


def expm_vjp(g: Value, y: Value, a: Value) -> tuple[Value]:
    """Return the cotangent of the matrix: Higham, Functions of matrices (2008), 10.6: the transposed derivative is that
    at the transposed matrix."""
    return (expm_frechet.bind(transposed_matrix(a), g),)


def blocks(diagonal: Value, right: Value) -> Value:
    """Return the matrix of four blocks whose exponential has the derivative in its upper right."""
    below = concatenate([zeros_like(right), diagonal], axis=-1)
    return concatenate([concatenate([diagonal, right], axis=-1), below], axis=-2)


def expm_frechet_vjp(g: Value, y: Value, a: Value, e: Value) -> tuple[Value, Value]:
    shape = shapes.broadcast_shapes([a.shape, e.shape], "expm_frechet")
    a, e = (broadcast_value(each, shape) for each in (a, e))
    n = a.shape[-1]
    turned = transposed_matrix(blocks(a, e))
    found = expm_frechet.bind(turned, blocks(zeros_like(g), g))
    # the upper right of what was found is this, too, but as a function of both operands
    return found[..., :n, :n] + found[..., n:, n:], expm_frechet.bind(transposed_matrix(a), g)


def frechet_evaluate(a: np.ndarray, e: np.ndarray) -> np.ndarray:
    n = len(a)
    return load("scipy.linalg:expm")(np.block([[a, e], [np.zeros_like(a), a]]))[:n, n:]


def frechet_jnp(a: Any, e: Any) -> Any:
    jnp = load("jax:numpy")
    return load("jax:jvp")(load("jax.scipy.linalg:expm"), (jnp.asarray(a),), (jnp.broadcast_to(e, a.shape),))[1]


def exponential_scratch(dtype: np.dtype, lengths: Mapping[str, Any], blocks: int = 1) -> Sequence[tuple[np.dtype, Any]]:
    n = lowering.multiply(lengths["m"], lowering.literal(blocks))
    return [
        (dtype, (matrix_exponential.MATRICES, n, n)),
        (INTEGER, (n,)),
        *[(dtype, (n, n))] * (2 if blocks > 1 else 0),
    ]


expm_frechet = core_op(
    None,
    "(m,m),(m,m)->(m,m)",
    name="expm_frechet",
    evaluate=reference("(m,m),(m,m)->(m,m)")(frechet_evaluate),
    library=matrix_exponential.derivative,
    frontend=lambda op, A, E: op.bind(*promoted(A, E, ranks=(2, 2))),
    vjp=expm_frechet_vjp,
    jnp=frechet_jnp,
    scratch=lambda dtype, lengths: exponential_scratch(dtype, lengths, 2),
    longest=LONGEST,
    samples=samples.inexact(
        lambda rng, dtype: [
            tuple(samples.moderate(rng, dtype, shape) for _ in range(2)) for shape in ((3, 3), (2, 3, 3))
        ]
    ),
    ulp=512,
)
"""The derivative of the exponential at a matrix, in a direction: Van Loan, Computing integrals involving the matrix
exponential (1978)."""


def expm_frontend(op: Op, A: Any) -> Value:
    """Bind the exponential of a matrix; that of a number is the scalar exponential, also where the number is infinite,
    as in SciPy."""
    matrix = one_square(A)
    return exp(matrix) if tuple(matrix.shape[-2:]) == (1, 1) else op.bind(matrix)


expm = core_op(
    "scipy.linalg:expm",
    "(m,m)->(m,m)",
    evaluate=reference("(m,m)->(m,m)", stacks=True)(lazy("scipy.linalg:expm")),
    library=matrix_exponential.exponential,
    frontend=expm_frontend,
    vjp=expm_vjp,
    jnp=lazy("jax.scipy.linalg:expm"),
    scratch=exponential_scratch,
    longest=LONGEST,
    samples=matrices(samples.moderate, (3, 3), (1, 1), (2, 5, 5)),
    ulp=512,
)
