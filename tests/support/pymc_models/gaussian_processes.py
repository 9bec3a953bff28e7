"""Gaussian processes: every class, and the kernels."""

from __future__ import annotations

import numpy as np
import pymc as pm

from tests.support.pymc_models.zoo import SINGULAR, add, zoo

rng = np.random.default_rng(25)
X = np.sort(rng.uniform(0.0, 3.0, 12))[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.2 * rng.normal(size=12)
GRID = [np.linspace(0.0, 1.0, 3)[:, None], np.linspace(0.0, 2.0, 4)[:, None]]

KERNELS = {
    "exponential of squares": lambda scale: pm.gp.cov.ExpQuad(1, scale),
    "rational quadratic": lambda scale: pm.gp.cov.RatQuad(1, alpha=pm.Gamma("mixing", 2.0, 1.0), ls=scale),
    "exponential": lambda scale: pm.gp.cov.Exponential(1, scale),
    "Matern 1/2": lambda scale: pm.gp.cov.Matern12(1, scale),
    "Matern 3/2": lambda scale: pm.gp.cov.Matern32(1, scale),
    "Matern 5/2": lambda scale: pm.gp.cov.Matern52(1, scale),
    "cosine": lambda scale: pm.gp.cov.Cosine(1, scale),
    "linear": lambda scale: pm.gp.cov.Linear(1, scale),
    "polynomial": lambda scale: pm.gp.cov.Polynomial(1, c=scale, d=2, offset=1.0),
    "periodic": lambda scale: pm.gp.cov.Periodic(1, period=2.0, ls=scale),
    "products and sums": lambda scale: pm.gp.cov.ExpQuad(1, scale) * pm.gp.cov.Linear(1, 0.5) + pm.gp.cov.Constant(2.0),
    "warped input": lambda scale: pm.gp.cov.WarpedInput(
        1, pm.gp.cov.ExpQuad(1, 1.0), lambda x, s: x / (x + s), (scale,)
    ),
    "scaled": lambda scale: pm.gp.cov.ScaledCov(1, pm.gp.cov.ExpQuad(1, 1.0), lambda x, s: 1.0 + s * x, (scale,)),
    "changing length scale": lambda scale: pm.gp.cov.Gibbs(1, lambda x, s: 0.3 + s * x, (scale,)),
}


def with_kernel(make):
    def build() -> pm.Model:
        with pm.Model() as model:
            kernel = pm.HalfNormal("eta") ** 2 * make(pm.Gamma("scale", 2.0, 2.0))
            process = pm.gp.Marginal(mean_func=pm.gp.mean.Constant(pm.Normal("mean")), cov_func=kernel)
            process.marginal_likelihood("y", X=X, y=Y, sigma=pm.HalfNormal("sigma", 1.0))
        return model

    return build


for each, make_it in KERNELS.items():
    add(
        f"kernel: {each}",
        "Gaussian process",
        with_kernel(make_it),
        f"`pm.gp.Marginal` with the kernel {each}",
        far=SINGULAR,
    )


@zoo("Gaussian process", far=SINGULAR)
def noise_with_a_kernel() -> pm.Model:
    """A linear mean, and noise with a kernel of its own"""
    with pm.Model() as model:
        mean = pm.gp.mean.Linear(coeffs=pm.Normal("slope", shape=1), intercept=pm.Normal("intercept"))
        process = pm.gp.Marginal(mean_func=mean, cov_func=pm.gp.cov.Matern52(1, pm.Gamma("scale", 2.0, 2.0)))
        noise = pm.gp.cov.WhiteNoise(pm.HalfNormal("sigma")) + 0.1 * pm.gp.cov.Matern12(1, 0.2)
        process.marginal_likelihood("y", X=X, y=Y, sigma=noise)
    return model


def approximation(method: str):
    def build() -> pm.Model:
        with pm.Model() as model:
            kernel = pm.HalfNormal("eta") ** 2 * pm.gp.cov.ExpQuad(1, pm.Gamma("scale", 2.0, 2.0))
            process = pm.gp.MarginalApprox(cov_func=kernel, approx=method)
            process.marginal_likelihood("y", X=X, Xu=X[::3], y=Y, sigma=pm.HalfNormal("sigma"))
        return model

    return build


for each in ("DTC", "FITC", "VFE"):
    add(f"sparse: {each}", "Gaussian process", approximation(each), f"`pm.gp.MarginalApprox` by {each}", far=SINGULAR)


@zoo("Gaussian process", far=SINGULAR)
def centred_latent_process() -> pm.Model:
    """Values of the process as they are, not by independent numbers"""
    with pm.Model() as model:
        process = pm.gp.Latent(cov_func=pm.gp.cov.Matern32(1, pm.Gamma("scale", 2.0, 2.0)))
        pm.Poisson("y", pm.math.exp(process.prior("f", X=X[:6], reparameterize=False)), observed=[0, 1, 3, 2, 0, 1])
    return model


@zoo("Gaussian process", far=SINGULAR)
def latent_process_on_a_grid() -> pm.Model:
    """`pm.gp.LatentKron`"""
    with pm.Model() as model:
        kernels = [pm.gp.cov.ExpQuad(1, pm.Gamma("across", 2.0, 2.0)), pm.gp.cov.Matern52(1, 1.0)]
        pm.Normal("y", pm.gp.LatentKron(cov_funcs=kernels).prior("f", Xs=GRID), 0.3, observed=Y)
    return model


@zoo("Gaussian process")
def marginal_process_on_a_grid() -> pm.Model:
    """`pm.gp.MarginalKron`"""
    with pm.Model() as model:
        kernels = [pm.gp.cov.ExpQuad(1, pm.Gamma("across", 2.0, 2.0)), pm.gp.cov.Matern52(1, 1.0)]
        process = pm.gp.MarginalKron(cov_funcs=kernels)
        process.marginal_likelihood("y", Xs=GRID, y=Y, sigma=pm.HalfNormal("sigma"))
    return model


@zoo("Gaussian process", far="at vanishing length scales distances cancel: PyTensor's own forms differ by 4e-7")
def student_t_process() -> pm.Model:
    """`pm.gp.TP`"""
    with pm.Model() as model:
        kernel = pm.gp.cov.Matern52(1, pm.Gamma("scale", 2.0, 2.0))
        process = pm.gp.TP(scale_func=kernel, nu=pm.Exponential("nu", 0.1) + 2.0)
        pm.Normal("y", process.prior("f", X=X[:6]), 0.3, observed=Y[:6])
    return model


@zoo("Gaussian process")
def periodic_spectral_process() -> pm.Model:
    """`pm.gp.HSGPPeriodic`"""
    with pm.Model() as model:
        kernel = pm.gp.cov.Periodic(1, period=2.0, ls=pm.Gamma("scale", 2.0, 2.0))
        process = pm.gp.HSGPPeriodic(m=6, scale=pm.HalfNormal("eta"), cov_func=kernel)
        pm.Normal("y", process.prior("f", X=X), 0.3, observed=Y)
    return model
