"""Systems whose matrix has one number along each diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.core import promoted
from numbagraph.blockwise.kinds import core_op, draw
from numbagraph.intrinsics.emitters.linalg import toeplitz
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import Value
from numbagraph.ops.creation import iota
from numbagraph.ops.linalg import singular
from numbagraph.ops.linalg.banded import band_products
from numbagraph.ops.linalg.common import number, reference
from numbagraph.ops.selection import where

SYSTEM = "(m),(m),(m,n)->(m,n)"


def evaluate(column: Any, row: Any, b: Any) -> Any:
    if not b.size:  # SciPy's function gives another shape
        return np.empty_like(b)
    return load("scipy.linalg:solve_toeplitz")((column, row), b, check_finite=False).astype(b.dtype)


def solution_vjp(
    g: Value, y: Value, column: Value, row: Value, b: Value, *, on_error: str
) -> tuple[Value, Value, Value]:
    """Return the cotangents as those of a general system (Giles, 2008), summed along diagonals: each diagonal has one
    element of the first column or row."""
    is_first = registry["equal"](iota(row.shape[-1]), 0)
    right = solve_toeplitz.bind(where(is_first, column, row), column, g, on_error=on_error)
    count = column.shape[-1]
    below, above = (-registry["sum"](band_products(*pair, count, 0), -1) for pair in ((right, y), (y, right)))
    return below, where(is_first, number(0, above), above), right


def solved_by_jax(column: Any, row: Any, b: Any, *, on_error: str) -> Any:
    dense = load("jax.numpy:vectorize")(load("jax.scipy.linalg:toeplitz"), signature="(m),(m)->(m,m)")
    return load("jax.numpy.linalg:solve")(dense(column, row), b)


def systems(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind != "f":
        return []
    calls = []
    for length, columns in ((1, 1), (2, 1), (5, 2), (9, 1)):
        column, row = (draw(rng, dtype, (length,), (-0.3, 0.3)) for _ in range(2))
        column[0] += 2
        calls.append((column, row, draw(rng, dtype, (length, columns))))
    return calls


solve_toeplitz = core_op(
    None,
    SYSTEM,
    name="solve_toeplitz",
    evaluate=reference(SYSTEM, like=2)(evaluate),
    library=toeplitz.solve,
    frontend=lambda op, c, r, b: op.bind(*promoted(c, r, b, ranks=(1, 1, 2)), on_error=singular.chosen()),
    vjp=solution_vjp,
    jnp=solved_by_jax,
    scratch=lambda dtype, lengths, **_: [(dtype, (lengths["m"],))] * 2,
    samples=systems,
)
"""The solution of a real system. The operands are the first column, the first row, whose first element is not read, and
right-hand sides."""
