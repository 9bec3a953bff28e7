"""Predators and prey, and what a rate does to them.

Runge and Kutta's method as a `scan`. `jvp` gives, beside the solution, its derivative by one of the rates: the dashed
lines are first-order predictions for a rate that is 5 % higher.
"""

import matplotlib.pyplot as plt
import numpy as np

import numbagraph as ng


def slope(y, p):
    return np.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def solution(p, start, times):
    def step(y, h):
        k1 = slope(y, p)
        k2 = slope(y + h / 2 * k1, p)
        k3 = slope(y + h / 2 * k2, p)
        k4 = slope(y + h * k3, p)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y, y

    return ng.scan(step, start, np.diff(times))[1]


@ng.graph_jit
def with_sensitivity(p, direction, start, times):
    return ng.jvp(lambda p: solution(p, start, times), (p,), (direction,))


p, start, times = np.array([1.1, 0.4, 0.1, 0.4]), np.array([10.0, 5.0]), np.linspace(0.0, 20.0, 2001)
direction = np.array([0.05 * p[0], 0.0, 0.0, 0.0])
path, change = with_sensitivity(p, direction, start, times)
figure, axes = plt.subplots(figsize=(7, 4))
for number, name in enumerate(("prey", "predators")):
    axes.plot(times[1:], path[:, number], color=f"C{number}", label=name)
    axes.plot(times[1:], (path + change)[:, number], color=f"C{number}", linestyle="--", linewidth=1)
axes.set(xlabel="time", ylabel="number")
axes.legend()
plt.show()
