"""Sunspots since 1900: a Gaussian process that almost repeats itself, the length of its cycle, and a forecast.

The yearly numbers, which end in 2008, ship with statsmodels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from reporting import Demonstration, Forest
from statsmodels.datasets import sunspots

SHOWN = np.arange(1970, 2031)


def observed() -> tuple[np.ndarray, np.ndarray]:
    """Years, and square roots of the numbers, whose variation is about the same at maxima and minima."""
    data = sunspots.load_pandas().data
    data = data[data["YEAR"] >= 1900]
    return data["YEAR"].to_numpy(dtype=int), np.sqrt(data["SUNACTIVITY"].to_numpy())


def build() -> pm.Model:
    """The kernel is periodic, and forgets; the noise is that of single years."""
    year, roots = observed()
    x, new = year[:, None].astype(float), SHOWN[:, None].astype(float)
    with pm.Model(coords={"year": SHOWN}) as model:
        amplitude = pm.HalfNormal("amplitude", 5.0)
        cycle = pm.Normal("cycle", 11.0, 1.0)
        shape = pm.Gamma("shape", 4.0, 4.0)
        memory = pm.Gamma("memory", 4.0, 0.1)
        noise = pm.HalfNormal("noise", 2.0)
        repeated = pm.gp.cov.Periodic(1, period=cycle, ls=shape)
        kernel = amplitude**2 * repeated * pm.gp.cov.ExpQuad(1, ls=memory)
        process = pm.gp.Marginal(mean_func=pm.gp.mean.Constant(roots.mean()), cov_func=kernel)
        process.marginal_likelihood("roots", X=x, y=roots, sigma=noise)
        unit = pm.Normal("unit", dims="year")
        level = conditional(kernel, noise, (x, roots - roots.mean()), new, unit)
        pm.Deterministic("level", level + roots.mean(), dims="year")
    return model


def conditional(kernel: Any, noise: Any, data: tuple[np.ndarray, np.ndarray], new: np.ndarray, unit: Any) -> Any:
    """The process at new places, given data, made of independent normal numbers."""
    x, y = data
    factor = pt.linalg.cholesky(kernel(x) + noise**2 * np.eye(len(y)))
    across = pt.linalg.solve_triangular(factor, kernel(x, new), lower=True)
    mean = across.T @ pt.linalg.solve_triangular(factor, y, lower=True)
    covariance = kernel(new) - across.T @ across + 1e-6 * np.eye(len(new))
    return mean + pt.linalg.cholesky(covariance) @ unit


def marks() -> np.ndarray:
    """The observations of the years that are shown, as far as there are any."""
    year, roots = observed()
    known = dict(zip(year, roots, strict=True))
    return np.array([known.get(each, np.nan) for each in SHOWN])


DEMONSTRATION = Demonstration(
    title="Gaussian process: the cycle of sunspots",
    build=build,
    parameters=("cycle", "shape", "memory", "amplitude", "noise"),
    forests=(Forest("level", "square root of the number of sunspots", marks=marks, mark_label="observed"),),
)
