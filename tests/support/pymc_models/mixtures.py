"""Mixtures, and censored, truncated and rounded data."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from tests.support.pymc_models.zoo import SINGULAR, zoo

rng = np.random.default_rng(21)
Y = np.concatenate([rng.normal(-2.0, 0.5, 12), rng.normal(1.0, 1.0, 18)])
COUNT = np.concatenate([rng.poisson(1.0, 10), rng.poisson(8.0, 10)])


@zoo("mixture")
def normal_mixture() -> pm.Model:
    """Three normal components"""
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(3))
        mu = pm.Normal("mu", [-2.0, 0.0, 2.0], 2.0)
        pm.NormalMixture("y", w, mu, pm.HalfNormal("sigma", shape=3), observed=Y)
    return model


@zoo("mixture")
def mixture_of_kinds() -> pm.Model:
    """A normal and a Student t component"""
    with pm.Model() as model:
        w = pm.Dirichlet("w", [2.0, 1.0])
        parts = [pm.Normal.dist(pm.Normal("mu"), 1.0), pm.StudentT.dist(nu=3.0, mu=0.0, sigma=2.0)]
        pm.Mixture("y", w, parts, observed=Y)
    return model


@zoo("mixture")
def poisson_mixture() -> pm.Model:
    """Two Poisson components"""
    with pm.Model() as model:
        rate = pm.Gamma("rate", 2.0, [1.0, 0.3])
        w = pm.Beta("w", 1.0, 1.0)
        weights = pt.stack([w, 1 - w])
        pm.Mixture("y", weights, pm.Poisson.dist(rate), observed=COUNT)
    return model


@zoo("mixture")
def marginalised_by_hand() -> pm.Model:
    """A change point, summed over with logsumexp"""
    with pm.Model() as model:
        early, late = pm.Exponential("early", 1.0), pm.Exponential("late", 1.0)
        time = np.arange(COUNT.size)
        terms = [
            pm.logp(pm.Poisson.dist(pt.switch(time < point, early, late)), COUNT).sum() for point in range(1, 19, 3)
        ]
        pm.Potential("change", pm.math.logsumexp(pt.stack(terms)))
    return model


@zoo("mixture")
def stick_breaking() -> pm.Model:
    """Weights of a truncated Dirichlet process"""
    with pm.Model() as model:
        alpha = pm.Gamma("alpha", 1.0, 1.0)
        beta = pm.Beta("beta", 1.0, alpha, shape=5)
        remaining = pt.concatenate([[1.0], pt.extra_ops.cumprod(1 - beta)[:-1]])
        w = pm.Deterministic("w", beta * remaining)
        mu = pm.Normal("mu", 0.0, 3.0, shape=5)
        pm.NormalMixture("y", w / w.sum(), mu, 1.0, observed=Y)
    return model


@zoo("censored")
def censored_normal() -> pm.Model:
    """Values below and above limits are known to be there only"""
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu"), pm.HalfNormal("sigma")
        pm.Censored("y", pm.Normal.dist(mu, sigma), lower=-2.0, upper=1.5, observed=np.clip(Y, -2.0, 1.5))
    return model


@zoo("censored")
def censored_weibull() -> pm.Model:
    """Survival times, some of them not over"""
    with pm.Model() as model:
        alpha, beta = pm.Gamma("alpha", 2.0, 1.0), pm.Gamma("beta", 2.0, 1.0)
        times = np.minimum(np.abs(Y) + 0.1, 2.0)
        pm.Censored("y", pm.Weibull.dist(alpha, beta), lower=None, upper=2.0, observed=times)
    return model


@zoo("censored")
def truncated_normal_by_hand() -> pm.Model:
    """A distribution truncated by `pm.Truncated`"""
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu"), pm.HalfNormal("sigma")
        pm.Truncated("y", pm.Normal.dist(mu, sigma), lower=-3.0, upper=3.0, observed=np.clip(Y, -2.9, 2.9))
    return model


@zoo("censored")
def truncated_far_away() -> pm.Model:
    """All of the distribution lies where it may, a hundred standard deviations from the bound"""
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 100.0, 10.0, initval=100.0), pm.HalfNormal("sigma", 2.0)
        pm.TruncatedNormal("y", mu, sigma, lower=0.0, observed=[97.0, 101.0, 103.0])
        pm.Censored("z", pm.Normal.dist(mu, 1.0), None, 200.0, observed=[99.0, 200.0])
    return model


@zoo("censored")
def truncated_exponential() -> pm.Model:
    """Another one"""
    with pm.Model() as model:
        rate = pm.Gamma("rate", 2.0, 1.0)
        pm.Truncated("y", pm.Exponential.dist(rate), upper=4.0, observed=np.abs(Y))
    return model


@zoo("censored", far="PyTensor's loops need minutes in Python")
def censored_by_incomplete_functions() -> pm.Model:
    """Distribution functions of gamma and beta variables with free parameters"""
    times, shares = np.array([0.5, 2.0, 1.1]), np.array([0.2, 0.4, 0.7])
    with pm.Model() as model:
        alpha, beta = pm.Gamma("alpha", 3.0, 1.0), pm.Gamma("beta", 3.0, 1.0)
        pm.Censored("time", pm.Gamma.dist(alpha, beta), lower=None, upper=2.0, observed=times)
        pm.Censored("share", pm.Beta.dist(alpha, beta), lower=0.2, upper=0.7, observed=shares)
    return model


@zoo("censored")
def truncated_counts() -> pm.Model:
    """Counts of which zeros were not recorded"""
    with pm.Model() as model:
        mu, alpha = pm.Gamma("mu", 3.0, 1.0), pm.Gamma("alpha", 3.0, 1.0)
        pm.Truncated("y", pm.NegativeBinomial.dist(mu=mu, alpha=alpha), lower=1, observed=COUNT[COUNT > 0])
        pm.Truncated("z", pm.Poisson.dist(mu), lower=1, upper=30, observed=COUNT[COUNT > 0])
    return model


@zoo("censored")
def rounded() -> pm.Model:
    """Values that were rounded to integers"""

    def dist(mu, sigma, size):
        return pt.round(pm.Normal.dist(mu, sigma, size=size))

    with pm.Model() as model:
        mu, sigma = pm.Normal("mu"), pm.HalfNormal("sigma")
        pm.CustomDist("y", mu, sigma, dist=dist, observed=np.round(Y))
    return model


@zoo("multivariate")
def dirichlet_multinomial() -> pm.Model:
    """Counts of several categories"""
    with pm.Model() as model:
        a = pm.Gamma("a", 2.0, 1.0, shape=3)
        pm.DirichletMultinomial("y", 10, a, observed=[[3, 5, 2], [1, 9, 0]])
    return model


@zoo("multivariate")
def multinomial() -> pm.Model:
    """Counts of several categories with free probabilities"""
    with pm.Model() as model:
        p = pm.Dirichlet("p", [1.0, 2.0, 3.0])
        pm.Multinomial("y", 10, p, observed=[[3, 5, 2], [1, 9, 0]])
    return model


@zoo("multivariate")
def several_simplexes() -> pm.Model:
    """A Dirichlet with a batch dimension"""
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.ones((2, 3)))
        pm.Multinomial("y", [10, 10], p, observed=[[3, 5, 2], [1, 9, 0]])
    return model


@zoo("multivariate")
def multivariate_normal() -> pm.Model:
    """A normal vector with a known covariance"""
    with pm.Model() as model:
        pm.MvNormal("x", np.zeros(3), np.eye(3) + 0.3)
    return model


@zoo("multivariate", far=SINGULAR)
def correlated_effects() -> pm.Model:
    """A normal vector with a free correlation matrix"""
    with pm.Model() as model:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0))
        pm.MvNormal("x", np.zeros(2), chol=chol, shape=(4, 2))
    return model


@zoo("multivariate")
def correlations() -> pm.Model:
    """The Cholesky factor of a correlation matrix by itself"""
    with pm.Model() as model:
        chol, corr, stds = pm.LKJCholeskyCov("chol", n=3, eta=2.0, sd_dist=pm.Exponential.dist(1.0))
        pm.Normal("y", stds.sum() + corr[0, 1] + chol[2, 1], 1.0, observed=Y)
    return model
