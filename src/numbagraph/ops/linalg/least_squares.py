"""Least-squares solutions by singular values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted
from numbagraph.blockwise.kinds import core_op, decomposition, draw
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.intrinsics.emitters.linalg import least_squares as emitters
from numbagraph.intrinsics.emitters.linalg import spectral
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import real_dtype
from numbagraph.ir.values import Op, Value
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.common import adjoint, conj, product, reference
from numbagraph.ops.linalg.matrix_functions import inverse_of_values, pinv_of, precision
from numbagraph.ops.linalg.spectra import INTEGER, svd, svdvals_vjp, total
from numbagraph.ops.reduction import sum
from numbagraph.ops.shape import expand_dims, squeeze

SYSTEM = "(m,n),(m,k),()->(n,k),(s),()"


def pseudo_inverse(a: Value, ratio: Value) -> Value:
    still = registry["stop_gradient"]
    u, s, vh = svd(a, full_matrices=False)  # type: ignore[misc]
    inverse = expand_dims.bind(inverse_of_values(s, expand_dims.bind(ratio, axes=(-1,)))[1], axes=(-1,))
    return pinv_of.bind(still(product(adjoint(vh), inverse * adjoint(u))), a)


def solution_vjp(g: Value, y: Value, a: Value, b: Value, ratio: Value) -> tuple[Value, Value]:
    """Return the cotangents of matrix and right-hand side: Golub and Pereyra, The differentiation of pseudo-inverses
    and nonlinear least squares problems (1973)."""
    g, inverse = conj(g), pseudo_inverse(a, ratio)
    to_right = product(adjoint(inverse), g)
    inside = g - product(inverse, product(a, g))  # what no right-hand side can change
    to_matrix = product(b - product(a, y), adjoint(product(inverse, to_right))) - product(to_right, adjoint(y))
    to_matrix = to_matrix + product(product(adjoint(inverse), y), adjoint(inside))
    return conj(to_matrix), conj(to_right)


def joint_vjp(
    given: Mapping[int, Value], y: Value, a: Value, b: Value, ratio: Value, *, on_error: str
) -> tuple[Value | None, Value | None, None]:
    to_matrix, to_right = None, None
    if 0 in given:
        solution = minimal.bind(a, b, ratio, result=0, on_error=on_error)
        to_matrix, to_right = solution_vjp(given[0], solution, a, b, ratio)
    if 1 in given:
        (of_values,) = svdvals_vjp(given[1], y, a, on_error=on_error)
        to_matrix = of_values if to_matrix is None else to_matrix + of_values
    return to_matrix, to_right, None


def minimal_evaluate(a: np.ndarray, b: np.ndarray, ratio: np.ndarray) -> tuple[Any, ...]:
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")
    x, _, rank, s = np.linalg.lstsq(a, b, float(ratio))
    return x, s, np.asarray(rank, np.int32)


def minimal_jnp(a: Any, b: Any, ratio: Any, *, on_error: str) -> tuple[Any, ...]:
    jnp = load("jax:numpy")
    s = jnp.linalg.svd(a, compute_uv=False)
    rank = jnp.sum(s > ratio[..., None] * jnp.max(s, -1, keepdims=True, initial=0), -1)
    return jnp.linalg.pinv(a, rtol=ratio) @ b, s, rank.astype(np.int32)


def minimal_frontend(op: Op, a: Any, b: Any, ratio: Any) -> tuple[Value, ...]:
    matrix, right = promoted(a, b, ranks=(2, 2))
    ratio = convert(as_value(ratio), real_dtype(matrix.dtype))
    return tuple(op.bind(matrix, right, ratio, result=result, on_error=singular.chosen()) for result in range(3))


def minimal_scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    """Return the scratch memory of `minimal`, in the sizes that `work_of` counts."""
    m, n, k, few = (lengths[label] for label in "mnks")
    more, height = total((1, k)), total((1, m), (1, n))
    leaf, block, values = emitters.LEAF + 1, spectral.BLOCK, emitters.REAL_PER_VALUE
    both, square = lowering.multiply(few, k), lowering.multiply(few, few)
    work = total((leaf**2, lowering.literal(1)), (1, square), (1, both), (values + 1, few), (block, height), (block, k))
    real = total((leaf**2, lowering.literal(1)), (1, both), (values, few), (3 * leaf, more), (2, k))
    return [
        (dtype, (m, n)),
        (dtype, (more, height)),
        (dtype, (work,)),
        (real_dtype(dtype), (real if dtype.kind == "c" else lowering.literal(1),)),
        (INTEGER, (total((emitters.INTEGERS_PER_VALUE, few)),)),
    ]


def minimal_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = []
    for shape, count in (((5, 3), 2), ((3, 5), 1), ((2, 4, 4), 3), ((30, 2), 1)):
        right = draw(rng, dtype, (*shape[:-1], count))
        calls.append((samples.dominant(rng, dtype, shape), right, np.asarray(1e-4, real_dtype(dtype))))
    return calls


minimal = core_op(
    None,
    SYSTEM,
    name="minimal_solution",
    evaluate=reference(SYSTEM)(minimal_evaluate),
    library=emitters.least_squares,
    frontend=minimal_frontend,
    vjp=joint_vjp,
    jnp=minimal_jnp,
    dtypes=lambda dtype, *_: (dtype, real_dtype(dtype), INTEGER),
    sizes=lambda lengths, **_: {"s": shapes.minimum(lengths["m"], lengths["n"])},
    scratch=minimal_scratch,
    regular=True,
    ulp=512,
    samples=samples.inexact(minimal_samples),
)
"""The solution of least norm, the singular values, and the number of those that are not zero relative to the
largest."""


def least_squares(a: Any, b: Any, rcond: Any = None) -> tuple[Any, ...]:
    """`numpy.linalg.lstsq` with the sums of squared residuals of every matrix."""
    x, _, rank, s = np.linalg.lstsq(a, b, rcond)
    residual = np.abs(np.asarray(b) - np.asarray(a) @ x)
    return x, np.atleast_1d(np.sum(residual * residual, 0)), rank, s


def lstsq_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    tall, wide = (samples.dominant(rng, dtype, shape) for shape in ((5, 3), (3, 5)))
    right = draw(rng, dtype, (5, 2))
    return [(tall, right), (tall, right[:, 0]), (wide, right[:3]), (tall, right, -1)]


@decomposition(
    least_squares, name="lstsq", samples=samples.inexact(lstsq_samples), implements=(np.linalg.lstsq,), ulp=512
)
def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Value, ...]:
    matrix, right = promoted(a, b, ranks=(2, 1))
    if matrix.ndim != 2 or right.ndim > 2:
        raise np.linalg.LinAlgError(f"{matrix.ndim}-dimensional array given. Array must be two-dimensional")
    vector = right.ndim == 1
    columns = expand_dims.bind(right, axes=(-1,)) if vector else right
    rows, others = shapes.resolve(matrix.shape[0]), shapes.resolve(columns.shape[0])
    shapes.require_same(rows, others, f"lstsq: the matrix has {rows} rows, and the right-hand side has {others}")
    if rcond is None:
        rcond = precision(matrix)
    elif not isinstance(rcond, Value) and rcond < 0:
        rcond = np.finfo(matrix.dtype).eps
    solution, s, rank = minimal(matrix, columns, rcond)  # type: ignore[misc]
    residual = registry["absolute"](columns - product(matrix, solution))
    return (
        squeeze.bind(solution, axes=(-1,)) if vector else solution,
        sum(residual * residual, 0),
        registry["as_scalar"].bind(rank),
        s,
    )
