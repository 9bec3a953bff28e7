"""Products with the orthogonal factor of a matrix, beside its triangular one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.core import promoted
from numbagraph.blockwise.kinds import core_op
from numbagraph.blockwise.signature import Lengths
from numbagraph.forking import import_module
from numbagraph.intrinsics.emitters.core import Algorithm
from numbagraph.intrinsics.emitters.linalg import reflections, spectral
from numbagraph.ir import shapes
from numbagraph.ir.values import Op, Value
from numbagraph.ops.linalg import samples
from numbagraph.ops.linalg.common import conj, product, reference
from numbagraph.ops.linalg.spectra import qr, qr_vjp
from numbagraph.ops.product import transposed_matrix


def scratch(dtype: np.dtype, lengths: Mapping[str, Any], **_: Any) -> Sequence[tuple[np.dtype, Any]]:
    m, n, p = (lengths[each] for each in "mnp")
    work = lowering.multiply(lowering.add(n, p), lowering.literal(spectral.BLOCK))
    work = lowering.add(work, lowering.literal(spectral.TABLES))
    return [(dtype, (m, n)), (dtype, (lengths["k"],)), (dtype, (work,)), (dtype, (p, m))]


def by_factor(a: Value, c: Value, *, left: bool, conjugate: bool) -> Value:
    """Return the product with the factor itself."""
    factor = factor_of(a, conjugate)
    return product(factor, c) if left else product(c, factor)


def factor_of(a: Value, conjugate: bool) -> Value:
    factor = qr.bind(a, complete=False, result=0)
    return conj(factor) if conjugate else factor


def declare(name: str, signature: str, *, left: bool, library: Algorithm, pairs: Sequence[Any]) -> Op:
    def translation(xp: str) -> Callable[..., Any]:
        def call(a: Any, c: Any, *, conjugate: bool) -> tuple[Any, Any]:
            namespace = import_module(xp)
            factor, upper = namespace.linalg.qr(a)
            factor = factor.conj() if conjugate else factor
            found = factor @ c if left else c @ factor
            return found, namespace.broadcast_to(upper, (*found.shape[:-2], *upper.shape[-2:]))

        return call

    def vjp(given: Mapping[int, Value], y: Value, a: Value, c: Value, *, conjugate: bool) -> tuple[Value, Value | None]:
        """Return the cotangents of the two matrices, from those of the product with Q and of the factor R."""
        of_factors, to_other = dict(given), None
        g = of_factors.pop(0, None)
        if g is not None:
            factor = transposed_matrix(factor_of(a, conjugate))
            to_other = product(factor, g) if left else product(g, factor)
            to_factor = product(g, transposed_matrix(c)) if left else product(transposed_matrix(c), g)
            of_factors[0] = conj(to_factor) if conjugate else to_factor
        (to_matrix,) = qr_vjp(of_factors, y, a, complete=False)
        return to_matrix, to_other

    def frontend(op: Op, a: Any, c: Any, conjugate: bool = False) -> tuple[Value, Value]:
        matrix, other = promoted(a, c, ranks=(2, 2))
        if left:
            smaller = shapes.minimum(*matrix.shape[-2:])
            shapes.require_same(other.shape[-2], smaller, "qr_multiply: c has as many rows as Q has columns")
        conjugate = conjugate and matrix.dtype.kind == "c"
        return op.bind(matrix, other, conjugate=conjugate, result=0), op.bind(
            matrix, other, conjugate=conjugate, result=1
        )

    def sizes(lengths: Lengths, *, conjugate: bool) -> Lengths:
        return {"k": shapes.minimum(lengths["m"], lengths["n"])}

    return core_op(
        None,
        signature,
        name=name,
        evaluate=reference(signature)(translation("numpy")),
        library=library,
        frontend=frontend,
        vjp=vjp,
        jnp=translation("jax.numpy"),
        sizes=sizes,
        scratch=scratch,
        samples=samples.systems(samples.dominant, *pairs, options=[(True,)]),
        regular=True,
    )


product_with_q = declare(
    "product_with_q",
    "(m,n),(p,m)->(p,k),(k,n)",
    left=False,
    library=reflections.product_on_the_right,
    pairs=(((4, 3), (2, 4)), ((3, 3), (1, 3)), ((2, 3, 5), (4, 3)), ((1, 1), (1, 1)), ((20, 18), (2, 19, 20))),
)
"""``c @ Q`` and R of a matrix ``Q @ R`` and ``c``."""
product_of_q = declare(
    "product_of_q",
    "(m,n),(k,p)->(m,p),(k,n)",
    left=True,
    library=reflections.product_on_the_left,
    pairs=(((4, 3), (3, 2)), ((3, 3), (3, 1)), ((2, 3, 5), (3, 4)), ((1, 1), (1, 1)), ((20, 18), (2, 18, 19))),
)
"""``Q @ c`` and R."""
