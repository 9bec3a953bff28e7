"""Lawson's and Hanson's least squares with nonnegative variables, and the least vector within half-spaces.

One loop has all iterations: a pass lets a variable enter, or leave, and looks whether the solution of the variables
that are in is positive. The matrix is kept transposed, so that its columns are rows of memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import fori_loop, while_loop
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen

FOUND, TOO_LONG, INCOMPATIBLE = 1, 3, 4
ENTER, LEAVE, END = range(3)


class Factors(NamedTuple):
    """Columns and right side after the reflections so far, and the variables in their order: the first ``count`` are
    in."""

    columns: Any
    right: Any
    order: Any
    count: Any


class Search(NamedTuple):
    """Factors, the nonnegative variables, which of them cannot enter, where the one that leaves is, and what is
    next."""

    factors: Factors
    x: Any
    is_rejected: Any
    leaving: Any
    passes: Any
    stage: Any
    mode: Any


def nonnegative(columns: Any, right: Any, room: Any, limit: Any) -> tuple[Any, Any, Any]:
    """Return nonnegative factors of columns whose sum is next to the right side, the distance, and a status.

    The columns lie in a space of ``room`` dimensions: the distance is 0 where as many are in."""
    number = columns.shape[0]
    order = np.arange(number)

    def step(old: Search) -> Search:
        factors, is_rejected, is_solvable, leaving, x = cond(
            old.stage == ENTER, lambda: entered(old), lambda: left(old)
        )
        found = solution(factors)
        new = old._replace(factors=factors, is_rejected=is_rejected, x=x, leaving=leaving)
        is_over = (old.stage == ENTER) & ~can_enter(old, room)
        return chosen(is_over, old._replace(stage=np.int64(END)), chosen(is_solvable, checked(new, found, limit), new))

    factors = Factors(columns, right, order, np.int64(0))
    start = Search(
        factors, np.zeros(number), np.zeros(number, dtype=bool), np.int64(0), np.int64(0), np.int64(ENTER),
        np.int64(FOUND),
    )  # fmt: skip
    end = while_loop(lambda state: state.stage != END, step, start)
    count = end.factors.count
    rest = np.where((np.arange(len(right)) >= count) & (count < room), end.factors.right, 0.0)
    return end.x, np.linalg.norm(rest), end.mode


def slopes(state: Search) -> Any:
    """How fast the distance falls with each variable, in their order: 0 for those that are in or cannot enter."""
    columns, right, order, count = state.factors
    found = np.dot(columns, np.where(np.arange(len(right)) >= count, right, 0.0))
    return np.where((np.arange(len(order)) >= count) & ~state.is_rejected[order], found[order], 0.0)


def can_enter(state: Search, room: Any) -> Any:
    """Whether a variable may enter that would make the distance smaller."""
    count = state.factors.count
    return (count < np.minimum(len(state.x), room)) & (np.max(slopes(state)) > 0)


def entered(state: Search) -> tuple[Factors, Any, Any, Any, Any]:
    """Let the variable enter with which the distance falls fastest, unless its column depends on those that are in."""
    columns, right, order, count = state.factors
    count = np.minimum(count, np.minimum(len(right), len(order)) - 1)  # not used where none may enter
    place = np.argmax(slopes(state))
    variable = order[place]
    rows = np.arange(len(right))
    column = columns[variable]
    rest = np.where(rows >= count, column, 0.0)
    size, first = np.linalg.norm(rest), column[count]
    beyond = np.sum(np.where(rows > count, column * column, 0.0))
    head = np.where(first <= 0, first - size, -beyond / (first + size))
    mirror = np.where(rows == count, head, np.where(rows > count, column, 0.0))
    square = np.dot(mirror, mirror)
    factor = np.where(square > 0, 2.0 / np.where(square > 0, square, 1.0), 0.0)
    reflected = right - factor * np.dot(mirror, right) * mirror
    above = np.linalg.norm(np.where(rows < count, column, 0.0))
    spacing = np.where(above > 0, np.spacing(above), 0.0)
    is_good = (np.abs(size) > 100.0 * spacing) & (reflected[count] / size > 0)
    turned = columns - np.dot(columns, factor * mirror)[:, np.newaxis] * mirror
    exact = np.where(rows == count, size, np.where(rows > count, 0.0, column))
    is_own = np.arange(len(order)) == variable
    turned = np.where(is_own[:, np.newaxis], exact, turned)
    places = np.arange(len(order))
    swapped = np.where(places == place, order[count], np.where(places == count, variable, order))
    new = chosen(is_good, Factors(turned, reflected, swapped, count + 1), state.factors)
    is_rejected = np.where(is_good, False, state.is_rejected | is_own)
    return new, is_rejected, is_good, state.leaving, state.x


def left(state: Search) -> tuple[Factors, Any, Any, Any, Any]:
    """Let the variable at a place leave. Rotations restore the triangle of the others."""
    places = np.arange(len(state.factors.order))
    variable = state.factors.order[state.leaving]
    x = np.where(places == variable, 0.0, state.x)
    turned = fori_loop(state.leaving + 1, state.factors.count, rotated, state.factors)
    count = turned.count - 1
    factors = turned._replace(order=np.where(places == count, variable, turned.order), count=count)
    is_zero = (places < count) & (x[factors.order] <= 0)
    return factors, np.zeros(len(places), dtype=bool), ~np.any(is_zero), np.argmax(is_zero), x


def rotated(place: Any, factors: Factors) -> Factors:
    """Move a variable one place to the front, and make its last element zero."""
    columns, right, order, count = factors
    variable = order[place]
    rows, places = np.arange(len(right)), np.arange(len(order))
    upper, lower = columns[variable, place - 1], columns[variable, place]
    size = np.hypot(upper, lower)
    cosine, sine = np.where(size > 0, upper / size, 1.0), np.where(size > 0, lower / size, 0.0)
    is_upper, is_lower = rows == place - 1, rows == place

    def turned(above: Any, below: Any, old: Any) -> Any:
        return np.where(is_upper, cosine * above + sine * below, np.where(is_lower, cosine * below - sine * above, old))

    new = turned(columns[:, place - 1, np.newaxis], columns[:, place, np.newaxis], columns)
    new = np.where((places == variable)[:, np.newaxis] & is_lower, 0.0, new)
    return Factors(
        new, turned(right[place - 1], right[place], right), np.where(places == place - 1, variable, order), count
    )


def solution(factors: Factors) -> Any:
    """Return the least-squares solution of the variables that are in, in their order, and zeros."""
    columns, right, order, count = factors
    rows = np.arange(len(right))

    def step(passed: Any, z: Any) -> Any:
        place = count - 1 - passed
        column = columns[order[place]]
        found = z[place] / column[place]
        return np.where(rows == place, found, np.where(rows < place, z - column * found, z))

    found = fori_loop(0, count, step, np.where(rows < count, right, 0.0))
    places = np.arange(len(order))
    return np.where(places < count, found[np.minimum(places, len(right) - 1)], 0.0)


def checked(state: Search, found: Any, limit: Any) -> Search:
    """Take a solution if it is positive; else go towards it until a variable is zero, which leaves."""
    _, _, order, count = state.factors
    places = np.arange(len(order))
    now = state.x[order]
    is_negative = (places < count) & (found <= 0)
    shares = np.where(is_negative, -now / np.where(is_negative, found - now, 1.0), 2.0)
    shares = np.where(np.isnan(shares), 2.0, shares)
    share, passes = np.min(shares), state.passes + 1
    is_good = ~(share < 2.0)
    values = np.where(places < count, np.where(is_good, found, now + share * (found - now)), now)
    is_late = passes >= limit
    x = np.zeros(len(order))
    x[order] = np.where(is_late, now, values)
    return state._replace(
        x=x, leaving=np.argmin(shares), passes=passes,
        stage=np.where(is_late, END, np.where(is_good, ENTER, LEAVE)), mode=np.where(is_late, TOO_LONG, FOUND),
    )  # fmt: skip


def least_vector(G: Any, h: Any, are_there: Any, room: Any) -> tuple[Any, Any, Any]:
    """Return the least ``x`` with ``G x >= h``, its multipliers, and a status. Rows that are not there do not bound,
    and the others lie in a space of ``room`` dimensions."""
    G, h = np.where(are_there[:, np.newaxis], G, 0.0), np.where(are_there, h, -1.0)
    aim = np.where(np.arange(G.shape[1] + 1) == G.shape[1], 1.0, 0.0)
    y, distance, mode = nonnegative(np.concatenate((G, h[:, np.newaxis]), axis=1), aim, room + 1, 3 * np.sum(are_there))
    share = 1.0 - np.dot(h, y)
    is_found = (distance > 0) & ((1.0 + share) - 1.0 > 0)
    multipliers = y / np.where(is_found, share, 1.0)
    return np.dot(multipliers, G), multipliers, np.where((mode == FOUND) & ~is_found, INCOMPATIBLE, mode)
