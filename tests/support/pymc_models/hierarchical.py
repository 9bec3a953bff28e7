"""Regressions, and models with groups."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor import sparse
from scipy.sparse import csr_matrix

from tests.support.pymc_models.zoo import zoo

rng = np.random.default_rng(20)
ROWS, GROUPS = 40, 5
GROUP = rng.integers(0, GROUPS, ROWS)
OTHER = rng.integers(0, 3, ROWS)
X = rng.normal(size=(ROWS, 3))
Y = X @ [1.0, -0.5, 0.2] + rng.normal(size=ROWS)
SUCCESS = (Y > 0).astype(int)
COUNT = rng.poisson(3.0, ROWS)


@zoo("regression")
def eight_schools() -> pm.Model:
    """Treatment effects in eight schools, not centred"""
    y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    with pm.Model(coords={"school": range(8)}) as model:
        mu = pm.Normal("mu", 0.0, 5.0)
        tau = pm.HalfCauchy("tau", 5.0)
        eta = pm.Normal("eta", dims="school")
        theta = pm.Deterministic("theta", mu + tau * eta, dims="school")
        pm.Normal("y", theta, sigma, observed=y, dims="school")
    return model


@zoo("regression")
def linear_regression() -> pm.Model:
    """A matrix product and a normal likelihood"""
    with pm.Model() as model:
        intercept = pm.Normal("intercept", 0.0, 10.0)
        beta = pm.Normal("beta", 0.0, 2.0, shape=3)
        sigma = pm.HalfNormal("sigma", 2.0)
        pm.Normal("y", intercept + X @ beta, sigma, observed=Y)
    return model


@zoo("regression")
def design_that_is_mostly_zero() -> pm.Model:
    """The same with a sparse matrix"""
    design = csr_matrix(np.where(np.abs(X) > 1.0, X, 0.0))
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 2.0, shape=(3, 1))
        pm.Normal("y", sparse.dot(design, beta)[:, 0], pm.HalfNormal("sigma"), observed=Y)
    return model


@zoo("regression")
def robust_regression() -> pm.Model:
    """A Student t likelihood with free degrees of freedom"""
    with pm.Model() as model:
        beta = pm.Laplace("beta", 0.0, 1.0, shape=3)
        nu = pm.Exponential("nu", 1 / 30) + 1
        pm.StudentT("y", nu=nu, mu=pm.math.dot(X, beta), sigma=pm.HalfNormal("sigma"), observed=Y)
    return model


@zoo("regression")
def nobody_at_risk() -> pm.Model:
    """Counts without exposure, for which the rate is 0, and impossible categories"""
    exposure = np.array([0.0, 2.0, 1.0, 3.0])
    with pm.Model() as model:
        rate = pm.Gamma("rate", 2.0, 1.0, shape=2)
        pm.Poisson("deaths", exposure * rate[[0, 0, 1, 1]], observed=[0, 1, 0, 2])
        share = pm.Beta("share", 2.0, 2.0)
        pm.Binomial("n", n=5, p=np.array([0.0, 1.0]) * share, observed=[0, 3])
    return model


@zoo("regression")
def branches_without_a_derivative() -> pm.Model:
    """Switches whose other branch is infinite, or has no derivative"""
    divisor = np.array([0.0, 1.0, 2.0])
    with pm.Model() as model:
        x = pm.Normal("x", shape=3)
        pm.Potential("root", pt.sum(pt.switch(x > 0, pt.sqrt(x), x) + pt.switch(x > 0, x, pt.log(-x))))
        pm.Potential("ratio", pt.sum(pt.switch(divisor > 0, pt.exp(x) / divisor, 0)))
    return model


@zoo("regression")
def logistic_regression() -> pm.Model:
    """Bernoulli by its logit"""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 2.0, shape=3)
        pm.Bernoulli("y", logit_p=X @ beta, observed=SUCCESS)
    return model


@zoo("regression")
def probit_regression() -> pm.Model:
    """Bernoulli with a normal distribution function"""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 1.0, shape=3)
        pm.Bernoulli("y", p=pm.math.invprobit(X @ beta), observed=SUCCESS)
    return model


@zoo("regression")
def softmax_regression() -> pm.Model:
    """Categorical with probabilities from a softmax, row by row"""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 1.0, shape=(3, 3))
        pm.Categorical("y", p=pm.math.softmax(X @ beta, axis=1), observed=OTHER)
    return model


@zoo("regression")
def categorical_by_logits() -> pm.Model:
    """Categorical by its logits"""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 1.0, shape=(3, 3))
        pm.Categorical("y", logit_p=X @ beta, observed=OTHER)
    return model


@zoo("regression")
def poisson_regression() -> pm.Model:
    """Counts with an exposure"""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 1.0, shape=3)
        pm.Poisson("y", pm.math.exp(X @ beta + np.log(2.0)), observed=COUNT)
    return model


@zoo("regression")
def negative_binomial_regression() -> pm.Model:
    """Counts that vary more than a Poisson's"""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 1.0, shape=3)
        alpha = pm.Exponential("alpha", 1.0)
        pm.NegativeBinomial("y", pm.math.exp(X @ beta), alpha, observed=COUNT)
    return model


@zoo("regression")
def horseshoe() -> pm.Model:
    """Shrinkage of many coefficients"""
    with pm.Model() as model:
        tau = pm.HalfCauchy("tau", 0.1)
        lam = pm.HalfCauchy("lam", 1.0, shape=3)
        slab = pm.InverseGamma("slab", 2.0, 2.0)
        shrunk = lam * pt.sqrt(slab / (slab + tau**2 * lam**2))
        z = pm.Normal("z", shape=3)
        pm.Normal("y", X @ (z * tau * shrunk), 1.0, observed=Y)
    return model


@zoo("groups")
def varying_intercepts() -> pm.Model:
    """One intercept a group, read by an index"""
    with pm.Model(coords={"group": range(GROUPS)}) as model:
        index = pm.Data("index", GROUP)
        mu, sigma = pm.Normal("mu"), pm.HalfNormal("sigma")
        alpha = pm.Normal("alpha", mu, sigma, dims="group")
        pm.Normal("y", alpha[index], pm.Exponential("noise", 1.0), observed=Y)
    return model


@zoo("groups")
def radon() -> pm.Model:
    """Intercepts and slopes by county, not centred"""
    with pm.Model(coords={"county": range(GROUPS)}) as model:
        scales = pm.HalfNormal("scales", 1.0, shape=2)
        za, zb = pm.Normal("za", dims="county"), pm.Normal("zb", dims="county")
        a, b = pm.Normal("a0") + scales[0] * za, pm.Normal("b0") + scales[1] * zb
        pm.Normal("y", a[GROUP] + b[GROUP] * X[:, 0], pm.Exponential("sd", 1.0), observed=Y)
    return model


@zoo("groups")
def crossed_effects() -> pm.Model:
    """Two groupings at a time, and a coefficient of two dimensions"""
    with pm.Model(coords={"group": range(GROUPS), "other": range(3)}) as model:
        effect = pm.Normal("effect", dims=("group", "other"))
        by_group = pm.ZeroSumNormal("by_group", 1.0, dims="group")
        pm.Normal("y", effect[GROUP, OTHER] + by_group[GROUP], 1.0, observed=Y)
    return model


@zoo("groups")
def varying_scale() -> pm.Model:
    """A scale for each group"""
    with pm.Model() as model:
        mu = pm.Normal("mu", shape=GROUPS)
        sigma = pm.LogNormal("sigma", 0.0, 0.5, shape=GROUPS)
        pm.Normal("y", mu[GROUP], sigma[GROUP], observed=Y)
    return model


@zoo("groups")
def item_response() -> pm.Model:
    """Ability, difficulty and discrimination, two parameters an item"""
    with pm.Model(coords={"person": range(GROUPS), "item": range(3)}) as model:
        ability = pm.Normal("ability", dims="person")
        difficulty = pm.Normal("difficulty", dims="item")
        slope = pm.LogNormal("slope", 0.0, 0.5, dims="item")
        eta = slope[None, :] * (ability[:, None] - difficulty[None, :])
        pm.Bernoulli("y", logit_p=eta, observed=SUCCESS[:15].reshape(5, 3))
    return model


@zoo("groups")
def minus_infinity_by_a_potential() -> pm.Model:
    """A constraint: a potential that is minus infinity elsewhere"""
    with pm.Model() as model:
        mu = pm.Normal("mu", shape=3)
        pm.Potential("ordered", pt.switch(mu[1] > mu[0] - 1.0, 0.0, -np.inf))
        pm.Normal("y", mu[OTHER], 1.0, observed=Y)
    return model


@zoo("groups")
def missing_values() -> pm.Model:
    """Data with gaps, which become free variables"""
    observed = np.ma.masked_invalid(np.where(np.arange(ROWS) % 9 == 4, np.nan, Y))
    with pm.Model() as model:
        mu = pm.Normal("mu")
        pm.Normal("y", mu, pm.HalfNormal("sigma"), observed=observed)
    return model


@zoo("groups")
def custom_distribution() -> pm.Model:
    """A log-density written by hand"""

    def logp(value, rate, limit):
        return pt.switch(value < limit, pt.log(rate) - rate * value, pt.log(rate) - rate * limit)

    with pm.Model() as model:
        rate = pm.Gamma("rate", 2.0, 1.0)
        pm.CustomDist("y", rate, 2.5, logp=logp, observed=np.abs(Y))
    return model


@zoo("groups")
def custom_distribution_of_others() -> pm.Model:
    """A distribution derived from a function of others"""

    def dist(mu, sigma, size):
        return pm.math.exp(pm.Normal.dist(mu, sigma, size=size)) + 1.0

    with pm.Model() as model:
        mu, sigma = pm.Normal("mu"), pm.HalfNormal("sigma")
        pm.CustomDist("y", mu, sigma, dist=dist, observed=np.abs(Y) + 1.1)
    return model


@zoo("groups")
def part_of_the_data() -> pm.Model:
    """A likelihood scaled to the size of all data"""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 1.0, shape=3)
        sigma = pm.HalfNormal("sigma")
        pm.Normal("y", X[:10] @ beta, sigma, observed=Y[:10], total_size=ROWS)
        pm.Poisson("k", pm.math.exp(beta[0]), observed=COUNT[:8], total_size=ROWS)
    return model


@zoo("groups", unsupported="Minibatch")
def minibatches() -> pm.Model:
    """Another random part of the data for each evaluation, as variational inference uses it"""
    rows, values = pm.Minibatch(X, Y, batch_size=8)
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 1.0, shape=3)
        pm.Normal("y", rows @ beta, 1.0, observed=values, total_size=ROWS)
    return model
