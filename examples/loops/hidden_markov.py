"""Hidden Markov models in logarithms: the likelihood by the forward algorithm, and Viterbi's most probable path."""

from typing import Any

import numpy as np

from numbagraph import graph_jit, scan
from numbagraph.special import logsumexp


@graph_jit
def log_likelihood(start: Any, transition: Any, emission: Any) -> Any:
    """Of observations whose log-probabilities in each state are the rows of ``emission``."""

    def step(alpha: Any, emitted: Any) -> Any:
        return logsumexp(alpha[:, None] + transition, axis=0) + emitted, None

    alpha, _ = scan(step, start + emission[0], emission[1:])
    return logsumexp(alpha)


@graph_jit
def viterbi(start: Any, transition: Any, emission: Any) -> Any:
    """The most probable path, and the logarithm of its probability."""

    def forward(best: Any, emitted: Any) -> Any:
        paths = best[:, None] + transition
        return np.max(paths, axis=0) + emitted, np.argmax(paths, axis=0)

    best, origins = scan(forward, start + emission[0], emission[1:])
    last = np.argmax(best)
    _, path = scan(lambda state, origin: (origin[state], state), last, origins, reverse=True)
    first, _ = scan(lambda state, origin: (origin[state], None), last, origins, reverse=True)
    return np.concatenate([first[None], path]), np.max(best)
