"""A chemical equilibrium in each cell of a grid.

In each cell two substances, of which there is more to the right or to the top, combine: ``A + B <-> C`` and
``2 B <-> D``. The concentrations are the root of a system of equations; `vmap` of SciPy's `root` solves all cells in
one compiled loop. The second picture is the derivative of what is found by the first equilibrium constant.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import root

import numbagraph as ng


def compound(all_a, all_b, constants):
    """The concentration of C where all of A and of B are given, free or bound."""

    def balances(logarithms):
        a, b = np.exp(logarithms)
        c, d = constants[0] * a * b, constants[1] * b**2
        return np.array([a + c - all_a, b + c + 2 * d - all_b])

    a, b = np.exp(root(balances, np.log(np.array([all_a, all_b]) / 2)).x)
    return constants[0] * a * b


@ng.graph_jit
def cells(all_a, all_b, constants):
    def value_and_slope(a, b):
        value, slopes = ng.value_and_grad(compound, argnums=2)(a, b, constants)
        return value, slopes[0]

    return ng.vmap(value_and_slope)(all_a, all_b)


a, b = np.meshgrid(np.linspace(0.05, 2.0, 120), np.linspace(0.05, 2.0, 120))
value, slope = cells(a.ravel(), b.ravel(), np.array([5.0, 2.0]))
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
for axis, picture, title in zip(axes, (value, slope), ("concentration of C", "its derivative by K"), strict=True):
    image = axis.imshow(picture.reshape(a.shape), origin="lower", extent=(0.05, 2.0, 0.05, 2.0))
    figure.colorbar(image, ax=axis)
    axis.set(title=title, xlabel="all of A")
axes[0].set(ylabel="all of B")
plt.show()
