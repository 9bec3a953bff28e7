"""A vector autoregression of order two, VAR(2): its likelihood, a simulation, and forecasts, as loops over time."""

from typing import Any

import numpy as np

from numbagraph import graph_jit, value_and_grad


def log_likelihood(parameters: Any, y: Any) -> Any:
    """Of the rows of ``y``, given the first two: ``y[t] = c + a @ y[t - 1] + b @ y[t - 2]`` and normal noise."""
    c, a, b, factor = parameters["c"], parameters["a"], parameters["b"], parameters["factor"]
    covariance = factor @ factor.T
    total = 0.0
    for t in range(2, y.shape[0]):
        residual = y[t] - c - a @ y[t - 1] - b @ y[t - 2]
        total -= 0.5 * residual @ np.linalg.solve(covariance, residual)
    steps = y.shape[0] - 2
    return total - 0.5 * steps * np.linalg.slogdet(2 * np.pi * covariance)[1]


def simulate(parameters: Any, first: Any, noise: Any) -> Any:
    """A path that begins with the two rows of ``first``, and goes on with a row for each of ``noise``."""
    c, a, b, factor = parameters["c"], parameters["a"], parameters["b"], parameters["factor"]
    path = np.concatenate([first, np.zeros_like(noise)])
    for t in range(noise.shape[0]):
        path[t + 2] = c + a @ path[t + 1] + b @ path[t] + factor @ noise[t]
    return path


def forecast(parameters: Any, y: Any, steps: int) -> Any:
    """What is expected some steps after the last row of ``y``."""
    last, before = y[-1], y[-2]
    for _ in range(steps):
        last, before = parameters["c"] + parameters["a"] @ last + parameters["b"] @ before, last
    return last


fit = graph_jit(value_and_grad(log_likelihood))
simulated = graph_jit(simulate)
expected = graph_jit(forecast)
