"""Orders of rows that follow from pivots."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import core_op
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.intrinsics.emitters.linalg import general as emitters
from numbagraph.ir.op import load
from numbagraph.ir.values import Unsupported, Value
from numbagraph.ops.comparison import equal
from numbagraph.ops.creation import iota
from numbagraph.ops.indexing.gathering_rows import take_along_axis
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.reduction import sum
from numbagraph.ops.shape import expand_dims

INTEGER = np.dtype(np.int32)


def rows_of_pivots(pivots: np.ndarray) -> np.ndarray:
    rows = np.arange(len(pivots), dtype=INTEGER)
    for k, other in enumerate(pivots):
        rows[[k, other]] = rows[[other, k]]
    return rows


def pivot_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype != INTEGER:
        return []
    return [(np.array([rng.integers(k, length) for k in range(length)], INTEGER),) for length in (4, 1)]


permutation_of = core_op(
    None,
    "(m)->(m)",
    name="permutation_of",
    evaluate=reference("(m)->(m)")(rows_of_pivots),
    library=emitters.permutation_of_pivots,
    frontend=lambda op, pivots: op.bind(convert(as_value(pivots), INTEGER), on_error="raise"),
    vjp=Unsupported("the order of rows does not change smoothly"),
    jnp=lambda pivots, *, on_error: load("jax.lax.linalg:lu_pivots_to_permutation")(pivots, pivots.shape[-1]),
    samples=pivot_samples,
)
"""The order of rows after the exchanges that pivots describe."""


def in_order(value: Value, rows: Value) -> Value:
    """Return the rows of a matrix in another order."""
    return take_along_axis(value, expand_dims.bind(rows, axes=(-1,)), -2)


def inverse_of(rows: Value) -> Value:
    """Return the order that undoes another one."""
    positions = iota(rows.shape[-1])
    found = equal(expand_dims.bind(rows, axes=(-2,)), expand_dims.bind(positions, axes=(-1,)))
    return sum(found * positions, -1)
