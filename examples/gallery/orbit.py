"""The orbit of a planet, from angles in the sky.

Kepler's equation has no solution in a formula: `brentq` solves it for each date, in a compiled `vmap`, and
`least_squares` finds the orbit's elements. Its Jacobian goes through the roots by the implicit function theorem:
nothing differentiates the steps of the search.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq, least_squares

import numbagraph as ng

SPREAD = 0.01


def anomaly(mean, eccentricity):
    """The eccentric anomaly."""
    turns = np.floor(mean / (2 * np.pi))
    inside = mean - 2 * np.pi * turns
    return brentq(lambda e: e - eccentricity * np.sin(e) - inside, 0.0, 2 * np.pi)


def positions(elements, dates):
    """The place in the plane of the orbit's foci, for a semi-major axis of 1."""
    size, eccentricity, period, passage, turn = elements
    e = ng.vmap(anomaly, in_axes=(0, None))(2 * np.pi * (dates - passage) / period, eccentricity)
    x, y = size * (np.cos(e) - eccentricity), size * np.sqrt(1 - eccentricity**2) * np.sin(e)
    return x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)


def angles(elements, dates):
    """What is seen from a point on a circular orbit of radius 1 and period 1."""
    x, y = positions(elements, dates)
    return np.arctan2(y - np.sin(2 * np.pi * dates), x - np.cos(2 * np.pi * dates))


@ng.graph_jit
def orbit(dates, seen, guess):
    def misfit(elements):
        apart = angles(elements, dates) - seen
        return np.arctan2(np.sin(apart), np.cos(apart)) / SPREAD

    return least_squares(misfit, guess).x


rng = np.random.default_rng(8)
truth = np.array([1.8, 0.35, 2.4, 0.3, 0.8])
dates = np.sort(rng.uniform(0.0, 3.0, 60))
seen = ng.graph_jit(angles)(truth, dates) + rng.normal(0.0, SPREAD, dates.size)
found = orbit(dates, seen, np.array([1.6, 0.2, 2.3, 0.2, 0.6]))

times = np.linspace(0.0, 2.4, 400)
figure, axes = plt.subplots(figsize=(7, 4.5))
for elements, style, label in ((truth, "k:", "the orbit"), (found, "C0", "as it was found")):
    axes.plot(*ng.graph_jit(positions)(elements, times), style, label=label)
axes.plot(np.cos(2 * np.pi * times), np.sin(2 * np.pi * times), "C1", linewidth=1, label="the observer's")
axes.plot(0, 0, "k+")
axes.set_aspect("equal")
axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1))
plt.show()
