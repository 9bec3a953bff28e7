"""Newton's method until it has converged, and a fixed point whose derivative follows from its equation rather than from
the steps that led there."""

from typing import Any

import numpy as np

from numbagraph import custom_vjp, grad, graph_jit, while_loop
from numbagraph import numpy as xp

MOST = 100


@graph_jit
def newton_root(a: Any, x: Any, tolerance: Any = 1e-14) -> Any:
    """A root of ``x - a * sin(x) - 1`` (Kepler's equation), and the number of steps."""

    def step(state: Any) -> Any:
        x, _, count = state
        change = (x - a * np.sin(x) - 1) / (1 - a * np.cos(x))
        return x - change, np.abs(change), count + 1

    x, _, count = while_loop(lambda state: (state[1] > tolerance) & (state[2] < MOST), step, (x, 1.0, 0))
    return x, count


def update(x: Any, w: Any, b: Any) -> Any:
    return np.tanh(w @ x + b)


@custom_vjp
def fixed_point(w: Any, b: Any) -> Any:
    """The x with ``x == tanh(w @ x + b)``."""

    def step(state: Any) -> Any:
        x, _, count = state
        new = update(x, w, b)
        return new, np.max(np.abs(new - x)), count + 1

    return while_loop(lambda state: (state[1] > 1e-14) & (state[2] < MOST), step, (b * 0, 1.0, 0))[0]


def forward(w: Any, b: Any) -> Any:
    x = fixed_point(w, b)
    return x, (w, x)


def backward(kept: Any, g: Any) -> Any:
    """With f = tanh(w @ x + b): dx = (1 - df/dx)^-1 df, so that the cotangent solves a transposed system."""
    w, x = kept
    slope = 1 - x**2
    g = np.linalg.solve(xp.eye(w.shape[0]) - w.T * slope, g) * slope
    return np.outer(g, x), g


fixed_point.defvjp(forward, backward)
loss_gradient = graph_jit(grad(lambda w, b: np.sum(fixed_point(w, b) ** 2), argnums=(0, 1)))
