"""A level that is seen through noise.

The likelihood of a local level model is a `scan`. Its gradient, through all steps, finds both variances; the filter
then gives mean and variance at each time.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import numbagraph as ng

rng = np.random.default_rng(8)
level = np.cumsum(rng.normal(0.0, 0.3, 300))
observed = level + rng.normal(0.0, 1.0, level.size)


def filtered(log_variances, y):
    q, r = np.exp(log_variances[0]), np.exp(log_variances[1])

    def step(carry, y):
        mean, variance = carry
        variance = variance + q
        total, residual = variance + r, y - mean
        gain = variance / total
        mean, variance = mean + gain * residual, (1 - gain) * variance
        term = 0.5 * (np.log(2 * np.pi * total) + residual**2 / total)
        return (mean, variance), (mean, variance, term)

    return ng.scan(step, (y[0], 1.0), y)[1]


objective = ng.graph_jit(ng.value_and_grad(lambda p, y: np.sum(filtered(p, y)[2])))
fit = minimize(objective, np.zeros(2), args=(observed,), jac=True)
mean, variance, _ = ng.graph_jit(filtered)(fit.x, observed)

times, width = np.arange(level.size), 2 * np.sqrt(variance)
figure, axes = plt.subplots(figsize=(7, 4))
axes.plot(times, observed, ".", color="0.6", markersize=4, label="observed")
axes.plot(times, level, "k", linewidth=1, label="level")
axes.plot(times, mean, color="C0", label="filtered")
axes.fill_between(times, mean - width, mean + width, color="C0", alpha=0.25)
estimates = np.exp(fit.x / 2)
axes.set(xlabel="time", title=f"standard deviations {estimates[0]:.2f} (0.3) and {estimates[1]:.2f} (1)")
axes.legend()
plt.show()
