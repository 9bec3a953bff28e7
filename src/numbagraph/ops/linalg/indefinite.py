"""The factors of symmetric and Hermitian matrices that need not be definite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted, require_square
from numbagraph.blockwise.kinds import core_op
from numbagraph.intrinsics.emitters.linalg import indefinite, spectral
from numbagraph.ir.op import load
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.linalg import samples
from numbagraph.ops.linalg.common import reference

INTEGERS = np.dtype(np.int32), np.dtype(np.int64)
SIGNATURE = "(m,m)->(m,m),(m,m),(m)"


def scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    """Return the scratch memory: the matrix, pivots, positions, and LAPACK's work memory."""
    n = lengths["m"]
    work = lowering.add(lowering.multiply(n, lowering.literal(spectral.BLOCK)), lowering.literal(1))
    return [(dtype, (n, n)), *((each, (n,)) for each in INTEGERS), (dtype, (work,))]


@reference(SIGNATURE)
def evaluate(a: np.ndarray, *, lower: bool, hermitian: bool) -> tuple[np.ndarray, ...]:
    if hermitian and a.dtype.kind == "c":  # SciPy would warn of imaginary parts on the diagonal
        a, diagonal = a.copy(), np.arange(len(a))
        a[diagonal, diagonal] = np.real(a[diagonal, diagonal])
    return load("scipy.linalg:ldl")(a, lower=lower, hermitian=hermitian, check_finite=False)


def translated(a: Any, **options: Any) -> tuple[Any, ...]:
    """Call SciPy back from JAX, which has no such factors."""
    call, like = load("jax:pure_callback"), load("jax:ShapeDtypeStruct")
    types = [like(a.shape, a.dtype), like(a.shape, a.dtype), like(a.shape[:-1], INTEGERS[1])]
    return call(partial(evaluate, **options), tuple(types), a, vmap_method="broadcast_all")


def frontend(op: Op, a: Any, lower: bool = True, hermitian: bool = True) -> tuple[Value, ...]:
    (matrix,) = promoted(a)
    require_square(matrix)
    options = {"lower": bool(lower), "hermitian": bool(hermitian) and matrix.dtype.kind == "c"}
    return tuple(op.bind(matrix, result=result, **options) for result in range(3))


factors_of_blocks = core_op(
    None,
    SIGNATURE,
    name="factors_of_blocks",
    evaluate=evaluate,
    library=indefinite.factors_of_blocks,
    frontend=frontend,
    vjp=Unsupported("scipy.linalg.ldl has no derivative: np.linalg.cholesky has one"),
    jnp=translated,
    dtypes=lambda dtype, *_: (dtype, dtype, INTEGERS[1]),
    scratch=scratch,
    samples=samples.inexact(
        samples.of(
            samples.moderate, (3, 3), (2, 5, 5), (1, 1), (20, 20), options=[(False,), (True, False), (False, False)]
        )
    ),
)
"""A triangle whose rows are out of order, a matrix of blocks of one or two rows, and the order that makes the triangle
one."""
