"""Tableaus of explicit Runge-Kutta methods, which are those of SciPy's classes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK23, RK45

from numbagraph.ir.structs import Struct

WRITTEN_OUT = 7
"""The greatest number of stages that are kept as arrays of their own, whose sums are written out."""


class Tableau(Struct, eq=False):
    """The coefficients of a method."""

    name: str
    nodes: np.ndarray[Any, Any]
    """The times of the stages, in steps."""
    weights: np.ndarray[Any, Any]
    """The weights of the stages in each later one."""
    solution: np.ndarray[Any, Any]
    errors: tuple[np.ndarray[Any, Any], ...]
    """The weights of the stages, the slope at the end among them, in each estimate of the error."""
    order: int
    """The order of the estimate of the error."""
    dense: np.ndarray[Any, Any]
    """The coefficients of the polynomial through a step."""
    extra_nodes: np.ndarray[Any, Any] = np.zeros(0)
    extra_weights: np.ndarray[Any, Any] = np.zeros((0, 0))
    """Those of the stages that only the polynomial takes."""

    @property
    def stages(self) -> int:
        """The number of evaluations in each step."""
        return len(self.nodes)

    @property
    def is_written_out(self) -> bool:
        return self.stages <= WRITTEN_OUT


@cache
def tableau_of(method: type) -> Tableau:
    """Return the tableau of a class of SciPy."""
    if method is DOP853:
        return Tableau(
            "DOP853", DOP853.C, DOP853.A, DOP853.B, (DOP853.E5, DOP853.E3), DOP853.error_estimator_order, DOP853.D,
            DOP853.C_EXTRA, DOP853.A_EXTRA,
        )  # fmt: skip
    known: Any = {RK23: RK23, RK45: RK45}[method]
    return Tableau(known.__name__, known.C, known.A, known.B, (known.E,), known.error_estimator_order, known.P)


def combination(weights: Sequence[float] | np.ndarray[Any, Any], stages: Sequence[Any]) -> Any:
    """The sum of stages, each times its weight; without those of weight zero."""
    found: Any = None
    for weight, stage in zip(weights, stages, strict=True):
        if weight != 0:
            term = float(weight) * stage
            found = term if found is None else found + term
    return found
