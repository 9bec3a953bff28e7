"""Assignments of rows to columns, which SciPy's own routine finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, bound, called, known


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
    """`scipy.optimize.linear_sum_assignment`. What is selected by the result has derivatives, the result has none."""
    costs = array(cost_matrix)
    if costs.ndim != 2:
        raise ValueError(f"expected a matrix (2-D array), got a {costs.ndim} array")
    like = np.zeros(min(known(costs, "linear_sum_assignment")), dtype=np.int64)
    return called(bound("scipy.optimize:linear_sum_assignment", maximize=bool(maximize)), (like, like), costs)
