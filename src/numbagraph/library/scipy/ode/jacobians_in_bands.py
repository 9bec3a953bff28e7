"""Jacobians, exact ones by forward mode, dense or with bands whose columns share derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.jacobians import jacfwd


def jacobian_in_bands(slope: Callable[[Any, Any], Any], t: Any, y: Any, bands: tuple[int, int] | None) -> Any:
    """Return the matrix of derivatives of a slope by the state; without what is not in the bands, if some are given:
    numbers of diagonals below and above the main one."""
    if bands is None:
        return jacfwd(lambda y: slope(t, y))(y)
    count = y.shape[0]
    width = bands[0] + bands[1] + 1
    columns = np.arange(count)
    seeds = np.where(columns[:, None] % width == np.arange(width), 1.0, 0.0)
    shared = jacfwd(lambda s: slope(t, y + seeds @ s))(np.zeros(width))
    return np.where(in_bands(count, bands), shared[:, columns % width], 0.0)


def dense_of_bands(diagonals: Any, bands: tuple[int, int]) -> Any:
    """Return a matrix of diagonals that are rows, the uppermost first."""
    count = diagonals.shape[1]
    number = np.arange(count)
    row = np.clip(number[:, None] - number + bands[1], 0, bands[0] + bands[1])
    return np.where(in_bands(count, bands), diagonals[row, number], 0.0)


def in_bands(count: Any, bands: tuple[int, int]) -> Any:
    number = np.arange(count)
    below = number[:, None] - number
    return (below <= bands[0]) & (-below <= bands[1])
