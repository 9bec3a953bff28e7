"""Models of `pymc.dims`, whose arrays know the names of their dimensions."""

from __future__ import annotations

import warnings

import numpy as np
import pymc as pm

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # that this part of PyMC is an experiment
    import pymc.dims as pmd

from tests.support.pymc_models.zoo import zoo

rng = np.random.default_rng(31)
COORDINATES = {"group": ["a", "b", "c"], "row": range(6)}
GROUP = np.array([0, 1, 2, 0, 1, 2])
Y = rng.normal(size=6)


def along(dim: str, data: np.ndarray) -> pmd.XTensorVariable:
    return pmd.as_xtensor(data, dims=(dim,))


@zoo("named dimensions")
def groups_by_name() -> pm.Model:
    """Coefficients that are taken by the names of their dimensions"""
    with pm.Model(coords=COORDINATES) as model:
        mean = pmd.Normal("mean", 0, 1, dims="group")
        scale = pmd.HalfNormal("scale", 1)
        group = pmd.Data("group of rows", GROUP, dims="row")
        pmd.Normal("y", mean.isel(group=group), scale, observed=along("row", Y))
    return model


@zoo("named dimensions")
def sums_by_name() -> pm.Model:
    """Products and sums along named dimensions, a sum of zero, and a deterministic variable"""
    with pm.Model(coords=COORDINATES) as model:
        x = pmd.Data("x", np.linspace(-1.0, 1.0, 6), dims="row")
        slope = pmd.Normal("slope", 0, 1, dims="group")
        mean = pmd.Deterministic("mean", (x * slope).sum("group"))
        shift = pmd.ZeroSumNormal("shift", core_dims="group", dims="group")
        pmd.Normal("y", mean + (shift**2).sum("group"), pmd.HalfNormal("scale", 1), observed=along("row", Y))
    return model


@zoo("named dimensions")
def shares_by_name() -> pm.Model:
    """A Dirichlet distribution along a named dimension"""
    with pm.Model(coords=COORDINATES) as model:
        shares = pmd.Dirichlet("shares", along("group", np.full(3, 1.5)), core_dims="group")
        pmd.Categorical("seen", p=shares, core_dims="group", observed=along("row", GROUP))
    return model
