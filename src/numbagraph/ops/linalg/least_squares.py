"""Solutions in the sense of least squares, by singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.core import promoted
from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import Value
from numbagraph.ops.linalg import samples
from numbagraph.ops.linalg.common import adjoint, computed, conj, number, product
from numbagraph.ops.linalg.functions import inverse_of_values, pinv_of, precision
from numbagraph.ops.linalg.spectra import svd
from numbagraph.ops.reduction import sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_dims, squeeze


def lstsq_vjp(
    g: Value, y: Value, value: Value, a: Value, b: Value, inverse: Value
) -> tuple[Value | None, Value, Value, None]:
    """Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems (1973)."""
    g = conj(g)
    to_right = product(adjoint(inverse), g)
    inside = g - product(inverse, product(a, g))  # what no right-hand side can change
    to_matrix = product(b - product(a, y), adjoint(product(inverse, to_right))) - product(to_right, adjoint(y))
    to_matrix = to_matrix + product(product(adjoint(inverse), y), adjoint(inside))
    return None, conj(to_matrix), conj(to_right), None


lstsq_of = computed(
    "lstsq_of",
    "(n,k),(m,n),(m,k),(n,m)->(n,k)",
    lstsq_vjp,
    lambda value, a, b, inverse: load("jax.numpy.linalg:pinv")(a) @ b,
)
"""A solution as a function of the matrix and the right-hand side, which the pseudo-inverse follows."""


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
    u, s, vh = svd(matrix, full_matrices=False)  # type: ignore[misc]
    large, inverse = inverse_of_values(s, rcond)
    inverse, is_large, values = (expand_dims.bind(each, axes=(-1,)) for each in (inverse, large, s))
    still = registry["stop_gradient"]
    parts = product(adjoint(u), columns)
    parts = where(is_large, parts / where(is_large, values, number(1, s)), number(0, parts))  # 1 / s may overflow
    found = still(product(adjoint(vh), parts))
    pseudo_inverse = pinv_of.bind(still(product(adjoint(vh), inverse * adjoint(u))), matrix)
    solution = lstsq_of.bind(found, matrix, columns, pseudo_inverse)
    residual = registry["absolute"](columns - product(matrix, solution))
    rank = convert(registry["count_nonzero"](large, -1), np.dtype(np.int32))
    return (
        squeeze.bind(solution, axes=(-1,)) if vector else solution,
        sum(residual * residual, 0),
        registry["as_scalar"].bind(rank),
        s,
    )
