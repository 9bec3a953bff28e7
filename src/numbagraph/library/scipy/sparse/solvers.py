"""`scipy.sparse.linalg`: systems of equations by SciPy's compiled code, with derivatives by the adjoint system."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from numbagraph.api.callbacks import pure_callback
from numbagraph.ir.later import Later
from numbagraph.library.scipy.arguments import refuse
from numbagraph.library.scipy.sparse.arrays import SparseArray, sparse_or_dense
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.tracer import Tracer

if TYPE_CHECKING:
    from scipy import sparse
    from scipy.sparse import linalg
else:
    sparse, linalg = Later("scipy.sparse"), Later("scipy.sparse.linalg")

Solve = Callable[..., Any]
"""A function of a sparse matrix in the format csc and a right-hand side, which returns a solution and a status."""


def parts_of(A: Any) -> tuple[Any, Any, Any, Any]:
    """Return the elements of a matrix, their rows and columns, and the number of rows."""
    matrix = sparse_or_dense(A)
    if isinstance(matrix, SparseArray):
        coo = matrix.tocoo()
        return coo.data, *coo.coords, matrix.shape[0]
    if matrix.ndim != 2:
        raise TraceError(f"a system of equations takes a matrix, not {matrix.ndim} dimensions\n  at {user_source()}")
    places: Any = np.nonzero(np.ones(matrix.shape))
    return np.ravel(matrix), *places, matrix.shape[0]


def solution(solve: Solve, parts: tuple[Any, Any, Any], right: Any, start: Any) -> tuple[Any, Any]:
    """Return the solution of a system, and its status. ``parts`` are elements, rows and columns."""
    kind = np.result_type(parts[0].dtype, right.dtype, np.float64)
    data, right = parts[0].astype(kind), right.astype(kind)

    def call(data: Any, rows: Any, columns: Any, right: Any, start: Any) -> tuple[Any, Any]:
        count = len(right)
        matrix = sparse.csc_array((data, (rows, columns)), shape=(count, count))
        found, status = solve(matrix, right, start)
        return np.ascontiguousarray(found, dtype=right.dtype), np.int64(status)

    def rule(given: Any, result: Any, data: Any, rows: Any, columns: Any, right: Any, start: Any) -> tuple[Any, ...]:
        adjoint, _ = solution(solve, (data, columns, rows), given[0], np.zeros_like(start))
        products = adjoint[rows] * result[0][columns]
        return -(products if right.ndim == 1 else np.sum(products, axis=-1)), None, None, adjoint, None

    found: tuple[Any, Any] = pure_callback(
        call, (right, np.int64(0)), data, parts[1], parts[2], right, start.astype(kind), vjp=rule
    )
    return found


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """`scipy.sparse.linalg.spsolve` with a dense right-hand side."""
    right = sparse_or_dense(b)
    if isinstance(right, SparseArray):
        refuse("scipy.sparse.linalg.spsolve with a sparse right-hand side", "pass b.toarray()")

    def solve(matrix: Any, right: Any, _: Any) -> tuple[Any, int]:
        return linalg.spsolve(matrix, right, permc_spec, use_umfpack), 0

    is_column = right.ndim == 2 and right.value.shape[1] == 1
    flat = right[:, 0] if is_column else right
    data, rows, columns, _ = parts_of(A)
    return solution(solve, (data, rows, columns), flat, np.zeros(0))[0]


def iterative(name: str) -> Callable[..., Any]:
    """Return an iterative solver, which gives a solution and a status."""

    def call(
        A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: Any = None, M: Any = None,
        callback: Any = None, **options: Any,
    ) -> tuple[Any, Any]:  # fmt: skip
        if M is not None or callback is not None or any(isinstance(each, Tracer) for each in (rtol, atol, maxiter)):
            refuse(
                f"scipy.sparse.linalg.{name} with M=, callback= or traced tolerances", "known rtol=, atol=, maxiter="
            )
        right = sparse_or_dense(b)

        def solve(matrix: Any, right: Any, start: Any) -> tuple[Any, int]:
            first = start if start.size else None
            own = {"rtol": rtol, "atol": atol, "maxiter": maxiter, **options}
            found: tuple[Any, int] = getattr(linalg, name)(matrix, right, first, **own)
            return found

        data, rows, columns, _ = parts_of(A)
        start = np.zeros(0) if x0 is None else sparse_or_dense(x0)
        return solution(solve, (data, rows, columns), right, start)

    return call


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "spsolve": spsolve,
    **{name: iterative(name) for name in ("cg", "cgs", "bicg", "bicgstab", "gmres", "lgmres", "minres")},
}
