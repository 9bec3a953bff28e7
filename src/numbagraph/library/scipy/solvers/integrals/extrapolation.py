"""Limits of sequences by Wynn's epsilon algorithm, with QUADPACK's table (Piessens et al., QUADPACK, 1983, qelg)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.integrals.kronrod import EPS

LARGEST = 49
"""The last place of the table before two that are kept for the lower diagonals."""
LENGTH_OF_TABLE = 52
HUGE = float(np.finfo(np.float64).max)


def extrapolated(table: Any, recent: Any, n: Any, calls: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Extrapolate the sequence whose diagonal of the table ends at place ``n``.

    Parameters
    ----------
    recent
        The last three results.
    n
        The place of the diagonal's end.
    calls
        The number of calls, this one included.

    Returns
    -------
    tuple
        The new table and results, the limit, an estimate of its error, and the place of the table's last element.
    """
    diagonal = new_diagonal(table, n)
    is_complete = (n >= 2) & ~diagonal.converged
    table = shifted(diagonal.table, n, np.where(is_complete, n // 2 + 1, 0), diagonal.kept)
    error = np.where(is_complete, distance_from(diagonal.value, recent, calls), diagonal.error)
    recent = np.where(is_complete, with_result(recent, diagonal.value, calls), recent)
    error = np.fmax(error, 5.0 * EPS * np.abs(diagonal.value))
    return table, recent, diagonal.value, error, diagonal.kept


class Diagonal(NamedTuple):
    """A new diagonal of the table, in the course of its computation."""

    table: Any
    value: Any
    """Its best element."""
    error: Any
    kept: Any
    """The place of the last element to keep."""
    converged: Any
    """Whether three elements were equal."""
    goes_on: Any
    i: Any
    k: Any


def new_diagonal(table: Any, n: Any) -> Diagonal:
    """Compute the next diagonal of the table."""
    value, goes_on = table[n], n >= 2
    table = table.copy()
    table[n + 2] = value
    table[n] = np.where(goes_on, HUGE, value)
    start = Diagonal(table, value, np.float64(HUGE), n, np.bool_(False), goes_on, np.int64(0), n)
    found: Diagonal = while_loop(lambda state: state.goes_on & (state.i < n // 2), next_element, start)
    return found._replace(kept=np.where(found.kept == LARGEST, LARGEST - 1, found.kept))


def next_element(state: Diagonal) -> Diagonal:
    table, k = state.table.copy(), state.k
    e0, e1, e2, e3 = table[k - 2], table[k - 1], table[k + 2], table[k]
    first, second, third = e1 - e3, e2 - e1, e1 - e0
    second_is_small = ~(np.abs(second) > np.fmax(np.abs(e2), np.abs(e1)) * EPS)
    third_is_small = ~(np.abs(third) > np.fmax(np.abs(e1), np.abs(e0)) * EPS)
    first_is_small = np.abs(first) <= np.fmax(np.abs(e1), np.abs(e3)) * EPS
    curvature = np.divide(1.0, first) + np.divide(1.0, second) - np.divide(1.0, third)
    new = e1 + np.divide(1.0, curvature)
    converged = second_is_small & third_is_small
    is_regular = ~(first_is_small | second_is_small | third_is_small) & (np.abs(curvature * e1) > 1e-4)
    table[k] = np.where(converged, e3, np.where(is_regular, new, e1))
    distance = np.abs(second) + np.abs(new - e2) + np.abs(third)
    is_better = is_regular & ~(distance > state.error)
    value = np.where(converged, e2, np.where(is_better, new, state.value))
    error = np.where(converged, np.abs(second) + np.abs(third), np.where(is_better, distance, state.error))
    kept = np.where(converged | is_regular, state.kept, 2 * state.i)
    return Diagonal(table, value, error, kept, converged, is_regular, state.i + 1, k - 2)


def shifted(table: Any, n: Any, count: Any, kept: Any) -> Any:
    """Move the new diagonal, of ``count`` elements, to the front of the table, and leave out what is not kept."""
    odd = n % 2

    def move(i: Any, table: Any) -> Any:
        table = table.copy()
        table[2 * i + odd] = table[2 * i + 2 + odd]
        return table

    def leave_out(i: Any, table: Any) -> Any:
        table = table.copy()
        table[i] = table[n - kept + i]
        return table

    table = repeated(count, move, table)
    return repeated(np.where((count == 0) | (kept == n), 0, kept + 1), leave_out, table)


def repeated(count: Any, step: Callable[[Any, Any], Any], start: Any, first: Any = 0) -> Any:
    """Take steps, from the number ``first`` on, whose number may be another one for each element of a batch."""

    def following(state: Any) -> Any:
        i, value = state
        return i + 1, step(i, value)

    return while_loop(lambda state: state[0] < count, following, (np.int64(first), start))[1]


def distance_from(value: Any, recent: Any, calls: Any) -> Any:
    """Return the sum of the distances from the last three results."""
    error = np.abs(value - recent[2]) + np.abs(value - recent[1]) + np.abs(value - recent[0])
    return np.where(calls < 4, HUGE, error)


def with_result(recent: Any, value: Any, calls: Any) -> Any:
    """Return the last three results with a new one."""
    first = np.where(np.arange(3) == calls - 1, value, recent)
    return np.where(calls < 4, first, np.stack([recent[1], recent[2], value]))
