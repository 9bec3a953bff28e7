"""Spots of two chemicals.

Gray and Scott's model: diffusion by slices of padded arrays, 6,000 steps in one native loop.
"""

import matplotlib.pyplot as plt
import numpy as np

import numbagraph as ng


def laplacian(a):
    padded = np.pad(a, 1, mode="wrap")
    return padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] - 4 * a


@ng.graph_jit
def simulate(u, v, feed, kill, steps):
    def step(_, state):
        u, v = state
        reaction = u * v**2
        return u + 0.16 * laplacian(u) - reaction + feed * (1 - u), v + 0.08 * laplacian(v) + reaction - (
            feed + kill
        ) * v

    return ng.fori_loop(0, steps, step, (u, v))


n = 160
rng = np.random.default_rng(0)
u, v = np.ones((n, n)), np.zeros((n, n))
for row, column in rng.integers(10, n - 10, (25, 2)):
    u[row - 5 : row + 5, column - 5 : column + 5], v[row - 5 : row + 5, column - 5 : column + 5] = 0.5, 0.25
u, v = u + 0.02 * rng.random((n, n)), v + 0.02 * rng.random((n, n))

figure, panels = plt.subplots(1, 3, figsize=(8, 3))
for axes, (feed, kill) in zip(panels, ((0.035, 0.065), (0.06, 0.062), (0.025, 0.055)), strict=True):
    axes.imshow(simulate(u, v, feed, kill, 6000)[1], cmap="viridis")
    axes.set(xticks=[], yticks=[], title=f"feed {feed}, kill {kill}")
plt.show()
