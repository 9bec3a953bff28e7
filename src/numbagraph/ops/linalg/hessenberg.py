"""The Hessenberg form of matrices, as LAPACK computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted, require_square
from numbagraph.blockwise.kinds import core_op
from numbagraph.intrinsics.emitters.linalg import spectral
from numbagraph.ir.op import load
from numbagraph.ir.values import Op, Unsupported
from numbagraph.ops.linalg import samples
from numbagraph.ops.linalg.common import reference

REFUSED = Unsupported("scipy.linalg.hessenberg has no derivative: np.linalg.qr has one")


def scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    work = lowering.multiply(lengths["m"], lowering.literal(spectral.BLOCK))
    work = lowering.add(work, lowering.literal(spectral.TABLES))
    return [(dtype, (lengths["m"], lengths["m"])), (dtype, (lengths["m"],)), (dtype, (work,))]


def declare(name: str, signature: str, *, vectors: bool) -> Op:
    results = 1 + vectors

    def evaluate(a: np.ndarray) -> Any:
        found = load("scipy.linalg:hessenberg")(a, calc_q=vectors, check_finite=False)
        return tuple(each.astype(a.dtype) for each in found) if vectors else found

    def translated(a: Any) -> Any:
        if a.shape[-1] > 2:
            return load("jax.scipy.linalg:hessenberg")(a, calc_q=vectors)
        xp = load("jax:numpy")
        return (a, xp.broadcast_to(xp.eye(a.shape[-1], dtype=a.dtype), a.shape)) if vectors else a

    def frontend(op: Op, a: Any) -> Any:
        (matrix,) = promoted(a)
        require_square(matrix)
        found = [op.bind(matrix, **({"result": result} if vectors else {})) for result in range(results)]
        return tuple(found) if vectors else found[0]

    return core_op(
        None,
        signature,
        name=name,
        evaluate=reference(signature)(evaluate),
        library=spectral.hessenberg(vectors),
        frontend=frontend,
        vjp=REFUSED,
        jnp=translated,
        scratch=scratch,
        samples=samples.inexact(samples.of(samples.dominant, (3, 3), (2, 5, 5), (1, 1), (2, 2), (20, 20))),
    )


hessenberg_form = declare("hessenberg_form", "(m,m)->(m,m)", vectors=False)
hessenberg_pair = declare("hessenberg_pair", "(m,m)->(m,m),(m,m)", vectors=True)
"""The form, and the unitary matrix that leads to it."""
