"""What solvers for roots of one variable hand back, and the checks of what they are given."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import RootResults

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved

RUNNING, CONVERGED, STOPPED, INVALID = 1, 0, -2, -3
"""SciPy's numbers for what has become of a search."""

XTOL, RTOL, MAXITER = 2e-12, float(4 * np.finfo(float).eps), 100


def as_tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


def as_count(number: Any) -> Any:
    """Return a number of steps, as `operator.index` does for numbers that are known."""
    return number if is_traced(number) else operator.index(number)


def flag_of(status: Any) -> Any:
    """SciPy's text for a status."""
    if status == CONVERGED:
        return "converged"
    return "convergence error" if status == STOPPED else "value error"


def root_and_results(
    equation: Callable[[Any], Any], found: tuple[Any, Any, Any, Any], full_output: bool, method: str
) -> Any:
    """Return a root with the derivatives of an equation, and the results, if these are asked for.

    ``found`` is the root, the number of calls, that of iterations and the status.
    """
    x, calls, iterations, status = found
    converged = status == CONVERGED
    root = solved(equation, x, converged)
    if not full_output:
        return root
    return root, result_of(
        RootResults,
        root=root,
        iterations=iterations,
        function_calls=calls,
        converged=converged,
        flag=flag_of(status),
        method=method,
    )
