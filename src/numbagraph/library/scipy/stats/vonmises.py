"""The distribution function of von Mises' distribution, which is continued beyond each turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.tracing.tracer import apply

TURN = 2.0 * np.pi


def von_mises_cdf(x: Any, kappa: Any) -> Any:
    turns = np.round(x / TURN)
    found = apply(registry["von_mises_cdf"], kappa, x - turns * TURN)
    return turns + differentiated(np.clip(found, 0.0, 1.0), found)


def von_mises_sf(x: Any, kappa: Any) -> Any:
    return von_mises_cdf(-x, kappa)
