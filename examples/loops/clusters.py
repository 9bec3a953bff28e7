"""k-means by Lloyd's algorithm, until no point changes its cluster."""

from typing import Any

import numpy as np

from numbagraph import graph_jit, while_loop
from numbagraph import numpy as xp


@graph_jit
def k_means(points: Any, centres: Any) -> Any:
    """The centres, the cluster of each point, and the number of steps."""
    clusters = xp.arange(centres.shape[0])

    def nearest(centres: Any) -> Any:
        return np.argmin(np.sum((points[:, None, :] - centres) ** 2, axis=2), axis=1)

    def step(state: Any) -> Any:
        centres, labels, _, count = state
        members = np.where(labels[:, None] == clusters, 1.0, 0.0)
        sizes = np.sum(members, axis=0)[:, None]
        centres = np.where(sizes > 0, members.T @ points / np.maximum(sizes, 1.0), centres)
        new = nearest(centres)
        return centres, new, np.any(new != labels), count + 1

    first = (centres, nearest(centres), True, 0)
    centres, labels, _, count = while_loop(lambda state: state[2], step, first)
    return centres, labels, count
