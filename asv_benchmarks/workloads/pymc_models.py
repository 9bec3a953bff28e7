"""PyMC models of the sizes that users have. Imported where PyMC is installed only."""

from collections.abc import Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from scipy.signal import lfilter

from .base import generator


def eight_schools() -> pm.Model:
    y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    with pm.Model(coords={"school": range(8)}) as model:
        mu, tau = pm.Normal("mu", 0.0, 5.0), pm.HalfCauchy("tau", 5.0)
        eta = pm.Normal("eta", dims="school")
        pm.Normal("y", pm.Deterministic("theta", mu + tau * eta, dims="school"), sigma, observed=y, dims="school")
    return model


def radon() -> pm.Model:
    rng = generator(919)
    county, floor, y = rng.integers(0, 85, 919), rng.integers(0, 2, 919).astype(float), rng.normal(size=919)
    with pm.Model(coords={"county": range(85)}) as model:
        a0, b0 = pm.Normal("a0", 0.0, 10.0), pm.Normal("b0", 0.0, 10.0)
        sa, sb = pm.HalfNormal("sa", 1.0), pm.HalfNormal("sb", 1.0)
        za, zb = pm.Normal("za", dims="county"), pm.Normal("zb", dims="county")
        a = pm.Deterministic("a", a0 + sa * za, dims="county")
        b = pm.Deterministic("b", b0 + sb * zb, dims="county")
        pm.Normal("y", a[county] + b[county] * floor, pm.Exponential("sd", 1.0), observed=y)
    return model


def logistic() -> pm.Model:
    rng = generator(20)
    x = rng.normal(size=(1000, 20))
    y = (x @ rng.normal(size=20) + rng.logistic(size=1000) > 0).astype(int)
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 2.0, shape=20)
        pm.Bernoulli("y", logit_p=pm.Normal("intercept", 0.0, 5.0) + x @ beta, observed=y)
    return model


def stochastic_volatility() -> pm.Model:
    rng = generator(1000)
    # Without it the posterior reaches to a step of 0, and chains stay apart.
    wandering = lfilter([1.0], [1.0, -0.98], rng.normal(0.0, 0.2, 1000))
    returns = rng.standard_t(5, 1000) * 0.02 * np.exp(wandering)
    with pm.Model() as model:
        step, nu = pm.Exponential("step", 10.0), pm.Exponential("nu", 0.1)
        volatility = pm.GaussianRandomWalk("volatility", sigma=step, init_dist=pm.Normal.dist(0, 100), shape=1000)
        pm.StudentT("returns", nu=nu, lam=pt.exp(-2 * volatility), observed=returns)
    return model


def mixture() -> pm.Model:
    rng = generator(1000)
    y = np.concatenate([rng.normal(centre, 0.7, count) for centre, count in ((-3, 300), (0, 300), (3, 400))])
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(3))
        mu = pm.Normal("mu", [-3.0, 0.0, 3.0], 2.0)
        pm.NormalMixture("y", w, mu, pm.HalfNormal("sigma", shape=3), observed=y)
    return model


def gaussian_process() -> pm.Model:
    x = np.linspace(0.0, 10.0, 100)[:, None]
    y = np.sin(x[:, 0]) + 0.2 * generator(100).normal(size=100)
    with pm.Model() as model:
        kernel = pm.HalfNormal("eta") ** 2 * pm.gp.cov.Matern52(1, pm.Gamma("scale", 2.0, 1.0))
        pm.gp.Marginal(cov_func=kernel).marginal_likelihood("y", X=x, y=y, sigma=pm.HalfNormal("sigma"))
    return model


def poisson() -> pm.Model:
    rng = generator(2000)
    group, x, exposure = rng.integers(0, 100, 2000), rng.normal(size=2000), rng.uniform(1.0, 5.0, 2000)
    with pm.Model() as model:
        intercept = pm.Normal("intercept", pm.Normal("mu", 0.0, 2.0), pm.HalfNormal("sigma"), shape=100)
        rate = exposure * pm.math.exp(intercept[group] + pm.Normal("slope") * x)
        pm.Poisson("y", rate, observed=rng.poisson(2.0, 2000))
    return model


def item_response() -> pm.Model:
    rng = generator(25000)
    item, person = (each.ravel() for each in np.meshgrid(np.arange(50), np.arange(500)))
    with pm.Model() as model:
        ability = pm.Normal("ability", shape=500)
        difficulty = pm.Normal("difficulty", 0.0, pm.HalfNormal("sigma"), shape=50)
        slope = pm.LogNormal("slope", 0.0, 0.5, shape=50)
        solved = slope[item] * (ability[person] - difficulty[item])
        pm.Bernoulli("y", logit_p=solved, observed=rng.integers(0, 2, 25000))
    return model


def hilbert_space() -> pm.Model:
    rng = generator(500)
    with pm.Model() as model:
        kernel = pm.HalfNormal("eta") ** 2 * pm.gp.cov.ExpQuad(2, pm.Gamma("scale", 2.0, 2.0, shape=2))
        process = pm.gp.HSGP(m=[10, 10], c=1.5, cov_func=kernel).prior("f", X=rng.uniform(-1.0, 1.0, (500, 2)))
        pm.Normal("y", process, pm.HalfNormal("sigma"), observed=rng.normal(size=500))
    return model


def autoregression() -> pm.Model:
    """A latent AR(2) process of 1,000 steps, by a loop over its innovations."""
    y = lfilter([1.0], [1.0, -0.5, -0.3], generator(1000).normal(0.0, 0.3, 1000))
    with pm.Model() as model:
        rho, z = pm.Normal("rho", 0.0, 0.3, shape=2), pm.Normal("z", shape=1000)
        x = pytensor.scan(
            lambda e, one, two, rho: rho[0] * one + rho[1] * two + e,
            sequences=[z * pm.HalfNormal("scale")],
            outputs_info=[{"initial": pt.zeros(2), "taps": [-1, -2]}],
            non_sequences=[rho],
            return_updates=False,
        )
        pm.Normal("y", x, 0.3, observed=y)
    return model


def garch() -> pm.Model:
    returns = generator(1000).standard_t(5, 1000)
    with pm.Model() as model:
        omega, alpha, beta = pm.HalfNormal("omega"), pm.Beta("alpha", 1.0, 5.0), pm.Beta("beta", 5.0, 1.0)
        pm.GARCH11("y", omega=omega, alpha_1=alpha, beta_1=beta, initial_vol=1.0, observed=returns)
    return model


def hidden_markov() -> pm.Model:
    """Three states that follow each other 1,000 times, summed out by the forward algorithm."""
    rng = generator(1000)
    y = rng.normal(rng.permuted(np.repeat([-1.0, 0.0, 1.0], [300, 300, 400])), 0.4)
    with pm.Model() as model:
        start, transition = pm.Dirichlet("start", np.ones(3)), pm.Dirichlet("transition", np.ones((3, 3)))
        means = pm.Normal("means", [-1.0, 0.0, 1.0], 1.0)
        densities = pm.logp(pm.Normal.dist(means, pm.HalfNormal("sigma")), pt.as_tensor(y)[:, None])
        forward = pytensor.scan(
            lambda density, before, transition: density + pt.logsumexp(before[:, None] + transition, axis=0),
            sequences=[densities[1:]],
            outputs_info=[pt.log(start) + densities[0]],
            non_sequences=[pt.log(transition)],
            return_updates=False,
        )
        pm.Potential("y", pt.logsumexp(forward[-1]))
    return model


MODELS: dict[str, Callable[[], pm.Model]] = {
    "eight-schools": eight_schools,
    "radon": radon,
    "logistic": logistic,
    "stochastic-volatility": stochastic_volatility,
    "mixture": mixture,
    "gaussian-process": gaussian_process,
    "poisson": poisson,
    "item-response": item_response,
    "hilbert-space": hilbert_space,
    "autoregression": autoregression,
    "garch": garch,
    "hidden-markov": hidden_markov,
}
