"""The rates of an epidemic, from the number of people in bed.

An influenza in a boarding school in 1978 (British Medical Journal 1, 587), day by day. The model is a system of
differential equations, `solve_ivp` solves it, and `curve_fit` finds its rates: both are SciPy's calls, compiled as they
are written. The fit takes exact derivatives through the solver, and so does the band around the curve.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import curve_fit

import numbagraph as ng

BOYS = 763.0


def slopes(t, y, infection, recovery):
    susceptible, ill = y
    new = infection * susceptible * ill / BOYS
    return np.array([-new, new - recovery * ill])


def in_bed(days, infection, recovery, first):
    start = np.array([BOYS - first, first])
    found = solve_ivp(slopes, (0.0, 14.0), start, t_eval=days, args=(infection, recovery), rtol=1e-8, atol=1e-8)
    return found.y[1]


@ng.graph_jit
def fit(days, ill):
    return curve_fit(in_bed, days, ill, p0=[2.0, 0.5, 1.0])


@ng.graph_jit
def with_sides(days, rates):
    return in_bed(days, *rates), ng.jacfwd(lambda rates: in_bed(days, *rates))(rates)


days = np.arange(14.0)
ill = np.array([3.0, 8.0, 26.0, 76.0, 225.0, 298.0, 258.0, 233.0, 189.0, 128.0, 68.0, 29.0, 14.0, 4.0])
rates, covariance = fit(days, ill)
fine = np.linspace(0.0, 14.0, 200)
best, sides = with_sides(fine, rates)
width = 2 * np.sqrt(np.einsum("ij,jk,ik->i", sides, covariance, sides))
figure, axes = plt.subplots(figsize=(7, 4))
axes.fill_between(fine, best - width, best + width, alpha=0.25, label="two standard errors")
axes.plot(fine, best, label=f"{rates[0]:.2f} infections and {rates[1]:.2f} recoveries a day")
axes.plot(days, ill, "k.", label="in bed")
axes.set(xlabel="day", ylabel="boys", ylim=(0, 420))
axes.legend(loc="upper right")
plt.show()
