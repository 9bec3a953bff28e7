"""Series in time."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from tests.support.pymc_models.zoo import SINGULAR, zoo

rng = np.random.default_rng(22)
Y = np.cumsum(rng.normal(0.0, 0.3, 40))
RETURNS = rng.standard_t(4, 60) * 0.1


@zoo("time series")
def random_walk() -> pm.Model:
    """A local level"""
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma")
        level = pm.GaussianRandomWalk("level", sigma=sigma, init_dist=pm.Normal.dist(0.0, 1.0), shape=40)
        pm.Normal("y", level, 0.2, observed=Y)
    return model


@zoo("time series")
def stochastic_volatility() -> pm.Model:
    """Returns whose scale is a random walk"""
    with pm.Model() as model:
        step = pm.Exponential("step", 10.0)
        volatility = pm.GaussianRandomWalk("volatility", sigma=step, init_dist=pm.Normal.dist(0, 100), shape=60)
        nu = pm.Exponential("nu", 0.1)
        pm.StudentT("y", nu=nu, lam=pt.exp(-2 * volatility), observed=RETURNS)
    return model


@zoo("time series")
def autoregression() -> pm.Model:
    """An AR(2) process"""
    with pm.Model() as model:
        rho = pm.Normal("rho", 0.0, 0.5, shape=2)
        pm.AR("y", rho, sigma=pm.HalfNormal("sigma"), init_dist=pm.Normal.dist(0, 10), observed=Y)
    return model


@zoo("time series")
def autoregression_with_a_constant() -> pm.Model:
    """An AR(1) process with a level, as a free variable"""
    with pm.Model() as model:
        rho = pm.Normal("rho", [0.1, 0.5], 0.3)
        x = pm.AR("x", rho, sigma=0.5, constant=True, init_dist=pm.Normal.dist(0, 1), shape=40)
        pm.Normal("y", x, 0.3, observed=Y)
    return model


@zoo("time series")
def cumulated_innovations() -> pm.Model:
    """A random walk by a cumulative sum, not centred"""
    with pm.Model() as model:
        z = pm.Normal("z", shape=40)
        sigma = pm.HalfNormal("sigma")
        pm.Normal("y", pt.cumsum(z) * sigma, 0.2, observed=Y)
    return model


@zoo("time series")
def seasons() -> pm.Model:
    """A trend with change points and Fourier terms"""
    time = np.linspace(0.0, 1.0, 40)
    waves = np.stack([f(2 * np.pi * k * time) for k in (1, 2) for f in (np.sin, np.cos)], axis=1)
    changes = (time[:, None] > np.array([0.3, 0.6])).astype(float)
    with pm.Model() as model:
        k, m = pm.Normal("k"), pm.Normal("m")
        delta = pm.Laplace("delta", 0.0, 0.1, shape=2)
        beta = pm.Normal("beta", shape=4)
        growth = k + pt.dot(changes, delta)
        offset = m + pt.dot(changes, -np.array([0.3, 0.6]) * delta)
        pm.Normal("y", growth * time + offset + pt.dot(waves, beta), pm.HalfNormal("sigma"), observed=Y)
    return model


@zoo("time series")
def garch() -> pm.Model:
    """A variance that feeds back, by a scan"""
    with pm.Model() as model:
        omega = pm.HalfNormal("omega")
        alpha, beta = pm.Beta("alpha", 1.0, 1.0), pm.Beta("beta", 1.0, 1.0)
        pm.GARCH11("y", omega=omega, alpha_1=alpha, beta_1=beta, initial_vol=1.0, observed=RETURNS)
    return model


@zoo("time series")
def euler_maruyama() -> pm.Model:
    """A stochastic differential equation"""
    with pm.Model() as model:
        lam = pm.HalfNormal("lam")
        x = pm.EulerMaruyama("x", 0.1, lambda x, lam: (-lam * x, 0.5), (lam,), init_dist=pm.Normal.dist(0, 1), shape=20)
        pm.Normal("y", x, 0.1, observed=Y[:20])
    return model


@zoo("time series")
def spectral_gaussian_process() -> pm.Model:
    """A Gaussian process by the Hilbert space approximation"""
    x = np.linspace(-1.0, 1.0, 40)[:, None]
    with pm.Model() as model:
        scale = pm.InverseGamma("scale", 5.0, 5.0)
        gp = pm.gp.HSGP(m=[8], c=1.5, cov_func=pm.HalfNormal("eta") ** 2 * pm.gp.cov.ExpQuad(1, scale))
        f = gp.prior("f", X=x)
        pm.Normal("y", f, 0.3, observed=Y)
    return model


@zoo("time series", far=SINGULAR)
def latent_gaussian_process() -> pm.Model:
    """A Gaussian process with a free length scale"""
    x = np.linspace(-1.0, 1.0, 10)[:, None]
    with pm.Model() as model:
        gp = pm.gp.Latent(cov_func=pm.gp.cov.Matern52(1, pm.Gamma("scale", 2.0, 2.0)))
        pm.Normal("y", gp.prior("f", X=x), 0.3, observed=Y[:10])
    return model
