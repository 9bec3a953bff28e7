"""A curve through measurements, with its uncertainty.

`least_squares` takes the exact Jacobian. The covariance of the parameters, and through the Jacobian of the curve the
band around it, follow from the same function.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import numbagraph as ng


def curve(p, t):
    return p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t) + p[3]


rng = np.random.default_rng(4)
t = np.sort(rng.uniform(0.0, 6.0, 40))
y = curve(np.array([2.0, 0.5, 3.0, 1.0]), t) + rng.normal(0.0, 0.25, t.size)

residuals = ng.graph_jit(lambda p, t, y: curve(p, t) - y)
jacobian = ng.graph_jit(ng.jacfwd(lambda p, t, y: curve(p, t) - y))
fit = least_squares(residuals, [1.0, 1.0, 2.8, 0.0], jac=jacobian, args=(t, y))
variance = 2 * fit.cost / (t.size - fit.x.size)
covariance = variance * np.linalg.inv(fit.jac.T @ fit.jac)

fine = np.linspace(0.0, 7.0, 400)
sides = ng.graph_jit(ng.jacfwd(curve))(fit.x, fine)
width = 2 * np.sqrt(np.einsum("ij,jk,ik->i", sides, covariance, sides))
best = curve(fit.x, fine)
figure, axes = plt.subplots(figsize=(7, 4))
axes.fill_between(fine, best - width, best + width, alpha=0.25, label="two standard errors")
axes.plot(fine, best, label="fit")
axes.plot(fine, curve(np.array([2.0, 0.5, 3.0, 1.0]), fine), "k:", linewidth=1, label="what was measured")
axes.plot(t, y, "k.", label="measurements")
axes.set(xlabel="t", ylabel="y")
axes.legend()
plt.show()
