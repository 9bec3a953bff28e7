"""Order and chaos of the logistic map.

A loop over all rates at once, and below it Lyapunov's exponent: the mean logarithm of the derivative along the path.
"""

import matplotlib.pyplot as plt
import numpy as np

import numbagraph as ng


@ng.graph_jit
def iterate(rates, skipped, kept):
    def turn(x, _):
        x = rates * x * (1 - x)
        return x, (x, np.log(np.abs(rates * (1 - 2 * x))))

    start = ng.fori_loop(0, skipped, lambda _, x: turn(x, None)[0], np.full(rates.shape, 0.4))
    _, (paths, logarithms) = ng.scan(turn, start, None, length=kept)
    return paths, np.mean(logarithms, axis=0)


rates = np.linspace(2.8, 4.0, 1600, endpoint=False)
paths, exponents = iterate(rates, 500, 200)
figure, (above, below) = plt.subplots(2, 1, figsize=(7, 5.5), sharex=True, height_ratios=(3, 1))
above.plot(np.broadcast_to(rates, paths.shape).ravel(), paths.ravel(), "k,", alpha=0.15)
above.set(ylabel="x")
below.axhline(0.0, color="0.6", linewidth=1)
below.plot(rates, exponents, linewidth=0.8)
below.set(xlabel="rate", ylabel="exponent", ylim=(-2.0, 1.0))
plt.show()
