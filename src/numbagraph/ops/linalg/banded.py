"""Solutions of systems whose matrices are zero but for a few diagonals.

The diagonals are the rows of an array, as SciPy has them: element ``[upper + i - j, j]`` is that of row i and column j.
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
from numbagraph.ops.linalg.common import conj, number, reference
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_dims, squeeze

SYSTEM = "(d,m),(m,n)->(m,n)"
INTEGER = np.dtype(np.int32)


def band_products(left: Value, right: Value, diagonals: Extent, above: int | Extent) -> Value:
    """Return the diagonals of ``left @ right.T``, of which there are ``above`` above the main one."""
    length = left.shape[-2]
    offsets = expand_dims.bind(iota(diagonals), axes=(-1,)) - shapes.as_value(above)
    rows = iota(length) + offsets
    inside = registry["logical_and"](rows >= 0, rows < shapes.as_value(length))
    found = gather_value(left, [where(inside, rows, 0)], -2, checked=False)
    sums = registry["sum"](found * expand_dims.bind(right, axes=(-3,)), -1)
    return where(inside, sums, number(0, sums))


def banded_vjp(
    g: Value, y: Value, ab: Value, b: Value, *, lower: int, upper: int, trans: int, on_error: str
) -> tuple[Value, Value]:
    """Return the cotangents of a banded system as those of a general system (Giles, 2008), restricted to the
    diagonals."""
    options = {"lower": lower, "upper": upper, "on_error": on_error}
    right = solve_banded.bind(ab, g, trans=1 - trans, **options)
    pair = (y, right) if trans else (right, y)
    return -band_products(*pair, ab.shape[-2], upper), right


def dense(ab: np.ndarray, upper: Any, xp: Any) -> Any:
    """Return the matrix with the given diagonals, built with the functions of a namespace."""
    count, length = ab.shape[-2:]
    diagonal = upper + xp.arange(length)[:, None] - xp.arange(length)
    inside = (diagonal >= 0) & (diagonal < count)
    return xp.where(inside, ab[..., xp.where(inside, diagonal, 0), xp.arange(length)], xp.zeros((), ab.dtype))


def banded_evaluate(ab: Any, b: Any, *, lower: int, upper: int, trans: int) -> Any:
    if trans:
        matrix = dense(ab, upper, np)
        return np.linalg.solve(matrix.T, b)
    if ab.shape[-1] == 1:  # for which SciPy takes row 1 to be the main diagonal
        ab, lower, upper = ab[upper : upper + 1].repeat(2, 0), 0, 1
    return load("scipy.linalg:solve_banded")((lower, upper), ab, b, check_finite=False)


def banded_jnp(ab: Any, b: Any, *, lower: int, upper: int, trans: int, on_error: str) -> Any:
    jnp = load("jax:numpy")
    matrix = dense(ab, upper, jnp)
    return jnp.linalg.solve(jnp.swapaxes(matrix, -1, -2) if trans else matrix, b)


def system_of(name: str, ab: Any, b: Any) -> tuple[Value, Value, bool]:
    """Return the diagonals, the right-hand sides as columns, and whether the right-hand side was a vector."""
    diagonals, right = promoted(ab, b, ranks=(2, 1))
    vector = right.ndim == 1
    columns = expand_dims.bind(right, axes=(-1,)) if vector else right
    own, its = shapes.resolve(diagonals.shape[-1]), shapes.resolve(columns.shape[-2])
    shapes.require_same(own, its, f"{name}: the matrix has {own} columns, and the right-hand side has {its} rows")
    return diagonals, columns, vector


def banded_frontend(
    op: Op,
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Value:
    lower, upper = l_and_u
    if not all(isinstance(each, (int, np.integer)) and each >= 0 for each in (lower, upper)):
        raise TypeError("solve_banded: the numbers of diagonals must be known when the function is traced, and not < 0")
    diagonals, columns, vector = system_of("solve_banded", ab, b)
    count = shapes.resolve(diagonals.shape[-2])
    subject = f"solve_banded: {lower} diagonals below and {upper} above the main one, but {count} rows"
    shapes.require_same(count, int(lower + upper + 1), subject)
    options = {"lower": int(lower), "upper": int(upper), "trans": 0}
    solution = op.bind(diagonals, columns, **options, on_error=singular.chosen())
    return squeeze.bind(solution, axes=(-1,)) if vector else solution


def band_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = []
    for (lower, upper), length, right in (((1, 2), 6, (2,)), ((2, 0), 5, ()), ((1, 1), 4, (3,)), ((0, 0), 3, ())):
        bands = draw(rng, dtype, (lower + upper + 1, length), (-0.3, 0.3))
        bands[upper] += np.asarray(2, dtype)
        calls.append(((lower, upper), bands, draw(rng, dtype, (length, *right))))
    return calls


solve_banded = core_op(
    "scipy.linalg:solve_banded",
    SYSTEM,
    evaluate=reference(SYSTEM, like=1)(banded_evaluate),
    library=banded.general,
    frontend=banded_frontend,
    vjp=banded_vjp,
    jnp=banded_jnp,
    scratch=lambda dtype, lengths, *, lower, upper, **_: [
        (dtype, (lengths["m"], lower + lower + upper + 1)),
        (INTEGER, (lengths["m"],)),
        (dtype, (lengths["n"], lengths["m"])),
    ],
    samples=samples.inexact(band_samples),
)


def positive_vjp(g: Value, y: Value, ab: Value, b: Value, *, lower: bool, on_error: str) -> tuple[Value, Value]:
    """Return the cotangents of a Hermitian system, where an element of a diagonal stands for its mirror image as
    well."""
    right = conj(solveh_banded.bind(ab, conj(g), lower=lower, on_error=on_error))
    count = ab.shape[-2]
    above = 0 if lower else shapes.subtract(count, 1)
    found = band_products(right, y, count, above) + conj(band_products(y, right, count, above))
    main = registry["equal"](expand_dims.bind(iota(count), axes=(-1,)), shapes.as_value(above))
    half = registry["real"](found) * number(0.5, registry["real"](found))
    return -where(main, half, found), right


def positive_jnp(ab: Any, b: Any, *, lower: bool, on_error: str) -> Any:
    jnp = load("jax:numpy")
    above = 0 if lower else ab.shape[-2] - 1
    part = dense(ab, above, jnp)
    inner = jnp.tril(part, -1) if lower else jnp.triu(part, 1)
    main = jnp.real(jnp.diagonal(part, axis1=-2, axis2=-1))[..., None] * jnp.eye(part.shape[-1], dtype=part.dtype)
    return jnp.linalg.solve(inner + jnp.conj(jnp.swapaxes(inner, -1, -2)) + main, b)


def positive_frontend(
    op: Op,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Value:
    diagonals, columns, vector = system_of("solveh_banded", ab, b)
    nothing = shapes.subtract(1, shapes.product(columns.shape[-2:]))  # to solve: then SciPy does not look
    some = shapes.compare("greater", shapes.maximum(diagonals.shape[-2], nothing), 0)
    shapes.require(some, "solveh_banded: there must be a row for the main diagonal", ValueError)
    solution = op.bind(diagonals, columns, lower=bool(lower), on_error=singular.chosen())
    return squeeze.bind(solution, axes=(-1,)) if vector else solution


def positive_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = []
    for lower, count, length, right in ((False, 3, 6, (2,)), (True, 2, 5, ()), (True, 3, 4, (2,))):
        bands = draw(rng, dtype, (count, length), (-0.3, 0.3))
        main = 0 if lower else count - 1
        bands[main] = np.asarray(2, dtype) + np.real(bands[main])
        calls.append((bands, draw(rng, dtype, (length, *right)), samples.Keywords(lower=lower)))
    return calls


solveh_banded = core_op(
    "scipy.linalg:solveh_banded",
    SYSTEM,
    evaluate=reference(SYSTEM, like=1)(
        lambda ab, b, *, lower: load("scipy.linalg:solveh_banded")(ab, b, lower=lower, check_finite=False)
    ),
    library=banded.positive_definite,
    frontend=positive_frontend,
    vjp=positive_vjp,
    jnp=positive_jnp,
    scratch=lambda dtype, lengths, **_: [
        (dtype, (lengths["m"], lengths["d"])),
        (dtype, (lengths["n"], lengths["m"])),
    ],
    samples=samples.inexact(positive_samples),
)
"""The solution of a Hermitian positive definite system, of which the diagonals of one triangle are given."""
