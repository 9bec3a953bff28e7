"""Explicit Runge-Kutta methods."""

from __future__ import annotations

from functools import cache, partial

from numbagraph.library.scipy.ode.interpolants import at, output, piece
from numbagraph.library.scipy.ode.methods import Counts, Method, integer
from numbagraph.library.scipy.ode.tableaus import Tableau, tableau_of
from numbagraph.library.scipy.ode.trials import State, first_state, trial


@cache
def explicit(kind: type) -> Method:
    """Return the method of a class of SciPy."""
    tableau = tableau_of(kind)
    return Method(
        tableau.name, tableau.order, partial(first_state, tableau), partial(trial, tableau), partial(piece, tableau),
        partial(at, tableau), partial(counts, tableau), partial(output, tableau), extra=len(tableau.extra_nodes),
    )  # fmt: skip


def counts(tableau: Tableau, state: State) -> Counts:
    return Counts(tableau.stages * state.trials, integer(0), integer(0))
