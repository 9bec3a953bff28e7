"""Petals of 150 irises: a mixture of three normal distributions finds the species, which it is not told.

The measurements ship with scikit-learn.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
from pymc.distributions.transforms import ordered
from reporting import Demonstration, Forest
from sklearn.datasets import load_iris


def build() -> pm.Model:
    """Lengths of petals. Components are told apart by their order, and by rough guesses of where they are."""
    lengths = load_iris().data[:, 2]
    with pm.Model(coords={"component": ["first", "second", "third"]}) as model:
        weight = pm.Dirichlet("weight", np.full(3, 10.0), dims="component")
        centre = pm.Normal("centre", [2.0, 4.0, 6.0], 0.5, transform=ordered, dims="component")
        width = pm.LogNormal("width", -1.0, 0.4, dims="component")
        pm.NormalMixture("length", weight, centre, width, observed=lengths)
    return model


def species_means() -> np.ndarray:
    """What the mixture is to find: the mean length of each species."""
    iris = load_iris()
    return np.array([iris.data[iris.target == species, 2].mean() for species in range(3)])


def species_widths() -> np.ndarray:
    iris = load_iris()
    return np.array([iris.data[iris.target == species, 2].std() for species in range(3)])


DEMONSTRATION = Demonstration(
    title="Mixture: three species of iris",
    build=build,
    parameters=("weight", "centre", "width"),
    forests=(
        Forest("centre", "mean length of a petal (cm)", marks=species_means, mark_label="the species"),
        Forest("width", "standard deviation (cm)", marks=species_widths, mark_label="the species"),
    ),
)
