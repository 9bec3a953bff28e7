"""Polynomials through the steps of a solver, whose coefficients are rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.ode.tableaus import Tableau
from numbagraph.library.scipy.ode.trials import Problem, Step


def coefficients(problem: Problem, step: Step, h: Any, y: Any) -> Any:
    """Return the coefficients of the polynomial through a step of length ``h`` that ends at ``y``."""
    tableau = problem.tableau
    if not len(tableau.extra_nodes):
        return h * (tableau.dense.T @ step.stages)
    stages, last = step.stages, tableau.stages
    for number, (weights, node) in enumerate(zip(tableau.extra_weights, tableau.extra_nodes, strict=True), last + 1):
        found = weights[:number] @ stages
        more = problem.slope(step.t + float(node) * h, step.y + h * found)
        stages = np.concatenate([stages, more[None]])
    change = y - step.y
    first, end = h * stages[0], h * stages[last]
    return np.concatenate([np.stack([change, first - change, 2 * change - end - first]), h * (tableau.dense @ stages)])


def at(tableau: Tableau, rows: Any, x: Any) -> Any:
    """The difference from the start of a step, at a part ``x`` of it; ``x`` has an axis more where it stands for
    several parts, each with rows of its own."""
    if not len(tableau.extra_nodes):
        found = rows[-1]
        for number in range(len(tableau.dense[0]) - 2, -1, -1):
            found = rows[number] + x * found
        return x * found
    found = None
    for number in range(len(tableau.dense) + 2, -1, -1):
        found = rows[number] if found is None else found + rows[number]
        found = found * (x if (len(tableau.dense) + 2 - number) % 2 == 0 else 1 - x)
    return found
