"""Solutions at any time: polynomials through all steps. As results of compiled functions they are SciPy's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import OdeSolution
from scipy.integrate._ivp.rk import Dop853DenseOutput, RkDenseOutput

from numbagraph.library.scipy.arguments import array
from numbagraph.library.scipy.ode.interpolants import at
from numbagraph.library.scipy.ode.tableaus import Tableau
from numbagraph.runtime.arguments import register_node


class DenseSolution:
    """The solution as a function of time, `scipy.integrate.OdeSolution`."""

    def __init__(self, tableau: Tableau, times: Any, states: Any, rows: Any) -> None:
        self.tableau = tableau
        self.ts = times
        self.states = states
        """The states at the starts of steps."""
        self.rows = rows
        """The coefficients of each step's polynomial."""

    def __call__(self, t: Any) -> Any:
        t = array(t)
        if t.ndim > 1:
            raise ValueError("`t` must be a float or a 1-D array.")
        sign = np.where(self.ts[-1] < self.ts[0], -1.0, 1.0)
        step = np.searchsorted(sign * self.ts, sign * t) - 1
        step = np.clip(step, 0, self.states.shape[0] - 1)
        start, end, rows = self.ts[step], self.ts[step + 1], self.rows[step]
        part = (t - start) / (end - start)
        if t.ndim:
            rows, part = rows.transpose(1, 0, 2), part[:, None]
        return (self.states[step] + at(self.tableau, rows, part)).T

    @property
    def t_min(self) -> Any:
        return np.minimum(self.ts[0], self.ts[-1])

    @property
    def t_max(self) -> Any:
        return np.maximum(self.ts[0], self.ts[-1])


def take_apart(solution: DenseSolution) -> tuple[list[Any], Tableau]:
    return [solution.ts, solution.states, solution.rows], solution.tableau


def put_together(tableau: Tableau, children: Sequence[Any]) -> Any:
    times, states, rows = children
    if not all(isinstance(each, np.ndarray) for each in (times, states, rows)):
        return DenseSolution(tableau, times, states, rows)
    if len(tableau.extra_nodes):
        made = [Dop853DenseOutput(*each) for each in zip(times[:-1], times[1:], states, rows, strict=True)]
    else:
        scaled = (row.T / (end - start) for row, start, end in zip(rows, times[:-1], times[1:], strict=True))
        made = [RkDenseOutput(*each) for each in zip(times[:-1], times[1:], states, scaled, strict=True)]
    return OdeSolution(times, made)


register_node(DenseSolution, take_apart, put_together)
