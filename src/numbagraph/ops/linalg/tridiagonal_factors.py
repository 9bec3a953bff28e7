"""Factors of tridiagonal matrices, as LAPACK has them, and systems that are solved with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.core import promoted
from numbagraph.blockwise.kinds import Keywords, core_op, draw
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.intrinsics.emitters.linalg import tridiagonal_factors as emitters
from numbagraph.ir.op import load
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.linalg import samples
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.linalg.permutations import INTEGER

FACTORS = "(m),(m),(m)->(m),(m),(m),(m),(m)"
SOLUTION = "(m),(m),(m),(m),(m),(m,n)->(m,n)"
REFUSED = Unsupported("factors of tridiagonal matrices have no derivative: solve_tridiagonal has one")
NOT_ON_JAX = Unsupported("JAX has no factors of tridiagonal matrices")


def magnitude(number: Any) -> Any:
    """The size by which LAPACK chooses pivots."""
    return abs(number.real) + abs(number.imag)


def factors_array(lower: Any, diagonal: Any, upper: Any) -> tuple[np.ndarray, ...]:
    """Eliminate row by row: a row is exchanged with the next one where that begins with more."""
    below, main, above = (each.copy() for each in (lower, diagonal, upper))
    beyond, pivots = np.zeros_like(main), np.arange(1, len(main) + 1, dtype=INTEGER)
    below[-1:], above[-1:] = 0, 0
    for k in range(len(main) - 1):
        if magnitude(main[k]) >= magnitude(below[k]):
            if main[k] != 0:
                below[k] /= main[k]
                main[k + 1] -= below[k] * above[k]
            continue
        pivots[k] += 1
        factor = main[k] / below[k]
        main[k], below[k] = below[k], factor
        above[k], main[k + 1] = main[k + 1], above[k] - factor * main[k + 1]
        if k < len(main) - 2:
            beyond[k], above[k + 1] = above[k + 1], -factor * above[k + 1]
    return below, main, above, beyond, pivots


def solution_array(below: Any, main: Any, above: Any, beyond: Any, pivots: Any, b: Any, *, trans: bool) -> np.ndarray:
    rows = np.arange(1, len(main) + 1)
    if not np.all((pivots == rows) | ((pivots == rows + 1) & (rows < len(main)))):
        raise np.linalg.LinAlgError("the pivots of a tridiagonal matrix: each must be a row, from 1, or the next one")
    order, upper = np.eye(len(main), dtype=b.dtype), np.diag(main)
    for k in range(len(main) - 1):  # the steps of elimination: an exchange, and a multiple of a row
        step = np.eye(len(main), dtype=b.dtype)
        if pivots[k] > k + 1:
            step[[k, k + 1]] = step[[k + 1, k]]
        step[k + 1] -= below[k] * step[k]
        order = step @ order
        upper[k, k + 1] = above[k]
    for k in range(len(main) - 2):
        upper[k, k + 2] = beyond[k]
    solve = load("scipy.linalg:solve_triangular")
    if trans:
        return order.T @ solve(upper, b, trans=1, check_finite=False)
    return solve(upper, order @ b, check_finite=False)


def diagonals(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return diagonals of matrices whose rows are exchanged, and of such whose are not."""
    return [
        tuple(draw(rng, dtype, (*batch, length), (0.5, 2.0)) for _ in range(3))
        for batch, length in (((), 5), ((2,), 4), ((), 2), ((), 1))
    ]


def systems(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = []
    for trans in (False, True):
        for lower, diagonal, upper in diagonals(rng, dtype):
            if diagonal.ndim == 1:
                right = draw(rng, dtype, (len(diagonal), 2))
                calls.append((*factors_array(lower, diagonal, upper), right, Keywords(trans=trans)))
    return calls


def factors_frontend(op: Op, lower: Any, diagonal: Any, upper: Any) -> tuple[Value, ...]:
    operands = promoted(lower, diagonal, upper, ranks=(1, 1, 1))
    return tuple(op.bind(*operands, result=number) for number in range(5))


def solution_frontend(
    op: Op, below: Any, main: Any, above: Any, beyond: Any, pivots: Any, b: Any, trans: bool = False
) -> Value:
    *given, right = promoted(below, main, above, beyond, b, ranks=(1, 1, 1, 1, 2))
    return op.bind(*given, convert(as_value(pivots), INTEGER), right, trans=bool(trans), on_error="raise")


tridiagonal_factors = core_op(
    None,
    FACTORS,
    name="tridiagonal_factors",
    evaluate=reference(FACTORS)(factors_array),
    library=emitters.factors,
    threaded=False,
    frontend=factors_frontend,
    vjp=REFUSED,
    jnp=NOT_ON_JAX,
    dtypes=lambda dtype, *_: (dtype,) * 4 + (INTEGER,),
    samples=samples.inexact(diagonals),
)
"""The factors of a matrix with three diagonals, of LAPACK's ``gttrf``: multipliers, three diagonals, and rows that were
exchanged, counted from 1. Each vector has an element for each row; the last ones of the diagonals beside the main one
are not read, and those of the result are zero."""

solve_tridiagonal_factored = core_op(
    None,
    SOLUTION,
    name="solve_tridiagonal_factored",
    evaluate=reference(SOLUTION, like=0)(solution_array),
    library=emitters.solution,
    threaded=False,
    frontend=solution_frontend,
    vjp=REFUSED,
    jnp=NOT_ON_JAX,
    scratch=lambda dtype, lengths, **_: [(dtype, (lengths["m"], lengths["n"]))],
    samples=samples.inexact(systems),
)
"""The solution of a system by `tridiagonal_factors` of its matrix, or with ``trans`` of the transposed one's."""
