"""Lists of subintervals with estimates, and their errors in order (Piessens et al., QUADPACK, 1983, qpsrt)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.integrals.kronrod import Estimate


class Subintervals(NamedTuple):
    """The subintervals of an adaptive quadrature, in arrays of as many places as there may be."""

    lefts: Any
    rights: Any
    values: Any
    errors: Any
    order: Any
    """The numbers of those with the largest errors, the largest one first."""
    levels: Any
    """How many bisections have led to each."""

    def with_one(self, place: Any, left: Any, right: Any, value: Any, error: Any) -> Subintervals:
        """Return the subintervals with one in a place."""
        lefts, rights, values, errors = (each.copy() for each in self[:4])
        lefts[place], rights[place], values[place], errors[place] = left, right, value, error
        return self._replace(lefts=lefts, rights=rights, values=values, errors=errors)

    def with_halves(
        self, place: Any, new: Any, edges: tuple[Any, Any, Any], level: Any, left: Any, right: Estimate,
        is_first: Any,
    ) -> Subintervals:  # fmt: skip
        """Return the subintervals with the half of larger error in place of one, and the other one behind all.

        The first time both places are the same, and the right half is the whole."""
        a, middle, b = edges
        takes_right = (right.error > left.error) | is_first
        kept, other = np.where(takes_right, new, place), np.where(takes_right, place, new)
        found = self.with_one(kept, a, middle, left.value, left.error)
        found = found.with_one(other, middle, b, right.value, right.error)
        levels = self.levels.copy()
        levels[place] = level
        levels[new] = level
        return found._replace(levels=levels)


def no_subintervals(limit: int) -> Subintervals:
    zeros, numbers = np.zeros(limit), np.zeros(limit, dtype=np.int64)
    return Subintervals(zeros, zeros.copy(), zeros.copy(), zeros.copy(), numbers, numbers.copy())


def place_in_order(parts: Subintervals, last: Any, changed: Any, rank: Any, limit: int) -> tuple[Any, Any]:
    """Put two subintervals in their places in the order: the one that was changed, and the last one.

    The order is kept of as many errors as can still matter. Returns it, and the rank at which to go on.
    """
    errors = parts.errors
    larger, smaller = errors[changed], errors[last - 1]

    def is_above(found: Any) -> Any:
        order, i = found
        return (i > 0) & (larger > errors[order[np.maximum(i - 1, 0)]])

    def move_down(found: Any) -> Any:
        order, i = found
        order = order.copy()
        order[i] = order[i - 1]
        return order, i - 1

    order, rank = while_loop(is_above, move_down, (parts.order, rank))
    end = np.where(last > limit // 2 + 2, limit - last + 2, last - 1)

    def is_below(found: Any) -> Any:
        order, i = found
        return (i < end) & ~(larger >= errors[order[np.minimum(i, end)]])

    def move_up(found: Any) -> Any:
        order, i = found
        order = order.copy()
        order[i - 1] = order[i]
        return order, i + 1

    order, i = while_loop(is_below, move_up, (order, rank + 1))
    i = np.minimum(i, end)
    order = order.copy()
    order[i - 1] = changed

    def is_smaller(found: Any) -> Any:
        order, k = found
        return (k >= i) & ~(smaller < errors[order[k]])

    def move_back(found: Any) -> Any:
        order, k = found
        order = order.copy()
        order[k + 1] = order[k]
        return order, k - 1

    order, k = while_loop(is_smaller, move_back, (order, end - 1))
    order = order.copy()
    order[k + 1] = last - 1
    return order, rank
