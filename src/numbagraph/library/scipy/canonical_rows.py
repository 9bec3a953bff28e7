"""Places of equations and inequalities among constraints with sides, known while tracing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds

from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.tracing.tracer import to_value


class Side(NamedTuple):
    """A bound of each value from one side, and which are known to be infinite."""

    values: Any
    is_open: np.ndarray


class Sides(NamedTuple):
    """Both sides of values, which of these are equations, and which inequalities must stay feasible, which may be
    traced."""

    lower: Side
    upper: Side
    is_equal: np.ndarray
    keep: Any


class Rows(NamedTuple):
    """The places of equations and of inequalities. Those of upper sides have the sign 1, others -1."""

    equal: np.ndarray
    rows: np.ndarray
    signs: np.ndarray
    keep: Any


def side_of(given: Any, size: int, infinity: float) -> Side:
    """Return a side as an array. What is traced is not known to be infinite."""
    if is_traced(given):
        return Side(given, np.zeros(size, dtype=bool))
    values = np.array(np.broadcast_to(np.asarray(given, dtype=np.float64), size))
    return Side(values, values == infinity)


def sides_of(lower: Any, upper: Any, keep: Any, size: int) -> Sides:
    """Return the sides of a constraint. Traced ones are all equal, if both are the same array."""
    low, high = side_of(lower, size, -np.inf), side_of(upper, size, np.inf)
    if is_traced(lower) or is_traced(upper):
        is_same = is_traced(lower) and is_traced(upper) and as_value(to_value(lower)) is as_value(to_value(upper))
        is_equal = np.full(size, is_same)
    else:
        is_equal = low.values == high.values
    keep = np.broadcast_to(keep, size) if is_traced(keep) else np.array(np.broadcast_to(np.asarray(keep, bool), size))
    return Sides(low, high, is_equal, keep)


def sides_of_bounds(bounds: Any, lower: Any, upper: Any, size: int) -> Sides:
    """Return the sides of variables, which are never equations: as they were given, if they are known, or ``lower`` and
    ``upper``. As in SciPy, finite bounds lie a rounding error further out."""
    keep = False
    if isinstance(bounds, Bounds):
        low, high, keep = bounds.lb, bounds.ub, bounds.keep_feasible
    else:
        low, high = zip(*bounds, strict=True)
    sides = sides_of(0.0, 0.0, keep, size)
    return Sides(
        side_of_bounds(low, lower, size, -np.inf), side_of_bounds(high, upper, size, np.inf),
        np.zeros(size, dtype=bool), sides.keep,
    )  # fmt: skip


def side_of_bounds(given: Any, array: Any, size: int, infinity: float) -> Side:
    """Return a side of variables, of a tuple of bounds of each, or of an array."""
    opened: Any = False
    if isinstance(given, tuple):
        is_known = not any(is_traced(each) for each in given)
        numbers = [infinity if each is None else each for each in given]
        opened = np.array([not is_traced(each) and bool(np.all(each == infinity)) for each in numbers])
        given = np.array(numbers, dtype=np.float64).reshape(-1) if is_known else array
    side = side_of(array if is_traced(given) else given, size, infinity)
    return further(side._replace(is_open=side.is_open | opened), infinity)


def further(side: Side, limit: float) -> Side:
    values = side.values
    return side._replace(values=np.where(np.isfinite(values), np.nextafter(values, limit), values))


def rows_of(groups: Sequence[Sides]) -> Rows:
    """Return the places of equations and inequalities of constraints one below the other, in SciPy's order: of each
    constraint inequalities with an upper side, with a lower one, and with both."""
    equal, rows, signs, keep, start = [], [], [], [], 0
    for sides in groups:
        is_low, is_high = ~sides.lower.is_open & ~sides.is_equal, ~sides.upper.is_open & ~sides.is_equal
        for is_here, sign in ((~is_low & is_high, 1.0), (is_low & ~is_high, -1.0), (is_low & is_high, 1.0),
                              (is_low & is_high, -1.0)):  # fmt: skip
            places = np.nonzero(is_here)[0]
            rows.append(start + places)
            signs.append(np.full(len(places), sign))
            keep.append(sides.keep[places])
        equal.append(start + np.nonzero(sides.is_equal)[0])
        start += len(sides.is_equal)
    none = np.zeros(0, dtype=np.int64)
    return Rows(
        np.concatenate([none, *equal]), np.concatenate([none, *rows]), np.concatenate([np.zeros(0), *signs]),
        np.concatenate([np.zeros(0, dtype=bool), *keep]),
    )  # fmt: skip


def stacked_sides(groups: Sequence[Sides]) -> tuple[Any, Any]:
    """Return the lower and the upper sides of all constraints."""
    none = np.zeros(0)
    return (
        np.concatenate([none, *(each.lower.values for each in groups)]),
        np.concatenate([none, *(each.upper.values for each in groups)]),
    )


def known_sides(rows: Rows, lower: Any, upper: Any) -> np.ndarray:
    """Return the sides of inequalities."""
    return np.where(rows.signs > 0, upper[rows.rows], lower[rows.rows])


def is_strict(sides: Sides) -> bool:
    """Whether inequalities may have to stay feasible."""
    return is_traced(sides.keep) or bool(np.any(sides.keep & ~sides.is_equal))
