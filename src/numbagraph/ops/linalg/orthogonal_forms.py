"""Schur's form, reflections that make a matrix triangular, and the order of columns by what is left of them, as LAPACK
computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted, require_square
from numbagraph.blockwise.kinds import core_op
from numbagraph.blockwise.signature import Lengths
from numbagraph.intrinsics.emitters.linalg import orthogonal_forms as emitters
from numbagraph.intrinsics.emitters.linalg import spectral
from numbagraph.ir import shapes
from numbagraph.ir.op import load
from numbagraph.ir.types import real_dtype
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.linalg.permutations import INTEGER
from numbagraph.ops.linalg.spectra import LONGEST
from numbagraph.ops.selection import DISCRETE

SCHUR = "(m,m)->(m,m),(m,m)"
REFLECTIONS = "(m,n)->(m,n),(k)"
ORDER = "(m,n)->(n)"
RECTANGLES = ((4, 3), (3, 3), (2, 3, 5), (1, 1), (20, 18))


def schur_array(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("array must not contain infs or NaNs")
    return load("scipy.linalg:schur")(a, check_finite=False) if a.size else (a, a)


def schur_scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    m = lengths["m"]
    more = lowering.add(m, lowering.literal(1))
    real = (real_dtype(dtype), (more,))
    return [*[(dtype, (m, m))] * 2, (dtype, (more, spectral.BLOCK)), (dtype, (more,)), real]


def schur_frontend(op: Op, a: Any) -> tuple[Value, Value]:
    (matrix,) = promoted(a)
    require_square(matrix)
    found = (op.bind(matrix, on_error=singular.chosen(), result=result) for result in (0, 1))
    return next(found), next(found)


def reflections_array(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    packed, scales = np.linalg.qr(a, "raw")
    return packed.T, scales


def both(op: Op, a: Any) -> tuple[Value, Value]:
    (matrix,) = promoted(a)
    return op.bind(matrix, result=0), op.bind(matrix, result=1)


def work(dtype: np.dtype, lengths: Mapping[str, Any]) -> tuple[np.dtype, Any]:
    size = lowering.multiply(lengths["n"], lowering.literal(spectral.BLOCK))
    return dtype, (lowering.add(size, lowering.literal(spectral.TABLES)),)


def reflections_scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    return [(dtype, (lengths["m"], lengths["n"])), work(dtype, lengths)]


def order_scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    matrix, space = reflections_scratch(dtype, lengths)
    columns = lowering.multiply(lengths["n"], lowering.literal(2))
    return [matrix, (dtype, (lengths["n"],)), space, (real_dtype(dtype), (columns,))]


def order_array(a: np.ndarray) -> np.ndarray:
    found = np.empty((*a.shape[:-2], a.shape[-1]), INTEGER)
    found[...] = np.arange(a.shape[-1])
    for place in np.ndindex(a.shape[:-2]) if a.size else ():
        found[place] = load("scipy.linalg:qr")(a[place], mode="r", pivoting=True, check_finite=False)[1]
    return found


def smaller(lengths: Lengths, **_: Any) -> Lengths:
    return {"k": shapes.minimum(lengths["m"], lengths["n"])}


schur_form = core_op(
    None,
    SCHUR,
    name="schur_form",
    evaluate=reference(SCHUR)(schur_array),
    library=emitters.schur_form,
    frontend=schur_frontend,
    vjp=Unsupported("Schur's form has no derivative: np.linalg.eig and np.linalg.eigh have one"),
    jnp=lambda a, *, on_error: load("jax.scipy.linalg:schur")(a, "complex" if a.dtype.kind == "c" else "real"),
    scratch=schur_scratch,
    longest=LONGEST,
    samples=samples.inexact(samples.of(samples.separated, (3, 3), (2, 4, 4), (1, 1), (20, 20))),
    ulp=1024,
)
"""Schur's form of a matrix, quasi-triangular for a real one, and the unitary matrix that leads to it."""

reflections = core_op(
    None,
    REFLECTIONS,
    name="qr_reflections",
    evaluate=reference(REFLECTIONS)(reflections_array),
    library=emitters.reflections,
    frontend=both,
    vjp=Unsupported("the reflections of a matrix have no derivative: np.linalg.qr has one"),
    jnp=Unsupported("JAX keeps the reflections of a factorisation to itself"),
    sizes=smaller,
    scratch=reflections_scratch,
    regular=True,
    samples=samples.inexact(samples.of(samples.dominant, *RECTANGLES)),
)
"""The reflections that make a matrix triangular, with the triangular factor, in one matrix, and the scale of each."""

order_of_columns = core_op(
    None,
    ORDER,
    name="order_of_columns",
    evaluate=order_array,
    library=emitters.order_of_columns,
    frontend=lambda op, a: op.bind(*promoted(a)),
    vjp=DISCRETE,
    jnp=lambda a: load("jax.lax.linalg:qr")(a, pivoting=True, full_matrices=False)[2],
    dtypes=lambda *_: (INTEGER,),
    scratch=order_scratch,
    samples=samples.inexact(samples.of(samples.dominant, *RECTANGLES)),
)
"""The order of columns in which each has most left of those behind it: that of the pivots of a QR factorisation."""
