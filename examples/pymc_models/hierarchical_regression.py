"""Investment of eleven American firms over twenty years: each firm has coefficients of its own, drawn from common ones.

The data are Grunfeld's (1958), as they ship with statsmodels.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
from reporting import Demonstration, Forest
from statsmodels.datasets import grunfeld


def build() -> pm.Model:
    """A regression on a logarithmic scale. Intercepts and slopes are not centred: firms have few years each."""
    data = grunfeld.load_pandas().data
    firm, names = data["firm"].factorize()
    standardised = np.log(data[["invest", "value", "capital"]])
    standardised = (standardised - standardised.mean()) / standardised.std()
    with pm.Model(coords={"firm": list(names), "coefficient": ["intercept", "value", "capital"]}) as model:
        average = pm.Normal("average", 0.0, 1.0, dims="coefficient")
        spread = pm.HalfNormal("spread", 0.5, dims="coefficient")
        unit = pm.Normal("unit", dims=("firm", "coefficient"))
        coefficients = pm.Deterministic("coefficients", average + spread * unit, dims=("firm", "coefficient"))
        pm.Deterministic("effect of value", coefficients[:, 1], dims="firm")
        rows = np.column_stack([np.ones(len(data)), standardised[["value", "capital"]]])
        noise = pm.HalfNormal("noise", 1.0)
        mean = (coefficients[firm] * rows).sum(axis=1)
        pm.StudentT("log investment", nu=4.0, mu=mean, sigma=noise, observed=standardised["invest"])
    return model


DEMONSTRATION = Demonstration(
    title="Hierarchical regression: what firms invest",
    build=build,
    parameters=("average", "spread", "noise"),
    forests=(Forest("effect of value", "effect of a firm's value on its investment (standardised logarithms)"),),
)
