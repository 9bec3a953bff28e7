"""Gillespie's exact simulation of births and deaths; the random numbers are an argument."""

from typing import Any

import numpy as np

from numbagraph import cond, graph_jit, scan


@graph_jit
def births_and_deaths(birth: Any, death: Any, start: Any, uniform: Any) -> Any:
    """The times of the events, and the number of individuals after each. ``uniform`` has two numbers for each event;
    nothing happens any more when nobody is left."""

    def event(state: Any, u: Any) -> Any:
        def happens() -> Any:
            time, count = state
            rate = (birth + death) * count
            later = time - np.log1p(-u[0]) / rate
            return later, count + np.where(u[1] * (birth + death) < birth, 1.0, -1.0)

        state = cond(state[1] > 0, happens, lambda: state)
        return state, state

    return scan(event, (0.0, start), uniform)[1]
