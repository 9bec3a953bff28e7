"""Ordinary differential equations: Runge and Kutta's method with fixed steps, which has gradients, and Dormand and
Prince's with steps that adapt to the error."""

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph import grad, graph_jit, scan, while_loop

Slope = Callable[..., Any]

STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def lotka_volterra(y: Any, p: Any) -> Any:
    """Prey and predators."""
    return np.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def rk4(slope: Slope, y: Any, times: Any, p: Any) -> Any:
    """The solution at ``times``, of which the first is that of ``y``."""

    def step(y: Any, h: Any) -> Any:
        k1 = slope(y, p)
        k2 = slope(y + h / 2 * k1, p)
        k3 = slope(y + h / 2 * k2, p)
        k4 = slope(y + h * k3, p)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), y

    last, before = scan(step, y, np.diff(times))
    return np.concatenate([before, last[None]])


def rk45(slope: Slope, y: Any, end: Any, p: Any, tolerance: Any = 1e-8) -> Any:
    """The solution at ``end``, from time 0 on, and the number of steps that were tried."""

    def step(state: Any) -> Any:
        t, y, h, tried = state
        h = np.minimum(h, end - t)
        k = [slope(y, p)]
        last = y
        for row in STAGES:
            last = y + h * sum(a * b for a, b in zip(row, k, strict=True))
            k.append(slope(last, p))
        error = h * sum(a * b for a, b in zip(ERROR, k, strict=True))
        size = np.sqrt(np.mean((error / (tolerance * (1 + np.abs(last)))) ** 2))
        accepted = size <= 1
        factor = np.clip(0.9 * np.maximum(size, 1e-10) ** -0.2, 0.2, 5.0)
        return np.where(accepted, t + h, t), np.where(accepted, last, y), h * factor, tried + 1

    state = while_loop(lambda state: state[0] < end, step, (0.0 * end, y, 1e-3 * end, 0))
    return state[1], state[3]


@graph_jit
def misfit(p: Any, y: Any, times: Any, data: Any) -> Any:
    """How far a model of prey and predators is from data."""
    return np.sum((rk4(lotka_volterra, y, times, p) - data) ** 2)


slope_of_misfit = graph_jit(grad(misfit))
solve = graph_jit(lambda y, end, p: rk45(lotka_volterra, y, end, p))
