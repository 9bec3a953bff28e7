"""Twenty-one years of pelts of hares and lynxes: the rates of a system of differential equations, and what was there.

The numbers (thousands) are those of the Hudson Bay Company from 1900 to 1920, after Howard, "Modeling Basics" (2009).
`to_pytensor` makes SciPy's `solve_ivp` a part of the model, with its gradient.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
from reporting import Demonstration, Forest
from scipy.integrate import solve_ivp

from numbagraph.pymc_bridge import to_pytensor

YEARS = np.arange(1900, 1921)
HARES = np.array([
    30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1,
    40.3, 57.0, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7,
])  # fmt: skip
LYNXES = np.array([
    4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4,
    8.0, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6,
])  # fmt: skip


def slopes(t, y, births, losses, deaths, gains):
    """Of the logarithms of both numbers, which thus stay above 0."""
    hares, lynxes = np.exp(y)
    return np.array([births - losses * lynxes, gains * hares - deaths])


@to_pytensor
def logarithms(start, rates):
    """The logarithms of how many there were in each year (2, years), in thousands."""
    times = np.arange(21.0)
    return solve_ivp(slopes, (0.0, 20.0), start, t_eval=times, args=tuple(rates), rtol=1e-6, atol=1e-6).y


def build() -> pm.Model:
    """Rates a year, numbers at the start, of which the first counts tell, and counts whose errors are factors."""
    pelts = np.array([HARES, LYNXES])
    turn = 2 * np.pi / 10.0  # chains begin with cycles of ten years around the means, which is what a plot shows
    with pm.Model(coords={"animal": ["hare", "lynx"], "year": YEARS[1:]}) as model:
        births = pm.TruncatedNormal("births", 1.0, 0.5, lower=0.0, initval=turn)
        deaths = pm.TruncatedNormal("deaths", 1.0, 0.5, lower=0.0, initval=turn)
        losses = pm.TruncatedNormal("losses", 0.05, 0.05, lower=0.0, initval=turn / LYNXES.mean())
        gains = pm.TruncatedNormal("gains", 0.05, 0.05, lower=0.0, initval=turn / HARES.mean())
        start = pm.LogNormal("start", np.log(pelts[:, 0]), 0.3, dims="animal")
        spread = pm.LogNormal("spread", -1.0, 1.0, dims="animal")
        expected = logarithms(pm.math.log(start), pm.math.stack([births, losses, deaths, gains]))[:, 1:]
        pm.Deterministic("number", pm.math.exp(expected), dims=("animal", "year"))
        pm.LogNormal("pelts", expected, spread[:, None], observed=pelts[:, 1:], dims=("animal", "year"))
    return model


def counted() -> np.ndarray:
    return np.concatenate([HARES[1:], LYNXES[1:]])


DEMONSTRATION = Demonstration(
    title="Differential equations: hares and lynxes",
    build=build,
    parameters=("births", "losses", "deaths", "gains", "start", "spread"),
    forests=(Forest("number", "thousands", marks=counted, mark_label="pelts"),),
)
