"""A stiff oscillator.

SciPy's implicit solver calls a compiled right-hand side and its exact Jacobian, by `jacfwd`. Dots are the solver's
own steps: few where the solution creeps, many where it jumps.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import numbagraph as ng


def van_der_pol(t, y, stiffness):
    return np.stack([y[1], stiffness * (1 - y[0] ** 2) * y[1] - y[0]])


rhs = ng.graph_jit(van_der_pol)
jacobian = ng.graph_jit(ng.jacfwd(van_der_pol, argnums=1))
found = solve_ivp(rhs, (0.0, 3000.0), [2.0, 0.0], args=(1000.0,), method="BDF", jac=jacobian, rtol=1e-4, atol=1e-6)

figure, axes = plt.subplots(figsize=(7, 4))
axes.plot(found.t, found.y[0], ".-", markersize=4, linewidth=1)
axes.set(xlabel="time", ylabel="y", title=f"{found.t.size - 1} steps, {found.njev} Jacobians")
plt.show()
