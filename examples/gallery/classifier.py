"""A small neural network.

Weights are a list of pairs, and the gradient is a list like it. A step of Adam, gradient included, is one compiled
function.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import optree

import numbagraph as ng

rng = np.random.default_rng(1)
angle, turn = rng.uniform(0.0, 1.5 * np.pi, 400), np.repeat([0.0, np.pi], 200)
points = (1 + angle[:, None]) * np.stack([np.cos(angle + turn), np.sin(angle + turn)], axis=1)
points, labels = points + rng.normal(0.0, 0.4, points.shape), (turn > 0).astype(float)


def logits(weights, x):
    for matrix, bias in weights[:-1]:
        x = np.tanh(x @ matrix + bias)
    matrix, bias = weights[-1]
    return (x @ matrix + bias)[:, 0]


def loss(weights, x, y):
    z = logits(weights, x)
    return np.mean(np.logaddexp(0.0, z) - y * z)


@ng.graph_jit
def step(weights, mean, square, count, x, y):
    slope = ng.grad(loss)(weights, x, y)
    mean = optree.tree_map(lambda m, g: 0.9 * m + 0.1 * g, mean, slope)
    square = optree.tree_map(lambda s, g: 0.999 * s + 0.001 * g**2, square, slope)
    rate = 0.01 * np.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    weights = optree.tree_map(lambda w, m, s: w - rate * m / (np.sqrt(s) + 1e-8), weights, mean, square)
    return weights, mean, square


sizes = (2, 24, 24, 1)
weights = [(rng.normal(0.0, a**-0.5, (a, b)), np.zeros(b)) for a, b in pairwise(sizes)]
mean = square = optree.tree_map(np.zeros_like, weights)
for count in range(1, 601):
    weights, mean, square = step(weights, mean, square, float(count), points, labels)

side = np.linspace(-7.0, 7.0, 250)
grid = np.stack(np.meshgrid(side, side), axis=-1)
probability = 1 / (1 + np.exp(-ng.graph_jit(logits)(weights, grid.reshape(-1, 2)))).reshape(250, 250)
figure, axes = plt.subplots(figsize=(5.5, 5))
axes.contourf(side, side, probability, levels=20, cmap="RdBu", alpha=0.7)
axes.scatter(*points.T, c=labels, cmap="RdBu", edgecolors="k", linewidths=0.4, s=18)
axes.set(title=f"loss {loss(weights, points, labels):.1e}")
plt.show()
