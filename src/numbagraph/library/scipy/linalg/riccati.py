"""Riccati's equations, solved by calls of SciPy from compiled code. Their derivatives solve Lyapunov's equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.library.scipy.arguments import Function, bound, called, inexact, known, refuse
from numbagraph.library.scipy.linalg.factorisations import unit
from numbagraph.tracing.tracer import apply

Arrays = tuple[Any, ...]


def equation(name: str, cotangents: Callable[..., Arrays]) -> Function:
    path = f"scipy.linalg:{name}"

    def call(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
        if e is not None or s is not None:
            refuse(f"scipy.linalg.{name} with e= or s=", "a change of variables takes them away")
        operands = [np.atleast_2d(inexact(each)) for each in (a, b, q, r)]
        dtype = np.result_type(*(each.dtype for each in operands))
        if dtype.kind == "c":
            refuse(f"scipy.linalg.{name} of complex matrices", "numbagraph.pure_callback calls it")
        if any(each.ndim > 2 for each in operands):
            refuse(f"scipy.linalg.{name} of stacks of matrices", "numbagraph.vmap maps it over them")

        def vjp(g: Any, x: Any, a: Any, b: Any, q: Any, r: Any) -> Arrays:
            del q
            return cotangents(0.5 * (g + g.T), x, a, b, r)

        function = bound(path, balanced=bool(balanced))
        first, *rest = (unit(known(each, name), each.dtype) for each in operands)
        like = function(-first / 2, *rest)  # a stable system; shapes that do not fit are SciPy's errors
        return called(function, like, *operands, vjp=vjp)

    call.__name__ = name
    return call


def of_continuous(g: Any, x: Any, a: Any, b: Any, r: Any) -> Arrays:
    """Return the cotangents of the operands of ``a' x + x a - x b inv(r) b' x + q = 0``."""
    gain = np.linalg.solve(r, b.T @ x)
    s = apply(registry["solve_continuous_lyapunov"], a - b @ gain, -g)
    return 2.0 * x @ s, -2.0 * x @ s @ gain.T, s, gain @ s @ gain.T


def of_discrete(g: Any, x: Any, a: Any, b: Any, r: Any) -> Arrays:
    """Return the cotangents of the operands of ``a' x a - x - a' x b inv(r + b' x b) b' x a + q = 0``."""
    gain = np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
    closed = a - b @ gain
    s = apply(registry["solve_discrete_lyapunov"], closed, g)
    beside = 2.0 * x @ closed @ s
    return beside, -beside @ gain.T, s, gain @ s @ gain.T


FUNCTIONS: dict[str, Function] = {
    "solve_continuous_are": equation("solve_continuous_are", of_continuous),
    "solve_discrete_are": equation("solve_discrete_are", of_discrete),
}
