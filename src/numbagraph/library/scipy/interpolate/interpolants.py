"""`scipy.interpolate`: the table of its functions, objects and methods."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from numbagraph.library.scipy.interpolate import (
    b_splines,
    grids,
    interp1d,
    nodes,
    radial,
    scattered,
    spline_fits,
    splines,
    tensor_splines,
    univariate_splines,
)  # fmt: skip

PARTS: tuple[ModuleType, ...] = (
    b_splines, grids, interp1d, nodes, radial, scattered, spline_fits, splines, tensor_splines, univariate_splines,
)  # fmt: skip


def joined(name: str) -> dict[str, Any]:
    """The table of all parts that have one of this name."""
    return {key: each for part in PARTS for key, each in getattr(part, name, {}).items()}


FUNCTIONS, OBJECTS, METHODS = joined("FUNCTIONS"), joined("OBJECTS"), joined("METHODS")
