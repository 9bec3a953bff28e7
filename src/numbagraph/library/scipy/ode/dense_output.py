"""Solutions at any time: polynomials through all steps. As results of compiled functions they are SciPy's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.integrate import OdeSolution

from numbagraph.library.scipy.arguments import array
from numbagraph.library.scipy.ode.methods import Method, Piece
from numbagraph.runtime.arguments import register_node


class DenseSolution:
    """The solution as a function of time, `scipy.integrate.OdeSolution`."""

    def __init__(self, method: Method, times: Any, ends: Any, states: Any, pieces: Piece) -> None:
        self.method = method
        self.ts = times
        self.ends = ends
        """The ends of steps, of which the last may lie behind an event that ended the solution."""
        self.states = states
        """The states at the starts of steps."""
        self.pieces = pieces
        """The polynomial of each step."""

    def __call__(self, t: Any) -> Any:
        t = array(t)
        if t.ndim > 1:
            raise ValueError("`t` must be a float or a 1-D array.")
        sign = np.where(self.ts[-1] < self.ts[0], -1.0, 1.0)
        side = "right" if self.method.takes_later_step else "left"
        step = np.searchsorted(sign * self.ts, sign * t, side) - 1
        step = np.clip(step, 0, self.states.shape[0] - 1)
        piece = Piece(*(each[step] for each in self.pieces))
        part = (t - piece.origin) / piece.unit
        if t.ndim:
            part = part[:, None]
        rows = piece.rows.transpose(1, 0, 2) if t.ndim else piece.rows
        return (piece.base + self.method.at(rows, part)).T

    @property
    def t_min(self) -> Any:
        return np.minimum(self.ts[0], self.ts[-1])

    @property
    def t_max(self) -> Any:
        return np.maximum(self.ts[0], self.ts[-1])


def take_apart(solution: DenseSolution) -> tuple[list[Any], Method]:
    return [solution.ts, solution.ends, solution.states, *solution.pieces], solution.method


def put_together(method: Method, children: Sequence[Any]) -> Any:
    times, ends, states, *pieces = children
    if not all(isinstance(each, np.ndarray) for each in children):
        return DenseSolution(method, times, ends, states, Piece(*pieces))
    made = [
        method.output(start, end, y, Piece(*piece))
        for start, end, y, *piece in zip(times[:-1], ends, states, *pieces, strict=True)
    ]
    return OdeSolution(times, made, method.takes_later_step)


register_node(DenseSolution, take_apart, put_together)
