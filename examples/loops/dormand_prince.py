"""Dormand and Prince's method with adaptive steps, as one writes it in NumPy, and its gradient.

`solve` knows nothing of compilers: how many steps it takes depends on the data. The gradient is that of the steps that
were taken, their lengths included. J. R. Dormand and P. J. Prince, "A family of embedded Runge-Kutta formulae", Journal
of Computational and Applied Mathematics 6 (1980).
"""

from typing import Any

import numpy as np

from numbagraph import grad, graph_jit

A = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
C = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def van_der_pol(t: Any, y: Any, p: Any) -> Any:
    """Van der Pol's oscillator, which is driven by a periodic force."""
    return np.stack([y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0] + p[1] * np.cos(p[2] * t)])


def solve(y: Any, start: Any, end: Any, p: Any, tolerance: Any = 1e-8) -> Any:
    """The solution at ``end``, and how many steps were accepted and rejected."""
    t, h = start, (end - start) / 100
    slope = van_der_pol(t, y, p)
    accepted, rejected = 0, 0
    while t < end:
        h = min(h, end - t)
        k = [slope]
        new = y
        for row, c in zip(A, C, strict=True):
            new = y + h * sum(a * each for a, each in zip(row, k, strict=True))
            k.append(van_der_pol(t + c * h, new, p))
        error = h * sum(a * each for a, each in zip(ERROR, k, strict=True))
        scale = tolerance * (1 + np.maximum(np.abs(y), np.abs(new)))
        size = np.sqrt(np.mean((error / scale) ** 2))
        if size <= 1.0:
            t, y, slope = t + h, new, k[-1]
            accepted += 1
        else:
            rejected += 1
        h = h * min(5.0, max(0.2, 0.9 * max(size, 1e-10) ** -0.2))
    return y, accepted, rejected


def misfit(p: Any, y: Any, end: Any, observed: Any) -> Any:
    """How far the oscillator is from what was observed at the end."""
    return np.sum((solve(y, 0.0, end, p)[0] - observed) ** 2)


compiled = graph_jit(solve)
slope_of_misfit = graph_jit(grad(misfit))
