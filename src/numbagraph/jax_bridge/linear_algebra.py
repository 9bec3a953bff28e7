"""JAX's primitives of linear algebra. Where there is no factor they return NaN, as JAX's do; a solution with a singular
triangle has the results of divisions by zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph import linalg
from numbagraph.ir.op import registry
from numbagraph.jax_bridge.translation import Run, traced
from numbagraph.ops.linalg.common import triangular_solution
from numbagraph.tracing.tracer import Tracer, apply


def transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def adjoint(x: Any) -> Any:
    return transposed(np.conj(x)) if x.dtype.kind == "c" else transposed(x)


def cholesky(_run: Run, _equation: Any, x: Any) -> Any:
    return np.linalg.cholesky(traced(x))


def triangular_solve(_run: Run, equation: Any, a: Any, b: Any) -> Any:
    params = equation.params
    if not params["left_side"]:
        return transposed(solve_triangular(params, not params["transpose_a"], a, transposed(b)))
    return solve_triangular(params, params["transpose_a"], a, b)


def solve_triangular(params: Any, transpose: bool, a: Any, b: Any) -> Any:
    a = np.conj(a) if params["conjugate_a"] and a.dtype.kind == "c" else a
    a, b = traced(a), traced(b)
    found = triangular_solution(
        a.value, b.value, trans=int(transpose), lower=params["lower"], unit_diagonal=params["unit_diagonal"]
    )
    return Tracer(found)


def lu(_run: Run, equation: Any, x: Any) -> list[Any]:
    rows, columns = equation.invars[0].aval.shape[-2:]
    if rows != columns:
        raise NotImplementedError(
            "from_jax has no translation of JAX's primitive 'lu' of a matrix that is not square: use numpy.linalg.qr"
        )
    packed, pivots = linalg.lu_factor(traced(x))
    return [packed, pivots, apply(registry["permutation_of"], pivots)]


def permutation(_run: Run, equation: Any, pivots: Any) -> Any:
    if equation.params["permutation_size"] != equation.invars[0].aval.shape[-1]:
        raise NotImplementedError(
            "from_jax has no translation of JAX's primitive 'lu_pivots_to_permutation' of more rows than pivots"
        )
    return apply(registry["permutation_of"], traced(pivots))


def qr(_run: Run, equation: Any, x: Any) -> list[Any]:
    if equation.params.get("pivoting"):
        raise NotImplementedError("from_jax has no translation of JAX's primitive 'qr' with pivoting")
    return list(np.linalg.qr(traced(x), mode="complete" if equation.params["full_matrices"] else "reduced"))


def eigh(_run: Run, equation: Any, x: Any) -> list[Any]:
    refuse_subset(equation, "eigh")
    values, vectors = np.linalg.eigh(traced(x), UPLO="L" if equation.params["lower"] else "U")
    return [vectors, values]


def svd(_run: Run, equation: Any, x: Any) -> list[Any]:
    refuse_subset(equation, "svd")
    if not equation.params["compute_uv"]:
        return [np.linalg.svd(traced(x), compute_uv=False)]
    u, s, vh = np.linalg.svd(traced(x), full_matrices=bool(equation.params["full_matrices"]))
    return [s, u, vh]


def refuse_subset(equation: Any, name: str) -> None:
    if equation.params.get("subset_by_index") is not None:
        raise NotImplementedError(f"from_jax has no translation of JAX's primitive {name!r} with subset_by_index")


def tridiagonal_solve(_run: Run, _equation: Any, *operands: Any) -> Any:
    return apply(registry["solve_tridiagonal"], *map(traced, operands))


TABLE: dict[str, Callable[..., Any]] = {
    "cholesky": cholesky,
    "eigh": eigh,
    "lu": lu,
    "lu_pivots_to_permutation": permutation,
    "qr": qr,
    "svd": svd,
    "triangular_solve": triangular_solve,
    "tridiagonal_solve": tridiagonal_solve,
}
