"""Transforms of free variables, each with its Jacobian."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions import transforms

from tests.support.pymc_models.zoo import add, zoo

TRANSFORMS = {
    "log": lambda: pm.Gamma("x", 2.0, 1.0, transform=transforms.log, shape=3),
    "log odds": lambda: pm.Beta("x", 2.0, 1.0, transform=transforms.logodds, shape=3),
    "interval": lambda: pm.Uniform("x", -1.0, 2.5, shape=3),
    "half interval": lambda: pm.Normal("x", transform=transforms.Interval(lower=-1.0, upper=None), shape=3),
    "upper interval": lambda: pm.Normal("x", transform=transforms.Interval(lower=None, upper=2.0), shape=3),
    "interval of variables": lambda: pm.Uniform("x", pm.Normal("low", -1.0), 4.0, shape=2),
    "ordered": lambda: pm.Normal("x", 0.0, 1.0, transform=transforms.ordered, shape=4, initval=np.arange(4.0)),
    "simplex": lambda: pm.Dirichlet("x", np.ones(4)),
    "sum to 1": lambda: pm.Dirichlet("x", np.ones(4), default_transform=transforms.sum_to_1),
    "log of expm1": lambda: pm.Gamma("x", 2.0, 1.0, transform=transforms.LogExpM1(), shape=3),
    "circular": lambda: pm.Normal("x", transform=transforms.CircularTransform(), shape=3),
    "zero sum": lambda: pm.ZeroSumNormal("x", 1.5, shape=(3, 4), n_zerosum_axes=2),
    "chain": lambda: pm.Gamma(
        "x", 2.0, 1.0, transform=transforms.Chain([transforms.log, transforms.Interval(lower=-9.0, upper=9.0)]), shape=3
    ),
    "none": lambda: pm.Gamma("x", 2.0, 1.0, default_transform=None, shape=3),
}


FAR = {
    "interval of variables": "the interval is empty, and the logarithms of its length cancel before they are NaN",
    "sum to 1": "PyTensor takes the derivative of 0 * log(x) for 0 where x is 0",
}


def transformed(make):
    def build() -> pm.Model:
        with pm.Model() as model:
            pm.Normal("y", pt.sum(make() ** 2), 1.0, observed=[0.5, 1.0])
        return model

    return build


for each, make_it in TRANSFORMS.items():
    add(f"transform: {each}", "transform", transformed(make_it), f"the transform {each}", far=FAR.get(each, ""))


@zoo("transform")
def flat_variables() -> pm.Model:
    """Improper priors"""
    with pm.Model() as model:
        x, s = pm.Flat("x"), pm.HalfFlat("s")
        pm.Normal("y", x, s, observed=[0.5, 1.0, -0.3])
    return model
