"""Replacements of functions and methods of `scipy.sparse` in converted code, where arguments are traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.sparse import bands, construction, solvers
from numbagraph.library.scipy.sparse.arrays import (
    SparseArray,
    is_scipys,
    is_vector,
    lifted,
    sparse_or_dense,
)
from numbagraph.library.scipy.sparse.coordinates import of_tuple
from numbagraph.ops.sparse import formats
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.sparse_pytrees import NAMES
from numbagraph.tracing.tracer import Tracer

Function = Callable[..., Any]


def replacement(function: Any) -> Function | None:
    """Return the replacement of a function of `scipy.sparse`; None for others."""
    holder, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if is_scipys(holder):
        stand_in = (
            None if not hasattr(SparseArray, name) else lambda *args, **kw: getattr(lifted(holder), name)(*args, **kw)
        )
    else:
        stand_in = FUNCTIONS.get(name)
    if stand_in is None:
        return None
    own = stand_in

    def call(*args: Any, **kwargs: Any) -> Any:
        traced = any(isinstance(leaf, Tracer) for leaf in flatten((args, kwargs))[0])
        return (own if traced else function)(*args, **kwargs)

    return call


def spsolve_triangular(
    A: Any,
    b: Any,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """Solve a triangular system by substitution."""
    del overwrite_A, overwrite_b
    matrix, right = sparse_or_dense(A), sparse_or_dense(b)
    if not isinstance(matrix, SparseArray) or isinstance(right, SparseArray):
        raise TraceError(f"spsolve_triangular takes a sparse matrix and a dense right-hand side\n  at {user_source()}")
    if right.ndim not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {right.shape}.")
    matrix = matrix if matrix.format != "coo" else matrix.tocsc()
    options = {"lower": bool(lower), "unit_diagonal": bool(unit_diagonal)}
    return matrix._call(formats.solve_triangular, right, **options)


def array_of(form: str) -> Function:
    """Return the constructor of a format."""

    def make(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: Any = None) -> Any:
        del copy, maxprint
        if isinstance(arg1, SparseArray) or is_vector(arg1):
            found = getattr(arg1, f"to{form}")()
        elif isinstance(arg1, tuple) and len(arg1) in (2, 3) and shape is not None:
            found = of_tuple(form, arg1, shape)
        elif isinstance(arg1, Tracer) and arg1.ndim == 2 and shape is None:
            rows, columns = np.nonzero(arg1)
            found = of_tuple(form, (arg1[rows, columns], (rows, columns)), arg1.shape)
        else:
            raise TraceError(
                f"{form}_array of traced values takes (data, (row, col)) or, if it is compressed, (data, indices, "
                f"indptr), and shape=\n  at {user_source()}"
            )
        return found if dtype is None else found.astype(dtype)

    return make


FUNCTIONS: dict[str, Function] = {
    "spsolve_triangular": spsolve_triangular,
    **solvers.FUNCTIONS,
    **construction.FUNCTIONS,
    **bands.FUNCTIONS,
    **{f"{form}_array": array_of(form) for form in NAMES},
}
"""Replacements by the names of SciPy's functions and classes."""
