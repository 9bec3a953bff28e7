"""A Gaussian process.

The marginal likelihood goes through a Cholesky factor, which has a derivative. L-BFGS finds amplitude, length and
noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import numbagraph as ng

rng = np.random.default_rng(2)
x = np.sort(rng.uniform(0.0, 10.0, 30))
y = np.sin(x) + 0.3 * x + rng.normal(0.0, 0.2, x.size)


def kernel(a, b, p):
    return np.exp(2 * p[0]) * np.exp(-0.5 * ((a[:, None] - b) * np.exp(-p[1])) ** 2)


def noisy(p, x):
    return kernel(x, x, p) + (np.exp(2 * p[2]) + 1e-9) * np.eye(x.size)


@ng.graph_jit
@ng.value_and_grad
def negative_log_likelihood(p, x, y):
    factor = np.linalg.cholesky(noisy(p, x))
    z = ng.linalg.solve_triangular(factor, y, lower=True)
    return 0.5 * np.sum(z**2) + np.sum(np.log(np.diagonal(factor)))


@ng.graph_jit
def predict(p, x, y, new):
    factor = np.linalg.cholesky(noisy(p, x))
    across = ng.linalg.solve_triangular(factor, kernel(x, new, p), lower=True)
    mean = across.T @ ng.linalg.solve_triangular(factor, y, lower=True)
    return mean, np.exp(2 * p[0]) - np.sum(across**2, axis=0)


fit = minimize(negative_log_likelihood, np.zeros(3), args=(x, y), jac=True, method="L-BFGS-B")
new = np.linspace(-1.0, 12.0, 300)
mean, variance = predict(fit.x, x, y, new)

figure, axes = plt.subplots(figsize=(7, 4))
width = 2 * np.sqrt(variance)
axes.fill_between(new, mean - width, mean + width, alpha=0.25)
axes.plot(new, mean)
axes.plot(x, y, "k.")
amplitude, length, noise = np.exp(fit.x)
axes.set(xlabel="x", ylabel="y", title=f"amplitude {amplitude:.2f}, length {length:.2f}, noise {noise:.2f}")
plt.show()
