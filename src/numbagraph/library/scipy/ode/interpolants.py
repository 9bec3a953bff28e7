"""Polynomials through the steps of explicit methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate._ivp.rk import Dop853DenseOutput, RkDenseOutput

from numbagraph.api.differentiation import stop_gradient
from numbagraph.library.scipy.ode.methods import Piece, Problem
from numbagraph.library.scipy.ode.tableaus import Tableau
from numbagraph.library.scipy.ode.trials import State, Step, combination


def piece(tableau: Tableau, problem: Problem, state: State) -> Piece:
    """Return the polynomial through the step that has led to a state."""
    step = state.last
    assert step is not None
    h = stop_gradient(state.t - step.t)
    return Piece(step.t, h, step.y, coefficients(tableau, problem, step, h, state.y))


def coefficients(tableau: Tableau, problem: Problem, step: Step, h: Any, y: Any) -> Any:
    """Return the coefficients of the polynomial through a step of length ``h`` that ends at ``y``."""
    if not len(tableau.extra_nodes):
        stages = [step.stages[number] for number in range(len(tableau.dense))]
        return h * np.stack([combination(weights, stages) for weights in tableau.dense.T])
    stages, last = step.stages, tableau.stages
    for number, (weights, node) in enumerate(zip(tableau.extra_weights, tableau.extra_nodes, strict=True), last + 1):
        found = weights[:number] @ stages
        more = problem.slope(step.t + float(node) * h, step.y + h * found)
        stages = np.concatenate([stages, more[None]])
    change = y - step.y
    first, end = h * stages[0], h * stages[last]
    return np.concatenate([np.stack([change, first - change, 2 * change - end - first]), h * (tableau.dense @ stages)])


def at(tableau: Tableau, rows: Any, x: Any) -> Any:
    """The difference from the start of a step, at a part ``x`` of it."""
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


def output(tableau: Tableau, start: Any, end: Any, y: Any, piece: Piece) -> Any:
    """SciPy's own polynomial."""
    if len(tableau.extra_nodes):
        return Dop853DenseOutput(start, end, y, piece.rows)
    return RkDenseOutput(start, end, y, piece.rows.T / (end - start))
