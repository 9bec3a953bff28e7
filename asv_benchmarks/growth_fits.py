"""Fits of the samples of `growth`: exponents and constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

FLAT = 1.3
"""A quantity that grows by no more than this factor from the smallest size to the largest does not grow."""
UPPER = 20.0
"""An exponent is fitted to the sizes from the largest divided by this on, without what the smallest takes."""
FEWEST = 3
"""The least number of sizes that give an exponent."""


@dataclass(frozen=True)
class Growth:
    """How one quantity of one family grows."""

    points: Mapping[int, float]
    """The least value of each size."""

    @property
    def first(self) -> float:
        return self.points[min(self.points)]

    @property
    def last(self) -> float:
        return self.points[max(self.points)]

    @property
    def exponent(self) -> float | None:
        """The slope of the logarithms over the upper sizes, without what the smallest program takes; 0 for what does
        not grow, None for too few sizes."""
        if len(self.points) < FEWEST:
            return None
        if self.last <= FLAT * self.first:
            return 0.0
        smallest, *others = sorted(self.points)
        upper = [size for size in others if size * UPPER >= others[-1] and self.points[size] > self.first]
        if len(upper) < 2:
            return None
        grown = [self.points[size] - self.first for size in upper]
        return float(np.polyfit(np.log([size - smallest for size in upper]), np.log(grown), 1)[0])

    @property
    def per_unit(self) -> float:
        """What one more costs, from the smallest size to the largest."""
        sizes = min(self.points), max(self.points)
        return (self.last - self.first) / max(sizes[1] - sizes[0], 1)


def fitted(samples: list[dict[str, Any]], quantity: str) -> dict[str, Growth]:
    """The growth of a quantity, by family: the least of all samples of each size, since other work only adds."""
    found: dict[str, dict[int, float]] = {}
    for each in samples:
        if quantity in each:
            points = found.setdefault(each["family"], {})
            points[each["size"]] = min(each[quantity], points.get(each["size"], np.inf))
    return {family: Growth(points) for family, points in found.items()}
