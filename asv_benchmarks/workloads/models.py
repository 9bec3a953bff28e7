"""Log densities with their gradients: a normal sample, a logistic regression, the radon model."""

import math
from collections.abc import Callable

import numpy as np

from .base import Problem, Workload, generator

LOG_ROOT_TAU = 0.5 * math.log(2 * math.pi)
COUNTIES = 85


def normal_logp(mu: float, sigma: float, x: np.ndarray) -> np.floating:
    z = (x - mu) / sigma
    return np.sum(-0.5 * z**2 - np.log(sigma) - LOG_ROOT_TAU)


def normal_by_hand(mu: float, sigma: float, x: np.ndarray) -> tuple:
    z = (x - mu) / sigma
    squares = z @ z
    value = -0.5 * squares - x.size * (np.log(sigma) + LOG_ROOT_TAU)
    return value, (z.sum() / sigma, (squares - x.size) / sigma)


def normal_loops(mu: float, sigma: float, x: np.ndarray) -> tuple:
    total, squares = 0.0, 0.0
    for i in range(x.size):
        d = x[i] - mu
        total += d
        squares += d * d
    squares /= sigma * sigma
    value = -0.5 * squares - x.size * (math.log(sigma) + LOG_ROOT_TAU)
    return value, (total / (sigma * sigma), (squares - x.size) / sigma)


def normal_problem(n: int) -> Problem:
    x = generator(n).normal(0.5, 2.0, size=n)
    return Problem(normal_logp, (0.3, 1.7, x), argnums=(0, 1), by_hand=normal_by_hand, loops=normal_loops)


def logistic_logp(beta: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.floating:
    eta = x @ beta
    return np.sum(y * eta - np.logaddexp(0.0, eta)) - 0.5 * np.sum(beta**2)


def logistic_by_hand(beta: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple:
    eta = x @ beta
    value = y @ eta - np.logaddexp(0.0, eta).sum() - 0.5 * (beta @ beta)
    return value, ((y - 1 / (1 + np.exp(-eta))) @ x - beta,)


def logistic_loops(beta: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple:
    value, gradient = 0.0, np.zeros_like(beta)
    for i in range(x.shape[0]):
        eta = 0.0
        for j in range(beta.size):
            eta += x[i, j] * beta[j]
        small = math.exp(-abs(eta))
        value += y[i] * eta - max(eta, 0.0) - math.log1p(small)
        residual = y[i] - (1.0 if eta >= 0 else small) / (1.0 + small)
        for j in range(beta.size):
            gradient[j] += residual * x[i, j]
    for j in range(beta.size):
        value -= 0.5 * beta[j] * beta[j]
        gradient[j] -= beta[j]
    return value, (gradient,)


def logistic_problem(rows: int) -> Problem:
    rng = generator(rows)
    x, beta = rng.normal(size=(rows, 20)), 0.3 * rng.normal(size=20)
    y = (rng.random(rows) < 1 / (1 + np.exp(-x @ beta))).astype(np.float64)
    return Problem(logistic_logp, (0.9 * beta, x, y), argnums=(0,), by_hand=logistic_by_hand, loops=logistic_loops)


def radon_logp(
    mu: float, log_tau: float, beta: float, log_sigma: float, alpha: np.ndarray,
    county: np.ndarray, floor: np.ndarray, y: np.ndarray,
) -> np.floating:  # fmt: skip
    """Intercepts by county around a common mean; half-normal scales on their logarithms."""
    tau, sigma = np.exp(log_tau), np.exp(log_sigma)
    prior = -0.5 * (mu**2 + beta**2 + tau**2 + sigma**2) + log_tau + log_sigma
    intercepts = np.sum(-0.5 * ((alpha - mu) / tau) ** 2 - log_tau)
    return prior + intercepts + np.sum(-0.5 * ((y - alpha[county] - beta * floor) / sigma) ** 2 - log_sigma)


def radon_capturing(county: np.ndarray, floor: np.ndarray, y: np.ndarray) -> Callable[..., np.floating]:
    """The same model as its users write it: the data come from the enclosing scope."""

    def logp(mu: float, log_tau: float, beta: float, log_sigma: float, alpha: np.ndarray) -> np.floating:
        return radon_logp(mu, log_tau, beta, log_sigma, alpha, county, floor, y)

    return logp


def radon_by_hand(
    mu: float, log_tau: float, beta: float, log_sigma: float, alpha: np.ndarray,
    county: np.ndarray, floor: np.ndarray, y: np.ndarray,
) -> tuple:  # fmt: skip
    tau, sigma = np.exp(log_tau), np.exp(log_sigma)
    a, r = (alpha - mu) / tau, (y - alpha[county] - beta * floor) / sigma
    aa, rr = a @ a, r @ r
    prior = -0.5 * (mu**2 + beta**2 + tau**2 + sigma**2) + log_tau + log_sigma
    value = prior - 0.5 * (aa + rr) - alpha.size * log_tau - y.size * log_sigma
    by_alpha = np.bincount(county, weights=r, minlength=alpha.size) / sigma - a / tau
    return value, (
        a.sum() / tau - mu,
        aa - alpha.size + 1 - tau**2,
        r @ floor / sigma - beta,
        rr - y.size + 1 - sigma**2,
        by_alpha,
    )


def radon_loops(
    mu: float, log_tau: float, beta: float, log_sigma: float, alpha: np.ndarray,
    county: np.ndarray, floor: np.ndarray, y: np.ndarray,
) -> tuple:  # fmt: skip
    tau, sigma = math.exp(log_tau), math.exp(log_sigma)
    rr, by_beta, by_alpha = 0.0, 0.0, np.zeros_like(alpha)
    for i in range(y.size):
        r = y[i] - alpha[county[i]] - beta * floor[i]
        rr += r * r
        by_beta += r * floor[i]
        by_alpha[county[i]] += r
    aa, total = 0.0, 0.0
    for j in range(alpha.size):
        a = alpha[j] - mu
        aa += a * a
        total += a
        by_alpha[j] = by_alpha[j] / sigma**2 - a / tau**2
    rr, aa = rr / sigma**2, aa / tau**2
    prior = -0.5 * (mu**2 + beta**2 + tau**2 + sigma**2) + log_tau + log_sigma
    value = prior - 0.5 * (aa + rr) - alpha.size * log_tau - y.size * log_sigma
    by_log_tau, by_log_sigma = aa - alpha.size + 1 - tau**2, rr - y.size + 1 - sigma**2
    return value, (total / tau**2 - mu, by_log_tau, by_beta / sigma**2 - beta, by_log_sigma, by_alpha)


def radon_data(rows: int) -> tuple[tuple, tuple]:
    """Parameters and data of the radon study's shape: 85 counties of very different sizes."""
    rng = generator(rows)
    shares = rng.dirichlet(np.full(COUNTIES, 0.6))
    county = np.sort(rng.choice(COUNTIES, size=rows, p=shares))
    floor = (rng.random(rows) < 0.17).astype(np.float64)
    alpha = rng.normal(1.5, 0.3, size=COUNTIES)
    y = alpha[county] - 0.7 * floor + rng.normal(0.0, 0.75, size=rows)
    return (1.4, -1.1, -0.6, -0.3, alpha + 0.05), (county, floor, y)


def radon_problem(rows: int) -> Problem:
    parameters, data = radon_data(rows)
    return Problem(
        radon_capturing(*data),
        parameters,
        argnums=(0, 1, 2, 3, 4),
        by_hand=radon_by_hand,
        loops=radon_loops,
        captured=data,
    )


def radon_arguments_problem(rows: int) -> Problem:
    """Everything is an argument: then the index must be checked against the bounds at every call."""
    parameters, data = radon_data(rows)
    return Problem(radon_logp, (*parameters, *data), argnums=(0, 1, 2, 3, 4), by_hand=radon_by_hand, loops=radon_loops)


WORKLOADS = (
    Workload("normal", (10**4, 10**6), normal_problem),
    Workload("logistic", (1000, 100_000), logistic_problem),
    Workload("radon", (919,), radon_problem),
    Workload("radon_args", (919,), radon_arguments_problem),
)
