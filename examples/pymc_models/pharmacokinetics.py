"""Theophylline in the blood of twelve people: how fast each takes it up and gets rid of it.

The measurements are those of Boeckmann, Sheiner and Beal, "NONMEM Users Guide" (1994), which ship with R as `Theoph`.
The drug goes from the gut to the blood and out of it: `solve_ivp` solves these equations for a person, `vmap` makes
one function for all of them, each with times of its own, and `to_pytensor` makes that a part of the model.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
from reporting import Demonstration, Forest
from scipy.integrate import solve_ivp

import numbagraph as ng
from numbagraph.pymc_bridge import to_pytensor

DOSES = np.array([4.02, 4.4, 4.53, 4.4, 5.86, 4.0, 4.95, 4.53, 3.1, 5.5, 4.92, 5.3])
"""Milligrams for each kilogram of the person."""
TIMES = np.array(
    [
        [0.25, 0.57, 1.12, 2.02, 3.82, 5.1, 7.03, 9.05, 12.12, 24.37],
        [0.27, 0.52, 1.0, 1.92, 3.5, 5.02, 7.03, 9.0, 12.0, 24.3],
        [0.27, 0.58, 1.02, 2.02, 3.62, 5.08, 7.07, 9.0, 12.15, 24.17],
        [0.35, 0.6, 1.07, 2.13, 3.5, 5.02, 7.02, 9.02, 11.98, 24.65],
        [0.3, 0.52, 1.0, 2.02, 3.5, 5.02, 7.02, 9.1, 12.0, 24.35],
        [0.27, 0.58, 1.15, 2.03, 3.57, 5.0, 7.0, 9.22, 12.1, 23.85],
        [0.25, 0.5, 1.02, 2.02, 3.48, 5.0, 6.98, 9.0, 12.05, 24.22],
        [0.25, 0.52, 0.98, 2.02, 3.53, 5.05, 7.15, 9.07, 12.1, 24.12],
        [0.3, 0.63, 1.05, 2.02, 3.53, 5.02, 7.17, 8.8, 11.6, 24.43],
        [0.37, 0.77, 1.02, 2.05, 3.55, 5.05, 7.08, 9.38, 12.1, 23.7],
        [0.25, 0.5, 0.98, 1.98, 3.6, 5.02, 7.03, 9.03, 12.12, 24.08],
        [0.25, 0.5, 1.0, 2.0, 3.52, 5.07, 7.07, 9.03, 12.05, 24.15],
    ]
)
"""Hours after the dose, a row for each person."""
CONCENTRATIONS = np.array(
    [
        [2.84, 6.57, 10.5, 9.66, 8.58, 8.36, 7.47, 6.89, 5.94, 3.28],
        [1.72, 7.91, 8.31, 8.33, 6.85, 6.08, 5.4, 4.55, 3.01, 0.9],
        [4.4, 6.9, 8.2, 7.8, 7.5, 6.2, 5.3, 4.9, 3.7, 1.05],
        [1.89, 4.6, 8.6, 8.38, 7.54, 6.88, 5.78, 5.33, 4.19, 1.15],
        [2.02, 5.63, 11.4, 9.33, 8.74, 7.56, 7.09, 5.9, 4.37, 1.57],
        [1.29, 3.08, 6.44, 6.32, 5.53, 4.94, 4.02, 3.46, 2.78, 0.92],
        [0.85, 2.35, 5.02, 6.58, 7.09, 6.66, 5.25, 4.39, 3.53, 1.15],
        [3.05, 3.05, 7.31, 7.56, 6.59, 5.88, 4.73, 4.57, 3.0, 1.25],
        [7.37, 9.03, 7.14, 6.33, 5.66, 5.67, 4.24, 4.11, 3.16, 1.12],
        [2.89, 5.22, 6.41, 7.83, 10.21, 9.18, 8.02, 7.14, 5.68, 2.42],
        [4.86, 7.24, 8.0, 6.81, 5.87, 5.22, 4.45, 3.62, 2.69, 0.86],
        [1.25, 3.96, 7.82, 9.72, 9.75, 8.57, 6.59, 6.11, 4.57, 1.17],
    ]
)
"""Milligrams for each litre of blood."""
EXPECTED = np.log([1.5, 0.04, 0.5])
"""Logarithms of the uptake an hour, and of the clearance and the volume in litres for each kilogram."""


def slopes(t, y, uptake, clearance, volume):
    gut, blood = y
    return np.array([-uptake * gut, (uptake * gut - clearance * blood) / volume])


def of_a_person(times, dose, uptake, clearance, volume):
    start = np.array([dose, 0.0])
    rates = (uptake, clearance, volume)
    return solve_ivp(slopes, (0.0, 25.0), start, t_eval=times, args=rates, rtol=1e-6, atol=1e-8).y[1]


concentrations = to_pytensor(ng.vmap(of_a_person))


def build() -> pm.Model:
    """Rates of people that are alike. The data tell much of each, so that these are centred on the population's."""
    coords = {"person": np.arange(1, 13), "rate": ["uptake", "clearance", "volume"], "sample": np.arange(10)}
    with pm.Model(coords=coords) as model:
        typical = pm.Normal("typical", EXPECTED, 0.5, dims="rate")
        variation = pm.HalfNormal("variation", 0.5, dims="rate")
        own = pm.Normal("own", typical, variation, dims=("person", "rate"))
        possible = pm.math.clip(own, EXPECTED - 3.0, EXPECTED + 3.0)  # faster ones would take thousands of steps
        rates = pm.Deterministic("rates", pm.math.exp(possible), dims=("person", "rate"))
        pm.Deterministic("half_life", np.log(2.0) * rates[:, 2] / rates[:, 1], dims="person")
        there = concentrations(TIMES, DOSES, rates[:, 0], rates[:, 1], rates[:, 2])
        error = pm.HalfNormal("error", 1.0)
        pm.Normal("concentration", there, error, observed=CONCENTRATIONS, dims=("person", "sample"))
    return model


def by_last_samples() -> np.ndarray:
    """Half-lives by the logarithms of the last three concentrations, without a model."""
    fits = (np.polyfit(times[-3:], np.log(seen[-3:]), 1)[0] for times, seen in zip(TIMES, CONCENTRATIONS, strict=True))
    return -np.log(2.0) / np.array(list(fits))


DEMONSTRATION = Demonstration(
    title="Differential equations: theophylline in twelve people",
    build=build,
    parameters=("typical", "variation", "error"),
    forests=(Forest("half_life", "half-life (hours)", marks=by_last_samples, mark_label="by the last three samples"),),
)
