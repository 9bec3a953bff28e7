"""Linear systems of collocation, whose matrix has two blocks for each interval, solved by condensation.

Pivots eliminate the states inside, one after the other, from the equations of the intervals on both sides. What
remains are the states at both ends and the parameters (Wright, Stable parallel algorithms for two-point boundary value
problems, SIAM J. Sci. Stat. Comput. 13, 1992).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import fori_loop
from numbagraph.library.scipy.arguments import zeros
from numbagraph.library.scipy.boundary_values.collocation import Blocks
from numbagraph.library.scipy.ode.simplified_newton import inverse


class Sizes(NamedTuple):
    """The numbers of equations and of parameters."""

    n: int
    k: int

    @property
    def others(self) -> int:
        """The number of the states and parameters besides one that is eliminated: the next, the first, parameters."""
        return 2 * self.n + self.k


class Factors(NamedTuple):
    """What is known of a matrix.

    For each state inside, rows of what multiplies the next state, the first one, the parameters, and the residuals of
    the equations before and behind. The upper rows give the state, the lower ones what is left of the equations."""

    inside: Any
    ends: Any
    """The inverse of the matrix of both ends and the parameters."""
    is_singular: Any


def no_factors(sizes: Sizes, points: Any, dtype: Any) -> Factors:
    """Return the factors with which every solution is zero."""
    n, others = sizes.n, sizes.others
    return Factors(zeros((points - 1, 2 * n, others + 2 * n), dtype), zeros((others, others), dtype), np.bool_(False))


def factors(blocks: Blocks, sizes: Sizes) -> Factors:
    n, others = sizes.n, sizes.others
    intervals, dtype = blocks.intervals, blocks.intervals.dtype
    count, places = intervals.shape[0], places_of(sizes)
    fixed = np.array([0.0, 1.0], dtype)

    def following(i: Any, carried: Any) -> Any:
        before, inside, is_singular = carried
        known = np.concatenate([np.ravel(before), np.ravel(intervals[i]), fixed])
        rows, is_zero = eliminated(known[places], n)
        return rows[n:, n : n + others], put(inside, i, rows[:, n:]), is_singular | is_zero

    exchanged = np.array([*range(n, 2 * n), *range(n), *range(2 * n, others)])
    nothing = no_factors(sizes, count + 1, dtype).inside
    start = intervals[0][:, exchanged], nothing, np.bool_(False)
    before, inside, is_singular = fori_loop(1, count, following, start)
    matrix = np.concatenate([before[:, exchanged], blocks.boundary])
    ends = inverse(matrix)
    return Factors(inside, ends, is_singular | ~np.all(np.isfinite(ends)))


def places_of(sizes: Sizes) -> Any:
    """Return which elements the rows of two neighbours have: of the equations before and behind, one after the other,
    followed by zero and one.

    The columns are those of the state between them, the next, the first, the parameters, and of the residuals."""
    n, k, others = *sizes, sizes.others
    zero = 2 * n * others
    found = np.full((2 * n, 3 * n + k + 2 * n), zero)
    numbers = np.arange(n * others).reshape(n, others)
    found[:n, :n], found[:n, 2 * n : 3 * n + k] = numbers[:, :n], numbers[:, n:]
    numbers = numbers + n * others
    found[n:, : 2 * n], found[n:, 3 * n : 3 * n + k] = numbers[:, : 2 * n], numbers[:, 2 * n :]
    np.fill_diagonal(found[:, 3 * n + k :], zero + 1)
    return found


def put(rows: Any, place: Any, row: Any) -> Any:
    found = rows.copy()
    found[place] = row
    return found


def eliminated(rows: Any, count: int) -> tuple[Any, Any]:
    """Bring the first columns to those of the identity. Return the rows, and whether a pivot is zero."""
    numbers = np.arange(rows.shape[0])

    def eliminate(j: Any, carried: Any) -> Any:
        rows, is_singular = carried
        column = rows[:, j]
        place = np.argmax(np.where(numbers >= j, np.abs(column), -1.0))
        pivot = rows[place]
        is_zero = pivot[j] == 0
        row = pivot / np.where(is_zero, 1.0, pivot[j])
        factor = np.where(numbers == place, column[j], column)
        others = np.where((numbers == place)[:, np.newaxis], rows[j], rows) - factor[:, np.newaxis] * row
        return np.where((numbers == j)[:, np.newaxis], row, others), is_singular | is_zero

    found: tuple[Any, Any] = fori_loop(0, count, eliminate, (rows, np.bool_(False)))
    return found


def solution(known: Factors, collocation: Any, boundary: Any, sizes: Sizes) -> tuple[Any, Any]:
    """Return the states (n, m) and the parameters for right-hand sides of the intervals (n, m - 1) and of the boundary
    conditions."""
    n, others = sizes.n, sizes.others
    sides, count = collocation.T, collocation.shape[1]

    def forwards(i: Any, carried: Any) -> Any:
        before, found = carried
        both = known.inside[i][:, others:] @ np.concatenate([before, sides[i]])
        return both[n:], put(found, i, both[:n])

    before, own = fori_loop(1, count, forwards, (sides[0], np.zeros_like(sides)))
    ends = known.ends @ np.concatenate([before, boundary])
    first, last, p = ends[:n], ends[n : 2 * n], ends[2 * n :]

    def backwards(number: Any, carried: Any) -> Any:
        following, states = carried
        i = count - 1 - number
        state = own[i] - known.inside[i][:n, :others] @ np.concatenate([following, first, p])
        return state, put(states, i, state)

    states = put(put(zeros((count + 1, n), sides.dtype), 0, first), count, last)
    return fori_loop(0, count - 1, backwards, (last, states))[1].T, p
