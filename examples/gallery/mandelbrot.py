"""The Mandelbrot set.

A `while` loop of numbers is compiled as a loop, and called for each point by `vmap`: points that take other numbers
of steps run one after the other.
"""

import matplotlib.pyplot as plt
import numpy as np

import numbagraph as ng


def steps_to_escape(x, y):
    a, b, count = 0.0, 0.0, 0
    while a * a + b * b < 16.0 and count < 200:
        a, b = a * a - b * b + x, 2 * a * b + y
        count += 1
    smooth = count - np.log2(np.log2(np.maximum(a * a + b * b, 16.0)))  # between the counts
    return np.where(count < 200, smooth, np.nan)


@ng.graph_jit
def picture(xs, ys):
    rows = ng.vmap(steps_to_escape, in_axes=(0, None))
    return ng.vmap(rows, in_axes=(None, 0))(xs, ys)


xs, ys = np.linspace(-2.2, 0.8, 720), np.linspace(-1.2, 1.2, 576)
figure, axes = plt.subplots(figsize=(7, 5.6))
axes.set_facecolor("black")
axes.imshow(np.log(picture(xs, ys) + 3), extent=(xs[0], xs[-1], ys[0], ys[-1]), cmap="magma", origin="lower")
axes.set(xlabel="real part", ylabel="imaginary part")
plt.show()
