"""An epidemic of susceptible, infected and recovered people (SIR): daily cases, their likelihood and its gradient."""

from typing import Any

import numpy as np

from numbagraph import graph_jit, value_and_grad
from numbagraph.special import gammaln


def daily_cases(rates: Any, infected: Any, population: Any, days: int, substeps: int = 10) -> Any:
    """The new infections of each day, by Euler's method, where contacts are reduced from a day on.

    ``rates`` are those of transmission and recovery, and by which factor and from which day on contacts are reduced.
    """
    beta, gamma, reduction, day_of_change = rates
    s, i = population - infected, infected
    cases = np.zeros(days)
    h = 1.0 / substeps
    for day in range(days):
        new = 0.0
        for k in range(substeps):
            time = day + k * h
            # a smooth step, so that the likelihood has a derivative by its day
            contacts = beta * (1 - reduction / (1 + np.exp(-(time - day_of_change))))
            infections = h * contacts * s * i / population
            recoveries = h * gamma * i
            s, i = s - infections, i + infections - recoveries
            new += infections
        cases[day] = new
    return cases


def log_likelihood(rates: Any, infected: Any, population: Any, observed: Any) -> Any:
    """Of observed cases, by Poisson's distribution."""
    expected = daily_cases(rates, infected, population, observed.shape[0])
    return np.sum(observed * np.log(expected) - expected - gammaln(observed + 1.0))


cases = graph_jit(daily_cases, static_argnames=("days", "substeps"))
fit = graph_jit(value_and_grad(log_likelihood))
