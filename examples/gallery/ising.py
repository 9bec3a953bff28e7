"""Ising's magnet.

Metropolis' algorithm with a `numpy.random.Generator` as an argument: compiled code draws the numbers that NumPy would
draw, and writes into the array of spins.
"""

import matplotlib.pyplot as plt
import numpy as np

import numbagraph as ng


@ng.graph_jit
def sweep(rng, spins, temperature, sweeps):
    n = spins.shape[0]
    for _ in range(sweeps * n * n):
        i, j = rng.integers(0, n), rng.integers(0, n)
        around = spins[(i + 1) % n, j] + spins[(i - 1) % n, j] + spins[i, (j + 1) % n] + spins[i, (j - 1) % n]
        cost = 2.0 * spins[i, j] * around
        if cost <= 0 or rng.random() < np.exp(-cost / temperature):
            spins[i, j] = -spins[i, j]


rng = np.random.default_rng(6)
figure, panels = plt.subplots(1, 3, figsize=(8, 3))
for axes, temperature in zip(panels, (1.5, 2.27, 3.5), strict=True):
    spins = rng.choice(np.array([-1, 1]), (100, 100))
    sweep(rng, spins, temperature, 200)
    axes.imshow(spins, cmap="Greys")
    axes.set(xticks=[], yticks=[], title=f"temperature {temperature}")
plt.show()
