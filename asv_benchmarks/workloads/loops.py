"""Loops that carry state: time series, a recurrent network, a filter, loops that end on a condition.

The functions say `control.scan` and the like, with JAX's names. Each system has its own: see `systems.rebind`.
"""

import math
from types import SimpleNamespace

import numpy as np

from .base import Problem, Workload, generator

control = SimpleNamespace()
"""What a system puts here: `scan`, `fori_loop`, `while_loop`, and `vmap`."""


def ar1(e: np.ndarray, a: float) -> np.floating:
    def step(carried: tuple, x: np.floating) -> tuple:
        previous, total = carried
        return (a * previous + x, total - 0.5 * (x - a * previous) ** 2), None

    return control.scan(step, (0.0, 0.0), e)[0][1]


def ar1_loops(e: np.ndarray, a: float) -> tuple:
    n = e.size
    before, y, total = np.empty(n), 0.0, 0.0
    for t in range(n):
        before[t] = y
        total -= 0.5 * (e[t] - a * y) ** 2
        y = a * y + e[t]
    by_e, by_a, by_y = np.empty(n), 0.0, 0.0
    for t in range(n - 1, -1, -1):
        residual = e[t] - a * before[t]
        by_e[t] = by_y - residual
        by_a += (by_y + residual) * before[t]
        by_y = (by_y + residual) * a
    return total, (by_e, by_a)


def garch(r: np.ndarray, w: float, a: float, b: float) -> np.floating:
    def step(carried: tuple, x: np.floating) -> tuple:
        variance, total = carried
        variance = w + a * x * x + b * variance
        return (variance, total - 0.5 * (np.log(variance) + x * x / variance)), None

    return control.scan(step, (1.0, 0.0), r)[0][1]


def garch_loops(r: np.ndarray, w: float, a: float, b: float) -> tuple:
    n = r.size
    variances, total = np.empty(n + 1), 0.0
    variances[0] = 1.0
    for t in range(n):
        variances[t + 1] = v = w + a * r[t] * r[t] + b * variances[t]
        total -= 0.5 * (math.log(v) + r[t] * r[t] / v)
    by_w, by_a, by_b, by_v = 0.0, 0.0, 0.0, 0.0
    for t in range(n - 1, -1, -1):
        v = variances[t + 1]
        by_v -= 0.5 * (1.0 / v - r[t] * r[t] / (v * v))
        by_w += by_v
        by_a += by_v * r[t] * r[t]
        by_b += by_v * variances[t]
        by_v *= b
    return total, (by_w, by_a, by_b)


def garch_batch(r: np.ndarray, w: float, a: float, b: float) -> np.ndarray:
    return control.vmap(lambda series: garch(series, w, a, b))(r)


def garch_batch_loops(r: np.ndarray, w: float, a: float, b: float) -> np.ndarray:
    totals = np.empty(r.shape[0])
    for i in range(r.shape[0]):
        v, total = 1.0, 0.0
        for t in range(r.shape[1]):
            v = w + a * r[i, t] * r[i, t] + b * v
            total -= 0.5 * (math.log(v) + r[i, t] * r[i, t] / v)
        totals[i] = total
    return totals


def network(w: np.ndarray, u: np.ndarray, x: np.ndarray) -> np.floating:
    def step(h: np.ndarray, row: np.ndarray) -> tuple:
        return np.tanh(w @ h + u @ row), None

    return np.sum(control.scan(step, x[0] * 0.0, x)[0] ** 2)


def network_by_hand(w: np.ndarray, u: np.ndarray, x: np.ndarray) -> tuple:
    h = np.zeros((len(x) + 1, len(w)))
    for t, row in enumerate(x):
        h[t + 1] = np.tanh(w @ h[t] + u @ row)
    by_w, by_u, by_h = np.zeros_like(w), np.zeros_like(u), 2 * h[-1]
    for t in range(len(x) - 1, -1, -1):
        before = by_h * (1 - h[t + 1] ** 2)
        by_w += np.outer(before, h[t])
        by_u += np.outer(before, x[t])
        by_h = w.T @ before
    return np.sum(h[-1] ** 2), (by_w, by_u)


def kalman(f: np.ndarray, q: np.ndarray, x: np.ndarray) -> np.floating:
    """The log-likelihood of observations of the first of four states."""

    def step(carried: tuple, observed: np.floating) -> tuple:
        m, p, total = carried
        m, p = f @ m, f @ p @ f.T + q
        s, residual = p[0, 0] + 1.0, observed - m[0]
        gain = p[:, 0] / s
        total = total - 0.5 * (np.log(s) + residual * residual / s)
        return (m + gain * residual, p - np.outer(gain, p[0]), total), None

    return control.scan(step, (f[0] * 0.0, q, 0.0), x)[0][2]


def kalman_value(f: np.ndarray, q: np.ndarray, x: np.ndarray) -> np.number:
    m, p, total = f[0] * 0.0, q, 0.0
    for observed in x:
        m, p = f @ m, f @ p @ f.T + q
        s, residual = p[0, 0] + 1.0, observed - m[0]
        gain = p[:, 0] / s
        total = total - 0.5 * (np.log(s) + residual * residual / s)
        m, p = m + gain * residual, p - np.outer(gain, p[0])
    return total


def kalman_by_hand(f: np.ndarray, q: np.ndarray, x: np.ndarray) -> tuple:
    """By complex steps (Squire and Trapp 1998): the gradient to rounding, in 32 runs."""
    by_f, by_q = np.empty_like(f), np.empty_like(q)
    for index in np.ndindex(f.shape):
        step = np.zeros(f.shape, complex)
        step[index] = 1e-30j
        by_f[index] = kalman_value(f + step, q + 0j, x).imag / 1e-30
        by_q[index] = kalman_value(f + 0j, q + step, x).imag / 1e-30
    return kalman_value(f, q, x), (by_f, by_q)


def logistic_map(x: float, n: int) -> np.floating:
    """An exit that depends on data keeps LLVM from folding it."""

    def goes_on(state: tuple) -> bool:
        return (state[1] < n) & (state[0] > 1e-300)

    return control.while_loop(goes_on, lambda s: (3.7 * s[0] * (1.0 - s[0]), s[1] + 1), (x, 0))[0]


def logistic_map_loops(x: float, n: int) -> float:
    count = 0
    while count < n and x > 1e-300:
        x = 3.7 * x * (1.0 - x)
        count += 1
    return x


def collatz(numbers: np.ndarray) -> np.ndarray:
    def of_one(n: int) -> int:
        def step(state: tuple) -> tuple:
            return np.where(state[0] % 2 == 0, state[0] // 2, 3 * state[0] + 1), state[1] + 1

        return control.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]

    return control.vmap(of_one)(numbers)


def collatz_loops(numbers: np.ndarray) -> np.ndarray:
    counts = np.empty_like(numbers)
    for i in range(numbers.size):
        n, count = numbers[i], 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        counts[i] = count
    return counts


def fixed_point(x: float, n: int) -> np.floating:
    def step(state: tuple) -> tuple:
        return 0.9 * np.cos(state[0]) + 0.1 * x, state[1] + 1

    return control.while_loop(lambda state: state[1] < n, step, (x, 0))[0]


def fixed_point_loops(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = 0.9 * math.cos(y) + 0.1 * x
    return y


def fixed_point_by_hand(x: float, n: int) -> tuple:
    """Forward, which is enough for one argument."""
    y, by_x = x, 1.0
    for _ in range(n):
        y, by_x = 0.9 * math.cos(y) + 0.1 * x, -0.9 * math.sin(y) * by_x + 0.1
    return y, (by_x,)


def garch_problem(n: int) -> Problem:
    return Problem(
        garch, (generator(n).normal(size=n), 0.1, 0.1, 0.8), argnums=(1, 2, 3), by_hand=garch_loops, loops=garch_loops
    )


def network_problem(n: int) -> Problem:
    rng = generator(n)
    w, u = rng.normal(size=(2, 32, 32)) / 8
    return Problem(network, (w, u, rng.normal(size=(n, 32))), (0, 1), by_hand=network_by_hand)


def kalman_problem(n: int) -> Problem:
    rng = generator(n)
    f = np.eye(4) * 0.9 + rng.normal(size=(4, 4)) * 0.05
    return Problem(kalman, (f, np.eye(4) * 0.1, rng.normal(size=n)), (0, 1), by_hand=kalman_by_hand)


def ar1_problem(n: int) -> Problem:
    return Problem(ar1, (generator(n).normal(size=n), 0.7), (0, 1), by_hand=ar1_loops, loops=ar1_loops)


WORKLOADS = (
    Workload("ar1", (10_000,), ar1_problem),
    Workload("garch", (10_000,), garch_problem),
    Workload(
        "garch_batch",
        (1000,),
        lambda n: Problem(garch_batch, (generator(n).normal(size=(n, 100)), 0.1, 0.1, 0.8), loops=garch_batch_loops),
    ),
    Workload("network", (1000,), network_problem),
    Workload("kalman", (1000,), kalman_problem, rtol=1e-8),
    Workload("logistic_map", (1_000_000,), lambda n: Problem(logistic_map, (0.3, n), loops=logistic_map_loops)),
    Workload("collatz", (100_000,), lambda n: Problem(collatz, (np.arange(1, n + 1),), loops=collatz_loops)),
    Workload("fixed_point", (100_000,), lambda n: Problem(fixed_point, (0.3, n), loops=fixed_point_loops)),
    Workload(
        "fixed_point_gradient", (100_000,), lambda n: Problem(fixed_point, (0.3, n), (0,), by_hand=fixed_point_by_hand)
    ),
)
