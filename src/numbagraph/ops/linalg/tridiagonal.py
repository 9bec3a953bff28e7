"""Eigenvalues of symmetric matrices that have two diagonals, which are vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted
from numbagraph.blockwise.kinds import Keywords, core_op, draw
from numbagraph.intrinsics.emitters.linalg import tridiagonal
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import Op, Value
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.linalg import singular
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.linalg.permutations import INTEGER

ALL = 0
"""The number of wanted eigenvalues that stands for all of them."""


def evaluate(d: np.ndarray, e: np.ndarray, *, first: int, count: int) -> np.ndarray:
    if not (np.all(np.isfinite(d)) and np.all(np.isfinite(e))):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    if not d.size:
        return np.zeros(count, d.dtype)
    some = {} if count == ALL else {"select": "i", "select_range": (first, first + count - 1)}
    return load("scipy.linalg:eigvalsh_tridiagonal")(d, e[: len(d) - 1], **some).astype(d.dtype)


def dense(function: Callable[[str], Any], d: Any, e: Any) -> Any:
    """Return the matrix, built with functions of NumPy's names."""
    expand, where, equal = (function(name) for name in ("expand_dims", "where", "equal"))
    column = function("arange")(d.shape[-1])
    row = expand(column, -1)
    beside = where(equal(row + 1, column), expand(e, -1), where(equal(column + 1, row), expand(e, -2), 0.0))
    return where(equal(row, column), expand(d, -2), beside)


def some_of(values: Any, first: int, count: int) -> Any:
    return values if count == ALL else values[..., first : first + count]


def vjp(g: Value, y: Value, d: Value, e: Value, *, first: int, count: int, on_error: str) -> tuple[Value, Value]:
    """Return the cotangents of the diagonals. Each eigenvalue is the quadratic form of its vector: Magnus, On
    differentiating eigenvalues and eigenvectors (1985)."""
    with singular.on_linalg_error("nan"):
        vectors = registry["eigh"](dense(registry.__getitem__, d, e))[1]
    if count != ALL:
        vectors = narrow(vectors, -1, first, count)
    weighted = vectors * registry["expand_dims"](g, -2)
    following = registry["roll"](vectors, -1, -2)
    is_last = registry["equal"](registry["arange"](d.shape[-1]) + 1, shapes.as_value(d.shape[-1]))
    inside = registry["where"](is_last, 0.0, 2.0)
    return registry["sum"](weighted * vectors, -1), registry["sum"](weighted * following, -1) * inside


def frontend(op: Op, d: Any, e: Any, first: int = 0, count: int = ALL) -> Value:
    return op.bind(*promoted(d, e, ranks=(1, 1)), first=first, count=count, on_error=singular.chosen())


def scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    n = lengths["m"]
    integers = lowering.add(lowering.multiply(n, lowering.literal(5)), lowering.literal(2))
    return [*[(dtype, (n,))] * 3, (dtype, (4, n)), (INTEGER, (integers,))]


def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return diagonals whose eigenvalues lie far apart, since the elements of the main diagonal do."""
    if dtype.kind != "f":
        return []
    d, e = (10 * np.arange(6.0)).astype(dtype), draw(rng, dtype, (6,))
    batch = (d + draw(rng, dtype, (2, 6))).astype(dtype)
    some = Keywords(first=1, count=3)
    return [(d, e), (batch, e, some), (d[::-1].copy(), e, Keywords(first=5, count=1)), (d[:1], e[:1]), (batch, e)]


tridiagonal_values = core_op(
    None,
    "(m),(m)->(k)",
    name="tridiagonal_values",
    evaluate=reference("(m),(m)->(k)")(evaluate),
    library=tridiagonal.eigenvalues,
    frontend=frontend,
    vjp=vjp,
    jnp=lambda d, e, *, first, count, on_error: some_of(
        load("jax.numpy.linalg:eigvalsh")(dense(partial(getattr, load("jax:numpy")), d, e)), first, count
    ),
    sizes=lambda lengths, *, first, count, **_: {"k": lengths["m"] if count == ALL else count},
    scratch=scratch,
    samples=samples,
    ulp=256,
)
"""The eigenvalues of a symmetric matrix, from two diagonals. The second is as long as the first; its last element is
not used."""
