"""Boundary value problems as functions of states and parameters, whether they have these or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, zeros
from numbagraph.library.scipy.boundary_values.collocation import Equations, SingularTerm
from numbagraph.tracing.trace import as_traced

Function = Callable[..., Any]


def equations_of(
    fun: Function,
    bc: Function,
    fun_jac: Any,
    bc_jac: Any,
    sizes: tuple[int, int],
    start: Any,
    term: SingularTerm | None,
    dtype: Any,
) -> Equations:
    """Return the equations as functions of states and parameters, whether they have these or not."""

    n, k = sizes

    def of(f: Function) -> Function:
        traced = as_traced(f)
        return traced if k else lambda one, other, _: traced(one, other)

    def converted(f: Function) -> Function:
        def values(one: Any, other: Any, p: Any) -> Any:
            return array(of(f)(one, other, p)).astype(dtype)

        return values

    def slope_derivatives(x: Any, y: Any, p: Any) -> Any:
        found = of(fun_jac)(x, y, p)
        by_y, by_p = found if k else (found, zeros((n, 0, y.shape[1]), dtype))
        return array(by_y).astype(dtype), array(by_p).astype(dtype)

    def condition_derivatives(ya: Any, yb: Any, p: Any) -> Any:
        found = of(bc_jac)(ya, yb, p)
        parts = found if k else (*found, np.zeros((n, 0)))
        return tuple(array(each).astype(dtype) for each in parts)

    return Equations(
        converted(fun), converted(bc), None if fun_jac is None else slope_derivatives,
        None if bc_jac is None else condition_derivatives, n, k, start, term,
    )  # fmt: skip
