"""A zoo of PyMC models: what users write, each small, together every feature that the bridge is to take.

Each module has models of one kind. `MODELS` has all of them, by name.
"""

from tests.support.pymc_models import (
    distributions,
    gaussian_processes,
    hierarchical,
    indexing,
    mixtures,
    multivariate,
    named,
    recurrences,
    timeseries,
    transforms,
)
from tests.support.pymc_models.zoo import MODELS, ZooModel

__all__ = [
    "MODELS",
    "ZooModel",
    "distributions",
    "gaussian_processes",
    "hierarchical",
    "indexing",
    "mixtures",
    "multivariate",
    "named",
    "recurrences",
    "timeseries",
    "transforms",
]
