"""Solutions of systems of linear equations, by what is known of the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.core import promoted, require_square
from numbagraph.blockwise.kinds import core_op, decomposition, draw
from numbagraph.intrinsics.emitters.formula import INT32
from numbagraph.intrinsics.emitters.linalg import general, inverses, triangular
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import Op, Value
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.common import (
    conj,
    factored_solution,
    masked,
    product,
    reference,
    triangular_solution,
    unit,
)
from numbagraph.ops.linalg.factorisations import one_square, square_lu
from numbagraph.ops.product import transposed_matrix
from numbagraph.ops.shape import expand_dims, squeeze

TRANS = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}
SYSTEM = "(m,m),(m,n)->(m,n)"


def with_columns(matrix: Value, right: Value, *, vector: bool, name: str) -> Value:
    """Return the right-hand side as a matrix whose columns are solved for."""
    columns = expand_dims.bind(right, axes=(-1,)) if vector else right
    own, its = shapes.resolve(matrix.shape[-1]), shapes.resolve(columns.shape[-2])
    shapes.require_same(own, its, f"{name}: the matrix has {own} rows, and the right-hand side has {its}")
    return columns


def solve_triangular_vjp(
    g: Value, y: Value, a: Value, b: Value, *, trans: int, lower: bool, unit_diagonal: bool, on_error: str
) -> tuple[Value, Value]:
    """Return the cotangents of matrix and right-hand side, in the triangle that is read: Giles, An extended collection
    of matrix derivative results (2008), 2.3.1."""
    options = {"lower": lower, "unit_diagonal": unit_diagonal, "on_error": on_error}
    if trans == 2:
        right = conj(triangular_solution(a, conj(g), trans=0, **options))
        outer = conj(product(y, transposed_matrix(right)))
    else:
        right = triangular_solution(a, g, trans=1 - trans, **options)
        outer = product(y, transposed_matrix(right)) if trans else product(right, transposed_matrix(y))
    offset = (-1 if lower else 1) if unit_diagonal else 0
    return -masked(outer, offset, upper=not lower), right


def triangular_evaluate(a: Any, b: Any, *, trans: int, lower: bool, unit_diagonal: bool) -> Any:
    return load("scipy.linalg:solve_triangular")(
        a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal, check_finite=False
    )


def triangular_by_blas(a: Any, b: Any, *, trans: int, lower: bool, unit_diagonal: bool) -> Any:
    """Solve a triangular system by BLAS, which divides by the zeros of a singular triangle."""
    (solve,) = load("scipy.linalg:get_blas_funcs")(("trsm",), (a, b))
    return solve(1.0, a, b, lower=lower, trans_a=trans, diag=unit_diagonal)


def triangular_reference(a: Any, b: Any, *, on_error: str = "raise", **attrs: Any) -> Any:
    if on_error == "ignore":
        return reference(SYSTEM)(triangular_by_blas)(a, b, **attrs)
    return reference(SYSTEM)(triangular_evaluate)(a, b, on_error=on_error, **attrs)


def with_equal_batches(a: Any, b: Any) -> list[Any]:
    """Return both stacks of matrices with one batch shape, for JAX: its solvers take a matrix beside a stack of them
    for a batch of vectors."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return [load("jax.numpy:broadcast_to")(each, (*batch, *each.shape[-2:])) for each in (a, b)]


def triangular_jnp(a: Any, b: Any, *, trans: int, lower: bool, unit_diagonal: bool, on_error: str) -> Any:
    a, b = with_equal_batches(a, b)
    return load("jax.lax.linalg:triangular_solve")(
        a, b, left_side=True, lower=lower, transpose_a=trans > 0, conjugate_a=trans == 2, unit_diagonal=unit_diagonal
    )


def solve_triangular_frontend(
    op: Op,
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Value:
    if trans not in TRANS:
        raise ValueError(f"solve_triangular: trans must be one of {', '.join(map(repr, TRANS))}, not {trans!r}")
    matrix, right = promoted(a, b, ranks=(2, 1))
    require_square(matrix)
    vector = right.ndim == 1
    columns = with_columns(matrix, right, vector=vector, name="solve_triangular")
    options = {"trans": TRANS[trans], "lower": bool(lower), "unit_diagonal": bool(unit_diagonal)}
    solution = op.bind(matrix, columns, **options, on_error=singular.chosen())
    return squeeze.bind(solution, axes=(-1,)) if vector else solution


TRIANGULAR_OPTIONS = [
    (0, True), (1, True), ("C", False), (2, True, True)
]  # fmt: skip

solve_triangular = core_op(
    "scipy.linalg:solve_triangular",
    SYSTEM,
    evaluate=triangular_reference,
    library=triangular.solve_by_blas,
    small=triangular.solve_loops,
    frontend=solve_triangular_frontend,
    vjp=solve_triangular_vjp,
    jnp=triangular_jnp,
    samples=samples.inexact(samples.systems(
        samples.dominant,
        ((3, 3), (3, 2)), ((3, 3), (3,)), ((1, 1), (1, 1)), ((5, 5), (5, 1)), ((20, 20), (20, 3)),
        options=TRIANGULAR_OPTIONS,
    )),
)  # fmt: skip
"""SciPy's function, for stacks of matrices too."""


def factored_vjp(
    g: Value, y: Value, a: Value, factors: Value, pivots: Value, b: Value, *, trans: int, on_error: str
) -> tuple[Value | None, ...]:
    """Return the cotangents of matrix and right-hand side: Giles (2008), section 2.3.1. The factors follow from the
    matrix, so they get none."""
    right = factored_solution(a, factors, pivots, g, trans=1 - trans, on_error=on_error)
    outer = product(y, transposed_matrix(right)) if trans else product(right, transposed_matrix(y))
    return -outer, None, None, right


def factored_evaluate(a: Any, factors: Any, pivots: Any, b: Any, *, trans: int) -> Any:
    """Solve by the given factors: those of a singular matrix may have been altered (see `determinants`)."""
    if not np.diagonal(factors).all():
        raise np.linalg.LinAlgError("Singular matrix")
    return load("scipy.linalg:lu_solve")((factors.T, pivots), b, trans, check_finite=False)


def factored_jnp(a: Any, factors: Any, pivots: Any, b: Any, *, trans: int, on_error: str) -> Any:
    factors, b = with_equal_batches(load("jax.numpy:swapaxes")(factors, -1, -2), b)
    return load("jax.scipy.linalg:lu_solve")((factors, pivots), b, trans)


def factored_frontend(op: Op, a: Any, b: Any, trans: int = 0) -> Value:
    matrix, columns = promoted(a, b, ranks=(2, 2))
    factors, pivots = square_lu(matrix)  # type: ignore[misc]
    return op.bind(matrix, factors, pivots, columns, trans=trans, on_error=singular.chosen())


solve_factored = core_op(
    None,
    "(m,m),(m,m),(m),(m,n)->(m,n)",
    name="solve_factored",
    evaluate=reference("(m,m),(m,m),(m),(m,n)->(m,n)")(factored_evaluate),
    library=general.solve_factored_by_blas,
    small=general.solve_factored_loops,
    frontend=factored_frontend,
    vjp=factored_vjp,
    jnp=factored_jnp,
    samples=samples.systems(
        samples.regular,
        ((3, 3), (3, 2)), ((1, 1), (1, 1)), ((2, 5, 5), (5, 3)), ((20, 20), (20, 3)),
        options=[(1,)],
    ),
)  # fmt: skip
"""The solution of a system whose matrix has been factored. Derivatives are those of the system, not of the factors."""

SOLVE_SAMPLES = samples.systems(
    samples.regular,
    ((3, 3), (3, 2)), ((3, 3), (3,)), ((2, 4, 4), (2, 4, 1)), ((2, 4, 4), (4,)),
    ((20, 20), (20, 3)),
)  # fmt: skip


@decomposition(np.linalg.solve, samples=SOLVE_SAMPLES, ulp=64)
def solve(a: Any, b: Any) -> Value:
    matrix, right = promoted(a, b, ranks=(2, 1))
    require_square(matrix)
    vector = right.ndim == 1  # the rule of NumPy 2: a stack of vectors is a matrix
    columns = with_columns(matrix, right, vector=vector, name="solve")
    factors, pivots = square_lu(matrix)  # type: ignore[misc]
    solution = factored_solution(matrix, factors, pivots, columns, on_error=singular.chosen())
    return squeeze.bind(solution, axes=(-1,)) if vector else solution


@decomposition(np.linalg.inv, samples=samples.of(samples.regular), ulp=64)
def inv(a: Any) -> Value:
    matrix = one_square(a)
    factors, pivots = square_lu(matrix)  # type: ignore[misc]
    return factored_solution(matrix, factors, pivots, unit(matrix), on_error=singular.chosen())


def inverse_vjp(g: Value, y: Value, a: Value, *, on_error: str) -> tuple[Value]:
    """Return the cotangent of the matrix: Giles (2008), section 2.2.3."""
    turned = transposed_matrix(y)
    return (-product(turned, g, turned),)


inverse = core_op(
    None,
    "(m,m)->(m,m)",
    name="inverse",
    evaluate=reference("(m,m)->(m,m)", stacks=True)(lambda a: np.linalg.inv(a)),
    library=inverses.inverse_by_lapack,
    small=inverses.inverse_loops,
    frontend=lambda op, a: op.bind(one_square(a), on_error=singular.chosen()),
    vjp=inverse_vjp,
    jnp=lambda a, *, on_error: load("jax.numpy.linalg:inv")(a),
    scratch=lambda dtype, lengths, **_: [
        (dtype, (lengths["m"], lengths["m"])),
        (INT32, (lengths["m"],)),
    ],
    samples=lambda rng, dtype: [
        *samples.of(samples.regular)(rng, dtype),
        *samples.of(samples.positive, (20, 20), (2, 17, 17))(rng, dtype),
    ],
)
"""An inverse whose factors nothing else uses (`numbagraph.rewrite.inverses_alone`)."""


def cho_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    matrix = samples.dominant(rng, dtype, (3, 3))
    vector, columns = (draw(rng, dtype, shape) for shape in ((3,), (3, 2)))
    return [((matrix, True), vector), ((matrix, False), vector), ((matrix, True), columns)]


@decomposition("scipy.linalg:cho_solve", samples=samples.inexact(cho_samples), ulp=64)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Value:
    c, lower = c_and_lower
    factor, right = promoted(c, b, ranks=(2, 1))
    require_square(factor)
    vector, first, second = right.ndim == 1, *((0, 2) if lower else (2, 0))
    columns = with_columns(factor, right, vector=vector, name="cho_solve")
    half = triangular_solution(factor, columns, trans=first, lower=bool(lower))
    solution = triangular_solution(factor, half, trans=second, lower=bool(lower))
    return squeeze.bind(solution, axes=(-1,)) if vector else solution


def tridiagonal_vjp(
    g: Value, y: Value, lower: Value, diagonal: Value, upper: Value, b: Value, *, on_error: str
) -> tuple[Value, ...]:
    """Return the cotangents of a tridiagonal system as those of a general system (Giles, 2008), restricted to the three
    diagonals."""
    right = solve_tridiagonal.bind(rolled(upper, 1), diagonal, rolled(lower, -1), g, on_error=on_error)
    before, after = (rolled(y, step, axis=-2) for step in (1, -1))
    products = [-registry["sum"](right * each, -1) for each in (before, y, after)]
    inside = registry["greater"](registry["iota"](diagonal.shape[-1]), 0)
    first = registry["where"](inside, products[0], 0 * products[0])
    last = registry["where"](registry["flip"](inside), products[2], 0 * products[2])
    return first, products[1], last, right


def rolled(value: Value, step: int, axis: int = -1) -> Value:
    return registry["roll"](value, step, axis)


def tridiagonal_evaluate(lower: Any, diagonal: Any, upper: Any, b: Any) -> Any:
    bands = np.stack([np.roll(upper, 1), diagonal, np.roll(lower, -1)])
    return load("scipy.linalg:solve_banded")((1, 1), bands, b, check_finite=False)


def tridiagonal_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = []
    for batch, length, columns in (((), 5, 2), ((), 2, 1), ((3,), 4, 2)):
        bands = [draw(rng, dtype, (*batch, length), (-0.5, 0.5)) for _ in range(3)]
        bands[1] = bands[1] + np.asarray(2, dtype)
        calls.append((*bands, draw(rng, dtype, (*batch, length, columns))))
    return calls


TRIDIAGONAL = "(m),(m),(m),(m,n)->(m,n)"

solve_tridiagonal = core_op(
    None,
    TRIDIAGONAL,
    name="solve_tridiagonal",
    evaluate=reference(TRIDIAGONAL)(tridiagonal_evaluate),
    library=general.tridiagonal_by_lapack,
    frontend=lambda op, dl, d, du, b: op.bind(*promoted(dl, d, du, b, ranks=(1, 1, 1, 2)), on_error=singular.chosen()),
    vjp=tridiagonal_vjp,
    jnp=lambda lower, diagonal, upper, b, *, on_error: load("jax.lax.linalg:tridiagonal_solve")(
        lower, diagonal, upper, b
    ),
    scratch=lambda dtype, lengths, **_: [(dtype, (3, lengths["m"])), (dtype, (lengths["m"], lengths["n"]))],
    samples=samples.inexact(tridiagonal_samples),
)
"""The solution of a system with three diagonals, each of which has an element for each row: the first of the lower one
and the last of the upper one are not read."""
