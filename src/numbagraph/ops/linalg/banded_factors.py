"""Cholesky's factor of matrices that are zero but for a few diagonals, and systems that are solved by it.

The diagonals are those of one triangle: the main one first (lower) or last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.core import promoted
from numbagraph.blockwise.kinds import core_op, draw
from numbagraph.intrinsics.emitters.linalg import banded
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import Extent, Op, Value
from numbagraph.ops.creation import iota
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.banded import SYSTEM, band_products, dense, positive_samples, system_of
from numbagraph.ops.linalg.common import conj, number, reference
from numbagraph.ops.linalg.factorisations import cholesky_vjp, symmetric_from
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_dims, squeeze

FACTOR = "(d,m)->(d,m)"


def is_inside(rows: Value, columns: Value, like: Value) -> Value:
    """Return whether a matrix has elements at some positions."""
    both = zip((rows, columns), like.shape[-2:], strict=True)
    row, column = (registry["logical_and"](each >= 0, each < shapes.as_value(length)) for each, length in both)
    return registry["logical_and"](row, column)


def elements_at(value: Value, rows: Value, columns: Value) -> Value:
    """Return the elements of matrices at some positions, and zeros where there are none."""
    inside = is_inside(rows, columns, value)
    found = gather_value(value, [where(inside, each, 0) for each in (rows, columns)], -2, checked=False)
    return where(inside, found, number(0, found))


def downwards(length: Extent) -> Value:
    """Return the column 0, 1, 2..."""
    return expand_dims.bind(iota(length), axes=(-1,))


def places_of(bands: Value, *, lower: bool) -> tuple[Value, Value]:
    """Return the row and the column at which the adjoint matrix has the elements of its diagonals."""
    count, length = bands.shape[-2:]
    others = shapes.as_value(shapes.subtract(count, 1)) - downwards(count)
    return others, iota(length) - others if lower else iota(length) + downwards(count)


def mirrored(bands: Value, *, lower: bool) -> Value:
    """Return the diagonals of the adjoint of a triangular matrix, of which the lower ones (or the upper ones) are
    given."""
    return conj(elements_at(bands, *places_of(bands, lower=lower)))


def lower_matrix(bands: Value) -> Value:
    """Return the lower triangular matrix of some diagonals, of which there may be none: an added row of zeros is always
    there to be read."""
    columns = iota(bands.shape[-1])
    padded = registry["pad"](bands, [(0, 0)] * (bands.ndim - 2) + [(0, 1), (0, 0)])
    return elements_at(padded, downwards(bands.shape[-1]) - columns, columns)


def lower_diagonals(matrix: Value, count: Extent) -> Value:
    columns = iota(matrix.shape[-1])
    return elements_at(matrix, downwards(count) + columns, columns)


def factor_vjp(g: Value, y: Value, ab: Value, *, lower: bool, on_error: str) -> tuple[Value]:
    """Return the cotangent of the diagonals, from that of the matrix. For elements beyond the matrix, the given
    cotangent is passed on."""
    if lower:
        factor, cotangent, beyond = y, g, downwards(ab.shape[-2]) + iota(ab.shape[-1]) >= shapes.as_value(ab.shape[-1])
    else:
        factor, cotangent = (mirrored(each, lower=False) for each in (y, g))
        beyond = places_of(ab, lower=True)[1] < 0
    (whole,) = cholesky_vjp(lower_matrix(cotangent), lower_matrix(factor), ab, upper=False, on_error=on_error)
    found = lower_diagonals(whole, ab.shape[-2])
    return (where(beyond, g, found if lower else mirrored(found, lower=True)),)


def factor_jnp(ab: Any, *, lower: bool, on_error: str) -> Any:
    jnp = load("jax:numpy")
    count, length = ab.shape[-2:]
    above = 0 if lower else count - 1
    factor = load("jax.numpy.linalg:cholesky")(symmetric_from(dense(ab, above, jnp), not lower), upper=not lower)
    rows = jnp.arange(length) + jnp.arange(count)[:, None] - above
    inside = (rows >= 0) & (rows < length)
    return jnp.where(inside, factor[..., jnp.where(inside, rows, 0), jnp.arange(length)], ab)


def factor_frontend(
    op: Op, ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True
) -> Value:
    (bands,) = promoted(ab, ranks=(2,))
    return op.bind(bands, lower=bool(lower), on_error=singular.chosen())


cholesky_banded = core_op(
    "scipy.linalg:cholesky_banded",
    FACTOR,
    evaluate=reference(FACTOR, like=0)(
        lambda ab, *, lower: load("scipy.linalg:cholesky_banded")(ab, lower=lower, check_finite=False)
    ),
    library=banded.factor,
    size="m",
    frontend=factor_frontend,
    vjp=factor_vjp,
    jnp=factor_jnp,
    scratch=lambda dtype, lengths, **_: [(dtype, (lengths["m"], lengths["d"]))],
    samples=samples.inexact(lambda rng, dtype: [(call[0], call[2]) for call in positive_samples(rng, dtype)]),
)


def solution_vjp(g: Value, y: Value, bands: Value, b: Value, *, lower: bool) -> tuple[Value, Value]:
    """Return the cotangents of a system whose matrix is ``L L^H``, those of L on its diagonals."""
    right = conj(factored_banded.bind(bands, conj(g), lower=lower))
    factor = bands if lower else mirrored(bands, lower=False)
    count = bands.shape[-2]
    one = band_products(right, columns_times(conj(factor), y), count, 0)
    other = band_products(y, columns_times(factor, right), count, 0)
    found = -(one + conj(other))
    return found if lower else mirrored(found, lower=True), right


def columns_times(bands: Value, right: Value) -> Value:
    """Return the products of the columns of a lower triangle with those of another matrix."""
    length = bands.shape[-1]
    rows = downwards(bands.shape[-2]) + iota(length)
    inside = rows < shapes.as_value(length)
    found = gather_value(right, [where(inside, rows, 0)], -2, checked=False)
    inner = where(inside, bands, number(0, bands))
    return registry["sum"](expand_dims.bind(inner, axes=(-1,)) * found, -3)


def solution_jnp(bands: Any, b: Any, *, lower: bool) -> Any:
    jnp, solve = load("jax:numpy"), load("jax.lax.linalg:triangular_solve")
    factor = dense(bands, 0 if lower else bands.shape[-2] - 1, jnp)
    for adjoint in (not lower, lower):
        b = solve(factor, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint)
    return b


def solution_frontend(op: Op, cb_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Value:
    factor, lower = cb_and_lower
    bands, columns, vector = system_of("cho_solve_banded", factor, b)
    nothing = shapes.subtract(1, shapes.product(columns.shape[-2:]))  # to solve: then SciPy does not look
    some = shapes.compare("greater", shapes.maximum(bands.shape[-2], nothing), 0)
    shapes.require(some, "cho_solve_banded: there must be a row for the main diagonal", ValueError)
    solution = op.bind(bands, columns, lower=bool(lower))
    return squeeze.bind(solution, axes=(-1,)) if vector else solution


def solution_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = []
    for lower, count, length, right in ((False, 3, 6, (2,)), (True, 2, 5, ()), (True, 3, 4, (2,)), (False, 2, 1, ())):
        bands = draw(rng, dtype, (count, length), (-0.3, 0.3))
        bands[0 if lower else count - 1] += np.asarray(2, dtype)
        calls.append(((bands, lower), draw(rng, dtype, (length, *right))))
    return calls


factored_banded = core_op(
    "scipy.linalg:cho_solve_banded",
    SYSTEM,
    evaluate=reference(SYSTEM, like=1)(
        lambda bands, b, *, lower: load("scipy.linalg:cho_solve_banded")((bands, lower), b, check_finite=False)
    ),
    library=banded.factored,
    frontend=solution_frontend,
    vjp=solution_vjp,
    jnp=solution_jnp,
    scratch=lambda dtype, lengths, **_: [
        (dtype, (lengths["m"], lengths["d"])),
        (dtype, (lengths["n"], lengths["m"])),
    ],
    samples=samples.inexact(solution_samples),
)
"""The solution of a system whose matrix is given by the diagonals of Cholesky's factor."""
