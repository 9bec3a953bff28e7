"""A hidden semi-Markov model: states last as long as a distribution of durations says, not geometrically.

The forward algorithm of S.-Z. Yu, "Hidden semi-Markov models", Artificial Intelligence 174 (2010), in logarithms.
"""

from typing import Any

import numpy as np

from numbagraph import grad, graph_jit
from numbagraph.special import logsumexp


def log_likelihood(start: Any, transition: Any, duration: Any, emission: Any) -> Any:
    """Of observations, the last of which ends a state.

    Parameters
    ----------
    start : (states,)
        Log-probabilities of the first state.
    transition : (states, states)
        Log-probabilities of the state that follows each; on the diagonal ``-inf``.
    duration : (longest, states)
        Log-probabilities that a state lasts 1, 2, ... steps.
    emission : (times, states)
        Log-probabilities of each observation in each state.
    """
    times, states = emission.shape
    longest = duration.shape[0]
    # ends[t]: a state ends before time t; begins[t]: one begins there
    ends = np.full((times + 1, states), -np.inf)
    begins = np.full((times + 1, states), -np.inf)
    begins[0] = start
    for t in range(1, times + 1):
        emitted = np.zeros(states)
        total = np.full(states, -np.inf)
        for d in range(1, min(longest, t) + 1):
            emitted = emitted + emission[t - d]
            total = np.logaddexp(total, begins[t - d] + duration[d - 1] + emitted)
        ends[t] = total
        begins[t] = logsumexp(total[:, None] + transition, axis=0)
    return logsumexp(ends[times])


likelihood = graph_jit(log_likelihood)
slopes = graph_jit(grad(log_likelihood, argnums=(2, 3)))
