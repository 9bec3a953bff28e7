"""An image without its noise.

Total variation, smoothed at zero, has a gradient for 36,864 unknowns at the price of a few evaluations; L-BFGS does
the rest.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import numbagraph as ng

n = 192
across, down = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n))
image = 0.6 * (np.hypot(across + 0.3, down + 0.2) < 0.45) + 0.9 * (np.abs(across - 0.45) + np.abs(down - 0.4) < 0.35)
image += 0.3 * (np.abs(down + 0.7) < 0.1)
noisy = image + np.random.default_rng(5).normal(0.0, 0.25, image.shape)


@ng.graph_jit
@ng.value_and_grad
def energy(flat, noisy, weight):
    x = flat.reshape(noisy.shape)
    right, below = x[:-1, 1:] - x[:-1, :-1], x[1:, :-1] - x[:-1, :-1]
    return 0.5 * np.sum((x - noisy) ** 2) + weight * np.sum(np.sqrt(right**2 + below**2 + 1e-4))


found = minimize(energy, noisy.ravel(), args=(noisy, 0.4), jac=True, method="L-BFGS-B", options={"maxiter": 400})
figure, panels = plt.subplots(1, 3, figsize=(9, 3.2))
for axes, (shown, title) in zip(
    panels, ((image, "original"), (noisy, "with noise"), (found.x.reshape(n, n), "found")), strict=True
):
    axes.imshow(shown, cmap="gray", vmin=-0.2, vmax=1.1)
    axes.set(xticks=[], yticks=[], title=title)
plt.show()
