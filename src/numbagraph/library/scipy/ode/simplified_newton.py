"""Simplified Newton iterations: when they have converged, and when they will not; Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.jacobians import jacfwd
from numbagraph.library.scipy.arguments import array, known_number
from numbagraph.library.scipy.ode.methods import Problem, at_least, at_most
from numbagraph.library.scipy.solution import solved
from numbagraph.ops.linalg.singular import on_linalg_error
from numbagraph.tracing.trace import as_traced

EPS = 2.220446049250313e-16


class Moved(NamedTuple):
    """What follows from the norm of a change."""

    size: Any
    rate: Any
    converged: Any
    diverged: Any


def newton_tolerance(rtol: Any) -> Any:
    return at_least(at_most(np.sqrt(rtol), 0.03), 10 * EPS / rtol)


def moved_on(number: Any, size: Any, before: Any, most: int, tolerance: Any) -> Moved:
    """Say whether a change of this norm, after one of another in all iterations but the first, is the last one."""
    rate = np.where(number > 0, size / np.where(number > 0, before, 1.0), np.nan)
    remaining = rate ** (most - number) / (1 - rate) * size
    diverged = (rate >= 1) | (remaining > tolerance)
    converged = (size == 0) | (rate / (1 - rate) * size < tolerance)
    return Moved(size, rate, converged & np.logical_not(diverged), diverged)


def inverse(matrix: Any) -> Any:
    """The inverse of a matrix, NaN if it is singular: then the iteration ends, and the step becomes shorter."""
    with on_linalg_error("nan"):
        return np.linalg.inv(matrix)


def renewed(problem: Problem, is_due: Any, t: Any, y: Any, jacobian: Any) -> Any:
    """The Jacobian: a new one where it is due."""
    evaluate = problem.jacobian
    assert evaluate is not None
    return cond(is_due, lambda: evaluate(t, y), lambda: jacobian)


def solved_state(equation: Callable[[Any], Any], x: Any, is_solved: Any = True) -> Any:
    """Return a solution, which may be complex, with the derivatives that follow from its equation."""
    if x.dtype.kind != "c":
        return solved(equation, x, is_solved)
    count = x.shape[0]

    def parts(x: Any) -> Any:
        return np.concatenate([x.real, x.imag])

    found = solved(lambda x: parts(equation(x[:count] + 1j * x[count:])), parts(x), is_solved)
    return found[:count] + 1j * found[count:]


def jacobian_of(
    jac: Any, pattern: Any, slope: Callable[[Any, Any], Any], args: tuple[Any, ...], y: Any
) -> tuple[Callable[[Any, Any], Any], bool]:
    """Return the Jacobian as a function of time and state, and whether it is one matrix."""
    size, dtype = known_number(y.shape[0], "an implicit method of scipy.integrate.solve_ivp"), y.dtype
    if jac is None:
        within = 1.0 if pattern is None else as_dense(pattern, size) != 0
        still = np.zeros(size)
        return lambda t, y: jacfwd(lambda change: slope(t, y + change))(still) * within, False
    if callable(jac):
        traced = as_traced(jac)
        return lambda t, y: as_dense(traced(t, y, *args), size).astype(dtype), False
    fixed = as_dense(jac, size).astype(dtype)
    return lambda t, y: fixed, True


def as_dense(matrix: Any, size: int) -> Any:
    """A square matrix, which may be sparse."""
    found = array(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    if found.shape != (size, size):
        raise ValueError(f"`jac` is expected to have shape {(size, size)}, but actually has {found.shape}.")
    return found
