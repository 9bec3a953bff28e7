"""Samples of a curved density.

Hamiltonian Monte Carlo, draws included, in one native function: the gradient stands in the loop, and the generator is
an argument. Lines show the paths of the first proposals.
"""

import matplotlib.pyplot as plt
import numpy as np

import numbagraph as ng


def log_density(x):
    return -0.5 * (x[0] ** 2 / 4 + 8 * (x[1] - 0.25 * x[0] ** 2) ** 2)


def leap(x, momentum, size):
    momentum = momentum + size / 2 * ng.grad(log_density)(x)
    x = x + size * momentum
    return x, momentum + size / 2 * ng.grad(log_density)(x)


@ng.graph_jit
def sample(rng, start, draws, leaps, size):
    kept, paths = np.zeros((draws, 2)), np.zeros((draws, leaps, 2))
    x, accepted = start, 0
    for draw in range(draws):
        momentum = rng.normal(size=2)
        new, turned = x, momentum
        for number in range(leaps):
            new, turned = leap(new, turned, size)
            paths[draw, number] = new
        change = log_density(new) - log_density(x) + 0.5 * np.sum(momentum**2) - 0.5 * np.sum(turned**2)
        if np.log(rng.random()) < change:
            x = new
            accepted += 1
        kept[draw] = x
    return kept, paths, accepted / draws


kept, paths, rate = sample(np.random.default_rng(3), np.zeros(2), 4000, 20, 0.15)
side = np.linspace(-6.5, 6.5, 200), np.linspace(-1.5, 10.0, 200)
density = np.exp(log_density(np.stack(np.meshgrid(*side))))
figure, axes = plt.subplots(figsize=(7, 4.5))
axes.plot(*kept.T, ".", markersize=2, alpha=0.5)
axes.contour(*side, density, levels=(0.02, 0.2, 0.7), colors="0.2", linewidths=1)
for path in paths[:12]:
    axes.plot(*path.T, color="C1", linewidth=0.9)
axes.set(title=f"{rate:.0%} of the proposals are accepted", ylim=(-1.5, 10.0))
plt.show()
