"""Kalman's filter and Rauch, Tung and Striebel's smoother for a linear Gaussian model of states and observations."""

from typing import Any

import numpy as np

from numbagraph import graph_jit, scan


@graph_jit
def kalman_filter(y: Any, mean: Any, cov: Any, a: Any, q: Any, h: Any, r: Any) -> Any:
    """The log-likelihood of ``y``, and the means and covariances of the states, filtered and predicted."""

    def step(carry: Any, y: Any) -> Any:
        mean, cov, total = carry
        residual, s = y - h @ mean, h @ cov @ h.T + r
        gain = np.linalg.solve(s, h @ cov).T
        total = total - 0.5 * (residual @ np.linalg.solve(s, residual) + np.linalg.slogdet(2 * np.pi * s)[1])
        filtered = mean + gain @ residual, cov - gain @ h @ cov
        return (a @ filtered[0], a @ filtered[1] @ a.T + q, total), (filtered, (mean, cov))

    (_, _, total), (filtered, predicted) = scan(step, (mean, cov, 0.0), y)
    return total, filtered, predicted


@graph_jit
def smoother(y: Any, mean: Any, cov: Any, a: Any, q: Any, h: Any, r: Any) -> Any:
    """The means and covariances of the states, given all of ``y``."""
    _, filtered, predicted = kalman_filter(y, mean, cov, a, q, h, r)

    def step(later: Any, now: Any) -> Any:
        (mean, cov), (next_mean, next_cov) = now
        gain = np.linalg.solve(next_cov, a @ cov).T
        smoothed = mean + gain @ (later[0] - next_mean), cov + gain @ (later[1] - next_cov) @ gain.T
        return smoothed, smoothed

    last = filtered[0][-1], filtered[1][-1]
    steps = tuple(each[:-1] for each in filtered), tuple(each[1:] for each in predicted)
    _, (means, covs) = scan(step, last, steps, reverse=True)
    return np.concatenate([means, last[0][None]]), np.concatenate([covs, last[1][None]])
