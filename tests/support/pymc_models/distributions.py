"""One model for each univariate distribution: as a prior, as a likelihood, and with priors of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm

from tests.support.pymc_models.zoo import add


def real(name: str) -> Any:
    return pm.Normal(name, 0.5, 1.0)


def positive(name: str) -> Any:
    return pm.Gamma(name, 3.0, 2.0)


def unit(name: str) -> Any:
    return pm.Beta(name, 2.0, 3.0)


REALS, POSITIVES, UNITS = [-1.5, 0.2, 0.7, 3.0], [0.1, 0.5, 1.5, 4.0], [0.05, 0.3, 0.6, 0.95]
COUNTS, BITS = [0, 1, 3, 7], [0, 1, 1, 0]

Parameters = dict[str, Any]

CONTINUOUS: dict[str, tuple[Parameters, list[float]]] = {
    "AsymmetricLaplace": ({"kappa": positive, "mu": real, "b": positive}, REALS),
    "Beta": ({"alpha": positive, "beta": positive}, UNITS),
    "Cauchy": ({"alpha": real, "beta": positive}, REALS),
    "ChiSquared": ({"nu": positive}, POSITIVES),
    "ExGaussian": ({"mu": real, "sigma": positive, "nu": positive}, REALS),
    "Exponential": ({"lam": positive}, POSITIVES),
    "Gamma": ({"alpha": positive, "beta": positive}, POSITIVES),
    "Gumbel": ({"mu": real, "beta": positive}, REALS),
    "HalfCauchy": ({"beta": positive}, POSITIVES),
    "HalfNormal": ({"sigma": positive}, POSITIVES),
    "HalfStudentT": ({"nu": positive, "sigma": positive}, POSITIVES),
    "InverseGamma": ({"alpha": positive, "beta": positive}, POSITIVES),
    "Kumaraswamy": ({"a": positive, "b": positive}, UNITS),
    "Laplace": ({"mu": real, "b": positive}, REALS),
    "Logistic": ({"mu": real, "s": positive}, REALS),
    "LogitNormal": ({"mu": real, "sigma": positive}, UNITS),
    "LogNormal": ({"mu": real, "sigma": positive}, POSITIVES),
    "Moyal": ({"mu": real, "sigma": positive}, REALS),
    "Normal": ({"mu": real, "sigma": positive}, REALS),
    "Pareto": ({"alpha": positive, "m": 0.05}, POSITIVES),
    "Rice": ({"nu": positive, "sigma": positive}, POSITIVES),
    "SkewNormal": ({"mu": real, "sigma": positive, "alpha": real}, REALS),
    "SkewStudentT": ({"a": positive, "b": positive, "mu": real, "sigma": positive}, REALS),
    "StudentT": ({"nu": positive, "mu": real, "sigma": positive}, REALS),
    "Triangular": ({"lower": -2.0, "c": real, "upper": 5.0}, REALS),
    "TruncatedNormal": ({"mu": real, "sigma": positive, "lower": -2.0, "upper": 4.0}, REALS),
    "Uniform": ({"lower": -2.0, "upper": 4.0}, REALS),
    "VonMises": ({"mu": real, "kappa": positive}, REALS),
    "Wald": ({"mu": positive, "lam": positive}, POSITIVES),
    "Weibull": ({"alpha": positive, "beta": positive}, POSITIVES),
}

DISCRETE: dict[str, tuple[Parameters, list[int]]] = {
    "Bernoulli": ({"p": unit}, BITS),
    "BetaBinomial": ({"n": 9, "alpha": positive, "beta": positive}, COUNTS),
    "Binomial": ({"n": 9, "p": unit}, COUNTS),
    "DiscreteUniform": ({"lower": 0, "upper": 9}, COUNTS),
    "DiscreteWeibull": ({"q": unit, "beta": positive}, COUNTS),
    "Geometric": ({"p": unit}, [1, 2, 3, 7]),
    "HyperGeometric": ({"N": 20, "k": 12, "n": 9}, [1, 3, 7, 5]),
    "NegativeBinomial": ({"mu": positive, "alpha": positive}, COUNTS),
    "Poisson": ({"mu": positive}, COUNTS),
    "ZeroInflatedBinomial": ({"psi": unit, "n": 9, "p": unit}, COUNTS),
    "ZeroInflatedNegativeBinomial": ({"psi": unit, "mu": positive, "alpha": positive}, COUNTS),
    "ZeroInflatedPoisson": ({"psi": unit, "mu": positive}, COUNTS),
    "HurdlePoisson": ({"psi": unit, "mu": positive}, COUNTS),
    "HurdleGamma": ({"psi": unit, "alpha": positive, "beta": positive}, [0.0, 0.5, 2.0]),
    "HurdleNegativeBinomial": ({"psi": unit, "mu": positive, "alpha": positive}, COUNTS),
    "HurdleLogNormal": ({"psi": unit, "mu": real, "sigma": positive}, [0.0, 0.5, 2.0]),
    "OrderedLogistic": ({"eta": real, "cutpoints": [-1.0, 0.5, 2.0]}, [0, 1, 3, 2]),
    "OrderedProbit": ({"eta": real, "cutpoints": [-1.0, 0.5, 2.0]}, [0, 1, 3, 2]),
    "Categorical": ({"p": [0.2, 0.5, 0.3]}, [0, 1, 2, 1]),
}

NO_PRIOR = ("HurdleGamma", "HurdleLogNormal", "SkewStudentT")
"""Where a free variable would not do."""


FAR = {"SkewStudentT": "probabilities round to 1, and PyTensor's two ways to compute the gradient disagree"}


def filled(parameters: Parameters) -> Parameters:
    return {name: each(name) if callable(each) else each for name, each in parameters.items()}


def likelihood(name: str, parameters: Parameters, data: list[Any]) -> Callable[[], pm.Model]:
    def build() -> pm.Model:
        with pm.Model() as model:
            given = filled(parameters)
            distribution = getattr(pm, name)
            if name in CONTINUOUS and name not in NO_PRIOR:
                distribution("x", **given, shape=2)
            distribution("y", **given, observed=np.array(data))
            if not model.free_RVs:
                pm.Normal("free")
        return model

    return build


for each, (given, observed) in {**CONTINUOUS, **DISCRETE}.items():
    kind = "continuous" if each in CONTINUOUS else "discrete"
    build_it = likelihood(each, given, observed)
    add(each, kind, build_it, f"`pm.{each}`, and priors of its parameters", far=FAR.get(each, ""))


def out_of_support() -> None:
    """Data outside the support: the log-density is minus infinity."""
    for name, parameters, data in (
        ("Gamma", {"alpha": positive, "beta": positive}, [0.5, -1.0]),
        ("Uniform", {"lower": real, "upper": 9.0}, [0.5, 10.0]),
        ("Binomial", {"n": 4, "p": unit}, [3, 5]),
        ("Poisson", {"mu": positive}, [2, -1]),
    ):
        text = f"`pm.{name}` with data outside its support"
        add(f"{name} outside", "edge", likelihood(name, parameters, data), text)


out_of_support()


def at_the_edges() -> None:
    """Data at the ends of the support, where log-densities are finite or infinite."""
    for name, parameters, data in (
        ("Uniform", {"lower": -1.0, "upper": 2.0}, [-1.0, 2.0]),
        ("Exponential", {"lam": positive}, [0.0, 1.0]),
        ("Gamma", {"alpha": positive, "beta": positive}, [0.0, 0.5]),
        ("Weibull", {"alpha": positive, "beta": positive}, [0.0, 0.5]),
        ("Beta", {"alpha": positive, "beta": positive}, [0.0, 1.0]),
        ("TruncatedNormal", {"mu": real, "sigma": positive, "lower": -2.0, "upper": 4.0}, [-2.0, 4.0]),
        ("Triangular", {"lower": -2.0, "c": real, "upper": 5.0}, [-2.0, 5.0]),
        ("Pareto", {"alpha": positive, "m": 0.5}, [0.5, 0.5]),
        ("Binomial", {"n": 4, "p": unit}, [0, 4]),
        ("DiscreteUniform", {"lower": 0, "upper": 9}, [0, 9]),
        ("Categorical", {"p": [0.0, 0.6, 0.4]}, [0, 2]),
        ("Bernoulli", {"p": 1.0}, [1, 1]),
        ("Normal", {"mu": real, "sigma": positive}, [np.inf, 0.5]),
        ("Poisson", {"mu": 0.0}, [0, 1]),
    ):
        text = f"`pm.{name}` with data at the edges of its support"
        add(f"{name} at the edges", "edge", likelihood(name, parameters, data), text)


at_the_edges()


def untransformed() -> pm.Model:
    """Priors whose variables may leave their support."""
    with pm.Model() as model:
        pm.Gamma("gamma", 2.0, 1.0, default_transform=None)
        pm.Beta("beta", 2.0, 3.0, default_transform=None, shape=2)
        pm.Uniform("uniform", -3.0, 3.0, default_transform=None)
        pm.HalfNormal("half", 1.0, default_transform=None)
    return model


add("untransformed", "edge", untransformed, "priors without transforms, inside and outside of their support")


def discrete_variables() -> pm.Model:
    with pm.Model() as model:
        count = pm.Poisson("count", 3.0)
        pm.Binomial("hits", count + 5, 0.3, shape=2)
        pm.Normal("y", count, 1.0, observed=REALS)
    return model


add("discrete free variables", "discrete", discrete_variables, "free variables without a gradient")
