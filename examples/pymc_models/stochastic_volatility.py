"""Growth of the American economy, 1959 to 2009: how much it varies, as a random walk. It calms down in 1984.

Quarterly gross domestic product ships with statsmodels.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
from reporting import Demonstration, Forest
from statsmodels.datasets import macrodata


def growth() -> tuple[list[str], np.ndarray]:
    """The quarters, and the growth in each of them, in percent."""
    data = macrodata.load_pandas().data
    quarters = [f"{year:.0f} Q{quarter:.0f}" for year, quarter in zip(data["year"], data["quarter"], strict=True)]
    return quarters[1:], 100.0 * np.diff(np.log(data["realgdp"].to_numpy()))


def build() -> pm.Model:
    """The logarithm of the scale is a random walk, not centred; single quarters may lie far outside."""
    quarters, rates = growth()
    with pm.Model(coords={"quarter": quarters}) as model:
        mean = pm.Normal("mean", 0.8, 0.5)
        step = pm.LogNormal("step", -2.0, 0.5)
        begin = pm.Normal("begin", 0.0, 0.5)
        steps = pm.Normal("steps", dims="quarter")
        log_scale = begin + step * steps.cumsum()
        volatility = pm.Deterministic("volatility", pm.math.exp(log_scale), dims="quarter")
        pm.StudentT("growth", nu=8.0, mu=mean, sigma=volatility, observed=rates)
    return model


DEMONSTRATION = Demonstration(
    title="Stochastic volatility: the economy calms down",
    build=build,
    parameters=("mean", "step", "begin"),
    forests=(Forest("volatility", "scale of quarterly growth (%)"),),
    target_accept=0.95,
)
