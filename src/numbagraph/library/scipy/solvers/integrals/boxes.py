"""Boxes of integrals: the one to which bounds are mapped, and the parts into which points cut it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.solvers.integrals.quadpack import is_known, sorted_bounds

Function = Callable[..., Any]

MOST_PARTS = 4096
FINITE, ABOVE, BELOW, LINE = range(4)


class Side(NamedTuple):
    """The interval of one variable."""

    kind: int
    """Whether it is finite or infinite in one direction or both."""
    low: Any
    high: Any
    is_flipped: Any

    @property
    def start(self) -> float:
        """Where the interval begins to which it is mapped; that one ends at 1."""
        return -1.0 if self.kind == LINE else 0.0

    def at(self, t: Any) -> Any:
        """Return the points of the mapped interval's."""
        if self.kind == FINITE:
            return self.low + (self.high - self.low) * t
        if self.kind == LINE:
            return (1.0 - np.abs(t)) / t
        return self.low + (1.0 - t) / t if self.kind == ABOVE else self.high - (1.0 - t) / t

    def factor(self, t: Any) -> Any:
        """Return how lengths change."""
        return self.high - self.low + 0.0 * t if self.kind == FINITE else 1.0 / t**2

    def place(self, x: Any) -> Any:
        """Return the point of the mapped interval for one of this, which is not finite if there is none."""
        if self.kind == FINITE:
            return (x - self.low) / (self.high - self.low)
        if self.kind == LINE:
            return 1.0 / (x + np.sign(x)) if is_traced(x) or x != 0 else np.inf
        return 1.0 / (x - self.low + 1.0) if self.kind == ABOVE else 1.0 / (self.high - x + 1.0)


def side_of(a: Any, b: Any) -> Side:
    low, high, is_flipped = sorted_bounds(np.float64(a), np.float64(b))
    is_below, is_above = is_known(low, -np.inf), is_known(high, np.inf)
    kind = LINE if is_below and is_above else BELOW if is_below else ABOVE if is_above else FINITE
    if not np.all((np.isfinite(low) | is_below) & (np.isfinite(high) | is_above)):
        raise ValueError("an infinite bound of cubature must be known while the function is traced: write np.inf there")
    return Side(kind, low, high, is_flipped)


def parts_of(sides: Sequence[Side], points: Sequence[Any]) -> tuple[Any, Any]:
    """Return the lower and upper corners of the parts into which points cut the mapped box."""
    parts = [([each.start for each in sides], [1.0] * len(sides))]
    cuts = [[side.place(x) for side, x in zip(sides, point, strict=True)] for point in points]
    if any(each.kind != FINITE for each in sides):  # mapped functions have a pole at 0
        cuts.append([side.place(0.0) if side.kind == FINITE else 0.0 for side in sides])
    for cut in cuts:
        parts = [each for low, high in parts for each in parts_at(low, high, cut)]
        if len(parts) > MOST_PARTS:
            raise ValueError("too many points for cubature in a traced function: give fewer")
    return np.array([low for low, _ in parts]), np.array([high for _, high in parts])


def parts_at(low: Sequence[Any], high: Sequence[Any], cut: Sequence[Any]) -> list[tuple[list[Any], list[Any]]]:
    """Return the parts of a box on all sides of a point. Where it lies outside, one is the box, and the others are
    empty."""
    is_inside = True
    for start, x, end in zip(low, cut, high, strict=True):
        is_inside = is_inside & (start <= x) & (x <= end)
    if not is_traced(is_inside) and not is_inside:
        return [(list(low), list(high))]
    middle = [np.where(is_inside, x, start)[()] for start, x in zip(low, cut, strict=True)]
    found = []
    for chosen in itertools.product((False, True), repeat=len(low)):
        lows = [x if is_right else start for is_right, x, start in zip(chosen, middle, low, strict=True)]
        highs = [end if is_right else x for is_right, x, end in zip(chosen, middle, high, strict=True)]
        if is_traced(middle) or all(start != end for start, end in zip(lows, highs, strict=True)):
            found.append((lows, highs))
    return found
