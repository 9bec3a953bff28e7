"""Distributions of vectors and matrices."""

from __future__ import annotations

import inspect

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.sparse import csr_matrix

from tests.support.pymc_models.zoo import SINGULAR, zoo

rng = np.random.default_rng(24)
COVARIANCE = np.array([[1.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 0.8]])
Y = rng.normal(size=(6, 3))
NEIGHBOURS = np.array([[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]], dtype=float)
AS_MATRIX = {"return_matrix": True} if "return_matrix" in inspect.signature(pm.LKJCorr.dist).parameters else {}
"""PyMC 6 returns nothing else."""


def weights(count: int) -> pt.TensorVariable:
    """A positive definite matrix of two free variables."""
    scale, share = pm.HalfNormal("scale"), pm.Beta("share", 2.0, 5.0)
    return scale**2 * (share * np.ones((count, count)) + (1.0 - share) * np.eye(count))


@zoo("multivariate")
def normal_vectors_by_their_covariance() -> pm.Model:
    """A covariance that is computed from free variables"""
    with pm.Model() as model:
        pm.MvNormal("y", pm.Normal("mu", shape=3), cov=weights(3) + 0.1 * np.eye(3), observed=Y)
    return model


@zoo("multivariate")
def normal_vectors_by_their_precision() -> pm.Model:
    """The inverse of the covariance is given"""
    with pm.Model() as model:
        pm.MvNormal("y", pm.Normal("mu", shape=3), tau=weights(3) + 0.1 * np.eye(3), observed=Y)
    return model


@zoo("multivariate")
def student_t_vectors() -> pm.Model:
    """Vectors with heavy tails"""
    with pm.Model() as model:
        nu = pm.Exponential("nu", 0.1) + 2.0
        pm.MvStudentT("y", nu=nu, mu=pm.Normal("mu", shape=3), scale=weights(3) + 0.1 * np.eye(3), observed=Y)
    return model


@zoo("multivariate")
def normal_matrices() -> pm.Model:
    """A matrix with covariances of its rows and of its columns"""
    with pm.Model() as model:
        rows = weights(6) + 0.1 * np.eye(6)
        pm.MatrixNormal("y", mu=pm.Normal("mu"), rowcov=rows, colcov=COVARIANCE, shape=(6, 3), observed=Y)
    return model


@zoo("multivariate")
def kronecker_normal() -> pm.Model:
    """A covariance that is a Kronecker product, with noise"""
    with pm.Model() as model:
        covariances = [weights(2) + 0.1 * np.eye(2), COVARIANCE]
        pm.KroneckerNormal("y", mu=np.zeros(6), covs=covariances, sigma=pm.HalfNormal("noise"), observed=Y[:2].ravel())
    return model


@zoo("multivariate")
def correlation_matrix() -> pm.Model:
    """A correlation matrix by itself"""
    with pm.Model() as model:
        correlations = pm.LKJCorr("correlations", n=3, eta=2.0, **AS_MATRIX)
        pm.MvNormal("y", np.zeros(3), cov=correlations, observed=Y)
    return model


@zoo("multivariate")
def wishart_likelihood() -> pm.Model:
    """A matrix of squares and products with a free scale"""
    with pm.Model() as model:
        pm.Wishart("y", nu=6, V=weights(3) + 0.1 * np.eye(3), observed=Y.T @ Y)
    return model


@zoo("multivariate")
def neighbours() -> pm.Model:
    """Conditional autoregression on a graph of regions"""
    with pm.Model() as model:
        alpha, tau = pm.Beta("alpha", 2.0, 2.0), pm.Gamma("tau", 2.0, 2.0)
        effect = pm.CAR("effect", mu=np.zeros(4), W=NEIGHBOURS, alpha=alpha, tau=tau)
        pm.Poisson("y", pm.math.exp(effect), observed=[1, 3, 0, 2])
    return model


@zoo("multivariate")
def neighbours_in_a_sparse_matrix() -> pm.Model:
    """The same, where only neighbours are stored"""
    with pm.Model() as model:
        alpha, tau = pm.Beta("alpha", 2.0, 2.0), pm.Gamma("tau", 2.0, 2.0)
        effect = pm.CAR("effect", mu=pm.Normal("mu") + np.zeros(4), W=csr_matrix(NEIGHBOURS), alpha=alpha, tau=tau)
        pm.Poisson("y", pm.math.exp(effect), observed=[1, 3, 0, 2])
    return model


@zoo("multivariate")
def intrinsic_neighbours() -> pm.Model:
    """The improper limit of a conditional autoregression"""
    with pm.Model() as model:
        effect = pm.ICAR("effect", W=NEIGHBOURS, sigma=pm.HalfNormal("sigma"))
        pm.Poisson("y", pm.math.exp(effect), observed=[1, 3, 0, 2])
    return model


@zoo("multivariate")
def weights_of_sticks() -> pm.Model:
    """Weights of a broken stick as one distribution"""
    with pm.Model() as model:
        w = pm.StickBreakingWeights("w", alpha=pm.Gamma("alpha", 2.0, 1.0), K=3)
        pm.NormalMixture("y", w, pm.Normal("mu", shape=4), 1.0, observed=Y[:, 0])
    return model


@zoo("multivariate")
def ordered_counts() -> pm.Model:
    """Counts of ordered categories"""
    with pm.Model() as model:
        cuts = pm.Normal("cuts", [-1.0, 1.0], 1.0, transform=pm.distributions.transforms.ordered, shape=2)
        pm.OrderedMultinomial("y", eta=pm.Normal("eta"), cutpoints=cuts, n=10, compute_p=False, observed=[3, 5, 2])
    return model


@zoo("multivariate")
def walks_of_vectors() -> pm.Model:
    """Random walks of vectors, normal and with heavy tails"""
    with pm.Model() as model:
        start = pm.MvNormal.dist(np.zeros(3), np.eye(3))
        walk = pm.MvGaussianRandomWalk("walk", mu=np.zeros(3), cov=COVARIANCE, init_dist=start, steps=5)
        pm.MvStudentTRandomWalk("tails", nu=5.0, mu=np.zeros(3), scale=COVARIANCE, init_dist=start, steps=2)
        pm.Normal("y", walk, 0.5, observed=Y)
    return model


@zoo("mixture")
def inflated_by_a_point() -> pm.Model:
    """A mixture of a point and a distribution of counts"""
    with pm.Model() as model:
        w = pm.Dirichlet("w", [1.0, 1.0])
        parts = [pm.DiracDelta.dist(2), pm.Poisson.dist(pm.Gamma("rate", 2.0, 1.0))]
        pm.Mixture("y", w, parts, observed=[0, 2, 2, 2, 5, 1])
    return model


@zoo("time series")
def walk_of_any_steps() -> pm.Model:
    """A random walk with Laplace steps"""
    with pm.Model() as model:
        steps = pm.Laplace.dist(0.0, pm.HalfNormal("scale"))
        walk = pm.RandomWalk("walk", innovation_dist=steps, init_dist=pm.Normal.dist(0.0, 1.0), steps=5)
        pm.Normal("y", walk, 0.5, observed=Y[:, 0])
    return model


@zoo("linear algebra")
def systems_of_special_matrices() -> pm.Model:
    """Systems whose matrix is said to be positive definite, symmetric or tridiagonal"""
    with pm.Model() as model:
        x = pm.Normal("x", shape=(3, 3))
        right = pm.Normal("right", shape=3)
        matrix = x @ x.T + 2.0 * np.eye(3)
        near = np.tri(3, 3, 1) * np.tri(3, 3, 1).T
        for kind, each in {"pos": matrix, "sym": matrix, "tridiagonal": matrix * near}.items():
            pm.Potential(kind, -0.5 * right @ pt.linalg.solve(each, right, assume_a=kind, b_ndim=1))
        pm.Potential("volume", -0.5 * pm.math.logdet(matrix))
    return model


@zoo("linear algebra", far=SINGULAR)
def equations_of_matrices() -> pm.Model:
    """The covariance of a stationary process, by Lyapunov's equation"""
    with pm.Model() as model:
        turn = pm.Normal("turn", shape=(2, 2))
        change = 0.5 * pm.math.tanh(turn)
        noise = pm.HalfNormal("noise", shape=2)
        covariance = pt.linalg.solve_discrete_lyapunov(change, pt.diag(noise**2 + 0.1), method="bilinear")
        pm.MvNormal("state", np.zeros(2), covariance, observed=np.array([[0.3, -0.2], [1.0, 0.5]]))
    return model
